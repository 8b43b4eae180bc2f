"""What the cells of a row say beside its price, and how it is joined: the first cell that says a thing is believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.tax import join_taxes
from suanpei.market.quotes.text.term import join_terms
from suanpei.market.quotes.text.unit import join_units

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from suanpei.market.quotes.text.amount import Amount
    from suanpei.market.quotes.text.charge import Charge
    from suanpei.market.quotes.text.count import Stock
    from suanpei.market.quotes.text.term import Terms
    from suanpei.market.quotes.text.unit import Unit
    from suanpei.market.terms import Tax

NO_FLAGS: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Clues:
    """What one cell or a whole row says beside its price; None and empty are nothing."""

    unit: Unit | None = None
    unit_scale: int | None = None
    """10,000 where the unit is 万元. [-]"""
    currency: str | None = None
    terms: Terms | None = None
    tax: Tax | None = None
    charges: tuple[Charge, ...] = ()
    links: str = ""
    node_gpus: int | None = None
    stock: Stock | None = None
    implied: str | None = None
    """What its words beside the unit say that the amount is for: ``card``, ``node`` or ``instance``."""
    amounts: tuple[Amount, ...] = ()
    """Amounts of money that are no charge: in a column of prices the price, elsewhere a remark."""
    labels: tuple[str, ...] = ()
    """Way of paying that stands before each of `amounts`; empty where none does."""
    flags: frozenset[str] = NO_FLAGS
    pflops_words: frozenset[str] = NO_FLAGS
    card_pflops: Fraction | None = None
    """PFLOP/s of one card as the seller counts. [PFLOP/s]"""
    place: str = ""
    invoice: str = ""
    """What is said of invoices, in the seller's words: ``不开票``, ``开13%专票``."""

    @property
    def is_telling(self) -> bool:
        """Whether a remark with these clues says anything that holds for offers."""
        return self != NO_CLUES


NO_CLUES = Clues()


def join_clues(found: Iterable[Clues]) -> Clues:
    """Join what the cells of a row say.

    Args:
        found: Clues of each cell, those whose word counts first in front. [-]
    """
    telling = [one for one in found if one is not NO_CLUES]
    if len(telling) <= 1:
        return telling[0] if telling else NO_CLUES
    terms, tax, flags = join_conditions(telling)
    unit = unit_scale = currency = node_gpus = stock = implied = card_pflops = None
    charges: tuple[Charge, ...] = ()
    amounts: tuple[Amount, ...] = ()
    labels: tuple[str, ...] = ()
    pflops_words = NO_FLAGS
    links = place = invoice = ""
    for one in telling:
        if one.unit is not None:
            unit = one.unit if unit is None else join_units(unit, one.unit)
        unit_scale = one.unit_scale if unit_scale is None else unit_scale
        currency = currency or one.currency
        node_gpus = one.node_gpus if node_gpus is None else node_gpus
        if one.stock is not None and (stock is None or one.stock.count == 0):
            stock = one.stock  # what is said to be gone is gone, wherever it is said
        implied = implied or one.implied
        card_pflops = card_pflops or one.card_pflops
        links = links or one.links
        place = place or one.place
        invoice = invoice or one.invoice
        charges = charges + one.charges if one.charges else charges
        pflops_words = pflops_words | one.pflops_words if one.pflops_words else pflops_words
        if one.amounts:
            amounts, labels = amounts + one.amounts, labels + one.labels
    return Clues(
        unit=unit,
        unit_scale=unit_scale,
        currency=currency,
        terms=terms,
        tax=tax,
        charges=charges,
        links=links,
        node_gpus=node_gpus,
        stock=stock,
        implied=implied,
        amounts=amounts,
        labels=labels,
        flags=flags,
        pflops_words=pflops_words,
        card_pflops=card_pflops,
        place=place,
        invoice=invoice,
    )


def join_conditions(found: Iterable[Clues]) -> tuple[Terms | None, Tax | None, frozenset[str]]:
    """Join the terms, the tax and the flags that several cells state, those whose word counts first in front."""
    terms = tax = None
    flags = NO_FLAGS
    for one in found:
        if one.terms is not None:
            terms = one.terms if terms is None else join_terms(terms, one.terms)
        if one.tax is not None:
            tax = one.tax if tax is None else join_taxes(tax, one.tax)
        if one.flags:
            flags = flags | one.flags if flags else one.flags
    return terms, tax, flags

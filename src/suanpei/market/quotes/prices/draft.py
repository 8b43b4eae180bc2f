"""One price of one row, on its way to a quoted offer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.words import plain

if TYPE_CHECKING:
    from fractions import Fraction

    from suanpei.market.quotes.layout.header import Header
    from suanpei.market.quotes.layout.quantity import Quantity
    from suanpei.market.quotes.prices.totals import Total
    from suanpei.market.quotes.quoted import Place, Reading
    from suanpei.market.quotes.text.amount import Amount
    from suanpei.market.quotes.text.card import Card
    from suanpei.market.quotes.text.charge import Charge
    from suanpei.market.quotes.text.clues import Clues
    from suanpei.market.quotes.text.count import Stock
    from suanpei.market.quotes.text.date import QuoteDate
    from suanpei.market.quotes.text.term import Terms
    from suanpei.market.quotes.text.unit import Unit
    from suanpei.market.terms import Tax


@dataclass(kw_only=True, slots=True)
class Draft:
    """One price of one row, on its way to a quoted offer."""

    place: Place
    seller: str
    card: Card
    instance_gpus: int | None
    row: Clues
    """What the row's other cells say."""
    shared: Clues
    """What the remarks on all rows say."""
    price_text: str
    amount: Amount | None
    second_tier: Amount | None
    unit: Unit
    unit_scale: int
    currency: str | None
    terms: Terms
    tax: Tax
    stock: Stock | None
    """What is on hand."""
    region: str
    note: str
    date: QuoteDate
    header: Header | None
    is_stock_blank: bool
    """Whether there is a column of quantities, and this row's is blank."""
    flags: frozenset[str]
    is_total: bool = False
    """Whether the amount is a total, the only sum that the row states."""
    kind: str = ""
    """``list`` or ``present`` where its heading says so."""
    quantity: Quantity | None = None
    """How many must be rented for the price."""
    is_currency_inferred: bool = False
    series_billed: str | None = None
    """What other rows of the same card speak for: ``instance`` where prices rise with the cards."""
    readings: list[Reading] = field(default_factory=list)
    taken: Fraction | None = None
    """What one unit of the quoted currency is per accelerator-hour of the result, in the reading taken."""
    worded: Fraction | None = None
    """The same for the reading that words speak for and the band contradicts; None where there is none."""
    is_plausible: bool | None = None
    unit_gpus: int | None = None
    usual_gpus: int | None = None
    """Cards of the node that the card is usually rented in, where the row states no size. [-]"""
    host: Fraction | None = None
    """What the host of one card costs beside a component price, per hour. [quoted currency/h]"""
    totals: tuple[Total, ...] = ()
    """Of the row, with the first of its prices."""

    @property
    def card_key(self) -> str:
        """What rows of the same card share."""
        return "|".join(self.card.candidates) or plain(self.card.as_written)

    @property
    def stated_gpus(self) -> int | None:
        """Cards of the node or instance, as unit, instance type, row or remarks state them. [-]"""
        return self.unit.billed_gpus or self.instance_gpus or self.row.node_gpus or self.shared.node_gpus

    @property
    def charges(self) -> tuple[Charge, ...]:
        """What is billed beside the card."""
        return self.row.charges + self.shared.charges

    @property
    def pflops_words(self) -> frozenset[str]:
        """What a P counts, in the seller's words."""
        return self.row.pflops_words | self.shared.pflops_words

    def flag(self, *names: str) -> None:
        """Add flags."""
        self.flags = self.flags.union(names)

"""What to ask each seller: one question for each thing that is missing, open or suspicious, worded to be sent."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from suanpei.market.quotes.document import name_cell
from suanpei.market.quotes.offers.card_questions import ask_about_card
from suanpei.market.quotes.offers.charge_questions import ask_charges, ask_power
from suanpei.market.quotes.offers.price_questions import (
    ask_currency,
    ask_discount,
    ask_missing_price,
    ask_part,
    ask_unit,
)
from suanpei.market.quotes.quoted import Question
from suanpei.market.quotes.text.count import SPREAD_FLAG
from suanpei.market.terms import PERIOD_HOURS
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from suanpei.market.quotes.offers.price_questions import Asked
    from suanpei.market.quotes.prices.draft import Draft
    from suanpei.market.quotes.quoted import QuotedOffer


_PRICE: tuple[str, ...] = ()
"""The cell of the price itself."""
_PRICE_FLAGS = frozenset(
    {
        *("node_price_mislabelled", "unit_missing", "unit_missing_inferred", "node_size_inferred", "currency_suspect"),
        *("too_cheap_unit_suspect", "too_dear_unit_suspect", "price_far_from_band", "currency_missing_inferred"),
        *("component_price", "from_price", "price_from_total"),
    }
)
_PRICE_PREFIXES = ("two_tiers:", "discount_")


class _Case(NamedTuple):
    """All that the questions beside the price depend on."""

    card: str
    candidates: tuple[str, ...]
    flags: tuple[str, ...]
    tax_state: str
    has_tax_rate: bool
    has_links: bool
    is_multiple: bool
    """Whether several cards are sold together."""
    on_hand: int | None
    """None is not stated, else 0 or 1 for none and some. [-]"""
    lacks_term: bool
    has_storage_price: bool
    has_egress_price: bool
    pflops_words: frozenset[str]


def ask(draft: Draft, offer: QuotedOffer) -> list[Question]:
    """Ask what an offer leaves open.

    Args:
        draft: As settled. [-]
        offer: Made of it. [-]

    Returns:
        At most one question for each thing, those on the price first.
    """
    asked = [*_ask_about_price(offer, is_total=draft.is_total)] if _is_price_asked(offer.flags) else []
    readings, charges = offer.readings, offer.charges
    asked += _ask_beside_price(
        _Case(
            card=offer.accelerator_as_written,
            candidates=draft.card.candidates,
            flags=offer.flags,
            tax_state=draft.tax.state,
            has_tax_rate=draft.tax.rate_fraction is not None,
            has_links=bool(offer.links),
            is_multiple=(offer.accelerators_per_unit or 1) > 1,
            on_hand=None if offer.count is None else min(offer.count, 1),
            lacks_term=offer.term is None and bool(readings) and readings[0].period_hours >= PERIOD_HOURS["week"],
            has_storage_price=charges.storage_per_gb_month is not None,
            has_egress_price=charges.egress_per_gb is not None,
            pflops_words=draft.pflops_words,
        )
    )
    return [
        Question(
            seller=offer.seller,
            cell=_cell(draft, roles),
            problem=one[0],
            question=one[1],
            file=offer.source.file,
        )
        for roles, one in asked
    ]


def ask_beside_columns(offer: QuotedOffer, header: Sequence[str], cells: Sequence[str]) -> list[Question]:
    """Ask what a line in our own columns leaves open: tax, links, term, charges.

    Args:
        offer: Made of the line. [-]
        header: Names of the columns. [-]
        cells: Of the line. [-]
    """
    written = {column for column, cell in zip(header, cells, strict=False) if cell}
    charges = offer.charges
    asked = _ask_beside_price(
        _Case(
            card=offer.accelerator_as_written,
            candidates=(),
            flags=offer.flags,
            tax_state=offer.price_per_accelerator_hour.tax,
            has_tax_rate=offer.price_per_accelerator_hour.tax_rate is not None,
            has_links=bool(offer.links),
            is_multiple=(offer.count or 1) > 1,
            on_hand=1,
            lacks_term=written.isdisjoint(("term", "pricing")),
            has_storage_price=charges.storage_per_gb_month is not None,
            has_egress_price=charges.egress_per_gb is not None,
            pflops_words=frozenset(),
        )
    )
    return [
        Question(
            seller=offer.seller,
            cell=next(
                (name_cell(None, offer.source.row, header.index(role)) for role in roles if role in header),
                offer.source.cell,
            ),
            problem=one[0],
            question=one[1],
            file=offer.source.file,
        )
        for roles, one in asked
    ]


@lru_cache(maxsize=16_384)
def _is_price_asked(flags: tuple[str, ...]) -> bool:
    return not _PRICE_FLAGS.isdisjoint(flags) or any(flag.startswith(_PRICE_PREFIXES) for flag in flags)


def _ask_about_price(offer: QuotedOffer, *, is_total: bool) -> Iterator[tuple[tuple[str, ...], Asked]]:
    flags, card, price = set(offer.flags), offer.accelerator_as_written, offer.price_as_written
    if "price_missing" in flags:
        return
    for roles, one in (
        (_PRICE, ask_unit(offer, flags, is_total=is_total)),
        (_PRICE, ask_currency(card, price, flags)),
        (_PRICE, ask_part(card, price, flags)),
        (("pricing", "note"), ask_discount(card, price, flags)),
    ):
        if one is not None:
            yield roles, one


@lru_cache(maxsize=16_384)
def _ask_beside_price(case: _Case) -> tuple[tuple[tuple[str, ...], Asked], ...]:
    flags = set(case.flags)
    asked: tuple[tuple[tuple[str, ...], Asked | None], ...] = (
        (("card", "instance"), ask_about_card(case.card, case.candidates, flags)),
        (_PRICE, ask_missing_price(case.card) if "price_missing" in flags else None),
        (("unit", "note"), _ask_pflops(case.pflops_words, flags)),
        (("tax",), _ask_tax(case.tax_state, has_rate=case.has_tax_rate)),
        (("links",), _LINKS if case.is_multiple and not case.has_links else None),
        (("stock",), _ask_count(case.on_hand, flags)),
        (("term", "pricing"), _TERM if case.lacks_term else None),
        (("note",), _WARRANTY if flags & {"modified_card", "no_warranty"} else None),
        (
            ("charges", "note"),
            ask_charges(flags, has_storage=case.has_storage_price, has_traffic=case.has_egress_price),
        ),
        (("charges", "note"), ask_power(flags)),
        (("date", "valid"), _ask_date(flags)),
    )
    return tuple((roles, one) for roles, one in asked if one is not None)


def _cell(draft: Draft, roles: tuple[str, ...]) -> str:
    """Name the cell of a thing; the offer's own where the table has no column for it."""
    column = draft.header.column(*roles) if draft.header and roles else None
    place = draft.place
    if column is None or draft.header is None:
        return place.cell
    return draft.header.cell(place.sheet, place.row, column)


def _ask_pflops(words: frozenset[str], flags: set[str]) -> Asked | None:
    if "per_PFLOPS" not in flags or ("p_per_card_wrong" not in flags and "fp16" in words):
        return None
    return (
        Message("a price per P does not say how P is counted")
        if "p_per_card_wrong" not in flags
        else Message("P is not counted as dense FP16 of the data sheet"),
        Message("in which number format is P counted, dense or sparse, and how many cards make the P that we pay for?"),
    )


def _ask_tax(state: str, *, has_rate: bool) -> Asked | None:
    return _tax(state) if state == "unknown" or not has_rate else None


@lru_cache(maxsize=4)
def _tax(state: str) -> Asked:
    if state == "unknown":
        return (
            Message("it is not stated whether tax is in the price"),
            Message("is VAT in the price, at which rate, and which invoice do we get?"),
        )
    return (
        Message("the rate of the tax is not stated"),
        Message("at which rate is VAT in or on top of the price, and which invoice do we get?"),
    )


_LINKS: Asked = (
    Message("what joins the machines is not stated"),
    Message("what joins the cards inside a machine and the machines with each other: ports, rate, InfiniBand or RoCE?"),
)


def _ask_count(count: int | None, flags: set[str]) -> Asked | None:
    if SPREAD_FLAG in flags and count != 0:
        return _SPREAD
    if "quantity_unit_missing" in flags:
        return _COUNT_UNIT
    if count == 0:
        return _NONE_ON_HAND
    return _COUNT if count is None else None


_SPREAD: Asked = (
    Message("the total stands over several sites or partitions: cards of different ones are in no common fabric"),
    Message("how many cards are in each site, and are the cards that we would get all in one fabric?"),
)
_COUNT_UNIT: Asked = (
    Message("the quantity does not say whether machines or cards are counted"),
    Message("is the quantity counted in machines or in cards, and are all of them in one fabric?"),
)
_NONE_ON_HAND: Asked = (
    Message("nothing is on hand"),
    Message("when will machines be free again, and how many?"),
)
_COUNT: Asked = (
    Message("the count on hand is not stated"),
    Message("how many cards are free now, in one place and one fabric?"),
)


_TERM: Asked = (
    Message("the shortest term is not stated"),
    Message("for how long must we rent at least, and what does it cost to leave early?"),
)


_WARRANTY: Asked = (
    Message("the card is modified or sold without warranty"),
    Message("who replaces a failed card, within how many hours, and is lost time paid?"),
)


def _ask_date(flags: set[str]) -> Asked | None:
    if "date_in_future" in flags:
        return _FUTURE
    return _EXPIRED if "price_expired" in flags else None


_FUTURE: Asked = (
    Message("the date of the quote lies in the future"),
    Message("of which day is the quote, and from when does it hold?"),
)
_EXPIRED: Asked = (
    Message("the quote has ended"),
    Message("does the quote still hold, and until when?"),
)

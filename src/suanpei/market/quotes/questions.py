"""What to ask each seller: one question for each thing that is missing, open or suspicious, worded to be sent."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import name_cell
from suanpei.market.quotes.price_questions import ask_currency, ask_discount, ask_missing_price, ask_part, ask_unit
from suanpei.market.quotes.quoted import Question
from suanpei.market.quotes.unit_text import PERIOD_HOURS
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suanpei.market.quotes.drafts import Draft
    from suanpei.market.quotes.price_questions import Asked
    from suanpei.market.quotes.quoted import QuotedOffer


def ask(draft: Draft, offer: QuotedOffer) -> Iterator[Question]:
    """Ask what an offer leaves open.

    Args:
        draft: As settled. [-]
        offer: Made of it. [-]

    Yields:
        At most one question for each thing, the price first.
    """
    flags = set(offer.flags)
    card = offer.accelerator_as_written
    price_cell = draft.place.cell
    yield from _of(offer, _cell(draft, "card", "instance"), _ask_card(card, draft.card.candidates, flags))
    if offer.price_as_written and "price_missing" not in flags:
        yield from _of(offer, price_cell, ask_unit(offer, flags))
        yield from _of(offer, price_cell, ask_currency(card, offer.price_as_written, flags))
        yield from _of(offer, price_cell, ask_part(card, offer.price_as_written, flags))
    elif "price_missing" in flags:
        yield from _of(offer, price_cell, ask_missing_price(card))
    yield from _of(offer, _cell(draft, "unit", "note"), _ask_pflops(draft, flags))
    yield from _of(offer, _cell(draft, "pricing", "note"), ask_discount(card, offer.price_as_written, flags))
    yield from _of(offer, _cell(draft, "tax"), _ask_tax(draft.tax.state, has_rate=draft.tax.rate_fraction is not None))
    yield from _of(offer, _cell(draft, "links"), _ask_links(offer))
    yield from _of(offer, _cell(draft, "stock"), _ask_count(offer, flags))
    yield from _of(offer, _cell(draft, "term", "pricing"), _ask_term(offer))
    yield from _of(offer, _cell(draft, "note"), _ask_warranty(flags))
    yield from _of(offer, _cell(draft, "charges", "note"), _ask_charges(offer, flags))
    yield from _of(offer, _cell(draft, "date", "valid"), _ask_date(flags))


def _of(offer: QuotedOffer, cell: str, asked: Asked | None) -> Iterator[Question]:
    if asked is not None:
        yield Question(seller=offer.seller, cell=cell, problem=asked[0], question=asked[1])


def _cell(draft: Draft, *roles: str) -> str:
    """Name the cell of a thing; the offer's own where the table has no column for it."""
    column = draft.header.column(*roles) if draft.header else None
    return draft.place.cell if column is None else name_cell(draft.place.sheet, draft.place.row, column)


def _ask_card(card: str, candidates: tuple[str, ...], flags: set[str]) -> Asked | None:
    if "impossible_memory" in flags:
        return _impossible_memory(card)
    if "memory_label_mismatch" in flags:
        return _label_mismatch(card)
    if "unknown_card" in flags:
        return _unknown_card(card)
    if len(candidates) > 1:
        return _several_cards(card, candidates)
    return _bare_memory(card) if "memory_unit_missing" in flags else None


@lru_cache(maxsize=1_024)
def _impossible_memory(card: str) -> Asked:
    return (
        Message("no card of this kind has that memory: {card}", card=card),
        Message("which card exactly is {card}, and how much memory does one card have?", card=card),
    )


@lru_cache(maxsize=1_024)
def _label_mismatch(card: str) -> Asked:
    return (
        Message("the instance has other cards than its label says: {card}", card=card),
        Message("which card exactly is {card}, and how much memory does one card have?", card=card),
    )


@lru_cache(maxsize=4_096)
def _unknown_card(card: str) -> Asked:
    return (
        Message("the catalogue has no card {card}", card=card),
        Message("which card exactly is {card}, and how much memory does one card have?", card=card),
    )


@lru_cache(maxsize=1_024)
def _several_cards(card: str, candidates: tuple[str, ...]) -> Asked:
    return (
        Message("the name fits several cards: {candidates}", candidates=list(candidates)),
        Message("which card exactly is {card}: {candidates}?", card=card, candidates=list(candidates)),
    )


@lru_cache(maxsize=1_024)
def _bare_memory(card: str) -> Asked:
    return (
        Message("the memory stands without its unit: {card}", card=card),
        Message("please confirm how much memory one card of {card} has, in GB", card=card),
    )


def _ask_pflops(draft: Draft, flags: set[str]) -> Asked | None:
    if "per_PFLOPS" not in flags:
        return None
    words = draft.facts.row.pflops_words | draft.facts.shared.pflops_words
    if "p_per_card_wrong" not in flags and "fp16" in words:
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


def _ask_links(offer: QuotedOffer) -> Asked | None:
    if offer.links or (offer.accelerators_per_unit or 1) == 1:
        return None
    return _LINKS


_LINKS: Asked = (
    Message("what joins the machines is not stated"),
    Message("what joins the cards inside a machine and the machines with each other: ports, rate, InfiniBand or RoCE?"),
)


def _ask_count(offer: QuotedOffer, flags: set[str]) -> Asked | None:
    if "quantity_unit_missing" in flags:
        return _COUNT_UNIT
    if offer.count == 0:
        return _NONE_ON_HAND
    return _COUNT if offer.count is None else None


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


def _ask_term(offer: QuotedOffer) -> Asked | None:
    if offer.term is not None or not offer.readings or offer.readings[0].period_hours < PERIOD_HOURS["week"]:
        return None
    return _TERM


_TERM: Asked = (
    Message("the shortest term is not stated"),
    Message("for how long must we rent at least, and what does it cost to leave early?"),
)


def _ask_warranty(flags: set[str]) -> Asked | None:
    return _WARRANTY if flags & {"modified_card", "no_warranty"} else None


_WARRANTY: Asked = (
    Message("the card is modified or sold without warranty"),
    Message("who replaces a failed card, within how many hours, and is lost time paid?"),
)


def _ask_charges(offer: QuotedOffer, flags: set[str]) -> Asked | None:
    charges = offer.charges
    if (
        flags & {"storage_extra", "traffic_extra", "storage_billed_when_stopped"}
        and charges.storage_per_gb_month is None
    ):
        return _STORAGE
    return _CHARGES if charges.storage_per_gb_month is None and charges.egress_per_gb is None else None


_STORAGE: Asked = (
    Message("disk or traffic is billed beside the price, without its price"),
    Message("what do disk (per GB and month, also while stopped) and outbound traffic (per GB) cost?"),
)
_CHARGES: Asked = (
    Message("the prices of storage and traffic are not stated"),
    Message("which storage is in the price, and what do more storage and outbound traffic cost?"),
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

"""What to ask about a price: missing, of open unit or currency, a part of the cost, before a discount."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.market.quotes.quoted import QuotedOffer

Asked = tuple[Message, Message]
"""The problem and the question."""
_FAR = ("too_cheap_unit_suspect", "too_dear_unit_suspect", "price_far_from_band")


@lru_cache(maxsize=4_096)
def ask_missing_price(card: str) -> Asked:
    """Ask for a price that is not stated."""
    return (
        Message("no price is stated"),
        Message("please quote {card}: the price, for one card or for the whole machine, and for how long", card=card),
    )


def ask_unit(offer: QuotedOffer, flags: set[str], *, is_total: bool = False) -> Asked | None:
    """Ask about the unit: open, inferred, or contradicted by other prices.

    Args:
        offer: As made. [-]
        flags: Of the offer. [-]
        is_total: Whether its amount is a total. [-]
    """
    card, price = offer.accelerator_as_written, offer.price_as_written
    if "node_price_mislabelled" in flags:
        return _node_price(card, price, offer.accelerators_per_unit or 1)
    if is_total and not flags.intersection(_FAR):
        return _total(card, price, is_open="unit_missing" in flags)
    if "unit_missing" in flags:
        return _unit(card, price, is_open=True)
    if flags.intersection(_FAR):
        return _far_price(card, price, is_cheap="too_cheap_unit_suspect" in flags)
    return _unit(card, price, is_open=False) if flags & {"unit_missing_inferred", "node_size_inferred"} else None


@lru_cache(maxsize=4_096)
def _node_price(card: str, price: str, gpus: int) -> Asked:
    return (
        Message("{price} is exactly {gpus} times another price of the same card", price=price, gpus=gpus),
        Message(
            "{card}: is {price} the price of the whole machine with {gpus} cards, not of one card?",
            card=card,
            price=price,
            gpus=gpus,
        ),
    )


@lru_cache(maxsize=4_096)
def _total(card: str, price: str, *, is_open: bool) -> Asked:
    problem = (
        Message("only the total {price} is stated, and not for how many cards and how long", price=price)
        if is_open
        else Message("only the total {price} is stated, the price is worked out from it", price=price)
    )
    question = Message(
        "{card}: for how many cards and how long is the total {price}, is anything else in it, and what is the price "
        "of one card or machine?",
        card=card,
        price=price,
    )
    return problem, question


@lru_cache(maxsize=4_096)
def _unit(card: str, price: str, *, is_open: bool) -> Asked:
    problem = (
        Message("the unit of {price} stays open", price=price)
        if is_open
        else Message("the unit of {price} is not written out, it was inferred", price=price)
    )
    question = Message(
        "{card}: is {price} for one card or for the whole machine (with how many cards), and per hour, day, month or "
        "year?",
        card=card,
        price=price,
    )
    return problem, question


@lru_cache(maxsize=4_096)
def _far_price(card: str, price: str, *, is_cheap: bool) -> Asked:
    problem = (
        Message("{price} in this unit is far below the price band of the card", price=price)
        if is_cheap
        else Message("{price} in this unit is far from the price band of the card", price=price)
    )
    return problem, Message(
        "{card}: please confirm {price} and what it is for: one card or the whole machine, and how long",
        card=card,
        price=price,
    )


def ask_currency(card: str, price: str, flags: set[str]) -> Asked | None:
    """Ask for a currency that is missing or does not fit the card's other prices."""
    if "currency_suspect" in flags:
        return _currency(card, price, is_suspect=True)
    return _currency(card, price, is_suspect=False) if "currency_missing_inferred" in flags else None


@lru_cache(maxsize=4_096)
def _currency(card: str, price: str, *, is_suspect: bool) -> Asked:
    problem = (
        Message("the currency of {price} does not fit the other prices of the card", price=price)
        if is_suspect
        else Message("the currency of {price} is not stated", price=price)
    )
    return problem, Message("{card}: in which currency is {price}?", card=card, price=price)


def ask_part(card: str, price: str, flags: set[str]) -> Asked | None:
    """Ask what a price leaves out: the host, all above a lowest price, which of two tiers."""
    if "component_price" in flags:
        return _component(card, price)
    if "from_price" in flags:
        return _lowest(card, price)
    return _tiers(card, price) if any(flag.startswith("two_tiers:") for flag in flags) else None


@lru_cache(maxsize=4_096)
def _component(card: str, price: str) -> Asked:
    return (
        Message("{price} is for the card without its host", price=price),
        Message(
            "{card}: what do processor, memory and disk of the host cost per card and hour beside {price}?",
            card=card,
            price=price,
        ),
    )


@lru_cache(maxsize=4_096)
def _lowest(card: str, price: str) -> Asked:
    return (
        Message("{price} is a lowest price", price=price),
        Message(
            "{card}: {price} is a lowest price; what does exactly this machine cost for our term and count?",
            card=card,
            price=price,
        ),
    )


@lru_cache(maxsize=4_096)
def _tiers(card: str, price: str) -> Asked:
    return (
        Message("{price} names two prices", price=price),
        Message(
            "{card}: which price of {price} holds for which class of machine, and which would we get?",
            card=card,
            price=price,
        ),
    )


def ask_discount(card: str, price: str, flags: set[str]) -> Asked | None:
    """Ask what a discount that is named does to the price."""
    return _discount(card, price) if any(flag.startswith("discount_") for flag in flags) else None


@lru_cache(maxsize=4_096)
def _discount(card: str, price: str) -> Asked:
    return (
        Message("a discount is named beside {price}", price=price),
        Message(
            "{card}: is {price} before or after the discount, and what must we sign to get it?", card=card, price=price
        ),
    )

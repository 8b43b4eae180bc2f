"""How many cards of a quoted offer are sold together, and how many of them a plan may count on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.market.offer import USUAL_NODE_GPUS
from suanpei.market.offer_notes import say_by_card
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.market.quotes.quoted import QuotedOffer


@dataclass(frozen=True, kw_only=True)
class SoldUnits:
    """What is sold together, and what is on hand."""

    unit_gpus: int
    """Cards that are only sold together. [-]"""
    count: int
    """Cards on hand, as planned. [-]"""
    said: tuple[Message, ...]
    asked: tuple[Message, ...]


def count_sold(quoted: QuotedOffer, node_gpus: int, provider: str) -> SoldUnits | Message:
    """Count what is sold together and what is on hand, or say why none of it can be planned.

    Where the seller names no cards on hand, one unit is planned: the machine where machines are sold, one machine of
    the card where the price is per card. A price that holds from more cards on than one machine has is not planned:
    a plan of fewer would not get it.

    Args:
        quoted: With a card and a price. [-]
        node_gpus: Cards of the node that the card is usually rented in. [-]
        provider: Name of the seller. [-]
    """
    node = min(node_gpus, USUAL_NODE_GPUS)
    unit, count, least = quoted.accelerators_per_unit or 1, quoted.count, quoted.minimum_count or 1
    said: list[Message] = []
    asked: list[Message] = []
    if count == 0:
        return Message("nothing is on hand")
    if least > max(unit, node):
        return Message("its price holds only from {least} cards on", least=least)
    if quoted.accelerators_per_unit is None and least == 1:
        said.append(say_by_card(provider))
    if least > unit:
        unit = least
        said.append(
            Message(
                "the price of {provider} holds from {least} cards on: sold so many together",
                provider=provider,
                least=least,
            )
        )
    if count is None:
        count = max(unit, node) if quoted.accelerators_per_unit is None else unit
        asked.append(
            Message(
                "the offer of {provider} names no cards on hand and is planned with {count}: ask how many are free"
                " in one fabric",
                provider=provider,
                count=count,
            )
        )
    if count < unit:
        return Message("fewer cards are on hand ({count}) than are sold together ({unit})", count=count, unit=unit)
    return SoldUnits(unit_gpus=unit, count=count, said=tuple(said), asked=tuple(asked))

"""Totals beside a price: held against it where unit, count and term allow, else named as not used."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.market.quotes.quoted import Question
from suanpei.market.terms import PERIOD_HOURS, THIRTY_DAYS_HOURS
from suanpei.messages import Message, excerpt

if TYPE_CHECKING:
    from suanpei.market.quotes.prices.draft import Draft
    from suanpei.market.quotes.text.amount import Amount
    from suanpei.market.quotes.text.unit import Unit

TOLERANCE = Fraction(1, 100)
"""How far a total may lie from price times cards times hours: rounding is smaller. [-]"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Total:
    """A cell below a heading such as 总价."""

    cell: str
    text: str
    """As written."""
    amount: Amount | None
    unit: Unit
    """What cell and heading say that it is for."""
    scale: int
    """10,000 where the heading counts in 万元. [-]"""
    currency: str | None
    """None is the price's own."""


def check_total(draft: Draft, total: Total, count: int | None) -> tuple[Question | None, Message | None]:
    """Hold a total against the price of its row; the price is flagged where they differ.

    Args:
        draft: Settled. [-]
        total: Of the same row. [-]
        count: Cards on hand; None is unknown. [-]

    Returns:
        The question that a difference leaves, or the reason why the total could not be used; neither where it agrees.
    """
    unused = Message("a total that nothing could be held against, it is not used: {words}", words=excerpt(total.text))
    same_currency = total.currency is None or total.currency == draft.currency
    if total.amount is None or not draft.readings or draft.amount is None or draft.taken is None or not same_currency:
        return None, unused
    reading = draft.readings[0]
    if reading.billed in ("pflops", "total") or draft.terms.kept_fraction is not None:
        return None, unused
    price_gpus = 1 if reading.billed == "card" else draft.unit_gpus
    if not price_gpus:
        return None, unused
    price_scale = 1 if draft.amount.is_scaled else draft.unit_scale
    per_card_hour = draft.amount.low * price_scale / price_gpus / reading.period_hours
    expected = [per_card_hour * gpus * hours for gpus in _cards(draft, total, count) for hours in _hours(draft, total)]
    if not expected:
        return None, unused
    stated = total.amount.low * (1 if total.amount.is_scaled else total.scale)
    if any(abs(stated - one) <= TOLERANCE * one for one in expected):
        return None, None
    if not total.unit.period and not draft.terms.minimum_hours:
        return None, unused
    draft.flag("prices_disagree")
    nearest = min(expected, key=lambda one: abs(stated - one))
    return _question(draft, total, nearest), None


def _cards(draft: Draft, total: Total, count: int | None) -> list[int]:
    """List the cards that a total may be for: those its unit names, else those on hand and those of one machine."""
    if total.unit.billed == "card":
        return [1]
    node = draft.unit_gpus or draft.usual_gpus or draft.stated_gpus
    if total.unit.billed in ("node", "instance"):
        return [gpus for gpus in (total.unit.billed_gpus or node,) if gpus]
    return [] if total.unit.billed else list(dict.fromkeys(gpus for gpus in (count, node) if gpus))


def _hours(draft: Draft, total: Total) -> list[Fraction]:
    """List the times that a total may be for: that its unit names, else the term, a month, the price's own."""
    month = THIRTY_DAYS_HOURS if draft.terms.has_thirty_days else PERIOD_HOURS["month"]
    if total.unit.period:
        return [month if total.unit.period == "month" else PERIOD_HOURS[total.unit.period]]
    least, period = draft.terms.minimum_hours, draft.readings[0].period_hours
    return list(dict.fromkeys([*([least] if least else []), month, *([period] if period > 1 else [])]))


def _question(draft: Draft, total: Total, expected: Fraction) -> Question:
    return Question(
        seller=draft.seller,
        cell=total.cell,
        file=draft.place.file,
        problem=Message(
            "the price {price} makes a total of {expected}, not {total}",
            price=draft.price_text,
            expected=f"{float(expected):,.2f}",
            total=total.text,
        ),
        question=Message(
            "{card}: the price {price} and the total {total} do not agree: which holds, and what is the total for?",
            card=draft.card.as_written,
            price=draft.price_text,
            total=total.text,
        ),
    )

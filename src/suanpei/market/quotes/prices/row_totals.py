"""Rows that state only a total: the price that it makes, where the row says how many cards and for how long.

::

    amount per card-hour = total / (machines · cards of a machine · hours of the term)

Where the count or the term is missing, or is only what is on hand or the least term, there is no reading, and the price
stays open. A bare number of a quantity counts machines or cards; each is a reading.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from suanpei.market.quotes.prices.unit_options import Option
from suanpei.market.quotes.text.term import LEAST_TERM
from suanpei.market.terms import PERIOD_HOURS, THIRTY_DAYS_HOURS
from suanpei.messages import Message

if TYPE_CHECKING:
    from fractions import Fraction

    from suanpei.market.quotes.prices.draft import Draft

_ON_HAND = re.compile(r"现货|库存|在库|可用|可租|可售|余量|剩余|available|availability|in stock|on hand")
"""A heading of these counts what is on hand, which the total need not be for."""


def list_total_options(draft: Draft, usual_gpus: int | None) -> list[Option]:
    """List the ways to divide the total of a row.

    Args:
        draft: Whose amount is a total. [-]
        usual_gpus: Cards of the machine that the card is usually rented in; None where that is open. [-]
    """
    hours = _hours(draft)
    if hours is None:
        return []
    counts = _cards(draft, usual_gpus)
    return [
        Option(
            billed="total",
            period_hours=hours,
            divisor=hours * cards,
            is_worded=len(counts) == 1,
            is_supported=True,
            why=Message("the total divided by {cards} cards and {hours} hours", cards=cards, hours=f"{float(hours):g}"),
        )
        for cards in counts
    ]


def _hours(draft: Draft) -> Fraction | None:
    """Give the time that the total is for: what its heading names, else the term of the row. [h]"""
    month = THIRTY_DAYS_HOURS if draft.terms.has_thirty_days else PERIOD_HOURS["month"]
    if draft.unit.period is not None:
        return month if draft.unit.period == "month" else PERIOD_HOURS[draft.unit.period]
    term = draft.terms.minimum_hours
    heading = draft.header.heading("term") if draft.header else ""
    if not term or draft.terms.is_least or LEAST_TERM.search(heading.casefold()):
        return None
    months = term / PERIOD_HOURS["month"]
    return months * month if months.denominator == 1 else term


def _cards(draft: Draft, usual_gpus: int | None) -> list[int]:
    """List the cards that the total may be for. [-]"""
    machine = draft.unit_gpus or usual_gpus
    if draft.unit.billed is not None:
        sold = 1 if draft.unit.billed == "card" else machine
        return [sold] if sold else []
    stock = draft.stock
    heading = draft.header.heading("stock") if draft.header else ""
    if stock is None or stock.count <= 0 or _ON_HAND.search(heading.casefold()):
        return []
    if stock.unit == "card" or machine == 1:
        return [stock.count]
    whole = [stock.count * machine] if machine else []
    return whole if stock.unit == "machine" else [*whole, stock.count]

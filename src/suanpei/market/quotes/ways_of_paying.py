"""How each way of paying is billed, and what it asks at least: the one table for quotes whose sellers state no term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.market.terms import PERIOD_HOURS, THIRTY_DAYS_HOURS, Term

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from suanpei.market.quotes.quoted import Pricing


@dataclass(frozen=True, kw_only=True)
class WayOfPaying:
    """A way of paying, as quotes name it."""

    pricing: Pricing
    """What it counts as in `QuotedOffer.pricing`."""
    term: Term
    """For how long the price is paid at a time, and at least, where the seller states nothing else."""
    is_term_said: bool = True
    """Whether the words themselves say the term (包年 a year); a committed price leaves it open for how long."""


def _way(pricing: Pricing, period: str, least: str | None, *, is_term_said: bool = True) -> WayOfPaying:
    minimum_hours = 0.0 if least is None else float(PERIOD_HOURS[least])
    term = Term(billing_hours=float(PERIOD_HOURS[period]), minimum_hours=minimum_hours)
    return WayOfPaying(pricing=pricing, term=term, is_term_said=is_term_said)


WAYS_OF_PAYING: Mapping[str, WayOfPaying] = {
    "on_demand": _way("on_demand", "hour", None),
    "spot": _way("spot", "hour", None),
    "marketplace": _way("marketplace", "hour", None),
    "daily": _way("daily", "day", "day"),
    "weekly": _way("weekly", "week", "week"),
    "monthly": _way("monthly", "month", "month"),
    "quarterly": _way("monthly", "month", "quarter"),
    "half_yearly": _way("monthly", "month", "half_year"),
    "yearly": _way("yearly", "month", "year"),
    "reserved": _way("reserved", "month", "year", is_term_said=False),
}
"""By the names of ``quote_words.toml``; every `Pricing` is one of them."""


def name_way(price_hours: float | Fraction) -> Pricing:
    """Name the way of paying that the time of a price stands for where nothing else is said. [h]

    Example:
        >>> [name_way(hours) for hours in (1, 24, 168, 720, 730)]
        ['on_demand', 'daily', 'weekly', 'monthly', 'monthly']
    """
    if price_hours < PERIOD_HOURS["day"]:
        return "on_demand"
    if price_hours < PERIOD_HOURS["week"]:
        return "daily"
    return "weekly" if price_hours < THIRTY_DAYS_HOURS else "monthly"

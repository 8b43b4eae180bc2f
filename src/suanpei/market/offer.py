"""What can be rented and what was seen: price rows, offers, and the terms on which a card-hour is paid.

A `PriceRow` is one observation of a price, an `Offer` something that a seller will rent out now. Both lead to a
`UnitPrice`, the only thing that `market.cost` bills. A blank is kept as unknown and shown; nothing is filled in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self, get_args

from suanpei.messages import Message
from suanpei.units import MONTH_HOURS, YEAR_HOURS

if TYPE_CHECKING:
    from datetime import date

    from suanpei.money import ExchangeRates, Money
    from suanpei.provenance import Confidence

Tier = Literal["server", "platform", "big_cloud", "spot", "marketplace", "none"]
"""``server`` whole nodes by the month; ``platform`` cards by the hour (or the month); ``big_cloud`` list prices;
``spot`` may be taken back; ``marketplace`` hosts set the price; ``none`` evidence, never a price to plan with."""
TIERS: tuple[Tier, ...] = get_args(Tier)
UnitSold = Literal["card", "node8"]
"""Sold card by card, or only as a whole 8-card server."""

DAY_HOURS = 24.0
NODE8_CARDS = 8


@dataclass(frozen=True, kw_only=True)
class Term:
    """For how long a price is paid at a time, and at least."""

    billing_hours: float
    """Time is paid in whole multiples of this: 1 by the hour, 730 by the month. [h]"""
    minimum_hours: float = 0.0
    """Shortest rental. [h]"""
    usual_hours: float = 0.0
    """What the seller usually asks to sign beyond `minimum_hours`; 0 is nothing known. [h]"""

    @property
    def is_month_billed(self) -> bool:
        """Whether a started month is paid whole."""
        return self.billing_hours >= 28 * DAY_HOURS


@dataclass(frozen=True, kw_only=True)
class UnitPrice:
    """A price per accelerator-hour with its band and the terms of the bill."""

    low: Money
    median: Money
    high: Money
    term: Term
    whole_nodes: bool
    """Whether all cards of a started node are paid."""

    def billed_gpus(self, gpus: int, gpus_per_node: int) -> int:
        """Count the accelerators that are paid: all cards of a started node where whole nodes are sold.

        Args:
            gpus: Accelerators used. [-]
            gpus_per_node: Accelerators of one node. [-]
        """
        return -(-gpus // gpus_per_node) * gpus_per_node if self.whole_nodes else gpus


@dataclass(frozen=True, kw_only=True)
class PriceRow:
    """One observation of a price."""

    provider: str
    accelerator_name: str
    """A name of the accelerator catalogue."""
    tier: Tier
    price: Money
    """Per accelerator-hour, also where a whole node or a month is sold."""
    date: date | None
    """The day of the reading, or the first day of the span that the note names; None is unknown."""
    confidence: Confidence
    region: str
    """Empty is unknown."""
    market: Literal["cn", "world"]
    """Mainland China retail, or elsewhere."""
    term: Term
    unit_sold: UnitSold
    tax: str
    """As the source words it; empty is unknown."""
    links: str
    """The interconnect as the source names it; empty is unknown."""
    source: str
    note: str

    @property
    def is_tax_stated(self) -> bool:
        """Whether the source says that tax is in the price or out of it."""
        return is_tax_stated(self.tax)

    @property
    def is_tax_left_out(self) -> bool:
        """Whether tax comes on top of the price."""
        return is_tax_left_out(self.tax)

    @property
    def seller(self) -> str:
        """The provider without case, punctuation and the channel it was read through: one key per seller."""
        return re.sub(r"[\s._-]+", "", re.sub(r",?\s*via [^)]*", "", self.provider).casefold()).replace("()", "")


@dataclass(frozen=True, kw_only=True)
class Offer:
    """Something that a seller rents out, with its terms."""

    provider: str
    accelerator_name: str
    tier: Tier
    price: Money
    """Per accelerator-hour."""
    count: int
    """Accelerators on hand in one fabric. [-]"""
    term: Term
    unit_sold: UnitSold
    region: str
    tax: str
    links: str
    """The interconnect as the seller names it; empty is unknown: planned at its worst reading."""
    date: date | None
    source: str
    """File and line, or what the seller wrote as source."""
    note: str
    assumptions: tuple[Message, ...] = ()
    questions: tuple[Message, ...] = ()
    """What to ask the seller before signing."""

    @property
    def market(self) -> Literal["cn", "world"]:
        """Mainland China where the seller bills in yuan."""
        return "cn" if self.price.currency == "CNY" else "world"

    @property
    def names_links(self) -> bool:
        """Whether the seller says what joins the cards."""
        return bool(self.links)

    @property
    def is_tax_open(self) -> bool:
        """Whether the seller leaves open if tax is in the price."""
        return not is_tax_stated(self.tax)

    @property
    def is_tax_left_out(self) -> bool:
        """Whether the seller adds tax on top."""
        return is_tax_left_out(self.tax)

    @property
    def unit_price(self) -> UnitPrice:
        """The price as it is billed; an offer has no band."""
        return UnitPrice(
            low=self.price,
            median=self.price,
            high=self.price,
            term=self.term,
            whole_nodes=self.unit_sold != "card",
        )

    def priced_in(self, currency: str, rates: ExchangeRates) -> Self:
        """Give the offer with its price converted, the rate among the assumptions.

        Args:
            currency: ISO code. [-]
            rates: Exchange rates. [-]

        Raises:
            InputError: No rate joins the currencies.
        """
        if currency == self.price.currency:
            return self
        note = Message(
            "the offer of {provider} is converted from {currency} at {rate}",
            provider=self.provider,
            currency=self.price.currency,
            rate=", ".join(map(str, rates.route(self.price.currency, currency))),
        )
        return replace(self, price=rates.convert(self.price, currency), assumptions=(*self.assumptions, note))


def is_tax_left_out(tax: str) -> bool:
    """Tell whether a wording says that tax comes on top of the price."""
    return bool(re.search(r"exclud|不含税|未税", tax.casefold()))


def is_tax_stated(tax: str) -> bool:
    """Tell whether a wording says that tax is in the price or out of it (``unstated`` and the like do not)."""
    return bool(re.search(r"includ|exclud|含税|未税|\d\s*%", tax.casefold())) and "not stated" not in tax.casefold()


def tier_name(tier: Tier) -> Message:
    """Name a tier for a person."""
    return {
        "server": Message("whole servers by the month"),
        "platform": Message("cards on platforms"),
        "big_cloud": Message("big-cloud list price"),
        "spot": Message("spot"),
        "marketplace": Message("marketplace"),
        "none": Message("no price to plan with"),
    }[tier]


_UNITS_HOURS = {"hour": 1.0, "day": DAY_HOURS, "week": 7 * DAY_HOURS, "month": MONTH_HOURS, "year": YEAR_HOURS}
_LONGEST_TERM_HOURS = 10 * YEAR_HOURS
_UNIT_WORDS = (
    ("hour", r"hour|hourly|小时|按时|时租|按量|on.?demand|preemptible|per second|按秒|\bh\b"),
    ("year", r"year|annual|包年|年"),
    ("month", r"month|包月|个月|月"),
    ("week", r"week|周"),
    ("day", r"\bday|daily|日|天"),
)
_PRICING_TERMS = {
    "on_demand": Term(billing_hours=1.0),
    "spot": Term(billing_hours=1.0),
    "community": Term(billing_hours=1.0),
    "marketplace": Term(billing_hours=1.0),
    "monthly": Term(billing_hours=MONTH_HOURS, minimum_hours=MONTH_HOURS),
    "reserved_1y": Term(billing_hours=MONTH_HOURS, minimum_hours=YEAR_HOURS),
    "reserved_3y": Term(billing_hours=MONTH_HOURS, minimum_hours=3 * YEAR_HOURS),
}


def parse_term(term: str, pricing: str) -> Term | None:
    """Read for how long a price is paid.

    ``hourly`` and ``按小时`` are paid by the started hour (billing by the second differs by less than an hour in all);
    ``monthly``, ``1 month``, ``包月`` by the started month of 730 h; ``3 months`` by the month, three at least;
    ``30 days`` by the started 30 days.

    Args:
        term: The column ``term`` or a seller's wording; may be empty. [-]
        pricing: The column ``pricing``, read where `term` says nothing. [-]

    Returns:
        The term; None where neither says, or a length is not above zero and at most ten years.
    """
    text = term.casefold().strip()
    first, _, rest = text.partition(",")
    unit = next((unit for unit, words in _UNIT_WORDS if re.search(words, first)), None)
    if unit is None:
        return _PRICING_TERMS.get(pricing.strip().casefold())
    if unit == "hour":
        return Term(billing_hours=1.0)
    number = re.search(r"\d+(?:\.\d+)?", first)
    count = float(number.group()) if number else 1.0
    hours = count * _UNITS_HOURS[unit]
    if first.startswith(("-", "−")) or not 0 < hours <= _LONGEST_TERM_HOURS:
        return None
    billing_hours = hours if unit in ("day", "week") else MONTH_HOURS
    usual_hours = YEAR_HOURS if "one-year signing" in rest else 0.0
    return Term(billing_hours=billing_hours, minimum_hours=hours, usual_hours=usual_hours)

"""The terms of a price: for how long it is paid, what tax is in it, what is billed beside it, what is paid ahead.

Everything that a seller leaves open is None or ``unknown``: neither free nor included.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, Self

from suanpei.units import DAY_HOURS, MONTH_HOURS, YEAR_HOURS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.money import ExchangeRates, Money


PERIOD_HOURS: Mapping[str, Fraction] = {
    "second": Fraction(1, 3600),
    "minute": Fraction(1, 60),
    "hour": Fraction(1),
    "day": Fraction(DAY_HOURS),
    "week": Fraction(7 * DAY_HOURS),
    "month": Fraction(MONTH_HOURS),
    "quarter": Fraction(YEAR_HOURS) / 4,
    "half_year": Fraction(YEAR_HOURS) / 2,
    "year": Fraction(YEAR_HOURS),
}
"""A month is 730 h and a year 8,760 h. [h]"""
THIRTY_DAYS_HOURS = Fraction(30 * DAY_HOURS)
"""A month where the seller counts thirty days. [h]"""
LONGEST_TERM_HOURS = 10 * YEAR_HOURS
"""A longer rental is a slip of the pen. [h]"""


@dataclass(frozen=True, kw_only=True)
class Term:
    """For how long a price is paid at a time, and at least."""

    billing_hours: float
    """Time is paid in whole multiples of this: 1/60 by the minute, 1 by the hour, 730 by the month. [h]"""
    minimum_hours: float = 0.0
    """Shortest rental. [h]"""
    usual_hours: float = 0.0
    """What the seller usually asks to sign beyond `minimum_hours`; 0 is nothing known. [h]"""

    @property
    def is_month_billed(self) -> bool:
        """Whether a started month is paid whole."""
        return self.billing_hours >= 28 * DAY_HOURS


HOURLY = Term(billing_hours=1.0)
MONTHLY = Term(billing_hours=MONTH_HOURS, minimum_hours=MONTH_HOURS)

MOST_TAX_FRACTION = Fraction(3, 10)
"""No value-added tax is higher: two prices further apart are not one price on its two sides. Source: OECD, Consumption
Tax Trends, standard rates of value-added tax, the highest 27 % (Hungary). [-]"""
TaxState = Literal["in", "out", "unknown"]
"""Whether tax is in the price, comes on top of it, or is not said."""


@dataclass(frozen=True, kw_only=True)
class Tax:
    """What a seller says of value-added tax."""

    state: TaxState = "unknown"
    rate_fraction: Decimal | None = None
    """0.06 is 6 %; None is not stated. [-]"""
    wording: str = ""
    """As the source words it; empty is nothing said."""

    @property
    def factor_in(self) -> Decimal | None:
        """What the amount as quoted is multiplied by to have tax in it; None where that is not known. [-]"""
        if self.state == "in":
            return Decimal(1)
        if self.state == "out" and self.rate_fraction is not None:
            return 1 + self.rate_fraction
        return None

    @cached_property
    def flag(self) -> str | None:
        """Stable word for a tax that comes on top: ``tax_excluded``, ``tax_excluded_6pct``; None for any other."""
        if self.state != "out" or self.rate_fraction == 0:
            return None
        return "tax_excluded" if self.rate_fraction is None else f"tax_excluded_{float(self.rate_fraction * 100):g}pct"

    def split(self, amount: Fraction) -> tuple[Fraction | None, Fraction | None]:
        """Give an amount as quoted with tax in and with tax out, exactly; None where that is not known.

        Example:
            >>> [float(side) for side in read_tax("含税6%").split(Fraction(106))]
            [106.0, 100.0]
        """
        factor_in, factor_out = self._exact_factors
        return (
            None if factor_in is None else amount if factor_in == 1 else amount * factor_in,
            None if factor_out is None else amount if factor_out == 1 else amount * factor_out,
        )

    @cached_property
    def _exact_factors(self) -> tuple[Fraction | None, Fraction | None]:
        """What the amount as quoted is multiplied by to have tax in it, and to have none; None is not known. [-]"""
        factor, divisor = self.factor_in, self.divisor_out
        return None if factor is None else Fraction(factor), None if divisor is None else 1 / Fraction(divisor)

    @property
    def divisor_out(self) -> Decimal | None:
        """What the amount as quoted is divided by to have no tax in it; None where that is not known. [-]"""
        if self.state == "out":
            return Decimal(1)
        if self.state == "in" and self.rate_fraction is not None:
            return 1 + self.rate_fraction
        return None


UNKNOWN_TAX = Tax()


@dataclass(frozen=True, kw_only=True)
class Charges:
    """What a seller bills beside the accelerator-hour. None is not stated."""

    storage_per_gb_month: Money | None = None
    """Storage for data and checkpoints. [currency/(GB · month)]"""
    ingress_per_gb: Money | None = None
    egress_per_gb: Money | None = None
    set_up: Money | None = None
    """Once per rental."""
    fabric_per_gpu_hour: Money | None = None
    """The network between nodes, where it is billed apart. [currency/card-hour]"""
    early_exit_fraction: Decimal | None = None
    """Share of the rent of the unused minimum term that an early exit costs. [-]"""
    bills_outages: bool | None = None
    """Whether hours lost to the seller's machines are paid."""
    includes_power: bool | None = None
    """Whether power and cabinet are in the price."""

    def priced_in(self, currency: str, rates: ExchangeRates) -> Self:
        """Give the charges in one currency.

        Args:
            currency: ISO code. [-]
            rates: Exchange rates. [-]

        Raises:
            InputError: No rate joins the currencies.
        """
        stated = {name: value for name in MONEY_CHARGES if (value := getattr(self, name)) is not None}
        if all(value.currency == currency for value in stated.values()):
            return self
        changes: dict[str, Any] = {name: rates.convert(value, currency) for name, value in stated.items()}
        return replace(self, **changes)


MONEY_CHARGES = ("storage_per_gb_month", "ingress_per_gb", "egress_per_gb", "set_up", "fabric_per_gpu_hour")
"""Fields of `Charges` that are amounts."""


@dataclass(frozen=True, kw_only=True)
class Payment:
    """What is paid before it is used. None is not stated."""

    deposit_months: Decimal | None = None
    """Months of rent held as deposit and given back. [month]"""
    prepaid_months: Decimal | None = None
    """Months of rent paid ahead at a time. [month]"""
    prepaid_fraction: Decimal | None = None
    """Share of the whole term paid on signing. [-]"""


NO_CHARGES = Charges()
NO_PAYMENT = Payment()

_TAX_OUT = re.compile(
    r"(?:不|未)包?[含括](?:\s*\d+(?:\.\d+)?\s*%\s*的?)?(?:增值)?税|未税|税外|税前价|另加税|税费?另[计付算]"
    r"|exclud|exclusiv|excl\b|(?:not|n't) includ|(?:\bex\.?|without|net of|before|plus)\s+(?:vat|tax|gst)"
    r"|(?:vat|tax|gst) (?:is )?extra|\+\s*\d+(?:\.\d+)?\s*%|zzgl|hors taxe|\bht\b"
)
_TAX_IN = re.compile(r"含税|税后价|税内|includ|inclusiv|incl\b|with tax|after tax|inkl|\bttc\b")
_RATE = re.compile(r"(?<![\d.\-−])(\d{1,2}(?:\.\d+)?)\s*%")


@lru_cache(maxsize=4_096)
def read_tax(wording: str) -> Tax:
    """Read what a wording says of tax: ``不含税(6%)``, ``含税``, ``excl. 19% VAT``, ``+0%``, ``unstated``.

    Args:
        wording: A cell or clause about tax; may be empty. [-]

    Returns:
        The state, and the rate where one stands there; a rate alone leaves the state unknown.
    """
    plain = unicodedata.normalize("NFKC", wording).casefold().strip()
    rate = _RATE.search(plain)
    state: TaxState = "unknown"
    if "not stated" not in plain and "unstated" not in plain:
        if _TAX_OUT.search(plain):
            state = "out"
        elif _TAX_IN.search(plain):
            state = "in"
    return Tax(
        state=state,
        rate_fraction=None if rate is None else Decimal(rate.group(1)) / 100,
        wording=wording.strip(),
    )


_STARTED = frozenset({"second", "minute", "hour"})
"""Terms without a least length: what is started is paid."""
_UNIT_WORDS = (
    ("second", r"second|按秒|/\s*秒|每秒|秒级"),
    ("minute", r"minute|分钟|按分"),
    ("hour", r"hour|hourly|小时|按时|时租|按量|on.?demand|preemptible|\bh\b"),
    ("year", r"year|annual|包年|年"),
    ("month", r"month|包月|个月|月"),
    ("week", r"week|周"),
    ("day", r"\bday|daily|日|天"),
)
_PRICING_TERMS = {
    **dict.fromkeys(("on_demand", "spot", "community", "marketplace"), HOURLY),
    "monthly": MONTHLY,
    "reserved_1y": Term(billing_hours=MONTH_HOURS, minimum_hours=YEAR_HOURS),
    "reserved_3y": Term(billing_hours=MONTH_HOURS, minimum_hours=3 * YEAR_HOURS),
}


@lru_cache(maxsize=4_096)
def parse_term(term: str, pricing: str) -> Term | None:
    """Read for how long a price is paid.

    ``hourly`` and ``按小时`` are paid by the started hour, ``按分钟`` and ``per second`` by the minute and second;
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
    if unit in _STARTED:
        return Term(billing_hours=float(PERIOD_HOURS[unit]))
    number = re.search(r"\d+(?:\.\d+)?", first)
    count = float(number.group()) if number else 1.0
    hours = count * float(PERIOD_HOURS[unit])
    if first.startswith(("-", "−")) or not 0 < hours <= LONGEST_TERM_HOURS:
        return None
    billing_hours = hours if unit in ("day", "week") else MONTH_HOURS
    usual_hours = YEAR_HOURS if "one-year signing" in rest else 0.0
    return Term(billing_hours=billing_hours, minimum_hours=hours, usual_hours=usual_hours)

"""Every way to fill in what the unit of a price leaves open, and which of them other words of the row speak for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from suanpei.market.quotes.text.term import LONG_PERIODS, PERIOD_OF_PRICING
from suanpei.market.terms import PERIOD_HOURS, THIRTY_DAYS_HOURS
from suanpei.messages import Message

if TYPE_CHECKING:
    from fractions import Fraction

    from suanpei.market.quotes.quoted import Billed

OPEN_PERIODS = ("hour", "day", "month", "year")
"""What a price without a period may be for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One way to fill in a unit."""

    billed: Billed
    period_hours: Fraction
    divisor: Fraction
    """What the quoted amount is divided by. [card-hour]"""
    is_worded: bool
    """Whether words of the row speak for both parts."""
    is_supported: bool
    """Whether no word of the row speaks against either part."""
    why: Message


class UnitKey(NamedTuple):
    """All that the options of a unit depend on."""

    billed: Billed | None
    period: str | None
    gpus: int | None
    """Cards sold together; None is not known. [-]"""
    usual_gpus: int | None
    """Cards of the card's usual node, where `gpus` is not known. [-]"""
    is_instance: bool
    """Whether the row names a cloud's instance type."""
    implied: str | None
    """What other words or rows say that the amount is for."""
    is_series: bool
    """Whether other rows say it."""
    pricing: str | None
    paid_term_hours: Fraction | None
    """The time paid at once and ahead. [h]"""
    has_thirty_days: bool
    has_host_price: bool
    """Whether the host is priced beside it, which is done by the hour."""


def list_options(unit: UnitKey) -> list[Option]:
    """List the ways to fill in a unit, the written parts kept; none where a node of unknown size is billed."""
    billeds, spoken_billed = billed_options(unit)
    periods, spoken_period = period_options(
        unit.period, unit.pricing, unit.paid_term_hours, is_thirty=unit.has_thirty_days, has_host=unit.has_host_price
    )
    is_written = len(billeds) * len(periods) == 1
    options: dict[Fraction, Option] = {}
    for billed, gpus in billeds:
        for hours in periods:
            is_worded = (len(billeds) == 1 or billed == spoken_billed) and (len(periods) == 1 or hours == spoken_period)
            is_supported = spoken_billed in (None, billed) and spoken_period in (None, hours)
            options.setdefault(
                hours * gpus,
                Option(
                    billed=billed,
                    period_hours=hours,
                    divisor=hours * gpus,
                    is_worded=is_worded,
                    is_supported=is_supported,
                    why=_why(is_written=is_written, is_worded=is_worded, is_series=unit.is_series)
                    if is_supported
                    else Message("other words of the row speak for another reading"),
                ),
            )
    return list(options.values())


def billed_options(unit: UnitKey) -> tuple[list[tuple[Billed, int]], str | None]:
    """List what the amount may be for, with its cards, and what other words speak for."""
    if unit.billed == "card":
        return [("card", 1)], "card"
    if unit.billed is not None:
        return ([(unit.billed, unit.gpus)] if unit.gpus else []), unit.billed
    if unit.is_instance and unit.gpus:
        return [("instance", unit.gpus)], "instance"
    if unit.gpus == 1:
        return [("card", 1)], "card"
    if unit.gpus is None:
        usual = unit.usual_gpus
        whole: list[tuple[Billed, int]] = [("node", usual)] if usual is not None and usual > 1 else []
        return [("card", 1)] if unit.implied == "card" else [("card", 1), *whole], unit.implied
    return [("instance" if unit.implied == "instance" else "node", unit.gpus), ("card", 1)], unit.implied


def period_options(
    period: str | None,
    pricing: str | None,
    paid_term_hours: Fraction | None,
    *,
    is_thirty: bool,
    has_host: bool = False,
) -> tuple[list[Fraction], Fraction | None]:
    """List the times that the amount may be for, and what other words speak for. [h]"""
    month = THIRTY_DAYS_HOURS if is_thirty else PERIOD_HOURS["month"]

    def hours_of(name: str) -> Fraction:
        return month if name == "month" else PERIOD_HOURS[name]

    if period is not None:
        return [hours_of(period)], hours_of(period)
    if paid_term_hours is not None:
        return list(dict.fromkeys((paid_term_hours, month))), paid_term_hours
    if pricing is not None and pricing in LONG_PERIODS:
        return [hours_of(LONG_PERIODS[pricing]), month], None
    said = PERIOD_OF_PRICING.get(pricing or "")
    spoken = hours_of(said) if said else None
    if spoken is None and has_host:
        spoken = PERIOD_HOURS["hour"]
    periods = [hours_of(name) for name in OPEN_PERIODS]
    return list(dict.fromkeys(([spoken] if spoken else []) + periods)), spoken


def _why(*, is_written: bool, is_worded: bool, is_series: bool) -> Message:
    if is_written:
        return Message("the unit is written out")
    if is_series and is_worded:
        return Message("other rows of the same card speak for it")
    if is_worded:
        return Message("other words of the row speak for it")
    return Message("no word speaks for it")

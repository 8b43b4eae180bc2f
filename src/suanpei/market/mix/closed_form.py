"""Reserved against on-demand capacity by arithmetic: the k-th card, the break-even, and when a mix saves 30 %.

A reserved card costs one per hour, used or not; an on-demand card costs r for each hour that it is used. Of nested
demand the k-th card is busy whenever k cards or more are needed, the first the longest. Each card is its own question::

    reserve the k-th card  ⇔  r · (share of time that it is busy) > 1  ⇔  busy share > 1/r

At equality both cost the same: every level between is right. Validity: one reserved and one on-demand price, reserved
for the whole horizon, cards enough of both, no start-up. ``program`` drops all four; with them kept it gives the same.

**Two levels.** With a base share b of the peak always needed and the peak for a share f of the time, f < 1/r, the base
is reserved and the mix costs b + r f (1 - b) of all reserved at the peak. It saves::

    against all reserved    (1 - b)(1 - r f)
    against all on demand   b (r - 1) / (r (b + f (1 - b)))

So the often-quoted 30 % is true against all reserved where b <= 1 - 0.3/(1 - r f), and against all on demand, where
b >= 0.3 r f / ((r - 1) - 0.3 r (1 - f)); it is neither true of flat demand (0 % against all reserved) nor of one run
shorter than 1/r of a month, which is cheaper on demand altogether. From f >= 1/r on everything is reserved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.planner.billing import count_paid_hours

if TYPE_CHECKING:
    from collections.abc import Sequence

_SAME = 1e-12
"""Relative difference below which two costs are equal. [-]"""


@dataclass(frozen=True, kw_only=True)
class ClosedForm:
    """The best level to reserve, with its cost over that of an hour of a reserved card."""

    reserve_level: float
    """Cards reserved; the lowest of the best levels. [card, or share of the peak]"""
    highest_level: float
    """The highest level of the same cost. [card, or share of the peak]"""
    busy_share_to_reserve: float
    """A card is reserved when it is busy for more than this share of the time: 1/r. [-]"""
    cost: float
    """Of the mix. [reserved card-hours]"""
    cost_reserved: float
    """Of reserving the peak. [reserved card-hours]"""
    cost_on_demand: float
    """Of all on demand. [reserved card-hours]"""

    @property
    def save_vs_reserved(self) -> float:
        """Saving against reserving the peak. [-]"""
        return 1.0 - self.cost / self.cost_reserved

    @property
    def save_vs_on_demand(self) -> float:
        """Saving against all on demand. [-]"""
        return 1.0 - self.cost / self.cost_on_demand


def reserve_by_level(busy_hours: Sequence[tuple[float, float]], price_ratio: float, paid_hours: float) -> ClosedForm:
    """Decide card by card.

    Args:
        busy_hours: Level and hours, rising levels: the cards up to the level and above the one before are busy for so
            long. [card], [h]
        price_ratio: On-demand over reserved price of a card-hour, r. [-]
        paid_hours: What a reserved card is paid for. [h]

    Returns:
        The level and the three costs.

    Raises:
        InputError: The ratio or the hours are not above zero.
    """
    _check_above_zero("price_ratio", price_ratio)
    _check_above_zero("paid_hours", paid_hours)
    level = highest = cost = reserved = on_demand = below = 0.0
    for upper, hours in busy_hours:
        cards = upper - below
        rented, kept = price_ratio * hours, paid_hours
        cost += cards * min(rented, kept)
        reserved += cards * kept
        on_demand += cards * rented
        if rented > kept * (1 + _SAME):
            level = upper
        if rented >= kept * (1 - _SAME):
            highest = upper
        below = upper
    return ClosedForm(
        reserve_level=level,
        highest_level=highest,
        busy_share_to_reserve=1.0 / price_ratio,
        cost=cost,
        cost_reserved=reserved,
        cost_on_demand=on_demand,
    )


def mix_two_levels(*, price_ratio: float, base_share: float, burst_share: float) -> ClosedForm:
    """Decide for a demand of two levels, peak and time taken as 1.

    Args:
        price_ratio: On-demand over reserved price, r. [-]
        base_share: Share of the peak that is always needed, b. [-]
        burst_share: Share of the time in which the peak is needed, f. [-]

    Raises:
        InputError: A share outside 0 to 1, no burst at all, or a ratio that is not above zero.

    Example:
        >>> mix = mix_two_levels(price_ratio=2.5, base_share=0.6, burst_share=0.1)
        >>> f"{mix.reserve_level:.1f} {mix.save_vs_reserved:.1%} {mix.save_vs_on_demand:.1%}"
        '0.6 30.0% 56.2%'
    """
    for field, share in (("base_share", base_share), ("burst_share", burst_share)):
        if not 0 <= share <= 1:
            raise InputError(Message("{field} must lie between 0 and 1, got {given}", field=field, given=share))
    return reserve_by_level(((base_share, 1.0), (1.0, burst_share)), price_ratio, 1.0)


def most_burst_share(saving: float, *, price_ratio: float, base_share: float) -> float | None:
    """Give the longest burst at which a mix of two levels still saves so much against all reserved.

    ``f <= (1 - saving/(1 - b)) / r``.

    Args:
        saving: Saving asked for, such as 0.3. [-]
        price_ratio: On-demand over reserved price, r. [-]
        base_share: Share of the peak that is always needed, b. [-]

    Returns:
        Share of the time; None where no burst, however short, saves so much. [-]
    """
    if base_share >= 1 - saving:
        return None
    return (1.0 - saving / (1.0 - base_share)) / price_ratio


@dataclass(frozen=True, kw_only=True)
class SavingRow:
    """For one base share: up to which burst share a mix saves so much."""

    base_share: float
    """Share of the peak that is always needed. [-]"""
    most_burst_share: float | None
    """Share of the time in which the peak may be needed; None is never. [-]"""


@dataclass(frozen=True, kw_only=True)
class SavingRegion:
    """For which demand of two levels a saving against all reserved is true."""

    saving: float
    """[-]"""
    price_ratio: float
    """[-]"""
    rows: tuple[SavingRow, ...]
    highest_base_share: float
    """From this base share on no burst, however short, saves so much. [-]"""
    break_even_share: float
    """From this burst share on everything is reserved and a mix saves nothing: 1/r. [-]"""


QUOTED_SAVING = 0.3
"""What is often quoted for a mix, without source and without saying against what: a claim to check, no figure of ours.
[-]"""
BASE_SHARES = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Base shares for which the claim is worked out. [-]"""


def map_saving(price_ratio: float) -> SavingRegion:
    """Say for which demand of two levels the often-quoted saving is true.

    Args:
        price_ratio: On-demand over reserved price, r. [-]

    Raises:
        InputError: The ratio is not above zero.
    """
    _check_above_zero("price_ratio", price_ratio)
    rows = tuple(
        SavingRow(
            base_share=share,
            most_burst_share=most_burst_share(QUOTED_SAVING, price_ratio=price_ratio, base_share=share),
        )
        for share in BASE_SHARES
    )
    return SavingRegion(
        saving=QUOTED_SAVING,
        price_ratio=price_ratio,
        rows=rows,
        highest_base_share=1.0 - QUOTED_SAVING,
        break_even_share=min(1.0 / price_ratio, 1.0),
    )


def break_even_hours(*, period_hours: float, reserved_price: float, on_demand_price: float) -> float:
    """Give the hours of use per period from which a whole reserved period is cheaper than the hours on demand.

    Args:
        period_hours: What is paid when reserved: 730 by the month. [h]
        reserved_price: Per card-hour of the period. [currency/h]
        on_demand_price: Per card-hour used. [currency/h]

    Raises:
        InputError: A price or the period is not above zero.

    Example:
        >>> break_even_hours(period_hours=730, reserved_price=10, on_demand_price=25)
        292.0
    """
    for field, given in (
        ("period_hours", period_hours),
        ("reserved_price", reserved_price),
        ("on_demand_price", on_demand_price),
    ):
        _check_above_zero(field, given)
    return period_hours * reserved_price / on_demand_price


def choose_for_one_run(
    hours: float,
    *,
    period_hours: float,
    reserved_price: float,
    on_demand_price: float,
    minimum_hours: float = 0.0,
) -> Literal["reserved", "on_demand", "same"]:
    """Say how one run is cheaper: in whole reserved periods, or by the hour on demand.

    Args:
        hours: Length of the run. [h]
        period_hours: What is paid at a time when reserved. [h]
        reserved_price: Per card-hour of the period. [currency/h]
        on_demand_price: Per card-hour used. [currency/h]
        minimum_hours: What is paid at least when reserved. [h]
    """
    reserved = count_paid_hours(hours, period_hours, minimum_hours) * reserved_price
    on_demand = hours * on_demand_price
    if abs(reserved - on_demand) <= _SAME * reserved:
        return "same"
    return "reserved" if reserved < on_demand else "on_demand"


def _check_above_zero(field: str, given: float) -> None:
    if not 0 < given < float("inf"):
        raise InputError(Message("{field} must be above {least}, got {given}", field=field, least=0, given=given))

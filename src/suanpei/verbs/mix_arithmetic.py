"""The arithmetic beside the program: card by card, by formula for two levels, and one run alone."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from suanpei.market.mix.closed_form import (
    break_even_hours,
    choose_for_one_run,
    map_saving,
    mix_two_levels,
    reserve_by_level,
)
from suanpei.units import DAY_S, HOUR_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.mix.capacity import Capacity
    from suanpei.market.mix.closed_form import SavingRegion
    from suanpei.market.mix.demand import Demand
    from suanpei.money import Money


@dataclass(frozen=True, kw_only=True)
class BreakEven:
    """From how much use on the shortest contract is cheaper than elastic hours."""

    provider: str
    currency: str
    price_per_gpu_hour: Money
    period_hours: float
    """Paid whole: the term of the contract. [h]"""
    hours: float
    """Of use in that period. [h]"""
    days: float
    """The same. [d]"""
    one_run_hours: float | None
    """Length of the demand, where it is one run of as many cards; None of any other. [h]"""
    one_run: Literal["reserved", "on_demand", "same"] | None
    """How that run is cheaper: on this contract, or in elastic hours."""


@dataclass(frozen=True, kw_only=True)
class TwoLevels:
    """The saving by formula, where demand has two levels and a contract would last exactly as long as it."""

    base_share: float
    """Share of the peak that is always needed, b. [-]"""
    burst_share: float
    """Share of the time in which the peak is needed, f. [-]"""
    saving_vs_reserved_fraction: float
    saving_vs_on_demand_fraction: float


@dataclass(frozen=True, kw_only=True)
class ArithmeticCheck:
    """The mix card by card: one reserved and one elastic price, cards enough of both, reserved from start to end."""

    reserved_provider: str
    elastic_provider: str
    currency: str
    reserved_price_per_gpu_hour: Money
    elastic_price_per_gpu_hour: Money
    price_ratio: float
    """Elastic over reserved. [-]"""
    paid_hours: float
    """What a reserved card is paid for. [h]"""
    busy_share_to_reserve: float
    """Of the paid hours: a card that is busy for more is reserved. [-]"""
    reserve_gpus: int
    """Cards to reserve. [-]"""
    most_reserve_gpus: int
    """The most of the same cost. [-]"""
    cost: Money
    saving_vs_reserved_fraction: float
    saving_vs_on_demand_fraction: float
    cost_over_mix: float
    """Its cost over the program's: above 1 where contracts from time to time help, below where cards are short. [-]"""
    break_even: BreakEven
    two_levels: TwoLevels | None
    """None where demand has one level or more than two."""


def check_arithmetic(
    demand: Demand, capacities: Sequence[Capacity], total: Money
) -> tuple[ArithmeticCheck | None, SavingRegion | None]:
    """Work the mix out card by card, at the cheapest reserved and elastic price.

    Args:
        demand: What is needed. [-]
        capacities: The offers. [-]
        total: Of the program's mix. [-]

    Returns:
        The check and the region in which a saving of 30 % is true; None for both without two kinds
        of price, or where the elastic one is no dearer: nothing is then worth reserving for its price.
    """
    horizon_s = demand.horizon_s
    reserved = min(
        (capacity for capacity in capacities if capacity.kind == "reserved" and capacity.units),
        key=lambda item: item.price.amount * item.paid_s(horizon_s),
        default=None,
    )
    elastic = min(
        (capacity for capacity in capacities if capacity.kind == "elastic" and capacity.units),
        key=lambda item: item.price.amount,
        default=None,
    )
    if reserved is None or elastic is None:
        return None, None
    ratio = elastic.price.ratio(reserved.price)
    if ratio <= 1.0:
        return None, None
    paid_hours = reserved.paid_s(horizon_s) / HOUR_S
    form = reserve_by_level(demand.busy_hours(), ratio, paid_hours)
    cost = (reserved.price * Decimal(repr(form.cost))).rounded()
    check = ArithmeticCheck(
        reserved_provider=reserved.offer.provider,
        elastic_provider=elastic.offer.provider,
        currency=cost.currency,
        reserved_price_per_gpu_hour=reserved.price,
        elastic_price_per_gpu_hour=elastic.price,
        price_ratio=ratio,
        paid_hours=paid_hours,
        busy_share_to_reserve=form.busy_share_to_reserve,
        reserve_gpus=int(form.reserve_level),
        most_reserve_gpus=int(form.highest_level),
        cost=cost,
        saving_vs_reserved_fraction=form.save_vs_reserved,
        saving_vs_on_demand_fraction=form.save_vs_on_demand,
        cost_over_mix=cost.ratio(total),
        break_even=_find_break_even(capacities, elastic, demand),
        two_levels=_work_out_two_levels(demand, ratio),
    )
    return check, map_saving(ratio)


def _find_break_even(capacities: Sequence[Capacity], elastic: Capacity, demand: Demand) -> BreakEven:
    """Find from how much use on the cheapest of the shortest contracts is cheaper than elastic hours."""
    contracts = [capacity for capacity in capacities if capacity.kind == "reserved" and capacity.units]
    shortest = min(contracts, key=lambda item: (item.term_s, item.price.amount))
    prices = {"reserved_price": float(shortest.price.amount), "on_demand_price": float(elastic.price.amount)}
    hours = break_even_hours(period_hours=shortest.term_s / HOUR_S, **prices)
    run_hours = demand.horizon_hours if demand.least_gpus == demand.peak_gpus else None
    term = shortest.offer.term
    choice = (
        None
        if run_hours is None
        else choose_for_one_run(run_hours, period_hours=term.billing_hours, minimum_hours=term.minimum_hours, **prices)
    )
    return BreakEven(
        provider=shortest.offer.provider,
        currency=shortest.price.currency,
        price_per_gpu_hour=shortest.price,
        period_hours=shortest.term_s / HOUR_S,
        hours=hours,
        days=hours * HOUR_S / DAY_S,
        one_run_hours=run_hours,
        one_run=choice,
    )


def _work_out_two_levels(demand: Demand, price_ratio: float) -> TwoLevels | None:
    """Work out the saving by formula, where demand stands at its least or at its peak."""
    if {step.gpus for step in demand.steps} != {demand.least_gpus, demand.peak_gpus}:
        return None
    if demand.least_gpus == demand.peak_gpus:
        return None
    base = demand.least_gpus / demand.peak_gpus
    burst = demand.busy_hours()[-1][1] / demand.horizon_hours
    form = mix_two_levels(price_ratio=price_ratio, base_share=base, burst_share=burst)
    return TwoLevels(
        base_share=base,
        burst_share=burst,
        saving_vs_reserved_fraction=form.save_vs_reserved,
        saving_vs_on_demand_fraction=form.save_vs_on_demand,
    )

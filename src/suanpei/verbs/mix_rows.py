"""The rows of a mix: contracts, elastic use, the timeline, and the arithmetic beside the program."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from suanpei.market.mix.closed_form import break_even_hours, map_saving, reserve_by_level
from suanpei.market.mix.demand import MONTH_S
from suanpei.money import Money
from suanpei.units import DAY_S, HOUR_S

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from suanpei.market.cost import CostPart
    from suanpei.market.mix.capacity import Capacity, Kind
    from suanpei.market.mix.closed_form import SavingRegion
    from suanpei.market.mix.demand import Demand
    from suanpei.market.mix.linear import Limits, SolverStatus
    from suanpei.market.mix.optimise import Optimum
    from suanpei.market.mix.schedule import Schedule

MOST_PERIODS = 16
"""Rows of the timeline that are still read at a glance; longer demands are shown by longer periods, months at most."""


@dataclass(frozen=True, kw_only=True)
class ContractRow:
    """Reserved cards from signing to end."""

    provider: str
    accelerator: str
    source: str
    currency: str
    units: int
    unit_gpus: int
    gpus: int
    start_hours: float
    """From the start of the demand. [h]"""
    paid_hours: float
    """Per card. [h]"""
    hours_beyond_demand: float
    """Of them, after the demand is over. [h]"""
    price_per_gpu_hour: Money
    cost: Money


@dataclass(frozen=True, kw_only=True)
class UsageRow:
    """All that is rented elastically from one offer."""

    kind: Kind
    provider: str
    accelerator: str
    source: str
    currency: str
    starts: int
    """How often a unit is started. [-]"""
    useful_gpu_hours: float
    """In which demand needs them. [card-hour]"""
    paid_gpu_hours: float
    """[card-hour]"""
    price_per_gpu_hour: Money
    cost: Money


@dataclass(frozen=True, kw_only=True)
class SolverNote:
    """What the solver said of its own answer."""

    status: SolverStatus
    gap_fraction: float
    """How much cheaper the best could still be, proved. [-]"""
    bound: Money
    """No mix of the program is cheaper."""
    rounding: Money
    """The bill in Decimal less the solver's objective."""
    seconds: float
    """Wall time. [s]"""
    time_limit_s: float
    gap_limit_fraction: float
    nodes: int
    """Branches looked at. [-]"""
    offers: int
    """Offers in the program, after those that cannot help were dropped."""
    contract_starts: int
    """Moments at which contracts could be signed. [-]"""


@dataclass(frozen=True, kw_only=True)
class WayRow:
    """One way to cover the demand."""

    currency: str
    total: Money
    low: Money
    """At the low ends of the sellers' ranges."""
    high: Money
    parts: tuple[CostPart, ...]
    """They sum to `total`."""
    contracts: tuple[ContractRow, ...]
    usage: tuple[UsageRow, ...]
    solver: SolverNote


@dataclass(frozen=True, kw_only=True)
class TimelineRow:
    """What is needed and held in one period."""

    start_hours: float
    """From the start of the demand. [h]"""
    hours: float
    starts_at: datetime | None
    peak_gpus: int
    """Most cards needed. [-]"""
    mean_gpus: float
    reserved_gpus: float
    """Reserved cards on average. [-]"""
    elastic_gpus: float
    """Elastic cards on average, spot not counted. [-]"""
    peak_elastic_gpus: int
    spot_gpus: float
    """On average. [-]"""
    peak_spot_gpus: int
    idle_reserved_fraction: float | None
    """Share of the reserved card-hours that demand leaves idle; None where nothing is reserved. [-]"""


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


def build_way(optimum: Optimum, limits: Limits, demand: Demand) -> WayRow:
    """Describe one way to cover the demand."""
    schedule, answer = optimum.schedule, optimum.answer
    currency = schedule.total.currency
    return WayRow(
        currency=currency,
        total=schedule.total,
        low=schedule.low,
        high=schedule.high,
        parts=schedule.parts,
        contracts=tuple(_contract_rows(schedule, demand)),
        usage=tuple(_usage_rows(schedule)),
        solver=SolverNote(
            status=answer.status,
            gap_fraction=answer.gap_fraction,
            bound=_money(answer.bound, schedule.total),
            rounding=schedule.total - _money(answer.objective, schedule.total),
            seconds=answer.seconds,
            time_limit_s=limits.time_s,
            gap_limit_fraction=limits.gap_fraction,
            nodes=answer.nodes,
            offers=optimum.considered,
            contract_starts=len(optimum.starts_s),
        ),
    )


def _contract_rows(schedule: Schedule, demand: Demand) -> list[ContractRow]:
    return [
        ContractRow(
            provider=contract.capacity.offer.provider,
            accelerator=contract.capacity.offer.accelerator_name,
            source=contract.capacity.offer.source,
            currency=contract.capacity.price.currency,
            units=contract.units,
            unit_gpus=contract.capacity.unit_gpus,
            gpus=contract.gpus,
            start_hours=contract.start_s / HOUR_S,
            paid_hours=float(contract.paid_gpu_hours / contract.gpus),
            hours_beyond_demand=max(contract.end_s - demand.horizon_s, 0) / HOUR_S,
            price_per_gpu_hour=contract.capacity.price,
            cost=(contract.capacity.price * contract.paid_gpu_hours).rounded(),
        )
        for contract in schedule.contracts
    ]


def _usage_rows(schedule: Schedule) -> list[UsageRow]:
    return [
        UsageRow(
            kind=usage.capacity.kind,
            provider=usage.capacity.offer.provider,
            accelerator=usage.capacity.offer.accelerator_name,
            source=usage.capacity.offer.source,
            currency=usage.capacity.price.currency,
            starts=usage.starts,
            useful_gpu_hours=float(usage.useful_gpu_hours),
            paid_gpu_hours=float(usage.paid_gpu_hours),
            price_per_gpu_hour=usage.capacity.price,
            cost=(usage.capacity.price * usage.paid_gpu_hours).rounded(),
        )
        for usage in schedule.usages
    ]


def build_timeline(schedule: Schedule, demand: Demand) -> tuple[TimelineRow, ...]:
    """Lay the mix out in periods: days, weeks or months, whichever give few enough rows."""
    horizon_s = demand.horizon_s
    spans = (int(DAY_S), int(7 * DAY_S), MONTH_S)
    period_s = next((span for span in spans if horizon_s <= MOST_PERIODS * span), MONTH_S)
    period_s = MONTH_S if demand.is_by_month else period_s
    bounds = [*range(0, horizon_s, period_s), horizon_s]
    edges_s = np.union1d(schedule.list_edges(demand), np.array(bounds, dtype=np.int64))
    lengths_s = np.diff(edges_s)
    needed = demand.gpus[np.searchsorted(demand.edges_s, edges_s[:-1], side="right") - 1]
    held = {kind: schedule.held_gpus(kind, edges_s) for kind in ("reserved", "elastic", "spot")}
    rows = []
    for number, (start_s, end_s) in enumerate(pairwise(bounds)):
        inside = (edges_s[:-1] >= start_s) & (edges_s[:-1] < end_s)
        weights = lengths_s[inside]
        reserved, busy = held["reserved"][inside], np.minimum(held["reserved"][inside], needed[inside])
        reserved_s = float((reserved * weights).sum())
        rows.append(
            TimelineRow(
                start_hours=start_s / HOUR_S,
                hours=(end_s - start_s) / HOUR_S,
                starts_at=_date_of(demand, start_s, number),
                peak_gpus=int(needed[inside].max()),
                mean_gpus=float(np.average(needed[inside], weights=weights)),
                reserved_gpus=float(np.average(reserved, weights=weights)),
                elastic_gpus=float(np.average(held["elastic"][inside], weights=weights)),
                peak_elastic_gpus=int(held["elastic"][inside].max()),
                spot_gpus=float(np.average(held["spot"][inside], weights=weights)),
                peak_spot_gpus=int(held["spot"][inside].max()),
                idle_reserved_fraction=None if reserved_s == 0 else 1.0 - float((busy * weights).sum()) / reserved_s,
            )
        )
    return tuple(rows)


def _date_of(demand: Demand, start_s: int, months: int) -> datetime | None:
    """Name the date of a moment; calendar months count as such."""
    if demand.starts_at is None:
        return None
    if not demand.is_by_month:
        return demand.starts_at + timedelta(seconds=start_s)
    month = demand.starts_at.month - 1 + months
    return demand.starts_at.replace(year=demand.starts_at.year + month // 12, month=month % 12 + 1)


def check_arithmetic(
    demand: Demand, capacities: Sequence[Capacity], total: Money
) -> tuple[ArithmeticCheck | None, SavingRegion | None]:
    """Work the mix out card by card, at the cheapest reserved and elastic price.

    Args:
        demand: What is needed. [-]
        capacities: The offers. [-]
        total: Of the program's mix. [-]

    Returns:
        The check and the region in which a saving of 30 % is true; None for both without two kinds of price.
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
        break_even=_find_break_even(capacities, elastic),
    )
    return check, map_saving(ratio)


def _find_break_even(capacities: Sequence[Capacity], elastic: Capacity) -> BreakEven:
    """Find from how much use on the cheapest of the shortest contracts is cheaper than elastic hours."""
    contracts = [capacity for capacity in capacities if capacity.kind == "reserved" and capacity.units]
    shortest = min(contracts, key=lambda item: (item.term_s, item.price.amount))
    hours = break_even_hours(
        period_hours=shortest.term_s / HOUR_S,
        reserved_price=float(shortest.price.amount),
        on_demand_price=float(elastic.price.amount),
    )
    return BreakEven(
        provider=shortest.offer.provider,
        currency=shortest.price.currency,
        price_per_gpu_hour=shortest.price,
        period_hours=shortest.term_s / HOUR_S,
        hours=hours,
        days=hours * HOUR_S / DAY_S,
    )


def _money(amount: float, like: Money) -> Money:
    return Money(amount=Decimal(repr(amount)), currency=like.currency).rounded()

"""The rows of a way to cover a demand: contracts, elastic use, and what the solver said."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from suanpei.money import Money
from suanpei.units import HOUR_S

if TYPE_CHECKING:
    from datetime import datetime

    from suanpei.market.cost import CostPart
    from suanpei.market.mix.capacity import Kind
    from suanpei.market.mix.demand import Demand
    from suanpei.market.mix.linear import Limits, SolverStatus
    from suanpei.market.mix.optimise import Optimum
    from suanpei.market.mix.schedule import Schedule


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
    starts_at: datetime | None
    """Its date; None where the demand has none."""
    ends_at: datetime | None
    """When the paid time is over."""
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
    cuts_leases: bool
    """Whether leases by the day or for a least time may go on where contracts or phases begin or end: how much cheaper
    that is at most is in the gap, which more time does not close."""


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
            cuts_leases=optimum.cuts_leases,
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
            starts_at=demand.date_at(contract.start_s),
            ends_at=demand.date_at(contract.end_s),
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


def _money(amount: float, like: Money) -> Money:
    return Money(amount=Decimal(repr(amount)), currency=like.currency).rounded()

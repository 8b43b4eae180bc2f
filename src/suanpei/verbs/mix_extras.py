"""What stands beside a mix: a trial, a ramp, and owning the machines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from suanpei.errors import NoAnswerError
from suanpei.market.mix.closed_form import break_even_hours
from suanpei.market.mix.optimise import optimise
from suanpei.market.mix.owning import own_for
from suanpei.market.mix.pilot import judge_pilot
from suanpei.units import MONTH_HOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.cost import CostPart
    from suanpei.market.mix.capacity import Capacity, Conditions
    from suanpei.market.mix.demand import Demand
    from suanpei.messages import Message
    from suanpei.money import Money
    from suanpei.verbs.mix_arithmetic import ArithmeticCheck
    from suanpei.verbs.mix_request import MixTerms

PILOT_SHARE = 0.05
"""Share of the solver's time that a pilot may take: it is small. [-]"""


@dataclass(frozen=True, kw_only=True)
class PilotRow:
    """A trial, or a small cluster before the large one."""

    kind: Literal["trial", "ramp"]
    gpus: int
    """At its largest. [-]"""
    hours: float
    currency: str
    cost: Money | None
    """On top of the mix; None where the offers cannot serve it."""
    parts: tuple[CostPart, ...]
    """They sum to `cost`."""
    reason: Message | None
    """Why not."""
    criteria: tuple[Message, ...]
    lessons: tuple[Message, ...]
    low_seconds_after: float | None
    """Of the 90 % interval of the step after it; None where it cannot say. [s]"""
    high_seconds_after: float | None
    """[s]"""


@dataclass(frozen=True, kw_only=True)
class OwningRow:
    """Buying and hosting machines in place of renting."""

    currency: str
    machine_gpus: int
    machines: int
    """That hold the peak. [-]"""
    per_machine_month: Money
    """Depreciation and hosting."""
    per_gpu_hour: Money
    """Over all hours of a month, used or not."""
    months: float
    """Of the demand. [month]"""
    total: Money
    """Of machines for the peak, over the demand."""
    price_of_machines: Money
    """To be paid at once."""
    residual_fraction: float
    """Share of the price of a machine that is left at the end of its life. [-]"""
    hosting_per_machine_month: Money | None
    """None is not stated."""
    life_months: float
    break_even_hours_per_month: float | None
    """Hours of use of a card in a month from which owning it is cheaper than elastic hours; None without any. [h]"""
    missing: tuple[Message, ...]


def price_pilots(terms: MixTerms, capacities: Sequence[Capacity], conditions: Conditions) -> tuple[PilotRow, ...]:
    """Price the trial and the ramp that were asked for.

    Args:
        terms: With their demands. [-]
        capacities: The offers; spot is no place to try. [-]
        conditions: Start-ups. [-]
    """
    asked: tuple[tuple[Literal["trial", "ramp"], Demand | None], ...] = (("trial", terms.trial), ("ramp", terms.ramp))
    return tuple(
        _price_pilot(kind, demand, terms, capacities, conditions) for kind, demand in asked if demand is not None
    )


def _price_pilot(
    kind: Literal["trial", "ramp"],
    demand: Demand,
    terms: MixTerms,
    capacities: Sequence[Capacity],
    conditions: Conditions,
) -> PilotRow:
    cost, reason = None, None
    parts: tuple[CostPart, ...] = ()
    limits = replace(terms.limits, time_s=terms.limits.time_s * PILOT_SHARE)
    steady = [capacity for capacity in capacities if capacity.kind != "spot"]
    try:
        optimum = optimise(demand, steady, conditions=conditions, limits=limits, currency=terms.currency)
        cost, parts = optimum.schedule.total, optimum.schedule.parts
    except NoAnswerError as error:
        reason = error.message
    lesson = judge_pilot(demand.peak_gpus, terms.planned)
    return PilotRow(
        kind=kind,
        gpus=demand.peak_gpus,
        hours=demand.horizon_hours,
        currency=terms.currency,
        cost=cost,
        parts=parts,
        reason=reason,
        criteria=lesson.criteria,
        lessons=lesson.lessons,
        low_seconds_after=lesson.low_seconds_after,
        high_seconds_after=lesson.high_seconds_after,
    )


def price_owning(terms: MixTerms, arithmetic: ArithmeticCheck | None) -> OwningRow | None:
    """Price owning machines for the peak; None where no price of one is given.

    Args:
        terms: With the machine. [-]
        arithmetic: With the cheapest elastic price. [-]
    """
    machine, demand = terms.machine, terms.demand
    if machine is None:
        return None
    machines = machine.count_for(demand.peak_gpus)
    even_hours = None
    if arithmetic is not None:
        even_hours = break_even_hours(
            period_hours=MONTH_HOURS,
            reserved_price=float(machine.per_gpu_hour.amount),
            on_demand_price=float(arithmetic.elastic_price_per_gpu_hour.amount),
        )
    return OwningRow(
        currency=terms.currency,
        machine_gpus=machine.gpus,
        machines=machines,
        per_machine_month=machine.per_month.rounded(),
        per_gpu_hour=machine.per_gpu_hour.rounded(4),
        months=demand.horizon_hours / MONTH_HOURS,
        total=own_for(machine, demand.peak_gpus, demand.horizon_hours),
        price_of_machines=machine.price * machines,
        residual_fraction=float(machine.residual_fraction),
        hosting_per_machine_month=machine.hosting_per_month,
        life_months=float(machine.life_months),
        break_even_hours_per_month=even_hours,
        missing=machine.list_missing(),
    )

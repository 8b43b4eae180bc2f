"""From a demand and offers to a mix: merge, choose starts, drop what is dominated, solve, bill.

The same road serves the mix and what it is measured against: everything reserved at the peak, everything on demand.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from suanpei.errors import NoAnswerError
from suanpei.market.mix.capacity import find_unit, keep_undominated
from suanpei.market.mix.program import solve
from suanpei.market.mix.schedule import build_schedule
from suanpei.market.mix.solution import Problem
from suanpei.market.mix.turns import judge
from suanpei.market.mix.windows import chain_nodes, choose_starts, find_grid
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from suanpei.market.mix.capacity import Capacity, Conditions
    from suanpei.market.mix.demand import Demand
    from suanpei.market.mix.linear import Limits, SolverAnswer
    from suanpei.market.mix.schedule import Schedule

BESIDE_SHARE = 0.1
"""Share of the solver's time that each simpler program, and the bound beside it, may take. [-]"""


@dataclass(frozen=True, kw_only=True)
class Optimum:
    """The cheapest way found, and the solver's word on it."""

    schedule: Schedule
    answer: SolverAnswer
    starts_s: tuple[int, ...]
    """Moments at which contracts could be signed. [s]"""
    considered: int
    """Offers in the program, after those that cannot help were dropped. [-]"""
    cuts_leases: bool
    """Whether leases for a least time may go on where windows end: how much cheaper that is at most is in the gap."""


def optimise(
    demand: Demand, capacities: Sequence[Capacity], *, conditions: Conditions, limits: Limits, currency: str
) -> Optimum:
    """Find the cheapest way to cover a demand.

    Args:
        demand: What is needed. [-]
        capacities: What is on offer, in one currency. [-]
        conditions: Start-ups and interruptions. [-]
        limits: Where the solver stops. [-]
        currency: Of all prices. [ISO 4217]

    Raises:
        NoAnswerError: The offers hold too few cards, or the solver found nothing in its time.
    """
    usable = [capacity for capacity in capacities if capacity.units]
    check_enough(demand, usable)
    if demand.needs_one_seller:
        check_each_phase(demand, usable)
    merged = demand.merged(find_unit(usable))
    starts_s = choose_starts(merged, usable)
    moments = {
        node_s
        for capacity in usable
        if capacity.kind == "reserved"
        for node_s in chain_nodes(starts_s, capacity, merged.horizon_s)
    }
    grid_s = find_grid(merged, moments)
    kept = tuple(
        capacity
        for group in _group(usable, by_seller=merged.needs_one_seller)
        for capacity in keep_undominated(
            group,
            peak_gpus=merged.peak_gpus,
            starts_s=starts_s,
            grid_s=grid_s,
            start_up_hours=conditions.start_up_hours,
        )
    )
    problem = Problem(demand=merged, capacities=kept, starts_s=starts_s, conditions=conditions)
    return _find_cheapest(problem, limits, currency)


def _find_cheapest(problem: Problem, limits: Limits, currency: str) -> Optimum:
    """Solve a program, and bill what it says.

    Where the ends of windows cut leases that cost less in one piece, the program counts them too dear: then the bill
    joins them, a mix without contracts, whose windows are wider, is tried beside, and the bound is that of a program
    in which such leases are paid for their length alone. Where nothing was found in the time, the demand is flattened.

    Raises:
        NoAnswerError: Nothing covers the demand, or nothing was found in the time.
    """
    first = solve(problem, limits)
    if first.answer.status == "infeasible":
        raise NoAnswerError(
            Message("no mix covers the demand: spot alone would have to, and is interrupted too often to finish")
        )
    beside = replace(limits, time_s=limits.time_s * BESIDE_SHARE)
    ways = [first]
    if first.cuts_leases or not first.answer.values.size:
        ways += [solve(simpler, beside) for simpler in _simplify(problem)]
    schedules = [(build_schedule(way, currency), way.answer, way.cuts_leases) for way in ways if way.answer.values.size]
    if not schedules:
        raise NoAnswerError(
            Message("the solver found no mix within {seconds:g} s: give it more --time-limit", seconds=limits.time_s)
        )
    schedule, answer, is_joined = min(schedules, key=lambda item: item[0].total.amount)
    _check_covered(schedule, problem.demand)
    bound = first.answer.bound
    if first.cuts_leases:
        bound = min(bound, solve(replace(problem, is_loose=True), beside).answer.bound)
    seconds = sum(way.answer.seconds for way in ways)
    objective = float(schedule.total.amount) if is_joined else answer.objective
    return Optimum(
        schedule=schedule,
        answer=judge(replace(answer, objective=objective), bound, seconds, limits),
        starts_s=problem.starts_s,
        considered=len(problem.capacities),
        cuts_leases=first.cuts_leases,
    )


def _simplify(problem: Problem) -> Iterable[Problem]:
    """Give programs whose answers cover the demand too: without contracts, and with the peak reserved throughout."""
    demand = problem.demand
    for kinds, simpler in ((("elastic", "spot"), demand), (("reserved",), hold_peak(demand).merged())):
        capacities = tuple(capacity for capacity in problem.capacities if capacity.kind in kinds)
        if len(capacities) < len(problem.capacities) or simpler != demand:
            try:
                check_enough(simpler, capacities)
            except NoAnswerError:
                continue
            starts_s = choose_starts(simpler, capacities)
            yield replace(problem, demand=simpler, capacities=capacities, starts_s=starts_s)


def check_enough(demand: Demand, capacities: Iterable[Capacity]) -> None:
    """Check that the offers together hold the cards of the peak.

    Raises:
        NoAnswerError: They do not.
    """
    gpus = sum(capacity.gpus for capacity in capacities)
    if gpus < demand.peak_gpus:
        raise NoAnswerError(
            Message(
                "demand peaks at {peak} cards and the offers hold {gpus} together: {missing} more are needed",
                peak=demand.peak_gpus,
                gpus=gpus,
                missing=demand.peak_gpus - gpus,
            )
        )


def check_each_phase(demand: Demand, capacities: Iterable[Capacity]) -> None:
    """Check that for each phase some seller holds its cards alone.

    Raises:
        NoAnswerError: There is none for one.
    """
    gpus: defaultdict[str, int] = defaultdict(int)
    for capacity in capacities:
        gpus[capacity.offer.provider] += capacity.gpus
    largest = max(gpus, key=lambda seller: gpus[seller])
    if gpus[largest] < demand.peak_gpus:
        raise NoAnswerError(
            Message(
                "no seller holds the {peak} cards of one phase alone: {seller} holds most, {gpus}; --any-seller takes"
                " the demand as a pool of work",
                peak=demand.peak_gpus,
                seller=largest,
                gpus=gpus[largest],
            )
        )


def _group(capacities: Sequence[Capacity], *, by_seller: bool) -> list[list[Capacity]]:
    """Group offers that may stand for each other: all, or those of one seller."""
    groups: defaultdict[str, list[Capacity]] = defaultdict(list)
    for capacity in capacities:
        groups[capacity.offer.provider if by_seller else ""].append(capacity)
    return [*groups.values()]


def _check_covered(schedule: Schedule, demand: Demand) -> None:
    """Check on the schedule itself that it covers the demand, whatever the solver's tolerances were.

    Raises:
        NoAnswerError: It does not.
    """
    short_gpus = schedule.find_shortage(demand)
    if short_gpus:
        raise NoAnswerError(
            Message("the solver's mix falls {gpus} cards short of the demand and is not shown", gpus=short_gpus)
        )


def hold_peak(demand: Demand) -> Demand:
    """Give the demand that needs its peak in every step."""
    return replace(demand, steps=tuple(replace(step, gpus=demand.peak_gpus) for step in demand.steps))


@dataclass(frozen=True, kw_only=True)
class Reference:
    """What a mix is measured against, or why there is nothing to measure against."""

    optimum: Optimum | None
    reason: Message | None


def reserve_peak(
    demand: Demand, capacities: Iterable[Capacity], *, conditions: Conditions, limits: Limits, currency: str
) -> Reference:
    """Price the peak reserved from beginning to end, at the cheapest contracts."""
    reserved = [capacity for capacity in capacities if capacity.kind == "reserved"]
    return _try(hold_peak(demand), reserved, conditions, limits, currency)


def rent_on_demand(
    demand: Demand, capacities: Iterable[Capacity], *, conditions: Conditions, limits: Limits, currency: str
) -> Reference:
    """Price everything on demand, without spot, at the cheapest offers."""
    elastic = [capacity for capacity in capacities if capacity.kind == "elastic"]
    return _try(demand, elastic, conditions, limits, currency)


def _try(
    demand: Demand, capacities: Sequence[Capacity], conditions: Conditions, limits: Limits, currency: str
) -> Reference:
    if not capacities:
        return Reference(optimum=None, reason=Message("no offer of this kind"))
    try:
        optimum = optimise(demand, capacities, conditions=conditions, limits=limits, currency=currency)
    except NoAnswerError as error:
        return Reference(optimum=None, reason=error.message)
    return Reference(optimum=optimum, reason=None)

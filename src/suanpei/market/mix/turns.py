"""The turns in which the program is solved: contracts first, then whole elastic units, then what time is left.

With the contracts kept, the windows hang together only by the units that stay on from one into the next: each is made
whole by itself, given the one before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suanpei.market.mix.linear import Limits, LinearProgram, SolverAnswer

FIRST_SHARE = 0.4
"""Share of the time in which contracts are decided. [-]"""
SECOND_SHARE = 0.9
"""Share of the time left after that in which elastic units are then made whole. [-]"""
ROUNDINGS = (0.1, 0.5, 0.9)
"""What is added to the units of larger sizes before they are rounded down, one guess each. [unit]"""
LEAST_TURN_S = 0.1
"""Less time than this is not worth another turn. [s]"""
ALMOST_WHOLE = 1e-6
"""How far from a whole number a unit may come out of the relaxation to count as whole. [-]"""
SOLVER_PRECISION = 1e-9
"""Relative difference of objective and bound that is rounding of the solver. [-]"""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Columns that hang together, beside the contracts, with those of the stage before only."""

    columns: list[int] = field(default_factory=list)
    rises: dict[int, list[int]] = field(default_factory=dict)
    """By cards of a unit: the units that are switched on, by rising level."""


def solve_in_turns(
    program: LinearProgram, limits: Limits, *, elastic: Sequence[int], stages: Sequence[Stage]
) -> SolverAnswer:
    """Decide the contracts first, with elastic units that need not be whole; then make these whole.

    Without elastic units there is nothing to loosen: one turn has all the time. Otherwise the first turn is a
    relaxation: its bound holds for the program, and where it is optimal and its units come out whole it is the answer.
    Else the second turn keeps the contracts and makes the elastic units whole, stage by stage, and the last looks for
    better ones in the time that is left, where that is more than the first turn took.

    Args:
        program: With whole columns throughout. [-]
        limits: Time of all turns together, and gap. [-]
        elastic: Columns of elastic units. [-]
        stages: All columns of elastic units and what follows from them, in the order of time. [-]

    Returns:
        The best answer of all turns, judged by the best bound.
    """
    if not elastic:
        only = program.solve(limits)
        return replace(only, bound=max(only.bound, 0.0))
    started_s = perf_counter()

    def count_left_s() -> float:
        return limits.time_s - (perf_counter() - started_s)

    first = program.solve(replace(limits, time_s=limits.time_s * FIRST_SHARE), loosened=elastic)
    if first.status == "infeasible":
        return first
    best = first
    if first.values.size and _are_whole(first.values[elastic]):
        first.values[elastic] = np.round(first.values[elastic])
    elif first.values.size:
        second = replace(limits, time_s=count_left_s() * SECOND_SHARE)
        best = _make_whole(program, second, first, elastic=elastic, stages=stages)
    judged = judge(best, first.bound, perf_counter() - started_s, limits)
    if judged.status == "optimal" or count_left_s() < max(first.seconds, LEAST_TURN_S):
        return judged
    last = _settle(program, program.solve(replace(limits, time_s=count_left_s())), elastic, limits)
    if last.status == "infeasible":
        return last
    bound = max(first.bound, last.bound)
    return judge(last if last.objective <= best.objective else best, bound, perf_counter() - started_s, limits)


def _make_whole(
    program: LinearProgram, limits: Limits, first: SolverAnswer, *, elastic: Sequence[int], stages: Sequence[Stage]
) -> SolverAnswer:
    """Make elastic units whole stage by stage, contracts kept; nothing found where one stage finds nothing in time."""
    started_s, nodes = perf_counter(), first.nodes
    values, is_elastic = first.values.copy(), set(elastic)
    values[[column for stage in stages for column in stage.columns]] = 0.0
    for number, stage in enumerate(stages):
        part = program.restrict(stage.columns, values)
        places = [place for place, column in enumerate(stage.columns) if column in is_elastic]
        guess = _round(part, first.values[stage.columns], stage, places, limits)
        left_s = limits.time_s - (perf_counter() - started_s)
        share = replace(limits, time_s=max(left_s, 0.0) / (len(stages) - number))
        answer = _settle(part, part.solve(share), places, limits)
        best = answer if guess is None or answer.objective < guess.objective else guess
        if not best.values.size:
            return _forget(first)
        values[stage.columns] = best.values
        nodes += answer.nodes
    return replace(first, status="best_found", values=values, objective=program.price(values), nodes=nodes)


def _round(
    part: LinearProgram, relaxed: NDArray[np.float64], stage: Stage, elastic: Sequence[int], limits: Limits
) -> SolverAnswer | None:
    """Guess whole units: round those that the relaxation has on at each level, larger sizes first, the smallest up."""
    places = {column: place for place, column in enumerate(stage.columns)}
    sizes = sorted(stage.rises, reverse=True)
    best: SolverAnswer | None = None
    for rounding in ROUNDINGS if len(sizes) > 1 else ():
        values, kept = relaxed.copy(), set[int]()
        for size in sizes:
            rises = [places[column] for column in stage.rises[size]]
            up = rounding if size > sizes[-1] else 1.0 - ALMOST_WHOLE
            values[rises] = np.diff(np.floor(np.cumsum(values[rises]) + up), prepend=0.0)
            kept |= set(rises)
            free = [place for place in range(len(values)) if place not in kept]
            answer = part.restrict(free, values).solve(limits, loosened=range(len(free)))
            if not answer.values.size:
                break
            values[free] = answer.values
        else:
            answer = _settle(part, replace(answer, values=values), elastic, limits)
            if answer.values.size and (best is None or answer.objective < best.objective):
                best = answer
    return best


def _settle(program: LinearProgram, answer: SolverAnswer, elastic: Sequence[int], limits: Limits) -> SolverAnswer:
    """Let the units come out whole that follow from whole columns: at a vertex of what these leave free they are.

    Which offers the units come from that are switched on at a level is a transport problem.
    """
    values = answer.values
    if not values.size:
        return answer
    if not _are_whole(values[elastic]):
        free = [column for column, is_whole in enumerate(program.whole) if not is_whole]
        settled = program.restrict(free, values).solve(limits)
        if not settled.values.size:
            return _forget(answer)
        values = values.copy()
        values[free] = settled.values
        if not _are_whole(values[elastic]):
            return _forget(answer)
    values[elastic] = np.round(values[elastic])
    return replace(answer, values=values, objective=program.price(values))


def _forget(answer: SolverAnswer) -> SolverAnswer:
    """Give an answer without its values, of which nothing can be signed; its bound still holds."""
    return replace(answer, status="nothing_found", values=np.array([]), objective=inf)


def _are_whole(units: NDArray[np.float64]) -> bool:
    return bool(np.abs(units - np.round(units)).max(initial=0.0) <= ALMOST_WHOLE)


def judge(answer: SolverAnswer, bound: float, seconds: float, limits: Limits) -> SolverAnswer:
    """Judge an answer by the best bound that holds for the whole program; no bill is below zero."""
    judged = replace(answer, bound=max(bound, 0.0), seconds=seconds)
    if not answer.values.size:
        return replace(judged, status="nothing_found")
    is_proved = judged.gap_fraction <= max(limits.gap_fraction, SOLVER_PRECISION)
    return replace(judged, status="optimal" if is_proved else "best_found")

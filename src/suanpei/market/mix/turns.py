"""The turns in which the program is solved: contracts first, then whole elastic units, then what time is left."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suanpei.market.mix.linear import Limits, LinearProgram, SolverAnswer

FIRST_SHARE = 0.5
"""Share of the time in which contracts are decided. [-]"""
SECOND_SHARE = 0.25
"""Share of the time in which elastic units are then made whole. [-]"""
LEAST_TURN_S = 0.1
"""Less time than this is not worth another turn. [s]"""
ALMOST_WHOLE = 1e-6
"""How far from a whole number a unit may come out of the relaxation to count as whole. [-]"""
SOLVER_PRECISION = 1e-9
"""Relative difference of objective and bound that is rounding of the solver. [-]"""


def solve_in_turns(
    program: LinearProgram, limits: Limits, *, elastic: Sequence[int], contracts: Sequence[int]
) -> SolverAnswer:
    """Decide the contracts first, with elastic units that need not be whole; then make these whole.

    Without elastic units there is nothing to loosen: one turn has all the time. Otherwise the first turn is a
    relaxation: its bound holds for the program, and where it is optimal and its units come out whole it is the answer.
    Else the second turn keeps the contracts and makes the elastic units whole, and the last looks for better ones
    from there until the time is over.

    Args:
        program: With whole columns throughout. [-]
        limits: Time of all turns together, and gap. [-]
        elastic: Columns of elastic units. [-]
        contracts: Columns of contracts. [-]

    Returns:
        The best answer of all turns, judged by the best bound.
    """
    if not elastic:
        only = program.solve(limits)
        return replace(only, bound=max(only.bound, 0.0))
    first = program.solve(replace(limits, time_s=limits.time_s * FIRST_SHARE), loosened=elastic)
    if first.status == "infeasible":
        return first
    best, seconds = first, first.seconds
    if first.values.size and _are_whole(first.values[elastic]):
        first.values[elastic] = np.round(first.values[elastic])
    elif first.values.size:
        fixed = {column: float(first.values[column]) for column in contracts}
        best = program.solve(replace(limits, time_s=limits.time_s * SECOND_SHARE), fixed=fixed)
        seconds += best.seconds
    judged = _judge(best, first.bound, seconds, limits)
    left_s = limits.time_s - seconds
    if judged.status == "optimal" or left_s < LEAST_TURN_S:
        return judged
    last = program.solve(replace(limits, time_s=left_s), start=best.values if best.values.size else None)
    if last.status == "infeasible":
        return last
    bound = max(first.bound, last.bound)
    return _judge(last if last.objective <= best.objective else best, bound, seconds + last.seconds, limits)


def _are_whole(units: NDArray[np.float64]) -> bool:
    return bool(np.abs(units - np.round(units)).max(initial=0.0) <= ALMOST_WHOLE)


def _judge(answer: SolverAnswer, bound: float, seconds: float, limits: Limits) -> SolverAnswer:
    """Judge an answer by the best bound that holds for the whole program; no bill is below zero."""
    judged = replace(answer, bound=max(bound, 0.0), seconds=seconds)
    if not answer.values.size:
        return replace(judged, status="nothing_found")
    is_proved = judged.gap_fraction <= max(limits.gap_fraction, SOLVER_PRECISION)
    return replace(judged, status="optimal" if is_proved else "best_found")

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

import highspy
import pytest

from suanpei.market.mix import linear, turns
from suanpei.market.mix.linear import Limits, LinearProgram
from tests.market.mix.samples import LIMITS, cost_of, find, hourly, monthly, months_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from suanpei.market.mix.linear import SolverAnswer


def make_program(*, is_whole: bool) -> LinearProgram:
    """At least 2.5 of what costs 2 each: 5, or 6 where it is whole."""
    made = LinearProgram()
    column = made.add_column(cost=2.0, most=9.0, is_whole=is_whole)
    made.add_row([(column, 1.0)], least=2.5)
    return made


def end_with(status: highspy.HighsModelStatus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the solver find what it finds and say that it ended otherwise."""
    make = linear._make_silent_solver

    def make_and_say() -> Any:
        solver = make()
        solver.getModelStatus = lambda: status
        return solver

    monkeypatch.setattr(linear, "_make_silent_solver", make_and_say)


def test_an_optimum_is_its_own_bound() -> None:
    assert make_program(is_whole=False).solve(LIMITS).bound == pytest.approx(5.0)
    assert make_program(is_whole=True).solve(LIMITS).bound == pytest.approx(6.0)


def test_without_whole_columns_an_ended_time_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    end_with(highspy.HighsModelStatus.kTimeLimit, monkeypatch)

    answer = make_program(is_whole=False).solve(LIMITS)

    assert answer.status == "best_found"
    assert answer.objective == pytest.approx(5.0)
    assert answer.bound == -inf
    assert answer.gap_fraction == inf


def test_a_relaxation_that_ran_out_of_time_is_never_called_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hours alone loosen to a program without whole columns; the last turn is the first that proves anything."""
    end_with(highspy.HighsModelStatus.kTimeLimit, monkeypatch)
    monkeypatch.setattr(turns, "LEAST_TURN_S", inf)

    optimum = find(months_of(1, 2), [hourly(1)])

    assert optimum.answer.status == "best_found"
    assert optimum.answer.bound == 0.0
    assert cost_of(optimum) == 3 * 730


def record_times(monkeypatch: pytest.MonkeyPatch, change: Callable[[int, SolverAnswer], SolverAnswer]) -> list[float]:
    """Note the time that each turn is given, and change what it says."""
    times_s: list[float] = []
    solve = LinearProgram.solve

    def solve_and_note(made: LinearProgram, limits: Limits, **options: Any) -> SolverAnswer:
        times_s.append(limits.time_s)
        return change(len(times_s), solve(made, limits, **options))

    monkeypatch.setattr(LinearProgram, "solve", solve_and_note)
    return times_s


def test_without_elastic_offers_there_is_one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    times_s = record_times(monkeypatch, lambda _, answer: answer)

    find(months_of(1, 2), [monthly(1)])

    assert len(times_s) == 1


@pytest.mark.parametrize("status", ["best_found", "nothing_found"])
def test_a_first_turn_that_proved_nothing_is_followed_by_another(
    status: linear.SolverStatus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def say(turn: int, answer: SolverAnswer) -> SolverAnswer:
        if turn > 1:
            return answer
        values = answer.values if status == "best_found" else answer.values[:0]
        return replace(answer, status=status, values=values, bound=-inf)

    times_s = record_times(monkeypatch, say)

    optimum = find(months_of(1, 2), [monthly(1), hourly(3)])

    assert len(times_s) == 2
    assert optimum.answer.status == "optimal"
    assert cost_of(optimum) == 3 * 730


def test_contracts_that_whole_units_cannot_complete_are_no_verdict_on_the_demand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second turn keeps the contracts of the first; where that is infeasible, the last may change them."""

    def say(turn: int, answer: SolverAnswer) -> SolverAnswer:
        if turn == 1:
            return replace(answer, values=answer.values + 0.25, bound=0.0)
        return replace(answer, status="infeasible", values=answer.values[:0], objective=inf) if turn == 2 else answer

    times_s = record_times(monkeypatch, say)
    assert find(months_of(1, 2), [monthly(1), hourly(3)]).answer.status == "optimal"
    assert len(times_s) == 3

    times_s.clear()
    monkeypatch.setattr(turns, "LEAST_TURN_S", inf)
    simpler = find(months_of(1, 2), [monthly(1), hourly(3)])
    assert simpler.answer.status == "best_found"
    assert cost_of(simpler) == 2 * 2 * 730  # two cards throughout, found without the first program

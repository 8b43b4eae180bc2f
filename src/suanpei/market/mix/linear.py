"""A mixed-integer program put together column by column and row by row, and solved by HiGHS."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf, isfinite
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from numpy.typing import NDArray

SAME_COST = 1e-6
"""Relative difference of two costs that is rounding of the solver. [-]"""

SolverStatus = Literal["optimal", "best_found", "infeasible", "nothing_found"]
"""What the solver said: ``optimal`` within the gap asked for, ``best_found`` when its time was over."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long and how far a solver goes."""

    time_s: float
    """[s]"""
    gap_fraction: float
    """The relative gap at which it may stop. [-]"""


@dataclass(frozen=True, kw_only=True)
class SolverAnswer:
    """What came back."""

    status: SolverStatus
    values: NDArray[np.float64]
    """Of the columns; empty where nothing was found. [-]"""
    objective: float
    bound: float
    """No solution is cheaper. [unit of the objective]"""
    seconds: float
    nodes: int
    """Branches looked at. [-]"""

    @property
    def gap_fraction(self) -> float:
        """How much cheaper the best could still be: ``(objective - bound) / objective``. [-]"""
        if self.objective <= 0 or not isfinite(self.bound):
            return 0.0 if self.objective == self.bound else inf
        return max(self.objective - self.bound, 0.0) / self.objective


@dataclass
class LinearProgram:
    """Columns with bounds and costs, rows with bounds and entries; the cost is minimised."""

    costs: list[float] = field(default_factory=list)
    lowest: list[float] = field(default_factory=list)
    highest: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    row_lowest: list[float] = field(default_factory=list)
    row_highest: list[float] = field(default_factory=list)
    row_starts: list[int] = field(default_factory=lambda: [0])
    entries: list[int] = field(default_factory=list)
    factors: list[float] = field(default_factory=list)

    def add_column(self, *, cost: float = 0.0, most: float = inf, is_whole: bool = False) -> int:
        """Add a column from zero to `most`, and give its number."""
        self.costs.append(cost)
        self.lowest.append(0.0)
        self.highest.append(most)
        self.whole.append(is_whole)
        return len(self.costs) - 1

    def add_row(self, terms: Iterable[tuple[int, float]], *, least: float = -inf, most: float = inf) -> None:
        """Add ``least <= Σ factor · column <= most``."""
        for column, factor in terms:
            self.entries.append(column)
            self.factors.append(factor)
        self.row_starts.append(len(self.entries))
        self.row_lowest.append(least)
        self.row_highest.append(most)

    def solve(
        self,
        limits: Limits,
        *,
        loosened: Collection[int] = (),
        fixed: Mapping[int, float] = MappingProxyType({}),
        start: NDArray[np.float64] | None = None,
    ) -> SolverAnswer:
        """Minimise.

        Args:
            limits: Time and gap at which to stop. [-]
            loosened: Columns that need not be whole this time. [-]
            fixed: Columns with the value that they keep. [-]
            start: A solution to begin with; None is none. [-]

        Returns:
            The best that was found, and the bound that the solver proved.
        """
        whole = np.array(self.whole, dtype=bool)
        whole[list(loosened)] = False
        problem, started_s = self._describe(whole, fixed), perf_counter()
        solver = _run(problem, limits, start)
        if start is not None and not _is_its_own(solver, problem):
            left_s = max(limits.time_s - (perf_counter() - started_s), 0.0)
            solver = _run(problem, replace(limits, time_s=left_s), None)
        return _read_answer(solver, problem, whole, perf_counter() - started_s)

    def _describe(self, whole: NDArray[np.bool_], fixed: Mapping[int, float]) -> Any:
        """Write the program as HiGHS takes it."""
        import highspy

        lowest, highest = np.array(self.lowest), np.array(self.highest)
        lowest[list(fixed)] = highest[list(fixed)] = list(fixed.values())
        problem = highspy.HighsLp()
        problem.num_col_, problem.num_row_ = len(self.costs), len(self.row_lowest)
        problem.col_cost_ = np.array(self.costs)
        problem.col_lower_, problem.col_upper_ = lowest, highest
        problem.row_lower_, problem.row_upper_ = np.array(self.row_lowest), np.array(self.row_highest)
        problem.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        problem.a_matrix_.start_ = np.array(self.row_starts, dtype=np.int32)
        problem.a_matrix_.index_ = np.array(self.entries, dtype=np.int32)
        problem.a_matrix_.value_ = np.array(self.factors)
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        problem.integrality_ = [kinds[is_whole] for is_whole in whole.tolist()]
        return problem


def _run(problem: Any, limits: Limits, start: NDArray[np.float64] | None) -> Any:
    """Let HiGHS solve a program, and give it back with what it found."""
    import highspy

    solver = _make_silent_solver()
    solver.setOptionValue("time_limit", float(limits.time_s))
    solver.setOptionValue("mip_rel_gap", float(limits.gap_fraction))
    solver.setOptionValue("mip_abs_gap", 0.0)
    solver.passModel(problem)
    if start is not None:
        known = highspy.HighsSolution()
        known.col_value = start.tolist()
        solver.setSolution(known)
    solver.run()
    return solver


def _is_its_own(solver: Any, problem: Any) -> bool:
    """Whether the columns cost what the solver says: where presolve alone finds the optimum, HiGHS gives the start."""
    values = np.array(solver.getSolution().col_value)
    if not values.size:
        return True
    said = float(solver.getInfo().objective_function_value)
    return bool(abs(float(np.array(problem.col_cost_) @ values) - said) <= SAME_COST * max(abs(said), 1.0))


def _read_answer(solver: Any, problem: Any, whole: NDArray[np.bool_], seconds: float) -> SolverAnswer:
    """Read what the solver found and proved; what it costs is summed from the values.

    Without whole columns its objective is a bound only once it is optimal; before, nothing is proved.
    """
    import highspy

    info, status = solver.getInfo(), solver.getModelStatus()
    found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    is_optimal = status == highspy.HighsModelStatus.kOptimal
    verdict: SolverStatus = "best_found" if found else "nothing_found"
    if is_optimal:
        verdict = "optimal"
    elif status == highspy.HighsModelStatus.kInfeasible:
        verdict = "infeasible"
    values = np.array(solver.getSolution().col_value) if found else np.array([])
    if found and whole.any():
        values[whole] = np.round(values[whole])
    bound = float(info.mip_dual_bound) if whole.any() else float(info.objective_function_value) if is_optimal else -inf
    return SolverAnswer(
        status=verdict,
        values=values,
        objective=float(np.array(problem.col_cost_) @ values) if found else inf,
        bound=bound,
        seconds=seconds,
        nodes=int(info.mip_node_count),
    )


def _make_silent_solver() -> Any:
    """Make a solver that prints nothing; highspy's own prints a banner while it is being made."""
    import highspy

    class SilentHighs(highspy.Highs):  # type: ignore[misc]  # highspy has no types
        """HiGHS with its output off before anything can be printed."""

        def enableCallbacks(self) -> None:  # noqa: N802  # highspy's name
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    solver = SilentHighs()
    solver.setOptionValue("output_flag", False)
    return solver

"""A mixed-integer program put together column by column and row by row, and solved by HiGHS."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

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

    def solve(self, limits: Limits, *, loosened: Collection[int] = ()) -> SolverAnswer:
        """Minimise.

        Args:
            limits: Time and gap at which to stop. [-]
            loosened: Columns that need not be whole this time. [-]

        Returns:
            The best that was found, and the bound that the solver proved.
        """
        whole = np.array(self.whole, dtype=bool)
        whole[list(loosened)] = False
        problem, started_s = self._describe(whole), perf_counter()
        solver = _run(problem, limits)
        return _read_answer(solver, problem, whole, perf_counter() - started_s)

    def price(self, values: NDArray[np.float64]) -> float:
        """Sum what values of all columns cost. [unit of the objective]"""
        return float(np.array(self.costs) @ values)

    def restrict(self, columns: Sequence[int], values: NDArray[np.float64]) -> LinearProgram:
        """Give the program of some columns, in their order, all others kept at given values.

        Args:
            columns: Those that stay free. [-]
            values: Of all columns. [-]
        """
        part, numbers = LinearProgram(), np.full(len(self.costs), -1)
        numbers[columns] = np.arange(len(columns))
        for column in columns:
            part.add_column(cost=self.costs[column], most=self.highest[column], is_whole=self.whole[column])
        starts, entries, factors = np.array(self.row_starts), np.array(self.entries), np.array(self.factors)
        is_free = numbers[entries] >= 0
        rows = np.repeat(np.arange(len(self.row_lowest)), np.diff(starts))
        kept = np.bincount(
            rows[~is_free], weights=factors[~is_free] * values[entries[~is_free]], minlength=len(self.row_lowest)
        )
        for row in np.unique(rows[is_free]).tolist():
            inside = slice(starts[row], starts[row + 1])
            free = is_free[inside]
            terms = zip(numbers[entries[inside][free]].tolist(), factors[inside][free].tolist(), strict=True)
            part.add_row(terms, least=self.row_lowest[row] - kept[row], most=self.row_highest[row] - kept[row])
        return part

    def _describe(self, whole: NDArray[np.bool_]) -> Any:
        """Write the program as HiGHS takes it."""
        import highspy

        problem = highspy.HighsLp()
        problem.num_col_, problem.num_row_ = len(self.costs), len(self.row_lowest)
        problem.col_cost_ = np.array(self.costs)
        problem.col_lower_, problem.col_upper_ = np.zeros(len(self.costs)), np.array(self.highest)
        problem.row_lower_, problem.row_upper_ = np.array(self.row_lowest), np.array(self.row_highest)
        problem.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        problem.a_matrix_.start_ = np.array(self.row_starts, dtype=np.int32)
        problem.a_matrix_.index_ = np.array(self.entries, dtype=np.int32)
        problem.a_matrix_.value_ = np.array(self.factors)
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        problem.integrality_ = [kinds[is_whole] for is_whole in whole.tolist()]
        return problem


def _run(problem: Any, limits: Limits) -> Any:
    """Let HiGHS solve a program, and give it back with what it found."""
    solver = _make_silent_solver()
    solver.setOptionValue("time_limit", float(limits.time_s))
    solver.setOptionValue("mip_rel_gap", float(limits.gap_fraction))
    solver.setOptionValue("mip_abs_gap", 0.0)
    solver.passModel(problem)
    solver.run()
    return solver


def _read_answer(solver: Any, problem: Any, whole: NDArray[np.bool_], seconds: float) -> SolverAnswer:
    """Read what the solver found and proved; what it costs is summed from the values.

    Without whole columns its objective is a bound only once it is optimal; before, nothing is proved. Without any
    column what a row asks for cannot be met.
    """
    import highspy

    info, status = solver.getInfo(), solver.getModelStatus()
    found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    is_optimal = status == highspy.HighsModelStatus.kOptimal
    verdict: SolverStatus = "best_found" if found else "nothing_found"
    if is_optimal:
        verdict = "optimal"
    elif status == highspy.HighsModelStatus.kInfeasible or not problem.num_col_:
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

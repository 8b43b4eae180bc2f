"""A mixed-integer program put together column by column and row by row, and solved by HiGHS."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

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
        import highspy

        whole = np.array(self.whole, dtype=bool)
        whole[list(loosened)] = False
        lowest, highest = np.array(self.lowest), np.array(self.highest)
        lowest[list(fixed)] = highest[list(fixed)] = list(fixed.values())
        solver = _make_silent_solver()
        solver.setOptionValue("time_limit", float(limits.time_s))
        solver.setOptionValue("mip_rel_gap", float(limits.gap_fraction))
        solver.setOptionValue("mip_abs_gap", 0.0)
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
        started_s = perf_counter()
        solver.passModel(problem)
        if start is not None:
            known = highspy.HighsSolution()
            known.col_value = start.tolist()
            solver.setSolution(known)
        solver.run()
        seconds = perf_counter() - started_s
        info, status = solver.getInfo(), solver.getModelStatus()
        found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        verdict: SolverStatus = "best_found" if found else "nothing_found"
        if status == highspy.HighsModelStatus.kOptimal:
            verdict = "optimal"
        elif status == highspy.HighsModelStatus.kInfeasible:
            verdict = "infeasible"
        values = np.array(solver.getSolution().col_value) if found else np.array([])
        if found and whole.any():
            values[whole] = np.round(values[whole])
        return SolverAnswer(
            status=verdict,
            values=values,
            objective=float(info.objective_function_value) if found else inf,
            bound=float(info.mip_dual_bound if whole.any() else info.objective_function_value),
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

"""Measured step times and memory peaks against predicted ones as a function of the coefficients: least squares.

One residual per figure: the logarithm of measured over predicted, under one strategy per case.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from suanpei.errors import InputError
from suanpei.physics.evaluate import evaluate
from suanpei.physics.memory.totals import evaluate_memory
from suanpei.physics.workload import build_workload
from suanpei.validation.case import MEMORY_METRICS, SPEED_METRICS
from suanpei.validation.free_coefficients import MEMORY_KEY, Level, Parameter, with_values
from suanpei.validation.predict import Batch, choose_rows, convert_step, prepare_batches, read_counters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suanpei.machine.calibration import Calibration
    from suanpei.machine.catalogue import Catalogue
    from suanpei.physics.memory.totals import MemoryTotals
    from suanpei.validation.case import Case

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.intp]

Column = Literal["step_s", "allocated_bytes", "reserved_bytes", "device_bytes"]
COLUMNS: tuple[Column, ...] = ("step_s", "allocated_bytes", "reserved_bytes", "device_bytes")

NOISE: Mapping[Column, float] = {
    "step_s": 0.06,
    "allocated_bytes": 0.06,
    "reserved_bytes": 0.12,
    "device_bytes": 0.12,
}
"""Log-spread of one configuration around a right model: repeats differ by 1 to 13 %, and settings that no source prints
add to it; an allocator's cache varies more. Sets how data weigh against priors, not the intervals."""

SOURCE_ROWS = 40.0
"""A source's weight grows with its configurations up to this many: errors within one source go together."""

_STEP = 0.05
"""Finite difference of a score. [prior spreads]"""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """All exact figures of a set of cases, ready to be predicted under any coefficients."""

    batches: tuple[Batch, ...]
    """One strategy per case; `owners` counts the cases."""
    cases: tuple[Case, ...]
    """Case of each figure."""
    columns: IntArray
    """Index into `COLUMNS` of each figure."""
    places: tuple[IntArray, ...]
    """For each batch, the positions of its figures."""
    rows: tuple[IntArray, ...]
    """For each batch, the row of each of its figures."""
    memory: tuple[MemoryTotals, ...]
    """For each batch, the memory under the prior: a time does not depend on it."""
    log_measured: FloatArray
    """Logarithm of the measured step time [s] or memory [B]."""
    weights: FloatArray
    """Of the squared residual over its noise: a source shares `SOURCE_ROWS`, repeats share one configuration."""

    @cached_property
    def noise(self) -> FloatArray:
        """Log-spread of each figure around a right model."""
        return np.array([NOISE[COLUMNS[column]] for column in self.columns])

    @cached_property
    def keys(self) -> dict[Level, frozenset[str]]:
        """Generations, recipes and fabrics that the figures rest on."""
        return {
            level: frozenset().union(*(_uses(batch)[level] for batch in self.batches))
            for level in ("generations", "recipes", "fabrics", "memory")
        }

    def log_predicted(self, calibration: Calibration) -> FloatArray:
        """Predict the logarithm of each figure.

        Args:
            calibration: The coefficients.
        """
        predicted = np.full(len(self.cases), np.nan)
        for index in range(len(self.batches)):
            self._predict_times(index, calibration, predicted)
            self._predict_memory(index, calibration, predicted)
        return predicted

    def _predict_times(self, index: int, calibration: Calibration, predicted: FloatArray) -> None:
        places = self.places[index]
        timed = self.columns[places] == 0
        if np.any(timed):
            batch = self.batches[index]
            estimates = evaluate(
                batch.job, batch.cluster, batch.recipe, calibration, batch.strategies, memory=self.memory[index]
            )
            predicted[places[timed]] = np.log(estimates.step_s[self.rows[index][timed]])

    def _predict_memory(self, index: int, calibration: Calibration, predicted: FloatArray) -> None:
        places = self.places[index]
        weighed = self.columns[places] > 0
        if np.any(weighed):
            batch = self.batches[index]
            totals = evaluate_memory(build_workload(batch.job), batch.recipe, calibration, batch.strategies)
            counters = read_counters(totals, batch.cluster.accelerator.memory_bytes)
            table = np.stack([np.ones(len(batch.strategies)), *(counters[column] for column in COLUMNS[1:])])
            predicted[places[weighed]] = np.log(table[self.columns[places[weighed]], self.rows[index][weighed]])

    def jacobian(
        self, calibration: Calibration, parameters: Sequence[Parameter], scores: FloatArray, base: FloatArray
    ) -> FloatArray:
        """Differentiate the log predictions by the scores, by one-sided differences.

        Args:
            calibration: Everything that does not move.
            parameters: What moves.
            scores: Where. [prior spreads]
            base: Log predictions there.

        Returns:
            Derivatives, shape (figures, parameters).
        """
        columns = np.zeros((len(self.cases), len(parameters)))
        for position, parameter in enumerate(parameters):
            step = _STEP if scores[position] + _STEP <= parameter.bounds[1] else -_STEP
            moved = scores.copy()
            moved[position] += step
            values = [one.value(score) for one, score in zip(parameters, moved, strict=True)]
            moved_calibration = with_values(calibration, parameters, values)
            ahead = np.full(len(self.cases), np.nan)
            for index, batch in enumerate(self.batches):
                if parameter.free.level == "memory":
                    self._predict_memory(index, moved_calibration, ahead)
                elif parameter.key in _uses(batch)[parameter.free.level]:
                    self._predict_times(index, moved_calibration, ahead)
            changed = np.isfinite(ahead)
            columns[changed, position] = (ahead[changed] - base[changed]) / step
        return columns


def _uses(batch: Batch) -> dict[Level, frozenset[str]]:
    return {
        "generations": frozenset({batch.cluster.accelerator.generation}),
        "recipes": frozenset({batch.recipe.name}),
        "fabrics": frozenset({batch.cluster.scale_up.technology, batch.cluster.scale_out.technology}),
        "memory": frozenset({MEMORY_KEY}),
    }


def build_problem(cases: Sequence[Case], calibration: Calibration, catalogue: Catalogue) -> Problem:
    """Gather the exact speeds and memory peaks; where a source leaves the strategy open, choose one by the prior.

    Args:
        cases: Any files; a whole run's hours, a fit verdict and a one-sided figure are not used.
        calibration: The prior, for the choice.
        catalogue: Accelerators and fabrics.
    """
    used = [case for case in cases if any(_column(case, index) is not None for index in range(len(case.measured)))]
    chosen = [pair for batch in prepare_batches(used, catalogue)[0] for pair in _choose(batch, calibration)]
    batches = [batch for batch, _ in chosen]
    figures: list[tuple[Case, int, float]] = []
    places: list[IntArray] = []
    rows: list[IntArray] = []
    for batch in batches:
        own_rows: list[int] = []
        for row, case in enumerate(batch.cases):
            for index, measured in enumerate(case.measured):
                column = _column(case, index)
                if column is not None:
                    value = _step_s(case, batch, row, measured.value) if column == "step_s" else measured.value
                    figures.append((case, COLUMNS.index(column), float(np.log(value))))
                    own_rows.append(row)
        places.append(np.arange(len(figures) - len(own_rows), len(figures), dtype=np.intp))
        rows.append(np.array(own_rows, dtype=np.intp))
    columns = np.array([column for _, column, _ in figures], dtype=np.intp)
    return Problem(
        batches=tuple(batches),
        cases=tuple(case for case, _, _ in figures),
        columns=columns,
        places=tuple(places),
        rows=tuple(rows),
        memory=tuple(memory for _, memory in chosen),
        log_measured=np.array([value for _, _, value in figures]),
        weights=weigh_figures([case for case, _, _ in figures], columns),
    )


def _column(case: Case, index: int) -> Column | None:
    """Give what a case's figure is compared with; None where it is not used."""
    measured = case.measured[index]
    if measured.bound != "exact":
        return None
    if measured.metric in SPEED_METRICS:
        return "step_s"
    return next((column for column in COLUMNS if measured.metric == column and column in MEMORY_METRICS), None)


def _step_s(case: Case, batch: Batch, row: int, value: float) -> float:
    metric = next(measured.metric for measured in case.measured if measured.metric in SPEED_METRICS)
    units = convert_step(case, batch, row)
    return value / units if metric == "step_s" else units / value


def _choose(batch: Batch, calibration: Calibration) -> list[tuple[Batch, MemoryTotals]]:
    """Keep one strategy per case; where a batch is refused, its cases go one by one and those refused leave."""
    try:
        estimates = evaluate(batch.job, batch.cluster, batch.recipe, calibration, batch.strategies)
    except InputError:
        if len(batch.cases) == 1:
            return []
        singles = [
            replace(
                batch,
                cases=(case,),
                strategies=batch.strategies.take(batch.owners == index),
                owners=np.zeros(int(np.sum(batch.owners == index)), dtype=np.intp),
            )
            for index, case in enumerate(batch.cases)
        ]
        return [pair for single in singles for pair in _choose(single, calibration)]
    rows = choose_rows(batch, estimates)
    kept = replace(batch, strategies=batch.strategies.take(rows), owners=np.arange(len(rows), dtype=np.intp))
    return [(kept, estimates.memory.take(rows))]


def weigh_figures(cases: Sequence[Case], columns: IntArray) -> FloatArray:
    """Weigh figures so that repeats share one configuration and a source counts at most `SOURCE_ROWS` a kind and file.

    Args:
        cases: Case of each figure.
        columns: Kind of each figure, index into `COLUMNS`.

    Returns:
        Weights, shape of `columns`. [-]
    """
    members: dict[tuple[int, str, str, str], int] = defaultdict(int)
    for case, column in zip(cases, columns, strict=True):
        members[int(column), case.file, case.source, case.group] += 1
    configurations: dict[tuple[int, str, str], int] = defaultdict(int)
    for column, file, source, _ in members:
        configurations[column, file, source] += 1
    return np.array(
        [
            min(1.0, SOURCE_ROWS / configurations[int(column), case.file, case.source])
            / members[int(column), case.file, case.source, case.group]
            for case, column in zip(cases, columns, strict=True)
        ]
    )

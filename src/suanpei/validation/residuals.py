"""Errors of predictions against measurements, and the residuals that intervals are made of."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import log
from statistics import median
from typing import TYPE_CHECKING, Literal

import numpy as np

from suanpei.validation.case import MEMORY_METRICS, SPEED_METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from suanpei.messages import Message
    from suanpei.validation.case import Bound, Kind, Metric

Split = Literal["as_fitted", "grouped", "source_left_out", "hidden_size_left_out"]
"""What the fit behind a prediction did not see: perhaps nothing; a fold of configurations; the row's source; the rows
of its hidden size in its file."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """One figure, measured and predicted blind."""

    case_id: str
    file: str
    kind: Kind
    source: str
    error_class: str
    set_name: str
    generation: str
    """Accelerator generation of the card."""
    recipe: str
    counter: str
    """Memory residuals that a memory figure belongs to (`MEMORY_COUNTERS`); blank for other figures."""
    group: str
    """Configuration: repeats share it."""
    metric: Metric
    bound: Bound
    measured: float
    predicted: float
    """In the metric's unit; for ``fits`` 1 is fits, 0.5 at risk, 0 does not fit."""
    low: float
    high: float
    """5th and 95th percentile of what is expected to be measured."""
    step_s: float | None = None
    """Predicted step time, whatever the metric that it was published in; None for memory and verdicts. [s]"""
    assumptions: tuple[Message, ...] = ()

    @property
    def error(self) -> float:
        """Predicted over measured less one; for ``fits`` 0 is a right call and 1 a wrong one.

        An at-risk call is right for either outcome, as its interval holds the limit.
        """
        if self.metric == "fits":
            return 0.0 if abs(self.predicted - self.measured) <= 0.5 else 1.0
        return self.predicted / self.measured - 1

    @property
    def log_residual(self) -> float:
        """Logarithm of measured over predicted; of the step time where the metric is a speed. [-]"""
        ratio = log(self.measured / self.predicted)
        return -ratio if self.metric in ("tokens_per_s_per_gpu", "tflops_per_gpu") else ratio

    @property
    def holds(self) -> bool:
        """Whether the interval holds the measurement."""
        return self.low <= self.measured <= self.high


def weighted_quantile(
    values: Sequence[float] | np.ndarray, weights: Sequence[float] | np.ndarray, share: float
) -> float:
    """Give the smallest value at or below which at least this share of the weight lies.

    Args:
        values: Any order, at least one. [any]
        weights: Of the same length, positive. [-]
        share: Between 0 and 1. [-]

    Example:
        >>> weighted_quantile([3.0, 1.0, 2.0], [1, 1, 1], 0.5)
        2.0
    """
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(np.asarray(weights, dtype=np.float64)[order])
    position = int(np.searchsorted(cumulative, share * cumulative[-1] * (1 - 1e-12)))
    return float(np.asarray(values)[order][position])


def collect_log_residuals(predictions: Iterable[Prediction]) -> dict[str, tuple[float, ...]]:
    """Gather sorted log residuals: of speeds by class and of memory by counter, sources weighing equally.

    Errors within a source go together, so many rows of one source are no more evidence than their share: see
    `resample`. One-sided figures are left out, memory of class B, whose settings are partly assumed, and speeds of
    fine-tuning files, whose classes are about memory.

    Args:
        predictions: From runs that the fit did not see.

    Returns:
        Residuals by class (``A``, ``B``, ``C``) of speeds and by counter of memory (`MEMORY_COUNTERS`).
    """
    configurations: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for prediction in predictions:
        name = _name_residual(prediction)
        if name:
            configurations[name, prediction.source, prediction.group].append(prediction.log_residual)
    sources: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (name, source, _), members in configurations.items():
        sources[name][source].append(median(members))
    return {name: resample(list(by_source.values())) for name, by_source in sorted(sources.items())}


def _name_residual(prediction: Prediction) -> str:
    if prediction.bound != "exact":
        return ""
    if prediction.metric in SPEED_METRICS and prediction.kind == "throughput":
        return prediction.error_class
    # memory depends on settings alone, and a plan states all of them; assumed ones would add the error of the guess
    if prediction.metric not in MEMORY_METRICS or prediction.error_class == "B":
        return ""
    return prediction.counter


def resample(groups: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Give as many values as groups of unequal size are worth when each group weighs the same.

    Of n values the k-th is the weighted k / (n + 1) quantile, where n is Kish's effective size, the square of the sum
    of the weights over the sum of their squares (L. Kish, Survey Sampling, Wiley, 1965, section 8.2). Groups of one
    value each come back as they are.

    Args:
        groups: At least one, none empty. [any]

    Returns:
        Sorted values. [any]

    Example:
        >>> resample([[1.0, 2.0, 3.0, 4.0], [10.0]])
        (2.0, 4.0, 10.0)
    """
    values = [value for group in groups for value in group]
    weights = np.array([1 / len(group) for group in groups for _ in group])
    size = max(round(float(weights.sum() ** 2 / np.sum(weights**2))), 1)
    return tuple(weighted_quantile(values, weights, rank / (size + 1)) for rank in range(1, size + 1))

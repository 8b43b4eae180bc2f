"""Errors of predictions against measurements, and their summary.

Repeats of one configuration count once (their errors' median), sources weigh equally, files are never pooled. A median
weighed over sources is the value below which half of the total weight lies, each source sharing a weight of one among
its configurations.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import log
from statistics import median
from typing import TYPE_CHECKING, Literal

import numpy as np

from suanpei.validation.case import SPEED_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from suanpei.messages import Message
    from suanpei.physics.setting import Setting
    from suanpei.validation.case import Bound, Kind, Metric

By = Literal["class", "source", "set", "generation"]


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
    """Memory residuals that a memory figure or a verdict reads (`MEMORY_COUNTERS`); blank for other figures."""
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
    assumptions: tuple[Message, ...] = ()
    setting: Setting | None = None
    """What decides how sure a speed is; None for figures of memory."""
    load: float | None = None
    """Predicted memory need over capacity, for ``fits``. [-]"""

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


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Errors over one group of predictions of one file."""

    file: str
    metric: str
    """A metric; ``speed`` joins the three ways to publish one; bounds are summarised apart as ``… bound``."""
    by: By
    value: str
    n: int
    """Configurations. [-]"""
    median_abs_error: float
    """For ``fits`` and for bounds the share of wrong calls. [-]"""
    p90_abs_error: float | None
    """None for shares. [-]"""
    mean_abs_error: float
    coverage_90: float | None
    """Share of measurements inside their 90 % interval; None where there is no interval. [-]"""
    median_width: float | None
    """Median of high over low. [-]"""


def summarise(predictions: Iterable[Prediction]) -> tuple[Summary, ...]:
    """Summarise by file and metric, over each class, source, named set and generation.

    Args:
        predictions: Any files; each is summarised apart.

    Returns:
        Summaries ordered by file, metric, grouping and value.
    """
    keys: dict[By, Callable[[Prediction], str]] = {
        "class": lambda prediction: prediction.error_class,
        "source": lambda prediction: prediction.source,
        "set": lambda prediction: prediction.set_name,
        "generation": lambda prediction: prediction.generation,
    }
    groups: dict[tuple[str, str, By, str], list[Prediction]] = defaultdict(list)
    for prediction in predictions:
        for by, key in keys.items():
            if key(prediction):
                groups[prediction.file, _name_metric(prediction), by, key(prediction)].append(prediction)
    order = {by: rank for rank, by in enumerate(keys)}
    return tuple(
        _summarise_group(file, metric, by, value, groups[file, metric, by, value])
        for file, metric, by, value in sorted(groups, key=lambda key: (key[0], key[1], order[key[2]], key[3]))
    )


def _name_metric(prediction: Prediction) -> str:
    if prediction.bound != "exact":
        return f"{prediction.metric} bound"
    if prediction.metric == "fits":
        return "fits" if prediction.measured else "oom"
    return "speed" if prediction.metric in SPEED_METRICS else prediction.metric


def _summarise_group(file: str, metric: str, by: By, value: str, predictions: Sequence[Prediction]) -> Summary:
    configurations: dict[tuple[str, str], list[Prediction]] = defaultdict(list)
    for prediction in predictions:
        configurations[prediction.source, prediction.group].append(prediction)
    per_source: dict[str, int] = defaultdict(int)
    for source, _ in configurations:
        per_source[source] += 1
    weights = np.array([1 / per_source[source] for source, _ in configurations])
    is_share = metric in ("fits", "oom") or metric.endswith(" bound")
    wrong_or_error = [
        median(_breach(member) if is_share else abs(member.error) for member in members)
        for members in configurations.values()
    ]
    errors = np.array(wrong_or_error)
    mean = float(np.average(errors, weights=weights))
    if is_share:
        return Summary(
            file=file,
            metric=metric,
            by=by,
            value=value,
            n=len(configurations),
            median_abs_error=mean,
            p90_abs_error=None,
            mean_abs_error=mean,
            coverage_90=None,
            median_width=None,
        )
    holds = np.array([np.mean([member.holds for member in members]) for members in configurations.values()])
    widths = np.array([median(member.high / member.low for member in members) for members in configurations.values()])
    return Summary(
        file=file,
        metric=metric,
        by=by,
        value=value,
        n=len(configurations),
        median_abs_error=weighted_quantile(errors, weights, 0.5),
        p90_abs_error=weighted_quantile(errors, weights, 0.9),
        mean_abs_error=mean,
        coverage_90=float(np.average(holds, weights=weights)),
        median_width=weighted_quantile(widths, weights, 0.5),
    )


def _breach(prediction: Prediction) -> float:
    """Give 1 where a call is wrong or a bound is broken, else 0."""
    if prediction.metric == "fits":
        return prediction.error
    above = prediction.measured > prediction.predicted
    return float(above if prediction.bound == "at_most_predicted" else not above)


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

"""Errors of predictions against measurements, and their summary.

Repeats of one configuration count once (their errors' median), sources weigh equally, files are never pooled. A median
weighed over sources is the value below which half of the total weight lies, each source sharing a weight of one among
its configurations. For fit verdicts the sources of few rows share one weight: see `SMALL_SOURCE_ROWS`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import log
from statistics import fmean, median
from typing import TYPE_CHECKING, Literal

import numpy as np

from suanpei.validation.case import MEMORY_METRICS, SPEED_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from suanpei.messages import Message
    from suanpei.validation.case import Bound, Kind, Metric

By = Literal["class", "source", "set", "generation"]

Split = Literal["as_fitted", "grouped", "source_left_out", "hidden_size_left_out"]
"""What the fit behind a prediction did not see: perhaps nothing; a fold of configurations; the row's source; the rows
of its hidden size in its file."""

SMALL_SOURCE_ROWS = 5
"""Sources with fewer verdicts count together as one source."""


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


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """The repeats of one configuration: one figure each."""

    members: tuple[Prediction, ...]
    weight: float
    """Of sources that weigh 1 each, its share. [-]"""


def weigh_configurations(predictions: Iterable[Prediction], small_source_rows: int = 1) -> tuple[Configuration, ...]:
    """Join the repeats of each figure and weigh them so that sources weigh equally.

    Args:
        predictions: Of one file.
        small_source_rows: Sources with fewer rows count together as one source.
    """
    joined: dict[tuple[str, str, str], list[Prediction]] = defaultdict(list)
    rows: Counter[str] = Counter()
    for prediction in predictions:
        figure = "speed" if prediction.metric in SPEED_METRICS else prediction.metric
        joined[prediction.source, prediction.group, figure].append(prediction)
        rows[prediction.source] += 1
    sources = [source if rows[source] >= small_source_rows else "" for source, _, _ in joined]
    share = Counter(sources)
    return tuple(
        Configuration(members=tuple(members), weight=1 / share[source])
        for source, members in zip(sources, joined.values(), strict=True)
    )


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Errors over one group of predictions of one file."""

    file: str
    metric: str
    """A metric; ``speed`` joins the three ways to publish one; bounds are summarised apart as ``… bound``. Verdicts
    stand under three: ``fits`` (it ran, called ``does_not_fit``), ``fits_at_risk`` (it ran, called ``at_risk``) and
    ``oom`` (memory ran out, called ``fits``)."""
    by: By
    value: str
    n: int
    """Configurations. [-]"""
    median_abs_error: float
    """For verdicts and for bounds the share of such calls. [-]"""
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
                for metric in _name_metrics(prediction):
                    groups[prediction.file, metric, by, key(prediction)].append(prediction)
    order = {by: rank for rank, by in enumerate(keys)}
    return tuple(
        _summarise_group(file, metric, by, value, groups[file, metric, by, value])
        for file, metric, by, value in sorted(groups, key=lambda key: (key[0], key[1], order[key[2]], key[3]))
    )


def _name_metrics(prediction: Prediction) -> tuple[str, ...]:
    if prediction.bound != "exact":
        return (f"{prediction.metric} bound",)
    if prediction.metric == "fits":
        return ("fits", "fits_at_risk") if prediction.measured else ("oom",)
    return ("speed" if prediction.metric in SPEED_METRICS else prediction.metric,)


def _summarise_group(file: str, metric: str, by: By, value: str, predictions: Sequence[Prediction]) -> Summary:
    if metric in _CALLS or metric.endswith(" bound"):
        configurations = weigh_configurations(predictions, SMALL_SOURCE_ROWS if metric in _CALLS else 1)
        share = average(configurations, _CALLS.get(metric, breaks_bound))
        return Summary(
            file=file,
            metric=metric,
            by=by,
            value=value,
            n=len(configurations),
            median_abs_error=share,
            p90_abs_error=None,
            mean_abs_error=share,
            coverage_90=None,
            median_width=None,
        )
    configurations = weigh_configurations(predictions)
    return Summary(
        file=file,
        metric=metric,
        by=by,
        value=value,
        n=len(configurations),
        median_abs_error=quantile(configurations, abs_error, 0.5),
        p90_abs_error=quantile(configurations, abs_error, 0.9),
        mean_abs_error=average(configurations, abs_error),
        coverage_90=average(configurations, is_held, fmean),
        median_width=quantile(configurations, interval_width, 0.5),
    )


def average(
    configurations: Sequence[Configuration],
    measure: Callable[[Prediction], float],
    join: Callable[[Sequence[float]], float] = median,
) -> float:
    """Average a measure, sources weighing equally; `join` makes one value of a configuration's repeats."""
    values = [join([measure(member) for member in one.members]) for one in configurations]
    return float(np.average(values, weights=[one.weight for one in configurations]))


def quantile(configurations: Sequence[Configuration], measure: Callable[[Prediction], float], share: float) -> float:
    """Give a quantile of a measure, the median over repeats of each configuration, sources weighing equally."""
    values = [median(measure(member) for member in one.members) for one in configurations]
    return weighted_quantile(values, [one.weight for one in configurations], share)


def abs_error(prediction: Prediction) -> float:
    """Give the size of the relative error. [-]"""
    return abs(prediction.error)


def is_held(prediction: Prediction) -> float:
    """Give 1 where the interval holds the measurement, else 0."""
    return float(prediction.holds)


def interval_width(prediction: Prediction) -> float:
    """Give the interval's high end over its low end. [-]"""
    return prediction.high / prediction.low


def breaks_bound(prediction: Prediction) -> float:
    """Give 1 where a one-sided measurement lies on the wrong side of the prediction, else 0."""
    above = prediction.measured > prediction.predicted
    return float(above if prediction.bound == "at_most_predicted" else not above)


_CALLS: Mapping[str, Callable[[Prediction], float]] = {
    "fits": lambda prediction: float(prediction.predicted == 0.0),
    "fits_at_risk": lambda prediction: float(prediction.predicted == 0.5),
    "oom": lambda prediction: float(prediction.predicted == 1.0),
}
"""Which calls the metrics of verdicts count."""


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

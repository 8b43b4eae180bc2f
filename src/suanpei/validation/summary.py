"""Errors summarised over groups of predictions.

Repeats of one configuration count once (their errors' median), sources weigh equally, files are never pooled. A median
weighed over sources is the value below which half of the total weight lies, each source sharing a weight of one among
its configurations. For fit verdicts the sources of few rows share one weight: see `SMALL_SOURCE_ROWS`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING, Literal

import numpy as np

from suanpei.validation.case import SPEED_METRICS
from suanpei.validation.residuals import weighted_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from suanpei.validation.residuals import Prediction

By = Literal["class", "source", "set", "generation"]

SMALL_SOURCE_ROWS = 5
"""Sources with fewer verdicts count together as one source."""


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
    if metric in CALLS or metric.endswith(" bound"):
        configurations = weigh_configurations(predictions, SMALL_SOURCE_ROWS if metric in CALLS else 1)
        share = average(configurations, CALLS.get(metric, breaks_bound))
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


CALLS: Mapping[str, Callable[[Prediction], float]] = {
    "fits": lambda prediction: float(prediction.predicted == 0.0),
    "fits_at_risk": lambda prediction: float(prediction.predicted == 0.5),
    "oom": lambda prediction: float(prediction.predicted == 1.0),
}
"""Which calls the metrics of verdicts count."""

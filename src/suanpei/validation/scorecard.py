"""The tables of accuracy: one statistic of one group each, beside its target.

Repeats of one configuration count once, sources weigh equally, files are never pooled. `Score` is one cell, so that a
program can read it; `report` makes tables of them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import exp, lgamma, log
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from suanpei.validation.case import MEMORY_METRICS, SPEED_METRICS
from suanpei.validation.regret import measure_regrets
from suanpei.validation.scope import is_owed_prediction
from suanpei.validation.summary import (
    CALLS,
    SMALL_SOURCE_ROWS,
    abs_error,
    average,
    breaks_bound,
    interval_width,
    is_held,
    quantile,
    weigh_configurations,
)
from suanpei.validation.targets import (
    ALL,
    NO_LIMITS,
    SETS,
    SMALLEST_CLASS_ROWS,
    Limits,
    Place,
    Statistic,
    Table,
    find_limits,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from suanpei.validation.case import Case
    from suanpei.validation.residuals import Prediction, Split
    from suanpei.validation.rows import Row
    from suanpei.validation.summary import Configuration

BAND_LEVEL = 0.9
"""Share of samples whose count of held intervals lies in the band of binomial error."""

SPEEDS = ("step_s", "tokens_per_s_per_gpu", "tflops_per_gpu", "gpu_hours")
"""Metrics that stand as ``step_time``; a whole run's hours are so many steps."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """One statistic of one group of figures, and its target."""

    table: Table
    """``bounds``: one-sided memory figures kept; ``verdicts``: calls of whether a run fits; ``predicted``: rows of
    class A to C with a figure, a method and a sharding that are modelled."""
    file: str
    """Stem of the file."""
    split: Split | None
    """None for what does not depend on a fit."""
    figure: str
    """``step_time``; ``memory`` or one of its counters; a bound; which call of a verdict; else the table's name."""
    group: str
    """A class, a set, a source, or ``all``."""
    statistic: Statistic
    """Of relative errors, shares, widths (high over low) or regrets. ``share_of_n`` and ``mean_of_n`` weigh all n
    equally, the others weigh sources equally."""
    n: int
    """Configurations; groups of strategies; rows. [-]"""
    value: float
    """[-]"""
    least: float | None
    most: float | None
    """Target; None is none on this side."""
    is_met: bool | None
    """None without a target, and for rows that a fit may have seen."""


def score(
    held_out: Mapping[Split, Sequence[Prediction]], cases: Iterable[Case], rows: Mapping[str, Sequence[Row]]
) -> tuple[Score, ...]:
    """Make all tables.

    Args:
        held_out: Predictions by what their fit did not see.
        cases: Every case that was predicted; regret reads jobs and strategies.
        rows: Every row of each file, by its stem: those skipped count too.

    Returns:
        Scores ordered by table, file, split, figure and group.
    """
    known = {(case.file, case.case_id): case for case in cases}
    scores: list[Score] = []
    for split, predictions in held_out.items():
        for file in dict.fromkeys(one.file for one in predictions):
            own = [one for one in predictions if one.file == file]
            scores += _score_step_times(file, split, own)
            scores += _score_memory(file, split, own)
            scores += _score_verdicts(file, split, own)
            scores += _score_intervals(file, split, own)
            scores += _score_regret(file, split, known.values(), own)
    predicted = {(one.file, one.case_id) for predictions in held_out.values() for one in predictions}
    for file, members in rows.items():
        owed = [row for row in members if is_owed_prediction(row)]
        if owed:
            share = fmean(float((file, row.case_id) in predicted) for row in owed)
            scores.append(_state(Place("predicted", file, None, "predicted", ALL, "share"), len(owed), share))
    tables: tuple[str, ...] = Table.__args__  # type: ignore[attr-defined]
    files = list(dict.fromkeys(one.file for one in scores))
    return tuple(sorted(scores, key=lambda one: (tables.index(one.table), files.index(one.file))))


def _state(place: Place, n: int, value: float, limits: Limits | None = None) -> Score:
    limits = find_limits(place) if limits is None else limits
    return Score(
        **place._asdict(),
        n=n,
        value=value,
        least=limits.least,
        most=limits.most,
        is_met=None if limits == NO_LIMITS or place.split == "as_fitted" else limits.are_kept_by(value),
    )


def _score_errors(place: Place, predictions: Sequence[Prediction]) -> list[Score]:
    """Give median, 90th percentile and mean of the error."""
    configurations = weigh_configurations(predictions)
    values: tuple[tuple[Statistic, float], ...] = (
        ("median", quantile(configurations, abs_error, 0.5)),
        ("p90", quantile(configurations, abs_error, 0.9)),
        ("mean", average(configurations, abs_error)),
    )
    return [_state(place._replace(statistic=name), len(configurations), value) for name, value in values]


def _score_step_times(file: str, split: Split, predictions: Sequence[Prediction]) -> list[Score]:
    """Score every class, and the sets that have targets of their own."""
    speeds = [one for one in predictions if one.metric in SPEEDS and one.bound == "exact"]
    groups = {
        **_by(speeds, lambda one: one.error_class),
        **{name: [one for one in speeds if one.set_name in members] for name, members in SETS.items()},
    }
    return [
        one
        for group, members in groups.items()
        if members
        for one in _score_errors(Place("step_time", file, split, "step_time", group, "median"), members)
    ]


def _score_memory(file: str, split: Split, predictions: Sequence[Prediction]) -> list[Score]:
    """Score every counter and class; one-sided figures apart, by the share that keeps to its side."""
    memory = [one for one in predictions if one.metric in MEMORY_METRICS]
    scores = []
    for metric in MEMORY_METRICS:
        exact = [one for one in memory if one.metric == metric and one.bound == "exact"]
        for group, members in _by(exact, lambda one: one.error_class).items():
            scores += _score_errors(Place("memory", file, split, metric, group, "median"), members)
    for bound, figures in _by([one for one in memory if one.bound != "exact"], lambda one: one.bound).items():
        for group, members in _by(figures, lambda one: one.error_class).items():
            configurations = weigh_configurations(members)
            kept = 1 - average(configurations, breaks_bound, fmean)
            scores.append(_state(Place("bounds", file, split, bound, group, "share"), len(configurations), kept))
    return scores


def _score_verdicts(file: str, split: Split, predictions: Sequence[Prediction]) -> list[Score]:
    """Score the calls on rows that ran and on rows whose memory ran out; sources of few rows weigh as one."""
    calls = [one for one in predictions if one.metric == "fits"]
    measures: tuple[tuple[str, float, Callable[[Prediction], float]], ...] = (
        ("oom_caught", 0.0, lambda one: 1.0 - CALLS["oom"](one)),
        ("fitting_refused", 1.0, CALLS["fits"]),
        ("fitting_at_risk", 1.0, CALLS["fits_at_risk"]),
    )
    scores = []
    for figure, outcome, measure in measures:
        configurations = weigh_configurations((one for one in calls if one.measured == outcome), SMALL_SOURCE_ROWS)
        if configurations:
            share = average(configurations, measure, fmean)
            scores.append(_state(Place("verdicts", file, split, figure, ALL, "share"), len(configurations), share))
    return scores


def _score_intervals(file: str, split: Split, predictions: Sequence[Prediction]) -> list[Score]:
    """Score the share of intervals that hold, overall and by class, and their median width."""
    scores = []
    for figure, metrics in (("step_time", SPEED_METRICS), ("memory", MEMORY_METRICS)):
        exact = [one for one in predictions if one.metric in metrics and one.bound == "exact"]
        if exact:
            scores += _score_group_intervals(Place("intervals", file, split, figure, ALL, "share"), exact)
        for group, members in _by(exact, lambda one: one.error_class).items():
            scores += _score_group_intervals(Place("intervals", file, split, figure, group, "share"), members)
    return scores


def _score_group_intervals(place: Place, predictions: Sequence[Prediction]) -> list[Score]:
    configurations = weigh_configurations(predictions)
    n = len(configurations)
    has_target = find_limits(place._replace(group=ALL)) != NO_LIMITS
    is_judged = has_target and place.group != ALL and len(predictions) >= SMALLEST_CLASS_ROWS
    band = Limits(*give_binomial_band(n)) if is_judged else NO_LIMITS
    return [
        _state(place, n, average(configurations, is_held, fmean)),
        _state(place._replace(statistic="share_of_n"), n, _share_of_n(configurations), band),
        _state(place._replace(statistic="width"), n, quantile(configurations, interval_width, 0.5)),
    ]


def _share_of_n(configurations: Sequence[Configuration]) -> float:
    return fmean(fmean(is_held(member) for member in one.members) for one in configurations)


def give_binomial_band(n: int, share: float = BAND_LEVEL, level: float = BAND_LEVEL) -> tuple[float, float]:
    """Give the central band of the share of n independent trials that succeed.

    The 5th and 95th percentile of the binomial distribution where `level` is 0.9, over n.

    Args:
        n: Trials, at least 1. [-]
        share: Probability of one success, between 0 and 1. [-]
        level: Probability of the band, at least. [-]

    Returns:
        Lowest and highest share of the band. [-]

    Example:
        >>> give_binomial_band(100)
        (0.85, 0.95)
    """
    counts = np.arange(n + 1)
    logs = [
        lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(share) + (n - k) * log(1 - share) for k in counts
    ]
    cumulative = np.cumsum([exp(one) for one in logs])
    tail = (1 - level) / 2
    low, high = np.searchsorted(cumulative, (tail, 1 - tail))
    return float(counts[low]) / n, float(counts[min(high, n)]) / n


def _score_regret(file: str, split: Split, cases: Iterable[Case], predictions: Sequence[Prediction]) -> list[Score]:
    """Score the mean regret over groups, sources weighing equally, and of each source."""
    sources: dict[str, list[float]] = defaultdict(list)
    for choice in measure_regrets(cases, predictions):
        sources[choice.source].append(choice.regret)
    if not sources:
        return []
    place = Place("regret", file, split, "regret", ALL, "mean")
    regrets = [regret for members in sources.values() for regret in members]
    return [
        _state(place, len(regrets), fmean(fmean(members) for members in sources.values())),
        _state(place._replace(statistic="mean_of_n"), len(regrets), fmean(regrets)),
        *(
            _state(place._replace(group=source, statistic="mean_of_n"), len(members), fmean(members))
            for source, members in sorted(sources.items())
        ),
    ]


def _by(predictions: Iterable[Prediction], key: Callable[[Prediction], str]) -> dict[str, list[Prediction]]:
    """Sort predictions into groups, by name."""
    groups: dict[str, list[Prediction]] = defaultdict(list)
    for one in predictions:
        groups[key(one)].append(one)
    return dict(sorted(groups.items()))

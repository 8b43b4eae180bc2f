"""What intervals rest on: residuals of held-out predictions, what was measured, and intervals made on what is left."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from suanpei.machine.calibration import Evidence, Residuals
from suanpei.physics.setting import SIZES
from suanpei.physics.step_uncertainty import scale_step, spread_step_time
from suanpei.physics.uncertainty import Fit, judge_fit, spread_memory
from suanpei.validation.case import MEMORY_METRICS, SPEED_METRICS
from suanpei.validation.residuals import weighted_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from suanpei.machine.calibration import EvidenceSplit
    from suanpei.physics.setting import Setting
    from suanpei.validation.residuals import Prediction

MEASURED_CONFIGURATIONS = 5
"""A place is measured from this many configurations on: fewer cannot show how far apart its runs lie."""


def collect_evidence(held_out: Mapping[EvidenceSplit, Sequence[Prediction]]) -> Evidence:
    """Gather what intervals rest on from predictions by fits that did not see their figures.

    Args:
        held_out: Predictions by how their figures were kept from the fit; the same figures in each.

    Returns:
        Residuals by split, and which places and sizes were measured.
    """
    residuals = {split: collect_residuals(predictions) for split, predictions in held_out.items()}
    some = next(iter(held_out.values()), ())
    places: dict[tuple[str, str, str, str], set[tuple[str, str]]] = defaultdict(set)
    counters: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    timed: list[Setting] = []
    for prediction in some:
        name, configuration = _name_residual(prediction), (prediction.source, prediction.group)
        if name and prediction.setting is not None:
            timed.append(prediction.setting)
            if prediction.setting.fabric:
                places[prediction.setting.place].add(configuration)
        elif name:
            counters[name, prediction.recipe].add(configuration)
    return Evidence(
        step={split: by_name["step"] for split, by_name in residuals.items()},
        memory={split: by_name["memory"] for split, by_name in residuals.items()},
        generations=frozenset(setting.generation for setting in timed),
        settings=frozenset(place for place, seen in places.items() if len(seen) >= MEASURED_CONFIGURATIONS),
        counters=frozenset(counter for counter, seen in counters.items() if len(seen) >= MEASURED_CONFIGURATIONS),
        ranges=_find_ranges(timed),
    )


def _find_ranges(timed: Sequence[Setting]) -> dict[str, tuple[float, float]]:
    """Give the extent of every size; fewer cards than were measured only leave communication out."""
    if not timed:
        return {}
    found: dict[str, tuple[float, float]] = {
        size: (
            float(min(getattr(setting, size) for setting in timed)),
            float(max(getattr(setting, size) for setting in timed)),
        )
        for size in SIZES
    }
    return {**found, "gpus": (1.0, found["gpus"][1])}


def collect_residuals(predictions: Iterable[Prediction]) -> dict[str, dict[str, Residuals]]:
    """Gather sorted log residuals: of speeds by class and of memory by counter, sources weighing equally.

    A speed's residual is over its scale, `scale_step`. Errors within a source go together, so many rows of one source
    are no more evidence than their share: see `resample`. One-sided figures are left out, memory of class B, whose
    settings are partly assumed, and speeds of fine-tuning files, whose classes are about memory.

    Args:
        predictions: From runs that the fit did not see.

    Returns:
        Residuals under ``step`` by class (``A``, ``B``, ``C``) and under ``memory`` by counter (`MEMORY_COUNTERS`).
    """
    configurations: dict[tuple[str, str, str, str], list[Prediction]] = defaultdict(list)
    for prediction in predictions:
        name = _name_residual(prediction)
        if name:
            kind = "memory" if prediction.setting is None else "step"
            configurations[kind, name, prediction.source, prediction.group].append(prediction)
    sources: dict[tuple[str, str], dict[str, list[list[Prediction]]]] = defaultdict(lambda: defaultdict(list))
    for (kind, name, source, _), repeats in configurations.items():
        sources[kind, name][source].append(repeats)
    found: dict[str, dict[str, Residuals]] = {"step": {}, "memory": {}}
    for (kind, name), by_source in sorted(sources.items()):
        found[kind][name] = _summarise(list(by_source.values()))
    return found


def _summarise(sources: Sequence[Sequence[Sequence[Prediction]]]) -> Residuals:
    """Summarise sources of configurations of repeats."""
    logs = [[median(_scaled_residual(one) for one in repeats) for repeats in source] for source in sources]
    errors = [median(abs(one.error) for one in repeats) for source in sources for repeats in source]
    weights = [1 / len(source) for source in sources for _ in source]
    return Residuals(
        logs=resample(logs),
        sources=len(sources),
        median_error=weighted_quantile(errors, weights, 0.5),
        p90_error=weighted_quantile(errors, weights, 0.9),
    )


def _scaled_residual(prediction: Prediction) -> float:
    if prediction.setting is None:
        return prediction.log_residual
    return prediction.log_residual / float(scale_step(prediction.setting.waiting_share))


def _name_residual(prediction: Prediction) -> str:
    if prediction.bound != "exact":
        return ""
    if prediction.metric in SPEED_METRICS and prediction.kind == "throughput" and prediction.setting is not None:
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


def remake_intervals(predictions: Sequence[Prediction], label: Callable[[Prediction], str]) -> tuple[Prediction, ...]:
    """Give every speed, memory figure and verdict the 90 % interval that the other groups make.

    Conformal by groups: neither the residuals of a figure's own group nor what that group measured enter its interval,
    so that coverage is measured on what the interval did not see. Where the others hold figures of the same kind and
    source, it is one more of their configurations; else it is of a source never seen.

    Args:
        predictions: Of one split, each by a fit that did not see its group.
        label: Names the group.

    Returns:
        The same predictions in the same order; whole runs are left as they are.
    """
    members: dict[str, list[Prediction]] = defaultdict(list)
    for prediction in predictions:
        members[label(prediction)].append(prediction)
    known: dict[str, tuple[Evidence, frozenset[tuple[str, str]]]] = {}
    for name in members:
        others = [other for key, figures in members.items() if key != name for other in figures]
        evidence = collect_evidence({"grouped": others, "source_left_out": others})
        known[name] = evidence, frozenset((_name_kind(other), other.source) for other in others)
    return tuple(_with_interval(prediction, *known[label(prediction)]) for prediction in predictions)


def _name_kind(prediction: Prediction) -> str:
    """Name what a figure's residual is pooled with: its class or its counter; a verdict reads its counter's."""
    return prediction.counter if prediction.setting is None else prediction.error_class


def _with_interval(prediction: Prediction, evidence: Evidence, known: frozenset[tuple[str, str]]) -> Prediction:
    split: EvidenceSplit = "grouped" if (_name_kind(prediction), prediction.source) in known else "source_left_out"
    if prediction.metric in SPEED_METRICS and prediction.setting is not None:
        low, high = spread_step_time(evidence, prediction.setting, split).interval(1.0)
        if prediction.metric != "step_s":
            low, high = 1 / high, 1 / low
        return replace(prediction, low=prediction.predicted * low, high=prediction.predicted * high)
    if prediction.metric in MEMORY_METRICS:
        low, high = spread_memory(evidence, prediction.counter, prediction.recipe, split).interval(prediction.predicted)
        return replace(prediction, low=low, high=high)
    if prediction.load is not None:
        spread = spread_memory(evidence, prediction.counter, prediction.recipe, split)
        call, low, high = Fit(int(judge_fit(prediction.load, 1.0, spread))).as_call
        return replace(prediction, predicted=call, low=low, high=high)
    return prediction

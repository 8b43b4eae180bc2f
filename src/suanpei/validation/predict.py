"""Predict measured cases, blind: no prediction sees its measurement.

Cases that share job, cluster and recipe are evaluated in one call, as rows of one set of strategies.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suanpei.errors import InputError
from suanpei.physics.evaluate import evaluate
from suanpei.physics.setting import ERROR_CLASSES, describe_setting
from suanpei.physics.step_uncertainty import spread_step_time
from suanpei.physics.strategy import Strategies
from suanpei.physics.uncertainty import ALLOCATED, INTERVAL_LEVEL, Fit, judge_fit, name_counter, spread_memory
from suanpei.units import HOUR_S, TERA
from suanpei.validation.case import MEMORY_METRICS, SPEED_METRICS, SkippedCase
from suanpei.validation.machines import resolve_machine
from suanpei.validation.published_flops import count_published_flops
from suanpei.validation.residuals import Prediction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suanpei.job.job import Job
    from suanpei.machine.calibration import Calibration
    from suanpei.machine.catalogue import Catalogue
    from suanpei.machine.cluster import Cluster
    from suanpei.physics.evaluate import Estimates
    from suanpei.physics.memory.totals import MemoryTotals
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.setting import Setting
    from suanpei.validation.case import Case, Measured, Metric

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Cases of one job, cluster and recipe."""

    job: Job
    cluster: Cluster
    recipe: Recipe
    cases: tuple[Case, ...]
    strategies: Strategies
    owners: IntArray
    """Index into `cases` of each strategy, ascending, shape (n,)."""


@dataclass(frozen=True, kw_only=True)
class Predictions:
    """All predicted figures, and the rows that have none."""

    predictions: tuple[Prediction, ...]
    skipped: tuple[SkippedCase, ...]


def predict_cases(cases: Sequence[Case], calibration: Calibration, catalogue: Catalogue) -> Predictions:
    """Predict every figure of every case with its 90 % interval.

    Args:
        cases: Any files, in any order.
        calibration: Coefficients and residuals.
        catalogue: Accelerators and fabrics.

    Returns:
        Predictions in the order of the cases, and what could not be predicted with its reason.
    """
    batches, skipped = prepare_batches(cases, catalogue)
    found: dict[tuple[str, str], list[Prediction]] = {}
    for batch in batches:
        for part, estimates in _evaluate_or_split(batch, calibration, skipped):
            chosen = zip(part.cases, choose_rows(part, estimates), choose_memory_rows(part, estimates), strict=True)
            for case, row, memory_row in chosen:
                figures = _predict_figures(part, case, estimates, int(row), int(memory_row))
                found[case.file, case.case_id] = figures
    ordered = [prediction for case in cases for prediction in found.get((case.file, case.case_id), ())]
    return Predictions(predictions=tuple(ordered), skipped=tuple(skipped))


def prepare_batches(cases: Sequence[Case], catalogue: Catalogue) -> tuple[tuple[Batch, ...], list[SkippedCase]]:
    """Resolve names and gather the cases that share everything but their strategy.

    Args:
        cases: Any files.
        catalogue: Accelerators, fabrics and recipes.

    Returns:
        Batches, and the cases whose card, fabric or recipe is unknown.
    """
    groups: dict[object, list[Case]] = defaultdict(list)
    skipped: list[SkippedCase] = []
    machines: dict[object, tuple[Cluster, Recipe]] = {}
    for case in cases:
        machine_key = (case.cluster, case.recipe, case.overlaps, case.habits)
        try:
            if machine_key not in machines:
                machines[machine_key] = resolve_machine(case, catalogue)
        except InputError as error:
            skipped.append(_skip(case, error))
            continue
        # the batch is a property of the strategy; jobs that differ in it alone share one evaluation
        groups[machine_key, replace(case.job, global_batch_seqs=1)].append(case)
    batches = []
    for (machine_key, _), members in groups.items():  # type: ignore[misc]
        cluster, recipe = machines[machine_key]
        batches.append(_make_batch(members, cluster, recipe))
    return tuple(batches), skipped


def _make_batch(members: Sequence[Case], cluster: Cluster, recipe: Recipe) -> Batch:
    owners = [index for index, case in enumerate(members) for _ in case.strategies]
    return Batch(
        job=members[0].job,
        cluster=cluster,
        recipe=recipe,
        cases=tuple(members),
        strategies=Strategies.of([strategy for case in members for strategy in case.strategies]),
        owners=np.array(owners, dtype=np.intp),
    )


def _skip(case: Case, error: InputError) -> SkippedCase:
    return SkippedCase(
        case_id=case.case_id, file=case.file, source=case.source, error_class=case.error_class, reason=error.message
    )


def _evaluate_or_split(
    batch: Batch, calibration: Calibration, skipped: list[SkippedCase]
) -> list[tuple[Batch, Estimates]]:
    """Evaluate a batch; where that is refused, evaluate its cases one by one and skip those refused."""
    try:
        return [(batch, evaluate(batch.job, batch.cluster, batch.recipe, calibration, batch.strategies))]
    except InputError as error:
        if len(batch.cases) == 1:
            skipped.append(_skip(batch.cases[0], error))
            return []
    parts: list[tuple[Batch, Estimates]] = []
    for case in batch.cases:
        parts += _evaluate_or_split(_make_batch([case], batch.cluster, batch.recipe), calibration, skipped)
    return parts


def choose_rows(batch: Batch, estimates: Estimates) -> IntArray:
    """Choose the strategy of each case whose time is predicted.

    Args:
        batch: Cases and their strategies.
        estimates: Of all strategies of the batch.

    Returns:
        Row of each case, shape (cases,): the first, or of those that fit the fastest. Where none fits: the one with the
        least memory.
    """
    rows = choose_memory_rows(batch, estimates)
    fits = estimates.device_bytes <= batch.cluster.accelerator.memory_bytes
    for index, case in enumerate(batch.cases):
        own = np.flatnonzero(batch.owners == index)
        fitting = own[fits[own]]
        if case.choice == "first":
            rows[index] = own[0]
        elif len(fitting):
            tokens_per_s = batch.strategies.global_batch_seqs[fitting] / estimates.step_s[fitting]
            rows[index] = fitting[np.argmax(tokens_per_s)]
    return rows


def choose_memory_rows(batch: Batch, estimates: Estimates) -> IntArray:
    """Choose the strategy of each case whose memory is predicted.

    A run that ran fitted, with whatever its source leaves open.

    Args:
        batch: Cases and their strategies.
        estimates: Of all strategies of the batch.

    Returns:
        Row of each case, shape (cases,): the first that fits by our own estimate, else the one with the least memory.
    """
    fits = estimates.device_bytes <= batch.cluster.accelerator.memory_bytes
    rows = np.empty(len(batch.cases), dtype=np.intp)
    for index in range(len(batch.cases)):
        own = np.flatnonzero(batch.owners == index)
        fitting = own[fits[own]]
        rows[index] = fitting[0] if len(fitting) else own[np.argmin(estimates.device_bytes[own])]
    return rows


def _predict_figures(batch: Batch, case: Case, estimates: Estimates, row: int, memory_row: int) -> list[Prediction]:
    figures = []
    setting = _describe_setting(batch, case, estimates, row)
    capacity_bytes = case.capacity_bytes or batch.cluster.accelerator.memory_bytes
    load = float(estimates.device_bytes[memory_row]) / capacity_bytes
    for measured in case.measured:
        own_row = memory_row if measured.metric in MEMORY_METRICS else row
        predicted, low, high = _predict_one(batch, case, measured, estimates, own_row, setting, load)
        figures.append(
            Prediction(
                case_id=case.case_id,
                file=case.file,
                kind=case.kind,
                source=case.source,
                error_class=case.error_class,
                set_name=case.set_name,
                generation=batch.cluster.accelerator.generation,
                recipe=batch.recipe.name,
                counter=_name_counter(measured, case, batch.recipe),
                group=case.group,
                metric=measured.metric,
                bound=measured.bound,
                measured=measured.value,
                predicted=predicted,
                low=low,
                high=high,
                step_s=None if measured.metric in (*MEMORY_METRICS, "fits") else float(estimates.step_s[row]),
                assumptions=case.assumptions,
                setting=setting if measured.metric in SPEED_METRICS else None,
                load=load if measured.metric == "fits" else None,
            )
        )
    return figures


def _describe_setting(batch: Batch, case: Case, estimates: Estimates, row: int) -> Setting:
    return describe_setting(
        batch.job,
        batch.cluster,
        batch.recipe.name,
        gpus=int(batch.strategies.gpus[row]),
        micro_batch_seqs=int(batch.strategies.micro_batch[row]),
        step_s=float(estimates.step_s[row]),
        compute_s=float(estimates.compute_s[row]),
        error_class=case.error_class if case.error_class in ERROR_CLASSES else "B",
    )


def _predict_one(
    batch: Batch,
    case: Case,
    measured: Measured,
    estimates: Estimates,
    row: int,
    setting: Setting,
    load: float,
) -> tuple[float, float, float]:
    if measured.metric == "fits":
        return Fit(int(judge_fit(load, 1.0, estimates.memory_spread))).as_call
    evidence = estimates.calibration.evidence
    if measured.metric in MEMORY_METRICS:
        counters = read_counters(estimates.memory, batch.cluster.accelerator.memory_bytes)
        # a full card says that the need was within it, whatever its allocator took
        counter = estimates.device_bytes if measured.bound == "at_least_predicted" else counters[measured.metric]
        predicted = float(counter[row])
        spread = spread_memory(evidence, _name_counter(measured, case, batch.recipe), batch.recipe.name)
        return predicted, *spread.interval(predicted, INTERVAL_LEVEL)
    step_s = float(estimates.step_s[row])
    low_s, high_s = spread_step_time(evidence, setting).interval(step_s)
    units = convert_step(case, batch, row)
    if measured.metric in ("step_s", "gpu_hours"):
        return units * step_s, units * low_s, units * high_s
    return units / step_s, units / high_s, units / low_s


def read_counters(memory: MemoryTotals, capacity_bytes: float) -> Mapping[Metric, FloatArray]:
    """Give what each counter of a run would read; the driver shows the allocator's cache too, unlike the need.

    Args:
        memory: Of some strategies, shape (n,). [B]
        capacity_bytes: Usable memory of the card, which bounds the cache. [B]

    Returns:
        Bytes by metric, in the order of `MEMORY_METRICS`, arrays of shape (n,). [B]
    """
    readings = (memory.allocated_bytes, memory.bound_reserved(capacity_bytes), memory.bound_shown(capacity_bytes))
    return dict(zip(MEMORY_METRICS, readings, strict=True))


def _name_counter(measured: Measured, case: Case, recipe: Recipe) -> str:
    if measured.metric == "fits":
        return name_counter(ALLOCATED, case.job, recipe)
    if measured.metric not in MEMORY_METRICS:
        return ""
    return name_counter(measured.metric.removesuffix("_bytes"), case.job, recipe)


def convert_step(case: Case, batch: Batch, row: int) -> float:
    """Give the factor between a step time and the case's own speed figure.

    Args:
        case: Its first figure that is no memory says which.
        batch: Holds the strategies.
        row: Strategy of the case. [-]

    Returns:
        1 for ``step_s``; tokens per card and step; TFLOP per card and step; GPU-hours per second of step.
    """
    job = case.job
    gpus = float(batch.strategies.gpus[row])
    tokens = job.seq_len * float(batch.strategies.global_batch_seqs[row])
    metrics: Mapping[str, float] = {
        "step_s": 1.0,
        "tokens_per_s_per_gpu": tokens / gpus,
        "gpu_hours": (job.tokens or 0.0) / tokens * gpus / HOUR_S,
    }
    metric = next(measured.metric for measured in case.measured if measured.metric not in (*MEMORY_METRICS, "fits"))
    if metric == "tflops_per_gpu" and case.flops_rule is not None:
        return tokens / gpus * count_published_flops(job, case.flops_rule) / TERA
    return metrics[metric]

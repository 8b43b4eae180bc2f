"""`estimate`: explain one configuration term by term."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.job.bundled import load_model
from suanpei.machine.cluster import build_cluster
from suanpei.machine.names import resolve_accelerator
from suanpei.messages import Message, name_duration
from suanpei.physics.checkpoint import estimate_checkpoint_bytes
from suanpei.physics.run import RunAssumptions, RunEstimate, estimate_runs
from suanpei.physics.step_uncertainty import spread_measured_step, spread_step_time
from suanpei.physics.strategy import warn_strategy
from suanpei.physics.workload import build_workload
from suanpei.quantities import MOST_GPUS, parse_count, parse_duration_s
from suanpei.verbs.advice import Advice, advise
from suanpei.verbs.envelope import VerbResult, to_jsonable
from suanpei.verbs.inputs import load_inputs
from suanpei.verbs.job_request import JobRequest, build_job
from suanpei.verbs.job_summary import JobSummary, summarise_job
from suanpei.verbs.launch_request import LaunchFindings, MergedLaunch, merge_launch
from suanpei.verbs.strategy_request import StrategyRequest, choose_strategy

if TYPE_CHECKING:
    from pathlib import Path

    from suanpei.physics.estimate import Estimate
    from suanpei.physics.uncertainty import Spread
    from suanpei.verbs.inputs import Inputs


@dataclass(frozen=True, kw_only=True)
class EstimateRequest:
    """What the user said; None is not said."""

    job: JobRequest
    strategy: StrategyRequest = field(default_factory=StrategyRequest)
    gpu: str | None = None
    gpus: str | None = None
    gpus_per_node: int | None = None
    fabric: str | None = None
    host_memory_bytes: float | None = None
    measured_step: str | None = None
    from_launch: tuple[Path, ...] = ()
    catalog: Path | None = None


@dataclass(frozen=True, kw_only=True)
class EstimateResult(VerbResult):
    """One configuration, explained."""

    job: JobSummary
    accelerator: str
    nodes: int
    fabric: str
    """Network between nodes."""
    estimate: Estimate
    warnings: tuple[Message, ...]
    """What is legal but slow or wasteful in this strategy."""
    run: RunEstimate | None
    """All steps with checkpoints, stops and set-up; None where no amount of data is given."""
    advice: tuple[Advice, ...]
    launch: LaunchFindings | None


def estimate(request: EstimateRequest) -> EstimateResult:
    """Estimate memory and time of one configuration.

    Args:
        request: What the user said.

    Returns:
        The estimate with its parts, advice, and the whole run where an amount of data is given.

    Raises:
        InputError: something given is wrong or missing, naming it.
        NoAnswerError: no strategy is legal on this many accelerators.
    """
    inputs = load_inputs(request.catalog)
    request, merged = _read_launch(request, inputs)
    if request.gpu is None:
        raise InputError(Message("gpu is missing: name the accelerator, for example --gpu A800"))
    if request.gpus is None:
        raise InputError(Message("gpus is missing: say how many accelerators, for example --gpus 8"))
    job = build_job(
        request.job, inputs.catalogue, needs_data=False, architecture=None if merged is None else merged.architecture
    )
    if merged is not None:
        job = replace(job, capacity_factor=merged.capacity_factor, optimizer_in_backward=merged.optimizer_in_backward)
    resolved = resolve_accelerator(inputs.catalogue, request.gpu)
    gpus = parse_count(request.gpus, "gpus", most=int(MOST_GPUS))
    cluster = build_cluster(
        inputs.catalogue, resolved.accelerator, request.fabric, request.gpus_per_node, request.host_memory_bytes
    )
    chosen = choose_strategy(request.strategy, job, cluster, gpus, inputs)
    estimates, strategy = chosen.estimates, chosen.estimates.strategies.row(chosen.row)
    explained = estimates.row(chosen.row)
    spread = spread_step_time(inputs.calibration.evidence, explained.setting)
    if request.measured_step is not None:
        measured_s = parse_duration_s(request.measured_step, "measured-step")
        explained, spread = rescale_to_measured(explained, measured_s, estimates.memory_spread)
    run_assumptions = RunAssumptions()
    run = None
    if job.tokens is not None:
        run = estimate_runs(
            explained.step.seconds,
            explained.tokens_per_step,
            gpus,
            tokens=job.tokens,
            gpus_per_node=cluster.gpus_per_node,
            checkpoint_bytes=estimate_checkpoint_bytes(build_workload(estimates.job), estimates.recipe),
            spread=spread,
            assumptions=run_assumptions,
        ).row(0)
    return EstimateResult(
        catalog_date=inputs.catalogue.catalog_date,
        calibration_id=inputs.calibration.calibration_id,
        request=to_jsonable(request),
        assumptions=(
            *job.assumptions,
            *resolved.assumptions,
            *cluster.assumptions,
            *chosen.assumptions,
            *(run_assumptions.messages() if run is not None else ()),
        ),
        job=summarise_job(job),
        accelerator=resolved.accelerator.name,
        nodes=-(-gpus // cluster.gpus_per_node),
        fabric=cluster.scale_out.name,
        estimate=explained,
        warnings=warn_strategy(job, cluster, strategy),
        run=run,
        advice=advise(job, cluster, estimates.recipe, inputs.calibration, strategy),
        launch=None if merged is None else merged.findings,
    )


def _read_launch(request: EstimateRequest, inputs: Inputs) -> tuple[EstimateRequest, MergedLaunch | None]:
    """Fill what the command line leaves open from the launch files, if there are any."""
    if not request.from_launch:
        return request, None
    named = request.job.model
    merged = merge_launch(
        request.from_launch,
        job=request.job,
        strategy=request.strategy,
        gpu=request.gpu,
        gpus=request.gpus,
        gpus_per_node=request.gpus_per_node,
        vocab=None if named is None else load_model(inputs.catalogue.table("models"), named).vocab,
    )
    filled = replace(
        request,
        job=merged.job,
        strategy=merged.strategy,
        gpu=merged.gpu,
        gpus=merged.gpus,
        gpus_per_node=merged.gpus_per_node,
    )
    return filled, merged


def rescale_to_measured(estimate: Estimate, measured_s: float, memory: Spread) -> tuple[Estimate, Spread]:
    """Put a step time measured on the user's own cluster in place of the predicted one.

    Every part keeps its share; what is left of the uncertainty is the noise between repeats.

    Args:
        estimate: The prediction for the configuration that was measured.
        measured_s: Measured time of one step. [s]
        memory: Distribution of its memory, which a step time says nothing of. [-]

    Returns:
        The rescaled estimate and the spread of its step time.

    Raises:
        InputError: No card could do the step in that time.
    """
    ratio = measured_s / estimate.step.seconds
    if estimate.hfu > ratio:
        raise InputError(
            Message(
                "measured-step {given} would need {share} of the card's peak; check the time, --global-batch"
                " and --gpus",
                given=name_duration(measured_s),
                share=f"{estimate.hfu / ratio:,.0%}",
            )
        )
    spread = spread_measured_step()
    low_s, high_s = spread.interval(measured_s)
    step = replace(
        estimate.step,
        seconds=measured_s,
        low_seconds=low_s,
        high_seconds=high_s,
        parts={name: part * ratio for name, part in estimate.step.parts.items()},
    )
    rescaled = replace(
        estimate,
        step=step,
        mfu=estimate.mfu / ratio,
        mfu_full_attention=estimate.mfu_full_attention / ratio,
        hfu=estimate.hfu / ratio,
        of_achievable=estimate.of_achievable / ratio,
        tokens_per_second_per_gpu=estimate.tokens_per_second_per_gpu / ratio,
        evidence=(*spread.evidence, *_compare_measured(estimate, measured_s), *memory.evidence),
        remedies=(),
    )
    return rescaled, spread


def _compare_measured(estimate: Estimate, measured_s: float) -> list[Message]:
    """Say how a measured step lies against what was predicted."""
    step = estimate.step
    said = [
        Message(
            "predicted before you measured: {predicted} ({low} to {high}); measured over predicted is {ratio:.2f}",
            predicted=name_duration(step.seconds),
            low=name_duration(step.low_seconds),
            high=name_duration(step.high_seconds),
            ratio=measured_s / step.seconds,
        )
    ]
    if not step.low_seconds <= measured_s <= step.high_seconds:
        said.append(
            Message(
                "the measured step lies outside what was predicted: check the time, --global-batch and --gpus, then"
                " what the machine does otherwise"
            )
        )
    return said

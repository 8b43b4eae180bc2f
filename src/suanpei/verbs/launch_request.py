"""Merge what launch files say into a request: the command line's word goes before the files'."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.quantities import parse_batch, parse_count
from suanpei.verbs.launch import complete, read_launch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from suanpei.job.architecture import Architecture
    from suanpei.messages import Message
    from suanpei.verbs.job_request import JobRequest
    from suanpei.verbs.launch import LaunchSettings
    from suanpei.verbs.strategy_request import StrategyRequest


@dataclass(frozen=True, kw_only=True)
class LaunchFindings:
    """What the launch files left out, contradict, or will suffer from."""

    files: tuple[str, ...]
    missing: tuple[Message, ...]
    contradictions: tuple[Message, ...]
    warnings: tuple[Message, ...]
    notes: tuple[Message, ...]
    gpu_hours_booked: float | None
    """Reserved accelerators times the time limit. [h]"""
    tokens_total: float | None
    """Tokens of all steps that the files ask for. [tokens]"""


@dataclass(frozen=True, kw_only=True)
class MergedLaunch:
    """A request with the files' settings filled in."""

    job: JobRequest
    strategy: StrategyRequest
    gpu: str | None
    gpus: str | None
    gpus_per_node: int | None
    architecture: Architecture | None
    """The architecture that the files spell out; None where they name a model or say nothing."""
    capacity_factor: float | None
    """Tokens that an expert takes at most, over its fair share; None is dropless."""
    optimizer_in_backward: bool
    """Whether gradients are applied and freed layer by layer."""
    findings: LaunchFindings


def merge_launch(
    paths: Sequence[Path],
    *,
    job: JobRequest,
    strategy: StrategyRequest,
    gpu: str | None,
    gpus: str | None,
    gpus_per_node: int | None,
    vocab: int | None,
) -> MergedLaunch:
    """Read launch files and fill what the command line leaves open.

    Args:
        paths: Launch files of one run.
        job: What the command line says of the job.
        strategy: What it says of the strategy.
        gpu: The accelerator, if given.
        gpus: How many, if given.
        gpus_per_node: Of one machine, if given.
        vocab: Vocabulary of the model named on the command line, which Megatron's arguments leave out.

    Returns:
        The completed request and what is wrong with the files.

    Raises:
        InputError: a file cannot be read or is malformed, or the settings contradict each other.
    """
    settings = complete(read_launch(paths), _said(job, strategy, gpus, gpus_per_node, vocab))
    if settings.contradictions:
        raise InputError(settings.contradictions[0])
    return MergedLaunch(
        job=_fill_job(job, settings),
        strategy=_fill_strategy(strategy, settings),
        gpu=gpu or settings.accelerator,
        gpus=gpus or (None if settings.world_size is None else str(settings.world_size)),
        gpus_per_node=gpus_per_node or settings.gpus_per_node,
        architecture=settings.architecture,
        capacity_factor=settings.capacity_factor,
        optimizer_in_backward=bool(settings.optimizer_in_backward),
        findings=LaunchFindings(
            files=settings.files,
            missing=settings.missing,
            contradictions=settings.contradictions,
            warnings=settings.warnings,
            notes=settings.notes,
            gpu_hours_booked=settings.gpu_hours_booked,
            tokens_total=settings.tokens_total,
        ),
    )


def _said(
    job: JobRequest, strategy: StrategyRequest, gpus: str | None, gpus_per_node: int | None, vocab: int | None
) -> dict[str, Any]:
    """Give the command line's word on fields of the settings."""
    values: dict[str, Any] = {
        name: getattr(strategy, name)
        for name in ("tp", "sp", "pp", "vpp", "cp", "ep", "etp", "micro_batch", "grad_accum", "recipe")
    }
    values |= {"seq_len": job.seq_len, "precision": job.precision, "optimizer": job.optimizer}
    values["world_size"] = None if gpus is None else parse_count(gpus, "gpus")
    values |= {"gpus_per_node": gpus_per_node, "vocab": vocab}
    if job.global_batch is not None:
        batch = parse_batch(job.global_batch, "global-batch")
        values["global_batch_seqs"] = batch.amount if batch.unit == "seqs" else None
    return {name: value for name, value in values.items() if value is not None}


def _fill_job(job: JobRequest, settings: LaunchSettings) -> JobRequest:
    batch = settings.global_batch_seqs
    lora = settings.lora_targets
    offload = ",".join(sorted(settings.offload)) if settings.offload else None
    is_open = job.tokens is None and not job.data and job.samples is None
    tokens = settings.tokens_total if is_open else None
    return replace(
        job,
        model=job.model or settings.model,
        method=settings.method if job.method == "auto" and settings.method else job.method,
        seq_len=job.seq_len or settings.seq_len,
        global_batch=job.global_batch or (None if batch is None else f"{batch}seqs"),
        precision=job.precision or settings.precision,
        optimizer=job.optimizer or settings.optimizer,
        lora_rank=job.lora_rank or settings.lora_rank,
        lora_targets=job.lora_targets or (",".join(lora) if lora else None),
        offload=job.offload or offload,
        flash_attention=job.flash_attention and settings.flash_attention is not False,
        tokens=job.tokens if tokens is None else f"{tokens:.0f} tokens",
        epochs=job.epochs if tokens is not None else job.epochs or settings.epochs,
    )


def _fill_strategy(strategy: StrategyRequest, settings: LaunchSettings) -> StrategyRequest:
    filled = {
        name: getattr(settings, name)
        for name in ("tp", "sp", "pp", "vpp", "cp", "ep", "etp", "micro_batch", "grad_accum", "recipe")
        if getattr(strategy, name) is None and getattr(settings, name) is not None
    }
    for name in ("sharding", "recompute"):
        level = getattr(settings, name)
        if getattr(strategy, name) is None and level is not None:
            filled[name] = level.name.lower()
    return replace(strategy, **filled)

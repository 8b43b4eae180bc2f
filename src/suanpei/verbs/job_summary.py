"""The job as results show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suanpei.job.job import Job, Lora, Method


@dataclass(frozen=True, kw_only=True)
class JobSummary:
    """What is trained, on how much data, and how."""

    model: str
    total_parameters: int
    active_parameters: int
    method: Method
    tokens: float | None
    """All tokens trained, epochs included; None for one step only. [tokens]"""
    seq_len: int
    global_batch_seqs: int
    precision: str
    optimizer: str
    lora: Lora | None
    base_storage: str | None
    loss: str
    flash_attention: bool
    offload: tuple[str, ...]


def summarise_job(job: Job) -> JobSummary:
    """Give the job as results show it."""
    return JobSummary(
        model=job.architecture.name,
        total_parameters=job.architecture.total_parameters,
        active_parameters=job.architecture.active_parameters,
        method=job.method,
        tokens=job.tokens,
        seq_len=job.seq_len,
        global_batch_seqs=job.global_batch_seqs,
        precision=job.precision,
        optimizer=job.optimizer,
        lora=job.lora,
        base_storage=job.base_storage,
        loss=job.loss,
        flash_attention=job.flash_attention,
        offload=tuple(sorted(job.offload)),
    )

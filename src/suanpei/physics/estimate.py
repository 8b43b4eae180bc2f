"""The result types of an estimate: one configuration explained, or many as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.messages import Message
    from suanpei.physics.narrowing import Remedy
    from suanpei.physics.setting import Setting
    from suanpei.physics.strategy import Strategy

Verdict = Literal["fits", "at_risk", "does_not_fit"]
Stage = Literal["first", "middle", "last"]
Phase = Literal["initialisation", "forward", "backward", "optimizer_step"]
PHASES: tuple[Phase, ...] = ("initialisation", "forward", "backward", "optimizer_step")


@dataclass(frozen=True, kw_only=True)
class MemoryEstimate:
    """Memory of the fullest accelerator."""

    device_bytes: float
    """What the driver must give, without cache taken only because it is free. [B]"""
    low_bytes: float
    """5th percentile of `device_bytes`. [B]"""
    high_bytes: float
    """95th percentile of `device_bytes`. [B]"""
    reserved_bytes: float
    """What the allocator holds. [B]"""
    allocated_bytes: float
    """What tensors need. [B]"""
    capacity_bytes: float
    verdict: Verdict
    phase: Phase
    """The phase of the peak, where it would fail."""
    stage: Stage
    """The pipeline stage of the peak."""
    parts: Mapping[str, float]
    """Bytes by part at the peak; they sum to `device_bytes`. Keys are registered in ``physics.parts``. [B]"""
    host_bytes: float
    """Host memory of one node that the job needs. [B]"""


@dataclass(frozen=True, kw_only=True)
class StepEstimate:
    """Time of one optimizer step."""

    seconds: float
    low_seconds: float
    high_seconds: float
    parts: Mapping[str, float]
    """Seconds by part; they sum to `seconds`. [s]"""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One configuration, explained."""

    strategy: Strategy
    recipe: str
    gpus: int
    global_batch_seqs: int
    tokens_per_step: float
    memory: MemoryEstimate
    step: StepEstimate
    mfu: float
    """Model FLOPs (unmasked attention, no recompute) over the dense peak. [-]"""
    mfu_full_attention: float
    hfu: float
    """Recompute counted. [-]"""
    of_achievable: float
    """Model FLOPs over the achievable matrix rate. [-]"""
    tokens_per_second_per_gpu: float
    exposed_comm_to_compute: float
    error_class: str = field(metadata={"json": "class"})
    """Class of the validation whose residuals give the intervals: A, B or C."""
    setting: Setting
    """What decides which measurements speak for the step time."""
    evidence: tuple[Message, ...]
    """What measurements the intervals rest on."""
    remedies: tuple[Remedy, ...]
    """What would narrow the interval of the step time, the most effective first."""

"""Measured cases: what was run, as a job, a strategy and a cluster, and what was measured.

Every row of a measurement file becomes a `Case` or a `SkippedCase` with its reason; what a source leaves out and the
reader fills is said in `Case.assumptions`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.job.job import Job
    from suanpei.physics.strategy import Strategy

Metric = Literal[
    "step_s",
    "tokens_per_s_per_gpu",
    "tflops_per_gpu",
    "allocated_bytes",
    "reserved_bytes",
    "device_bytes",
    "fits",
    "gpu_hours",
]
SPEED_METRICS: tuple[Metric, ...] = ("step_s", "tokens_per_s_per_gpu", "tflops_per_gpu")
MEMORY_METRICS: tuple[Metric, ...] = ("allocated_bytes", "reserved_bytes", "device_bytes")

Bound = Literal["exact", "at_most_predicted", "at_least_predicted"]
"""What a measurement says: the value; that the prediction must not be below it (the length is only a maximum); or that
the need must not be above it (the card was full: an allocator takes what is free)."""

Kind = Literal["throughput", "finetune", "whole_runs"]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One published figure."""

    metric: Metric
    value: float
    """SI base units; ``fits`` is 1 where it ran and 0 where memory ran out; TFLOPS in units of 1e12 FLOP/s."""
    bound: Bound = "exact"

    def __post_init__(self) -> None:
        """Refuse what cannot be compared in logarithm."""
        if self.metric != "fits" and not self.value > 0:
            raise InputError(Message("{metric} must be above 0, got {given}", metric=self.metric, given=self.value))


@dataclass(frozen=True, kw_only=True)
class FlopsRule:
    """How a source counts FLOPs per token, to compare its TFLOPS: parameters × factor + attention."""

    per_parameter: float
    """6 forward and backward, 8 with everything computed twice forward. [FLOP]"""
    attention_passes: float
    """Forward passes of attention that are counted: 3, or 4 with recomputation. [-]"""
    causal: bool
    """Whether only the unmasked half of the scores counts."""
    counts_embedding: bool
    """Whether the input embedding counts among the parameters."""
    recomputes_head: bool = True
    """Whether `per_parameter` applies to the output layer too; False counts 6 there."""


@dataclass(frozen=True, kw_only=True)
class ClusterRequest:
    """The machines as published."""

    gpu: str
    gpus_per_node: int | None
    internode: str
    """The scale-out fabric as published; blank is unknown."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One measured configuration."""

    case_id: str
    file: str
    """Stem of the file; files are never pooled."""
    kind: Kind
    source: str
    """Prefix of the identifier; sources weigh equally."""
    error_class: str
    """``A``, ``B`` or ``C`` as the file rates it; whole runs are ``run``."""
    set_name: str = ""
    """Named table that the row belongs to; blank for none."""
    repeat_group: str = ""
    """Shared by repeats of one configuration; blank for none."""
    job: Job
    cluster: ClusterRequest
    recipe: str
    strategies: tuple[Strategy, ...]
    """The strategy; several where the source leaves something open: see `choice`."""
    choice: Literal["first", "fastest_fitting"] = "first"
    """Which of several strategies is taken, blind to the measurement: the first, with memory of the first that fits by
    our own estimate; or the fastest that fits."""
    capacity_bytes: float | None = None
    """Memory of a card that the source gives by size alone; None is the card's own. [B]"""
    overlaps: frozenset[str] | None = None
    """Collectives that ran beside compute: ``dp``, ``tp``; None takes what the recipe overlaps."""
    habits: tuple[tuple[str, Any], ...] = ()
    """Fields of the recipe, with their values, in which the framework of the run differs from it."""
    flops_rule: FlopsRule | None = None
    measured: tuple[Measured, ...]
    assumptions: tuple[Message, ...] = ()

    @property
    def group(self) -> str:
        """Name of the configuration: repeats share it."""
        return self.repeat_group or self.case_id


@dataclass(frozen=True, kw_only=True)
class SkippedCase:
    """A row without a prediction, and why."""

    case_id: str
    file: str
    source: str
    error_class: str = field(metadata={"json": "class"})
    reason: Message


@dataclass(frozen=True, kw_only=True)
class LoadedCases:
    """All rows of one or more files."""

    cases: tuple[Case, ...]
    skipped: tuple[SkippedCase, ...]

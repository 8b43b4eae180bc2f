"""The parts that estimates are made of: key, label, unit, and where the documentation explains them.

Each key is registered here once; a test checks that its anchor and its translations exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of an estimate."""

    key: str
    """Name in every result."""
    label: Message
    """Name for a person."""
    unit: Literal["B", "s"]
    """SI unit of its value."""
    anchor: str
    """Anchor in docs/physics.md."""


def _memory(key: str, label: Message) -> Part:
    return Part(key=key, label=label, unit="B", anchor=f"memory-{key.replace('_', '-')}")


def _time(key: str, label: Message) -> Part:
    return Part(key=key, label=label, unit="s", anchor=key.replace("_", "-"))


MEMORY_PARTS: tuple[Part, ...] = (
    _memory("weights", Message("weights")),
    _memory("gradients", Message("gradients")),
    _memory("optimizer_states", Message("optimizer states")),
    _memory("kept_activations", Message("kept activations")),
    _memory("working_activations", Message("working activations of one layer")),
    _memory("logits_and_loss", Message("logits and loss")),
    _memory("gathered_parameters", Message("gathered parameters")),
    _memory("gradient_buckets", Message("gradient buckets")),
    _memory("step_temporaries", Message("temporaries of the optimizer step")),
    _memory("communication_buffers", Message("communication buffers")),
    _memory("context", Message("driver context and libraries")),
    _memory("fragmentation", Message("fragmentation")),
)
"""Parts of memory; their bytes sum to the device memory of the peak."""

STEP_PARTS: tuple[Part, ...] = (
    _time("step_products", Message("matrix products")),
    _time("step_attention", Message("attention")),
    _time("step_passes", Message("element-wise passes")),
    _time("step_launch", Message("kernel launches")),
    _time("step_recompute", Message("recomputation")),
    _time("step_embedding", Message("embedding")),
    _time("step_head_and_loss", Message("output head and loss")),
    _time("step_tensor_comm", Message("tensor-parallel communication")),
    _time("step_context_comm", Message("context-parallel communication")),
    _time("step_expert_comm", Message("expert-parallel communication")),
    _time("step_sharded_comm", Message("gathers and reductions of sharded weights")),
    _time("step_gradient_comm", Message("gradient reduction, not hidden")),
    _time("step_pipeline_bubble", Message("pipeline bubble")),
    _time("step_pipeline_comm", Message("pipeline transfers")),
    _time("step_optimizer", Message("optimizer step")),
    _time("step_overhead", Message("fixed overhead of a step")),
)
"""Parts of one optimizer step; their seconds sum to its time."""

RUN_PARTS: tuple[Part, ...] = (
    _time("run_setup", Message("set-up")),
    _time("run_steps", Message("training steps")),
    _time("run_checkpoints", Message("writing checkpoints")),
    _time("run_lost_work", Message("work lost to stops")),
    _time("run_recovery", Message("recovery after stops")),
)
"""Parts of a run; their seconds sum to its central estimate."""

PARTS: Mapping[str, Part] = {part.key: part for part in (*MEMORY_PARTS, *STEP_PARTS, *RUN_PARTS)}
"""All parts by key."""

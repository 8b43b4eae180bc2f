"""FLOPs per token as the sources count them, to turn a predicted speed into their TFLOPS."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suanpei.job.architecture import Architecture
    from suanpei.job.job import Job
    from suanpei.validation.case import FlopsRule

LORA_SHARE = 2 / 3
"""LoRA has no weight gradients: forward and input gradients, two of the three products."""


def count_published_flops(job: Job, rule: FlopsRule) -> float:
    """Count the FLOPs of one token by a source's own definition.

    ``F = per_parameter · N + attention_passes · 2 · s · heads · (d_qk + d_v) · layers``, scores halved where causal,
    active parameters for experts. Source of the attention term: 2 s d for the scores and 2 s d for the sum over values
    per head and token, Narayanan et al., arXiv 2104.04473, appendix.

    Args:
        job: Gives architecture, sequence length and method.
        rule: What the source counts.

    Returns:
        FLOPs per token. [FLOP]
    """
    architecture = job.architecture
    parameters = float(architecture.active_parameters)
    if not rule.counts_embedding:
        parameters -= _uncounted_embedding(architecture)
    flops = rule.per_parameter * parameters
    if not rule.recomputes_head:
        flops -= (rule.per_parameter - 6.0) * architecture.vocab * architecture.hidden
    scored = job.seq_len * (0.5 if rule.causal else 1.0)
    for block in architecture.layers:
        attention = block.attention
        flops += rule.attention_passes * 2.0 * scored * attention.heads * (attention.head_dim + attention.value_dim)
    return flops * (LORA_SHARE if job.method in ("lora", "qlora") else 1.0)


def _uncounted_embedding(architecture: Architecture) -> float:
    """Parameters that are looked up, not multiplied: a tied matrix is the output layer as well and stays."""
    positions = architecture.learned_positions * architecture.hidden
    return positions + (0 if architecture.tied_embeddings else architecture.embedding_parameters)

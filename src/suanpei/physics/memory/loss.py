"""Logits and loss: what the last stage holds for the vocabulary.

No number of data-parallel cards shrinks it; tensor parallelism does where the loss works on vocabulary shards, context
parallelism does by tokens, and a fused loss never holds the logits whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.memory.activations import residual_bytes
from suanpei.physics.memory.formats import PURE_PRECISIONS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suanpei.job.job import Job
    from suanpei.job.operators import ModelOperators
    from suanpei.physics.recipe import Recipe

    FloatArray = NDArray[np.float64]

FP32_BYTES = 4.0

FUSED_CHUNK_TOKENS = 1024.0
"""Tokens whose logits a fused loss holds at a time (the chunk that torchtune and Liger use at common sizes)."""

FUSED_CHUNK_BYTES = 10.0
"""Bytes per logit inside one chunk: 16-bit logits, fp32 logits and their fp32 gradient."""


def logits_bytes(tokens: ArrayLike, vocab: int, bytes_per_logit: float = FP32_BYTES) -> FloatArray:
    """Give the size of logits: tokens · vocabulary · bytes. [B]

    Example:
        >>> round(float(logits_bytes(65_536, 128_256)) / 2**30, 4)
        31.3125
    """
    return np.asarray(np.asarray(tokens, dtype=np.float64) * vocab * bytes_per_logit)


def estimate_loss_bytes(
    job: Job,
    operators: ModelOperators,
    recipe: Recipe,
    *,
    tp: ArrayLike,
    sp: ArrayLike,
    cp: ArrayLike,
    micro_batch: ArrayLike,
) -> FloatArray:
    """Estimate what head and loss hold on the last stage at their peak.

    Per logit: the recipe's `plain_loss_bytes` with a plain loss, at most its `in_place_loss_bytes` with one that works
    in place, and with a fused loss 10 for a chunk of tokens only; a fused loss makes a trained output layer's gradient
    already in the forward pass. The head's input and the final norm's are kept too, in the residual stream's format.

    Args:
        job: Sequence length, precision, loss kernel. [-]
        operators: Vocabulary and width. [-]
        recipe: Loss habits. [-]
        tp: Tensor-parallel degree. [-]
        sp: Sequence parallelism, 0 or 1. [-]
        cp: Context-parallel degree. [-]
        micro_batch: Sequences per micro-batch. [-]

    Returns:
        Bytes, shape of the broadcast knobs; 0 logits without an output layer. [B]

    References:
        PyTorch ``cross_entropy``: fp32 log-probabilities are kept, their gradient and the logits' gradient are made
        beside them (3 · 4 B); Megatron-LM ``vocab_parallel_cross_entropy`` (in place); Hsu et al., Liger Kernel, arXiv
        2410.10989, section 3.2 (chunks).
    """
    tensor_parallel = np.asarray(tp, dtype=np.float64)
    tokens = np.asarray(micro_batch) * (job.seq_len / np.asarray(cp))
    inputs = (
        tokens
        * ((2.0 + recipe.unfused_kept) * operators.hidden * residual_bytes(job, recipe))
        / np.where(np.asarray(sp) > 0, tensor_parallel, 1.0)
    )
    if not operators.has_head:
        return np.asarray(inputs)
    shard = tensor_parallel if recipe.vocabulary_parallel else np.ones_like(tensor_parallel)
    if job.loss == "fused":
        head = logits_bytes(np.minimum(tokens, FUSED_CHUNK_TOKENS), operators.vocab, FUSED_CHUNK_BYTES)
        if job.trains_all:
            head = head + operators.vocab * operators.hidden * _head_gradient_bytes(job, recipe)
    else:
        each = (
            recipe.plain_loss_bytes if job.loss == "plain" else min(recipe.in_place_loss_bytes, recipe.plain_loss_bytes)
        )
        head = logits_bytes(tokens, operators.vocab, each)
    return np.asarray(inputs + head / shard)


def _head_gradient_bytes(job: Job, recipe: Recipe) -> float:
    return 2.0 if job.precision in PURE_PRECISIONS else recipe.gather_bytes

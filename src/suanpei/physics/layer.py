"""Time of one layer and of the model's two ends, for one micro-batch on one rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.collectives import (
    estimate_all_gather_s,
    estimate_all_reduce_s,
    estimate_all_to_all_s,
    estimate_send_s,
    span_group,
)
from suanpei.physics.compute import (
    estimate_attention_s,
    estimate_head_product_s,
    estimate_launch_gap_s,
    estimate_pass_s,
    estimate_product_s,
)
from suanpei.physics.strategy import Recompute
from suanpei.physics.workload import count_targets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suanpei.job.operators import BlockOperators, MatrixProduct
    from suanpei.physics.rates import Rates
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.workload import Workload

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

BACKWARD_KERNELS = 2.0
"""Kernels of the backward pass over those of the forward pass: a product has two gradients."""

LOSS_BYTES = {"in-place": 14.0, "fused": 6.0}
"""Traffic per logit of a loss that works in place or chunk by chunk. An ordinary one is a habit of the recipe; in place
saves one fp32 write and read of the gradient; fused reads and writes the 16-bit chunk (counted as tensors of the eager
graph of torch's cross_entropy)."""


def count_loss_bytes(work: Workload, recipe: Recipe) -> float:
    """Give the memory traffic per logit of the job's loss under a recipe. [B]"""
    return LOSS_BYTES.get(work.job.loss, recipe.plain_loss_traffic)


DEQUANTISE_BYTES = 2.6
"""Traffic per parameter of a 4-bit weight that is widened before use: half a byte and its scales read, two written."""


class LayerKnobs:
    """The knobs that a layer's time depends on, as broadcastable arrays."""

    NAMES = ("tp", "sp", "cp", "ep", "etp", "micro_batch", "recompute")

    def __init__(self, seq_len: int, **knobs: IntArray) -> None:
        self.tp, self.sp, self.cp, self.ep, self.etp, self.micro_batch, self.recompute = (
            np.asarray(knobs[name]) for name in self.NAMES
        )
        self.tokens: FloatArray = self.micro_batch * float(seq_len) / self.cp
        """Tokens of the micro-batch on this rank, before tensor parallelism."""
        self.sequence_split = np.where(self.sp > 0, self.tp, 1)
        """What sequence parallelism divides rows by outside the tensor-parallel regions."""


def estimate_layer(
    work: Workload, kind: BlockOperators, rates: Rates, recipe: Recipe, knobs: LayerKnobs
) -> dict[str, FloatArray]:
    """Estimate one layer's forward and backward pass of one micro-batch.

    Args:
        work: The job and its operators. [-]
        kind: The layer's operators. [-]
        rates: Rates of the job on the cluster. [-]
        recipe: What the framework fuses and overlaps. [-]
        knobs: Broadcastable arrays. [-]

    Returns:
        Seconds by part (``products attention passes launch recompute tensor_comm context_comm expert_comm``), which
        sum to ``forward + backward + forward_comm + backward_comm``; the communication figures are what stays exposed.
    """
    products_f, products_b, last_f, extra_kernels = _estimate_products(work, kind, rates, knobs)
    sequences = knobs.micro_batch / (knobs.tp * knobs.cp)
    attention_f, attention_b = estimate_attention_s(
        kind.attention, work.job.seq_len, sequences, rates, flash=work.job.flash_attention
    )
    passes_f, passes_b = _estimate_passes(work, kind, rates, knobs)
    narrowed_f, narrowed_b = _estimate_narrowing(work, kind, rates, knobs)
    passes_f = passes_f + narrowed_f
    passes_b = passes_b + narrowed_b + _estimate_accumulation(kind, work, rates, recipe, knobs)
    kernels = recipe.kernels_per_layer + extra_kernels
    busy_f = products_f + attention_f + passes_f
    busy_b = products_b + attention_b + passes_b
    tensor_f = _estimate_tensor_comm(work, kind, rates, knobs)
    hidden = np.minimum(rates.tensor_overlap * tensor_f, products_f)
    tensor_f = tensor_f - hidden
    context_f, context_b = _estimate_context_comm(kind, rates, knobs, attention_f, attention_b)
    expert = _estimate_expert_comm(work, kind, rates, knobs)
    # collectives run on the accelerator: while they do, the host launches what follows
    comm_f, comm_b = tensor_f + context_f + expert, tensor_f + context_b + expert
    gap_f = estimate_launch_gap_s(busy_f + comm_f, kernels, rates.launch_s)
    gap_b = estimate_launch_gap_s(busy_b + comm_b, BACKWARD_KERNELS * kernels, rates.launch_s)
    full = knobs.recompute == Recompute.FULL
    selective = knobs.recompute == Recompute.SELECTIVE
    again = np.where(full, busy_f + gap_f - (last_f if recipe.recompute_stops_early else 0.0), 0.0)
    if "attention" in recipe.selective:
        again = again + np.where(selective, attention_f, 0.0)
    if "cheap" in recipe.selective:
        again = again + np.where(selective, passes_f, 0.0)
    if "half_products" in recipe.selective:
        again = again + np.where(selective, products_f / 2, 0.0)
    again_comm = np.where(full, 1.0, 0.0)
    return {
        "products": products_f + products_b,
        "attention": attention_f + attention_b,
        "passes": passes_f + passes_b,
        "launch": gap_f + gap_b,
        "recompute": again,
        "tensor_comm": tensor_f * (2.0 + again_comm),
        "context_comm": context_f * (1.0 + again_comm) + context_b,
        "expert_comm": expert * (2.0 + again_comm),
        "forward": busy_f + gap_f,
        "backward": busy_b + gap_b + again,
        "forward_comm": comm_f,
        "backward_comm": comm_f * again_comm + comm_b,
    }


def _estimate_products(
    work: Workload, kind: BlockOperators, rates: Rates, knobs: LayerKnobs
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Time the products forward and backward, with the adapters and widening that the method adds.

    The third value is the part of the forward time that ends the layer: nothing of the backward pass reads its result.
    The fourth is how many kernels the adapters add.
    """
    forward = backward = last = np.zeros(1)
    kernels = 0.0
    for product in kind.products:
        rows, groups, width_split = _product_split(work, product, knobs)
        k = product.k / (width_split if product.cut == "row" else 1)
        n = product.n / (width_split if product.cut == "column" else 1)
        once = estimate_product_s(rows, n, k, rates, groups=groups)
        input_gradient = estimate_product_s(rows, k, n, rates, groups=groups)
        forward = forward + once
        backward = backward + input_gradient
        if product.target == "down":
            last = last + once
        if work.job.trains_all:
            backward = backward + estimate_product_s(k, n, rows, rates, groups=groups)
        if work.job.base_storage is not None and product.quantizable:
            widen = groups * k * n * DEQUANTISE_BYTES / rates.memory_bytes_per_s
            forward, backward = forward + widen, backward + widen
        lora = work.job.lora
        adapters = count_targets(product, lora.targets) if lora is not None else 0
        if lora is not None and adapters:
            down = estimate_product_s(rows, lora.rank * adapters, k, rates, groups=groups)
            up = estimate_product_s(rows, n, lora.rank, rates, groups=groups)
            add = estimate_pass_s(3.0 * rows * groups * n, rates)
            forward = forward + down + up + add
            backward = backward + 2.0 * (down + up) + add
            kernels += 3.0 * adapters
    return forward, backward, last, kernels


def _estimate_narrowing(
    work: Workload, kind: BlockOperators, rates: Rates, knobs: LayerKnobs
) -> tuple[FloatArray, FloatArray]:
    """Time the passes that narrow the products' inputs and output gradients to 8 bits or fewer.

    Each is read once in the compute format and written in rows and in columns, for the product and for its transpose
    (NVIDIA, Transformer Engine user guide, "FP8 autocasting"); the weights are narrowed once a step, which is left out.
    """
    if rates.product_bytes >= rates.compute_bytes:
        return np.zeros(1), np.zeros(1)
    bytes_each = rates.compute_bytes + 2.0 * rates.product_bytes
    inputs = outputs = np.zeros(1)
    for product in kind.products:
        rows, groups, width_split = _product_split(work, product, knobs)
        inputs = inputs + rows * groups * product.k / (width_split if product.cut == "row" else 1)
        outputs = outputs + rows * groups * product.n / (width_split if product.cut == "column" else 1)
    return inputs * bytes_each / rates.memory_bytes_per_s, outputs * bytes_each / rates.memory_bytes_per_s


def _estimate_accumulation(
    kind: BlockOperators, work: Workload, rates: Rates, recipe: Recipe, knobs: LayerKnobs
) -> FloatArray | float:
    """Time the pass that adds one micro-batch's gradients of the weights to those of the step."""
    if not work.job.trains_all or not recipe.accumulated_bytes:
        return 0.0
    held = kind.tensor_parameters / knobs.tp + kind.whole_parameters + kind.expert_parameters / (knobs.ep * knobs.etp)
    return np.asarray(held * recipe.accumulated_bytes / rates.memory_bytes_per_s, dtype=np.float64)


def _product_split(
    work: Workload, product: MatrixProduct, knobs: LayerKnobs
) -> tuple[FloatArray, FloatArray | float, FloatArray | IntArray]:
    """Give rows per product, products per launch and the divisor of the cut width."""
    if product.experts == 1:
        rows = knobs.tokens / (knobs.sequence_split if product.cut == "none" else 1)
        return rows, 1.0, knobs.tp
    local_experts = product.experts / knobs.ep
    rows = _expert_rows(work, product.active, knobs) / local_experts
    return rows, local_experts, knobs.etp


def _expert_rows(work: Workload, active: int, knobs: LayerKnobs) -> FloatArray:
    """Rows that reach this rank's experts: routing balanced, tokens divided by tp where experts are not cut by it."""
    capacity = work.job.capacity_factor or 1.0
    return knobs.tokens * active * capacity * knobs.etp / knobs.tp


def _estimate_passes(
    work: Workload, kind: BlockOperators, rates: Rates, knobs: LayerKnobs
) -> tuple[FloatArray, FloatArray]:
    forward = backward = np.zeros(1)
    for item in kind.passes:
        if item.spread == "tensor":
            elements = item.elements * knobs.tokens / knobs.tp
        elif item.spread == "sequence":
            elements = item.elements * knobs.tokens / knobs.sequence_split
        else:
            # expert passes carry the experts per token in `elements`
            elements = item.elements * _expert_rows(work, 1, knobs) / np.where(knobs.etp > 1, knobs.etp, 1)
        once = estimate_pass_s(elements * rates.pass_traffic, rates)
        forward = forward + once
        backward = backward + once * item.backward_ratio
    return forward, backward


def _estimate_tensor_comm(work: Workload, kind: BlockOperators, rates: Rates, knobs: LayerKnobs) -> FloatArray:
    """Sum the tensor-parallel collectives of one forward pass; the backward pass has as many."""
    span = span_group(knobs.tp, 1, rates.domain_gpus)
    message = knobs.tokens * work.operators.hidden * rates.compute_bytes
    reduced = estimate_all_reduce_s(message, span, rates)
    split = 2.0 * estimate_all_gather_s(message, span, rates)
    once = np.where(knobs.sp > 0, split, reduced)
    return np.where(knobs.tp > 1, kind.tensor_reductions * once, 0.0)


def _estimate_context_comm(
    kind: BlockOperators,
    rates: Rates,
    knobs: LayerKnobs,
    attention_f: FloatArray,
    attention_b: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Time the ring of keys and values that context parallelism passes round, beyond what attention hides.

    Source: H. Liu et al., ring attention, arXiv 2310.01889, section 3: each step sends one rank's keys and values while
    the previous block is computed; the backward pass sends their gradients too.
    """
    core = kind.attention
    message = knobs.tokens * core.kv_heads * (core.head_dim + core.value_dim) * rates.compute_bytes / knobs.tp
    span = span_group(knobs.cp, knobs.tp, rates.domain_gpus)
    step = estimate_send_s(message, span.domains > 1, rates)
    ring = (knobs.cp - 1.0) * step
    return np.maximum(ring - attention_f, 0.0), np.maximum(2.0 * ring - attention_b, 0.0)


def _estimate_expert_comm(work: Workload, kind: BlockOperators, rates: Rates, knobs: LayerKnobs) -> FloatArray:
    """Sum dispatch and combination of one forward pass; the backward pass has as many."""
    active = max((product.active for product in kind.products), default=1)
    if kind.expert_parameters == 0:
        return np.zeros(1)
    span = span_group(knobs.ep, knobs.etp, rates.domain_gpus)
    message = _expert_rows(work, active, knobs) / knobs.etp * work.operators.hidden * rates.compute_bytes
    exchange = np.where(knobs.ep > 1, 2.0 * estimate_all_to_all_s(message, span, rates, copies=active), 0.0)
    inner = span_group(knobs.etp, 1, rates.domain_gpus)
    gathered = message * knobs.etp
    return exchange + np.where(knobs.etp > 1, 2.0 * estimate_all_gather_s(gathered, inner, rates), 0.0)


def estimate_ends(
    work: Workload, rates: Rates, recipe: Recipe, *, tp: IntArray, cp: IntArray, micro_batch: IntArray
) -> dict[str, FloatArray]:
    """Estimate the embedding and the output layer with its loss, forward and backward, of one micro-batch.

    Args:
        work: The job and its operators. [-]
        rates: Rates of the job on the cluster. [-]
        recipe: Traffic of its loss and of its gradients. [-]
        tp: Tensor-parallel degree, which divides the vocabulary. [-]
        cp: Context-parallel degree, which divides the tokens. [-]
        micro_batch: Sequences per micro-batch. [-]

    Returns:
        ``embedding`` and ``head``, broadcast shape. [s]
    """
    operators = work.operators
    tokens = micro_batch * float(work.job.seq_len) / cp
    # looked up and written; the gradient is added in place in fp32
    embedding = estimate_pass_s(tokens * operators.hidden * (2.0 + 2.0), rates) + 2.0 * rates.launch_s
    accumulated_bytes = recipe.accumulated_bytes / tp if work.job.trains_all else 0.0
    embedding = embedding + operators.embedding_parameters * accumulated_bytes / rates.memory_bytes_per_s
    if operators.head is None:
        return {"embedding": embedding, "head": np.zeros(1)}
    columns = operators.vocab / tp
    head = estimate_head_product_s(tokens, columns, operators.hidden, rates)
    head = head + estimate_head_product_s(tokens, operators.hidden, columns, rates)
    if work.job.trains_all:
        head = head + estimate_head_product_s(operators.hidden, columns, tokens, rates)
    loss = tokens * columns * count_loss_bytes(work, recipe) / rates.memory_bytes_per_s
    accumulated = operators.head_parameters * accumulated_bytes / rates.memory_bytes_per_s
    return {"embedding": embedding, "head": head + loss + accumulated}

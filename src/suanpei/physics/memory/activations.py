"""Activations: what the forward pass keeps, what one layer needs while it runs backward, how many micro-batches wait.

Kept tensors come from the operators; recomputation, parallel axes and number formats decide what is left of each. The
list is aggregated to a few coefficients per kind of layer, so that a strategy costs a handful of array operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.memory.parameters import list_adapter_widths
from suanpei.physics.strategy import Recompute, Sharding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from suanpei.job.job import Job, Precision
    from suanpei.job.operators import BlockOperators, KeptTensor, ModelOperators
    from suanpei.physics.memory.stages import StageLayers
    from suanpei.physics.recipe import Recipe

    FloatArray = NDArray[np.float64]

LINEAR_INPUT_BYTES: dict[Precision, float] = {"fp32": 4.0, "fp8": 1.0, "mxfp8": 1.0 + 1 / 32, "nvfp4": 0.5 + 1 / 16}
"""Bytes of a kept product input where it is not 2: the products' format with its block scales."""

STATISTIC_BYTES = 4.0

ADAPTER_INPUT_BYTES = 3.0
"""Bytes kept per element of an adapter's input: the copy after dropout and its mask; each adapted matrix has its own
(peft, ``lora.Linear.forward``)."""

DEQUANTISED_STORAGE = ("nf4", "nf4-dq", "int8")
"""Base storages whose kernels expand a whole weight to 16 bits before the product and keep the product's input for the
backward pass although the weight is frozen (bitsandbytes, ``MatMul4Bit`` and ``MatMul8bitLt``; newer releases drop the
input of 4-bit products); GPTQ's do neither."""


@dataclass(frozen=True, kw_only=True)
class _Coefficients:
    """Bytes per token of one kind of layer, by how they are divided, and bytes per attention score."""

    tensor: float
    sequence: float
    expert: float
    scores: float


def estimate_layer_kept_bytes(
    job: Job,
    operators: ModelOperators,
    recipe: Recipe,
    *,
    tp: ArrayLike,
    sp: ArrayLike,
    cp: ArrayLike,
    micro_batch: ArrayLike,
    recompute: ArrayLike,
) -> FloatArray:
    """Estimate what one layer of each kind keeps of one micro-batch until its backward pass.

    With T = micro_batch · sequence / cp tokens on a rank::

        T · (tensor / tp + sequence / (tp if sp else 1) + expert rows / tp) + scores

    where each coefficient sums the kept tensors of that spread in their format. Full recomputation keeps the layer's
    input alone; selective recomputation drops what the recipe names. Routed rows are balanced, so expert parallelism
    moves them without changing their number on a rank.

    Args:
        job: Sequence length, precision, attention kernel, capacity factor, adapters. [-]
        operators: The model. [-]
        recipe: Formats and selective policy. [-]
        tp: Tensor-parallel degree. [-]
        sp: Sequence parallelism over the tensor-parallel ranks, 0 or 1. [-]
        cp: Context-parallel degree. [-]
        micro_batch: Sequences per micro-batch. [-]
        recompute: What is recomputed, values of `Recompute`. [-]

    Returns:
        Bytes per layer and micro-batch, shape (kinds, *broadcast). [B]

    References:
        Korthikanti et al., arXiv 2205.05198, sections 4.1-4.2.
    """
    level = np.asarray(recompute)
    rows = []
    for kind in operators.kinds:
        whole, selected = (_sum_kept(job, kind, recipe, selective=chosen) for chosen in (False, True))
        input_bytes = residual_bytes(job, recipe) * operators.hidden
        full = _Coefficients(tensor=0.0, sequence=input_bytes, expert=0.0, scores=0.0)
        kept = np.where(
            level == Recompute.FULL,
            _scale(job, kind, full, tp=tp, sp=sp, cp=cp, micro_batch=micro_batch),
            np.where(
                level == Recompute.SELECTIVE,
                _scale(job, kind, selected, tp=tp, sp=sp, cp=cp, micro_batch=micro_batch),
                _scale(job, kind, whole, tp=tp, sp=sp, cp=cp, micro_batch=micro_batch),
            ),
        )
        rows.append(kept)
    return np.stack(rows)


def estimate_working_bytes(
    job: Job,
    operators: ModelOperators,
    recipe: Recipe,
    *,
    tp: ArrayLike,
    sp: ArrayLike,
    cp: ArrayLike,
    micro_batch: ArrayLike,
    recompute: ArrayLike,
) -> FloatArray:
    """Estimate the live working set of one layer's backward pass, the largest over the kinds.

    What recomputation brings back (everything the layer would have kept, less what it kept), the gradients alive beside
    it when the MLP's activation runs backward (its inner width, the residual's and the output's), the gradient of
    unfused attention scores, and a dequantised weight where the base is stored in few bits.

    Args:
        job: Sequence length, precision, attention kernel, base storage. [-]
        operators: The model. [-]
        recipe: Formats and selective policy. [-]
        tp: Tensor-parallel degree. [-]
        sp: Sequence parallelism, 0 or 1. [-]
        cp: Context-parallel degree. [-]
        micro_batch: Sequences per micro-batch. [-]
        recompute: What is recomputed, values of `Recompute`. [-]

    Returns:
        Bytes, shape of the broadcast knobs. [B]
    """
    knobs = {"tp": tp, "sp": sp, "cp": cp, "micro_batch": micro_batch}
    nothing = np.full(np.shape(recompute), int(Recompute.NONE))
    everything = estimate_layer_kept_bytes(job, operators, recipe, recompute=nothing, **knobs)
    kept = estimate_layer_kept_bytes(job, operators, recipe, recompute=recompute, **knobs)
    working = []
    for position, kind in enumerate(operators.kinds):
        gradients = _scale(job, kind, _sum_gradients(job, operators, kind, recipe), **knobs)
        weight = _dequantised_weight_bytes(job, kind) / np.asarray(tp)
        working.append(everything[position] - kept[position] + gradients + weight)
    return np.asarray(np.max(np.stack(np.broadcast_arrays(*working)), axis=0))


def estimate_held_input_bytes(
    job: Job,
    operators: ModelOperators,
    recipe: Recipe,
    stage_layers: StageLayers,
    *,
    tp: ArrayLike,
    sp: ArrayLike,
    cp: ArrayLike,
    dp: ArrayLike,
    micro_batch: ArrayLike,
    sharding: ArrayLike,
) -> FloatArray:
    """Estimate the layer inputs that adapters on a divided base hold once more until the backward pass ends.

    Zero but for adapters under zero3 with a recipe that does so (`adapter_held_inputs`).

    Args:
        job: Method, sequence length, precision. [-]
        operators: The model. [-]
        recipe: The framework's habits. [-]
        stage_layers: Layers by stage class. [-]
        tp: Tensor-parallel degree. [-]
        sp: Sequence parallelism, 0 or 1. [-]
        cp: Context-parallel degree. [-]
        dp: Data-parallel degree. [-]
        micro_batch: Sequences per micro-batch. [-]
        sharding: What data-parallel ranks divide, values of `Sharding`. [-]

    Returns:
        Bytes by stage class, shape (3, *broadcast). [B]
    """
    layers = stage_layers.counts.sum(axis=1)
    times = 0.0 if job.trains_all else recipe.adapter_held_inputs
    shared = (np.asarray(dp) * np.asarray(cp) > 1) & (np.asarray(sharding) >= Sharding.ZERO3)
    inputs = _Coefficients(tensor=0.0, sequence=_activation_bytes(job) * operators.hidden, expert=0.0, scores=0.0)
    each = _scale(job, operators.kinds[0], inputs, tp=tp, sp=sp, cp=cp, micro_batch=micro_batch)
    return np.asarray(times * layers * each * shared)


def estimate_in_flight(pp: ArrayLike, vpp: ArrayLike, grad_accum: ArrayLike, stage: ArrayLike) -> FloatArray:
    """Count the micro-batches whose activations a stage holds at once, in units of all its layers.

    One-forward-one-backward: ``min(m, pp - stage)``. Interleaved, each of the v chunks counting 1 / v of the layers::

        min(2 (pp - stage - 1) + (v - 1) pp + 1, m v) / v

    which on the first stage is ``pp · (1 + (pp - 1) / (pp v))``.

    Args:
        pp: Pipeline stages. [-]
        vpp: Chunks per stage, v. [-]
        grad_accum: Micro-batches per step, m. [-]
        stage: Position in the pipeline, from 0. [-]

    References:
        Narayanan et al., arXiv 2104.04473, section 2.2; Korthikanti et al., arXiv 2205.05198, section 4.2.3.
    """
    stages, chunks, batches = np.asarray(pp), np.asarray(vpp), np.asarray(grad_accum)
    ahead = stages - np.asarray(stage)
    interleaved = np.minimum(2 * (ahead - 1) + (chunks - 1) * stages + 1, batches * chunks) / chunks
    return np.asarray(np.where(chunks > 1, interleaved, np.minimum(batches, ahead)), dtype=np.float64)


def estimate_stage_kept_bytes(
    layer_kept_bytes: Sequence[FloatArray] | FloatArray,
    layer_counts: Sequence[Sequence[FloatArray]] | FloatArray,
    in_flight: Sequence[FloatArray] | FloatArray,
    *,
    offloaded: bool,
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Sum what a stage keeps over its layers and the micro-batches in flight.

    Args:
        layer_kept_bytes: Per layer and micro-batch, by kind: shape (kinds, *broadcast) or as many arrays. [B]
        layer_counts: Layers by stage class and kind, shape (3, kinds, *broadcast) or nested sequences. [-]
        in_flight: Micro-batches in flight by stage class, shape (3, *broadcast) or three arrays. [-]
        offloaded: Whether activations move to the host; the layer being filled and the one being emptied stay. [-]

    Returns:
        Bytes on the accelerator and on the host, three arrays each. [B]
    """
    totals = []
    for counts, micro_batches in zip(layer_counts, in_flight, strict=True):
        kept = counts[0] * layer_kept_bytes[0]
        for count, each in zip(counts[1:], layer_kept_bytes[1:], strict=True):
            kept = kept + count * each
        totals.append(kept * micro_batches)
    if not offloaded:
        return totals, [np.zeros(1) for _ in totals]
    largest = layer_kept_bytes[0]
    for each in layer_kept_bytes[1:]:
        largest = np.maximum(largest, each)
    resident = [np.minimum(2.0 * largest, total) for total in totals]
    return resident, [total - stays for total, stays in zip(totals, resident, strict=True)]


def residual_bytes(job: Job, recipe: Recipe) -> float:
    """Give the bytes per element of the residual stream, which layers and norms read. [B]"""
    wide = recipe.wide_quantised_residual and job.base_storage in DEQUANTISED_STORAGE
    return 4.0 if wide else _activation_bytes(job)


def _activation_bytes(job: Job) -> float:
    return 4.0 if job.precision == "fp32" else 2.0


def _scale(
    job: Job,
    kind: BlockOperators,
    coefficients: _Coefficients,
    *,
    tp: ArrayLike,
    sp: ArrayLike,
    cp: ArrayLike,
    micro_batch: ArrayLike,
) -> FloatArray:
    """Bytes of one layer and micro-batch on one rank."""
    tensor_parallel = np.asarray(tp, dtype=np.float64)
    tokens = np.asarray(micro_batch) * (job.seq_len / np.asarray(cp))
    spread = np.where(np.asarray(sp) > 0, tensor_parallel, 1.0)
    rows = coefficients.tensor + coefficients.expert * (job.capacity_factor or 1.0)
    size = tokens * (rows / tensor_parallel + coefficients.sequence / spread)
    if coefficients.scores:
        size = size + tokens * (job.seq_len * kind.attention.heads * coefficients.scores) / tensor_parallel
    return np.asarray(size)


def _sum_kept(job: Job, kind: BlockOperators, recipe: Recipe, *, selective: bool) -> _Coefficients:
    """Sum the kept tensors of one layer per token, by spread, in bytes."""
    activation = _activation_bytes(job)
    sizes = {
        "linear_input": LINEAR_INPUT_BYTES.get(job.precision, 2.0),
        "activation": activation,
        "statistic": STATISTIC_BYTES,
    }
    totals = _sum_adapter_inputs(job, kind, recipe)
    policy = recipe.selective if selective else ()
    drops_attention, drops_cheap = "attention" in policy, "cheap" in policy
    for tensor in kind.kept:
        if (tensor.cheap and drops_cheap) or (tensor.name == "softmax_statistic" and drops_attention):
            continue
        if tensor.name == "expert_output" and recipe.weighs_experts_inside:
            continue
        if not _is_dropped(job, tensor, recipe):
            size = residual_bytes(job, recipe) if tensor.name == "norm_inputs" else sizes[tensor.kind]
            totals[tensor.spread] += tensor.elements * size * _kept_share(kind, tensor, policy)
        if tensor.eager is not None and not drops_cheap:
            copies = recipe.unfused_kept if tensor.eager == "norm" else recipe.unfused_activation
            totals[tensor.spread] += copies * tensor.elements * activation
    scores = 0.0 if job.flash_attention or drops_attention else recipe.scores_kept_bytes
    return _Coefficients(**totals, scores=scores)


def _sum_gradients(job: Job, operators: ModelOperators, kind: BlockOperators, recipe: Recipe) -> _Coefficients:
    """Gradients alive when the MLP's activation runs backward: its input's, the layer output's and the residual's."""
    totals = {"tensor": 0.0, "sequence": 2.0 * operators.hidden, "expert": 0.0}
    for tensor in kind.kept:
        if tensor.name.endswith("_up_output") or tensor.name == "expert_output":
            totals[tensor.spread] += tensor.elements
    size = _activation_bytes(job)
    scores = 0.0 if job.flash_attention else recipe.scores_kept_bytes
    return _Coefficients(**{spread: total * size for spread, total in totals.items()}, scores=scores)


def _kept_share(kind: BlockOperators, tensor: KeptTensor, policy: tuple[str, ...]) -> float:
    """Share of a tensor that is kept where the policy computes every second product of a layer again.

    Of queries, keys and values the first and the third, of gate and up the first; a latent's products count as half.
    """
    if "half_products" not in policy:
        return 1.0
    if tensor.name == "query_key_value" and not any(other.name == "latent_inputs" for other in kind.kept):
        return 1.0 - kind.attention.kv_heads * kind.attention.head_dim / tensor.elements
    return 0.5 if tensor.name == "query_key_value" or tensor.name.endswith("_up_output") else 1.0


def _is_dropped(job: Job, tensor: KeptTensor, recipe: Recipe) -> bool:
    """Whether a frozen base has no use for a kept tensor: the inputs of its products (a frozen weight has no gradient).

    The attention's output stays, because flash kernels keep it for themselves, and so do the inputs that quantised
    products keep or that adapters without dropout share.
    """
    if job.trains_all or job.base_storage in DEQUANTISED_STORAGE or not recipe.adapter_dropout:
        return False
    return tensor.kind == "linear_input" and tensor.name != "attention_output"


def _sum_adapter_inputs(job: Job, kind: BlockOperators, recipe: Recipe) -> dict[str, float]:
    """Bytes per token that adapters keep of their inputs for themselves, by spread."""
    totals = {"tensor": 0.0, "sequence": 0.0, "expert": 0.0}
    if job.trains_all or job.lora is None or not recipe.adapter_dropout:
        return totals
    for product in kind.products:
        spread = "expert" if product.name.startswith("expert_") else "tensor" if product.cut == "row" else "sequence"
        adapters = len(list_adapter_widths(product, kind.attention, job.lora))
        totals[spread] += ADAPTER_INPUT_BYTES * adapters * product.k * product.active
    return totals


def _dequantised_weight_bytes(job: Job, kind: BlockOperators) -> float:
    if job.base_storage not in DEQUANTISED_STORAGE:
        return 0.0
    return max(2.0 * product.k * product.n for product in kind.products if product.quantizable)

"""Buffers: gathered weights, gradient buckets, communication buffers and the context of the driver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.memory.formats import PURE_PRECISIONS
from suanpei.physics.memory.parameters import hold_frozen_bytes, hold_trained, sum_spread
from suanpei.physics.strategy import Sharding

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suanpei.job.job import Job
    from suanpei.job.operators import ModelOperators
    from suanpei.physics.memory.parameters import Holding
    from suanpei.physics.memory.stages import StageLayers
    from suanpei.physics.recipe import Recipe

    FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Buffers:
    """Buffers of one strategy by stage class, shape (3, *broadcast)."""

    gathered_bytes: FloatArray
    """Whole weights that products read during forward and backward, beside the kept shards. [B]"""
    bucket_bytes: FloatArray
    """Gradients on their way, beside the kept gradients, during backward. [B]"""


@dataclass(frozen=True, kw_only=True)
class Overheads:
    """What the device needs beside tensors; coefficients of the calibration."""

    context_bytes: float
    """Driver context, kernels and library workspaces of one process. [B]"""
    communicator_bytes: float
    """Buffers of one communicator. [B]"""
    fragmentation_fraction: float
    """Lost to fragments, of the memory that activations and buffers take. [-]"""
    cache_fraction: float
    """Share of freed blocks that no later phase uses again, which the allocator keeps while there is room. [-]"""


def estimate_buffers(
    job: Job,
    operators: ModelOperators,
    recipe: Recipe,
    stage_layers: StageLayers,
    *,
    tp: ArrayLike,
    ep: ArrayLike,
    etp: ArrayLike,
    cp: ArrayLike,
    dp: ArrayLike,
    sharding: ArrayLike,
) -> Buffers:
    """Estimate gathered weights and gradient buckets by stage class.

    Gathered weights::

        zero3                  max(gathered_layers · largest layer, parameters that stay live) + ends
        below, wider weights   all weights once more in the products' format
        below, same format     0

    Buckets: fixed ones, the layer whose gradients are being reduced (zero2 and zero3), and the copy of all gradients
    that a reducer with its own buckets holds. One rank has neither.

    Args:
        job: Method and precision. [-]
        operators: The model. [-]
        recipe: The framework's habits. [-]
        stage_layers: Layers by stage class. [-]
        tp: Tensor-parallel degree. [-]
        ep: Expert-parallel degree. [-]
        etp: Tensor-parallel degree inside an expert. [-]
        cp: Context-parallel degree. [-]
        dp: Data-parallel degree. [-]
        sharding: What data-parallel ranks divide, values of `Sharding`. [-]

    References:
        Zhao et al., arXiv 2304.11277, section 4 (gathers, prefetch); Rajbhandari et al., arXiv 1910.02054, section 6.2
        (buckets); DeepSpeed configuration documentation (live parameters).
    """
    level = np.asarray(sharding)
    shared = np.asarray(dp) * np.asarray(cp) > 1
    knobs = {"tp": tp, "ep": ep, "etp": etp}
    trained, frozen = hold_trained(job, operators), hold_frozen_bytes(job, operators)
    gather_bytes = _gather_bytes(job, recipe)
    trained_total = sum_spread(trained, stage_layers, **knobs)
    frozen_total = sum_spread(frozen, stage_layers, **knobs)
    layer = _largest_layer(trained, knobs) * gather_bytes + _largest_layer(frozen, knobs)
    ends = _end_units(trained, stage_layers, tp) * gather_bytes + _end_units(frozen, stage_layers, tp)
    whole = trained_total * gather_bytes + frozen_total
    live = np.minimum(recipe.live_parameters * gather_bytes, whole)
    gathered = np.maximum(recipe.gathered_layers * layer, live)
    gathered = gathered + ends if recipe.root_gathered else np.maximum(gathered, ends)
    moves = (level >= recipe.weights_sharded_from) & (shared | ("parameters" in job.offload))
    converts = _weight_bytes(job, recipe) > gather_bytes
    below = trained_total * gather_bytes * (moves | converts) + frozen_total * moves
    gathered = np.where(moves & (level >= Sharding.ZERO3), np.minimum(gathered, whole), below)
    return Buffers(
        gathered_bytes=gathered,
        bucket_bytes=np.where(shared, _buckets(job, recipe, trained, trained_total, level, knobs), 0.0),
    )


def estimate_communication_bytes(
    overheads: Overheads, *, tp: ArrayLike, pp: ArrayLike, cp: ArrayLike, ep: ArrayLike, dp: ArrayLike
) -> FloatArray:
    """Estimate the buffers of the communicators: one for each axis with more than one rank. [B]"""
    groups = sum((np.asarray(axis) > 1).astype(np.float64) for axis in (tp, pp, cp, ep, dp))
    return np.asarray(groups * overheads.communicator_bytes)


def _weight_bytes(job: Job, recipe: Recipe) -> float:
    if job.precision == "fp32":
        return 4.0
    return 2.0 if job.precision in PURE_PRECISIONS else recipe.weight_bytes


def _gather_bytes(job: Job, recipe: Recipe) -> float:
    return 4.0 if job.precision == "fp32" else recipe.gather_bytes


def _largest_layer(holding: Holding, knobs: dict[str, ArrayLike]) -> FloatArray:
    """The largest layer of one rank before data-parallel sharding, in the holding's unit."""
    tp, ep, etp = (np.asarray(knobs[name], dtype=np.float64) for name in ("tp", "ep", "etp"))
    sizes = [
        tensor / tp + whole + expert / (ep * etp)
        for tensor, whole, expert in zip(holding.tensor, holding.whole, holding.expert, strict=True)
    ]
    return np.asarray(np.max(np.stack(np.broadcast_arrays(*sizes)), axis=0))


def _end_units(holding: Holding, stage_layers: StageLayers, tp: ArrayLike) -> FloatArray:
    """Embedding and head that a stage class holds, in the holding's unit."""
    alone = stage_layers.is_last & ~stage_layers.is_first
    ends = stage_layers.is_first * holding.first + stage_layers.is_last * holding.last + alone * holding.copied
    return np.asarray(ends / np.asarray(tp))


def _buckets(
    job: Job,
    recipe: Recipe,
    trained: Holding,
    trained_total: FloatArray,
    level: NDArray[np.int64],
    knobs: dict[str, ArrayLike],
) -> FloatArray:
    width = 2.0 if job.precision in PURE_PRECISIONS else recipe.gradient_bytes
    reduced = np.where(level >= Sharding.ZERO2, recipe.bucket_layer_bytes * _largest_layer(trained, knobs), 0.0)
    mirrored = recipe.bucket_gradient_fraction * width * trained_total
    return np.asarray(recipe.bucket_bytes + reduced + mirrored)

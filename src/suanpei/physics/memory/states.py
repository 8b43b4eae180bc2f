"""Weights, gradients and optimizer states of one accelerator, by pipeline stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.memory.formats import (
    LOW_PRECISION_BYTES,
    OPTIMIZER_BYTES,
    PURE_PRECISIONS,
    estimate_initialisation_peak_bytes,
    state_bytes_per_parameter,
)
from suanpei.physics.memory.parameters import (
    hold_factors,
    hold_frozen_bytes,
    hold_low_precision_copies,
    hold_matrices,
    hold_parameters,
    hold_trained,
    spread_holding,
    sum_spread,
)
from suanpei.physics.strategy import Sharding

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suanpei.job.job import Job
    from suanpei.job.operators import ModelOperators
    from suanpei.physics.memory.formats import ParameterBytes
    from suanpei.physics.memory.stages import StageLayers
    from suanpei.physics.recipe import Recipe

    FloatArray = NDArray[np.float64]

FACTOR_BYTES = 4.0
"""Bytes per row or column of a factored second moment (fp32)."""


@dataclass(frozen=True, kw_only=True)
class States:
    """What lives through all steps, by stage class; every array has the shape (3, *broadcast)."""

    weights_bytes: FloatArray
    """Weights, frozen base and low-precision copies. [B]"""
    gradients_bytes: FloatArray
    """Gradients from the backward pass to the step. [B]"""
    optimizer_bytes: FloatArray
    """Optimizer states and master copy. [B]"""
    step_extra_bytes: FloatArray
    """What the optimizer step adds at its peak. [B]"""
    initialisation_bytes: FloatArray
    """The most that a rank holds while the job starts. [B]"""
    host_bytes: FloatArray
    """Host memory of this rank's offloaded states, pinned buffers included. [B]"""
    trained: FloatArray
    """Trained parameters of this rank before data-parallel sharding. [-]"""

    @property
    def between_steps_bytes(self) -> FloatArray:
        """Weights, gradients and optimizer states. [B]"""
        return self.weights_bytes + self.gradients_bytes + self.optimizer_bytes


def estimate_states(
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
) -> States:
    """Estimate weights, gradients and optimizer states by stage class.

    Dense parameters are divided by tp and, as the sharding says, over ``dp · cp`` ranks; routed experts by ``ep · etp``
    and over the expert-data-parallel ranks ``dp · cp · tp / (ep · etp)``. A frozen base is divided where the recipe
    divides weights, and only there: data-parallel QLoRA keeps all of it on every card.

    Args:
        job: What is trained, and how. [-]
        operators: The model. [-]
        recipe: The framework's habits. [-]
        stage_layers: Layers by stage class. [-]
        tp: Tensor-parallel degree. [-]
        ep: Expert-parallel degree. [-]
        etp: Tensor-parallel degree inside an expert. [-]
        cp: Context-parallel degree. [-]
        dp: Data-parallel degree. [-]
        sharding: What data-parallel ranks divide, values of `Sharding`. [-]

    Returns:
        Bytes by stage class, shape (3, *broadcast).

    Raises:
        InputError: An adapter method without a description of the adapters.
    """
    ranks = np.asarray(dp) * np.asarray(cp)
    expert_ranks = np.maximum(ranks * np.asarray(tp) / (np.asarray(ep) * np.asarray(etp)), 1.0)
    per_dense = _per_parameter(job, recipe, sharding, ranks)
    per_expert = _per_parameter(job, recipe, sharding, expert_ranks)
    knobs = {"tp": tp, "ep": ep, "etp": etp}
    dense, expert = spread_holding(hold_trained(job, operators), stage_layers, **knobs)
    weights_divisors = _weights_divisor(recipe, sharding, ranks), _weights_divisor(recipe, sharding, expert_ranks)

    def combine(part: str) -> FloatArray:
        return np.asarray(dense * getattr(per_dense, part) + expert * getattr(per_expert, part))

    weights, gradients, optimizer, step_extra = map(combine, ("weights", "gradients", "optimizer", "step_extra"))
    if np.isfinite(recipe.step_group_parameters):
        group = per_dense.step_extra * ranks * recipe.step_group_parameters
        step_extra = np.where(np.asarray(sharding) >= Sharding.ZERO3, np.minimum(step_extra, group), step_extra)
    fixed_dense, fixed_expert = spread_holding(hold_frozen_bytes(job, operators), stage_layers, **knobs)
    weights = weights + fixed_dense / weights_divisors[0] + fixed_expert / weights_divisors[1]
    if recipe.mixed_units and job.base_storage is None:
        gradients = gradients + fixed_dense + fixed_expert
    if job.precision in LOW_PRECISION_BYTES and recipe.low_precision_copies and job.trains_all:
        copies = hold_low_precision_copies(operators, recipe.low_precision_copies * LOW_PRECISION_BYTES[job.precision])
        weights = weights + sum_spread(copies, stage_layers, **knobs)
    if job.optimizer in ("adafactor", "muon"):
        optimizer = optimizer + _shaped_states(job, operators, recipe, stage_layers, knobs, per_dense)
    if job.optimizer_in_backward:
        gradients = gradients + _largest_layer_gradient(job, operators, recipe, knobs)
    initialisation = weights + optimizer
    if recipe.full_copy_initialisation:
        whole = sum_spread(hold_parameters(operators), stage_layers, **knobs)
        initialisation = np.maximum(initialisation, estimate_initialisation_peak_bytes(whole))
    states = States(
        weights_bytes=weights,
        gradients_bytes=gradients,
        optimizer_bytes=optimizer,
        step_extra_bytes=step_extra,
        initialisation_bytes=initialisation,
        host_bytes=np.zeros_like(weights),
        trained=dense + expert,
    )
    return _offload(job, recipe, states) if job.offload else states


def _per_parameter(job: Job, recipe: Recipe, sharding: ArrayLike, ranks: ArrayLike) -> ParameterBytes:
    return state_bytes_per_parameter(
        recipe,
        sharding,
        ranks,
        precision=job.precision,
        optimizer=job.optimizer,
        optimizer_in_backward=job.optimizer_in_backward,
    )


def _weights_divisor(recipe: Recipe, sharding: ArrayLike, ranks: ArrayLike) -> FloatArray:
    return np.where(np.asarray(sharding) >= recipe.weights_sharded_from, np.asarray(ranks, dtype=np.float64), 1.0)


def _shaped_states(
    job: Job,
    operators: ModelOperators,
    recipe: Recipe,
    stage_layers: StageLayers,
    knobs: dict[str, ArrayLike],
    per_dense: ParameterBytes,
) -> FloatArray:
    """States that depend on shapes: Adafactor's rows and columns; Adam's second moment where Muon does not apply."""
    master = 0.0 if job.precision in (*PURE_PRECISIONS, "fp32") else recipe.master_bytes
    known = master + OPTIMIZER_BYTES[job.optimizer] / (2 if job.precision in PURE_PRECISIONS else 1)
    if job.optimizer == "adafactor":
        return sum_spread(hold_factors(job, operators), stage_layers, **knobs) * FACTOR_BYTES
    all_dense, _ = spread_holding(hold_trained(job, operators), stage_layers, **knobs)
    matrix_dense, _ = spread_holding(hold_matrices(operators), stage_layers, **knobs)
    second_moment = 2.0 if job.precision in PURE_PRECISIONS else 4.0
    others = np.maximum(all_dense - matrix_dense, 0.0) if job.trains_all else np.zeros_like(all_dense)
    return np.asarray(others * second_moment * per_dense.optimizer / known)


def _largest_layer_gradient(
    job: Job, operators: ModelOperators, recipe: Recipe, knobs: dict[str, ArrayLike]
) -> FloatArray:
    """The gradient of one layer, the largest, which lives until its update."""
    trained = hold_trained(job, operators)
    bytes_each = 2.0 if job.precision in PURE_PRECISIONS else recipe.gradient_bytes
    dense = np.multiply.outer(trained.tensor, 1 / np.asarray(knobs["tp"], dtype=np.float64))
    whole = trained.whole.reshape(-1, *([1] * np.ndim(knobs["tp"])))
    expert = np.multiply.outer(trained.expert, 1 / (np.asarray(knobs["ep"]) * np.asarray(knobs["etp"])))
    return np.asarray(np.max(dense + whole + expert, axis=0) * bytes_each)


def _offload(job: Job, recipe: Recipe, states: States) -> States:
    """Move states to the host.

    Offloaded optimizer states take the gradients with them as they are reduced (in fp32 on the host), unless these have
    a buffer for the whole run on the card; offloaded parameters leave only gathered layers on the card, which
    ``buffers`` counts.
    """
    zero = np.zeros_like(states.weights_bytes)
    host = zero
    weights, gradients, optimizer, step_extra = (
        states.weights_bytes,
        states.gradients_bytes,
        states.optimizer_bytes,
        states.step_extra_bytes,
    )
    if "optimizer" in job.offload:
        fp32_gradients = gradients if job.precision in PURE_PRECISIONS else gradients * (4.0 / recipe.gradient_bytes)
        host = host + optimizer + fp32_gradients
        gradients = gradients if recipe.persistent_gradients else zero
        optimizer, step_extra = zero, zero
    if "parameters" in job.offload:
        host = host + weights
        weights = zero
    return States(
        weights_bytes=weights,
        gradients_bytes=gradients,
        optimizer_bytes=optimizer,
        step_extra_bytes=step_extra,
        initialisation_bytes=weights + optimizer,
        host_bytes=host * recipe.host_buffer_factor,
        trained=states.trained,
    )

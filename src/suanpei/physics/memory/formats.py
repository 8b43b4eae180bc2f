"""Bytes per parameter: weights, gradients, optimizer states, and what the optimizer step adds.

One formula for all recipes, precisions and shardings; the recipe is data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.strategy import Sharding

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suanpei.job.job import Optimizer, Precision
    from suanpei.physics.recipe import Recipe

    FloatArray = NDArray[np.float64]

PURE_PRECISIONS: tuple[Precision, ...] = ("bf16-pure", "fp16-pure")

LOW_PRECISION_BYTES: dict[Precision, float] = {"fp8": 1.0, "mxfp8": 1.0 + 1 / 32, "nvfp4": 0.5 + 1 / 16}
"""Bytes of one copy of a weight in the products' format, block scales included: MXFP8 one byte per 32 elements, NVFP4
one byte per 16 (OCP Microscaling Formats specification 1.0; NVIDIA Transformer Engine documentation)."""

OPTIMIZER_BYTES: dict[Optimizer, float] = {
    "adamw": 8.0,
    "adamw-8bit": 2.0 + 2 * 4 / 256,
    "adafactor": 0.0,
    "sgd": 0.0,
    "muon": 4.0,
}
"""Optimizer states per parameter. Adam: two fp32 moments; in 8 bits with one fp32 scale per 256 elements each (Dettmers
et al., arXiv 2110.02861); Adafactor: rows and columns only, counted apart; SGD: no momentum; Muon: one fp32 momentum
per matrix element (the other parameters have Adam's, counted apart)."""

UNFUSED_OPTIMIZERS: tuple[Optimizer, ...] = ("adamw",)
"""Optimizers whose step makes a temporary per parameter when it is not fused."""


@dataclass(frozen=True, kw_only=True)
class ParameterBytes:
    """Bytes that a data-parallel rank holds for each trained parameter."""

    weights: FloatArray
    """Weights kept between steps, without the master copy. [B]"""
    gradients: FloatArray
    """Gradients, from the backward pass to the optimizer step. [B]"""
    optimizer: FloatArray
    """Optimizer states and the master copy. [B]"""
    step_extra: FloatArray
    """What the optimizer step adds at its peak. [B]"""

    @property
    def steady(self) -> FloatArray:
        """Between micro-batches. [B]"""
        return self.weights + self.gradients + self.optimizer

    @property
    def step_peak(self) -> FloatArray:
        """Inside the optimizer step. [B]"""
        return self.steady + self.step_extra


def state_bytes_per_parameter(
    recipe: Recipe,
    sharding: ArrayLike,
    ranks: ArrayLike,
    *,
    precision: Precision = "bf16",
    optimizer: Optimizer = "adamw",
    optimizer_in_backward: bool = False,
) -> ParameterBytes:
    """Give the bytes that one rank holds per trained parameter.

    With n ranks and, in mixed precision, the recipe's weights w, master copy c, gradients g and optimizer states o::

        weights    w, w / n where the sharding divides weights
        gradients  g, g / n from zero2
        optimizer  c + o, (c + o) / n from zero1
        step       (fp32 gradients + temporary), divided like the optimizer

    fp32 training keeps 4-byte weights and gradients and no master copy; pure 16-bit training keeps everything, moments
    included, in 2 bytes.

    Args:
        recipe: The framework's habits. [-]
        sharding: What is divided, values of `Sharding`. [-]
        ranks: Ranks that share, at least 1. [-]
        precision: Training precision. [-]
        optimizer: Optimizer. [-]
        optimizer_in_backward: Gradients are applied and freed layer by layer. [-]

    Valid for: Adafactor and Muon up to the part that depends on shapes, which `estimate_states` adds.

    References:
        Rajbhandari et al., arXiv 1910.02054, section 3; Megatron-LM, distributed optimizer (6 + 12/d); the step's
        extra bytes of DeepSpeed: recipe data.
    """
    level, share = np.asarray(sharding), np.asarray(ranks, dtype=np.float64)
    weight, master, gradient, step_gradient = (
        recipe.weight_bytes,
        recipe.master_bytes,
        recipe.gradient_bytes,
        recipe.step_gradient_bytes,
    )
    state, temporary = OPTIMIZER_BYTES[optimizer], recipe.step_temporary_bytes
    if precision == "fp32":
        weight, master, gradient, step_gradient = 4.0, 0.0, 4.0, 0.0
    elif precision in PURE_PRECISIONS:
        weight, master, gradient, step_gradient = 2.0, 0.0, 2.0, 0.0
        temporary /= 2
        state = state if optimizer == "adamw-8bit" else state / 2
    if optimizer not in UNFUSED_OPTIMIZERS:
        temporary = 0.0
    if optimizer_in_backward:
        gradient, step_gradient, temporary = 0.0, 0.0, 0.0
    from_zero1 = np.where(level >= Sharding.ZERO1, share, 1.0)
    return ParameterBytes(
        weights=weight / np.where(level >= recipe.weights_sharded_from, share, 1.0),
        gradients=gradient / np.where(level >= Sharding.ZERO2, share, 1.0),
        optimizer=(master + state) / from_zero1,
        step_extra=(step_gradient + temporary) / from_zero1,
    )


def estimate_initialisation_peak_bytes(parameters: ArrayLike) -> FloatArray:
    """Give what a rank holds that loads the whole model in fp32 before it is divided: 4 bytes per parameter. [B]

    The host holds the sum over its ranks where they load there.
    """
    return np.asarray(4.0 * np.asarray(parameters, dtype=np.float64))


def estimate_deepspeed_zero3_bytes(
    parameters: float, largest_layer_parameters: float, gpus_per_node: int, nodes: int, *, offload: str
) -> tuple[float, float]:
    """Repeat DeepSpeed's own ZeRO-3 estimator: bytes of one accelerator, and of one host.

    With N parameters, largest layer L and n accelerators in all, g on a node::

        offload            accelerator            host
        none               4 L + 18 N / n         4 N g · 1.5   (loading)
        optimizer          4 L + 2 N / n          16 N / nodes · 1.5
        optimizer+params   4 L                    18 N / nodes · 1.5

    It counts model states alone: no activations, logits, buckets or context, so a real job needs more.

    Args:
        parameters: Parameters of the model. [-]
        largest_layer_parameters: Parameters of the largest layer. [-]
        gpus_per_node: Accelerators of a node. [-]
        nodes: Nodes. [-]
        offload: ``none``, ``optimizer`` or ``optimizer+params``. [-]

    References:
        DeepSpeed documentation, "Memory Requirements", estimate_zero3_model_states_mem_needs.
    """
    ranks = gpus_per_node * nodes
    live = 4.0 * largest_layer_parameters
    if offload == "none":
        return live + 18.0 * parameters / ranks, 4.0 * parameters * gpus_per_node * 1.5
    if offload == "optimizer":
        return live + 2.0 * parameters / ranks, 16.0 * parameters / nodes * 1.5
    return live, 18.0 * parameters / nodes * 1.5

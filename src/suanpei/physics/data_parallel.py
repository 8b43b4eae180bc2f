"""Time of what data-parallel ranks do together: gradients reduced, weights gathered, the optimizer step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.collectives import estimate_all_gather_s, estimate_all_reduce_s, span_group
from suanpei.physics.memory.parameters import hold_parameters, hold_trained, spread_holding
from suanpei.physics.memory.stages import split_layers
from suanpei.physics.strategy import Sharding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suanpei.physics.collectives import GroupSpan
    from suanpei.physics.memory.parameters import Holding
    from suanpei.physics.rates import Rates
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.workload import Workload

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

OPTIMIZER_BYTES = {"adamw": 30.0, "adamw-8bit": 18.0, "adafactor": 16.0, "sgd": 14.0, "muon": 22.0}
"""Memory traffic of one update, per parameter: fp32 gradient read (4), master weight read and written (8), 16-bit
weight written (2), two fp32 moments read and written (16; 8-bit: 4; factored: about 2; none; one: 8)."""

MUON_FLOPS_PER_ELEMENT_WIDTH = 5 * 2 * 2.5
"""Newton-Schulz: five iterations of about 2.5 products of an m × n matrix with its m × m Gram matrix, so the FLOPs
per element are this times the smaller width. Source: K. Jordan et al., Muon, 2024, https://kellerjordan.github.io/posts/muon/."""

HOST_UPDATES_PER_S = 4.5e9
"""Parameters that one host's CPUs update per second with Adam. Source: ZeRO-Offload, arXiv 2101.06840, table 4 (about
0.22 s for 1 billion parameters)."""


class DataKnobs:
    """The knobs that data-parallel work depends on, as broadcastable arrays, with the groups that they make."""

    NAMES = ("tp", "cp", "pp", "vpp", "ep", "etp", "dp", "sharding")

    def __init__(self, domain_gpus: int, **knobs: IntArray) -> None:
        self.tp, self.cp, self.pp, self.vpp, self.ep, self.etp, self.dp, self.sharding = (
            np.asarray(knobs[name]) for name in self.NAMES
        )
        self.dense_span: GroupSpan = span_group(self.dp * self.cp, self.tp, domain_gpus)
        """Ranks that hold the same dense weights."""
        copies = np.maximum(self.dp * self.cp * self.tp // (self.ep * self.etp), 1)
        self.expert_span: GroupSpan = span_group(copies, self.ep * self.etp, domain_gpus)
        """Ranks that hold the same experts."""


def estimate_data_parallel(work: Workload, rates: Rates, recipe: Recipe, knobs: DataKnobs) -> dict[str, FloatArray]:
    """Estimate gradient reduction, weight gathers and the optimizer step.

    Without sharding gradients are all-reduced once per step; with zero1 they are reduce-scattered and the new weights
    gathered, the same traffic; zero2 reduces every micro-batch, and where a recipe divides the kept weights from
    zero2 on it gathers them for the forward pass; zero3 gathers each layer's weights for the forward and again for the
    backward pass of every micro-batch and reduces its gradients there
    (S. Rajbhandari et al., ZeRO, arXiv 1910.02054, section 7).

    Args:
        work: The job and its operators. [-]
        rates: Rates of the job on the cluster. [-]
        recipe: Bytes of gradients and weights on the wire. [-]
        knobs: Broadcastable arrays. [-]

    Returns:
        ``reduce`` and ``gather`` once per step, ``optimizer``, and per micro-batch of one layer ``gather_<kind>`` in
        the forward and ``return_<kind>`` (weights again, gradients out) in the backward pass, ``gather_ends`` and
        ``return_ends``; none of it hidden yet. [s]
    """
    operators = work.operators
    wire_bytes = _gradient_bytes_on_wire(work, recipe)
    held, trained = hold_parameters(operators), hold_trained(work.job, operators)
    zero2, zero3 = knobs.sharding == Sharding.ZERO2, knobs.sharding == Sharding.ZERO3
    every_micro_batch = zero2 | zero3
    divided = every_micro_batch & (knobs.sharding >= recipe.weights_sharded_from)
    columns: dict[str, FloatArray] = {}
    for index in range(len(operators.kinds)):
        gathered = _gather(*_one_layer(held, index, knobs), recipe.gather_bytes, rates, knobs)
        reduced = _gather(*_one_layer(trained, index, knobs), wire_bytes, rates, knobs)
        columns[f"gather_{index}"] = np.where(divided, gathered, 0.0)
        columns[f"return_{index}"] = np.where(zero3, gathered, 0.0) + np.where(every_micro_batch, reduced, 0.0)
    gathered = _gather(_ends(held, knobs), 0.0, recipe.gather_bytes, rates, knobs)
    reduced = _gather(_ends(trained, knobs), 0.0, wire_bytes, rates, knobs)
    columns["gather_ends"] = np.where(divided, gathered, 0.0)
    columns["return_ends"] = np.where(zero3, gathered, 0.0) + np.where(every_micro_batch, reduced, 0.0)
    stage_layers = split_layers(operators, knobs.pp, knobs.vpp)
    by_stage = spread_holding(trained, stage_layers, tp=knobs.tp, ep=knobs.ep, etp=knobs.etp)
    dense, expert = (amounts.max(axis=0) for amounts in by_stage)
    columns |= _once_per_step(dense, expert, wire_bytes, rates, recipe, knobs)
    columns["optimizer"] = _estimate_optimizer(work, dense, expert, rates, recipe, knobs)
    return columns


def _gradient_bytes_on_wire(work: Workload, recipe: Recipe) -> float:
    """Give the bytes of one gradient element as ranks exchange it."""
    is_half = work.job.precision == "fp16" and recipe.half_gradients_on_wire
    if is_half or work.job.precision in ("bf16-pure", "fp16-pure"):
        return 2.0
    return recipe.gradient_bytes


def _one_layer(holding: Holding, kind: int, knobs: DataKnobs) -> tuple[FloatArray, FloatArray]:
    """Give the dense and expert parameters of one layer on one rank."""
    dense = holding.tensor[kind] / knobs.tp + holding.whole[kind]
    return dense, holding.expert[kind] / (knobs.ep * knobs.etp)


def _ends(holding: Holding, knobs: DataKnobs) -> FloatArray:
    """Give the parameters of embedding and output layer on the stage that holds more of them."""
    last = holding.last + holding.copied
    return np.where(knobs.pp > 1, max(holding.first, last), holding.first + holding.last) / knobs.tp


def _gather(
    dense: FloatArray, expert: FloatArray | float, element_bytes: float, rates: Rates, knobs: DataKnobs
) -> FloatArray:
    """Time one all-gather (or reduce-scatter) of dense and expert weights over their own groups."""
    time = estimate_all_gather_s(dense * element_bytes, knobs.dense_span, rates)
    expert = np.asarray(expert, dtype=np.float64)
    if np.any(expert > 0):
        time = time + estimate_all_gather_s(expert * element_bytes, knobs.expert_span, rates)
    return time


def _once_per_step(
    dense: FloatArray, expert: FloatArray, wire_bytes: float, rates: Rates, recipe: Recipe, knobs: DataKnobs
) -> dict[str, FloatArray]:
    none, zero1 = knobs.sharding == Sharding.NONE, knobs.sharding == Sharding.ZERO1
    reduced = estimate_all_reduce_s(dense * wire_bytes, knobs.dense_span, rates)
    if np.any(expert > 0):
        reduced = reduced + estimate_all_reduce_s(expert * wire_bytes, knobs.expert_span, rates)
    scattered = _gather(dense, expert, wire_bytes, rates, knobs)
    gathered = _gather(dense, expert, recipe.weight_bytes, rates, knobs)
    zero2 = (knobs.sharding == Sharding.ZERO2) & (recipe.weights_sharded_from > Sharding.ZERO2)
    return {
        "reduce": np.where(none, reduced, np.where(zero1, scattered, 0.0)),
        "gather": np.where(zero1 | zero2, gathered, 0.0),
    }


def _estimate_optimizer(
    work: Workload, dense: FloatArray, expert: FloatArray, rates: Rates, recipe: Recipe, knobs: DataKnobs
) -> FloatArray:
    """Time the update of this rank's share, on the accelerator or on its host."""
    sharded = knobs.sharding != Sharding.NONE
    owned = dense / np.where(sharded, knobs.dense_span.ranks, 1.0)
    owned = owned + expert / np.where(sharded, knobs.expert_span.ranks, 1.0)
    if "optimizer" in work.job.offload:
        moved = owned * (recipe.gradient_bytes + recipe.weight_bytes) / rates.host_bytes_per_s
        on_host = np.minimum(knobs.tp * knobs.cp * knobs.pp * knobs.dp, rates.domain_gpus)
        return np.asarray(moved + owned * on_host / HOST_UPDATES_PER_S, dtype=np.float64)
    update = owned * OPTIMIZER_BYTES[work.job.optimizer] / rates.memory_bytes_per_s
    if work.job.optimizer == "muon":
        update = update + owned * MUON_FLOPS_PER_ELEMENT_WIDTH * work.operators.hidden / rates.head_flops_per_s
    return update

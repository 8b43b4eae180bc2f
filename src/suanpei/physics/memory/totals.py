"""Memory of many candidates: every term tabulated over its own knobs, totals put together block by block.

Memory depends on the job, the recipe and the strategy, on no accelerator: one evaluation serves every card.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.grid import Grid
from suanpei.physics.memory.activations import (
    estimate_held_input_bytes,
    estimate_in_flight,
    estimate_layer_kept_bytes,
    estimate_stage_kept_bytes,
    estimate_working_bytes,
)
from suanpei.physics.memory.buffers import Overheads, estimate_buffers, estimate_communication_bytes
from suanpei.physics.memory.loss import estimate_loss_bytes
from suanpei.physics.memory.peak import MemoryTerms, combine_peak
from suanpei.physics.memory.stages import STAGES, split_layers
from suanpei.physics.memory.states import estimate_states

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suanpei.machine.calibration import Calibration
    from suanpei.physics.grid import Table
    from suanpei.physics.memory.peak import Peak
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.strategy import Strategies
    from suanpei.physics.workload import Workload

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

BLOCK = 16_384
"""Candidates combined at a time: a dozen columns of this length stay in a core's cache."""

_BY_STAGE = ("weights", "gradients", "optimizer", "step_extra", "initialisation", "gathered", "buckets")


@dataclass(frozen=True, kw_only=True)
class MemoryTables:
    """The terms of the peak, each tabulated over its own knobs."""

    states: Table
    activations: Table
    layers: Table
    held: Table | None
    """Layer inputs that adapters on a divided base hold once more; None where nothing is."""
    kinds: int


@dataclass(frozen=True, kw_only=True)
class MemoryTotals:
    """Peaks of many candidates, arrays of shape (n,)."""

    allocated_bytes: FloatArray
    """What tensors need. [B]"""
    reserved_bytes: FloatArray
    """What the allocator holds on a card with room for its cache. [B]"""
    device_bytes: FloatArray
    """What the driver must give, without cache taken only because it is free. [B]"""
    shown_bytes: FloatArray
    """What the driver shows on a card with room for the cache: reserved, communication buffers and context. [B]"""
    host_bytes_per_gpu: FloatArray
    """Host memory of one accelerator's rank. [B]"""

    def host_bytes(self, gpus: IntArray, gpus_per_node: int) -> FloatArray:
        """Give the host memory of one node, shape (n,). [B]"""
        return self.host_bytes_per_gpu * np.minimum(gpus, gpus_per_node)

    def bound_shown(self, capacity_bytes: float) -> FloatArray:
        """Give what the driver of a card shows, shape (n,): an allocator out of room frees its cache. [B]

        Args:
            capacity_bytes: Usable memory of the card. [B]
        """
        return np.maximum(np.minimum(self.shown_bytes, capacity_bytes), self.device_bytes)

    def bound_reserved(self, capacity_bytes: float) -> FloatArray:
        """Give what the allocator holds on a card, shape (n,): what its driver shows less what lies outside. [B]

        Args:
            capacity_bytes: Usable memory of the card. [B]
        """
        return self.reserved_bytes - (self.shown_bytes - self.bound_shown(capacity_bytes))

    def take(self, indices: NDArray[np.intp] | NDArray[np.bool_] | slice) -> MemoryTotals:
        """Give a subset."""
        return MemoryTotals(**{field.name: getattr(self, field.name)[indices] for field in fields(self)})


def resolve_overheads(calibration: Calibration) -> Overheads:
    """Give what the device needs beside tensors, from the calibration."""
    value = {name: coefficient.value for name, coefficient in calibration.memory.items()}
    return Overheads(
        context_bytes=value["context_bytes"],
        communicator_bytes=value["communicator_bytes"],
        fragmentation_fraction=value["fragmentation_fraction"],
        cache_fraction=value["cache_fraction"],
    )


def total_peak(peak: Peak, host_bytes_per_gpu: FloatArray) -> MemoryTotals:
    """Give the totals of a peak.

    Args:
        peak: Of some candidates, shape (n,). [B]
        host_bytes_per_gpu: Host memory of one accelerator's rank, shape (n,). [B]
    """
    return MemoryTotals(
        allocated_bytes=peak.allocated_bytes,
        reserved_bytes=peak.reserved_bytes,
        device_bytes=peak.device_bytes,
        shown_bytes=peak.shown_bytes,
        host_bytes_per_gpu=host_bytes_per_gpu,
    )


def evaluate_memory(
    work: Workload, recipe: Recipe, calibration: Calibration, strategies: Strategies, grid: Grid | None = None
) -> MemoryTotals:
    """Evaluate the memory of every strategy.

    Args:
        work: The job and its operators. [-]
        recipe: With which framework's habits. [-]
        calibration: Overheads of the device. [-]
        strategies: Legal ones; their arrays have shape (n,). [-]
        grid: Of these strategies, where it is shared. [-]

    Returns:
        Totals of shape (n,).
    """
    overheads = resolve_overheads(calibration)
    tables = tabulate_memory(work, recipe, overheads, grid or Grid(strategies))
    count = len(strategies)
    columns = {field.name: np.empty(count) for field in fields(MemoryTotals)}
    for start in range(0, count, BLOCK):
        block = slice(start, min(start + BLOCK, count))
        terms, host = gather_terms(tables, work, recipe, strategies, block)
        totals = total_peak(combine_peak(terms, overheads), host)
        for name, column in columns.items():
            column[block] = getattr(totals, name)
    return MemoryTotals(**columns)


def tabulate_memory(work: Workload, recipe: Recipe, overheads: Overheads, grid: Grid) -> MemoryTables:
    """Evaluate every memory term over the distinct combinations of its knobs."""
    job, operators = work.job, work.operators

    def states(pp: IntArray, vpp: IntArray, **knobs: IntArray) -> Mapping[str, FloatArray]:
        layers = split_layers(operators, pp, vpp)
        states_held = estimate_states(job, operators, recipe, layers, **knobs)
        buffers = estimate_buffers(job, operators, recipe, layers, **knobs)
        by_stage = {
            "weights": states_held.weights_bytes,
            "gradients": states_held.gradients_bytes,
            "optimizer": states_held.optimizer_bytes,
            "step_extra": states_held.step_extra_bytes,
            "initialisation": states_held.initialisation_bytes,
            "gathered": buffers.gathered_bytes,
            "buckets": buffers.bucket_bytes,
        }
        shape = np.broadcast_shapes(*(array.shape for array in by_stage.values()))
        columns = {
            f"{name}_{stage}": np.broadcast_to(array, shape)[position]
            for name, array in by_stage.items()
            for position, stage in enumerate(STAGES)
        }
        groups = {name: knobs[name] for name in ("tp", "cp", "ep", "dp")}
        columns["communication"] = estimate_communication_bytes(overheads, pp=pp, **groups)
        return columns | {"host": np.broadcast_to(states_held.host_bytes, shape).max(axis=0)}

    def activations(recompute: IntArray, **knobs: IntArray) -> Mapping[str, FloatArray]:
        kept = estimate_layer_kept_bytes(job, operators, recipe, recompute=recompute, **knobs)
        columns = {f"kept_{index}": kept[index] for index in range(len(operators.kinds))}
        columns["working"] = estimate_working_bytes(job, operators, recipe, recompute=recompute, **knobs)
        return columns | {"loss": estimate_loss_bytes(job, operators, recipe, **knobs)}

    def layers(pp: IntArray, vpp: IntArray, grad_accum: IntArray) -> Mapping[str, FloatArray]:
        split = split_layers(operators, pp, vpp)
        in_flight = estimate_in_flight(pp, vpp, grad_accum, split.index)
        columns = {
            f"count_{index}_{stage}": split.counts[position, index]
            for index in range(len(operators.kinds))
            for position, stage in enumerate(STAGES)
        }
        return columns | {f"in_flight_{stage}": in_flight[position] for position, stage in enumerate(STAGES)}

    def held_inputs(pp: IntArray, vpp: IntArray, **knobs: IntArray) -> Mapping[str, FloatArray]:
        inputs = estimate_held_input_bytes(job, operators, recipe, split_layers(operators, pp, vpp), **knobs)
        return {f"held_{stage}": inputs[position] for position, stage in enumerate(STAGES)}

    holds = not job.trains_all and recipe.adapter_held_inputs > 0
    return MemoryTables(
        states=grid.tabulate(states, ("tp", "pp", "vpp", "cp", "ep", "etp", "dp", "sharding")),
        activations=grid.tabulate(activations, ("tp", "sp", "cp", "micro_batch", "recompute")),
        layers=grid.tabulate(layers, ("pp", "vpp", "grad_accum")),
        held=grid.tabulate(held_inputs, ("pp", "vpp", "tp", "sp", "cp", "dp", "micro_batch", "sharding"))
        if holds
        else None,
        kinds=len(operators.kinds),
    )


def gather_terms(
    tables: MemoryTables, work: Workload, recipe: Recipe, strategies: Strategies, block: slice
) -> tuple[MemoryTerms, FloatArray]:
    """Gather the terms of one block of candidates, and the host memory of one accelerator."""
    states = tables.states.gather(block)
    activations = tables.activations.gather(block)
    layers = tables.layers.gather(block)
    offloaded = "activations" in work.job.offload
    kinds = range(tables.kinds)
    kept, host_kept = estimate_stage_kept_bytes(
        [activations[f"kept_{index}"] for index in kinds],
        [[layers[f"count_{index}_{stage}"] for index in kinds] for stage in STAGES],
        [layers[f"in_flight_{stage}"] for stage in STAGES],
        offloaded=offloaded,
    )
    held = None if tables.held is None else tables.held.gather(block)
    terms = MemoryTerms(
        **{name: [states[f"{name}_{stage}"] for stage in STAGES] for name in _BY_STAGE},
        kept=kept,
        held=None if held is None else [held[f"held_{stage}"] for stage in STAGES],
        working=activations["working"],
        loss=activations["loss"],
        communication=states["communication"],
        flat_step=bool(np.isfinite(recipe.step_group_parameters)),
        other_lengths_kept=recipe.other_lengths_kept,
        single_stage=strategies.pp[block] == 1,
        gradients_wait=(strategies.grad_accum[block] > 1) | recipe.persistent_gradients,
    )
    return terms, states["host"] + np.max(host_kept, axis=0) if offloaded else states["host"]

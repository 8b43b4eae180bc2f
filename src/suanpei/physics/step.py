"""Time of one optimizer step: layers, ends, pipeline, data parallelism and optimizer put together.

Only what is here runs once per candidate; everything below was tabulated over the distinct combinations of the knobs
that it depends on (``grid``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.data_parallel import DataKnobs, estimate_data_parallel
from suanpei.physics.layer import LayerKnobs, estimate_ends, estimate_layer
from suanpei.physics.memory.stages import STAGES, split_layers
from suanpei.physics.pipeline import estimate_bubble_s, estimate_send_per_micro_batch_s
from suanpei.physics.strategy import Sharding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from suanpei.physics.grid import Grid, Table
    from suanpei.physics.rates import Rates
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.strategy import Strategies
    from suanpei.physics.workload import Workload

    FloatArray = NDArray[np.float64]

LAYER_PARTS = ("products", "attention", "passes", "launch", "recompute", "tensor_comm", "context_comm", "expert_comm")
_LAYER_TOTALS = ("forward", "backward", "comm")


@dataclass(frozen=True, kw_only=True)
class StepTables:
    """The terms of a step, each tabulated over its own knobs."""

    layers: Table
    """Layers by kind, and the two ends."""
    stages: Table
    sends: Table
    data: Table
    kinds: int
    gathers: bool
    """Whether any candidate communicates weights or gradients every micro-batch."""


@dataclass(frozen=True, kw_only=True)
class StepTimes:
    """Times of one block of candidates, shape (n,) each. [s]"""

    seconds: FloatArray
    compute: FloatArray
    """Work of the fullest stage, communication and idle time apart."""
    exposed: FloatArray
    """Communication that nothing hides."""
    by_stage: tuple[FloatArray, FloatArray, FloatArray]
    """Forward and backward of one micro-batch by stage class, in the order of `STAGES`; with several stages only."""
    sharded: tuple[FloatArray, ...]
    """Exposed gathers and reductions of one layer and micro-batch, by kind."""
    sharded_ends: FloatArray
    bubble: FloatArray
    sends: FloatArray
    reduction: FloatArray
    optimizer: FloatArray
    overhead: float


def tabulate_step(work: Workload, rates: Rates, recipe: Recipe, grid: Grid, strategies: Strategies) -> StepTables:
    """Evaluate every term of the step over the distinct combinations of its knobs.

    Args:
        work: The job and its operators. [-]
        rates: Rates of the job on the cluster. [-]
        recipe: What the framework overlaps. [-]
        grid: The knobs' distinct values over the candidates. [-]
        strategies: The candidates. [-]

    Returns:
        Tables to gather from.
    """
    operators = work.operators

    def layers(**knobs: NDArray[np.int64]) -> Mapping[str, FloatArray]:
        arrays = LayerKnobs(work.job.seq_len, **knobs)
        columns: dict[str, FloatArray] = {}
        for index, kind in enumerate(operators.kinds):
            parts = estimate_layer(work, kind, rates, recipe, arrays)
            parts["comm"] = parts.pop("forward_comm") + parts.pop("backward_comm")
            columns |= {f"{name}_{index}": column for name, column in parts.items()}
        return columns | estimate_ends(
            work, rates, recipe, tp=knobs["tp"], cp=knobs["cp"], micro_batch=knobs["micro_batch"]
        )

    def stages(pp: NDArray[np.int64], vpp: NDArray[np.int64]) -> Mapping[str, FloatArray]:
        split = split_layers(operators, pp, vpp)
        return {
            f"{name}_{index}": getattr(split, name)[index] for index in range(len(operators.kinds)) for name in STAGES
        }

    return StepTables(
        layers=grid.tabulate(layers, LayerKnobs.NAMES),
        stages=grid.tabulate(stages, ("pp", "vpp")),
        sends=grid.tabulate(
            lambda **knobs: {
                "send": estimate_send_per_micro_batch_s(operators.hidden, work.job.seq_len, rates, **knobs)
            },
            ("tp", "sp", "cp", "pp", "dp", "micro_batch"),
        ),
        data=grid.tabulate(
            lambda **knobs: estimate_data_parallel(work, rates, recipe, DataKnobs(rates.domain_gpus, **knobs)),
            DataKnobs.NAMES,
        ),
        kinds=len(operators.kinds),
        gathers=bool(np.any(strategies.sharding >= Sharding.ZERO2)),
    )


def expose(comm_s: FloatArray, compute_s: FloatArray, hides: float, rates: Rates) -> FloatArray:
    """Give what communication beside compute adds to the time.

    What does not fit beside the compute, and at least a share of all of it: the kernels of a collective take
    multiprocessors and memory bandwidth from those of the model.

    Args:
        comm_s: Time of the communication alone, any shape. [s]
        compute_s: Time of the compute beside it. [s]
        hides: 1 where they run side by side, else 0. [-]
        rates: Gives the share. [-]

    Returns:
        Exposed time, broadcast shape. [s]
    """
    if not hides:
        return comm_s
    return np.maximum(comm_s - compute_s, rates.hidden_comm_cost * comm_s)


def combine_step(tables: StepTables, rates: Rates, strategies: Strategies, block: slice) -> StepTimes:
    """Put the terms of one block of candidates together.

    ``step = m · slowest stage + bubble + sends + exposed reduction + optimizer + overhead``

    Args:
        tables: The tabulated terms. [-]
        rates: Rates of the job on the cluster. [-]
        strategies: The candidates. [-]
        block: Which of them. [-]

    Returns:
        Times of the block.
    """
    pp, vpp, micro_batches = (
        knob[block].astype(np.float64) for knob in (strategies.pp, strategies.vpp, strategies.grad_accum)
    )
    names = tuple(f"{name}_{index}" for index in range(tables.kinds) for name in _LAYER_TOTALS)
    layer = tables.layers.gather(block, (*names, "embedding", "head"))
    stages = tables.stages.gather(block)
    data_names = ["reduce", "gather", "optimizer"]
    if tables.gathers:
        data_names += ["gather_ends", "return_ends"]
        data_names += [f"{name}_{index}" for index in range(tables.kinds) for name in ("gather", "return")]
    data = tables.data.gather(block, tuple(data_names))
    send = tables.sends.gather(block)["send"]
    totals: dict[str, FloatArray] = dict.fromkeys(STAGES, np.zeros(1))
    forward = backward = communication = np.zeros(1)
    sharded = []
    for index in range(tables.kinds):
        forward_k, backward_k = layer[f"forward_{index}"], layer[f"backward_{index}"]
        comm_k = layer[f"comm_{index}"]
        if tables.gathers:
            exposed = expose(data[f"gather_{index}"], forward_k, rates.hides_gathers, rates)
            exposed = exposed + expose(data[f"return_{index}"], backward_k, rates.hides_gathers, rates)
            comm_k = comm_k + exposed
            sharded.append(exposed)
        else:
            sharded.append(np.zeros(1))
        time_k = forward_k + backward_k + comm_k
        for stage in STAGES:
            totals[stage] = totals[stage] + stages[f"{stage}_{index}"] * time_k
        count = stages[f"middle_{index}"]
        forward = forward + count * forward_k
        backward = backward + count * backward_k
        communication = communication + count * comm_k
    sharded_ends = data["gather_ends"] + data["return_ends"] if tables.gathers else np.zeros(1)
    first = totals["first"] + layer["embedding"] + sharded_ends
    last = totals["last"] + layer["head"] + sharded_ends
    whole = totals["middle"] + layer["embedding"] + layer["head"] + sharded_ends
    piped = pp > 1
    slowest = np.where(piped, np.maximum(np.maximum(first, totals["middle"]), last), whole)
    all_stages = np.where(piped, first + (pp - 2.0) * totals["middle"] + last, whole)
    bubble = estimate_bubble_s(all_stages, slowest, vpp)
    # interleaved schedules send while they compute; the plain one waits for each transfer
    sends = 2.0 * send * (micro_batches * (vpp == 1) + (pp - 1.0))
    reduction = expose(data["reduce"], backward, rates.hides_gradients, rates)
    reduction = reduction + expose(data["gather"], forward, rates.hides_gathers, rates)
    seconds = micro_batches * slowest + bubble + sends + reduction + data["optimizer"] + rates.step_overhead_s
    ends_work = layer["head"] + np.where(piped, 0.0, layer["embedding"])
    compute = micro_batches * (forward + backward + ends_work) + data["optimizer"]
    return StepTimes(
        seconds=seconds,
        compute=compute,
        exposed=micro_batches * (communication + sharded_ends) + sends + reduction,
        by_stage=(first, totals["middle"], last),
        sharded=tuple(sharded),
        sharded_ends=sharded_ends,
        bubble=bubble,
        sends=sends,
        reduction=reduction,
        optimizer=data["optimizer"],
        overhead=rates.step_overhead_s,
    )


def explain_step(tables: StepTables, times: StepTimes, strategies: Strategies) -> dict[str, float]:
    """Give the parts of one candidate's step; they sum to its seconds.

    Args:
        tables: Tables of this one candidate. [-]
        times: Its combined times. [-]
        strategies: The candidate, shape (1,). [-]

    Returns:
        Seconds by part key of ``parts``. [s]
    """
    block = slice(0, 1)
    micro_batches = float(strategies.grad_accum[0])
    piped = int(strategies.pp[0]) > 1
    # with one stage the middle class is the whole model; of equal stages the last counts, which has the loss
    paces = [float(np.ravel(stage)[0]) for stage in times.by_stage]
    slowest = (
        STAGES[max(range(len(STAGES)), key=lambda stage: (paces[stage], stage != 1, stage))] if piped else "middle"
    )
    layer = tables.layers.gather(block)
    stages = tables.stages.gather(block)

    def over_layers(columns: Mapping[str, FloatArray], name: str) -> float:
        return micro_batches * sum(
            float(stages[f"{slowest}_{index}"][0] * columns[f"{name}_{index}"][0]) for index in range(tables.kinds)
        )

    sharded = {f"sharded_{index}": column for index, column in enumerate(times.sharded)}
    has_embedding, has_head = not piped or slowest == "first", not piped or slowest == "last"
    parts = {f"step_{name}": over_layers(layer, name) for name in LAYER_PARTS}
    parts["step_embedding"] = micro_batches * float(layer["embedding"][0]) if has_embedding else 0.0
    parts["step_head_and_loss"] = micro_batches * float(layer["head"][0]) if has_head else 0.0
    parts["step_sharded_comm"] = over_layers(sharded, "sharded")
    if has_embedding or has_head:
        parts["step_sharded_comm"] += micro_batches * float(times.sharded_ends[0])
    parts["step_gradient_comm"] = float(times.reduction[0])
    parts["step_pipeline_bubble"] = float(times.bubble[0])
    parts["step_pipeline_comm"] = float(times.sends[0])
    parts["step_optimizer"] = float(times.optimizer[0])
    parts["step_overhead"] = times.overhead
    return parts

"""The worked example of docs/physics.md: its arithmetic is right, and its numbers are those of the functions."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from suanpei.machine.cluster import build_cluster
from suanpei.machine.names import resolve_accelerator
from suanpei.physics.checkpoint import estimate_checkpoint_bytes
from suanpei.physics.compute import count_attention_pairs, estimate_attention_s, estimate_product_s
from suanpei.physics.data_parallel import DataKnobs, estimate_data_parallel
from suanpei.physics.evaluate import explain
from suanpei.physics.grid import Grid
from suanpei.physics.layer import LayerKnobs, estimate_ends, estimate_layer
from suanpei.physics.memory.activations import estimate_layer_kept_bytes, estimate_working_bytes
from suanpei.physics.memory.peak import combine_peak
from suanpei.physics.memory.totals import gather_terms, resolve_overheads, tabulate_memory
from suanpei.physics.rates import resolve_rates
from suanpei.physics.rule_of_thumb import apply_rule
from suanpei.physics.run import RunAssumptions, estimate_runs
from suanpei.physics.step_uncertainty import spread_step_time
from suanpei.physics.strategy import Recompute
from suanpei.physics.uncertainty import spread_need
from suanpei.physics.workload import build_workload
from suanpei.units import DAY_S, GIB_BYTES
from suanpei.verbs.inputs import load_inputs
from suanpei.verbs.job_request import JobRequest, build_job
from suanpei.verbs.strategy_request import StrategyRequest, choose_strategy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.verbs.inputs import Inputs
    from suanpei.verbs.strategy_request import ChosenStrategy

ROOT = Path(__file__).parents[2]
FROZEN = ROOT / "tests" / "data" / "catalog"

UNITS = {
    "": 1.0,
    "B": 1.0,
    "%": 0.01,
    "s": 1.0,
    "ms": 1e-3,
    "µs": 1e-6,
    "h": 3600.0,
    "days": 86400.0,
    "GB": 1e9,
    "GiB": 2.0**30,
    "GB/s": 1e9,
    "GFLOP": 1e9,
    "TFLOP": 1e12,
    "TFLOP/s": 1e12,
}


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a table of the example."""

    name: str
    arithmetic: str | None
    """None for what is given."""
    printed: str
    value: float
    """What is printed, in SI units."""
    last_digit: float
    """One unit of its last printed digit."""


def read_lines() -> dict[str, Line]:
    text = (ROOT / "docs" / "physics.md").read_text(encoding="utf-8")
    example = text[text.index('<a id="worked-example"></a>') :]
    lines: dict[str, Line] = {}
    for name, third, fourth in re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]*) \| ([^|]*) \|$", example, re.MULTILINE):
        is_given = not third.startswith("`")
        printed = third if is_given else fourth
        number, _, unit = printed.partition(" ")
        digits = len(number.partition(".")[2])
        assert name not in lines, name
        lines[name] = Line(
            name=name,
            arithmetic=None if is_given else third.strip("`"),
            printed=printed,
            value=float(number.replace(",", "")) * UNITS[unit],
            last_digit=10.0**-digits * UNITS[unit],
        )
    return lines


LINES = read_lines()


def compute(lines: Mapping[str, Line]) -> dict[str, float]:
    """Do the arithmetic of the document from top to bottom, with nothing of the package."""
    values: dict[str, float] = {}

    def product(rows: float, columns: float, depth: float) -> float:
        ends = [
            2
            * math.ceil(math.ceil(rows / r) * math.ceil(columns / c) / values["units"])
            * values["units"]
            * r
            * c
            * depth
            / (speed * values["product_rate"])
            for r, c, speed in ((256, 128, 1.0), (128, 128, 0.97), (128, 64, 0.86))
        ]
        traffic = 2 * (depth * (rows + columns) + rows * columns) / values["memory_rate"]
        return max(min(ends), traffic) + values["product_start"]

    def fill(size: float) -> float:
        return values["ramp"] / 2 * size / (size + 16 * 2**20)

    known = {
        "product": product,
        "fill": fill,
        "ceil": math.ceil,
        "max": max,
        "min": min,
        "sqrt": math.sqrt,
        "exp": math.exp,
        "__builtins__": {},
    }
    for line in lines.values():
        if line.arithmetic is None:
            values[line.name] = line.value
        else:
            python = line.arithmetic.replace("·", "*").replace("−", "-").replace("^", "**")
            values[line.name] = float(eval(python, known, values))  # noqa: S307 - our own document
    return values


@cache
def choose() -> tuple[Inputs, ChosenStrategy]:
    """What the command of the example evaluates."""
    inputs = load_inputs(FROZEN)
    cluster = build_cluster(inputs.catalogue, resolve_accelerator(inputs.catalogue, "A800").accelerator)
    job = build_job(JobRequest(model="llama-3-8b", tokens="20B"), inputs.catalogue, needs_data=True)
    asked = StrategyRequest(sharding="zero3", recompute="selective", micro_batch=1, recipe="fsdp")
    return inputs, choose_strategy(asked, job, cluster, 64, inputs)


@cache
def from_functions() -> dict[str, float]:
    """The same quantities from the package."""
    inputs, chosen = choose()
    estimates = chosen.estimates
    job, cluster, recipe, calibration = estimates.job, estimates.cluster, estimates.recipe, inputs.calibration
    strategies = estimates.strategies.take(np.array([chosen.row], dtype=np.intp))
    work = build_workload(job)
    rates = resolve_rates(job, cluster, recipe, calibration)
    knobs: dict[str, Any] = {name: getattr(strategies, name) for name in (*LayerKnobs.NAMES, *DataKnobs.NAMES)}
    (kind,) = work.operators.kinds
    layer_knobs = LayerKnobs(job.seq_len, **{name: knobs[name] for name in LayerKnobs.NAMES})
    layer = estimate_layer(work, kind, rates, recipe, layer_knobs)
    data = estimate_data_parallel(
        work, rates, recipe, DataKnobs(rates.domain_gpus, **{name: knobs[name] for name in DataKnobs.NAMES})
    )
    ends = estimate_ends(work, rates, recipe, tp=knobs["tp"], cp=knobs["cp"], micro_batch=knobs["micro_batch"])
    attention_forward, attention_backward = estimate_attention_s(kind.attention, job.seq_len, 1.0, rates, flash=True)
    estimate = explain(job, cluster, recipe, calibration, strategies)
    step, memory = estimate.step, estimate.memory
    overheads = resolve_overheads(calibration)
    terms, _ = gather_terms(
        tabulate_memory(work, recipe, overheads, Grid(strategies)), work, recipe, strategies, slice(0, 1)
    )
    peak = combine_peak(terms, overheads)
    kept_knobs = {name: knobs[name] for name in ("tp", "sp", "cp", "micro_batch")}
    spread = spread_step_time(calibration.evidence, estimate.setting)
    need = spread_need(calibration, job, recipe)
    run = estimate_runs(
        step.seconds,
        estimate.tokens_per_step,
        64,
        tokens=20e9,
        gpus_per_node=cluster.gpus_per_node,
        checkpoint_bytes=estimate_checkpoint_bytes(work, recipe),
        spread=spread,
        assumptions=RunAssumptions(),
    )
    explained = run.row(0)
    block = job.architecture.layers[0]
    assert block.mlp is not None
    generation, habit = calibration.generation("ampere"), calibration.recipe("fsdp")
    passes = {item.name: item.elements for item in kind.passes}
    nothing = np.array([int(Recompute.NONE)])

    def product(rows: int, columns: int, depth: int) -> float:
        return float(estimate_product_s(rows, columns, depth, rates))

    def once(values: Any) -> float:
        return float(np.ravel(values)[0])

    per_token = work.operators.order.size * job.seq_len
    shapes = {"qkv": (6144, 4096), "out": (4096, 4096), "up": (28672, 4096), "down": (4096, 14336)}
    products_forward = sum(product(8192, n, k) for n, k in shapes.values())
    passes_forward = once(layer["forward"]) - products_forward - float(attention_forward)
    found: dict[str, float] = {
        "layers": len(job.architecture.layers),
        "hidden": job.architecture.hidden,
        "ffn": block.mlp.ffn,
        "heads": block.attention.heads,
        "kv_heads": block.attention.kv_heads,
        "head_dim": block.attention.head_dim,
        "vocab": job.architecture.vocab,
        "seq_len": job.seq_len,
        "batch": estimate.global_batch_seqs,
        "cards": estimate.gpus,
        "domain": cluster.domain_gpus,
        "peak": rates.peak_flops_per_s,
        "bandwidth": cluster.accelerator.memory_bytes_per_s,
        "usable": memory.capacity_bytes,
        "units": rates.compute_units,
        "nvlink": cluster.scale_up.achievable_bytes_per_s,
        "network": cluster.scale_out.achievable_bytes_per_s,
        "nvlink_latency": rates.up.latency_s,
        "network_latency": rates.out.latency_s,
        "ramp": rates.out.ramp_s,
        **{
            name: generation[name].value
            for name in (
                "matrix_fraction",
                "attention_forward_fraction",
                "attention_backward_fraction",
                "memory_fraction",
            )
        },
        "product_start": rates.product_start_s,
        "nvlink_fraction": calibration.fabric("nvlink")["bandwidth_fraction"].value,
        "network_fraction": calibration.fabric("roce")["bandwidth_fraction"].value,
        "launch": rates.launch_s,
        "hidden_cost": habit["hidden_comm_cost"].value,
        "overhead": rates.step_overhead_s,
        "kernels": recipe.kernels_per_layer,
        "pass_traffic": habit["pass_traffic"].value,
        "weight_bytes": recipe.weight_bytes,
        "gather_bytes": recipe.gather_bytes,
        "gradient_bytes": recipe.gradient_bytes,
        "micro_batches": estimate.strategy.grad_accum,
        "layer_parameters": kind.tensor_parameters + kind.whole_parameters,
        "end_parameters": work.operators.embedding_parameters,
        "parameters": job.architecture.total_parameters,
        "product_rate": rates.product_flops_per_s,
        "attention_forward_rate": rates.attention_forward_flops_per_s,
        "attention_backward_rate": rates.attention_backward_flops_per_s,
        "memory_rate": rates.memory_bytes_per_s,
        "nvlink_rate": rates.up.ring_bytes_per_s,
        "network_rate": rates.out.ring_bytes_per_s,
        "qkv_by_hand": product(8192, 6144, 4096),
        **{name: product(8192, n, k) for name, (n, k) in shapes.items()},
        **{f"{name}_inputs": product(8192, k, n) for name, (n, k) in shapes.items()},
        **{f"{name}_weights": product(k, n, 8192) for name, (n, k) in shapes.items()},
        "products_forward": products_forward,
        "products_backward": once(layer["products"]) - products_forward,
        "pairs": count_attention_pairs(job.seq_len, None, causal=True) + job.seq_len * 64,
        "attention_forward": float(attention_forward),
        "attention_backward": float(attention_backward),
        "rotary": passes["rotary"],
        "norms": passes["norms"],
        "residual": passes["residual"],
        "activation": passes["mlp_activation"],
        "passes_forward": passes_forward,
        "passes_backward": once(layer["passes"]) - passes_forward,
        "forward": once(layer["forward"]),
        "launch_gap": once(layer["launch"]),
        "again": once(layer["recompute"]),
        "backward": once(layer["backward"]),
        "gather": once(data["gather_0"]),
        "back": once(data["return_0"]),
        "gather_ends": once(data["gather_ends"]),
        "back_ends": once(data["return_ends"]),
        "embedding": once(ends["embedding"]),
        "optimizer": step.parts["step_optimizer"],
        **{key: value for key, value in step.parts.items() if key in LINES},
        "step": step.seconds,
        "low": spread.factor(0.05),
        "high": spread.factor(0.95),
        "step_low": step.low_seconds,
        "step_high": step.high_seconds,
        "core_flops": work.forward_attention_flops_per_token(full=False),
        "token_flops": work.model_flops_per_token(),
        "speed": estimate.tokens_per_second_per_gpu,
        "mfu": estimate.mfu,
        "mfu_full_attention": estimate.mfu_full_attention,
        "hfu": estimate.hfu,
        "of_achievable": estimate.of_achievable,
        **{key: value for key, value in memory.parts.items() if key in LINES and value},
        "kept_per_token": memory.parts["kept_activations"] / per_token,
        "allocated": memory.allocated_bytes,
        "device": memory.device_bytes,
        "need_low": need.factor(0.05),
        "need_high": need.factor(0.95),
        "device_low": memory.low_bytes,
        "device_high": memory.high_bytes,
        "full_per_token": once(estimate_layer_kept_bytes(job, work.operators, recipe, recompute=nothing, **kept_knobs))
        / job.seq_len,
        "working_activations": once(
            estimate_working_bytes(
                job, work.operators, recipe, recompute=np.array([int(Recompute.SELECTIVE)]), **kept_knobs
            )
        ),
        "gradient_buckets": once(terms.buckets[2]),
        "backward_need": once(peak.by_phase[2]),
        "step_need": once(peak.by_phase[3]),
        "steps": explained.steps,
        "checkpoint": estimate_checkpoint_bytes(work, recipe),
        "blocking": explained.checkpoint_blocking_s,
        "between_stops": once(run.mean_time_between_stops_s),
        "interval": explained.checkpoint_interval_s,
        "stops": explained.expected_stops,
        **{key: value for key, value in explained.parts.items() if key in LINES},
        "days": explained.days * DAY_S,
        "rule_days": apply_rule(work, 20e9, 64, rates.peak_flops_per_s).days_at_40_percent * DAY_S,
    }
    assert memory.capacity_bytes == pytest.approx(79.15 * GIB_BYTES)
    assert (memory.phase, memory.verdict) == ("forward", "fits")
    return found


ONLY_STEPS_ON_THE_WAY = {
    "qkv_256_128",
    "qkv_128_128",
    "qkv_128_64",
    "qkv_traffic",
    "attention_flops",
    "bus",
    "latency",
    "exposed",
    "head",
    "loss",
    "reduce",
    "reduce_ends",
    "product_flops",
    "head_flops",
    "stretch",
}
"""Lines that no function returns alone; a later line that contains each of them is compared."""


def test_the_arithmetic_gives_the_printed_numbers() -> None:
    values = compute(LINES)
    wrong = {
        name: f"printed {line.printed}, arithmetic gives {values[name]:.9g} in SI units"
        for name, line in LINES.items()
        if abs(values[name] - line.value) > 0.501 * line.last_digit
    }
    assert wrong == {}


def test_the_numbers_are_those_of_the_functions() -> None:
    values, found = compute(LINES), from_functions()
    assert set(LINES) == set(found) | ONLY_STEPS_ON_THE_WAY
    wrong = {
        name: f"by hand {values[name]:.9g}, by function {value:.9g}"
        for name, value in found.items()
        if values[name] != pytest.approx(value, rel=1e-6, abs=1e-12)
    }
    assert wrong == {}


def test_every_part_that_is_not_zero_is_in_the_example() -> None:
    _, chosen = choose()
    estimate = chosen.estimates.row(chosen.row)
    parts = {**estimate.step.parts, **estimate.memory.parts}
    shown = set(LINES) | {"step_optimizer", "step_overhead"}
    assert {key for key, value in parts.items() if value} <= shown

"""The rates that one job meets on one cluster: peaks, achievable rates, latencies.

This is where data-sheet numbers, measured coefficients and the job's precision meet; the formulas of the other
modules take rates and know neither catalogue nor calibration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suanpei.job.job import Job, Precision
    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.calibration import Calibration, Coefficient
    from suanpei.machine.cluster import Cluster
    from suanpei.machine.fabric import Link
    from suanpei.physics.recipe import Recipe

PRODUCT_FORMAT: dict[Precision, str] = {
    "bf16": "bf16",
    "fp16": "fp16",
    "fp32": "fp32",
    "bf16-pure": "bf16",
    "fp16-pure": "fp16",
    "fp8": "fp8",
    "mxfp8": "fp8",
    "nvfp4": "fp4",
}
"""Number format of the linear products of each training precision."""

COMPUTE_FORMAT: dict[Precision, str] = {
    "bf16": "bf16",
    "fp16": "fp16",
    "fp32": "fp32",
    "bf16-pure": "bf16",
    "fp16-pure": "fp16",
    "fp8": "bf16",
    "mxfp8": "bf16",
    "nvfp4": "bf16",
}
"""Number format of everything else: attention, output layer, element-wise work."""

FORMAT_BYTES = {"fp32": 4.0, "tf32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "fp4": 0.5}


@dataclass(frozen=True, kw_only=True)
class LinkRates:
    """One fabric as a collective meets it."""

    ring_bytes_per_s: float
    """Bus bandwidth of all-gather and reduce-scatter. [B/s]"""
    all_reduce_bytes_per_s: float
    latency_s: float
    """Start-up time of one step. [s]"""
    ramp_s: float
    """Time to fill and drain the pipeline of chunks of a large all-reduce. [s]"""
    is_mesh: bool
    halves_share: float
    """Share of the rate that is left between the two halves of a server, 1 where a switch joins all. [-]"""


@dataclass(frozen=True, kw_only=True)
class Rates:
    """All rates of one job on one cluster under one recipe."""

    peak_flops_per_s: float
    """Dense peak of the format of the linear products: the denominator of MFU. [FLOP/s]"""
    product_flops_per_s: float
    """Achievable rate of large linear products. [FLOP/s]"""
    product_bytes: float
    """Bytes of one element that a linear product reads. [B]"""
    head_flops_per_s: float
    """Achievable rate of the output layer, which stays in 16 bits. [FLOP/s]"""
    compute_bytes: float
    """Bytes of one element of everything but the linear products. [B]"""
    memory_bytes_per_s: float
    """Achievable memory rate of element-wise passes. [B/s]"""
    attention_forward_flops_per_s: float
    attention_backward_flops_per_s: float
    pass_traffic: float
    """Memory traffic of element-wise work over that of fully fused kernels, a habit of the framework. [-]"""
    launch_s: float
    """Host time per kernel, a habit of the framework; the accelerator waits where its work is shorter. [s]"""
    product_start_s: float
    """Fixed time of one product. [s]"""
    compute_units: int
    """Multiprocessors that share the tiles of a product. [-]"""
    hides_gradients: float
    """1 where gradient communication runs beside the backward pass, else 0. [-]"""
    hides_gathers: float
    """1 where weight gathers run beside compute, else 0. [-]"""
    hidden_comm_cost: float
    """Share of the time of hidden communication that shows all the same: its kernels take multiprocessors and memory
    bandwidth from compute. [-]"""
    tensor_overlap: float
    """Share of tensor-parallel communication that hides behind products. [-]"""
    step_overhead_s: float
    """Time per step outside the model: data, logging, synchronisation. [s]"""
    host_bytes_per_s: float
    """Achievable rate between host and accelerator, per direction. [B/s]"""
    up: LinkRates
    """Inside a domain."""
    out: LinkRates
    """Between domains, per accelerator."""
    domain_gpus: int


def _peak(accelerator: Accelerator, number_format: str, field: str, given: str) -> float:
    peak = accelerator.peak_flops_per_s.get(number_format)
    if peak is None:
        raise InputError(
            Message(
                "{field}: {accelerator} has no {format} peak in the catalogue, so {given} cannot be planned on it; it"
                " has {available}",
                field=field,
                accelerator=accelerator.name,
                format=number_format,
                given=given,
                available=", ".join(sorted(accelerator.peak_flops_per_s)) or "none",
            )
        )
    return peak


GENERATION_COEFFICIENTS = (
    "matrix_fraction",
    "matrix_fraction_fp8",
    "memory_fraction",
    "attention_forward_fraction",
    "attention_backward_fraction",
    "newest_attention_gain",
    "newest_backward_gain",
    "product_start_s",
)
RECIPE_COEFFICIENTS = ("pass_traffic", "launch_s", "hidden_comm_cost", "tensor_overlap", "step_overhead_s")
FABRIC_COEFFICIENTS = ("bandwidth_fraction", "latency_s", "ramp_s")


def _read_values(found: Mapping[str, Coefficient], names: Sequence[str], place: str) -> dict[str, float]:
    absent = [name for name in names if name not in found]
    if absent:
        raise InputError(
            Message(
                "calibration: {place} lacks {names}; a file of an older version must be fitted anew",
                place=place,
                names=", ".join(absent),
            )
        )
    return {name: found[name].value for name in names}


def _link(link: Link, calibration: Calibration, domain_gpus: int = 1) -> LinkRates:
    value = _read_values(calibration.fabric(link.technology), FABRIC_COEFFICIENTS, f"fabrics.{link.technology}")
    fraction = value["bandwidth_fraction"]
    return LinkRates(
        ring_bytes_per_s=link.achievable_bytes_per_s * fraction,
        all_reduce_bytes_per_s=link.all_reduce_bytes_per_s * fraction,
        latency_s=value["latency_s"],
        ramp_s=value["ramp_s"],
        is_mesh=link.is_mesh,
        halves_share=link.halves_share if domain_gpus > link.one_socket_gpus else 1.0,
    )


def resolve_rates(job: Job, cluster: Cluster, recipe: Recipe, calibration: Calibration) -> Rates:
    """Bring data sheet, calibration and precision together.

    Args:
        job: Gives the precision. [-]
        cluster: Gives accelerator and fabrics. [-]
        recipe: Gives the coefficients of its overlap. [-]
        calibration: Achievable fractions by generation, recipe and fabric. [-]

    Returns:
        Rates in SI units.

    Raises:
        InputError: a coefficient is absent, or the accelerator does not run the precision (fp8 before Ada and Hopper,
            bf16 before Ampere).

    Valid for: coefficients of a generation that was measured; others fall back to ``default`` and say so in the
    evidence of the estimate.
    """
    accelerator = cluster.accelerator
    generation = accelerator.generation
    value = _read_values(calibration.generation(generation), GENERATION_COEFFICIENTS, f"generations.{generation}")
    habit = _read_values(calibration.recipe(recipe.name), RECIPE_COEFFICIENTS, f"recipes.{recipe.name}")
    product_format = PRODUCT_FORMAT[job.precision]
    compute_format = COMPUTE_FORMAT[job.precision]
    product_peak = _peak(accelerator, product_format, "precision", job.precision)
    compute_peak = _peak(accelerator, compute_format, "precision", job.precision)
    attention_peak = compute_peak * accelerator.sustained_fraction
    forward_gain = value["newest_attention_gain"] if recipe.newest_attention else 1.0
    backward_gain = value["newest_backward_gain"] if recipe.newest_attention else 1.0
    low_precision = product_format in ("fp8", "fp4")
    sustained = accelerator.sustained_fraction
    product_fraction = sustained * (value["matrix_fraction_fp8"] if low_precision else value["matrix_fraction"])
    return Rates(
        peak_flops_per_s=product_peak,
        product_flops_per_s=product_peak * product_fraction,
        product_bytes=FORMAT_BYTES[product_format],
        head_flops_per_s=compute_peak * sustained * value["matrix_fraction"],
        compute_bytes=FORMAT_BYTES[compute_format],
        memory_bytes_per_s=accelerator.memory_bytes_per_s * value["memory_fraction"],
        attention_forward_flops_per_s=attention_peak * forward_gain * value["attention_forward_fraction"],
        attention_backward_flops_per_s=attention_peak * backward_gain * value["attention_backward_fraction"],
        pass_traffic=habit["pass_traffic"],
        launch_s=habit["launch_s"],
        product_start_s=value["product_start_s"],
        compute_units=accelerator.compute_units or 1,
        hides_gradients=float(recipe.overlaps_gradients),
        hides_gathers=float(recipe.overlaps_gathers),
        hidden_comm_cost=habit["hidden_comm_cost"],
        tensor_overlap=habit["tensor_overlap"] if recipe.overlaps_tensor else 0.0,
        step_overhead_s=habit["step_overhead_s"],
        host_bytes_per_s=accelerator.pcie_bytes_per_s * HOST_LINK_FRACTION,
        up=_link(cluster.scale_up, calibration, cluster.domain_gpus),
        out=_link(cluster.scale_out, calibration),
        domain_gpus=cluster.domain_gpus,
    )


HOST_LINK_FRACTION = 0.8
"""Achievable share of the host link's line rate. Source: catalogue, fabrics.csv: PCIe 4.0 x16 25 of 31.5 GB/s, PCIe 5.0
x16 52 of 63 GB/s."""

"""What throughput rows measured, and how each source counts FLOPs."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.units import GIB_BYTES
from suanpei.validation.case import MEMORY_METRICS, FlopsRule, Measured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.validation.case import Bound, Metric
    from suanpei.validation.rows import Row

HARDWARE_FULL = FlopsRule(
    per_parameter=8, attention_passes=4, causal=False, counts_embedding=False, recomputes_head=False
)
"""Recomputation counted. Source: Narayanan et al., arXiv 2104.04473, equation 3: 96 B s l h² (1 + s/6h + V/16lh)."""
MODEL_FULL = FlopsRule(per_parameter=6, attention_passes=3, causal=False, counts_embedding=False)
MODEL_CAUSAL = FlopsRule(per_parameter=6, attention_passes=3, causal=True, counts_embedding=False)
ALL_FULL = FlopsRule(per_parameter=6, attention_passes=3, causal=False, counts_embedding=True)

FLOPS_RULES: Mapping[str, FlopsRule] = {
    "llmfoundry": ALL_FULL,
    "mbridge": MODEL_CAUSAL,
    "automodel": MODEL_CAUSAL,
    "moezoo": MODEL_CAUSAL,
    "nemo": MODEL_FULL,
    "papers": MODEL_FULL,
    "simumaxa100": MODEL_FULL,
    "bloom": HARDWARE_FULL,
    "megatron": HARDWARE_FULL,
    "internevo": HARDWARE_FULL,
}
"""What each source's TFLOPS count."""

PUBLISHED_PEAK_TFLOPS: Mapping[str, float] = {"A100-SXM4-80GB": 312.0, "A100-SXM4-40GB": 312.0}
"""Peak that papers divide by. Source: NVIDIA A100 datasheet, fp16 and bf16, dense."""


def read_flops_rule(row: Row) -> FlopsRule | None:
    """Give the definition behind a row's TFLOPS; None where its source's is not known."""
    if row.number("tflops_per_gpu") is None and row.number("mfu_pct") is not None:
        return MODEL_FULL
    return FLOPS_RULES.get(row.source)


def read_measured(row: Row, assumptions: list[Message]) -> tuple[Measured, ...]:
    """Read a row's figures: one speed, its memory under its own counter, and whether it ran.

    Raises:
        InputError: The row publishes nothing that can be compared.
    """
    measured: list[Measured] = []
    succeeded = row.text("outcome") != "oom"
    if succeeded:
        measured += _read_speed(row, assumptions)
        measured += read_memory(row.text("mem_kind"), row.number("peak_mem_gib"), "exact")
    measured.append(Measured(metric="fits", value=1.0 if succeeded else 0.0))
    if succeeded and len(measured) == 1:
        raise InputError(Message("the source publishes no comparable figure"))
    return tuple(measured)


def _read_speed(row: Row, assumptions: list[Message]) -> list[Measured]:
    """Give one speed figure: step time, else tokens per second, else TFLOPS by the source's own definition."""
    for metric, column in (("step_s", "step_time_s"), ("tokens_per_s_per_gpu", "tokens_per_s_per_gpu")):
        value = row.number(column)
        if value is not None:
            return [Measured(metric=cast("Metric", metric), value=value)]
    tflops = row.number("tflops_per_gpu")
    if tflops is not None and row.source in FLOPS_RULES:
        return [Measured(metric="tflops_per_gpu", value=tflops)]
    mfu_percent = row.number("mfu_pct")
    peak = PUBLISHED_PEAK_TFLOPS.get(row.text("gpu"))
    if row.source == "megatron" and mfu_percent is not None and peak is not None:
        assumptions.append(Message("TFLOPS from the published MFU of {peak} TFLOPS peak", peak=peak))
        return [Measured(metric="tflops_per_gpu", value=mfu_percent / 100 * peak)]
    return []


def read_memory(counter: str, peak_gib: float | None, bound: Bound) -> list[Measured]:
    """Give a memory figure under its own counter; a figure whose counter is unknown is compared with none.

    Args:
        counter: ``allocated``, ``reserved``, ``device``, or anything else for an unknown one.
        peak_gib: Peak; None is not published. [GiB]
        bound: What the figure says.
    """
    metric = f"{counter}_bytes"
    if peak_gib is None or metric not in MEMORY_METRICS:
        return []
    return [Measured(metric=metric, value=peak_gib * GIB_BYTES, bound=bound)]

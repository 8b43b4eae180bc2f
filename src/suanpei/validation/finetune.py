"""Rows of measured fine-tuning: memory above all, speed where the length is what was processed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.physics.strategy import Recompute, Sharding, Strategy
from suanpei.units import GIB_BYTES
from suanpei.validation.case import Bound, Case, ClusterRequest, Measured
from suanpei.validation.finetune_job import Layout, read_job
from suanpei.validation.habits import read_tuning_habits
from suanpei.validation.shapes import Shape, find_same_model, fit_to_parameter_count
from suanpei.validation.throughput_figures import read_memory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.job.architecture import Architecture
    from suanpei.job.job import Method
    from suanpei.validation.rows import Row

UNNAMED_GPU = "A100-SXM4-80GB"
"""The card assumed where the source names none: memory hardly depends on it."""

USABLE_SHARE = 0.985
"""Usable memory over the label in GiB. Source: accelerators.csv, 79.1 of 80, 47.4 of 48, 23.5 to 23.7 of 24."""

FULL_CARD_GIB = 80.0
"""A figure at which the sources mean that an 80 GB card was full."""

_SHARDINGS: Mapping[str, Sharding] = {"zero1": Sharding.ZERO1, "zero2": Sharding.ZERO2, "zero3": Sharding.ZERO3}
_RECOMPUTES: Mapping[str, Recompute] = {
    "full": Recompute.FULL,
    "none": Recompute.NONE,
    "selective": Recompute.SELECTIVE,
}


def read_finetune_case(row: Row, file: str) -> Case:
    """Read one row of measured fine-tuning.

    Args:
        row: The row.
        file: Stem of its file.

    Raises:
        InputError: The row cannot be predicted; the message is the reason.
    """
    if row.text("class") == "N":
        raise InputError(Message("not predictable: {reason}", reason=row.text("class_reason") or row.text("note")))
    assumptions: list[Message] = []
    method = _read_method(row)
    layout = _read_layout(row)
    strategy = _read_strategy(row, layout, assumptions)
    architecture = _read_architecture(row)
    job = read_job(row, method, layout, architecture, strategy, assumptions)
    gpu = row.text("gpu")
    if not gpu:
        gpu = UNNAMED_GPU
        assumptions.append(Message("accelerator not published: {gpu} assumed", gpu=gpu))
    return Case(
        case_id=row.case_id,
        file=file,
        kind="finetune",
        source=row.source,
        error_class=row.text("class"),
        repeat_group=row.text("repeat_group"),
        job=job,
        cluster=ClusterRequest(gpu=gpu, gpus_per_node=None, internode=""),
        recipe=layout.recipe,
        strategies=(strategy,),
        habits=read_tuning_habits(row, job, strategy),
        capacity_bytes=_read_capacity(row),
        measured=_read_measured(row, assumptions),
        assumptions=tuple(assumptions),
    )


def _read_method(row: Row) -> Method:
    method, plugin = row.text("method"), row.text("plugin")
    if method not in ("full", "lora", "qlora"):
        raise InputError(Message("the method {method} is not modelled", method=method))
    for other in ("galore", "lisa", "dora", "vllm"):
        if other in plugin:
            raise InputError(Message("the method {method} is not modelled", method=f"{method} + {plugin}"))
    if method == "lora" and row.text("quant"):
        return "qlora"
    return cast("Method", method)


def _read_layout(row: Row) -> Layout:
    """Read recipe and sharding; what no recipe describes is a reason to skip."""
    text, detail = row.text("sharding"), row.text("sharding_detail")
    megatron = re.fullmatch(r"megatron tp(\d+) pp(\d+) ep(\d+)", text)
    if megatron:
        tp, pp, ep = (int(degree) for degree in megatron.groups())
        return Layout(recipe="megatron", sharding=Sharding.ZERO1, tp=tp, pp=pp, ep=ep)
    if text in ("none", "ddp"):
        return Layout(recipe="ddp", sharding=Sharding.NONE)
    if text in _SHARDINGS:
        is_fsdp = "fsdp" in detail and text != "zero1"
        return Layout(recipe="fsdp" if is_fsdp else "deepspeed", sharding=_SHARDINGS[text])
    raise InputError(Message("no recipe has the sharding {sharding}", sharding=text or "blank"))


def _read_strategy(row: Row, layout: Layout, assumptions: list[Message]) -> Strategy:
    gpus = row.need_count("n_gpus")
    sequence_parallel = row.text("sequence_parallel")
    cp = int(sequence_parallel) if sequence_parallel.isdigit() else 1
    ranks = layout.tp * layout.pp * cp
    if gpus % ranks:
        raise InputError(
            Message(
                "{column} {given} is no multiple of tp · pp · cp = {product}",
                column="n_gpus",
                given=gpus,
                product=ranks,
            )
        )
    micro_batch, dp = row.need_count("micro_batch"), gpus // ranks
    accumulation = row.text("grad_accum")
    batch = re.fullmatch(r"global batch (\d+)", accumulation) or re.search(
        r"global (?:mini)?batch (\d+)", row.text("note")
    )
    if accumulation.isdigit():
        grad_accum = int(accumulation)
    elif batch:
        grad_accum = max(1, int(batch.group(1)) // (micro_batch * dp))
    else:
        grad_accum = 1
        assumptions.append(Message("gradient accumulation not published: 1 assumed"))
    recompute = row.text("recompute")
    if recompute not in _RECOMPUTES:
        raise InputError(Message("not published: {column}", column="recompute"))
    return Strategy(
        tp=layout.tp,
        sp=sequence_parallel == "tp" and layout.tp > 1,
        pp=layout.pp,
        cp=cp,
        ep=layout.ep,
        dp=dp,
        sharding=layout.sharding,
        recompute=_RECOMPUTES[recompute],
        micro_batch=micro_batch,
        grad_accum=grad_accum,
    )


def _read_architecture(row: Row) -> Architecture:
    name = row.text("model")
    known = find_same_model(row, name)
    if known is not None:
        return known
    parameters = row.number("params_b")
    if parameters is None:
        raise InputError(Message("not published: {column}", column="params_b"))
    heads, hidden = row.need_count("n_heads"), row.need_count("hidden")
    shape = Shape(
        name=name,
        layers=row.need_count("n_layers"),
        hidden=hidden,
        ffn=row.need_count("ffn_hidden"),
        heads=heads,
        kv_heads=row.count("n_kv_heads") or heads,
        head_dim=hidden // heads,
        vocab=row.need_count("vocab"),
        max_context=None,
        gated=True,
        tied=False,
        qkv_bias=bool(re.match(r"qwen(?!3)|chatglm|glm-?4", name, re.IGNORECASE)),
        query_key_norm=name.lower().startswith("qwen3"),
    )
    architecture, distance = fit_to_parameter_count(shape, parameters * 1e9)
    if abs(distance) > 0.05:
        raise InputError(
            Message(
                "architecture: the columns give {counted:.3g} billion parameters, the source {published:.3g}",
                counted=architecture.total_parameters / 1e9,
                published=parameters,
            )
        )
    return architecture


def _read_capacity(row: Row) -> float | None:
    """Give the memory of a card that is named by its size alone, such as ``24 GB GPU (budget)``. [B]"""
    label = re.search(r"(\d+) ?GB GPU", row.text("gpu_as_published"))
    return None if row.text("gpu") or label is None else float(label.group(1)) * GIB_BYTES * USABLE_SHARE


def _read_measured(row: Row, assumptions: list[Message]) -> tuple[Measured, ...]:
    succeeded = row.text("outcome") != "oom"
    fits = [Measured(metric="fits", value=1.0 if succeeded else 0.0)]
    if not row.text("gpu") and _read_capacity(row) is None:
        fits = []
    measured = _read_peaks(row, assumptions) + _read_speed(row) if succeeded else []
    if not measured and not fits:
        raise InputError(Message("the source publishes no comparable figure"))
    return (*measured, *fits)


def _read_peaks(row: Row, assumptions: list[Message]) -> list[Measured]:
    bound: Bound = "exact"
    if row.text("length_known") == "max_only":
        bound = "at_most_predicted"
        assumptions.append(Message("the length is only a maximum: the measurement must not exceed the prediction"))
    peak_gib = row.number("peak_mem_gib")
    peak_bound: Bound = bound
    if peak_gib == FULL_CARD_GIB:
        peak_bound = "at_least_predicted"
        assumptions.append(Message("a figure of {gib:g} GiB is a full card: the need must not exceed it", gib=peak_gib))
    if row.text("mem_kind") == "unknown" and peak_gib is not None:
        assumptions.append(Message("the memory counter is not published: the figure is compared with none"))
    peaks = read_memory(row.text("mem_kind"), peak_gib, peak_bound)
    return peaks + read_memory("allocated", row.number("peak_alloc_gib"), bound)


def _read_speed(row: Row) -> list[Measured]:
    """Give a speed only where every sequence has the job's length: a mean length says nothing of the padded work."""
    processed, seq_len = row.number("actual_tokens_per_seq"), row.number("seq_len")
    named = row.text("gpu") != ""
    if not named or processed is None or seq_len is None or abs(processed / seq_len - 1) > 0.01:
        return []
    tokens_per_s, step_s = row.number("tokens_per_s"), row.number("it_time_s")
    if tokens_per_s is not None:
        return [Measured(metric="tokens_per_s_per_gpu", value=tokens_per_s)]
    return [] if step_s is None else [Measured(metric="step_s", value=step_s)]

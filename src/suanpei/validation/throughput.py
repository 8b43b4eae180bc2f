"""Rows of measured training throughput: job, strategy, and what was measured."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from suanpei.errors import InputError
from suanpei.job.job import PRECISIONS, Job, Lora, Method, Precision
from suanpei.messages import Message
from suanpei.physics.strategy import Recompute, Sharding, Strategy
from suanpei.units import GIB_BYTES
from suanpei.validation.case import MEMORY_METRICS, Bound, Case, ClusterRequest, FlopsRule, Measured, Metric
from suanpei.validation.shapes import Shape, build_architecture, find_same_model, read_experts, read_gated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.job.architecture import Architecture
    from suanpei.validation.rows import Row

GPT_VOCAB = 51_200
"""GPT-2's 50,257 tokens padded as Megatron pads them for 8 tensor-parallel ranks (a multiple of 128 × 8)."""

FRAMEWORKS: tuple[tuple[str, str], ...] = (
    ("Composer FSDP", "fsdp"),
    ("torchtitan", "fsdp"),
    ("xformers FSDP", "fsdp"),
    ("Gemini", "deepspeed"),
    ("Megatron", "megatron"),
    ("MegaScale", "megatron"),
    ("NeMo", "megatron"),
    ("InternEvo", "megatron"),
    ("MindSpeed", "megatron"),
    ("ColossalAI", "megatron"),
    ("Primus", "megatron"),
    ("Meta internal", "megatron"),
)
"""Recipe of a framework: the first part of its name that matches."""

PRE_FLASH: tuple[str, ...] = ("Megatron-DeepSpeed", "Megatron-LM (Jan 2021)")
"""Frameworks whose published runs predate flash attention (arXiv 2205.14135) where the attention is not stated."""

_SHARDINGS: Mapping[str, Sharding] = {
    "none": Sharding.NONE,
    "ddp": Sharding.NONE,
    "zero1": Sharding.ZERO1,
    "zero2": Sharding.ZERO2,
    "zero3": Sharding.ZERO3,
}
_RECOMPUTES: Mapping[str, Recompute] = {
    "none": Recompute.NONE,
    "selective": Recompute.SELECTIVE,
    "full": Recompute.FULL,
}
_PRECISIONS: Mapping[str, str] = {"bf16+fp8 linear": "fp8"}
_METHODS: Mapping[str, Method] = {"pretrain": "pretrain", "sft": "full", "lora": "lora"}

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


def read_throughput_case(row: Row, file: str) -> Case:
    """Read one row of measured training.

    Args:
        row: The row.
        file: Stem of its file.

    Raises:
        InputError: The row cannot be predicted; the message is the reason.
    """
    if row.text("class") == "N":
        raise InputError(Message("not predictable: {reason}", reason=row.text("class_reason") or row.text("note")))
    assumptions: list[Message] = []
    architecture = _read_architecture(row, assumptions)
    strategies = _read_strategies(row, assumptions)
    job = _read_job(row, architecture, strategies[0].global_batch_seqs, assumptions)
    sharding = strategies[0].sharding
    recipe = find_recipe(row.text("framework"))
    if recipe == "megatron" and sharding in (Sharding.ZERO2, Sharding.ZERO3):
        recipe = "fsdp"
    return Case(
        case_id=row.case_id,
        file=file,
        kind="throughput",
        source=row.source,
        error_class=row.text("class"),
        set_name=row.text("set"),
        repeat_group=row.text("repeat_group"),
        job=replace(job, assumptions=()),
        cluster=ClusterRequest(
            gpu=_need_text(row, "gpu"), gpus_per_node=row.count("gpus_per_node"), internode=row.text("internode")
        ),
        recipe=recipe,
        strategies=strategies,
        exposed_collectives="comm overlap features off" in row.text("note"),
        flops_rule=_read_flops_rule(row),
        measured=_read_measured(row, assumptions),
        assumptions=tuple(assumptions),
    )


def find_recipe(framework: str) -> str:
    """Find the recipe of a framework's name.

    Raises:
        InputError: No recipe describes the framework.
    """
    for part, recipe in FRAMEWORKS:
        if part.lower() in framework.lower():
            return recipe
    raise InputError(Message("no recipe describes the framework {framework}", framework=framework))


def _need_text(row: Row, column: str) -> str:
    text = row.text(column)
    if not text:
        raise InputError(Message("not published: {column}", column=column))
    return text


def _read_architecture(row: Row, assumptions: list[Message]) -> Architecture:
    name = row.text("model")
    gated = read_gated(row)
    known = find_same_model(row, name) if gated else None
    if known is not None:
        return known
    if row.count("moe_experts") is not None and row.number("head_dim") is None:
        raise InputError(Message("architecture: no bundled model has the latent attention of {model}", model=name))
    vocab = row.count("vocab")
    if vocab is None:
        vocab = GPT_VOCAB if not gated else 32_000
        assumptions.append(Message("vocabulary not published: {vocab} assumed", vocab=vocab))
    heads, hidden = row.need_count("n_heads"), row.need_count("hidden")
    is_bloom = row.source == "bloom" or name.lower().startswith("bloom")
    shape = Shape(
        name=name,
        layers=row.need_count("n_layers"),
        hidden=hidden,
        ffn=row.need_count("ffn_hidden"),
        heads=heads,
        kv_heads=row.count("n_kv_heads") or heads,
        head_dim=row.count("head_dim") or hidden // heads,
        vocab=vocab,
        max_context=None,
        gated=gated,
        tied=not gated,
        qkv_bias=bool(re.match(r"qwen(?!3)|chatglm|glm-?4", name, re.IGNORECASE)),
        all_biases=not gated,
        learned_positions=row.need_count("seq_len") if not gated and not is_bloom else 0,
        embedding_norm=is_bloom,
        query_key_norm=name.lower().startswith("qwen3"),
        experts=read_experts(row, gated),
    )
    return build_architecture(shape)


def _read_strategies(row: Row, assumptions: list[Message]) -> tuple[Strategy, ...]:
    tp, pp, dp = row.need_count("tp"), row.need_count("pp"), row.need_count("dp")
    micro_batch = row.need_count("micro_batch_seqs")
    global_batch = row.need_count("global_batch_seqs")
    grad_accum = row.count("grad_accum")
    if grad_accum is None:
        if global_batch % (micro_batch * dp):
            raise InputError(
                Message(
                    "global batch {batch} is no multiple of micro batch {micro} × dp {dp}",
                    batch=global_batch,
                    micro=micro_batch,
                    dp=dp,
                )
            )
        grad_accum = global_batch // (micro_batch * dp)
    vpp = row.count("vpp")
    if vpp is None:
        vpp = 1
        if pp > 1:
            assumptions.append(Message("interleaving not published: none assumed"))
    sharding = _read_sharding(row, assumptions)
    base = Strategy(
        tp=tp,
        sp=_read_sp(row, tp, assumptions),
        pp=pp,
        vpp=vpp,
        cp=row.count("cp") or 1,
        ep=row.count("ep") or 1,
        dp=dp,
        sharding=sharding,
        micro_batch=micro_batch,
        grad_accum=grad_accum,
    )
    gpus = row.count("n_gpus")
    if gpus is not None and gpus != base.gpus:
        raise InputError(
            Message("tp · cp · pp · dp = {product}, but {column} is {given}", product=base.gpus, column="n_gpus", given=gpus)
        )
    shard_ranks = row.count("optimizer_shard_ranks")
    if shard_ranks is not None and shard_ranks < dp * base.cp:
        assumptions.append(
            Message("optimizer states are sharded over {ranks} ranks: all data-parallel ranks assumed", ranks=shard_ranks)
        )
    return _read_recompute(row, base, assumptions)


def _read_recompute(row: Row, base: Strategy, assumptions: list[Message]) -> tuple[Strategy, ...]:
    text = row.text("recompute")
    if not text:
        assumptions.append(Message("recomputation not published: the least that fits is assumed"))
        return tuple(replace(base, recompute=recompute) for recompute in Recompute)
    if text not in _RECOMPUTES:
        raise InputError(Message("{column} must be one of {kinds}, got {given!r}", column="recompute", kinds=", ".join(_RECOMPUTES), given=text))
    for column in ("recompute_detail", "recompute_layers"):
        if row.text(column):
            assumptions.append(
                Message(
                    "{column} {detail}: the recipe's {policy} recomputation is assumed",
                    column=column,
                    detail=row.text(column),
                    policy=text,
                )
            )
    return (replace(base, recompute=_RECOMPUTES[text]),)


def _read_sharding(row: Row, assumptions: list[Message]) -> Sharding:
    text = row.text("sharding")
    if text in _SHARDINGS:
        return _SHARDINGS[text]
    if text:
        raise InputError(Message("no recipe has the sharding {sharding}", sharding=text))
    sharding = Sharding.NONE if "Megatron-DeepSpeed" in row.text("framework") else Sharding.ZERO1
    assumptions.append(Message("sharding not published: {sharding} assumed, the framework's habit", sharding=sharding.name.lower()))
    return sharding


def _read_sp(row: Row, tp: int, assumptions: list[Message]) -> bool:
    text = row.text("sp")
    if tp == 1 or text:
        return tp > 1 and text == "yes"
    # sequence parallelism came with arXiv 2205.05198 (2022-05); later Megatron recipes switch it on with tp
    released = row.text("software_release")
    early = row.text("framework") == "Megatron-DeepSpeed" or bool(re.match(r"20(21|22)-", released))
    assumptions.append(
        Message("sequence parallelism not published: off assumed")
        if early
        else Message("sequence parallelism not published: on assumed")
    )
    return not early


def _read_job(row: Row, architecture: Architecture, batch_seqs: int, assumptions: list[Message]) -> Job:
    task = row.text("task") or "pretrain"
    if task not in _METHODS:
        raise InputError(Message("the method {method} is not modelled", method=task))
    method = _METHODS[task]
    precision = _PRECISIONS.get(row.text("precision"), row.text("precision"))
    if precision not in PRECISIONS:
        raise InputError(Message("{column} must be one of {kinds}, got {given!r}", column="precision", kinds=", ".join(PRECISIONS), given=precision))
    lora = None
    if method == "lora":
        lora = Lora()
        assumptions.append(Message("LoRA rank and targets not published: rank {rank} on all products assumed", rank=lora.rank))
    if row.text("compiled") == "yes":
        assumptions.append(Message("compiled layers are predicted as eager ones"))
    return Job(
        architecture=architecture,
        method=method,
        seq_len=row.need_count("seq_len"),
        global_batch_seqs=batch_seqs,
        batch_is_exact=True,
        precision=cast("Precision", precision),
        lora=lora,
        flash_attention=_read_flash(row, assumptions),
        loss="in-place" if row.text("fused_loss") == "yes" else "plain",
        capacity_factor=_read_capacity(row.text("dispatcher"), assumptions),
    )


def _read_flash(row: Row, assumptions: list[Message]) -> bool:
    text = row.text("attention")
    if text:
        return "unfused" not in text
    early = any(name in row.text("framework") for name in PRE_FLASH)
    if early or re.match(r"20(21|22)-", row.text("software_release")):
        assumptions.append(Message("attention kernel not published: unfused assumed, before flash attention"))
        return False
    return True


def _read_capacity(dispatcher: str, assumptions: list[Message]) -> float | None:
    capacity = re.search(r"capacity (\d+(?:\.\d+)?)", dispatcher)
    if capacity:
        return float(capacity.group(1))
    if "drop" in dispatcher.split("+"):
        assumptions.append(Message("capacity factor not published: 1 assumed with token drop"))
        return 1.0
    return None


def _read_flops_rule(row: Row) -> FlopsRule | None:
    if row.number("tflops_per_gpu") is None and row.number("mfu_pct") is not None:
        return MODEL_FULL
    return FLOPS_RULES.get(row.source)


def _read_measured(row: Row, assumptions: list[Message]) -> tuple[Measured, ...]:
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
    return [Measured(metric=cast("Metric", metric), value=peak_gib * GIB_BYTES, bound=bound)]

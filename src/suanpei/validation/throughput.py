"""Rows of measured training throughput: job, strategy, and what was measured."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.job.job import PRECISIONS, Job, Lora, Method
from suanpei.messages import Message
from suanpei.physics.strategy import Sharding
from suanpei.validation.case import Case, ClusterRequest
from suanpei.validation.habits import read_habits
from suanpei.validation.shapes import Shape, build_architecture, find_same_model, read_experts, read_gated
from suanpei.validation.throughput_figures import read_flops_rule, read_measured
from suanpei.validation.throughput_layout import read_strategies

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

_PRECISIONS: Mapping[str, str] = {"bf16+fp8 linear": "fp8"}
_METHODS: Mapping[str, Method] = {"pretrain": "pretrain", "sft": "full", "lora": "lora"}


DEFAULT_OVERLAPS: tuple[tuple[str, frozenset[str]], ...] = (
    ("NeMo", frozenset({"dp", "tp"})),
    ("Megatron-Bridge", frozenset({"dp", "tp"})),
    ("Megatron-Core", frozenset({"dp", "tp"})),
    ("Megatron", frozenset()),
    ("MindSpeed", frozenset()),
    ("MegaScale", frozenset()),
)
"""What a framework overlaps unless told otherwise, by a part of its name; the first that fits counts."""


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
    strategies = read_strategies(row, assumptions)
    job = _read_job(row, architecture, strategies[0].global_batch_seqs, assumptions)
    sharding = strategies[0].sharding
    recipe = find_recipe(row.text("framework"))
    if recipe == "megatron" and sharding in (Sharding.ZERO2, Sharding.ZERO3):
        recipe = "fsdp"
    elif recipe == "megatron" and _predates_flash(row):
        recipe = "megatron-2021"
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
        overlaps=read_overlaps(row.text("framework"), row.text("overlap")),
        habits=read_habits(row, job),
        flops_rule=read_flops_rule(row),
        measured=read_measured(row, assumptions),
        assumptions=tuple(assumptions),
    )


def read_overlaps(framework: str, column: str) -> frozenset[str] | None:
    """Read which collectives ran beside compute: what the source says, else the framework's default.

    Megatron-LM, its DeepSpeed fork and MindSpeed overlap nothing unless a flag asks for it (``--overlap-grad-reduce``,
    ``--tp-comm-overlap``: Megatron-LM ``arguments.py``); NeMo and Megatron-Bridge switch both on in their performance
    recipes (NeMo documentation, "Communication overlap"), and so do the published runs of Megatron-Core (Megatron-LM
    README, "Training Speed and Scalability").

    Args:
        framework: As published.
        column: ``dp``, ``tp``, ``ep``, ``pp`` joined by commas; ``no``; blank for the default.

    Returns:
        What overlaps; None for frameworks whose recipe says it.
    """
    if column == "no":
        return frozenset()
    stated = frozenset(part.strip() for part in column.split(",") if part.strip())
    for part, default in DEFAULT_OVERLAPS:
        if part.lower() in framework.lower():
            return stated | default
    return stated or None


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
        experts=read_experts(row, gated=gated),
    )
    return build_architecture(shape)


def _read_job(row: Row, architecture: Architecture, batch_seqs: int, assumptions: list[Message]) -> Job:
    task = row.text("task") or "pretrain"
    if task not in _METHODS:
        raise InputError(Message("the method {method} is not modelled", method=task))
    method = _METHODS[task]
    precision = _PRECISIONS.get(row.text("precision"), row.text("precision"))
    if precision not in PRECISIONS:
        raise InputError(
            Message(
                "{column} must be one of {kinds}, got {given!r}",
                column="precision",
                kinds=", ".join(PRECISIONS),
                given=precision,
            )
        )
    lora = None
    if method == "lora":
        lora = Lora()
        assumptions.append(
            Message("LoRA rank and targets not published: rank {rank} on all products assumed", rank=lora.rank)
        )
    if row.text("compiled") == "yes":
        assumptions.append(Message("compiled layers are predicted as eager ones"))
    return Job(
        architecture=architecture,
        method=method,
        seq_len=row.need_count("seq_len"),
        global_batch_seqs=batch_seqs,
        batch_is_exact=True,
        precision=precision,
        lora=lora,
        flash_attention=_read_flash(row, assumptions),
        loss="in-place" if row.text("fused_loss") == "yes" else "plain",
        capacity_factor=_read_capacity(row.text("dispatcher"), assumptions),
    )


def _read_flash(row: Row, assumptions: list[Message]) -> bool:
    text = row.text("attention")
    if text:
        return "unfused" not in text
    if _predates_flash(row):
        assumptions.append(Message("attention kernel not published: unfused assumed, before flash attention"))
        return False
    return True


def _predates_flash(row: Row) -> bool:
    """Whether the software is of 2021 or 2022: by its name or release, else by attention that is said to be unfused."""
    released = row.text("software_release")
    if any(name in row.text("framework") for name in PRE_FLASH) or re.match(r"20(21|22)-", released):
        return True
    return not released and "unfused" in row.text("attention")


def _read_capacity(dispatcher: str, assumptions: list[Message]) -> float | None:
    capacity = re.search(r"capacity (\d+(?:\.\d+)?)", dispatcher)
    if capacity:
        return float(capacity.group(1))
    if "drop" in dispatcher.split("+"):
        assumptions.append(Message("capacity factor not published: 1 assumed with token drop"))
        return 1.0
    return None

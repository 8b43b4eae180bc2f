"""How a fine-tuning row trains: method, precision, optimizer, adapters, base storage, loss, offload."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from suanpei.errors import InputError
from suanpei.job.job import LORA_TARGETS, Job, Lora
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.job.architecture import Architecture
    from suanpei.job.job import BaseStorage, LoraTarget, LossKernel, Method, Optimizer, Precision
    from suanpei.physics.strategy import Sharding, Strategy
    from suanpei.validation.rows import Row

_TARGETS: Mapping[str, tuple[LoraTarget, ...]] = {
    "q_proj": ("q",),
    "k_proj": ("k",),
    "v_proj": ("v",),
    "o_proj": ("o",),
    "gate_proj": ("gate",),
    "up_proj": ("up",),
    "down_proj": ("down",),
    "q": ("q",),
    "k": ("k",),
    "v": ("v",),
    "o": ("o",),
    "gate": ("gate",),
    "up": ("up",),
    "down": ("down",),
    "c_attn": ("q", "k", "v"),
    "c_proj": ("o", "down"),
    "w1": ("gate",),
    "w2": ("up",),
    "self_attn": ("q", "k", "v", "o"),
    "linear_qkv": ("q", "k", "v"),
    "qv": ("q", "v"),
    "qkv": ("q", "k", "v"),
    "all": LORA_TARGETS,
    "all-linear": LORA_TARGETS,
}
"""Module names as frameworks write them; ``c_proj`` of Qwen-1 names the output products of attention and MLP alike."""

_STORAGES: tuple[tuple[str, BaseStorage], ...] = (
    ("nf4-dq", "nf4-dq"),
    ("nf4", "nf4"),
    ("int8", "int8"),
    ("gptq", "gptq-int4"),
    ("awq", "gptq-int4"),
    ("bnb", "nf4"),
    ("int4", "nf4"),
)
"""Storage of a quantised base: the first part of the published name that matches; AWQ has GPTQ's four-bit layout."""

_LOSSES: Mapping[str, LossKernel] = {
    "liger": "fused",
    "cut_cross_entropy": "fused",
    "chunked": "fused",
    "unsloth": "in-place",
    "megatron": "in-place",
}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Recipe, sharding and degrees of a row."""

    recipe: str
    sharding: Sharding
    tp: int = 1
    pp: int = 1
    ep: int = 1


def read_job(
    row: Row,
    method: Method,
    layout: Layout,
    architecture: Architecture,
    strategy: Strategy,
    assumptions: list[Message],
) -> Job:
    """Read the job of a row.

    Raises:
        InputError: Something that the memory depends on is blank or not modelled.
    """
    adapters = method in ("lora", "qlora")
    return Job(
        architecture=architecture,
        method=method,
        seq_len=row.need_count("seq_len"),
        global_batch_seqs=strategy.global_batch_seqs,
        batch_is_exact=True,
        precision=_read_precision(row, method, layout, assumptions),
        optimizer=_read_optimizer(row, adapters=adapters),
        lora=_read_lora(row) if adapters else None,
        base_storage=_read_storage(row.text("quant")) if method == "qlora" else None,
        flash_attention=row.text("flash_attn") != "no",
        loss=_read_loss(row),
        offload=_read_offload(row, assumptions),
    )


def _read_loss(row: Row) -> LossKernel:
    """Read the loss kernel; unsloth's own trainer computes the loss with the head, other users of its kernel apart."""
    if row.text("framework") == "unsloth":
        return "fused"
    return _LOSSES.get(row.text("fused_loss"), "plain")


def _read_precision(row: Row, method: Method, layout: Layout, assumptions: list[Message]) -> Precision:
    text = row.text("precision")
    if not text and method != "full":
        return "bf16"
    if text not in ("bf16", "fp16", "fp32", "bf16-pure", "fp16-pure"):
        raise InputError(Message("not published: {column}", column="precision"))
    if (
        method == "full"
        and layout.recipe == "ddp"
        and text == "bf16"
        and row.text("precision_detail") in ("bf16", "bfloat16", "bfloat16 weights + bf16 AMP")
    ):
        # the Hugging Face trainers load the weights in 16 bits and, without DeepSpeed, keep no fp32 copy
        assumptions.append(Message("weights loaded in 16 bits without an fp32 copy assumed"))
        return "bf16-pure"
    return cast("Precision", text)


def _read_optimizer(row: Row, *, adapters: bool) -> Optimizer:
    text = row.text("optimizer").lower()
    if "8bit" in text:
        return "adamw-8bit"
    if "adam" in text or (not text and adapters):
        return "adamw"
    if text in ("muon", "adafactor", "sgd"):
        return cast("Optimizer", text)
    raise InputError(
        Message("the optimizer {optimizer} is not modelled", optimizer=text)
        if text
        else Message("not published: {column}", column="optimizer")
    )


def _read_lora(row: Row) -> Lora:
    return Lora(rank=row.need_count("lora_rank"), targets=read_lora_targets(row.text("lora_targets")))


def read_lora_targets(text: str) -> tuple[LoraTarget, ...]:
    """Read LoRA targets as frameworks write them; ``DEFAULT`` is ms-swift's, the attention inputs.

    Args:
        text: Module names, a phrase such as ``all-linear``, or ``DEFAULT (qkv: …)``.

    Returns:
        Targets in their usual order.

    Raises:
        InputError: A name is not a product that adapters are modelled on.
    """
    phrase = text.strip().lower()
    names = ["qkv"] if phrase.startswith("default") else re.findall(r"[a-z0-9_-]+", phrase.split(" (")[0])
    unknown = [name for name in names if name not in _TARGETS]
    if unknown or not names:
        raise InputError(Message("LoRA targets are not modelled: {targets}", targets=text or "blank"))
    chosen = {target for name in names for target in _TARGETS[name]}
    return tuple(target for target in LORA_TARGETS if target in chosen)


def _read_storage(quant: str) -> BaseStorage:
    for part, storage in _STORAGES:
        if part in quant:
            return storage
    raise InputError(Message("the base storage {storage} is not modelled", storage=quant or "blank"))


def _read_offload(row: Row, assumptions: list[Message]) -> frozenset[Literal["optimizer", "parameters", "activations"]]:
    text, detail = row.text("offload"), row.text("offload_detail")
    kept = {name for name in ("optimizer", "parameters", "activations") if name in f"{text} {detail}"}
    if text and not kept:
        assumptions.append(Message("what is offloaded is not published: parameters and optimizer states assumed"))
        kept = {"optimizer", "parameters"}
    return frozenset(cast("set[Literal['optimizer', 'parameters', 'activations']]", kept))

"""Rows of measured fine-tuning: memory above all, speed where the length is what was processed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from suanpei.errors import InputError
from suanpei.job.job import LORA_TARGETS, BaseStorage, Job, Lora, LoraTarget, LossKernel, Method, Optimizer, Precision
from suanpei.messages import Message
from suanpei.physics.strategy import Recompute, Sharding, Strategy
from suanpei.validation.case import Bound, Case, ClusterRequest, Measured
from suanpei.validation.shapes import Shape, find_same_model, fit_to_parameter_count
from suanpei.validation.throughput import read_memory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.job.architecture import Architecture
    from suanpei.validation.rows import Row

UNNAMED_GPU = "A100-SXM4-80GB"
"""The card assumed where the source names none: memory hardly depends on it."""

FULL_CARD_GIB = 80.0
"""A figure at which the sources mean that an 80 GB card was full."""

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

_RECOMPUTES: Mapping[str, Recompute] = {
    "full": Recompute.FULL,
    "none": Recompute.NONE,
    "selective": Recompute.SELECTIVE,
}


@dataclass(frozen=True, kw_only=True)
class _Layout:
    recipe: str
    sharding: Sharding
    tp: int = 1
    pp: int = 1
    ep: int = 1


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
        job=_read_job(row, method, layout, architecture, strategy, assumptions),
        cluster=ClusterRequest(gpu=gpu, gpus_per_node=None, internode=""),
        recipe=layout.recipe,
        strategies=(strategy,),
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


def _read_layout(row: Row) -> _Layout:
    """Read recipe and sharding; what no recipe describes is a reason to skip."""
    text, detail = row.text("sharding"), row.text("sharding_detail")
    megatron = re.fullmatch(r"megatron tp(\d+) pp(\d+) ep(\d+)", text)
    if megatron:
        tp, pp, ep = (int(degree) for degree in megatron.groups())
        return _Layout(recipe="megatron", sharding=Sharding.ZERO1, tp=tp, pp=pp, ep=ep)
    if text == "none":
        return _Layout(recipe="ddp", sharding=Sharding.NONE)
    if text in ("zero2", "zero3"):
        sharding = Sharding.ZERO2 if text == "zero2" else Sharding.ZERO3
        return _Layout(recipe="fsdp" if "fsdp" in detail else "deepspeed", sharding=sharding)
    raise InputError(Message("no recipe has the sharding {sharding}", sharding=text or "blank"))


def _read_strategy(row: Row, layout: _Layout, assumptions: list[Message]) -> Strategy:
    gpus = row.need_count("n_gpus")
    sequence_parallel = row.text("sequence_parallel")
    cp = int(sequence_parallel) if sequence_parallel.isdigit() else 1
    ranks = layout.tp * layout.pp * cp
    if gpus % ranks:
        raise InputError(
            Message("{column} {given} is no multiple of tp · pp · cp = {product}", column="n_gpus", given=gpus, product=ranks)
        )
    micro_batch, dp = row.need_count("micro_batch"), gpus // ranks
    accumulation = row.text("grad_accum")
    batch = re.fullmatch(r"global batch (\d+)", accumulation)
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


def _read_job(
    row: Row,
    method: Method,
    layout: _Layout,
    architecture: Architecture,
    strategy: Strategy,
    assumptions: list[Message],
) -> Job:
    adapters = method in ("lora", "qlora")
    return Job(
        architecture=architecture,
        method=method,
        seq_len=row.need_count("seq_len"),
        global_batch_seqs=strategy.global_batch_seqs,
        batch_is_exact=True,
        precision=_read_precision(row, method, layout, assumptions),
        optimizer=_read_optimizer(row, adapters),
        lora=_read_lora(row) if adapters else None,
        base_storage=_read_storage(row.text("quant")) if method == "qlora" else None,
        flash_attention=row.text("flash_attn") != "no",
        loss=_LOSSES.get(row.text("fused_loss"), "plain"),
        offload=_read_offload(row, assumptions),
    )


def _read_precision(row: Row, method: Method, layout: _Layout, assumptions: list[Message]) -> Precision:
    text = row.text("precision")
    if not text and method != "full":
        return "bf16"
    if text not in ("bf16", "fp16", "fp32", "bf16-pure", "fp16-pure"):
        raise InputError(Message("not published: {column}", column="precision"))
    if method == "full" and layout.recipe == "ddp" and text == "bf16" and row.text("precision_detail") in ("bf16", "bfloat16"):
        # the Hugging Face trainers load the weights in 16 bits and, without DeepSpeed, keep no fp32 copy
        assumptions.append(Message("weights loaded in 16 bits without an fp32 copy assumed"))
        return "bf16-pure"
    return cast("Precision", text)


def _read_optimizer(row: Row, adapters: bool) -> Optimizer:
    text = row.text("optimizer").lower()
    if "8bit" in text:
        return "adamw-8bit"
    if "adam" in text or (not text and adapters):
        return "adamw"
    if text == "muon":
        return "muon"
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


def _read_measured(row: Row, assumptions: list[Message]) -> tuple[Measured, ...]:
    succeeded = row.text("outcome") != "oom"
    fits = Measured(metric="fits", value=1.0 if succeeded else 0.0)
    if not succeeded:
        return (fits,)
    bound: Bound = "exact"
    if row.text("length_known") == "max_only":
        bound = "at_most_predicted"
        assumptions.append(Message("the length is only a maximum: the measurement must not exceed the prediction"))
    peak_gib = row.number("peak_mem_gib")
    peak_bound: Bound = bound
    if peak_gib == FULL_CARD_GIB:
        peak_bound = "at_least_predicted"
        assumptions.append(Message("a figure of {gib:g} GiB is a full card: the need must not exceed it", gib=peak_gib))
    measured = read_memory(row.text("mem_kind"), peak_gib, peak_bound)
    if row.text("mem_kind") == "unknown" and peak_gib is not None:
        assumptions.append(Message("the memory counter is not published: the figure is compared with none"))
    measured += read_memory("allocated", row.number("peak_alloc_gib"), bound)
    return (*measured, *_read_speed(row), fits)


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

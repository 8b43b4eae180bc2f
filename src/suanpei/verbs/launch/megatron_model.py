"""The model part of Megatron's command line, with Megatron's defaults where a flag is absent.

Names and defaults: Megatron-LM, ``megatron/training/arguments.py`` (``validate_args``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.verbs.launch.model_arguments import ModelArguments

if TYPE_CHECKING:
    from suanpei.verbs.launch.arguments import Arguments

_LATENT_DEFAULTS = {"kv_lora_rank": 32, "qk_head_dim": 128, "qk_pos_emb_head_dim": 64, "v_head_dim": 128}
"""Megatron-LM's ``MLATransformerConfig``."""


def read_model_arguments(arguments: Arguments) -> ModelArguments | None:
    """Read the architecture; None where layers, width or heads are not given.

    Raises:
        InputError: A value has the wrong type, or the hidden size is no multiple of the heads.
    """
    layers = arguments.integer("num_layers")
    hidden = arguments.integer("hidden_size")
    heads = arguments.integer("num_attention_heads")
    if layers is None or hidden is None or heads is None:
        return None
    gated = arguments.switch("swiglu", "gated_linear_unit")
    latent = arguments.switch("multi_latent_attention")
    experts = arguments.integer("num_experts")
    ffn = arguments.integer("ffn_hidden_size") or _default_ffn(arguments, hidden, gated=gated)
    return ModelArguments(
        layers=layers,
        hidden=hidden,
        heads=heads,
        ffn=ffn,
        gated=gated,
        kv_heads=_kv_heads(arguments, heads),
        head_dim=_latent_value(arguments, "qk_head_dim") if latent else _head_dim(arguments, hidden, heads),
        rms_norm=_has_rms_norm(arguments),
        linear_bias=_has_linear_bias(arguments),
        qkv_bias=arguments.switch("add_qkv_bias"),
        qk_norm=arguments.switch("qk_layernorm"),
        tied_embeddings=not arguments.switch("untie_embeddings_and_output_weights"),
        learned_positions=_learned_positions(arguments),
        max_context=arguments.integer("max_position_embeddings"),
        latent=latent,
        query_rank=arguments.integer("q_lora_rank") if latent else None,
        kv_rank=_latent_value(arguments, "kv_lora_rank") if latent else None,
        rope_dim=_latent_value(arguments, "qk_pos_emb_head_dim") if latent else 0,
        value_dim=_latent_value(arguments, "v_head_dim") if latent else None,
        experts=experts,
        active_experts=arguments.integer("moe_router_topk") or 2,
        expert_ffn=arguments.integer("moe_ffn_hidden_size"),
        shared_ffn=arguments.integer("moe_shared_expert_intermediate_size") or 0,
        shared_gate=arguments.switch("moe_shared_expert_gate"),
        moe_layers=None if experts is None else _moe_layers(arguments, layers),
        vocab_multiple=arguments.integer("make_vocab_size_divisible_by") or 128,
        padded_vocab=arguments.integer("padded_vocab_size"),
    )


def _note(arguments: Arguments, message: Message) -> None:
    arguments.collector.notes.append(message)


def _default_ffn(arguments: Arguments, hidden: int, *, gated: bool) -> int:
    """Give Megatron's width: four times the hidden size, for gated MLPs two thirds of that in steps of 64."""
    ffn = int(4 * hidden * 2 / 3 / 64) * 64 if gated else 4 * hidden
    _note(
        arguments,
        Message("{file}: no --ffn-hidden-size: Megatron's default of {ffn}", file=arguments.file, ffn=ffn),
    )
    return ffn


def _head_dim(arguments: Arguments, hidden: int, heads: int) -> int:
    given = arguments.integer("kv_channels")
    if given is not None:
        return given
    if hidden % heads:
        raise InputError(
            Message(
                "{file}: --hidden-size {hidden} is no multiple of --num-attention-heads {heads}, and no --kv-channels "
                "says the width of a head",
                file=arguments.file,
                hidden=hidden,
                heads=heads,
            )
        )
    return hidden // heads


def _kv_heads(arguments: Arguments, heads: int) -> int:
    groups = arguments.integer("num_query_groups")
    if not arguments.switch("group_query_attention"):
        if groups is not None and groups != heads:
            arguments.collector.warnings.append(
                Message(
                    "{file}: --num-query-groups {groups} has no effect without --group-query-attention: every head has "
                    "keys and values of its own",
                    file=arguments.file,
                    groups=groups,
                )
            )
        return heads
    if groups is None:
        _note(
            arguments,
            Message("{file}: no --num-query-groups: Megatron's default of one group", file=arguments.file),
        )
    return groups or 1


def _has_rms_norm(arguments: Arguments) -> bool:
    normalization = arguments.text("normalization")
    if normalization is None:
        _note(arguments, Message("{file}: no --normalization: Megatron takes LayerNorm", file=arguments.file))
    return normalization == "RMSNorm"


def _has_linear_bias(arguments: Arguments) -> bool:
    if arguments.switch("disable_bias_linear"):
        return False
    _note(
        arguments,
        Message("{file}: no --disable-bias-linear: the linear layers have biases", file=arguments.file),
    )
    return True


def _learned_positions(arguments: Arguments) -> int:
    kind = arguments.text("position_embedding_type")
    if kind not in (None, "learned_absolute") or arguments.switch(
        "use_rotary_position_embeddings", "no_position_embedding"
    ):
        return 0
    rows = arguments.integer("max_position_embeddings") or arguments.integer("seq_length") or 0
    _note(
        arguments,
        Message(
            "{file}: no --position-embedding-type: Megatron learns a table of {rows} positions",
            file=arguments.file,
            rows=rows,
        ),
    )
    return rows


def _latent_value(arguments: Arguments, name: str) -> int:
    return arguments.integer(name) or _LATENT_DEFAULTS[name]


def _moe_layers(arguments: Arguments, layers: int) -> tuple[bool, ...] | None:
    """Read ``--moe-layer-freq``: every n-th layer, or a pattern such as ``([0]*3+[1]*58)``."""
    text = arguments.text("moe_layer_freq")
    if text is None:
        return None
    if text.isdecimal() and int(text) > 0:
        return tuple(index % int(text) == 0 for index in range(layers))
    pattern: list[bool] = []
    written = re.sub(r"[()\s]", "", text)
    for term in written.split("+"):
        match = re.fullmatch(r"\[([01](?:,[01])*)\](?:\*(\d{1,4}))?", term)
        if match is None:
            break
        pattern += [digit == "1" for digit in match[1].split(",")] * int(match[2] or 1)
    if len(pattern) != layers:
        raise InputError(
            Message(
                "{file}: {flag} takes a number or a list with one 0 or 1 for each of the {layers} layers, got {value}",
                file=arguments.file,
                flag=arguments.flags["moe_layer_freq"].written,
                layers=layers,
                value=text,
            )
        )
    return tuple(pattern)

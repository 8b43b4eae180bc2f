"""Build an architecture from the fields of a file and the style of its family."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.job.architecture import Architecture, Attention, Block, Experts, Mlp
from suanpei.job.hugging_face.experts import find_expert_layers, read_experts
from suanpei.job.hugging_face.sizes import check_divides, count, switch
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.job.hugging_face.fields import Fields
    from suanpei.job.hugging_face.style import Style


def read_kv_heads(fields: Fields, style: Style, heads: int) -> int:
    """Give the heads of keys and values: null is one per query head, absent the family's default. [-]"""
    key = "num_key_value_heads"
    default = style.defaults.get(key)
    value = fields.optional_count(key)
    if value is None:
        value = heads
        if default is not None and fields.is_absent(key):
            value = default
            if default != heads:
                fields.defaulted[key] = default
    check_divides(fields, "num_attention_heads", heads, key, value)
    return value


def read_head_dim(fields: Fields, style: Style, hidden: int, heads: int) -> int:
    """Give the width of a head: stated, the family's default, or hidden over heads. [-]"""
    value = fields.optional_count("head_dim")
    if value is not None:
        return value
    default = style.defaults.get("head_dim")
    if default is not None and fields.is_absent("head_dim"):
        if default * heads != hidden:
            fields.defaulted["head_dim"] = default
        return default
    return check_divides(fields, "hidden_size", hidden, "num_attention_heads", heads)


def read_windows(fields: Fields, style: Style, layers: int) -> list[int | None]:
    """Give the attention window of each layer, None for layers that see everything. [tokens]"""
    kinds = fields.list_of("layer_types", layers)
    fields.see("sliding_window_pattern", "_sliding_window_pattern", "max_window_layers", "use_sliding_window")
    fields.see("sliding_window", "attention_chunk_size")
    if style.window == "none" and kinds is None:
        return [None] * layers
    width = fields.optional_count(
        "attention_chunk_size" if "attention_chunk_size" in fields else "sliding_window", least=0
    )
    if width is None and fields.is_absent("sliding_window"):
        width = style.window_default
    if style.window == "qwen" and not fields.flag("use_sliding_window", default=False):
        width = None
    if not width:
        width = None
    if kinds is not None:
        windows: list[int | None] = []
        for kind in kinds:
            if kind not in ("full_attention", "sliding_attention", "chunked_attention"):
                raise fields.refuse(key="layer_types", wanted="full_attention, sliding_attention", given=kind)
            windows.append(None if kind == "full_attention" else width)
        return windows
    if style.window == "qwen":
        first = fields.count("max_window_layers", 28, least=0)
        fields.defaulted.pop("max_window_layers", None)
        return [width if index >= first else None for index in range(layers)]
    if style.window == "pattern":
        pattern = fields.optional_count("sliding_window_pattern") or fields.optional_count("_sliding_window_pattern")
        pattern = pattern or style.window_pattern
        return [width if (index + 1) % pattern else None for index in range(layers)]
    return [width] * layers


def read_attention(fields: Fields, style: Style, hidden: int) -> Attention:
    """Describe the attention that all layers share, without its window."""
    heads = count(fields, style, "num_attention_heads")
    if style.latent:
        return read_latent_attention(fields, style, heads)
    kv_heads = read_kv_heads(fields, style, heads)
    head_dim = read_head_dim(fields, style, hidden, heads)
    extra = heads if style.sinks else 0
    has_norm = style.qk_norm != "none"
    if has_norm and style.qk_norm_key is not None:
        has_norm = switch(fields, style, style.qk_norm_key)
    if has_norm and style.qk_norm == "head":
        extra += 2 * head_dim * style.norm_vectors
    elif has_norm:
        extra += (heads + kv_heads) * head_dim
    return Attention(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        value_dim=head_dim,
        qkv_bias=switch(fields, style, style.qkv_bias),
        output_bias=switch(fields, style, style.output_bias),
        extra_parameters=extra,
        query_key_norms=has_norm,
    )


def read_latent_attention(fields: Fields, style: Style, heads: int) -> Attention:
    """Describe latent attention (MLA), DeepSeek-V2, arXiv 2405.04434, section 2.1."""
    fields.see("head_dim", "qk_head_dim", "num_key_value_heads")
    kv_rank = count(fields, style, "kv_lora_rank")
    query_rank = fields.optional_count("q_lora_rank")
    if query_rank is None and fields.is_absent("q_lora_rank"):
        query_rank = style.defaults.get("q_lora_rank")
    rope_dim = count(fields, style, "qk_rope_head_dim")
    return Attention(
        heads=heads,
        kv_heads=heads,
        head_dim=count(fields, style, "qk_nope_head_dim") + rope_dim,
        value_dim=count(fields, style, "v_head_dim"),
        query_rank=query_rank,
        kv_rank=kv_rank,
        rope_dim=rope_dim,
        qkv_bias=switch(fields, style, style.qkv_bias),
        output_bias=switch(fields, style, style.output_bias),
        extra_parameters=kv_rank + (query_rank or 0),
    )


def read_ffn(fields: Fields, style: Style, hidden: int, key: str = "intermediate_size") -> int:
    """Give the inner width of the dense MLP. [-]"""
    if style.ffn_ratio is not None and key not in fields:
        fields.see(key)
        return style.ffn_ratio * hidden
    ffn = count(fields, style, key)
    return check_divides(fields, key, ffn, "2", style.ffn_divisor) if style.ffn_divisor > 1 else ffn


def build_decoder(fields: Fields, style: Style, name: str) -> Architecture:
    """Build the architecture that a file of a family describes.

    Args:
        fields: The file's fields. [-]
        style: The family. [-]
        name: What to call the model. [-]

    Raises:
        InputError: a size is missing, impossible or contradictory; the message names file and field.
    """
    for key, wanted in style.required.items():
        fields.require(key, wanted)
    fields.see(*style.ignored)
    hidden = count(fields, style, "hidden_size")
    layers = count(fields, style, "num_hidden_layers")
    attention = read_attention(fields, style, hidden)
    needs_dense = style.experts is None or style.experts.layers != "all" or style.experts.optional
    needs_dense = needs_dense or not style.experts.own_width  # type: ignore[union-attr]
    dense_key = style.experts.dense_width if style.experts is not None else "intermediate_size"
    dense_ffn = read_ffn(fields, style, hidden, dense_key) if needs_dense else 0
    fields.see("intermediate_size")
    expert_ffn = dense_ffn if dense_key == "intermediate_size" else count(fields, style, "intermediate_size")
    experts = read_experts(fields, style, expert_ffn)
    sparse = find_expert_layers(fields, style, style.experts, layers) if experts and style.experts else [False] * layers
    mlp = Mlp(ffn=max(dense_ffn, 1), gated=style.gated, bias=switch(fields, style, style.mlp_bias))
    parallel = switch(fields, style, style.parallel)
    blocks: dict[tuple[int | None, bool], Block] = {}
    order: list[Block] = []
    for window, is_sparse in zip(read_windows(fields, style, layers), sparse, strict=True):
        if (window, is_sparse) not in blocks:
            windowed = replace(attention, window=window)
            blocks[window, is_sparse] = _make_block(
                style, hidden, windowed, parallel=parallel, mlp=None if is_sparse else mlp, experts=experts
            )
        order.append(blocks[window, is_sparse])
    context = fields.optional_count("max_position_embeddings")
    if context is None:
        context = style.defaults.get("max_position_embeddings")
    positions = 0
    if style.learned_positions is not None:
        positions = count(fields, style, "max_position_embeddings") + style.learned_positions
    return Architecture(
        name=name,
        family=style.family,
        hidden=hidden,
        vocab=count(fields, style, "vocab_size"),
        layers=tuple(order),
        tied_embeddings=fields.flag("tie_word_embeddings", default=style.tied),
        max_context=context,
        learned_positions=positions,
        head_bias=switch(fields, style, style.head_bias),
        extra_parameters=hidden * ((style.norm_vectors if style.final_norm else 0) + style.embedding_norms),
        source=fields.source,
        notes=_notes(fields, style),
    )


def _make_block(
    style: Style, hidden: int, attention: Attention, *, parallel: bool, mlp: Mlp | None, experts: Experts | None
) -> Block:
    """Make one kind of layer: dense where `mlp` is given, experts otherwise."""
    return Block(
        attention=attention,
        mlp=mlp,
        experts=None if mlp is not None else experts,
        norm_parameters=style.norms * style.norm_vectors * hidden,
        norms=style.norms,
        parallel=parallel,
    )


def _notes(fields: Fields, style: Style) -> tuple[Message, ...]:
    """Say what the file holds beyond the model that is counted."""
    notes: list[Message] = []
    predicted = fields.optional_count("num_nextn_predict_layers", least=0) or 0
    if predicted:
        notes.append(
            Message(
                "{source}: the {layers} extra layers for multi-token prediction are not counted",
                source=fields.source,
                layers=predicted,
            )
        )
    if style.ffn_divisor > 1:
        notes.append(
            Message(
                "{source}: {family} states twice the inner width; half of it is used",
                source=fields.source,
                family=style.family,
            )
        )
    if "attention_chunk_size" in fields:
        notes.append(
            Message(
                "{source}: attention in chunks of {tokens} tokens is counted as a sliding window of that width",
                source=fields.source,
                tokens=fields.count("attention_chunk_size"),
            )
        )
    return tuple(notes)

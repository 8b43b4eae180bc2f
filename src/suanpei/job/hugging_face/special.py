"""Families whose files need more than data: a rule of their own decides a size.

Each rule follows the modelling file of the family in `transformers` 5, or for ``chatglm`` the code beside its weights.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.job.architecture import Architecture, Attention, Block, Mlp
from suanpei.job.hugging_face.decoder import build_decoder
from suanpei.job.hugging_face.dense import DENSE, sizes
from suanpei.job.hugging_face.sizes import check_divides, count
from suanpei.job.hugging_face.style import ExpertStyle, Style
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.job.hugging_face.fields import Fields

_FALCON = Style(
    family="falcon",
    defaults=sizes(4544, 18176, 32, 71, None, 65024, 2048),
    tied=True,
    norm_vectors=2,
    gated=False,
    qkv_bias="bias",
    output_bias="bias",
    mlp_bias="bias",
    ffn_ratio=4,
)


def build_falcon(fields: Fields, name: str) -> Architecture:
    """Build a Falcon, under its own or its first name (RefinedWeb).

    ``multi_query`` gives one key-value head; the new layout (40B, 180B) groups them and takes a norm for each of the
    two parallel branches.
    """
    heads = fields.count("num_attention_heads", 71)
    parallel = fields.flag("parallel_attn", default=True)
    # the first 40B spells its key-value heads n_head_kv and knows no flag for its layout
    grouped = fields.get("n_head_kv") is not None
    grouped = fields.flag("new_decoder_architecture", default=grouped)
    fields.see("alibi", "multi_query")
    stated = fields.optional_count("num_key_value_heads")
    kv_heads = heads
    if grouped:
        kv_heads = stated or heads
    elif fields.flag("multi_query", default=True):
        kv_heads = 1
    norms = 2
    if parallel:
        norms = fields.optional_count("num_ln_in_parallel_attn") or (2 if grouped else 1)
    fields.see("num_ln_in_parallel_attn")
    check_divides(fields, "num_attention_heads", heads, "num_kv_heads", kv_heads)
    return _with_kv_heads(build_decoder(fields, replace(_FALCON, parallel=parallel, norms=norms), name), kv_heads)


def _with_kv_heads(architecture: Architecture, kv_heads: int) -> Architecture:
    """Give every layer another number of key-value heads."""
    changed = {kind: replace(kind, attention=replace(kind.attention, kv_heads=kv_heads)) for kind in architecture.kinds}
    return replace(architecture, layers=tuple(changed[block] for block in architecture.layers))


def build_mpt(fields: Fields, name: str) -> Architecture:
    """Build an MPT; its inner width is `expansion_ratio` times the hidden one, its positions are ALiBi."""
    style = Style(
        family="mpt",
        defaults=sizes(2048, 8192, 24, 16, None, 50368, 2048),
        tied=True,
        gated=False,
        ffn_ratio=fields.optional_count("expansion_ratio") or 4,
        ignored=("learned_pos_emb", "verbose", "attn_config.softmax_scale", "attn_config.alibi_bias_max"),
        required={"no_bias": True, "attn_config.alibi": True, "attn_config.qk_ln": False},
    )
    return build_decoder(fields, style, name)


def build_opt(fields: Fields, name: str) -> Architecture:
    """Build an OPT: two spare rows of positions, an embedding that may be narrower than the layers."""
    bias = fields.flag("enable_bias", default=True)
    affine = fields.flag("layer_norm_elementwise_affine", default=True)
    removed = fields.flag("_remove_final_layer_norm", default=False)
    final = fields.flag("do_layer_norm_before", default=True) and not removed
    style = Style(
        family="opt",
        defaults=sizes(768, 3072, 12, 12, None, 50272, 2048),
        tied=True,
        norm_vectors=2 if affine else 0,
        final_norm=final,
        gated=False,
        qkv_bias=bias,
        output_bias=bias,
        mlp_bias=bias,
        learned_positions=2,
    )
    width = fields.optional_count("word_embed_proj_dim")
    architecture = build_decoder(fields, style, name)
    if width is None or width == architecture.hidden:
        return architecture
    return replace(
        architecture,
        embedding_width=width,
        extra_parameters=architecture.extra_parameters + 2 * width * architecture.hidden,
    )


def build_chatglm(fields: Fields, name: str) -> Architecture:
    """Build a ChatGLM2, ChatGLM3 or GLM-4 of the remote-code kind."""
    bias = fields.flag("add_bias_linear", default=False)
    qkv_bias = fields.flag("add_qkv_bias", default=False) or bias
    heads = fields.count("num_attention_heads")
    kv_heads = heads
    if fields.flag("multi_query_attention", default=False):
        kv_heads = fields.count("multi_query_group_num")
    fields.see("multi_query_group_num", "vocab_size")
    check_divides(fields, "num_attention_heads", heads, "multi_query_group_num", kv_heads)
    style = Style(
        family="chatglm",
        norm_vectors=1 if fields.flag("rmsnorm", default=True) else 2,
        final_norm=fields.flag("post_layer_norm", default=True),
        qkv_bias=qkv_bias,
        output_bias=bias,
        mlp_bias=bias,
        ignored=("interleaved_qkv",),
    )
    return _with_kv_heads(build_decoder(fields, style, name), kv_heads)


def build_gpt_bigcode(fields: Fields, name: str) -> Architecture:
    """Build a GPT-BigCode (StarCoder): a GPT-2 with one key-value head."""
    heads = fields.count("num_attention_heads", 12)
    kv_heads = 1 if fields.flag("multi_query", default=True) else heads
    fields.see("num_key_value_heads")
    style = replace(
        DENSE["gpt2"],
        family="gpt_bigcode",
        ignored=("inference_runner", "validate_runner_input", "pad_key_length", "pre_allocate_kv_cache"),
    )
    return _with_kv_heads(build_decoder(fields, style, name), kv_heads)


_MINIMAX = Style(
    family="minimax",
    defaults=sizes(4096, 14336, 32, 32, 8, 32000, 131072, num_experts=8, num_experts_per_tok=2),
    experts=ExpertStyle(own_width=False),
    ignored=("sliding_window", "block_size", "postnorm", "attn_type_list", "shared_moe_mode"),
    required={"shared_intermediate_size": 0},
)


def build_minimax(fields: Fields, name: str) -> Architecture:
    """Build a MiniMax-Text-01: most layers hold linear (lightning) attention.

    MiniMax-01, arXiv 2501.08313, section 2.2. A linear layer has keys and values for every head, an output gate and a
    norm as wide as all heads. Its work per token does not grow with the sequence: inside a block it is that of
    attention over the block.
    """
    layers = fields.count("num_hidden_layers", 32)
    kinds = fields.list_of("attn_type_list", layers)
    names = fields.list_of("layer_types", layers)
    if kinds is not None:
        linear = [kind == 0 for kind in kinds]
    elif names is not None:
        linear = [kind == "linear_attention" for kind in names]
    else:
        linear = [(index + 1) % 2 == 0 for index in range(layers)]
    block_size = fields.count("block_size", 256)
    fields.defaulted.pop("block_size", None)
    plain = build_decoder(fields.without("layer_types"), _MINIMAX, name)
    full = plain.layers[0]
    attention = full.attention
    gated = replace(
        full,
        attention=replace(
            attention,
            kv_heads=attention.heads,
            window=block_size,
            output_gate=True,
            extra_parameters=attention.heads * attention.head_dim,
        ),
    )
    note = Message(
        "{source}: linear attention is counted as attention over blocks of {tokens} tokens",
        source=fields.source,
        tokens=block_size,
    )
    layout = tuple(gated if is_linear else full for is_linear in linear)
    return replace(plain, layers=layout, notes=(*plain.notes, note))


def build_mllama(fields: Fields, name: str) -> Architecture:
    """Build the text model of Llama 3.2 Vision: some layers attend to the image instead of the text."""
    crossing = fields.indices("cross_attention_layers")
    if "cross_attention_layers" not in fields:
        crossing = frozenset({3, 8, 13, 18, 23, 28, 33, 38})
    style = Style(family="mllama", defaults=sizes(4096, 14336, 40, 32, 8, 128256, 131072))
    plain = build_decoder(fields, style, name)
    own = plain.layers[0]
    cross = replace(
        own,
        attention=replace(own.attention, extra_parameters=2 * own.attention.head_dim),
        norm_parameters=own.norm_parameters + 2,
    )
    layers = tuple(cross if index in crossing else own for index in range(plain.layer_count))
    note = Message(
        "{source}: {layers} layers attend to the image; their work is counted as attention over the text",
        source=fields.source,
        layers=sum(block is cross for block in layers),
    )
    return replace(
        plain,
        layers=layers,
        extra_parameters=plain.extra_parameters + 8 * plain.hidden,
        notes=(*plain.notes, note),
    )


def build_roberta(fields: Fields, name: str) -> Architecture:
    """Build a RoBERTa: a BERT with another vocabulary."""
    return build_bert(fields, name, vocab=50265)


def build_bert(fields: Fields, name: str, vocab: int = 30522) -> Architecture:
    """Build a BERT with its masked-language-model head (no pooler)."""
    style = Style(family="bert", defaults=sizes(768, 3072, 12, 12, None, vocab, 512))
    hidden = count(fields, style, "hidden_size")
    heads = count(fields, style, "num_attention_heads")
    head_dim = check_divides(fields, "hidden_size", hidden, "num_attention_heads", heads)
    attention = Attention(
        heads=heads,
        kv_heads=heads,
        head_dim=head_dim,
        value_dim=head_dim,
        qkv_bias=True,
        output_bias=True,
        causal=False,
    )
    mlp = Mlp(ffn=count(fields, style, "intermediate_size"), gated=False, bias=True)
    block = Block(attention=attention, mlp=mlp, norm_parameters=4 * hidden)
    types = fields.count("type_vocab_size", 2)
    fields.defaulted.pop("type_vocab_size", None)
    context = count(fields, style, "max_position_embeddings")
    head_transform = hidden * hidden + hidden + 2 * hidden
    return Architecture(
        name=name,
        family="bert",
        hidden=hidden,
        vocab=count(fields, style, "vocab_size"),
        layers=(block,) * count(fields, style, "num_hidden_layers"),
        tied_embeddings=fields.flag("tie_word_embeddings", default=True),
        max_context=context,
        learned_positions=context,
        head_bias=True,
        extra_parameters=types * hidden + 2 * hidden + head_transform,
        source=fields.source,
        notes=(Message("{source}: an encoder, counted with its masked-language-model head", source=fields.source),),
    )

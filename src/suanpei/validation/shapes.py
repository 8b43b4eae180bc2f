"""From the columns of a row to an architecture.

Widths come from the row. What the columns do not hold (latent attention, the experts of a fine-tuned model, biases,
tied embeddings) comes from the bundled model of the same name where its widths agree, else from the conventions of the
framework, or from the parameter count that the row prints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.job.architecture import Architecture, Attention, Block, Experts, Mlp
from suanpei.messages import Message
from suanpei.validation.bundled_names import find_bundled

if TYPE_CHECKING:
    from suanpei.validation.rows import Row


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The widths of a plain transformer and the habits of its family."""

    name: str
    layers: int
    hidden: int
    ffn: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    max_context: int | None
    gated: bool
    tied: bool
    qkv_bias: bool = False
    all_biases: bool = False
    """Biases on every product and layer norms with biases (GPT); else RMS norms without."""
    learned_positions: int = 0
    embedding_norm: bool = False
    query_key_norm: bool = False
    experts: Experts | None = None
    experts_from: int = 0
    """First layer with experts; earlier ones are dense."""


def build_architecture(shape: Shape) -> Architecture:
    """Build a plain transformer: equal layers, attention then a dense MLP or experts.

    Args:
        shape: Widths and habits.

    Returns:
        The architecture, exact to the parameter.
    """
    norm = (2 if shape.all_biases else 1) * shape.hidden
    attention = Attention(
        heads=shape.heads,
        kv_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        value_dim=shape.head_dim,
        qkv_bias=shape.qkv_bias or shape.all_biases,
        output_bias=shape.all_biases,
        extra_parameters=2 * shape.head_dim if shape.query_key_norm else 0,
        query_key_norms=shape.query_key_norm,
    )
    dense = Block(
        attention=attention,
        mlp=Mlp(ffn=shape.ffn, gated=shape.gated, bias=shape.all_biases),
        norm_parameters=2 * norm,
    )
    layers = (dense,) * shape.layers
    if shape.experts is not None:
        sparse = Block(attention=attention, experts=shape.experts, norm_parameters=2 * norm)
        layers = (dense,) * shape.experts_from + (sparse,) * (shape.layers - shape.experts_from)
    return Architecture(
        name=shape.name,
        family="gpt" if shape.all_biases else "llama",
        hidden=shape.hidden,
        vocab=shape.vocab,
        layers=layers,
        tied_embeddings=shape.tied,
        max_context=shape.max_context,
        learned_positions=shape.learned_positions,
        extra_parameters=norm + (norm if shape.embedding_norm else 0),
    )


def find_same_model(row: Row, name: str) -> Architecture | None:
    """Find the bundled model of a row's name whose widths are the row's; None where there is none.

    A name that ends in ``-L12`` is the model cut to twelve layers; a cut model keeps one leading dense layer where its
    model has any, and experts in the rest.
    """
    cut = re.search(r"-L(\d+)$", name)
    architecture = find_bundled(name[: cut.start()] if cut else name)
    if architecture is None:
        return None
    if cut:
        architecture = cut_layers(architecture, int(cut.group(1)))
    attention = architecture.layers[-1].attention
    widths = (architecture.layer_count, architecture.hidden, attention.heads)
    if widths != (row.count("n_layers"), row.count("hidden"), row.count("n_heads")):
        return None
    kv_heads = row.count("n_kv_heads")
    if not attention.is_latent and kv_heads is not None and kv_heads != attention.kv_heads:
        return None
    vocab = row.count("vocab")
    return architecture if vocab is None else replace(architecture, vocab=vocab)


def cut_layers(architecture: Architecture, layers: int) -> Architecture:
    """Shorten a model: at most one of its leading dense layers, then its last kind of layer.

    Args:
        architecture: The full model.
        layers: Layers to keep, at least one. [-]
    """
    first, last = architecture.layers[0], architecture.layers[-1]
    kept = (first,) * (first != last) + (last,) * (layers - (first != last))
    return replace(architecture, name=f"{architecture.name} ({layers} layers)", layers=kept)


def read_gated(row: Row) -> bool:
    """Tell from ``mlp_type`` whether the MLP has three matrices.

    Raises:
        InputError: The column is blank or of another kind.
    """
    kind = row.text("mlp_type")
    if kind not in ("swiglu", "geglu", "gelu", "relu", "relu2"):
        raise InputError(
            Message(
                "architecture: mlp_type must be one of {kinds}, got {given!r}",
                kinds="swiglu, geglu, gelu, relu, relu2",
                given=kind,
            )
        )
    return kind in ("swiglu", "geglu")


def read_experts(row: Row, *, gated: bool) -> Experts | None:
    """Read the expert columns of a throughput row; None is a dense model."""
    count = row.count("moe_experts")
    if count is None:
        return None
    ffn = row.count("moe_ffn_hidden") or row.need_count("ffn_hidden")
    shared = row.count("shared_experts") or 0
    return Experts(count=count, active=row.need_count("moe_topk"), ffn=ffn, gated=gated, shared_ffn=shared * ffn)


def fit_to_parameter_count(shape: Shape, parameters: float) -> tuple[Architecture, float]:
    """Choose gated or plain MLP, and tied or own output matrix, by the published parameter count.

    Args:
        shape: Widths; `gated`, `tied` and `all_biases` are replaced.
        parameters: Published count. [-]

    Returns:
        The nearest architecture and its relative distance from the count. [-]
    """
    options = [
        build_architecture(replace(shape, gated=gated, tied=tied, all_biases=not gated))
        for gated, tied in product((True, False), (True, False))
    ]
    best = min(options, key=lambda option: abs(option.total_parameters / parameters - 1))
    return best, best.total_parameters / parameters - 1

"""The architecture of a model: layers, widths, experts, and the parameters that follow from them.

Everything here is counted exactly, to the last parameter; nothing is estimated. Readers of other people's formats
(``hugging_face``, the bundled catalogue) build an `Architecture`; ``operators`` turns it into work.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from suanpei.messages import Message


@dataclass(frozen=True, kw_only=True)
class Attention:
    """Self-attention of one layer: multi-head, grouped-query, multi-query or latent (MLA)."""

    heads: int
    kv_heads: int
    head_dim: int
    """Width of one query and key head; for MLA the part without positions plus the rotary part."""
    value_dim: int
    """Width of one value head (differs from `head_dim` in MLA only)."""
    query_rank: int | None = None
    """MLA: rank of the compressed query; None projects the query directly."""
    kv_rank: int | None = None
    """MLA: rank of the compressed keys and values; None is ordinary attention."""
    rope_dim: int = 0
    """MLA: width of the rotary key part, shared by all heads."""
    window: int | None = None
    """Sliding window in tokens; None attends to everything before."""
    qkv_bias: bool = False
    output_bias: bool = False
    extra_parameters: int = 0
    """Norms inside the attention (query and key norms, MLA ranks' norms) and attention sinks."""
    query_key_norms: bool = False
    """Whether queries and keys pass norms of their own before positions are added; MLA's compressed ones always do."""
    causal: bool = True
    """False: every token sees every other (encoders)."""
    output_gate: bool = False
    """A product of its own from the input to a gate on the attention's output (linear attention of MiniMax)."""

    @property
    def is_latent(self) -> bool:
        """Whether keys and values are compressed (MLA)."""
        return self.kv_rank is not None

    @property
    def query_width(self) -> int:
        """Summed width of all query heads."""
        return self.heads * self.head_dim

    @property
    def kv_cache_width(self) -> int:
        """Elements cached per token and layer: keys and values, or for MLA the compressed pair."""
        if self.kv_rank is not None:
            return self.kv_rank + self.rope_dim
        return self.kv_heads * (self.head_dim + self.value_dim)


@dataclass(frozen=True, kw_only=True)
class Mlp:
    """A dense feed-forward block."""

    ffn: int
    """Inner width."""
    gated: bool
    """Three matrices (SwiGLU, GeGLU) instead of two."""
    bias: bool = False


@dataclass(frozen=True, kw_only=True)
class Experts:
    """A mixture-of-experts feed-forward block."""

    count: int
    """Routed experts of the layer."""
    active: int
    """Routed experts that each token goes through (top-k)."""
    ffn: int
    """Inner width of one routed expert."""
    gated: bool
    bias: bool = False
    shared_ffn: int = 0
    """Summed inner width of the shared experts; 0 for none."""
    shared_gate: bool = False
    """Whether the shared experts' output has a gate of its own (hidden parameters)."""
    router_bias: bool = False
    """Whether the router has a trained bias (a correction buffer that is not trained does not count)."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """One transformer layer: attention, then a dense MLP or experts (or both side by side: `mlp` and `experts`)."""

    attention: Attention
    mlp: Mlp | None = None
    experts: Experts | None = None
    norm_parameters: int
    """Parameters of the layer's own norms (RMSNorm: hidden each; LayerNorm: 2 hidden each)."""
    norms: int = 2
    """How many norms the layer applies to the residual stream."""
    parallel: bool = False
    """Attention and MLP read the same input (GPT-J, Falcon, Cohere)."""


@dataclass(frozen=True, kw_only=True)
class Quantization:
    """How a checkpoint's linear weights are stored."""

    method: str
    """``gptq``, ``awq``, ``fp8``, ``bitsandbytes``, ``mxfp4``, …"""
    bits: float
    group_size: int | None = None
    covers: Literal["linears", "experts"] = "linears"
    """What is stored in few bits: every product of the layers, or the routed experts alone."""
    double: bool = False
    """Whether the scales are themselves quantised (double quantisation of bitsandbytes)."""


@dataclass(frozen=True, kw_only=True)
class Companion:
    """A part of a multimodal model beside the language model; named, not planned."""

    name: str
    parameters: int | None = None
    """None where the description is of a kind that is not counted."""


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """A decoder (or encoder) language model, exact to the parameter."""

    name: str
    family: str
    hidden: int
    vocab: int
    layers: tuple[Block, ...]
    """One block per layer, in order; equal layers share one object."""
    tied_embeddings: bool
    max_context: int | None
    learned_positions: int = 0
    """Rows of a learned position table, padding rows included; 0 for rotary, ALiBi or none."""
    head_bias: bool = False
    """A bias on the output layer."""
    has_head: bool = True
    """Whether an output layer over the vocabulary exists (False: an encoder without one)."""
    extra_parameters: int = 0
    """Final norm, embedding norms, type embeddings, projections in and out of the embedding width."""
    embedding_width: int | None = None
    """Width of the embedding where it differs from `hidden` (its projections are in `extra_parameters`)."""
    quantization: Quantization | None = None
    stored_bits: int = 16
    """Bits of a weight that is not quantised, as the checkpoint stores it."""
    companions: tuple[Companion, ...] = ()
    """Vision towers, projectors and other parts that are not the language model."""
    source: str = ""
    """Where the description was read."""
    notes: tuple[Message, ...] = ()
    """Assumptions made and things left out while reading, for the result's list of assumptions."""

    @property
    def layer_count(self) -> int:
        """Number of layers."""
        return len(self.layers)

    @cached_property
    def kinds(self) -> tuple[Block, ...]:
        """The distinct blocks, in order of first appearance."""
        return tuple(dict.fromkeys(self.layers))

    @cached_property
    def total_parameters(self) -> int:
        """All trainable parameters, tied embeddings once."""
        return self._embedding_parameters + sum(count_block_parameters(block, self.hidden) for block in self.layers)

    @cached_property
    def active_parameters(self) -> int:
        """Parameters that one token passes: everything but the experts that its router did not choose.

        Both embedding matrices, the router and the norms count, as the field's convention has it.
        """
        inactive = sum(
            (block.experts.count - block.experts.active) * count_expert_parameters(block.experts, self.hidden)
            for block in self.layers
            if block.experts is not None
        )
        return self.total_parameters - inactive

    @property
    def embedding_parameters(self) -> int:
        """Parameters of the input embedding, of the vocabulary alone."""
        return self.vocab * (self.embedding_width or self.hidden)

    @property
    def parameters_with_companions(self) -> int | None:
        """All parameters of a multimodal model; None where a part is not counted."""
        parts = [companion.parameters for companion in self.companions]
        known = [part for part in parts if part is not None]
        return self.total_parameters + sum(known) if len(known) == len(parts) else None

    @property
    def head_parameters(self) -> int:
        """Parameters of an output matrix of its own; 0 where it is tied or absent."""
        return 0 if self.tied_embeddings or not self.has_head else self.embedding_parameters

    @property
    def _embedding_parameters(self) -> int:
        return (
            self.embedding_parameters
            + self.head_parameters
            + (self.vocab if self.head_bias else 0)
            + self.learned_positions * self.hidden
            + self.extra_parameters
        )


def count_attention_parameters(attention: Attention, hidden: int) -> int:
    """Count the parameters of one attention: projections, biases and inner norms. [-]

    MLA after DeepSeek-V2, arXiv 2405.04434, section 2.1: a compressed query, a compressed key-value pair with one
    rotary key shared by the heads, and the expansions of both.
    """
    heads, dim = attention.heads, attention.head_dim
    output = heads * attention.value_dim * hidden * (2 if attention.output_gate else 1)
    output += hidden if attention.output_bias else 0
    if attention.kv_rank is not None:
        rank = attention.query_rank
        query = hidden * heads * dim if rank is None else rank * (hidden + heads * dim)
        compressed = hidden * (attention.kv_rank + attention.rope_dim)
        expanded = attention.kv_rank * heads * (dim - attention.rope_dim + attention.value_dim)
        # the biases of MLA models sit on the two compressing products
        bias = (attention.query_rank or 0) + attention.kv_rank + attention.rope_dim if attention.qkv_bias else 0
        return query + compressed + expanded + output + bias + attention.extra_parameters
    qkv_width = heads * dim + attention.kv_heads * (dim + attention.value_dim)
    return hidden * qkv_width + (qkv_width if attention.qkv_bias else 0) + output + attention.extra_parameters


def count_mlp_parameters(mlp: Mlp, hidden: int) -> int:
    """Count the parameters of one dense MLP. [-]"""
    up = 2 if mlp.gated else 1
    return (up + 1) * hidden * mlp.ffn + ((up * mlp.ffn + hidden) if mlp.bias else 0)


def count_expert_parameters(experts: Experts, hidden: int) -> int:
    """Count the parameters of ONE routed expert. [-]"""
    return count_mlp_parameters(Mlp(ffn=experts.ffn, gated=experts.gated, bias=experts.bias), hidden)


def count_block_parameters(block: Block, hidden: int) -> int:
    """Count all parameters of one layer, every expert included. [-]"""
    total = count_attention_parameters(block.attention, hidden) + block.norm_parameters
    if block.mlp is not None:
        total += count_mlp_parameters(block.mlp, hidden)
    if block.experts is not None:
        experts = block.experts
        total += experts.count * count_expert_parameters(experts, hidden)
        total += experts.count * hidden + (experts.count if experts.router_bias else 0)
        if experts.shared_ffn:
            total += count_mlp_parameters(Mlp(ffn=experts.shared_ffn, gated=experts.gated, bias=experts.bias), hidden)
            total += hidden if experts.shared_gate else 0
    return total

"""From an architecture to operators: the products, attentions and element-wise passes of each layer.

Physics knows operators, not model families. Everything is per token, before any parallel split; each item says how
tensor parallelism cuts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from suanpei.job.architecture import count_block_parameters, count_expert_parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suanpei.job.architecture import Architecture, Attention, Block, Experts

Cut = Literal["column", "row", "none"]
"""What tensor parallelism divides: the output width (column), the input width (row), or nothing."""

Spread = Literal["tensor", "sequence", "expert"]
"""How a tensor is divided: ``tensor`` by tp; ``sequence`` by tp only under sequence parallelism; ``expert`` as the
rows that expert parallelism sends to this rank (divided by tp unless experts are cut by it too, then by tp in
width)."""


@dataclass(frozen=True, kw_only=True)
class MatrixProduct:
    """Rows times a weight of k × n."""

    name: str
    k: int
    n: int
    cut: Cut
    target: str | None
    """LoRA target that the weight answers to (``q k v o gate up down``); several joined by ``+`` share one product."""
    experts: int = 1
    """Routed experts that hold such a weight each; 1 is a dense product."""
    active: int = 1
    """Rows per token: routed experts that each token passes (1 for a dense product)."""
    quantizable: bool = True
    """Whether a quantised base stores this weight in few bits (routers stay whole)."""

    @property
    def parameters(self) -> int:
        """Elements of the weight, all experts."""
        return self.k * self.n * self.experts

    @property
    def flops_per_token(self) -> float:
        """Forward FLOPs of one token. [FLOP]"""
        return 2.0 * self.k * self.n * self.active


@dataclass(frozen=True, kw_only=True)
class AttentionCore:
    """Scores, softmax and weighted sum, without the projections."""

    heads: int
    kv_heads: int
    head_dim: int
    value_dim: int
    window: int | None
    causal: bool = True


@dataclass(frozen=True, kw_only=True)
class ElementwisePass:
    """A pass over memory: norms, activations, residual additions, rotary positions, routing."""

    name: str
    elements: float
    """Elements read and written per token in the forward pass, fused kernels. [-]"""
    backward_ratio: float
    """Traffic of the backward pass over the forward one. [-]"""
    spread: Spread
    active: int = 1


@dataclass(frozen=True, kw_only=True)
class KeptTensor:
    """A tensor that the forward pass keeps for the backward pass."""

    name: str
    elements: float
    """Elements per token. [-]"""
    spread: Spread
    kind: Literal["linear_input", "activation", "statistic"]
    """``linear_input`` is stored in the products' format (one byte in fp8), ``activation`` in the compute format,
    ``statistic`` in fp32."""
    cheap: bool = False
    """Whether the selective policies that recompute element-wise work drop it (norm outputs, activation outputs)."""
    eager: Literal["norm", "activation"] | None = None
    """What an eager implementation keeps a copy of beside it: the fp32 input of an RMS norm (a layer norm is one fused
    operator), the activation's output before the gate multiplies it (without a gate that is the product's input)."""


@dataclass(frozen=True, kw_only=True)
class BlockOperators:
    """The work of one layer."""

    products: tuple[MatrixProduct, ...]
    attention: AttentionCore
    passes: tuple[ElementwisePass, ...]
    kept: tuple[KeptTensor, ...]
    tensor_reductions: int
    """Sums over tensor-parallel ranks in one forward pass: after attention, after the MLP. [-]"""
    tensor_parameters: int
    """Parameters that tensor parallelism divides (experts apart). [-]"""
    whole_parameters: int
    """Parameters that every tensor-parallel rank holds whole: norms, biases of row products, routers. [-]"""
    expert_parameters: int
    """Parameters of the routed experts, divided by expert parallelism. [-]"""


@dataclass(frozen=True, kw_only=True)
class ModelOperators:
    """The work of a whole model, per token."""

    kinds: tuple[BlockOperators, ...]
    order: NDArray[np.intp]
    """Index into `kinds` of each layer, shape (layers,)."""
    hidden: int
    embedding_width: int
    """Width that the output layer reads; `hidden` for nearly every model."""
    vocab: int
    has_head: bool
    embedding_parameters: int
    """Input embedding with learned positions; cut by tensor parallelism along the vocabulary. [-]"""
    head_parameters: int
    """Output matrix of its own; with tied embeddings a pipeline's last stage holds a copy of the embedding. [-]"""
    tied: bool
    final_parameters: int
    """Final norm and other small parameters of the ends. [-]"""

    @property
    def head(self) -> MatrixProduct | None:
        """The product with the vocabulary."""
        if not self.has_head:
            return None
        return MatrixProduct(
            name="head", k=self.embedding_width, n=self.vocab, cut="column", target=None, quantizable=False
        )


def _attention_products(attention: Attention, hidden: int) -> tuple[MatrixProduct, ...]:
    heads, dim = attention.heads, attention.head_dim
    output = MatrixProduct(name="attention_output", k=heads * attention.value_dim, n=hidden, cut="row", target="o")
    if attention.kv_rank is None:
        width = heads * dim + attention.kv_heads * (dim + attention.value_dim)
        qkv = MatrixProduct(name="qkv", k=hidden, n=width, cut="column", target="q+k+v")
        if not attention.output_gate:
            return (qkv, output)
        gate_width = heads * attention.value_dim
        return (qkv, MatrixProduct(name="attention_gate", k=hidden, n=gate_width, cut="column", target=None), output)
    compress = MatrixProduct(
        name="kv_compress", k=hidden, n=attention.kv_rank + attention.rope_dim, cut="none", target="k+v"
    )
    expand = MatrixProduct(
        name="kv_expand",
        k=attention.kv_rank,
        n=heads * (dim - attention.rope_dim + attention.value_dim),
        cut="column",
        target="k+v",
    )
    if attention.query_rank is None:
        query: tuple[MatrixProduct, ...] = (
            MatrixProduct(name="query", k=hidden, n=heads * dim, cut="column", target="q"),
        )
    else:
        query = (
            MatrixProduct(name="query_compress", k=hidden, n=attention.query_rank, cut="none", target="q"),
            MatrixProduct(name="query_expand", k=attention.query_rank, n=heads * dim, cut="column", target="q"),
        )
    return (*query, compress, expand, output)


def _mlp_products(ffn: int, hidden: int, prefix: str, *, gated: bool) -> tuple[MatrixProduct, ...]:
    up = MatrixProduct(
        name=f"{prefix}_up",
        k=hidden,
        n=ffn * (2 if gated else 1),
        cut="column",
        target="gate+up" if gated else "up",
    )
    return (up, MatrixProduct(name=f"{prefix}_down", k=ffn, n=hidden, cut="row", target="down"))


def _expert_products(experts: Experts, hidden: int) -> tuple[MatrixProduct, ...]:
    width = experts.ffn * (2 if experts.gated else 1)
    return (
        MatrixProduct(name="router", k=hidden, n=experts.count, cut="none", target=None, quantizable=False),
        MatrixProduct(
            name="expert_up",
            k=hidden,
            n=width,
            cut="column",
            target="gate+up" if experts.gated else "up",
            experts=experts.count,
            active=experts.active,
        ),
        MatrixProduct(
            name="expert_down",
            k=experts.ffn,
            n=hidden,
            cut="row",
            target="down",
            experts=experts.count,
            active=experts.active,
        ),
    )


def _mlp_tensors(
    ffn: int, prefix: str, spread: Spread, active: int, *, gated: bool
) -> tuple[tuple[ElementwisePass, ...], tuple[KeptTensor, ...]]:
    """Give the activation pass of an MLP and what it keeps: the product's output and the activation's output."""
    width = ffn * (2 if gated else 1)
    passes = (
        ElementwisePass(
            name=f"{prefix}_activation", elements=active * (width + ffn), backward_ratio=5 / 3, spread=spread
        ),
    )
    kept = (
        KeptTensor(name=f"{prefix}_up_output", elements=active * width, spread=spread, kind="activation"),
        KeptTensor(
            name=f"{prefix}_down_input",
            elements=active * ffn,
            spread=spread,
            kind="linear_input",
            cheap=True,
            eager="activation" if gated else None,
        ),
    )
    return passes, kept


def _attention_tensors(block: Block, hidden: int) -> tuple[list[ElementwisePass], list[KeptTensor]]:
    """Give the passes around a layer's attention and its norms, and what they keep."""
    attention = block.attention
    heads_width = attention.heads * (attention.head_dim + attention.value_dim)
    key_width = attention.kv_heads * (attention.head_dim + attention.value_dim)
    if attention.is_latent:
        # keys are expanded to every head before the attention kernel
        key_width = attention.heads * (attention.head_dim + attention.value_dim)
    query_width = attention.query_width
    passes = [
        ElementwisePass(
            name="rotary", elements=2.0 * (query_width + key_width / 2), backward_ratio=1.0, spread="tensor"
        ),
        ElementwisePass(name="norms", elements=2.0 * hidden * block.norms, backward_ratio=1.5, spread="sequence"),
        ElementwisePass(name="residual", elements=3.0 * hidden * 2, backward_ratio=2 / 3, spread="sequence"),
    ]
    norm_outputs = 1 if block.parallel else 2
    # a layer norm has a weight and a bias of the hidden width, an RMS norm a weight alone
    eager_norm = block.norm_parameters < 2 * hidden * block.norms
    kept = [
        KeptTensor(
            name="norm_inputs",
            elements=hidden * block.norms,
            spread="sequence",
            kind="activation",
            eager="norm" if eager_norm else None,
        ),
        KeptTensor(
            name="norm_outputs", elements=hidden * norm_outputs, spread="sequence", kind="linear_input", cheap=True
        ),
        KeptTensor(name="query_key_value", elements=query_width + key_width, spread="tensor", kind="activation"),
        KeptTensor(name="attention_output", elements=heads_width - query_width, spread="tensor", kind="linear_input"),
        KeptTensor(name="softmax_statistic", elements=attention.heads, spread="tensor", kind="statistic"),
    ]
    if attention.query_key_norms:
        kept.append(
            KeptTensor(
                name="query_key_norm_inputs",
                elements=query_width + attention.kv_heads * attention.head_dim,
                spread="tensor",
                kind="activation",
                cheap=True,
                eager="norm" if eager_norm else None,
            )
        )
    if attention.is_latent:
        ranks = (attention.query_rank or 0) + (attention.kv_rank or 0)
        kept += [
            KeptTensor(
                name="latent_inputs",
                elements=ranks,
                spread="sequence",
                kind="activation",
                cheap=True,
                eager="norm",
            ),
            KeptTensor(name="latent_outputs", elements=ranks, spread="sequence", kind="linear_input", cheap=True),
        ]
    return passes, kept


def _expert_tensors(experts: Experts, hidden: int) -> tuple[list[ElementwisePass], list[KeptTensor]]:
    """Give the passes of routed and shared experts with their dispatch, and what they keep."""
    routed, kept_routed = _mlp_tensors(experts.ffn, "expert", "expert", experts.active, gated=experts.gated)
    dispatch = ElementwisePass(
        name="dispatch", elements=4.0 * hidden * experts.active, backward_ratio=1.0, spread="expert"
    )
    passes = [*routed, dispatch]
    kept = [
        *kept_routed,
        KeptTensor(name="dispatched", elements=hidden * experts.active, spread="expert", kind="linear_input"),
        KeptTensor(name="expert_output", elements=hidden * experts.active, spread="expert", kind="activation"),
        KeptTensor(name="routing", elements=2.0 * experts.count, spread="sequence", kind="statistic"),
    ]
    if experts.shared_ffn:
        shared, kept_shared = _mlp_tensors(experts.shared_ffn, "shared", "tensor", 1, gated=experts.gated)
        passes += shared
        kept += kept_shared
    return passes, kept


def build_block_operators(block: Block, hidden: int) -> BlockOperators:
    """List the work of one layer.

    Kept tensors follow Korthikanti et al., arXiv 2205.05198, section 4.1 (34 s b h for the GPT layer of that paper,
    dropout masks apart), extended to gated, grouped-query, latent and expert layers: each product keeps its input,
    each activation its input, flash attention its operands and one statistic per head and row.
    """
    attention = block.attention
    products = list(_attention_products(attention, hidden))
    passes, kept = _attention_tensors(block, hidden)
    if block.mlp is not None:
        products += _mlp_products(block.mlp.ffn, hidden, "mlp", gated=block.mlp.gated)
        more_passes, more_kept = _mlp_tensors(block.mlp.ffn, "mlp", "tensor", 1, gated=block.mlp.gated)
        passes += more_passes
        kept += more_kept
    expert_parameters = 0
    router_parameters = 0
    if block.experts is not None:
        experts = block.experts
        expert_parameters = experts.count * count_expert_parameters(experts, hidden)
        router_parameters = experts.count * hidden
        products += _expert_products(experts, hidden)
        if experts.shared_ffn:
            products += _mlp_products(experts.shared_ffn, hidden, "shared", gated=experts.gated)
        expert_passes, expert_kept = _expert_tensors(experts, hidden)
        passes += expert_passes
        kept += expert_kept
    has_dense_mlp = block.mlp is not None or (block.experts is not None and block.experts.shared_ffn > 0)
    whole = block.norm_parameters + router_parameters + attention.extra_parameters
    whole += sum(product.parameters for product in products if product.cut == "none" and product.name != "router")
    return BlockOperators(
        products=tuple(products),
        attention=AttentionCore(
            heads=attention.heads,
            kv_heads=attention.heads if attention.is_latent else attention.kv_heads,
            head_dim=attention.head_dim,
            value_dim=attention.value_dim,
            window=attention.window,
            causal=attention.causal,
        ),
        passes=tuple(passes),
        kept=tuple(kept),
        tensor_reductions=1 if block.parallel or not has_dense_mlp else 2,
        tensor_parameters=count_block_parameters(block, hidden) - expert_parameters - whole,
        whole_parameters=whole,
        expert_parameters=expert_parameters,
    )


def build_operators(architecture: Architecture) -> ModelOperators:
    """Turn an architecture into operators.

    The parameters of all parts sum to `Architecture.total_parameters`.
    """
    kinds = architecture.kinds
    index = {kind: position for position, kind in enumerate(kinds)}
    return ModelOperators(
        kinds=tuple(build_block_operators(kind, architecture.hidden) for kind in kinds),
        order=np.array([index[block] for block in architecture.layers], dtype=np.intp),
        hidden=architecture.hidden,
        embedding_width=architecture.embedding_width or architecture.hidden,
        vocab=architecture.vocab,
        has_head=architecture.has_head,
        embedding_parameters=architecture.embedding_parameters + architecture.learned_positions * architecture.hidden,
        head_parameters=architecture.head_parameters,
        tied=architecture.tied_embeddings,
        final_parameters=architecture.extra_parameters + (architecture.vocab if architecture.head_bias else 0),
    )

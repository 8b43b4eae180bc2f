"""An architecture given by Megatron's model arguments.

Defaults are Megatron-LM's own (``megatron/training/arguments.py``): multi-head attention, two-matrix MLPs of four
times the hidden size, linear biases, LayerNorm, learned positions, tied embeddings, a vocabulary padded to a multiple
of 128 times the tensor-parallel degree.
"""

from __future__ import annotations

from dataclasses import dataclass

from suanpei.job.architecture import Architecture, Attention, Block, Experts, Mlp

_VOCAB_MULTIPLE = 128
"""Default of ``--make-vocab-size-divisible-by``. Source: Megatron-LM, ``megatron/training/arguments.py``."""


@dataclass(frozen=True, kw_only=True)
class ModelArguments:
    """The model part of Megatron's command line."""

    layers: int
    hidden: int
    heads: int
    ffn: int
    gated: bool
    kv_heads: int
    head_dim: int
    """Width of a head; in latent attention of the part without positions."""
    rms_norm: bool
    linear_bias: bool
    qkv_bias: bool
    qk_norm: bool
    tied_embeddings: bool
    learned_positions: int
    """Rows of a learned position table; 0 for rotary or no positions."""
    max_context: int | None
    latent: bool = False
    query_rank: int | None = None
    kv_rank: int | None = None
    rope_dim: int = 0
    value_dim: int | None = None
    experts: int | None = None
    active_experts: int = 2
    expert_ffn: int | None = None
    shared_ffn: int = 0
    shared_gate: bool = False
    moe_layers: tuple[bool, ...] | None = None
    """Which layers have experts; None: all, where there are experts."""
    vocab_multiple: int = _VOCAB_MULTIPLE
    padded_vocab: int | None = None

    def pad_vocab(self, vocab: int, tp: int) -> int:
        """Give the rows of the embedding that is really allocated. [-]"""
        if self.padded_vocab is not None:
            return self.padded_vocab
        multiple = self.vocab_multiple * tp
        return -(-vocab // multiple) * multiple

    def build(self, *, vocab: int, tp: int, name: str, source: str) -> Architecture:
        """Build the architecture.

        Args:
            vocab: Tokens that the tokenizer knows, before padding. [-]
            tp: Tensor-parallel degree, which the padding depends on. [-]
            name: What to call it. [-]
            source: Where the arguments stand. [-]
        """
        norm = self.hidden if self.rms_norm else 2 * self.hidden
        attention = self._attention()
        mlp = Mlp(ffn=self.ffn, gated=self.gated, bias=self.linear_bias)
        dense = Block(attention=attention, mlp=mlp, norm_parameters=2 * norm)
        sparse = dense
        if self.experts is not None:
            sparse = Block(attention=attention, experts=self._experts(self.experts), norm_parameters=2 * norm)
        pattern = self.moe_layers or (self.experts is not None,) * self.layers
        return Architecture(
            name=name,
            family="megatron",
            hidden=self.hidden,
            vocab=self.pad_vocab(vocab, tp),
            layers=tuple(sparse if has_experts else dense for has_experts in pattern),
            tied_embeddings=self.tied_embeddings,
            max_context=self.max_context,
            learned_positions=self.learned_positions,
            extra_parameters=norm,
            source=source,
        )

    def _attention(self) -> Attention:
        norm_width = 1 if self.rms_norm else 2
        if self.latent:
            ranks = (self.query_rank or 0) + (self.kv_rank or 0)
            return Attention(
                heads=self.heads,
                kv_heads=self.heads,
                head_dim=self.head_dim + self.rope_dim,
                value_dim=self.value_dim or self.head_dim,
                query_rank=self.query_rank,
                kv_rank=self.kv_rank,
                rope_dim=self.rope_dim,
                output_bias=self.linear_bias,
                extra_parameters=norm_width * ranks if self.qk_norm else 0,
            )
        return Attention(
            heads=self.heads,
            kv_heads=self.kv_heads,
            head_dim=self.head_dim,
            value_dim=self.head_dim,
            qkv_bias=self.qkv_bias or self.linear_bias,
            output_bias=self.linear_bias,
            extra_parameters=2 * norm_width * self.head_dim if self.qk_norm else 0,
            query_key_norms=self.qk_norm,
        )

    def _experts(self, count: int) -> Experts:
        return Experts(
            count=count,
            active=self.active_experts,
            ffn=self.expert_ffn or self.ffn,
            gated=self.gated,
            bias=self.linear_bias,
            shared_ffn=self.shared_ffn,
            shared_gate=self.shared_gate,
        )

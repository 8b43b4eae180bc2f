"""How the models of one family are built: data that `decoder` turns into an architecture.

The defaults are those of the family's configuration class in `transformers` (facts of that library); families that live
in remote code only have none, and their files must state the sizes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Switch = bool | str
"""A fixed yes or no, or the name of the field that decides."""


@dataclass(frozen=True, kw_only=True)
class ExpertStyle:
    """Which layers hold experts, and what the experts look like."""

    layers: Literal["all", "first_dense", "step", "interleave", "range"] = "all"
    """``first_dense``: `first_k_dense_replace` dense layers, then every `moe_layer_freq`-th; ``step``: every
    `decoder_sparse_step`-th except `mlp_only_layers`; ``interleave``: `interleave_moe_layer_step` or `moe_layers`;
    ``range``: from `moe_layer_start_index` to `moe_layer_end_index` every `moe_layer_interval`."""
    shared: Literal["none", "count", "width", "always"] = "none"
    """Shared experts: none; a count of experts of the routed width; a width of their own; one of the dense width."""
    shared_gate: bool = False
    bias: bool = False
    router_bias: bool = False
    own_width: bool = True
    """Whether experts have a width field of their own (`moe_intermediate_size`), else they take the dense width."""
    optional: bool = False
    """Whether a file without a number of experts describes a dense model of the same family."""
    dense_width: str = "intermediate_size"
    """The field with the width of dense layers."""


@dataclass(frozen=True, kw_only=True)
class Style:
    """One family of decoders."""

    family: str
    defaults: Mapping[str, int | None] = field(default_factory=dict)
    """Sizes for absent fields, by canonical name; a missing name makes the field necessary."""
    tied: bool = False
    norm_vectors: int = 1
    """Vectors of a norm: 1 (RMSNorm, LayerNorm without bias), 2 (LayerNorm), 0 (no parameters)."""
    norms: int = 2
    """Norms of a layer."""
    final_norm: bool = True
    gated: bool = True
    qkv_bias: Switch = False
    output_bias: Switch = False
    mlp_bias: Switch = False
    head_bias: Switch = False
    switch_defaults: Mapping[str, bool] = field(default_factory=dict)
    """Value of a deciding field where the file leaves it out; False where not listed."""
    qk_norm: Literal["none", "head", "full"] = "none"
    """Norms of queries and keys: none, one head wide, or as wide as all heads."""
    qk_norm_key: str | None = None
    """The field that switches the norms on; None is always."""
    parallel: Switch = False
    """Attention and MLP read the same input."""
    sinks: bool = False
    """A trained sink logit per head."""
    latent: bool = False
    learned_positions: int | None = None
    """Rows that the position table has beyond the context; None has no table."""
    embedding_norms: int = 0
    """Vectors of a norm right after the embedding."""
    ffn_ratio: int | None = None
    """Inner width over hidden width where the file leaves it out."""
    ffn_divisor: int = 1
    """The file states this many times the real inner width."""
    window: Literal["none", "all", "pattern", "qwen"] = "none"
    """Which layers slide: none, all, all but every n-th, or by `use_sliding_window` and `max_window_layers`."""
    window_pattern: int = 2
    window_default: int | None = None
    experts: ExpertStyle | None = None
    ignored: tuple[str, ...] = ()
    """Fields of this family that change neither sizes nor FLOPs."""
    required: Mapping[str, object] = field(default_factory=dict)
    """Fields that are understood with this value only."""

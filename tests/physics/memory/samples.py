"""Small architectures and recipes that the memory tests share."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import numpy as np

from suanpei.job.architecture import Architecture, Attention, Block, Experts, Mlp
from suanpei.job.job import Job
from suanpei.job.operators import ModelOperators, build_operators
from suanpei.physics.recipe import Recipe, load_recipes

RECIPES: dict[str, Recipe] = load_recipes(
    tomllib.loads(files("suanpei.catalog").joinpath("recipes.toml").read_text(encoding="utf-8"))
)

GIB = 2.0**30


def llama(
    *,
    layers: int = 32,
    hidden: int = 4096,
    ffn: int = 11008,
    heads: int = 32,
    kv_heads: int = 32,
    vocab: int = 32000,
    tied: bool = False,
) -> Architecture:
    """A Llama-shaped model; the defaults are Llama-2-7B."""
    dim = hidden // heads
    attention = Attention(heads=heads, kv_heads=kv_heads, head_dim=dim, value_dim=dim)
    block = Block(attention=attention, mlp=Mlp(ffn=ffn, gated=True), norm_parameters=2 * hidden)
    return Architecture(
        name="llama",
        family="llama",
        hidden=hidden,
        vocab=vocab,
        layers=(block,) * layers,
        tied_embeddings=tied,
        max_context=None,
        extra_parameters=hidden,
    )


def gpt(*, layers: int = 2, hidden: int = 64, heads: int = 4, vocab: int = 256) -> Architecture:
    """A GPT-shaped layer: LayerNorm, four times as wide GELU MLP, biases."""
    dim = hidden // heads
    attention = Attention(heads=heads, kv_heads=heads, head_dim=dim, value_dim=dim, qkv_bias=True, output_bias=True)
    block = Block(attention=attention, mlp=Mlp(ffn=4 * hidden, gated=False, bias=True), norm_parameters=4 * hidden)
    return Architecture(
        name="gpt",
        family="gpt",
        hidden=hidden,
        vocab=vocab,
        layers=(block,) * layers,
        tied_embeddings=True,
        max_context=None,
        extra_parameters=2 * hidden,
    )


def mixture(*, dense_layers: int = 1, layers: int = 8, count: int = 8, active: int = 2) -> Architecture:
    """Dense layers first, then layers of routed experts."""
    attention = Attention(heads=8, kv_heads=2, head_dim=16, value_dim=16)
    dense = Block(attention=attention, mlp=Mlp(ffn=512, gated=True), norm_parameters=256)
    sparse = Block(
        attention=attention,
        experts=Experts(count=count, active=active, ffn=256, gated=True, shared_ffn=256),
        norm_parameters=256,
    )
    return Architecture(
        name="mixture",
        family="mixtral",
        hidden=128,
        vocab=1000,
        layers=(dense,) * dense_layers + (sparse,) * (layers - dense_layers),
        tied_embeddings=False,
        max_context=None,
        extra_parameters=128,
    )


def job_of(architecture: Architecture, **changes: Any) -> Job:
    """A pretraining job with a short sequence, changed as told."""
    values: dict[str, Any] = {"architecture": architecture, "method": "pretrain", "seq_len": 1024}
    return Job(**values | {"global_batch_seqs": 8} | changes)


def operators_of(architecture: Architecture) -> ModelOperators:
    """The operators of an architecture."""
    return build_operators(architecture)


def knobs(*names: str, **values: int) -> dict[str, Any]:
    """Knob arrays of shape (1,), 1 where not told (0 for sp, sharding and recompute)."""
    zero = {"sp", "sharding", "recompute"}
    return {name: np.array([values.get(name, 0 if name in zero else 1)]) for name in names}

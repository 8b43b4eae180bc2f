"""Jobs, clusters and strategies that the tests of time physics share, and hypothesis strategies over them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from hypothesis import strategies as st

from suanpei.job.architecture import Architecture, Attention, Block, Experts, Mlp
from suanpei.job.job import Job, Lora
from suanpei.machine.calibration import Calibration, load_calibration
from suanpei.machine.catalogue import load_catalogue
from suanpei.machine.cluster import Cluster, build_cluster
from suanpei.machine.names import resolve_accelerator
from suanpei.physics.recipe import Recipe, load_recipes
from suanpei.physics.strategy import Recompute, Sharding, Strategies, Strategy

CATALOGUE = load_catalogue()
CALIBRATION: Calibration = load_calibration(CATALOGUE)
RECIPES: dict[str, Recipe] = load_recipes(CATALOGUE.toml("recipes"))


def dense(hidden: int = 1024, layers: int = 8, heads: int = 16, kv_heads: int = 4, vocab: int = 32_000) -> Architecture:
    """A small gated, grouped-query model."""
    attention = Attention(heads=heads, kv_heads=kv_heads, head_dim=hidden // heads, value_dim=hidden // heads)
    block = Block(attention=attention, mlp=Mlp(ffn=4 * hidden, gated=True), norm_parameters=2 * hidden)
    return Architecture(
        name="sample",
        family="llama",
        hidden=hidden,
        vocab=vocab,
        layers=(block,) * layers,
        tied_embeddings=False,
        max_context=8192,
        extra_parameters=hidden,
    )


def sparse() -> Architecture:
    """The same with experts in all but the first layer."""
    base = dense()
    experts = Experts(count=16, active=2, ffn=1024, gated=True, shared_ffn=1024)
    routed = replace(base.layers[0], mlp=None, experts=experts)
    return replace(base, layers=(base.layers[0],) + (routed,) * 7)


def job(architecture: Architecture | None = None, **changes: object) -> Job:
    """A pretraining job of 64 sequences of 2,048 tokens."""
    base = Job(architecture=architecture or dense(), method="pretrain", seq_len=2048, global_batch_seqs=64, tokens=1e9)
    return replace(base, **changes)  # type: ignore[arg-type]


def lora_job() -> Job:
    """The same model under adapters."""
    return job(method="lora", lora=Lora(rank=16))


@cache
def cluster(name: str = "A100-SXM4-80GB") -> Cluster:
    """A cluster of the catalogue."""
    return build_cluster(CATALOGUE, resolve_accelerator(CATALOGUE, name).accelerator)


@st.composite
def megatron_rows(draw: st.DrawFn, gpus: int = 16) -> Strategies:
    """Some legal Megatron strategies of `job()` on 16 accelerators, without experts."""

    def one() -> Strategy:
        tp = draw(st.sampled_from([1, 2, 4]))
        pp = draw(st.sampled_from([1, 2, 4]))
        cp = draw(st.sampled_from([1, 2]).filter(lambda cp: tp * pp * cp <= gpus))
        dp = gpus // (tp * pp * cp)
        per_rank = 64 // dp
        micro = draw(st.sampled_from([size for size in (1, 2, 4) if per_rank % size == 0]))
        accumulated = per_rank // micro
        vpp = draw(st.sampled_from([1, 2] if pp > 1 and 8 % (2 * pp) == 0 and accumulated % pp == 0 else [1]))
        return Strategy(
            tp=tp,
            sp=tp > 1 and draw(st.booleans()),
            pp=pp,
            vpp=vpp,
            cp=cp,
            dp=dp,
            sharding=draw(st.sampled_from([Sharding.NONE, Sharding.ZERO1])),
            recompute=draw(st.sampled_from(list(Recompute))),
            micro_batch=micro,
            grad_accum=accumulated,
        )

    return Strategies.of([one() for _ in range(draw(st.integers(1, 12)))])


def sharded_rows() -> Strategies:
    """FSDP strategies of `job()` on 16 accelerators."""
    return Strategies.of(
        [
            Strategy(dp=16, sharding=sharding, recompute=level, micro_batch=micro, grad_accum=4 // micro)
            for sharding in (Sharding.ZERO2, Sharding.ZERO3)
            for level in Recompute
            for micro in (1, 2, 4)
        ]
    )


def as_array(*values: float) -> np.ndarray:
    """Short for a float array."""
    return np.array(values, dtype=np.float64)

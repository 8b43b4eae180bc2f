"""Small jobs and clusters that the planner's and the physics' tests share."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from suanpei.job.architecture import Architecture, Attention, Block, Experts, Mlp
from suanpei.job.job import Job
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.calibration import Calibration, load_calibration
from suanpei.machine.catalogue import load_catalogue
from suanpei.machine.cluster import Cluster, build_cluster
from suanpei.physics.recipe import Recipe, load_recipes


def make_architecture(
    layers: int = 4,
    hidden: int = 512,
    heads: int = 8,
    kv_heads: int = 4,
    ffn: int = 1536,
    experts: int = 0,
) -> Architecture:
    """A small decoder; with experts every layer routes to two of them."""
    attention = Attention(heads=heads, kv_heads=kv_heads, head_dim=hidden // heads, value_dim=hidden // heads)
    block = Block(
        attention=attention,
        mlp=None if experts else Mlp(ffn=ffn, gated=True),
        experts=Experts(count=experts, active=2, ffn=ffn, gated=True) if experts else None,
        norm_parameters=2 * hidden,
    )
    return Architecture(
        name="sample",
        family="sample",
        hidden=hidden,
        vocab=32_000,
        layers=(block,) * layers,
        tied_embeddings=False,
        max_context=8192,
        extra_parameters=hidden,
    )


def make_job(architecture: Architecture | None = None, **changes: Any) -> Job:
    """Pretraining on a billion tokens in batches of 32 sequences of 2,048."""
    fields: dict[str, Any] = {
        "method": "pretrain",
        "seq_len": 2048,
        "global_batch_seqs": 32,
        "batch_is_exact": True,
        "tokens": 1e9,
    }
    return Job(architecture=architecture or make_architecture(), **(fields | changes))


@cache
def recipes() -> dict[str, Recipe]:
    """The bundled recipes."""
    return load_recipes(load_catalogue().toml("recipes"))


@cache
def calibration() -> Calibration:
    """The bundled calibration."""
    return load_calibration(load_catalogue())


@cache
def cluster(name: str = "A100-SXM4-80GB") -> Cluster:
    """The usual cluster of a bundled accelerator."""
    catalogue = load_catalogue()
    return build_cluster(catalogue, load_accelerators(catalogue)[name])


def with_memory(base: Cluster, memory_bytes: float) -> Cluster:
    """The same cluster with another memory size."""
    return replace(base, accelerator=replace(base.accelerator, memory_bytes=memory_bytes))

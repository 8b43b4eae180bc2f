"""Strategies: how one job is split over accelerators, one of them or a million.

The rules of what is legal stand once in ``legality``; `check_strategy` explains them to a person, `legal_mask` applies
the same rules to arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import TYPE_CHECKING, Self

import numpy as np

from suanpei.messages import Message
from suanpei.physics.legality import RULES, Shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suanpei.job.job import Job
    from suanpei.machine.cluster import Cluster
    from suanpei.physics.recipe import Recipe

    IntArray = NDArray[np.int64]


class Sharding(IntEnum):
    """What data-parallel ranks divide among themselves."""

    NONE = 0
    ZERO1 = 1
    ZERO2 = 2
    ZERO3 = 3


class Recompute(IntEnum):
    """Which activations are computed again in the backward pass."""

    NONE = 0
    SELECTIVE = 1
    FULL = 2


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """One way to split a job. ``gpus = tp · cp · pp · dp``."""

    tp: int = 1
    """Tensor-parallel degree."""
    sp: bool = False
    """Sequence parallelism over the tensor-parallel ranks (Megatron's)."""
    pp: int = 1
    """Pipeline stages."""
    vpp: int = 1
    """Virtual stages per pipeline rank (interleaving)."""
    cp: int = 1
    """Context-parallel degree."""
    ep: int = 1
    """Expert-parallel degree, carved from tp · cp · dp."""
    etp: int = 1
    """Tensor-parallel degree inside an expert: 1 or tp."""
    dp: int = 1
    """Data-parallel degree."""
    sharding: Sharding = Sharding.NONE
    recompute: Recompute = Recompute.NONE
    micro_batch: int = 1
    """Sequences per micro-batch and data-parallel rank."""
    grad_accum: int = 1
    """Micro-batches per optimizer step and rank."""

    @property
    def gpus(self) -> int:
        """Accelerators used."""
        return self.tp * self.cp * self.pp * self.dp

    @property
    def global_batch_seqs(self) -> int:
        """Sequences per optimizer step."""
        return self.micro_batch * self.grad_accum * self.dp


@dataclass(frozen=True, kw_only=True)
class Strategies:
    """Many strategies as one array per knob, all of one shape (n,); `sp` as 0 or 1."""

    tp: IntArray
    sp: IntArray
    pp: IntArray
    vpp: IntArray
    cp: IntArray
    ep: IntArray
    etp: IntArray
    dp: IntArray
    sharding: IntArray
    recompute: IntArray
    micro_batch: IntArray
    grad_accum: IntArray

    @classmethod
    def of(cls, strategies: Sequence[Strategy]) -> Self:
        """Gather strategies into arrays."""
        return cls(
            **{
                knob.name: np.array([int(getattr(strategy, knob.name)) for strategy in strategies], dtype=np.int64)
                for knob in fields(cls)
            }
        )

    def __len__(self) -> int:
        return len(self.tp)

    def row(self, index: int) -> Strategy:
        """Give one of them."""
        values = {knob.name: int(getattr(self, knob.name)[index]) for knob in fields(self)}
        sp, sharding, recompute = values.pop("sp"), values.pop("sharding"), values.pop("recompute")
        return Strategy(sp=bool(sp), sharding=Sharding(sharding), recompute=Recompute(recompute), **values)

    def take(self, indices: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Self:
        """Give a subset, by index, mask or slice."""
        return type(self)(**{knob.name: getattr(self, knob.name)[indices] for knob in fields(self)})

    @property
    def gpus(self) -> IntArray:
        """Accelerators used by each, shape (n,)."""
        return self.tp * self.cp * self.pp * self.dp

    @property
    def global_batch_seqs(self) -> IntArray:
        """Sequences per optimizer step of each, shape (n,)."""
        return self.micro_batch * self.grad_accum * self.dp


def check_strategy(job: Job, recipe: Recipe, strategy: Strategy) -> tuple[Message, ...]:
    """Name every rule that one strategy breaks.

    Args:
        job: Gives the architecture's divisors, the sequence length and the batch. [-]
        recipe: Gives the axes and shardings on offer. [-]
        strategy: The strategy to check. [-]

    Returns:
        One message per broken rule; empty for a legal strategy. A degree below 1 is reported alone.
    """
    shape = Shape(job=job, recipe=recipe)
    rows = Strategies.of([strategy])
    positive, *others = RULES
    if bool(np.any(positive.broken(rows, shape))):
        return (positive.explain(strategy, shape),)
    return tuple(rule.explain(strategy, shape) for rule in others if bool(np.any(rule.broken(rows, shape))))


def legal_mask(job: Job, recipe: Recipe, strategies: Strategies) -> NDArray[np.bool_]:
    """Tell which strategies break no rule: `check_strategy` for arrays.

    Args:
        job: Gives the architecture's divisors, the sequence length and the batch. [-]
        recipe: Gives the axes and shardings on offer. [-]
        strategies: Knobs of positive degree, of any shapes that broadcast (an open mesh of axes is fine). [-]

    Returns:
        Truth per strategy, the broadcast shape of the knobs that the rules name.
    """
    shape = Shape(job=job, recipe=recipe)
    legal: NDArray[np.bool_] = np.ones((), dtype=np.bool_)
    for rule in RULES:
        legal = legal & ~rule.broken(strategies, shape)
    return legal


def warn_strategy(job: Job, cluster: Cluster, strategy: Strategy) -> tuple[Message, ...]:
    """Name what is legal but slow or wasteful, and what the search therefore leaves out or ranks low.

    Args:
        job: Gives layers and key-value heads. [-]
        cluster: Gives the scale-up domain. [-]
        strategy: A legal strategy. [-]

    Returns:
        Messages, none for a plain strategy.
    """
    warnings = []
    if strategy.tp > cluster.domain_gpus:
        warnings.append(
            Message(
                "tp = {tp} reaches beyond the {domain} accelerators that the scale-up fabric joins: its collectives run"
                " over {fabric}",
                tp=strategy.tp,
                domain=cluster.domain_gpus,
                fabric=cluster.scale_out.name,
            )
        )
    layers = job.architecture.layer_count
    if layers % strategy.pp:
        warnings.append(
            Message(
                "pp = {pp} does not divide {layers} layers: the fullest stage has {most}; even stages take pp in"
                " {even}",
                pp=strategy.pp,
                layers=layers,
                most=-(-layers // strategy.pp),
                even=", ".join(str(degree) for degree in valid_pipeline(layers)),
            )
        )
    attentions = [kind.attention for kind in job.architecture.kinds]
    fewest = min((attention.kv_heads for attention in attentions if not attention.is_latent), default=0)
    if fewest and strategy.tp > fewest:
        warnings.append(
            Message(
                "tp = {tp} is more than {kv_heads} key-value heads: {copies} ranks hold copies of each",
                tp=strategy.tp,
                kv_heads=fewest,
                copies=strategy.tp // fewest,
            )
        )
    return tuple(warnings)


def divisors(number: int) -> list[int]:
    """List the divisors of a positive whole number, ascending. [-]

    Example:
        >>> divisors(46)
        [1, 2, 23, 46]
    """
    low = [candidate for candidate in range(1, math.isqrt(number) + 1) if number % candidate == 0]
    return sorted({*low, *(number // candidate for candidate in low)})


def valid_tensor_parallel(heads: int, kv_heads: int, gpus_per_node: int) -> list[int]:
    """List the tensor-parallel degrees that the heads allow inside one node.

    Args:
        heads: Attention heads. [-]
        kv_heads: Key-value heads; a degree divides them or is a multiple of them. [-]
        gpus_per_node: Accelerators of the node; a degree divides them, so that groups do not straddle nodes. [-]

    Returns:
        Degrees, ascending.

    Example:
        >>> valid_tensor_parallel(28, 4, 8)
        [1, 2, 4]
    """
    return [
        degree
        for degree in divisors(gpus_per_node)
        if heads % degree == 0 and (kv_heads % degree == 0 or degree % kv_heads == 0)
    ]


def valid_pipeline(layers: int) -> list[int]:
    """List the pipeline degrees that give every stage the same number of layers. [-]

    Uneven stages are possible up to one stage per layer; the fullest sets the pace.

    Example:
        >>> valid_pipeline(46)
        [1, 2, 23, 46]
    """
    return divisors(layers)

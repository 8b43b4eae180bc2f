"""Every legal strategy of a job on given numbers of accelerators, and the numbers worth looking at.

Strategies come from divisors, not from counting up: layouts (tp, cp, pp, dp) that multiply to the count, times an inner
mesh of the remaining knobs, masked by the rules of ``physics.legality`` on an open mesh, where each rule is evaluated
only on the axes that it names. The cost grows with the number of divisors, not with the number of accelerators, and
blocks are handed out so that a space of millions never stands in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from suanpei.messages import Message
from suanpei.physics.legality import Shape
from suanpei.physics.strategy import Recompute, Sharding, Strategies, divisors, legal_mask

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from suanpei.job.job import Job
    from suanpei.machine.cluster import Cluster
    from suanpei.physics.recipe import Recipe

    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]

BLOCK_ROWS = 16_384
"""Candidates per block: arrays of this length stay in the second-level cache."""

_MASK_CELLS = 2**22
"""Cells of the open mesh that are masked at once."""

NODE_COUNTS_PER_DOUBLING = 4
"""Numbers of nodes considered between n and 2 n, above eight nodes."""


@dataclass(frozen=True, kw_only=True)
class Space:
    """Which legal strategies are enumerated."""

    micro_batch_tokens: int | None
    """Most tokens of one micro-batch on one context-parallel rank; None takes every micro-batch. [tokens]"""
    context_tokens: int
    """Fewest tokens of a sequence that a context-parallel rank is left with. [tokens]"""
    virtual_stages: int | None
    """Most virtual stages per rank, then powers of two only; None takes every divisor. [-]"""
    expert_ranks: int | None
    """Most expert-parallel ranks; None takes every divisor of the experts. [-]"""
    uneven_fraction: float
    """How much fuller than the mean the fullest stage may be. [-]"""
    keeps_dominated: bool
    """Whether strategies stay that another one beats in memory at the same traffic: sequence parallelism off, states
    whole on every rank although the recipe shards them, tensor groups beyond the scale-up domain."""

    def messages(self) -> tuple[Message, ...]:
        """State the caps, for the list of assumptions; nothing for the full space."""
        if self.keeps_dominated:
            return ()
        return (
            Message(
                "strategies considered: tp inside the scale-up domain with sequence parallelism, micro-batches of at"
                " most {micro_tokens} tokens in powers of two, at least {context_tokens} tokens per context-parallel"
                " rank, at most {virtual} virtual stages and {experts} expert-parallel ranks",
                micro_tokens=self.micro_batch_tokens,
                context_tokens=self.context_tokens,
                virtual=self.virtual_stages,
                experts=self.expert_ranks,
            ),
        )


PRACTICAL = Space(
    micro_batch_tokens=65_536,
    context_tokens=8_192,
    virtual_stages=4,
    expert_ranks=64,
    uneven_fraction=0.125,
    keeps_dominated=False,
)
"""What published runs choose from; the default of a plan."""

FULL = Space(
    micro_batch_tokens=None,
    context_tokens=2,
    virtual_stages=None,
    expert_ranks=None,
    uneven_fraction=0.0,
    keeps_dominated=True,
)
"""Everything legal with even stages, as exhaustive searches enumerate it."""


def choose_counts(low: int, high: int, gpus_per_node: int, named: Sequence[int] = ()) -> list[int]:
    """Choose the numbers of accelerators worth evaluating.

    Inside a node 1, 2, 4, … and the whole node; above it whole nodes only: each number up to eight, then four per
    doubling (8, 10, 12, 14, 16, 20, …). Time and cost vary smoothly in between.

    Args:
        low: Fewest accelerators, at least 1. [-]
        high: Most accelerators. [-]
        gpus_per_node: Accelerators of one node. [-]
        named: Numbers to take in any case. [-]

    Returns:
        Numbers from low to high, ascending, with those named.

    Example:
        >>> choose_counts(1, 128, 8)
        [1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128]
    """
    counts = {gpus_per_node}
    part = 1
    while part < gpus_per_node:
        if gpus_per_node % part == 0:
            counts.add(part)
        part *= 2
    nodes, stride = 1, 1
    while nodes * gpus_per_node <= high:
        counts.add(nodes * gpus_per_node)
        if nodes >= 2 * NODE_COUNTS_PER_DOUBLING and nodes & (nodes - 1) == 0:
            stride = nodes // NODE_COUNTS_PER_DOUBLING
        nodes += stride
    return sorted({count for count in counts if low <= count <= high} | set(named))


def enumerate_strategies(job: Job, cluster: Cluster, recipe: Recipe, gpus: int, space: Space = PRACTICAL) -> Strategies:
    """Enumerate the legal strategies on one number of accelerators, as one array.

    Args:
        job: Gives the divisors. [-]
        cluster: Gives the scale-up domain. [-]
        recipe: Gives axes and shardings. [-]
        gpus: Accelerators, all used. [-]
        space: Which legal ones. [-]

    Returns:
        Strategies, possibly none.
    """
    return join_strategies(list(iterate_strategies(job, cluster, recipe, (gpus,), space)))


def join_strategies(blocks: Sequence[Strategies]) -> Strategies:
    """Put blocks together."""
    empty = Strategies.of([])
    return Strategies(
        **{
            knob: np.concatenate([getattr(empty, knob), *(getattr(block, knob) for block in blocks)])
            for knob in Strategies.__dataclass_fields__
        }
    )


def iterate_strategies(
    job: Job,
    cluster: Cluster,
    recipe: Recipe,
    counts: Sequence[int],
    space: Space = PRACTICAL,
    rows: int = BLOCK_ROWS,
) -> Iterator[Strategies]:
    """Enumerate the legal strategies on several numbers of accelerators, in blocks, ascending by number.

    Args:
        job: Gives the divisors. [-]
        cluster: Gives the scale-up domain. [-]
        recipe: Gives axes and shardings. [-]
        counts: Numbers of accelerators. [-]
        space: Which legal ones. [-]
        rows: Strategies per block. [-]

    Yields:
        Blocks of at most `rows` strategies.
    """
    shape = Shape(job=job, recipe=recipe)
    inner = _inner_values(shape, space)
    inner_shape = tuple(len(values) for values in inner.values())
    cells = prod(inner_shape)
    inner_rows = {
        name: column.ravel() for name, column in zip(inner, np.meshgrid(*inner.values(), indexing="ij"), strict=True)
    }
    micro_index = np.arange(cells) % inner_shape[-1]
    layouts = _layouts(shape, cluster, counts, space)
    step = max(_MASK_CELLS // cells, 1)
    for start in range(0, len(layouts["dp"]), step):
        part = {name: column[start : start + step] for name, column in layouts.items()}
        mesh = _open_mesh(shape, part, inner)
        mask = legal_mask(job, recipe, mesh) & _wanted(shape, mesh, space)
        kept = np.flatnonzero(np.broadcast_to(mask, (len(part["dp"]), *inner_shape)))
        accumulation = np.broadcast_to(mesh.grad_accum, (len(part["dp"]), *[1] * (len(inner) - 1), inner_shape[-1]))
        accumulation = accumulation.reshape(len(part["dp"]), inner_shape[-1])
        for first in range(0, len(kept), rows):
            layout, cell = np.divmod(kept[first : first + rows], cells)
            columns = {name: column[layout] for name, column in part.items()}
            columns |= {name: column[cell] for name, column in inner_rows.items()}
            columns["etp"] = np.where(columns["etp"] > 1, columns["tp"], 1)
            yield Strategies(**columns, grad_accum=accumulation[layout, micro_index[cell]])


def _layouts(shape: Shape, cluster: Cluster, counts: Sequence[int], space: Space) -> dict[str, IntArray]:
    """List tp, cp, pp and dp that multiply to a count, ascending by count."""
    axes = shape.recipe.axes
    most = max(counts, default=1)
    widest = most if space.keeps_dominated else cluster.domain_gpus
    heads = divisors(int(np.gcd.reduce(shape.heads)))
    tensor = [degree for degree in heads if degree <= widest] if "tp" in axes else [1]
    context = [1]
    while "cp" in axes and shape.job.seq_len // (2 * context[-1]) >= space.context_tokens and 2 * context[-1] <= most:
        context.append(2 * context[-1])
    pipeline = _stages(shape.layers, space) if "pp" in axes else [1]
    gpus, tp, cp, pp = (
        column.ravel()
        for column in np.meshgrid(
            *(np.array(v, dtype=np.int64) for v in (counts, tensor, context, pipeline)), indexing="ij"
        )
    )
    whole = gpus % (tp * cp * pp) == 0
    gpus, tp, cp, pp = gpus[whole], tp[whole], cp[whole], pp[whole]
    return {"tp": tp, "cp": cp, "pp": pp, "dp": gpus // (tp * cp * pp)}


def _stages(layers: int, space: Space) -> list[int]:
    """List pipeline degrees: even ones, and powers of two whose fullest stage is not much fuller than the mean."""
    degrees = set(divisors(layers))
    power = 2
    while power <= layers:
        if -(-layers // power) * power <= layers * (1.0 + space.uneven_fraction):
            degrees.add(power)
        power *= 2
    return sorted(degrees)


def _inner_values(shape: Shape, space: Space) -> dict[str, IntArray]:
    """List the values of every knob but the layout's; `micro_batch` last, because grad_accum depends on it."""
    axes, job = shape.recipe.axes, shape.job
    virtual = divisors(shape.layers) if "vpp" in axes else [1]
    if space.virtual_stages is not None:
        virtual = [degree for degree in virtual if degree <= space.virtual_stages and degree & (degree - 1) == 0]
    has_experts = bool(shape.expert_widths)
    expert = divisors(shape.experts) if has_experts and "ep" in axes else [1]
    if space.expert_ranks is not None:
        expert = [degree for degree in expert if degree <= space.expert_ranks]
    recompute = [mode for mode in Recompute if mode != Recompute.SELECTIVE or shape.recipe.selective]
    values = {
        "vpp": virtual,
        "ep": expert,
        # stands for tp, which is not known yet
        "etp": [1, 2] if has_experts and "tp" in axes else [1],
        "sp": [0, 1] if "sp" in axes and "tp" in axes else [0],
        "sharding": [int(sharding) for sharding in shape.recipe.shardings],
        "recompute": [int(mode) for mode in recompute],
        "micro_batch": _micro_batches(job, space),
    }
    return {name: np.array(listed, dtype=np.int64) for name, listed in values.items()}


def _micro_batches(job: Job, space: Space) -> list[int]:
    """List micro-batches: every divisor of the batch, or powers of two up to the cap."""
    if space.micro_batch_tokens is None:
        return divisors(job.global_batch_seqs)
    sizes = [1]
    while 2 * sizes[-1] <= job.global_batch_seqs and 2 * sizes[-1] * job.seq_len <= space.micro_batch_tokens:
        sizes.append(2 * sizes[-1])
    return sizes


def _open_mesh(shape: Shape, layouts: dict[str, IntArray], inner: dict[str, IntArray]) -> Strategies:
    """Lay the knobs out on axes of their own: layouts first, then each inner knob."""
    dims = len(inner)
    columns = {name: column.reshape(-1, *[1] * dims) for name, column in layouts.items()}
    for position, (name, values) in enumerate(inner.items()):
        columns[name] = values.reshape(*[1] * (position + 1), -1, *[1] * (dims - position - 1))
    columns["etp"] = np.where(columns["etp"] > 1, columns["tp"], 1)
    per_micro_batch = columns["micro_batch"] * columns["dp"]
    # the nearest whole number of micro-batches, in whole numbers
    nearest = (2 * shape.job.global_batch_seqs + per_micro_batch) // (2 * per_micro_batch)
    return Strategies(**columns, grad_accum=np.maximum(nearest, 1))


def _wanted(shape: Shape, mesh: Strategies, space: Space) -> BoolArray:
    """Drop what stands twice in the mesh and, outside the full space, what another strategy dominates."""
    choices = np.arange(mesh.etp.shape[3]).reshape(1, 1, 1, -1, 1, 1, 1, 1)
    wanted: BoolArray = (choices == 0) | (mesh.tp > 1)
    if space.keeps_dominated:
        return wanted
    fits_sequence = shape.job.seq_len % (mesh.cp * mesh.tp) == 0
    if "sp" in shape.recipe.axes:
        wanted = wanted & ((mesh.sp > 0) == ((mesh.tp > 1) & fits_sequence))
    least, *higher = sorted(int(sharding) for sharding in shape.recipe.shardings)
    ranks = mesh.dp * mesh.cp
    expert_ranks = ranks * mesh.tp // np.maximum(mesh.ep * mesh.etp, 1) if shape.expert_widths else ranks
    is_shared = np.maximum(ranks, expert_ranks) > 1
    wanted = wanted & (is_shared | (mesh.sharding == least))
    if higher and least == Sharding.NONE:
        wanted = wanted & (~is_shared | (mesh.sharding != least))
    return wanted

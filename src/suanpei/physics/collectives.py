"""Time of collectives by latency and achievable bandwidth of the fabric that each group really spans.

Ranks are laid out with tensor parallelism innermost, then context, then data, then pipeline, as Megatron and torchtitan
do. A group of ranks ``stride`` apart therefore has ``domain // stride`` ranks inside one scale-up domain, and the
slower fabric between domains is shared by as many groups as there are ranks in the domain, each over its own card.

Sources:
    Ring and tree costs: R. Thakur, R. Rabenseifner, W. Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005,
    doi:10.1177/1094342005051521; bus bandwidth as nccl-tests defines it (doc/PERFORMANCE.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suanpei.physics.rates import Rates

    FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class GroupSpan:
    """Where the ranks of a group sit."""

    ranks: FloatArray
    """Ranks of the group. [-]"""
    inside: FloatArray
    """Ranks of the group in one domain. [-]"""
    domains: FloatArray
    """Domains that the group spans. [-]"""
    stride: FloatArray
    """Accelerators between neighbours, and so the groups that lie between each other. [-]"""


def span_group(ranks: ArrayLike, stride: ArrayLike, domain_gpus: int) -> GroupSpan:
    """Place a group whose neighbours are `stride` accelerators apart.

    Args:
        ranks: Ranks of the group, at least 1, any shape. [-]
        stride: Accelerators between neighbours: the product of the axes further in. [-]
        domain_gpus: Accelerators of one scale-up domain. [-]

    Returns:
        Ranks inside a domain and domains spanned, broadcast shape.
    """
    ranks = np.asarray(ranks, dtype=np.float64)
    stride = np.asarray(stride, dtype=np.float64)
    inside = np.clip(np.floor(domain_gpus / stride), 1.0, ranks)
    return GroupSpan(ranks=ranks + 0.0 * stride, inside=inside, domains=np.ceil(ranks / inside), stride=stride)


def _bus_bytes_per_s(span: GroupSpan, inside_bytes_per_s: float, rates: Rates) -> FloatArray:
    """Give the bus bandwidth of a ring over the group: inside the domain, bound by all its ranks' shares outside."""
    if rates.up.halves_share < 1.0:
        # the groups that lie between each other cross from one half of the server to the other at the same time
        crosses = span.inside * span.stride > rates.domain_gpus / 2
        share = rates.up.halves_share / np.clip(span.stride, 1.0, rates.domain_gpus / 2)
        inside = inside_bytes_per_s * np.where(crosses, share, 1.0)
    elif rates.up.is_mesh:
        # a pair of a full mesh sees one thin link; a group sees the links to its own members
        share = np.clip((span.inside - 1.0) / max(rates.domain_gpus - 1, 1), 1e-9, 1.0)
        inside = inside_bytes_per_s * np.where(span.inside > 1, share, 1.0)
    else:
        inside = np.broadcast_to(np.float64(inside_bytes_per_s), span.inside.shape)
    outside = span.inside * rates.out.ring_bytes_per_s
    across = np.where(span.inside > 1, np.minimum(inside, outside), outside)
    return np.where(span.domains > 1, across, inside)


def _ring_latency_s(span: GroupSpan, rates: Rates) -> FloatArray:
    return (span.inside - 1.0) * rates.up.latency_s + (span.domains - 1.0) * rates.out.latency_s


RAMP_BYTES = 16.0 * 2**20
"""Message at which half of a collective's fill time has been spent: between 4 MiB, where the A100 readings of
nccl_busbw.csv lie 40 us above latency and line rate, and 64 MiB, where they lie 150 us above."""


def _ramp_s(message_bytes: FloatArray, span: GroupSpan, rates: Rates) -> FloatArray:
    """Give the time to fill and drain the pipeline of chunks of an all-reduce, which small messages do not reach."""
    ramp = np.where(span.domains > 1, rates.out.ramp_s, rates.up.ramp_s)
    return np.where(span.ranks > 1, ramp * message_bytes / (message_bytes + RAMP_BYTES), 0.0)


def estimate_all_gather_s(message_bytes: ArrayLike, span: GroupSpan, rates: Rates) -> FloatArray:
    """Estimate an all-gather (or a reduce-scatter, which moves the same) over a ring.

    ``t = (n - 1) / n · message / bus + latency · steps + ramp / 2 · message / (message + 16 MiB)``.

    Args:
        message_bytes: Size of the whole gathered tensor, any shape. [B]
        span: Where the ranks sit. [-]
        rates: Fabrics of the cluster. [-]

    Returns:
        Time until every rank has the whole, 0 for one rank, broadcast shape. [s]

    Valid for: no contention between groups beyond the shared cards; messages above about 64 KiB per rank.
    """
    factor = (span.ranks - 1.0) / span.ranks
    message = np.asarray(message_bytes, dtype=np.float64)
    bus = _bus_bytes_per_s(span, rates.up.ring_bytes_per_s, rates)
    return factor * message / bus + _ring_latency_s(span, rates) + _ramp_s(message, span, rates) / 2.0


def estimate_all_reduce_s(message_bytes: ArrayLike, span: GroupSpan, rates: Rates) -> FloatArray:
    """Estimate an all-reduce: a ring inside, a tree's latency between domains.

    ``t = 2 (n - 1) / n · message / bus + latency · steps + ramp · message / (message + 16 MiB)``; in a domain whose
    switch reduces, the bus is faster for groups of more than half the domain.

    Args:
        message_bytes: Size reduced on each rank, any shape. [B]
        span: Where the ranks sit. [-]
        rates: Fabrics of the cluster. [-]

    Returns:
        Time, 0 for one rank, broadcast shape. [s]
    """
    factor = 2.0 * (span.ranks - 1.0) / span.ranks
    message = np.asarray(message_bytes, dtype=np.float64)
    ring = _bus_bytes_per_s(span, rates.up.ring_bytes_per_s, rates)
    switched = _bus_bytes_per_s(span, rates.up.all_reduce_bytes_per_s, rates)
    bus = np.where(2 * span.inside > rates.domain_gpus, switched, ring)
    steps = (span.inside - 1.0) * rates.up.latency_s + np.ceil(np.log2(span.domains)) * rates.out.latency_s
    return factor * message / bus + 2.0 * steps + _ramp_s(message, span, rates)


def estimate_all_to_all_s(
    message_bytes: ArrayLike, span: GroupSpan, rates: Rates, *, copies: float = 1.0
) -> FloatArray:
    """Estimate an all-to-all: each rank sends an equal share of its message to every other.

    The slower of what stays in the domain and what leaves it. Of a token that goes to `copies` ranks, one copy crosses
    to each other domain that holds one of them and is spread there, as the dispatchers of expert parallelism do
    (DeepEP; DeepSeek-V3, arXiv 2412.19437, section 3.2.2); of D domains that is
    ``(D - 1) (1 - (1 - 1 / D) ^ copies)`` on average::

        t = max(message · (inside - 1) / n / up, message / copies · crossings / out) + latencies

    Args:
        message_bytes: Bytes that each rank holds for all ranks together, any shape. [B]
        span: Where the ranks sit. [-]
        rates: Fabrics of the cluster. [-]
        copies: Ranks that each token goes to. [-]

    Returns:
        Time, 0 for one rank, broadcast shape. [s]
    """
    message = np.asarray(message_bytes, dtype=np.float64)
    within = (
        message
        * (span.inside - 1.0)
        / span.ranks
        / _bus_bytes_per_s(
            GroupSpan(ranks=span.inside, inside=span.inside, domains=np.ones_like(span.inside), stride=span.stride),
            rates.up.ring_bytes_per_s,
            rates,
        )
    )
    crossings = (span.domains - 1.0) * (1.0 - (1.0 - 1.0 / span.domains) ** copies)
    across = message / copies * crossings / rates.out.ring_bytes_per_s
    latency = np.where(span.inside > 1, rates.up.latency_s, 0.0) + np.where(span.domains > 1, rates.out.latency_s, 0.0)
    return np.asarray(np.maximum(within, across) + latency, dtype=np.float64)


def estimate_send_s(message_bytes: ArrayLike, crosses: ArrayLike, rates: Rates) -> FloatArray:
    """Estimate a point-to-point transfer to a neighbour.

    Args:
        message_bytes: Bytes sent, any shape. [B]
        crosses: Whether the neighbour sits in another domain. [-]
        rates: Fabrics of the cluster. [-]

    Returns:
        Time, broadcast shape. [s]
    """
    crosses = np.asarray(crosses, dtype=np.bool_)
    message = np.asarray(message_bytes, dtype=np.float64)
    inside = message / rates.up.ring_bytes_per_s + rates.up.latency_s
    return np.where(crosses, message / rates.out.ring_bytes_per_s + rates.out.latency_s, inside)

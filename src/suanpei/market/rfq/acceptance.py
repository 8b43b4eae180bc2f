"""What a delivered machine must show: shares of published figures of the same card and links.

Where no figure of the card is published, none is made up: the seller states one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suanpei.market.rfq.software import TABLE, cite
from suanpei.units import DAY_S, GIB_BYTES, HOUR_S, TERA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.catalogue import Catalogue
    from suanpei.machine.cluster import Cluster
    from suanpei.machine.fabric import Link

PRECISION = "bf16"
"""The number format whose products are tested; cards without it are tested in fp16."""


@dataclass(frozen=True, kw_only=True)
class MatmulMark:
    """What large matrix products must reach on every card."""

    precision: str
    peak_flops_per_s: float
    """Dense peak of the data sheet. [FLOP/s]"""
    reference_flops_per_s: float | None
    """Best published of this very card; None where nobody published one. [FLOP/s]"""
    pass_flops_per_s: float | None
    spread_fraction: float
    """Most that a card may lie below the median of the delivery. [-]"""
    source: str
    """Of the reference, and of the share; of the share alone where there is no reference."""


@dataclass(frozen=True, kw_only=True)
class AllReduceMark:
    """What all-reduce must reach, as bus bandwidth of nccl-tests."""

    reference_bytes_per_s: float
    """Published for these links, derived for them, or what the network allows at most. [B/s]"""
    pass_bytes_per_s: float | None
    """None where nothing comparable is published: the seller states a figure and guarantees it. [B/s]"""
    explain_bytes_per_s: float | None
    """Below this the seller says why; None where the pass mark alone counts. [B/s]"""
    ring_pass_bytes_per_s: float | None
    """The pass mark where the switch does not reduce (NVLS off); None where it is the same. [B/s]"""
    gpus: int
    least_message_bytes: float
    source: str
    """Of the reference, and of the marks where there are any."""


@dataclass(frozen=True, kw_only=True)
class AcceptanceFigures:
    """Pass marks of one delivery."""

    matmul: MatmulMark | None
    """None where the catalogue knows no 16-bit rate of the card."""
    memory_bytes_per_s: float | None
    """A large copy must reach this; None where the data sheet's rate is unknown. [B/s]"""
    memory_source: str
    in_node: AllReduceMark | None
    """None where one card of a machine is rented."""
    between_nodes: AllReduceMark | None
    """None for one machine, or where the rate of the network is unknown."""
    first_load_minutes: int
    soak_hours: int
    """0 where the planned use is too short for one."""
    load_source: str


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """What is to be delivered, as far as its pass marks depend on it."""

    cluster: Cluster
    gpus: int
    """In all machines. [-]"""
    nodes: int
    node_bytes_per_s: float | None
    """Line rate of all network ports of one machine, per direction; None is unknown. [B/s]"""
    technology: str
    """Of the network; empty is unknown, or none."""
    days: float
    """Planned use, of which a soak may take a share. [d]"""


def acceptance_figures(catalogue: Catalogue, delivery: Delivery) -> AcceptanceFigures:
    """Give the pass marks of a delivery.

    Args:
        catalogue: Holds the measured figures. [-]
        delivery: What is to be delivered. [-]
    """
    cluster = delivery.cluster
    shares = catalogue.toml(TABLE)
    load = shares["load"]
    rate = cluster.accelerator.memory_bytes_per_s
    known = rate == rate  # not a number where the catalogue leaves it blank
    return AcceptanceFigures(
        matmul=_matmul(catalogue, cluster.accelerator, shares["matmul"]),
        memory_bytes_per_s=rate * shares["memory_bandwidth"]["pass_share"] if known else None,
        memory_source=cite(shares["memory_bandwidth"]),
        in_node=_in_node(catalogue, delivery, shares["all_reduce_node"]),
        between_nodes=_between_nodes(catalogue, delivery, shares),
        first_load_minutes=int(load["first_minutes"]),
        soak_hours=int(min(load["soak_hours"], load["soak_share"] * delivery.days * DAY_S / HOUR_S)),
        load_source=cite(load),
    )


def _matmul(catalogue: Catalogue, accelerator: Accelerator, shares: Mapping[str, Any]) -> MatmulMark | None:
    precision = PRECISION if accelerator.peak_of(PRECISION) else "fp16"
    peak = accelerator.peak_of(precision)
    if peak is None:
        return None
    rows = [
        row
        for row in catalogue.table("gemm")
        if row.text("gpu") == accelerator.name and row.text("dtype") == precision and row.number("tflops")
    ]
    best = max(rows, key=lambda row: row.number("tflops") or 0.0, default=None)
    reference = None if best is None else (best.number("tflops") or 0.0) * TERA
    return MatmulMark(
        precision=precision,
        peak_flops_per_s=peak,
        reference_flops_per_s=reference,
        pass_flops_per_s=None if reference is None else reference * shares["pass_share"],
        spread_fraction=shares["spread_share"],
        source=cite(shares) if best is None else f"{best.text('source')}; {cite(shares)}",
    )


def _in_node(catalogue: Catalogue, delivery: Delivery, shares: Mapping[str, Any]) -> AllReduceMark | None:
    """Give the mark inside a machine: a share of what was measured over these links by all cards of a domain.

    Where nobody measured it, or fewer cards are rented than the links join, the figure is only expected.
    """
    cluster, link = delivery.cluster, delivery.cluster.scale_up
    rented = -(-delivery.gpus // delivery.nodes)
    gpus = min(rented, cluster.domain_gpus)
    if gpus < 2:
        return None
    is_whole = gpus == min(cluster.gpus_per_node, cluster.domain_gpus)
    row, source = _link_origin(catalogue, link)
    is_measured = is_whole and row in shares["measured"]
    reduces = link.all_reduce_bytes_per_s > link.achievable_bytes_per_s
    reference = link.all_reduce_bytes_per_s if is_whole else link.achievable_bytes_per_s
    if link.is_mesh and not is_whole:
        reference *= (gpus - 1) / (cluster.domain_gpus - 1)
    share = shares["pass_share"]
    return AllReduceMark(
        reference_bytes_per_s=reference,
        pass_bytes_per_s=reference * share if is_measured else None,
        explain_bytes_per_s=None,
        ring_pass_bytes_per_s=link.achievable_bytes_per_s * share if is_measured and reduces else None,
        gpus=gpus,
        least_message_bytes=shares["message_gib"] * GIB_BYTES,
        source="; ".join(filter(None, (source, cite(shares) if is_measured else ""))),
    )


def _link_origin(catalogue: Catalogue, link: Link) -> tuple[str, str]:
    """Give the row of a link's all-reduce figure, which may be another than the ring's, and its source."""
    entry = catalogue.links["scale_up"].get(link.name, {})
    named = entry.get("all_reduce") or entry.get("ring") or ""
    for row in catalogue.table("fabrics"):
        if named and row.text("name") == named:
            return named, row.provenance(catalogue.as_of("fabrics")).source
    return "", link.provenance.source if link.provenance else ""


def _between_nodes(catalogue: Catalogue, delivery: Delivery, shares: Mapping[str, Any]) -> AllReduceMark | None:
    """Give the marks of all machines together, below what the network allows at most.

    ``min(B, b · (n - 1) / (k - 1))`` for k machines of n cards in all, b the network rate per card and B the bus
    bandwidth inside a machine: each card carries ``2 (k - 1) / k`` of its share ``S k / n`` of the message. The marks
    are shares of it where the network is of a kind whose good runs are published, unless a derived B limits.
    """
    cluster, nodes, node_bytes_per_s = delivery.cluster, delivery.nodes, delivery.node_bytes_per_s
    if nodes < 2 or node_bytes_per_s is None:
        return None
    gpus = nodes * cluster.gpus_per_node
    per_gpu = node_bytes_per_s / cluster.gpus_per_node
    by_network = per_gpu * (gpus - 1) / (nodes - 1)
    link = cluster.scale_up
    ceiling = min(by_network, link.all_reduce_bytes_per_s) if cluster.domain_gpus > 1 else by_network
    own = shares["all_reduce_cluster"]
    is_measured = ceiling == by_network or _link_origin(catalogue, link)[0] in shares["all_reduce_node"]["measured"]
    is_comparable = is_measured and delivery.technology in own["technologies"]
    return AllReduceMark(
        reference_bytes_per_s=ceiling,
        pass_bytes_per_s=ceiling * own["pass_share"] if is_comparable else None,
        explain_bytes_per_s=ceiling * own["explain_share"] if is_comparable else None,
        ring_pass_bytes_per_s=None,
        gpus=gpus,
        least_message_bytes=shares["all_reduce_node"]["message_gib"] * GIB_BYTES,
        source=cite(own) if is_comparable else "",
    )

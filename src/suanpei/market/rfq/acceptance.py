"""What a delivered machine must show: shares of published figures of the same card and links.

Where no figure of the card is published, none is made up: the seller states one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suanpei.machine.table import UNDATED
from suanpei.units import DAY_S, GIB_BYTES, HOUR_S, TERA

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.catalogue import Catalogue
    from suanpei.machine.cluster import Cluster
    from suanpei.machine.fabric import Link
    from suanpei.provenance import Confidence

TABLE = "acceptance"
"""The file of shares and drivers in the catalogue."""
PRECISION = "bf16"
"""The number format whose products are tested; cards without it are tested in fp16."""


@dataclass(frozen=True, kw_only=True)
class Driver:
    """The first driver that runs a generation of cards."""

    version: str
    cuda: str
    source: str


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
    """Published for these links, or what the network allows at most. [B/s]"""
    pass_bytes_per_s: float
    explain_bytes_per_s: float | None
    """Below this the seller says why; None where the pass mark alone counts. [B/s]"""
    ring_pass_bytes_per_s: float | None
    """The pass mark where the switch does not reduce (NVLS off); None where it is the same. [B/s]"""
    gpus: int
    least_message_bytes: float
    confidence: Confidence | None
    """Of the reference."""
    source: str


@dataclass(frozen=True, kw_only=True)
class AcceptanceFigures:
    """Pass marks of one delivery."""

    matmul: MatmulMark | None
    """None where the catalogue knows no 16-bit rate of the card."""
    memory_bytes_per_s: float | None
    """A large copy must reach this; None where the data sheet's rate is unknown. [B/s]"""
    memory_source: str
    in_node: AllReduceMark | None
    """None for machines of one card."""
    between_nodes: AllReduceMark | None
    """None for one machine, or where the rate of the network is unknown."""
    first_load_minutes: int
    soak_hours: int
    """0 where the planned use is too short for one."""
    load_source: str


def required_driver(catalogue: Catalogue, accelerator: Accelerator) -> Driver | None:
    """Give the first driver that runs a card at all; None where no source names one."""
    found = catalogue.toml(TABLE)["drivers"].get(accelerator.generation)
    return None if found is None else Driver(version=found["driver"], cuda=found["cuda"], source=_cite(found))


def acceptance_figures(
    catalogue: Catalogue, cluster: Cluster, *, nodes: int, node_bytes_per_s: float | None, days: float
) -> AcceptanceFigures:
    """Give the pass marks of a cluster.

    Args:
        catalogue: Holds the measured figures. [-]
        cluster: The machines. [-]
        nodes: How many of them. [-]
        node_bytes_per_s: Line rate of all network ports of one machine, per direction; None is unknown. [B/s]
        days: Planned use, of which a soak may take a share. [d]
    """
    shares = catalogue.toml(TABLE)
    load = shares["load"]
    rate = cluster.accelerator.memory_bytes_per_s
    known = rate == rate  # not a number where the catalogue leaves it blank
    return AcceptanceFigures(
        matmul=_matmul(catalogue, cluster.accelerator, shares["matmul"]),
        memory_bytes_per_s=rate * shares["memory_bandwidth"]["pass_share"] if known else None,
        memory_source=_cite(shares["memory_bandwidth"]),
        in_node=_in_node(catalogue, cluster, shares["all_reduce_node"]),
        between_nodes=_between_nodes(cluster, nodes, node_bytes_per_s, shares),
        first_load_minutes=int(load["first_minutes"]),
        soak_hours=int(min(load["soak_hours"], load["soak_share"] * days * DAY_S / HOUR_S)),
        load_source=_cite(load),
    )


def _cite(entry: Mapping[str, Any]) -> str:
    """Write the source of a table of the file, with its date where it has one."""
    return str(entry["source"]) if entry["as_of"] in UNDATED else f"{entry['source']} ({entry['as_of']})"


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
        source=_cite(shares) if best is None else f"{best.text('source')}; {_cite(shares)}",
    )


def _in_node(catalogue: Catalogue, cluster: Cluster, shares: Mapping[str, Any]) -> AllReduceMark | None:
    gpus = min(cluster.gpus_per_node, cluster.domain_gpus)
    if gpus < 2:
        return None
    link = cluster.scale_up
    share = shares["pass_share"]
    reduces = link.all_reduce_bytes_per_s > link.achievable_bytes_per_s
    confidence, source = _link_origin(catalogue, link)
    return AllReduceMark(
        reference_bytes_per_s=link.all_reduce_bytes_per_s,
        pass_bytes_per_s=link.all_reduce_bytes_per_s * share,
        explain_bytes_per_s=None,
        ring_pass_bytes_per_s=link.achievable_bytes_per_s * share if reduces else None,
        gpus=gpus,
        least_message_bytes=shares["message_gib"] * GIB_BYTES,
        confidence=confidence,
        source=f"{source}; {_cite(shares)}" if source else _cite(shares),
    )


def _link_origin(catalogue: Catalogue, link: Link) -> tuple[Confidence | None, str]:
    """Give confidence and source of a link's all-reduce figure, which may have a row of its own beside the ring's."""
    named = catalogue.links["scale_up"].get(link.name, {}).get("all_reduce")
    for row in catalogue.table("fabrics"):
        if named and row.text("name") == named:
            origin = row.provenance(catalogue.as_of("fabrics"))
            return origin.confidence, origin.source
    return (link.provenance.confidence, link.provenance.source) if link.provenance else (None, "")


def _between_nodes(
    cluster: Cluster, nodes: int, node_bytes_per_s: float | None, shares: Mapping[str, Any]
) -> AllReduceMark | None:
    """Give the marks of all machines together, below what the network allows at most.

    ``min(B, b · (n - 1) / (k - 1))`` for k machines of n cards in all, b the network rate per card and B the bus
    bandwidth inside a machine: each card carries ``2 (k - 1) / k`` of its share ``S k / n`` of the message.
    """
    if nodes < 2 or node_bytes_per_s is None:
        return None
    gpus = nodes * cluster.gpus_per_node
    per_gpu = node_bytes_per_s / cluster.gpus_per_node
    ceiling = per_gpu * (gpus - 1) / (nodes - 1)
    if cluster.domain_gpus > 1:
        ceiling = min(ceiling, cluster.scale_up.all_reduce_bytes_per_s)
    own = shares["all_reduce_cluster"]
    return AllReduceMark(
        reference_bytes_per_s=ceiling,
        pass_bytes_per_s=ceiling * own["pass_share"],
        explain_bytes_per_s=ceiling * own["explain_share"],
        ring_pass_bytes_per_s=None,
        gpus=gpus,
        least_message_bytes=shares["all_reduce_node"]["message_gib"] * GIB_BYTES,
        confidence=None,
        source=_cite(own),
    )

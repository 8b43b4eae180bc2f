"""What to ask every seller for: the figures of one plan, with what the catalogue says a good machine must show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.cluster import build_cluster
from suanpei.machine.network import parse_fabric
from suanpei.market.rfq.acceptance import AcceptanceFigures, Delivery, acceptance_figures
from suanpei.market.rfq.older_plan import assume_data_path, say_assumed
from suanpei.market.rfq.software import (
    Driver,
    MemoryCheck,
    Stack,
    find_stack,
    memory_check,
    required_driver,
    transfers_directly,
)
from suanpei.messages import Message
from suanpei.units import GIB_BYTES

if TYPE_CHECKING:
    from datetime import date

    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.catalogue import Catalogue
    from suanpei.machine.network import Network
    from suanpei.market.rfq.planned import DataPathPart, PlannedRental, PlannedRow


@dataclass(frozen=True, kw_only=True)
class NetworkNeed:
    """The network between machines that the plan was made with."""

    name: str
    """As the plan names it."""
    technology: str
    """``infiniband``, ``roce``, ``ethernet``, …; empty where the name does not say."""
    has_direct_transfers: bool
    """Whether these cards can pass data to such a network without host memory."""
    ports: int | None
    """Per machine; None where the name does not say. [-]"""
    port_bytes_per_s: float | None
    """Line rate of one port, per direction. [B/s]"""

    @property
    def node_bytes_per_s(self) -> float | None:
        """All ports of one machine, per direction. [B/s]"""
        return None if self.ports is None or self.port_bytes_per_s is None else self.ports * self.port_bytes_per_s


@dataclass(frozen=True, kw_only=True)
class StorageNeed:
    """Data, storage and the line to them that the plan was made with."""

    moved_in_bytes: float
    """Brought in before training: data set, image and weights. [B]"""
    uplink_bytes_per_s: float
    """The line, as sold. [B/s]"""
    pull_s: float
    """Time to bring it all in over this line. [s]"""
    data_bytes: float
    """The data set. [B]"""
    checkpoint_bytes: float
    """One checkpoint. [B]"""
    checkpoint_write_s: float
    """Time to write one. [s]"""
    checkpoint_interval_s: float
    stored_bytes: float
    """Data set and the checkpoints that are kept. [B]"""
    capacity_bytes: float
    """What to rent, so that the file system is not filled until it slows. [B]"""
    training_read_bytes_per_s: float
    """Rate at which training itself reads. [B/s]"""

    @property
    def write_bytes_per_s(self) -> float:
        """Rate of all machines together at which a checkpoint takes as long as the plan counts. [B/s]"""
        return self.checkpoint_bytes / self.checkpoint_write_s

    @property
    def read_bytes_per_s(self) -> float:
        """Rate of all machines together: what training reads, and a checkpoint after a stop in its write time. [B/s]"""
        return max(self.write_bytes_per_s, self.training_read_bytes_per_s)

    @property
    def full_fraction(self) -> float:
        """Share of the storage that is filled. [-]"""
        return self.stored_bytes / self.capacity_bytes


@dataclass(frozen=True, kw_only=True)
class Specification:
    """One request for quotation, the same for every seller."""

    request_hash: str
    """Of the plan's request: forms of one plan can be told from those of another."""
    rank: int
    """Of the plan in its file."""
    as_of: date
    """The day of the plan."""
    accelerator: str
    vendor: str
    form_factor: str
    memory_gb: float
    """As marketed, per card. [GB]"""
    gpus: int
    nodes: int
    gpus_per_node: int
    tensor_parallel_gpus: int
    """Cards that must be in one machine. [-]"""
    is_reworked: bool
    """Whether the plan itself was made with a card that is not as its maker shipped it."""
    in_node_link: str
    """As the catalogue names it."""
    in_node_technology: str
    """``nvlink``, ``pcie``, ``hccs``, …"""
    in_node_bytes_per_s: float
    """Per card and direction. [B/s]"""
    network: NetworkNeed | None
    """None for one machine."""
    storage: StorageNeed | None
    """None where an older plan does not say what it trains on."""
    host_bytes: float | None
    """Memory of a machine's host that the job needs; None where it is not what limits. [B]"""
    stack: Stack | None
    """None where no source names the software of the card."""
    driver: Driver | None
    """None where no source names one for the card."""
    memory_check: MemoryCheck
    acceptance: AcceptanceFigures
    trial_tokens_per_second_per_gpu: float
    """What the job reaches at least on machines as specified: the slow end of the plan's interval. [tokens/s]"""
    days: float
    """Central estimate of the run, set-up included. [d]"""
    high_days: float
    """95th percentile. [d]"""
    assumptions: tuple[Message, ...]


def build_specification(plan: PlannedRental, row: PlannedRow, catalogue: Catalogue) -> Specification:
    """Work out what to ask for.

    Args:
        plan: The plan's JSON. [-]
        row: One of its plans. [-]
        catalogue: Holds the accelerators, their links and what they must show. [-]

    Raises:
        InputError: The catalogue does not hold the accelerator.
    """
    accelerator = _find_accelerator(catalogue, row.accelerator)
    gpus_per_node = _gpus_per_node(plan, row, accelerator)
    bridged = plan.request.fabric if "bridge" in (plan.request.fabric or "").casefold() else None
    cluster = build_cluster(catalogue, accelerator, bridged, gpus_per_node)
    network = _read_network(catalogue, accelerator, row.fabric) if row.nodes > 1 else None
    path = row.data_path or assume_data_path(plan, row)
    return Specification(
        request_hash=plan.request_hash,
        rank=row.rank,
        as_of=plan.request.as_of,
        accelerator=accelerator.name,
        vendor=accelerator.vendor,
        form_factor=accelerator.form_factor,
        memory_gb=round(accelerator.marketed_bytes / GIB_BYTES, 1),
        gpus=row.gpus,
        nodes=row.nodes,
        gpus_per_node=gpus_per_node,
        tensor_parallel_gpus=row.strategy.tp,
        is_reworked="rework" in accelerator.form_factor,
        in_node_link=cluster.scale_up.name,
        in_node_technology=cluster.scale_up.technology,
        in_node_bytes_per_s=cluster.scale_up.bytes_per_s,
        network=network,
        storage=None if path is None else _storage(path, row.run.checkpoint_interval_s),
        host_bytes=row.estimate.memory.host_bytes or None,
        stack=find_stack(catalogue, accelerator),
        driver=required_driver(catalogue, accelerator),
        memory_check=memory_check(catalogue, accelerator),
        acceptance=acceptance_figures(
            catalogue,
            Delivery(
                cluster=cluster,
                gpus=row.gpus,
                nodes=row.nodes,
                node_bytes_per_s=None if network is None else network.node_bytes_per_s,
                technology="" if network is None else network.technology,
                days=row.run.high_days,
            ),
        ),
        trial_tokens_per_second_per_gpu=row.estimate.tokens_per_step / row.estimate.step.high_seconds / row.gpus,
        days=row.run.days,
        high_days=row.run.high_days,
        assumptions=(
            Message("data, image, checkpoints, storage and line are those of the plan's data path")
            if row.data_path is not None
            else say_assumed(path),
        ),
    )


def _find_accelerator(catalogue: Catalogue, name: str) -> Accelerator:
    accelerator = load_accelerators(catalogue).get(name)
    if accelerator is None:
        raise InputError(
            Message(
                "the catalogue holds no accelerator {name}, which the plan names: give the plan's --catalog",
                name=name,
            )
        )
    return accelerator


def _gpus_per_node(plan: PlannedRental, row: PlannedRow, accelerator: Accelerator) -> int:
    """Give the cards of one machine: as asked for, else the usual ones, never fewer than the plan puts there."""
    return max(plan.request.gpus_per_node or accelerator.node_gpus, -(-row.gpus // row.nodes))


def _read_network(catalogue: Catalogue, accelerator: Accelerator, name: str) -> NetworkNeed:
    try:
        found: Network = parse_fabric(catalogue, name)
    except InputError:
        return NetworkNeed(name=name, technology="", has_direct_transfers=False, ports=None, port_bytes_per_s=None)
    return NetworkNeed(
        name=name,
        technology=found.technology,
        has_direct_transfers=transfers_directly(catalogue, accelerator, found.technology),
        ports=found.ports,
        port_bytes_per_s=found.port_bytes_per_s,
    )


def _storage(path: DataPathPart, checkpoint_interval_s: float) -> StorageNeed:
    return StorageNeed(
        moved_in_bytes=path.moved_in_bytes,
        uplink_bytes_per_s=path.uplink_bytes_per_s,
        pull_s=path.pull_s,
        data_bytes=path.data_bytes,
        checkpoint_bytes=path.checkpoint_bytes,
        checkpoint_write_s=path.checkpoint_write_s,
        checkpoint_interval_s=checkpoint_interval_s,
        stored_bytes=path.stored_bytes,
        capacity_bytes=path.capacity_bytes,
        training_read_bytes_per_s=path.read_bytes_per_s,
    )

"""What to ask every seller for: the figures of one plan, with what the catalogue says a good machine must show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.cluster import build_cluster
from suanpei.machine.network import parse_fabric
from suanpei.market.rfq.acceptance import AcceptanceFigures, Driver, acceptance_figures, load_shares, required_driver
from suanpei.messages import Message
from suanpei.units import GIGA

if TYPE_CHECKING:
    from datetime import date

    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.catalogue import Catalogue
    from suanpei.machine.network import Network
    from suanpei.market.rfq.plan_document import PlanDocument, RowPart

WEIGHT_BYTES = 2.0
"""Bytes of one parameter of the model to start from, in 16 bits. [B]"""
_CHECKPOINT_NOTE = "checkpoints written at {node} GB/s per node, at most {total} GB/s, {mode}"
"""The assumption under every plan that says how fast checkpoints are written; its values are read back."""
_WAITING_MODE = "while training waits"


@dataclass(frozen=True, kw_only=True)
class NetworkNeed:
    """The network between machines that the plan was made with."""

    name: str
    """As the plan names it."""
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
    """Shared storage that the plan was made with."""

    data_bytes: float | None
    """Training data, at most; None where the plan does not say how much. [B]"""
    weight_bytes: float
    """The model to start from. [B]"""
    checkpoint_bytes: float | None
    """One checkpoint; None where the plan does not say how fast it was to be written. [B]"""
    checkpoint_write_s: float
    """Time of one checkpoint that the plan counts. [s]"""
    checkpoint_interval_s: float
    kept_checkpoints: int
    training_read_bytes_per_s: float
    """Rate at which training itself reads. [B/s]"""

    @property
    def write_bytes_per_s(self) -> float | None:
        """Rate of all machines together at which a checkpoint takes as long as the plan counts. [B/s]"""
        return None if self.checkpoint_bytes is None else self.checkpoint_bytes / self.checkpoint_write_s

    @property
    def read_bytes_per_s(self) -> float | None:
        """Rate of all machines together: what training reads, and a checkpoint after a stop in its write time. [B/s]"""
        written = self.write_bytes_per_s
        return None if written is None else max(written, self.training_read_bytes_per_s)

    @property
    def capacity_bytes(self) -> float | None:
        """Data, the model and the checkpoints that are kept; None where any is unknown. [B]"""
        if self.data_bytes is None or self.checkpoint_bytes is None:
            return None
        return self.data_bytes + self.weight_bytes + self.kept_checkpoints * self.checkpoint_bytes


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
    in_node_link: str
    in_node_bytes_per_s: float
    """Per card and direction. [B/s]"""
    network: NetworkNeed | None
    """None for one machine."""
    storage: StorageNeed
    pull_bytes: float | None
    """What is brought in before training: data and model. [B]"""
    pull_s: float
    """The set-up time of the plan, within which it must be in. [s]"""
    host_bytes: float | None
    """Memory of a machine's host that the job needs; None where it is not what limits. [B]"""
    driver: Driver | None
    """None where no source names one for the card."""
    acceptance: AcceptanceFigures
    trial_tokens_per_second_per_gpu: float
    """What the job reaches at least on machines as specified: the slow end of the plan's interval. [tokens/s]"""
    days: float
    """Central estimate of the run, set-up included. [d]"""
    high_days: float
    """95th percentile. [d]"""
    assumptions: tuple[Message, ...]


def build_specification(plan: PlanDocument, rank: int, catalogue: Catalogue) -> Specification:
    """Work out what to ask for.

    Args:
        plan: The plan's JSON. [-]
        rank: Which of its plans. [-]
        catalogue: Holds the accelerators, their links and what they must show. [-]

    Raises:
        InputError: The rank is none of the file's, or the catalogue does not hold the accelerator.
    """
    row = plan.row(rank)
    accelerator = _find_accelerator(catalogue, row.accelerator)
    gpus_per_node = _gpus_per_node(plan, row, accelerator)
    bridged = plan.request.fabric if "bridge" in (plan.request.fabric or "").casefold() else None
    cluster = build_cluster(catalogue, accelerator, bridged, gpus_per_node)
    network = _read_network(catalogue, row.fabric) if row.nodes > 1 else None
    storage = _storage(plan, row)
    return Specification(
        request_hash=plan.request_hash,
        rank=rank,
        as_of=plan.request.as_of,
        accelerator=accelerator.name,
        vendor=accelerator.vendor,
        form_factor=accelerator.form_factor,
        memory_gb=round(accelerator.marketed_bytes / 2**30, 1),
        gpus=row.gpus,
        nodes=row.nodes,
        gpus_per_node=gpus_per_node,
        tensor_parallel_gpus=row.strategy.tp,
        in_node_link=cluster.scale_up.name,
        in_node_bytes_per_s=cluster.scale_up.bytes_per_s,
        network=network,
        storage=storage,
        pull_bytes=None if storage.data_bytes is None else storage.data_bytes + storage.weight_bytes,
        pull_s=row.run.parts.run_setup,
        host_bytes=row.estimate.memory.host_bytes or None,
        driver=required_driver(accelerator),
        acceptance=acceptance_figures(
            catalogue,
            cluster,
            nodes=row.nodes,
            node_bytes_per_s=None if network is None else network.node_bytes_per_s,
            days=row.run.high_days,
        ),
        trial_tokens_per_second_per_gpu=row.estimate.tokens_per_step / row.estimate.step.high_seconds / row.gpus,
        days=row.run.days,
        high_days=row.run.high_days,
        assumptions=_assumptions(storage),
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


def _gpus_per_node(plan: PlanDocument, row: RowPart, accelerator: Accelerator) -> int:
    """Give the cards of one machine: as asked for, else the usual ones, never fewer than the plan puts there."""
    return max(plan.request.gpus_per_node or accelerator.node_gpus, -(-row.gpus // row.nodes))


def _read_network(catalogue: Catalogue, name: str) -> NetworkNeed:
    try:
        found: Network = parse_fabric(catalogue, name)
    except InputError:
        return NetworkNeed(name=name, ports=None, port_bytes_per_s=None)
    return NetworkNeed(name=name, ports=found.ports, port_bytes_per_s=found.port_bytes_per_s)


def _storage(plan: PlanDocument, row: RowPart) -> StorageNeed:
    habits = load_shares()["storage"]
    per_token = float(habits["bytes_per_token"])
    rate = _write_rate_bytes_per_s(plan, row.nodes)
    return StorageNeed(
        data_bytes=None if plan.job.tokens is None else plan.job.tokens * per_token,
        weight_bytes=plan.job.total_parameters * WEIGHT_BYTES,
        checkpoint_bytes=None if rate is None else row.run.checkpoint_blocking_s * rate,
        checkpoint_write_s=row.run.checkpoint_blocking_s,
        checkpoint_interval_s=row.run.checkpoint_interval_s,
        kept_checkpoints=int(habits["kept_checkpoints"]),
        training_read_bytes_per_s=row.estimate.tokens_per_second_per_gpu * row.gpus * per_token,
    )


def _write_rate_bytes_per_s(plan: PlanDocument, nodes: int) -> float | None:
    """Give the rate at which the plan has checkpoints written, from its assumptions; None where they do not say."""
    for note in plan.assumptions:
        mode = note.values.get("mode")
        if note.key == _CHECKPOINT_NOTE and isinstance(mode, dict) and mode.get("key") == _WAITING_MODE:
            try:
                node, total = float(note.values["node"]), float(note.values["total"])
            except (KeyError, TypeError, ValueError):
                return None
            rate = min(nodes * node, total) * GIGA
            return rate if 0 < rate < GIGA**2 else None
    return None


def _assumptions(storage: StorageNeed) -> tuple[Message, ...]:
    habits = load_shares()["storage"]
    said = [
        Message(
            "data on disk: {bytes} bytes per token of every pass together, so at most this much",
            bytes=habits["bytes_per_token"],
        ),
        Message("{count} checkpoints are kept", count=storage.kept_checkpoints),
        Message("the model to start from: 2 bytes per parameter"),
        Message("data and model are brought in within the plan's set-up time"),
    ]
    if storage.checkpoint_bytes is None:
        said.append(Message("the plan does not say how fast checkpoints are written: storage is left to be stated"))
    return tuple(said)

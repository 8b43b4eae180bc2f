"""One requirement, and how its figures are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.messages import Message
from suanpei.units import GIGA, KILO, MEGA, TERA

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """What is asked for, in words."""

    key: str
    """Stable: the seller's answer is found by it."""
    need: Message
    basis: Message
    """Why, or where the figure comes from."""

    @property
    def item(self) -> Message:
        """What it is called."""
        return REQUIREMENT_ITEMS[self.key]


def to_be_stated() -> Message:
    """Say that the seller knows this, and we do not."""
    return Message("Stated by the seller")


def write_bytes(size_bytes: float) -> str:
    """Write a size as sellers do, in decimal units: ``988 GB``, ``3.2 TB``. [B]

    Example:
        >>> write_bytes(987_751_890_944.0), write_bytes(240e6), write_bytes(3.2e12)
        ('988 GB', '0.24 GB', '3.2 TB')
    """
    if size_bytes >= TERA:
        return f"{size_bytes / TERA:,.3g} TB" if size_bytes < KILO * TERA else f"{size_bytes / TERA:,.0f} TB"
    return f"{_short(size_bytes / GIGA)} GB"


def write_rate(bytes_per_s: float) -> str:
    """Write a rate in decimal bytes: ``8 GB/s``, ``137 kB/s``. [B/s]

    Example:
        >>> write_rate(8e9), write_rate(136_567.0), write_rate(157e9)
        ('8 GB/s', '137 kB/s', '157 GB/s')
    """
    for scale, unit in ((GIGA, "GB/s"), (MEGA, "MB/s"), (KILO, "kB/s")):
        if bytes_per_s >= 0.9995 * scale:
            return f"{_short(bytes_per_s / scale)} {unit}"
    return f"{bytes_per_s:.0f} B/s"


def _short(value: float) -> str:
    """Write three digits, never as a power of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


REQUIREMENT_ITEMS: Mapping[str, Message] = {
    "cards": Message("Cards"),
    "machines": Message("Machines"),
    "unmodified": Message("Unmodified cards"),
    "condition": Message("New or used"),
    "in_node": Message("Links between the cards of a machine"),
    "network": Message("Network between machines"),
    "topology": Message("Topology"),
    "gpudirect": Message("Direct transfers between card and port"),
    "capacity": Message("Shared storage"),
    "write_rate": Message("Write rate"),
    "read_rate": Message("Read rate"),
    "host": Message("Host"),
    "traffic": Message("Network outside"),
    "image": Message("Image"),
    "driver": Message("Driver"),
    "inventory": Message("Inventory and health"),
    "matmul": Message("Matrix products"),
    "memory_rate": Message("Memory rate"),
    "load": Message("Sustained load"),
    "in_node_all_reduce": Message("All-reduce in a machine"),
    "cluster_all_reduce": Message("All-reduce over all machines"),
    "storage_test": Message("Storage under load"),
    "reference_job": Message("Our own job"),
    "duration": Message("Planned use"),
    "outages": Message("Outages"),
    "replacement": Message("Replacement"),
    "not_included": Message("Not included"),
}
"""What each requirement is called, by its key: whoever reads a form back names rows by these."""

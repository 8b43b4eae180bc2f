"""Fabrics: what joins accelerators inside a node and nodes among themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suanpei.provenance import Provenance


@dataclass(frozen=True, kw_only=True)
class Link:
    """One technology, as one accelerator sees it."""

    name: str
    bytes_per_s: float
    """Line rate per direction and accelerator. [B/s]"""
    achievable_bytes_per_s: float
    """Bus bandwidth that a large ring collective reaches, in the nccl-tests sense. [B/s]"""
    all_reduce_bytes_per_s: float
    """The same for all-reduce, higher where the switch reduces (NVLS). [B/s]"""
    latency_s: float
    """Start-up time of one step of a collective. [s]"""
    technology: str = ""
    """``nvlink``, ``pcie``, ``infiniband``, ``roce``, ``efa``, ``ethernet``, ``hccs``, …"""
    halves_share: float = 1.0
    """Share of the rate that is left between the two halves of a server, 1 where a switch joins all. [-]"""
    one_socket_gpus: int = 0
    """Accelerators up to which a server has no halves. [-]"""
    is_mesh: bool = False
    """Whether the domain is a full mesh of thin links, so that a smaller group gets only its own links."""
    provenance: Provenance | None = None

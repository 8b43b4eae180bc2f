"""A cluster: nodes of one accelerator, joined by a scale-out fabric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_pcie_links
from suanpei.machine.network import default_network, parse_fabric, scale_out_link
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.catalogue import Catalogue
    from suanpei.machine.fabric import Link


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Machines of one kind; how many of them is a property of the strategy."""

    accelerator: Accelerator
    gpus_per_node: int
    """Accelerators of one rented machine. [-]"""
    domain_gpus: int
    """Accelerators joined by `scale_up` (an NVL72 rack: 72; an 8-card NVLink node: 8; a bridged pair: 2). [-]"""
    scale_up: Link
    scale_out: Link
    """Between domains; its figures are per accelerator. [B/s]"""
    host_memory_bytes: float | None = None
    """Memory of one node's host; None is unknown. [B]"""
    fabric_is_assumed: bool = False
    """Whether `scale_out` is the catalogue's default for the card rather than stated by anyone."""
    assumptions: tuple[Message, ...] = ()


MOST_GPUS_PER_NODE = 64
"""More accelerators than any server holds; a larger figure is a slip. [-]"""


def build_cluster(
    catalogue: Catalogue,
    accelerator: Accelerator,
    fabric: str | None = None,
    gpus_per_node: int | None = None,
    host_memory_bytes: float | None = None,
) -> Cluster:
    """Put a cluster together from a card and what is known of its links.

    Inside the node the card's own fabric joins the cards; where it joins fewer than the node holds, and where bridges
    would have to be fitted, PCIe is assumed. ``fabric="NVLink bridge"`` asks for the bridges.

    Args:
        catalogue: Holds fabrics and defaults. [-]
        accelerator: The card. [-]
        fabric: The network between nodes in a user's words; None takes the card's default. [-]
        gpus_per_node: Accelerators of one rented machine; None takes the usual machine. [-]
        host_memory_bytes: Memory of one node's host; None is unknown. [B]

    Raises:
        InputError: The fabric cannot be read, or the node would hold no or impossibly many cards.
    """
    node_gpus = accelerator.node_gpus if gpus_per_node is None else gpus_per_node
    if not 1 <= node_gpus <= MOST_GPUS_PER_NODE:
        raise InputError(
            Message("gpus_per_node must be from 1 to {most}, got {given}", most=MOST_GPUS_PER_NODE, given=node_gpus)
        )
    said = (
        [Message("{accelerator}: {count} cards per node assumed", accelerator=accelerator.name, count=node_gpus)]
        if gpus_per_node is None
        else []
    )
    if fabric is not None and "bridge" in fabric.casefold():
        return _bridged_cluster(catalogue, accelerator, node_gpus, host_memory_bytes, said)
    scale_up, domain, notes = _inside_node(catalogue, accelerator, node_gpus)
    usual = default_network(catalogue, accelerator)
    network = usual if fabric is None else parse_fabric(catalogue, fabric, usual)
    return Cluster(
        accelerator=accelerator,
        gpus_per_node=node_gpus,
        domain_gpus=domain,
        scale_up=scale_up,
        scale_out=scale_out_link(network, node_gpus, accelerator.node_gpus),
        host_memory_bytes=host_memory_bytes,
        fabric_is_assumed=fabric is None,
        assumptions=(*said, *notes, *network.assumptions),
    )


def _inside_node(
    catalogue: Catalogue, accelerator: Accelerator, node_gpus: int
) -> tuple[Link, int, tuple[Message, ...]]:
    """Give the link inside a node, how many accelerators it joins, and what was assumed."""
    domain = accelerator.scale_up_domain
    if domain > accelerator.node_gpus:
        return accelerator.scale_up, domain, ()
    if domain > 1 and (domain >= node_gpus or node_gpus > accelerator.node_gpus):
        return accelerator.scale_up, min(domain, node_gpus), ()
    pcie = load_pcie_links(catalogue)[accelerator.name]
    if node_gpus == 1:
        return pcie, 1, ()
    if accelerator.bridge is not None:
        note = Message(
            "{accelerator}: bridges between cards are assumed absent; the cards of a node talk over {link}",
            accelerator=accelerator.name,
            link=pcie.name,
        )
    elif domain > 1:
        note = Message(
            "{accelerator}: its fabric joins {domain} of {count} cards; the cards of a node talk over {link}",
            accelerator=accelerator.name,
            domain=domain,
            count=node_gpus,
            link=pcie.name,
        )
    else:
        return pcie, node_gpus, ()
    return pcie, node_gpus, (note,)


def _bridged_cluster(
    catalogue: Catalogue,
    accelerator: Accelerator,
    node_gpus: int,
    host_memory_bytes: float | None,
    said: list[Message],
) -> Cluster:
    """One node of cards joined in groups by bridges, the groups among themselves by PCIe."""
    if accelerator.bridge is None:
        raise InputError(Message("fabric: {accelerator} takes no bridge", accelerator=accelerator.name))
    pcie = load_pcie_links(catalogue)[accelerator.name]
    note = Message(
        "{accelerator}: bridges join groups of {count} cards, and groups talk over {link}; this holds within one node",
        accelerator=accelerator.name,
        count=accelerator.bridge_gpus,
        link=pcie.name,
    )
    return Cluster(
        accelerator=accelerator,
        gpus_per_node=node_gpus,
        domain_gpus=min(accelerator.bridge_gpus, node_gpus),
        scale_up=accelerator.bridge,
        scale_out=pcie,
        host_memory_bytes=host_memory_bytes,
        assumptions=(*said, note),
    )

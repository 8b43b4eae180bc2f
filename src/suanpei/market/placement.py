"""Placement: whether cards are one cluster, whether racks can feed them, whether groups stay inside the fast fabric.

A total, in cards or in P, that lies in several sites or partitions is not a cluster of that size: a job runs in one of
them. A rack that cannot feed a whole machine at its most cannot hold it. A tensor-parallel group that leaves the
scale-up fabric exchanges every layer over the slow network.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, Literal

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.messages import Message
from suanpei.units import KILO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.catalogue import Catalogue

PlacementKind = Literal["one_cluster", "rack_power", "tensor_group"]


@dataclass(frozen=True, kw_only=True)
class PlacementFinding:
    """One check of where the cards stand."""

    kind: PlacementKind
    holds: bool | None
    """None where something has to be known first: `said` says what to ask."""
    said: Message


@dataclass(frozen=True, kw_only=True)
class NodeDraw:
    """The most that a machine draws."""

    watts: float
    basis: Message
    """Whether it is printed for this card and number of cards, or follows from the cards' power limits."""


def check_one_cluster(gpus: int, partition_gpus: Sequence[int]) -> PlacementFinding:
    """Check that a job's cards lie in one fabric.

    Args:
        gpus: Cards of the job. [-]
        partition_gpus: Cards of each site, hall or fabric partition; empty is not known. [-]
    """
    if not partition_gpus:
        return PlacementFinding(
            kind="one_cluster",
            holds=None,
            said=Message(
                "ask for all {gpus} cards in one fabric on one site: a total in cards or P over several partitions is"
                " not one cluster",
                gpus=gpus,
            ),
        )
    largest, total = max(partition_gpus), sum(partition_gpus)
    if gpus <= largest:
        said = Message("{gpus} cards fit in one fabric of {largest}", gpus=gpus, largest=largest)
        return PlacementFinding(kind="one_cluster", holds=True, said=said)
    if len(partition_gpus) == 1:
        said = Message("{gpus} cards are more than the {largest} in one fabric", gpus=gpus, largest=largest)
    else:
        said = Message(
            "{total} cards in {count} partitions are not one cluster: the largest holds {largest}, the job needs"
            " {gpus}",
            total=total,
            count=len(partition_gpus),
            largest=largest,
            gpus=gpus,
        )
    return PlacementFinding(kind="one_cluster", holds=False, said=said)


def estimate_node_draw(catalogue: Catalogue, accelerator: Accelerator, cards: int) -> NodeDraw | None:
    """Estimate the most that a machine draws.

    The printed figure where there is one; else the power limits of the cards times the largest share that any printed
    machine has of its cards' limits, so that host, fans and losses are not forgotten.

    Args:
        catalogue: Holds ``node_power.csv``. [-]
        accelerator: The card. [-]
        cards: Cards of the machine. [-]

    Returns:
        The draw; None where the card's power limit is not known.
    """
    accelerators = load_accelerators(catalogue)
    shares = []
    for row in catalogue.table("node_power"):
        watts, count = row.number("node_watts"), row.number("cards")
        known = accelerators.get(row.required("accelerator"))
        if watts is None or count is None:
            continue
        if row.text("accelerator") == accelerator.name and count == cards:
            return NodeDraw(watts=watts, basis=Message("printed for this machine"))
        if known is not None and known.tdp_watts:
            shares.append(watts / (count * known.tdp_watts))
    if accelerator.tdp_watts is None or not shares:
        return None
    share = max(shares)
    basis = Message("{share} times the power limits of its cards", share=f"{share:.1f}")
    return NodeDraw(watts=accelerator.tdp_watts * cards * share, basis=basis)


def check_rack_power(draw: NodeDraw | None, nodes: int, rack_watts: float | None) -> PlacementFinding:
    """Check that racks feed the machines at their most.

    Args:
        draw: Of one machine; None is unknown. [-]
        nodes: Machines of the job. [-]
        rack_watts: What one rack feeds, redundancy kept; None is not known. [W]

    Raises:
        InputError: The rack feeds nothing.
    """
    if rack_watts is not None and not rack_watts > 0:
        raise InputError(
            Message("{field} must be above {least}, got {given}", field="rack-kw", least=0, given=rack_watts / KILO)
        )
    if draw is None:
        said = Message("ask for the draw of one machine and the kW of a rack with redundancy: neither is known here")
        return PlacementFinding(kind="rack_power", holds=None, said=said)
    values = {"node": f"{draw.watts / KILO:.1f}", "basis": draw.basis}
    if rack_watts is None:
        said = Message(
            "one machine draws up to {node} kW ({basis}): ask for the kW of a rack with redundancy", **values
        )
        return PlacementFinding(kind="rack_power", holds=None, said=said)
    per_rack = floor(rack_watts / draw.watts)
    if per_rack < 1:
        said = Message(
            "a rack of {rack} kW does not feed one machine of {node} kW ({basis})",
            rack=f"{rack_watts / KILO:g}",
            **values,
        )
        return PlacementFinding(kind="rack_power", holds=False, said=said)
    said = Message(
        "a rack of {rack} kW feeds {count} machines of {node} kW ({basis}): {nodes} machines take {racks} racks",
        rack=f"{rack_watts / KILO:g}",
        count=per_rack,
        nodes=nodes,
        racks=ceil(nodes / per_rack),
        **values,
    )
    return PlacementFinding(kind="rack_power", holds=True, said=said)


def check_tensor_group(tensor_parallel: int, domain_gpus: int) -> PlacementFinding:
    """Check that a tensor-parallel group stays inside the scale-up fabric.

    Args:
        tensor_parallel: Cards of the group. [-]
        domain_gpus: Cards that the scale-up fabric joins. [-]
    """
    holds = tensor_parallel <= domain_gpus
    values = {"group": tensor_parallel, "domain": domain_gpus}
    if tensor_parallel == 1:
        said = Message("no tensor-parallel group: nothing has to stay inside a machine")
    elif holds:
        said = Message("tensor-parallel groups of {group} stay inside the {domain} cards of the fast fabric", **values)
    else:
        said = Message("tensor-parallel groups of {group} leave the {domain} cards of the fast fabric", **values)
    return PlacementFinding(kind="tensor_group", holds=holds, said=said)

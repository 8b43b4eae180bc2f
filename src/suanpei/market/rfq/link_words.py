"""What is asked of the links between cards and machines, in words: nothing that the planned ones cannot do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.machine.scale_up import WITHOUT_PEER_ACCESS
from suanpei.market.rfq.requirement import Requirement, to_be_stated, write_rate
from suanpei.messages import Message
from suanpei.units import format_gbit

if TYPE_CHECKING:
    from suanpei.market.rfq.specification import NetworkNeed, Specification


def link_requirements(need: Specification) -> tuple[Requirement, ...]:
    """List what joins the cards of a machine, and the machines.

    Args:
        need: The specification. [-]
    """
    if need.network is None:
        none = Requirement(key="network", need=Message("None: one machine is enough"), basis=Message("–"))
        return (none,) if need.gpus == 1 else (_in_node(need), none)
    rows = [
        _in_node(need),
        Requirement(
            key="network",
            need=_say_network(need.network),
            basis=Message("The plan's days hold for this network; a slower one is planned again before it is compared"),
        ),
        Requirement(
            key="topology",
            need=Message(
                "The {nodes} machines in one fabric; state levels, oversubscription and ports per card",
                nodes=need.nodes,
            ),
            basis=to_be_stated(),
        ),
    ]
    return (*rows, _direct(need)) if need.network.has_direct_transfers else tuple(rows)


def _in_node(need: Specification) -> Requirement:
    groups = Message("Groups of {gpus} cards exchange data within every layer", gpus=need.tensor_parallel_gpus)
    return Requirement(
        key="in_node",
        need=_say_in_node(need),
        basis=groups if need.tensor_parallel_gpus > 1 else Message("The links that the plan was made with"),
    )


def _say_in_node(need: Specification) -> Message:
    rate = write_rate(need.in_node_bytes_per_s)
    if need.in_node_technology == "pcie":
        return Message(
            "{link} to every card, {rate} per direction, at full width under load; state how sockets and switches join"
            " the cards",
            link=need.in_node_link.removesuffix(WITHOUT_PEER_ACCESS),
            rate=rate,
        )
    return Message(
        "{link}: {rate} per card and direction to the other cards, all links together",
        link=need.in_node_link.partition(" (")[0],
        rate=rate,
    )


def _say_network(network: NetworkNeed) -> Message:
    if network.ports is None or network.port_bytes_per_s is None or network.node_bytes_per_s is None:
        return Message("{name} per machine, or better", name=network.name)
    figures = {
        "name": network.name,
        "total": format_gbit(network.node_bytes_per_s),
        "ports": network.ports,
        "port": format_gbit(network.port_bytes_per_s),
    }
    if network.technology == "ethernet":
        return Message(
            "{name}: {total} Gbit/s per machine and direction ({ports} × {port} Gbit/s); RDMA is not needed", **figures
        )
    return Message("{name}: {total} Gbit/s per machine and direction ({ports} × {port} Gbit/s), with RDMA", **figures)


def _direct(need: Specification) -> Requirement:
    if need.stack is None or need.vendor != "NVIDIA":
        on = Message("On between card and port, without host memory in between; state how it is shown")
        return Requirement(key="gpudirect", need=on, basis=_usual_sign())
    return Requirement(
        key="gpudirect",
        need=Message(
            "GPUDirect RDMA on between card and port, or shown by the log of {library} to work as well; state its"
            " version",
            library=need.stack.library,
        ),
        basis=_usual_sign(),
    )


def _usual_sign() -> Message:
    return Message("Half the rate is the usual sign of one wrong setting (ACS, direct transfers, one port in use)")

"""The network between nodes: read from a user's words, a name of the catalogue, or assumed for a card.

A rate without a count is what a whole node has; the worst reading is taken and said, because a seller's "400G" rarely
says of what. Ports are shared evenly by the cards of a node.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.fabric import Link
from suanpei.machine.scale_up import MICROSECONDS_PER_S
from suanpei.messages import Message, excerpt
from suanpei.units import BITS_PER_BYTE, GIGA

if TYPE_CHECKING:
    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.catalogue import Catalogue
    from suanpei.machine.table import Row
    from suanpei.provenance import Provenance

GBIT_BYTES = GIGA / BITS_PER_BYTE
ANY_CARD = "*"
"""The row of ``default_fabrics.csv`` for every card without its own."""
NO_NETWORK = {
    "none",
    "no",
    "off",
    "无",
    "没有",
    "无网络",
    "无ib",
    "无rdma",
    "noib",
    "nordma",
    "不带ib",
    "没有ib",
    "无roce",
    "无高速网络",
}
SLOWEST_RDMA_GBIT = 100.0
"""Ports faster than this are sold with RDMA; up to it an unnamed port is read as plain Ethernet. [Gbit/s]"""
COUNT_AND_RATE = re.compile(
    r"(?:(?P<count>\d{1,3})\s*(?:x|\*|×|个|张|口|路|块)\s*)?"
    r"(?P<rate>\d+(?:\.\d+)?)\s*(?P<unit>tbps|tbit/s|tb/s|t|gbps|gbit/s|gbit|gbe|gb/s|gb|ge|g)(?![a-z])"
    r"(?:\s*(?:x|\*|×)\s*(?P<after>\d{1,3})(?!\d))?",
)
SIGNED_OR_POWER = re.compile(r"(?:^|[\s,;(x*×])[-−]\d|\d\s*e[+-]?\d")
"""No count or rate of ports is negative or a power of ten; read from the middle, either would mean something else."""
MOST_GBIT = 100_000.0
"""Above this a rate is a slip of the pen: a hundred times the fastest node of today. [Gbit/s]"""
COUNT_AND_WORD = re.compile(r"(?P<count>\d{1,3})\s*(?:x|\*|×)\s*(?=[a-z])")


@dataclass(frozen=True, kw_only=True)
class Network:
    """What leaves one node."""

    name: str
    ports: int
    """Network ports of one node. [-]"""
    port_bytes_per_s: float
    """Line rate of one port, per direction. [B/s]"""
    technology: str
    efficiency_fraction: float
    """Bus bandwidth of a large collective over the line rate. [-]"""
    latency_s: float
    assumptions: tuple[Message, ...] = ()
    provenance: Provenance | None = None


def parse_fabric(catalogue: Catalogue, text: str, usual: Network | None = None) -> Network:
    """Read a network as people write it: ``8x400G IB``, ``3200Gbps RoCE``, ``无IB``, ``25G``, a row of ``fabrics.csv``.

    Args:
        catalogue: Holds fabrics and the words for them. [-]
        text: What the user or a quote says. [-]
        usual: What a node of the card usually has: its ports where the text names only a kind of port, such as ``NDR``,
            and its rate where the text names only a technology, such as ``IB``; None where no card is known. [-]

    Raises:
        InputError: Nothing in the text is a network; the forms that are read are named.
    """
    folded = unicodedata.normalize("NFKC", text).strip().casefold()
    if re.sub(r"[\s_-]", "", folded) in NO_NETWORK:
        return _no_network(catalogue, text)
    if row := _named_row(catalogue, folded):
        return _row_network(catalogue, row, usual.ports if usual else 1)
    if SIGNED_OR_POWER.search(folded):
        raise _unreadable(catalogue, text)
    technology, word_gbit = _technology(catalogue, folded)
    found = COUNT_AND_RATE.search(folded)
    said: list[Message] = []
    if found is None:
        if technology == "ethernet":
            return _no_network(catalogue, text)
        counted = COUNT_AND_WORD.search(folded)
        ports = int(counted["count"]) if counted else usual.ports if usual else 1
        gbit = word_gbit or (usual.port_bytes_per_s / GBIT_BYTES if usual else 0.0)
        if technology is None or (not word_gbit and (usual is None or usual.technology == "ethernet")):
            raise _unreadable(catalogue, text)
        if counted is None or not word_gbit:
            said.append(
                Message(
                    "fabric {given}: {link} per node assumed",
                    given=excerpt(text.strip()),
                    link=_write(catalogue, ports, gbit, technology),
                )
            )
    else:
        count = found["count"] or found["after"]
        ports, gbit = int(count or 1), float(found["rate"]) * (1000.0 if found["unit"].startswith("t") else 1.0)
        if _says_bytes(text):
            gbit *= BITS_PER_BYTE
        if count is None:
            said.append(
                Message(
                    "fabric {given}: read as the total of one node; write 8x400G where each card has its own port",
                    given=excerpt(text.strip()),
                )
            )
    if ports < 1 or not 0 < gbit <= MOST_GBIT:
        raise _unreadable(catalogue, text)
    if technology is None:
        technology = "ethernet" if gbit <= SLOWEST_RDMA_GBIT else "roce"
        said.append(
            Message(
                "fabric {given}: {technology} assumed",
                given=excerpt(text.strip()),
                technology=_written(catalogue, technology),
            )
        )
    return _network(catalogue, technology, ports, gbit, tuple(said))


def default_network(catalogue: Catalogue, accelerator: Accelerator) -> Network:
    """Give the network that is assumed for a card when nothing names one, from ``default_fabrics.csv``.

    Where the row allows two technologies, the slower is taken.

    Args:
        catalogue: Holds the table of default fabrics; its row ``*`` is for every card without its own. [-]
        accelerator: The card. [-]
    """
    row = _default_row(catalogue, accelerator.name)
    technology, _ = _technology(catalogue, row.text("technology").casefold())
    named = "roce" if "roce" in row.text("technology").casefold() else technology or "ethernet"
    ports, gbit = int(row.number("nics_per_node") or 1), row.number("gbit_per_nic") or 0.0
    link = f"{ports}x{gbit:g}G {row.text('technology')}"
    said = Message(
        "{accelerator}: no fabric named; {link} between nodes assumed ({source})",
        accelerator=accelerator.name,
        link=link,
        source=row.text("source"),
    )
    network = _network(catalogue, named, ports, gbit, (said,))
    return Network(
        name=link,
        ports=ports,
        port_bytes_per_s=network.port_bytes_per_s,
        technology=named,
        efficiency_fraction=network.efficiency_fraction,
        latency_s=network.latency_s,
        assumptions=network.assumptions,
        provenance=row.provenance(catalogue.as_of("default_fabrics")),
    )


def scale_out_link(network: Network, gpus_per_node: int, usual_gpus_per_node: int) -> Link:
    """Give what one accelerator sees of a node's network.

    ::

        share = ports · rate / accelerators of the node

    A node with a port per card that is cut smaller (four of eight cards) keeps one port per card.

    Args:
        network: Ports of one node. [-]
        gpus_per_node: Accelerators of the rented machine. [-]
        usual_gpus_per_node: Accelerators of the machine that the ports were counted for. [-]
    """
    sharing = gpus_per_node if network.ports < usual_gpus_per_node else max(gpus_per_node, usual_gpus_per_node)
    line_bytes_per_s = network.ports * network.port_bytes_per_s / sharing
    achievable_bytes_per_s = line_bytes_per_s * network.efficiency_fraction
    return Link(
        name=network.name,
        bytes_per_s=line_bytes_per_s,
        achievable_bytes_per_s=achievable_bytes_per_s,
        all_reduce_bytes_per_s=achievable_bytes_per_s,
        latency_s=network.latency_s,
        technology=network.technology,
        provenance=network.provenance,
    )


def _written(catalogue: Catalogue, technology: str) -> str:
    written: str = catalogue.links["technologies"][technology]["written"]
    return written


def _write(catalogue: Catalogue, ports: int, gbit: float, technology: str) -> str:
    """Write what joins nodes: 8x400G InfiniBand."""
    return f"{ports}x{gbit:g}G {_written(catalogue, technology)}"


def _network(
    catalogue: Catalogue, technology: str, ports: int, gbit: float, assumptions: tuple[Message, ...]
) -> Network:
    facts = catalogue.links["technologies"][technology]
    row = _nearest_row(catalogue, technology, gbit)
    efficiency = row.number("efficiency_typical") if row else None
    return Network(
        name=_write(catalogue, ports, gbit, technology),
        ports=ports,
        port_bytes_per_s=gbit * GBIT_BYTES,
        technology=technology,
        efficiency_fraction=efficiency or facts["efficiency"],
        latency_s=facts["latency_us"] / MICROSECONDS_PER_S,
        assumptions=assumptions,
        provenance=row.provenance(catalogue.as_of("fabrics")) if row else None,
    )


def _no_network(catalogue: Catalogue, text: str) -> Network:
    row = _default_row(catalogue, ANY_CARD)
    ports, gbit = int(row.number("nics_per_node") or 1), row.number("gbit_per_nic") or 0.0
    said = Message(
        "fabric {given}: one {gbit:g} Gbit/s Ethernet port per node assumed between nodes",
        given=excerpt(text.strip()),
        gbit=gbit,
    )
    return _network(catalogue, "ethernet", ports, gbit, (said,))


def _row_network(catalogue: Catalogue, row: Row, ports: int) -> Network:
    """Take a row of ``fabrics.csv`` by name: a whole node's rate, or a port's times the usual ports."""
    technology, _ = _technology(catalogue, row.text("name").casefold())
    facts = catalogue.links["technologies"][technology or "ethernet"]
    whole = row.text("per").startswith("node")
    gbit = row.number("bw_gbit_per_dir") or 0.0
    link = f"{ports}x {row.text('name')}"
    said = () if whole else (Message("fabric {given}: {link} per node assumed", given=row.text("name"), link=link),)
    return Network(
        name=row.text("name") if whole else link,
        ports=1 if whole else ports,
        port_bytes_per_s=gbit * GBIT_BYTES,
        technology=technology or "ethernet",
        efficiency_fraction=row.number("efficiency_typical") or facts["efficiency"],
        latency_s=facts["latency_us"] / MICROSECONDS_PER_S,
        assumptions=said,
        provenance=row.provenance(catalogue.as_of("fabrics")),
    )


def _named_row(catalogue: Catalogue, folded: str) -> Row | None:
    """Find a scale-out row by its name, or by its name without what stands in brackets."""
    wanted = _squashed(folded)
    for row in catalogue.table("fabrics"):
        name = row.text("name").casefold()
        if row.text("kind") == "scale-out" and wanted in (_squashed(name), _squashed(name.split("(")[0])):
            return row
    return None


def _nearest_row(catalogue: Catalogue, technology: str, gbit: float) -> Row | None:
    """Give the measured row of a technology with the largest rate up to `gbit`, else its slowest."""
    prefix = catalogue.links["network_rows"].get(technology)
    rows = [row for row in catalogue.table("fabrics") if prefix and row.text("name").startswith(prefix)]
    rates = {row.number("bw_gbit_per_dir") or 0.0: row for row in rows if row.number("efficiency_typical")}
    if not rates:
        return None
    below = [rate for rate in rates if rate <= gbit]
    return rates[max(below) if below else min(rates)]


def _technology(catalogue: Catalogue, folded: str) -> tuple[str | None, float | None]:
    """Find the network technology that a text names, and the rate where the word fixes one. [Gbit/s]"""
    named: str | None = None
    for word, facts in sorted(catalogue.links["words"].items(), key=lambda item: -len(item[0])):
        if not re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", folded):
            continue
        if "gbit_per_s" in facts:
            return facts["technology"], float(facts["gbit_per_s"])
        named = named or facts["technology"]
    return named, None


def _default_row(catalogue: Catalogue, accelerator: str) -> Row:
    rows = {row.text("accelerator"): row for row in catalogue.table("default_fabrics")}
    return rows.get(accelerator, rows[ANY_CARD])


def _says_bytes(text: str) -> bool:
    """Whether a rate is written in bytes: a capital B with a time, as in ``50GB/s``."""
    return re.search(r"[GgTt]B(?:/s|ps)", unicodedata.normalize("NFKC", text)) is not None


def _squashed(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text)


def _unreadable(catalogue: Catalogue, text: str) -> InputError:
    names = [row.text("name") for row in catalogue.table("fabrics") if row.text("kind") == "scale-out"]
    nearest = get_close_matches(text, names, n=1, cutoff=0.0)
    return InputError(
        Message(
            "fabric takes ports and rate such as 8x400G IB, 4x200G RoCE, 3200Gbps, 25G, none, or a name such as "
            "{nearest}; got {given}",
            nearest=nearest[0],
            given=excerpt(text),
        )
    )

"""The fabric inside a node: which measured link stands for a card's own, and PCIe where there is nothing better.

A card's row gives its line rate; a row of ``fabrics.csv`` for the same link gives the share of the line rate that a
large collective reaches, so a cut variant scales by its own rate. ``links.toml`` joins the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.machine.fabric import Link
from suanpei.messages import Message
from suanpei.units import GB_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.machine.catalogue import Catalogue
    from suanpei.machine.table import Row

MICROSECONDS_PER_S = 1e6
WITHOUT_PEER_ACCESS = " without P2P"
"""Ends the name of a PCIe link over which cards cannot copy directly."""
LANES = 16
"""Lanes to which the PCIe rows of ``fabrics.csv`` refer."""
GUESSES = (
    ("nvlink", "nvlink"),
    ("infinity", "infinity-fabric"),
    ("xgmi", "infinity-fabric"),
    ("hccs", "hccs"),
    ("roce", "roce"),
)
"""What a link of a user's own row is taken for, by a word in its name."""


def scale_up_link(catalogue: Catalogue, row: Row) -> Link | None:
    """Give the scale-up link of an accelerator; None where it has none or its rate is unknown.

    ::

        achievable = line rate · (measured bus bandwidth / line rate of the measured link)

    Args:
        catalogue: Holds fabrics and links. [-]
        row: Row of the table of accelerators. [-]

    Raises:
        InputError: A cell of the row is malformed, or ``links.toml`` names a fabric that does not exist.
    """
    line_gb_per_s = row.number("scaleup_bw_per_dir_gb_per_s")
    if line_gb_per_s is None:
        both = row.number("scaleup_bw_bidir_gb_per_s")
        line_gb_per_s = both / 2 if both else None
    if not line_gb_per_s or (row.number("scaleup_domain_gpus") or 1) < 2:
        return None
    name = row.text("scaleup_link")
    entry = catalogue.links["scale_up"].get(name) or _guessed(catalogue, name)
    technology = catalogue.links["technologies"][entry["technology"]]
    ring = _measured_efficiency(catalogue, entry.get("ring")) or technology["efficiency"]
    all_reduce = _measured_efficiency(catalogue, entry.get("all_reduce")) or ring
    line_bytes_per_s = line_gb_per_s * GB_BYTES
    return Link(
        name=name or entry["technology"],
        bytes_per_s=line_bytes_per_s,
        achievable_bytes_per_s=line_bytes_per_s * ring,
        all_reduce_bytes_per_s=line_bytes_per_s * max(all_reduce, ring),
        latency_s=technology["latency_us"] / MICROSECONDS_PER_S,
        technology=entry["technology"],
        is_mesh=entry.get("mesh", False),
        provenance=_fabric_row(catalogue, entry["ring"]).provenance(catalogue.as_of("fabrics"))
        if "ring" in entry
        else row.provenance(catalogue.as_of("accelerators")),
    )


def pcie_link(catalogue: Catalogue, row: Row) -> Link:
    """Give the PCIe link over which the cards of one server talk when no better link joins them.

    Args:
        catalogue: Holds fabrics and links. [-]
        row: Row of the table of accelerators; a blank generation is read as PCIe 3.0, the slowest. [-]

    Raises:
        InputError: A cell of the row is malformed, or the PCIe generation is unknown.
    """
    generation = row.text("pcie_gen") or "3"
    pcie: Mapping[str, Any] = catalogue.links["pcie"]
    if generation not in pcie:
        raise InputError(
            Message(
                "{file}, line {line}: column {column} takes {allowed}, got {given}",
                file=row.file,
                line=row.line,
                column="pcie_gen",
                allowed=", ".join(key for key in pcie if key.isdigit()),
                given=generation,
            )
        )
    fabric = _fabric_row(catalogue, pcie[generation]["fabric"])
    lanes = (row.number("pcie_lanes") or LANES) / LANES
    line_bytes_per_s = (fabric.number("bw_gbyte_per_dir") or 0.0) * GB_BYTES * lanes
    ring_bytes_per_s = pcie[generation]["ring_gb_per_s"] * GB_BYTES * lanes
    latency_us = catalogue.links["technologies"]["pcie"]["latency_us"]
    name = fabric.text("name")
    halves_share = pcie["sockets"]["halves_share"]
    if row.text("name") in catalogue.generations["without_peer_access"]:
        fabric = _fabric_row(catalogue, pcie["without_peer_access"]["fabric"])
        ring_bytes_per_s = line_bytes_per_s * pcie["without_peer_access"]["efficiency"]
        latency_us = pcie["without_peer_access"]["latency_us"]
        halves_share = 1.0
        name = f"{name}{WITHOUT_PEER_ACCESS}"
    return Link(
        name=name,
        bytes_per_s=line_bytes_per_s,
        achievable_bytes_per_s=ring_bytes_per_s,
        all_reduce_bytes_per_s=ring_bytes_per_s,
        latency_s=latency_us / MICROSECONDS_PER_S,
        technology="pcie",
        halves_share=halves_share,
        one_socket_gpus=pcie["sockets"]["one_socket_gpus"],
        provenance=fabric.provenance(catalogue.as_of("fabrics")),
    )


def _guessed(catalogue: Catalogue, name: str) -> Mapping[str, Any]:
    """Read a link that ``links.toml`` does not list: by its fabric row, if any, and a word in its name."""
    folded = name.casefold()
    technology = next((technology for word, technology in GUESSES if word in folded), "other")
    if any(fabric.text("name") == name for fabric in catalogue.table("fabrics")):
        return {"technology": technology, "ring": name}
    return {"technology": technology}


def _fabric_row(catalogue: Catalogue, name: str) -> Row:
    for row in catalogue.table("fabrics"):
        if row.text("name") == name:
            return row
    raise InputError(Message("links.toml names the fabric {given}, which fabrics.csv does not have", given=name))


def _measured_efficiency(catalogue: Catalogue, name: str | None) -> float | None:
    """Give measured over line rate of a fabric row; None where it is not measured. [-]"""
    if name is None:
        return None
    row = _fabric_row(catalogue, name)
    achieved, line = row.number("achievable_gbyte_per_dir_typical"), row.number("bw_gbyte_per_dir")
    return achieved / line if achieved and line else None

"""What the software and the make of a card allow to be asked for: names of tools, drivers, transfers, memory checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from suanpei.machine.table import UNDATED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.catalogue import Catalogue

TABLE = "acceptance"
"""The file of the catalogue that holds all of this."""
MemoryCheck = Literal["row_remapping", "page_retirement", "system_log", "makers_tool"]
"""How broken memory shows: rows waiting for spare ones, pages waiting to be retired, the log of the system where a card
does not correct errors, or the tool of the card's maker."""


@dataclass(frozen=True, kw_only=True)
class Driver:
    """The oldest driver that a card is asked for with."""

    version: str
    cuda: str
    """The toolkit whose programs must run."""
    source: str


@dataclass(frozen=True, kw_only=True)
class Stack:
    """What the software of a card calls its parts."""

    toolkit: str
    library: str
    """Of collectives."""
    test: str
    """Of the library."""
    prints_algorithm_bandwidth: bool
    """Whether the test prints size over time, and not bus bandwidth."""


def find_stack(catalogue: Catalogue, accelerator: Accelerator) -> Stack | None:
    """Give the software of a card; None where no source names its parts."""
    found = catalogue.toml(TABLE)["stacks"].get(accelerator.stack)
    if found is None:
        return None
    return Stack(
        toolkit=found["toolkit"],
        library=found["library"],
        test=found["test"],
        prints_algorithm_bandwidth=found["prints"] == "algorithm",
    )


def required_driver(catalogue: Catalogue, accelerator: Accelerator) -> Driver | None:
    """Give the oldest driver of a card: its first one, or that of today's frameworks where this is newer.

    None where no source names one.
    """
    table = catalogue.toml(TABLE)
    first = table["drivers"].get(accelerator.generation)
    if first is None:
        return None
    found = max(first, table["frameworks"], key=_order)
    return Driver(version=found["driver"], cuda=found["cuda"], source=cite(found))


def has_peer_access(catalogue: Catalogue, accelerator: Accelerator) -> bool:
    """Tell whether the driver lets cards of this kind copy to each other and to network ports."""
    return accelerator.name not in catalogue.generations["without_peer_access"]


def transfers_directly(catalogue: Catalogue, accelerator: Accelerator, technology: str) -> bool:
    """Tell whether data can go from a card to the network port without passing through host memory.

    Args:
        catalogue: Holds which cards and networks allow it. [-]
        accelerator: The card. [-]
        technology: Of the network; empty is unknown. [-]
    """
    known = catalogue.toml(TABLE)["direct"]
    return (
        accelerator.stack in known["stacks"]
        and technology in known["technologies"]
        and has_peer_access(catalogue, accelerator)
    )


def memory_check(catalogue: Catalogue, accelerator: Accelerator) -> MemoryCheck:
    """Tell how broken memory of a card shows."""
    if accelerator.stack != "cuda":
        return "makers_tool"
    if not has_peer_access(catalogue, accelerator):
        return "system_log"
    remaps = accelerator.generation in catalogue.toml(TABLE)["row_remapping"]["generations"]
    return "row_remapping" if remaps else "page_retirement"


def cite(entry: Mapping[str, Any]) -> str:
    """Write the source of a table of the file, with its date where it has one."""
    return str(entry["source"]) if entry["as_of"] in UNDATED else f"{entry['source']} ({entry['as_of']})"


def _order(driver: Mapping[str, Any]) -> tuple[int, ...]:
    """Give what drivers are compared by: the numbers of their version."""
    return tuple(map(int, driver["driver"].split(".")))

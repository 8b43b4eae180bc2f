"""Plans to ask for quotes with: results of ``suanpei plan``, cut to what a request needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suanpei.machine.catalogue import load_catalogue
from suanpei.market.rfq.plan_document import parse_plan
from suanpei.market.rfq.specification import build_specification

if TYPE_CHECKING:
    from suanpei.market.rfq.specification import Specification

FOLDER = Path(__file__).parents[2] / "data" / "rfq"
ONE_MACHINE = FOLDER / "a800_one_machine.json"
EIGHT_MACHINES = FOLDER / "h800_eight_machines.json"
CATALOGUE = load_catalogue()


def specify(path: Path, rank: int = 1) -> Specification:
    return build_specification(parse_plan(path.read_text(encoding="utf-8"), path.name), rank, CATALOGUE)


def document(path: Path = ONE_MACHINE) -> dict[str, Any]:
    """The JSON of a plan, to be changed."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found

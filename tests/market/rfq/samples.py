"""Plans to ask for quotes with: results of ``suanpei plan``, cut to what a request needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suanpei.machine.catalogue import load_catalogue
from suanpei.market.rfq.planned import PlannedRental
from suanpei.market.rfq.specification import build_specification
from suanpei.market.rfq.words import load_form_words

if TYPE_CHECKING:
    from suanpei.market.rfq.specification import Specification

FOLDER = Path(__file__).parents[2] / "data" / "rfq"
ONE_MACHINE = FOLDER / "a800_one_machine.json"
EIGHT_MACHINES = FOLDER / "h800_eight_machines.json"
CATALOGUE = load_catalogue()
WORDS = load_form_words(CATALOGUE)


def specify(path: Path, rank: int = 1) -> Specification:
    return specify_document(document(path), rank)


def specify_document(plan: dict[str, Any], rank: int = 1) -> Specification:
    read = PlannedRental.model_validate(plan)
    (row,) = [row for row in read.plans if row.rank == rank]
    return build_specification(read, row, CATALOGUE)


def document(path: Path = ONE_MACHINE) -> dict[str, Any]:
    """The JSON of a plan, to be changed."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found

"""Cases from the field: questions that people asked in public, with the right answer.

A case has an input, and expected values by field. A field is compared as its rule says: ``equals``; ``value`` with
``rel_tol`` or ``abs_tol``, lists element by element; ``min`` and ``max``; ``contains``.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]
    """From a case's input to its fields."""

FOLDER = Path(__file__).parent
REPOSITORY = FOLDER.parents[1]


@dataclass(frozen=True, kw_only=True)
class Case:
    id: str
    group: str
    input: Mapping[str, Any]
    expected: Mapping[str, Mapping[str, Any]]
    source: str


@cache
def load_cases() -> Mapping[str, Case]:
    with (FOLDER / "field_cases.csv").open(encoding="utf-8", newline="") as file:
        return {
            row["id"]: Case(
                id=row["id"],
                group=row["group"],
                input=json.loads(row["input"]),
                expected=json.loads(row["expected"]),
                source=row["source"],
            )
            for row in csv.DictReader(file)
        }


@cache
def load_unanswered() -> Mapping[tuple[str, str], str]:
    """Give the reason by case and field."""
    with (FOLDER / "unanswered.csv").open(encoding="utf-8", newline="") as file:
        return {(row["id"], row["field"]): row["reason"] for row in csv.DictReader(file)}


def check(given: Any, rule: Mapping[str, Any]) -> None:
    """Compare one answer with what its rule expects."""
    if "equals" in rule:
        assert given == rule["equals"]
    elif "value" in rule:
        tolerance = {"rel": rule.get("rel_tol", 0.0), "abs": rule.get("abs_tol", 0.0)}
        wanted = rule["value"]
        if isinstance(wanted, list):
            assert len(given) == len(wanted)
        assert given == pytest.approx(wanted, **tolerance)
    elif "contains" in rule:
        assert set(rule["contains"]) <= set(given)
    else:
        for number in given if isinstance(given, list) else [given]:
            assert rule["min"] <= number <= rule["max"]

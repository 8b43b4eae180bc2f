from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

import jsonschema
import numpy as np
import pytest

import suanpei
from suanpei.messages import Message
from suanpei.physics.strategy import Recompute, Sharding, Strategy
from suanpei.verbs.envelope import LONG_LIST, SCHEMA_VERSION, VerbResult, to_envelope, to_jsonable, write_envelope
from suanpei.verbs.json_schema import build_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.money import Money


class Colour(Enum):
    RED = "r"


class Level(IntEnum):
    HIGH = 2


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of the answer."""

    name: Literal["a", "b"]
    size_bytes: float
    """Its size. [B]"""
    parent: Part | None = None


@dataclass(frozen=True, kw_only=True)
class Answer(VerbResult):
    """An answer with everything in it."""

    strategy: Strategy
    parts: tuple[Part, ...]
    by_name: Mapping[str, float]
    pair: tuple[int, str]
    cost: Money | None
    level: Level
    colour: Colour
    when: date
    reasons: list[Message]
    anything: Any
    error_class: str = field(metadata={"json": "class"})
    working: object = field(metadata={"json": None})


def answer(**changes: Any) -> Answer:
    return Answer(
        **{
            "catalog_date": "2026-11-30",
            "calibration_id": None,
            "request": {"tokens": 20e9, "gpu": ("A800",)},
            "assumptions": (Message("{field} is empty", field="x"),),
            "strategy": Strategy(tp=2, sharding=Sharding.ZERO1, recompute=Recompute.FULL),
            "parts": (Part(name="a", size_bytes=2.5), Part(name="b", size_bytes=np.float64(3), parent=None)),
            "by_name": {"x": np.float32(0.5)},
            "pair": (1, "y"),
            "cost": None,
            "level": Level.HIGH,
            "colour": Colour.RED,
            "when": date(2026, 11, 30),
            "reasons": [],
            "anything": np.array([[1, 2]]),
            "error_class": "A",
            "working": object(),
            **changes,
        }
    )


def test_an_envelope_starts_with_what_every_result_has() -> None:
    document = to_envelope(answer(), lambda message: f"<{message.key}>")
    assert list(document)[:6] == [
        "suanpei_version",
        "schema_version",
        "catalog_date",
        "calibration_id",
        "request",
        "assumptions",
    ]
    assert (document["suanpei_version"], document["schema_version"]) == (suanpei.__version__, SCHEMA_VERSION)
    assert document["request"] == {"tokens": 20e9, "gpu": ["A800"]}
    assert document["assumptions"] == [
        {"key": "{field} is empty", "values": {"field": "x"}, "text": "<{field} is empty>"}
    ]


@pytest.mark.parametrize("changes", [{}, {"parts": (), "reasons": [Message("a\n{b}", b="甲")]}])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_what_is_written_piece_by_piece_is_the_same_text(changes: dict[str, Any], ascii_only: bool) -> None:
    result = answer(**changes)
    whole = json.dumps(to_envelope(result), ensure_ascii=ascii_only, indent=2) + "\n"
    assert "".join(write_envelope(result, ascii_only=ascii_only)) == whole


def test_a_long_list_is_the_same_document_with_an_item_a_line() -> None:
    result = answer(parts=(Part(name="a", size_bytes=1.0),) * (LONG_LIST + 1))
    text = "".join(write_envelope(result))
    assert json.loads(text) == to_envelope(result)
    assert text.count('\n    {"name": "a", "size_bytes": 1.0, "parent": null}') == LONG_LIST + 1


def test_values_become_json() -> None:
    document = to_envelope(answer())
    assert document["strategy"]["sharding"] == "zero1"
    assert document["strategy"]["recompute"] == "full"
    assert document["strategy"]["sp"] is False
    assert document["level"] == "high"
    assert document["colour"] == "r"
    assert document["when"] == "2026-11-30"
    assert document["anything"] == [[1, 2]]
    assert document["class"] == "A"
    assert "error_class" not in document
    assert "working" not in document
    assert json.loads(json.dumps(document, allow_nan=False)) == document


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Decimal("52300.25"), 52300.25),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (float("nan"), None),
        (np.float64("inf"), None),
        (Decimal("NaN"), None),
        (frozenset({"b", "a"}), ["a", "b"]),
        (PurePosixPath("a/b"), "a/b"),
        ({Level.HIGH: 1, 8: 2}, {"high": 1, "8": 2}),
        (True, True),
    ],
)
def test_scalars(value: object, expected: object) -> None:
    assert to_jsonable(value) == expected


def test_what_has_no_json_form_is_refused() -> None:
    with pytest.raises(TypeError):
        to_jsonable(object())


def test_a_schema_describes_what_is_printed() -> None:
    from suanpei.money import Money

    schema = build_schema(Answer, "suanpei answer")
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    nested = answer(
        parts=(Part(name="a", size_bytes=1.0, parent=Part(name="b", size_bytes=2.0)),),
        cost=Money(amount=Decimal("6.5"), currency="CNY"),
        reasons=[Message("{field} is empty", field="y")],
    )
    for result in (answer(), nested):
        validator.validate(to_envelope(result))


@pytest.mark.parametrize(
    "breaking",
    [
        {"class": 3},
        {"pair": [1]},
        {"level": 2},
        {"parts": [{"name": "c", "size_bytes": 1, "parent": None}]},
        {"extra": 1},
        {"cost": {"amount": "6.5", "currency": "CNY"}},
    ],
)
def test_a_schema_refuses_what_is_not_printed(breaking: dict[str, object]) -> None:
    validator = jsonschema.Draft202012Validator(build_schema(Answer, "suanpei answer"))
    assert not validator.is_valid(to_envelope(answer()) | breaking)


def test_descriptions_are_the_docstrings_under_the_fields() -> None:
    schema = build_schema(Answer, "suanpei answer")
    assert schema["$defs"]["Part"]["properties"]["size_bytes"]["description"] == "Its size. [B]"
    assert schema["properties"]["catalog_date"]["description"].startswith("Date of the newest catalogue row")

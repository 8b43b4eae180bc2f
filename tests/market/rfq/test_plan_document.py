from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.market.rfq.plan_document import parse_plan
from tests.market.rfq.samples import document

if TYPE_CHECKING:
    from collections.abc import Callable


def parse(plan: Any) -> Any:
    return parse_plan(json.dumps(plan), "plan.json")


def test_both_versions_of_the_json_are_read_alike() -> None:
    old, new = document(), document()
    new["schema_version"] = 2
    new["plans"][0]["cost"] = {"missing": [{"name": {"key": "x", "values": {}, "text": "x"}, "worst": None}]}
    assert parse(old).plans == parse(new).plans


def test_the_hash_is_that_of_the_request_alone() -> None:
    plan, other = document(), document()
    other["catalog_date"] = "2030-01-01"
    assert parse(plan).request_hash == parse(other).request_hash
    other["request"]["budget"] = "1CNY"
    assert parse(plan).request_hash != parse(other).request_hash


def test_a_rank_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match=r"rank: the file holds plans 1, not 7"):
        parse(document()).row(7)


def put(*path: str | int, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(plan: Any) -> None:
        for step in path[:-1]:
            plan = plan[step]
        plan[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("plans", value=[]), "plans is missing or not what it should be"),
        (put("plans", value="none"), r"is no result of suanpei plan"),
        (put("plans", 0, "gpus", value=0), r"plans\.0\.gpus is missing"),
        (put("plans", 0, "gpus", value=True), r"plans\.0\.gpus is missing"),
        (put("plans", 0, "gpus", value="many"), r"plans\.0\.gpus is missing"),
        (put("plans", 0, "run", value=None), r"plans\.0\.run is missing"),
        (put("plans", 0, "run", "checkpoint_blocking_s", value=float("nan")), "checkpoint_blocking_s is missing"),
        (put("plans", 0, "run", "days", value=float("inf")), r"run\.days is missing"),
        (put("plans", 0, "accelerator", value="A" * 201), r"plans\.0\.accelerator is missing"),
        (put("request", "as_of", value="soon"), r"request\.as_of is missing"),
        (put("request", value=[]), "request is missing"),
        (put("job", "tokens", value=-1), r"job\.tokens is missing"),
        (put("schema_version", value=3), r"has schema_version 3; this version reads 1, 2: make the plan again"),
        (put("schema_version", value=None), "has schema_version None"),
    ],
)
def test_what_is_wrong_is_named_in_one_line(change: Callable[[dict[str, Any]], None], message: str) -> None:
    plan = document()
    change(plan)
    with pytest.raises(InputError, match=message) as error:
        parse(plan)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "plan.json is not JSON"),
        ("{", "plan.json is not JSON: line 1, character 2"),
        ("[" * 100_000, "plan.json is not JSON"),
        ("[]", "plan.json is no result of suanpei plan: write one"),
        ('{"estimate": 1}', "is no result of suanpei plan"),
    ],
)
def test_other_files_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_plan(text, "plan.json")


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["plans", "request", "job", "rank"]), inner),
    )
)
def test_any_json_gives_a_plan_or_one_line(value: Any) -> None:
    with pytest.raises(InputError):
        parse({"schema_version": 1, "plans": [value], "request": value, "job": value, "assumptions": []})

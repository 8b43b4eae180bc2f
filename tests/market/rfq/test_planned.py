from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from suanpei.market.rfq.planned import PlannedRental
from tests.market.rfq.samples import document

if TYPE_CHECKING:
    from collections.abc import Callable


def test_the_hash_is_that_of_the_request_alone() -> None:
    plan, other = document(), document()
    other["catalog_date"] = "2030-01-01"
    first = PlannedRental.model_validate(plan).request_hash
    assert PlannedRental.model_validate(other).request_hash == first
    other["request"]["budget"] = "1CNY"
    assert PlannedRental.model_validate(other).request_hash != first
    other["request_hash"] = first
    assert PlannedRental.model_validate(other).request_hash != first


def put(*path: str | int, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(plan: Any) -> None:
        for step in path[:-1]:
            plan = plan[step]
        plan[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (put("plans", value=[]), "plans"),
        (put("plans", value="none"), "plans"),
        (put("plans", 0, "gpus", value=0), "plans.0.gpus"),
        (put("plans", 0, "gpus", value=True), "plans.0.gpus"),
        (put("plans", 0, "gpus", value="many"), "plans.0.gpus"),
        (put("plans", 0, "run", value=None), "plans.0.run"),
        (put("plans", 0, "run", "checkpoint_blocking_s", value=float("nan")), "plans.0.run.checkpoint_blocking_s"),
        (put("plans", 0, "run", "days", value=float("inf")), "plans.0.run.days"),
        (put("plans", 0, "data_path", "pull_s", value=0), "plans.0.data_path.pull_s"),
        (put("plans", 0, "accelerator", value="A" * 201), "plans.0.accelerator"),
        (put("request", "as_of", value="soon"), "request.as_of"),
        (put("request", value=[]), "request"),
        (put("job", "tokens", value=-1), "job.tokens"),
        (put("schema_version", value=None), "schema_version"),
    ],
)
def test_what_is_wrong_is_named(change: Callable[[dict[str, Any]], None], place: str) -> None:
    plan = document()
    change(plan)
    with pytest.raises(ValidationError) as error:
        PlannedRental.model_validate(plan)
    assert ".".join(map(str, error.value.errors()[0]["loc"])) == place


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["plans", "request", "job", "rank"]), inner),
    )
)
def test_any_json_gives_a_plan_or_a_named_key(value: Any) -> None:
    for plan in (value, {"schema_version": 1, "plans": [value], "request": value, "job": value}):
        with pytest.raises(ValidationError):
            PlannedRental.model_validate(plan)

"""Errors and their summary: repeats once, sources equally, files apart."""

from __future__ import annotations

from dataclasses import replace
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.validation.residuals import Prediction, weighted_quantile
from suanpei.validation.summary import Summary, summarise

BASE = Prediction(
    case_id="a-1", file="throughput", kind="throughput", source="a", error_class="A", set_name="", generation="ampere",
    recipe="megatron", group="a-1", metric="step_s", bound="exact", measured=1.0, predicted=1.0, low=0.9, high=1.2,
    counter="",
)  # fmt: skip


def _case(name: str, predicted: float, **changes: object) -> Prediction:
    source = name.split("-", maxsplit=1)[0]
    return replace(BASE, case_id=name, source=source, **{"group": name, "predicted": predicted, **changes})  # type: ignore[arg-type]


def _by_class(predictions: list[Prediction], metric: str = "speed") -> Summary:
    return next(one for one in summarise(predictions) if one.by == "class" and one.metric == metric)


def test_error_is_predicted_over_measured_less_one() -> None:
    assert _case("a-1", 1.25).error == pytest.approx(0.25)


def test_log_residuals_are_of_the_step_time_also_for_speeds() -> None:
    # predicted twice as fast as measured: the step takes twice what was predicted
    fast = replace(BASE, metric="tokens_per_s_per_gpu", measured=100.0, predicted=200.0)
    assert fast.log_residual == pytest.approx(log(2))
    assert replace(BASE, measured=2.0, predicted=1.0).log_residual == pytest.approx(log(2))


def test_repeats_of_one_configuration_count_once() -> None:
    repeats = [_case(f"a-{index}", 2.0, group="a-r") for index in range(9)]
    summary = _by_class([*repeats, _case("a-20", 1.1), _case("a-21", 1.1)])
    assert summary.n == 3
    assert summary.median_abs_error == pytest.approx(0.1)


def test_sources_weigh_equally() -> None:
    many = [_case(f"a-{index}", 1.5) for index in range(30)]
    few = [_case("b-1", 1.1), _case("c-1", 1.1)]
    # two thirds of the weight lie at 10 %
    assert _by_class(many + few).median_abs_error == pytest.approx(0.1)
    assert _by_class(many + few).mean_abs_error == pytest.approx((0.5 + 0.1 + 0.1) / 3)


def test_files_are_never_pooled() -> None:
    summaries = summarise([_case("a-1", 1.5), _case("a-2", 1.5, file="finetune")])
    assert {(one.file, one.n) for one in summaries if one.by == "class"} == {("throughput", 1), ("finetune", 1)}


def test_verdicts_and_bounds_are_shares_of_wrong_calls() -> None:
    calls = [
        _case("a-1", 1.0, metric="fits"),
        _case("a-2", 0.5, metric="fits"),
        _case("a-3", 0.0, metric="fits"),
        _case("a-4", 0.5, metric="fits", measured=0.0),
        _case("a-5", 1.0, metric="fits", measured=0.0),
    ]
    assert _by_class(calls, "fits").median_abs_error == pytest.approx(1 / 3)
    assert _by_class(calls, "oom").median_abs_error == pytest.approx(1 / 2)
    bound = [
        _case("a-1", 1.2, metric="reserved_bytes", bound="at_most_predicted"),
        _case("a-2", 0.8, metric="reserved_bytes", bound="at_most_predicted"),
    ]
    assert _by_class(bound, "reserved_bytes bound").median_abs_error == pytest.approx(0.5)


def test_coverage_counts_measurements_inside() -> None:
    summary = _by_class([_case("a-1", 1.0), _case("a-2", 1.0, low=1.1)])
    assert summary.coverage_90 == pytest.approx(0.5)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=40), st.floats(0.01, 0.99))
def test_weighted_quantile_holds_its_share(values: list[float], share: float) -> None:
    quantile = weighted_quantile(values, [1.0] * len(values), share)
    assert sum(value <= quantile for value in values) >= share * len(values) - 1e-9
    assert sum(value < quantile for value in values) < share * len(values) + 1e-9

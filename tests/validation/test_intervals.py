"""What intervals rest on: residuals by source, what was measured, and intervals that do not see their own group."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.physics.setting import Setting
from suanpei.physics.step_uncertainty import UNMEASURED_WIDENING, scale_step
from suanpei.validation.intervals import (
    MEASURED_CONFIGURATIONS,
    collect_evidence,
    collect_residuals,
    remake_intervals,
    resample,
)
from suanpei.validation.residuals import Prediction

SETTING = Setting(
    error_class="A", card="A100-SXM4-80GB", generation="ampere", recipe="megatron", fabric="roce", hidden=4096, gpus=64,
    micro_batch_tokens=8192, pretrains=True, waiting_share=0.0,
)  # fmt: skip
BASE = Prediction(
    case_id="a-1", file="throughput", kind="throughput", source="a", error_class="A", set_name="", generation="ampere",
    recipe="megatron", group="a-1", metric="step_s", bound="exact", measured=1.0, predicted=1.0, low=0.9, high=1.2,
    counter="", setting=SETTING,
)  # fmt: skip


def _case(name: str, measured: float, **changes: Any) -> Prediction:
    source = name.split("-", maxsplit=1)[0]
    return replace(BASE, case_id=name, source=source, **{"group": name, "measured": measured, **changes})


def _peak(name: str, measured: float, **changes: Any) -> Prediction:
    return _case(name, measured, **{"metric": "device_bytes", "counter": "device", "setting": None, **changes})


@given(st.lists(st.lists(st.floats(-10, 10), min_size=1, max_size=30), min_size=1, max_size=8))
def test_resampling_keeps_to_the_values(groups: list[list[float]]) -> None:
    values = sorted(value for group in groups for value in group)
    kept = resample(groups)
    assert 1 <= len(kept) <= len(values)
    assert list(kept) == sorted(kept)
    assert set(kept) <= set(values)
    if len({len(group) for group in groups}) == 1:
        assert list(kept) == values


def test_a_source_of_many_rows_weighs_as_one_of_few() -> None:
    # 100 rows at 0 and five sources of four rows each at 1: five sixths of the weight are at 1
    kept = np.array(resample([[0.0] * 100, *[[1.0] * 4] * 5]))
    assert np.mean(kept == 0.0) == pytest.approx(1 / 6, abs=1 / len(kept))


def test_no_source_swamps_the_residuals() -> None:
    many = [_case(f"a-{index}", 1.0 + index / 1000) for index in range(500)]
    found = collect_residuals([*many, _case("b-1", 0.5)])["step"]["A"]
    # 500 weights of 1/500 and one of 1: (1 + 1)^2 / (1/500 + 1) = 3.99
    assert len(found.logs) == 4
    assert found.logs[:2] == pytest.approx([-log(2)] * 2)
    assert found.logs[2] > -log(2)
    assert found.sources == 2
    # half of the weight is b's, whose prediction is twice what was measured
    assert found.p90_error == pytest.approx(1.0)


def test_a_residual_is_taken_over_its_scale_and_repeats_count_once() -> None:
    waiting = replace(SETTING, waiting_share=0.5)
    repeats = [_case(f"a-{value}", exp(value), group="a-r", setting=waiting) for value in (0.1, 0.2, 0.6)]
    found = collect_residuals(repeats)["step"]["A"]
    assert found.logs == pytest.approx((0.2 / scale_step(0.5),))
    assert found.median_error == pytest.approx(1 - exp(-0.2))


def test_finetuning_speeds_bounds_and_memory_of_assumed_settings_make_no_residuals() -> None:
    left_out = [
        _case("a-1", 2.0, kind="finetune"),
        _peak("a-2", 2.0, bound="at_most_predicted"),
        _peak("a-3", 2.0, error_class="B"),
    ]
    assert collect_residuals(left_out) == {"step": {}, "memory": {}}
    assert collect_evidence({"grouped": left_out}).ranges == {}


def test_a_place_is_measured_from_a_few_configurations_on() -> None:
    enough = [_case(f"a-{index}", 1.0) for index in range(MEASURED_CONFIGURATIONS)]
    sizes = [replace(SETTING, fabric="", hidden=hidden, gpus=gpus) for hidden, gpus in ((1024, 8), (8192, 512))]
    others = [
        *(_case(f"b-{index}", 1.0, group="b-r", setting=replace(SETTING, recipe="fsdp")) for index in range(9)),
        *(_case(f"c-{index}", 1.0, setting=sizes[index % 2]) for index in range(9)),
        *(_peak(f"d-{index}", 1.0) for index in range(MEASURED_CONFIGURATIONS)),
        _peak("e-1", 1.0, recipe="ddp"),
    ]
    evidence = collect_evidence({"grouped": [*enough, *others], "source_left_out": enough})
    # nine repeats of one configuration are one, and an assumed network is no place
    assert evidence.settings == {("A", "A100-SXM4-80GB", "megatron", "roce")}
    assert evidence.counters == {("device", "megatron")}
    assert evidence.generations == {"ampere"}
    # a single card lacks nothing that was measured
    assert evidence.ranges == {"hidden": (1024, 8192), "gpus": (1, 512), "micro_batch_tokens": (8192, 8192)}
    assert evidence.step["grouped"]["A"].sources == 3
    assert evidence.step["source_left_out"]["A"].sources == 1


def test_an_interval_does_not_see_its_own_group() -> None:
    others = [_case(f"b-{index}", 1.0 + index / 1000) for index in range(-9, 10)]
    odd = _case("a-1", 5.0)
    remade = {one.case_id: one for one in remake_intervals([*others, odd], lambda one: one.source)}
    assert not remade["a-1"].holds
    assert remade["a-1"].high < 1.1
    # b's own interval rests on the one residual of a: log 5
    assert remade["b-0"].high > 2


def test_a_source_among_the_others_is_one_more_configuration_else_it_is_stretched() -> None:
    rows = [_case(f"{source}-{index}", exp(index / 100)) for source in "abc" for index in range(-9, 10)]
    by_row = remake_intervals(rows, lambda one: one.case_id)
    by_source = remake_intervals(rows, lambda one: one.source)
    # 57 rows less one: the 5th and 95th percentile of -0.09 to 0.09; two other sources: (2 + 1) / (2 - 1)
    assert log(by_row[0].high) == pytest.approx(0.09, abs=0.005)
    assert log(by_source[0].high) == pytest.approx(0.09 * 3**0.5, abs=0.005)


def test_a_source_is_known_by_class() -> None:
    other_class: dict[str, Any] = {"error_class": "B", "setting": replace(SETTING, error_class="B")}
    rows = [_case(f"a-{index}", exp(index / 100)) for index in range(-9, 10)]
    rows += [_case(f"{source}-{index}", exp(index / 100), **other_class) for source in "bc" for index in range(-9, 10)]
    remade = remake_intervals([*rows, _case("a-99", 1.0, **other_class)], lambda one: one.case_id)[-1]
    # a's rows are all of class A: of class B it is a third source, never seen
    assert log(remade.high) == pytest.approx(0.09 * 3**0.5, abs=0.005)


def test_a_card_that_no_other_group_measured_widens() -> None:
    rows = [_case(f"{source}-{index}", exp(index / 100)) for source in "abc" for index in range(-9, 10)]
    new = _case("d-1", 1.0, setting=replace(SETTING, generation="hopper"))
    remade = remake_intervals([*rows, new], lambda one: one.source)[-1]
    assert log(remade.high) == pytest.approx(0.09 * 2**0.5 * UNMEASURED_WIDENING, abs=0.005)


def test_speeds_turn_their_intervals_and_verdicts_are_called_again() -> None:
    rows = [_peak(f"{source}-{index}", exp(index / 100)) for source in "ab" for index in range(-9, 10)]
    calls = [
        _peak(f"a-{load}", 1.0, metric="fits", load=load, predicted=0.5, low=0.0, high=1.0) for load in (0.9, 1.0, 1.1)
    ]
    remade = remake_intervals([*rows, *calls], lambda one: one.case_id)
    assert [(one.predicted, one.low, one.high) for one in remade[-3:]] == [(1, 1, 1), (0.5, 0, 1), (0, 0, 0)]
    speeds = [
        _case(f"{source}-{index}", exp(index / 100), metric="tokens_per_s_per_gpu")
        for source in "ab"
        for index in range(-5, 20)
    ]
    fast = remake_intervals(speeds, lambda one: one.case_id)[0]
    # measured speeds up to e^0.19 above the prediction
    assert log(fast.high) == pytest.approx(0.18, abs=0.015)
    assert log(fast.low) == pytest.approx(-0.04, abs=0.015)

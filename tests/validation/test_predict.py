"""Predicting cases: units, choices, refusals, and the order of the answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from suanpei.machine.calibration import load_calibration
from suanpei.machine.catalogue import load_catalogue
from suanpei.validation.cases import load_cases
from suanpei.validation.predict import Predictions, predict_cases
from tests.validation.sample_rows import FINETUNE, THROUGHPUT, WHOLE_RUN, write_rows

DATA = Path(__file__).parents[2] / "data" / "validation"


def _predict(path: Path) -> Predictions:
    catalogue = load_catalogue()
    return predict_cases(load_cases(path).cases, load_calibration(catalogue), catalogue)


@pytest.mark.parametrize("name", ["throughput", "finetune", "whole_runs"])
def test_every_case_has_its_figures_or_a_reason(name: str) -> None:
    cases = load_cases(DATA / f"{name}.csv").cases
    found = _predict(DATA / f"{name}.csv")
    predicted = {prediction.case_id for prediction in found.predictions}
    skipped = {case.case_id for case in found.skipped}
    assert predicted | skipped == {case.case_id for case in cases}
    assert not predicted & skipped
    expected = [(case.case_id, one.metric) for case in cases if case.case_id in predicted for one in case.measured]
    assert [(one.case_id, one.metric) for one in found.predictions] == expected
    assert all(one.low <= one.predicted <= one.high and one.predicted >= 0 for one in found.predictions)


def test_three_ways_to_publish_a_speed_agree(tmp_path: Path) -> None:
    rows = [
        {**THROUGHPUT, "case_id": "megatron-1", "step_time_s": "1"},
        {**THROUGHPUT, "case_id": "megatron-2", "tokens_per_s_per_gpu": "1"},
        {**THROUGHPUT, "case_id": "megatron-3"},
    ]
    found = [one for one in _predict(write_rows(tmp_path / "three.csv", rows)).predictions if one.metric != "fits"]
    step_s, tokens_per_s, tflops = (one.predicted for one in found)
    assert tokens_per_s == pytest.approx(2048 * 512 / 32 / step_s)
    # equation 3 of arXiv 2104.04473 without biases and norms
    flops = 96 * 24 * 2304**2 * (1 + 2048 / (6 * 2304) + 51_200 / (16 * 24 * 2304)) * 2048 * 512
    assert tflops == pytest.approx(flops / step_s / 32 / 1e12, rel=2e-3)
    assert found[1].low == pytest.approx(2048 * 512 / 32 / found[0].high)


def test_a_case_does_not_depend_on_its_neighbours(tmp_path: Path) -> None:
    other = {**THROUGHPUT, "case_id": "megatron-2", "micro_batch_seqs": "4", "grad_accum": "4"}
    alone = _predict(write_rows(tmp_path / "alone.csv", [THROUGHPUT])).predictions
    together = _predict(write_rows(tmp_path / "both.csv", [other, THROUGHPUT])).predictions
    assert [one.predicted for one in together if one.case_id == "megatron-001"] == [one.predicted for one in alone]


def test_unknown_cards_and_refused_precisions_are_skipped_alone(tmp_path: Path) -> None:
    rows = [
        THROUGHPUT,
        {**THROUGHPUT, "case_id": "megatron-2", "gpu": "Voodoo 2"},
        {**THROUGHPUT, "case_id": "megatron-3", "precision": "fp8"},
    ]
    found = _predict(write_rows(tmp_path / "bad.csv", rows))
    assert {one.case_id for one in found.skipped} == {"megatron-2", "megatron-3"}
    assert {one.case_id for one in found.predictions} == {"megatron-001"}


def test_unpublished_recomputation_is_none(tmp_path: Path) -> None:
    rows = [
        {**THROUGHPUT, "case_id": "megatron-1", "recompute": "", "step_time_s": "1"},
        {**THROUGHPUT, "case_id": "megatron-2", "recompute": "none", "step_time_s": "1"},
    ]
    found = [
        one.predicted for one in _predict(write_rows(tmp_path / "open.csv", rows)).predictions if one.metric != "fits"
    ]
    assert found[0] == pytest.approx(found[1])


def test_memory_of_unpublished_recomputation_is_the_least_that_fits(tmp_path: Path) -> None:
    # 16 sequences without flash attention do not fit 80 GiB but with full recomputation
    big = {**THROUGHPUT, "micro_batch_seqs": "16", "step_time_s": "1"}
    rows = [
        {**big, "case_id": f"megatron-{index}", "recompute": recompute}
        for index, recompute in enumerate(("", "none", "full"))
    ]
    verdicts = [
        one.predicted for one in _predict(write_rows(tmp_path / "open.csv", rows)).predictions if one.metric == "fits"
    ]
    assert verdicts[0] == verdicts[2] > verdicts[1]


def test_gpu_hours_are_tokens_over_throughput(tmp_path: Path) -> None:
    hours = _predict(write_rows(tmp_path / "run.csv", [WHOLE_RUN])).predictions[0].predicted
    # 6.7e9 × 6 × 2e12 FLOP at 80 % and at 15 % of 312 TFLOP/s bracket any sane estimate
    flops = 6 * 6.7e9 * 2e12
    assert flops / (0.80 * 312e12) / 3600 < hours < flops / (0.15 * 312e12) / 3600


def test_a_device_shows_cache_context_and_no_more_than_it_has(tmp_path: Path) -> None:
    rows = [
        {**FINETUNE, "case_id": f"x-{counter}-{full}", "mem_kind": counter, "micro_batch": size, "peak_mem_gib": full}
        for counter in ("allocated", "reserved", "device")
        for size, full in (("4.0", "10.0"), ("11.0", "80.0"))
    ]
    found = {
        one.case_id: one.predicted / 2**30
        for one in _predict(write_rows(tmp_path / "counters.csv", rows)).predictions
        if one.metric != "fits"
    }
    assert found["x-allocated-10.0"] < found["x-reserved-10.0"] < found["x-device-10.0"]
    # a full card is compared with the need, of which the context is part, not with the allocator's cache
    assert found["x-reserved-80.0"] == found["x-device-80.0"] > found["x-allocated-80.0"] - 1


def test_a_size_alone_sets_the_capacity(tmp_path: Path) -> None:
    rows = [
        {
            **FINETUNE,
            "case_id": "x-1",
            "gpu": "",
            "gpu_as_published": "24 GB GPU (budget)",
            "method": "full",
            "recompute": "full",
            "precision": "bf16",
        },
        {
            **FINETUNE,
            "case_id": "x-2",
            "gpu": "",
            "gpu_as_published": "80 GB GPU (budget)",
            "method": "full",
            "recompute": "full",
            "precision": "bf16",
        },
    ]
    # 1.4e9 parameters × 16 B = 22.7 GB of states beside activations and context: too much for 24 GB, not for 80
    fits = [
        one.predicted for one in _predict(write_rows(tmp_path / "sizes.csv", rows)).predictions if one.metric == "fits"
    ]
    assert fits[0] < 1.0
    assert fits[1] == 1.0

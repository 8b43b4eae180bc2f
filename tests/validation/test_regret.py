"""Regret of the strategy ranked first, by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from suanpei.validation.cases import load_cases
from suanpei.validation.regret import measure_regrets
from tests.validation.sample_rows import THROUGHPUT, write_rows
from tests.validation.test_residuals import BASE

if TYPE_CHECKING:
    from pathlib import Path

    from suanpei.validation.case import Case
    from suanpei.validation.residuals import Prediction

Figures = tuple[tuple[str, float, float], ...]
"""Tensor-parallel degree, measured and predicted step time."""


def _make(folder: Path, figures: Figures, **changes: str) -> tuple[tuple[Case, ...], tuple[Prediction, ...]]:
    rows = [
        {
            **THROUGHPUT, "case_id": f"megatron-{index:03d}", "tp": tp, "dp": str(32 // int(tp)), "sp": "no",
            "micro_batch_seqs": "1", "grad_accum": "", "step_time_s": str(measured), **changes,
        }
        for index, (tp, measured, _) in enumerate(figures)
    ]  # fmt: skip
    loaded = load_cases(write_rows(folder / "throughput.csv", rows))
    assert not loaded.skipped
    predictions = tuple(
        replace(
            BASE,
            case_id=case.case_id,
            source=case.source,
            group=case.group,
            measured=measured,
            predicted=predicted,
            step_s=predicted,
        )
        for case, (_, measured, predicted) in zip(loaded.cases, figures, strict=True)
    )
    return loaded.cases, predictions


def test_the_choice_is_the_fastest_predicted_and_the_regret_what_it_loses(tmp_path: Path) -> None:
    # tp 2 is predicted fastest and takes 11 s where tp 4 takes 10 s
    (choice,) = measure_regrets(*_make(tmp_path, (("1", 12.0, 9.0), ("2", 11.0, 7.0), ("4", 10.0, 8.0))))
    assert choice.regret == pytest.approx(11 / 10 - 1)
    assert (choice.case_id, choice.best_case_id) == ("megatron-001", "megatron-002")
    assert (choice.strategies, choice.gpus) == (3, 32)


def test_a_choice_within_two_per_cent_of_the_best_is_no_regret(tmp_path: Path) -> None:
    (choice,) = measure_regrets(*_make(tmp_path, (("1", 12.0, 9.0), ("2", 10.19, 7.0), ("4", 10.0, 8.0))))
    assert choice.regret == 0.0


def test_two_strategies_are_no_choice_and_repeats_no_strategy(tmp_path: Path) -> None:
    figures = (("1", 12.0, 9.0), ("2", 11.0, 7.0), ("2", 10.0, 7.0))
    assert measure_regrets(*_make(tmp_path, figures)) == ()


def test_repeats_count_by_their_median_whatever_their_software(tmp_path: Path) -> None:
    figures = (("1", 9.0, 9.0), ("2", 8.0, 7.0), ("2", 12.0, 7.0), ("4", 10.0, 8.0))
    cases, predictions = _make(tmp_path, figures)
    (choice,) = measure_regrets(cases, predictions)
    # tp 2 takes 10 s in the median of 8 and 12
    assert choice.regret == pytest.approx(10 / 9 - 1)


def test_other_batches_lengths_and_sources_are_other_groups(tmp_path: Path) -> None:
    figures = (("1", 12.0, 9.0), ("2", 11.0, 7.0), ("4", 10.0, 8.0))
    cases, predictions = _make(tmp_path, figures)
    for change in ({"seq_len": 4096}, {"global_batch_seqs": 1024}, {"precision": "bf16"}):
        other = replace(cases[0], job=replace(cases[0].job, **change))
        assert measure_regrets((other, *cases[1:]), predictions) == ()
    assert measure_regrets((replace(cases[0], source="other"), *cases[1:]), predictions) == ()


def test_speeds_in_tokens_rank_by_the_step_time_behind_them(tmp_path: Path) -> None:
    cases, predictions = _make(tmp_path, (("1", 12.0, 9.0), ("2", 11.0, 7.0), ("4", 10.0, 8.0)))
    tokens = 1000.0
    as_speeds = tuple(
        replace(one, metric="tokens_per_s_per_gpu", measured=tokens / one.measured, predicted=tokens / one.predicted)
        for one in predictions
    )
    (choice,) = measure_regrets(cases, as_speeds)
    assert choice.regret == pytest.approx(11 / 10 - 1)

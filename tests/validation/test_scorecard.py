"""The tables of accuracy: groups, weights, bands and targets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from scipy.stats import binom

from suanpei.validation.rows import Row
from suanpei.validation.scorecard import Score, give_binomial_band, score
from suanpei.validation.targets import TARGETS, Limits, Place, find_limits
from tests.validation.sample_rows import THROUGHPUT
from tests.validation.test_residuals import BASE, _case

if TYPE_CHECKING:
    from suanpei.validation.residuals import Prediction, Split


def _score(predictions: list[Prediction], split: Split = "grouped") -> dict[tuple[str, str, str, str], Score]:
    return {(one.table, one.figure, one.group, one.statistic): one for one in score({split: predictions}, (), {})}


def test_errors_of_a_class_stand_beside_their_targets() -> None:
    # errors 2, 4 and 30 %, one source: the middle one is 4 %, the 90th percentile 30 %
    found = _score([_case("a-1", 1.02), _case("a-2", 1.04), _case("a-3", 1.30)])
    median = found["step_time", "step_time", "A", "median"]
    assert (median.n, median.most, median.is_met) == (3, 0.03, False)
    assert median.value == pytest.approx(0.04)
    assert found["step_time", "step_time", "A", "p90"].value == pytest.approx(0.30)
    mean = found["step_time", "step_time", "A", "mean"]
    assert (mean.most, mean.is_met) == (None, None)
    assert mean.value == pytest.approx(0.12)


def test_the_targets_are_those_of_the_split_and_the_file() -> None:
    one = [_case("a-1", 1.05)]
    assert _score(one)["step_time", "step_time", "A", "median"].is_met is False
    assert _score(one, "source_left_out")["step_time", "step_time", "A", "median"].is_met is True
    # what a fit may have seen stands beside the stricter one, without a verdict
    seen = _score(one, "as_fitted")["step_time", "step_time", "A", "median"]
    assert (seen.most, seen.is_met) == (0.03, None)
    assert _score([replace(one[0], file="mine")])["step_time", "step_time", "A", "median"].is_met is None


def test_the_megatron_tables_are_one_set() -> None:
    rows = [_case("a-1", 1.02, set_name="seq2205"), _case("a-2", 1.04, set_name="mtnlg"), _case("a-3", 1.5)]
    mean = _score(rows)["step_time", "step_time", "megatron_a100", "mean"]
    assert (mean.n, mean.most, mean.is_met) == (2, 0.04, True)
    assert mean.value == pytest.approx(0.03)


def test_bounds_are_counted_apart() -> None:
    below = {"metric": "reserved_bytes", "bound": "at_most_predicted", "error_class": "B"}
    found = _score([_case("a-1", 1.2, **below), _case("a-2", 0.8, **below), _case("a-3", 0.9, **below)])
    assert found["bounds", "at_most_predicted", "B", "share"].value == pytest.approx(1 / 3)
    assert not any(table == "memory" for table, *_ in found)


def test_sources_of_few_verdicts_weigh_as_one() -> None:
    caught = [_case(f"a-{index}", 0.5, metric="fits", measured=0.0) for index in range(5)]
    small = [
        _case("b-1", 1.0, metric="fits", measured=0.0),
        _case("c-1", 0.0, metric="fits", measured=0.0),
        _case("c-2", 0.0, metric="fits", measured=0.0),
    ]
    share = _score(caught + small)["verdicts", "oom_caught", "all", "share"]
    # source a: 5 of 5; b and c together: 2 of 3
    assert (share.n, share.is_met) == (8, False)
    assert share.value == pytest.approx((1 + 2 / 3) / 2)


def test_refusals_and_risks_of_rows_that_ran_are_counted_apart() -> None:
    calls = [*[1.0] * 7, 0.5, 0.5, 0.0]
    found = _score([_case(f"a-{index}", call, metric="fits") for index, call in enumerate(calls)])
    assert found["verdicts", "fitting_refused", "all", "share"].value == pytest.approx(0.1)
    assert found["verdicts", "fitting_at_risk", "all", "share"].value == pytest.approx(0.2)


@pytest.mark.parametrize("n", [1, 7, 40, 190, 995])
def test_the_band_is_that_of_the_binomial_distribution(n: int) -> None:
    expected = (binom.ppf(0.05, n, 0.9) / n, binom.ppf(0.95, n, 0.9) / n)
    assert give_binomial_band(n) == pytest.approx(expected)


def test_large_classes_are_held_to_the_band_and_all_to_the_range() -> None:
    # of 40 intervals 36 hold: 90 %
    rows = [_case(f"a-{index}", 1.0, **({"low": 1.1} if index < 4 else {})) for index in range(40)]
    found = _score(rows)
    by_class = found["intervals", "step_time", "A", "share_of_n"]
    assert by_class.is_met is True
    assert by_class.value == pytest.approx(0.9)
    assert (by_class.least, by_class.most) == give_binomial_band(40)
    everything = found["intervals", "step_time", "all", "share"]
    assert (everything.least, everything.most, everything.is_met) == (0.87, 0.93, True)
    width = found["intervals", "step_time", "A", "width"]
    assert width.most == 1.25
    assert width.value == pytest.approx(1.2 / 0.9)
    assert _score(rows[:39])["intervals", "step_time", "A", "share_of_n"].is_met is None


def test_the_share_of_rows_predicted_counts_those_that_were_skipped() -> None:
    rows = [Row(cells={**THROUGHPUT, "case_id": name}) for name in ("a-1", "a-2", "a-3", "a-4")]
    rows[3] = Row(cells={**THROUGHPUT, "case_id": "a-4", "class": "N"})
    (share,) = (
        one
        for one in score({"grouped": [BASE, _case("a-2", 1.0)]}, (), {"throughput": rows})
        if one.table == "predicted"
    )
    assert (share.n, share.is_met, share.split) == (3, False, None)
    assert share.value == pytest.approx(2 / 3)


def test_source_left_out_is_nowhere_held_to_less_error_than_cross_validation() -> None:
    for place, limits in TARGETS.items():
        if place.split == "grouped" and place.table in ("step_time", "memory"):
            other = find_limits(place._replace(split="source_left_out"))
            assert other.most is not None
            assert limits.most is not None
            assert other.most >= limits.most


def test_a_target_is_kept_at_its_ends() -> None:
    assert Limits(least=0.87, most=0.93).are_kept_by(0.87)
    assert not Limits(most=0.02).are_kept_by(0.0201)
    assert find_limits(Place("step_time", "throughput", "grouped", "step_time", "A", "median")) == Limits(most=0.03)

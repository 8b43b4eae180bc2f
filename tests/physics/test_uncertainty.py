"""Intervals, probabilities and verdicts from residuals."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.physics.uncertainty import (
    MEMORY_COUNTERS,
    PRIOR_MEMORY_SIGMA,
    UNMEASURED_WIDENING,
    Fit,
    Spread,
    classify_step,
    judge_fit,
    spread_measured_step,
    spread_memory,
    spread_step_time,
)
from tests.planner.samples import calibration, cluster, make_architecture, make_job

NINETEEN = tuple(k / 100 for k in range(-9, 10))
residuals = st.lists(st.floats(-0.5, 0.5), min_size=0, max_size=60).map(lambda values: tuple(sorted(values)))


def test_nineteen_residuals_give_their_range_as_the_90_percent_interval() -> None:
    # the k-th of n is the k / (n + 1) quantile: 1 / 20 and 19 / 20
    low, high = Spread(residuals=NINETEEN).interval(200.0, 0.9)
    assert low == pytest.approx(200 * exp(-0.09))
    assert high == pytest.approx(200 * exp(0.09))


def test_conformal_coverage_of_a_new_draw() -> None:
    # one run in ten of the same population falls outside, counted over leave-one-out sets drawn from a fixed sample
    values = np.random.default_rng(7).normal(0.05, 0.2, 400)
    inside = 0
    for index, value in enumerate(values):
        others = tuple(sorted(np.delete(values, index)[index % 20 :: 20]))
        low, high = Spread(residuals=others).interval(1.0, 0.9)
        inside += low <= exp(value) <= high
    assert 0.87 <= inside / len(values) <= 0.95


def test_without_residuals_the_prior_is_normal() -> None:
    low, high = Spread(prior_sigma=0.2).interval(1.0, 0.9)
    assert log(high) == pytest.approx(1.6449 * 0.2, rel=1e-3)
    assert log(low) == pytest.approx(-1.6449 * 0.2, rel=1e-3)


def test_thin_evidence_widens_beyond_its_range() -> None:
    low, high = Spread(residuals=(-0.02, 0.0, 0.01, 0.03)).interval(1.0, 0.9)
    assert log(low) < -0.02
    assert log(high) > 0.03


def test_one_residual_keeps_the_prior_width_about_it() -> None:
    spread = Spread(residuals=(0.4,), prior_sigma=0.1)
    assert spread.factor(0.5) == pytest.approx(exp(0.4))
    assert log(spread.factor(0.95)) == pytest.approx(0.4 + 0.16449, abs=1e-4)


@given(residuals, st.floats(0.02, 0.98))
def test_probability_and_quantile_are_inverse(values: tuple[float, ...], probability: float) -> None:
    spread = Spread(residuals=values)
    quantile = spread.factor(probability)
    # ties make the distribution jump: at the quantile at least the probability, just below it at most
    assert float(spread.probability_at_most(quantile * (1 + 1e-9))) >= probability - 2e-3
    assert float(spread.probability_at_most(quantile * (1 - 1e-9))) <= probability + 2e-3


@given(residuals, st.floats(1.0, 3.0))
def test_widening_keeps_the_median_and_scales_the_distances(values: tuple[float, ...], widening: float) -> None:
    plain, wide = Spread(residuals=values), Spread(residuals=values, widening=widening)
    centre = log(plain.factor(0.5))
    assert log(wide.factor(0.5)) == pytest.approx(centre, abs=1e-9)
    for probability in (0.05, 0.3, 0.95):
        assert log(wide.factor(probability)) - centre == pytest.approx(
            widening * (log(plain.factor(probability)) - centre), abs=1e-9
        )


@given(residuals)
def test_probability_rises_with_the_limit(values: tuple[float, ...]) -> None:
    probabilities = Spread(residuals=values).probability_at_most(np.linspace(0.0, 5.0, 200) ** 4)
    assert probabilities[0] == 0.0
    assert np.all(np.diff(probabilities) >= 0)
    assert probabilities[-1] > 0.99


def test_the_verdict_reads_the_interval() -> None:
    spread = Spread(residuals=NINETEEN)
    # 90 % interval: a factor of exp(± 0.09), 0.914 to 1.094
    verdicts = judge_fit(np.array([70e9, 73.1e9, 73.2e9, 87.5e9, 87.6e9]), 80e9, spread)
    assert [Fit(int(verdict)).verdict for verdict in verdicts] == [
        "fits",
        "fits",
        "at_risk",
        "at_risk",
        "does_not_fit",
    ]


def test_classes_follow_the_validation_tables() -> None:
    known = replace(cluster(), fabric_is_assumed=False)
    assert classify_step(make_job(), known, 64) == "A"
    assert classify_step(make_job(), replace(known, fabric_is_assumed=True), 64) == "B"
    assert classify_step(make_job(), replace(known, fabric_is_assumed=True), 8) == "A"
    assert classify_step(make_job(), known, 64, is_complete=False) == "B"
    assert classify_step(make_job(make_architecture(experts=8)), known, 64) == "C"
    assert classify_step(make_job(), cluster("MI300X"), 8) == "C"
    assert classify_step(make_job(precision="fp8"), cluster("B200-SXM-180GB"), 8) == "C"


def test_a_class_without_residuals_reads_the_next_and_an_unmeasured_generation_is_wider() -> None:
    fitted = replace(
        calibration(), step_residuals={"B": NINETEEN}, measured_generations=frozenset({"hopper"}), memory_residuals={}
    )
    measured, unmeasured = spread_step_time(fitted, "A", "hopper"), spread_step_time(fitted, "A", "ampere")
    assert measured.factor(0.95) == pytest.approx(exp(0.09))
    assert unmeasured.factor(0.95) == pytest.approx(exp(0.09 * UNMEASURED_WIDENING))
    assert "runs of class B" in str(measured.evidence[0])
    assert str(measured.evidence[0]).endswith("worth 19")
    assert "no training run on ampere" in str(unmeasured.evidence[1])
    assert spread_step_time(fitted, "C", "hopper").residuals == ()
    assert spread_memory(fitted, "allocated").prior_sigma == PRIOR_MEMORY_SIGMA


def test_a_measured_step_leaves_repeat_noise() -> None:
    low, high = spread_measured_step().interval(4.31)
    assert low == pytest.approx(4.31 * exp(-1.6449 * 0.03), rel=1e-3)
    assert high == pytest.approx(4.31 * exp(1.6449 * 0.03), rel=1e-3)


def test_an_unknown_counter_is_named() -> None:
    with pytest.raises(InputError, match=", ".join(MEMORY_COUNTERS) + ", got cache"):
        spread_memory(calibration(), "cache")

"""Intervals, probabilities and verdicts from residuals."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.machine.calibration import Residuals
from suanpei.physics.uncertainty import (
    MEMORY_COUNTERS,
    PRIOR_MEMORY_SIGMA,
    Fit,
    Spread,
    judge_fit,
    spread_memory,
    stretch_sources,
)
from tests.planner.samples import calibration

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


def test_a_scale_multiplies_every_logarithm() -> None:
    plain, scaled = Spread(residuals=NINETEEN), Spread(residuals=NINETEEN, scale=2.0)
    for probability in (0.05, 0.5, 0.7, 0.95):
        assert log(scaled.factor(probability)) == pytest.approx(2 * log(plain.factor(probability)), abs=1e-12)
    assert log(Spread(prior_sigma=0.1, scale=2.0).factor(0.95)) == pytest.approx(1.6449 * 0.2, rel=1e-3)


def test_sources_stretch_by_what_a_new_one_adds() -> None:
    # three sources: a new one lies about their mean with (3 + 1) / 3 of the variance, they with (3 - 1) / 3
    assert stretch_sources(3) == pytest.approx(2**0.5)
    assert stretch_sources(1) == stretch_sources(2) == pytest.approx(3**0.5)
    assert stretch_sources(10_000) == pytest.approx(1.0, abs=1e-3)


def test_memory_reads_cross_validation_where_the_recipe_was_measured() -> None:
    known = Residuals(logs=NINETEEN, sources=4, median_error=0.05, p90_error=0.08)
    evidence = replace(
        calibration().evidence,
        memory={"grouped": {"device": known}, "source_left_out": {"device": known}},
        counters=frozenset({("device", "fsdp")}),
    )
    seen, unseen = spread_memory(evidence, "device", "fsdp"), spread_memory(evidence, "device", "ddp")
    assert seen.factor(0.95) == pytest.approx(exp(0.09))
    assert unseen.factor(0.95) == pytest.approx(exp(0.09 * (5 / 3) ** 0.5))
    assert "the recipe was measured" in str(seen.evidence[0])
    assert "4 sources weighing equally: half within 5%, nine of ten within 8%" in str(unseen.evidence[0])
    assert spread_memory(evidence, "device", "fsdp", "source_left_out") == replace(unseen)
    assert spread_memory(evidence, "reserved", "fsdp").prior_sigma == PRIOR_MEMORY_SIGMA


def test_an_unknown_counter_is_named() -> None:
    with pytest.raises(InputError, match=", ".join(MEMORY_COUNTERS) + ", got cache"):
        spread_memory(calibration().evidence, "cache", "fsdp")

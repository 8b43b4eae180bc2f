"""Which residuals speak for a step, how they are scaled, and what widens them."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.machine.calibration import Evidence, Residuals
from suanpei.physics.setting import Setting
from suanpei.physics.step_uncertainty import (
    EXTRAPOLATED_WIDENING,
    MOST_WIDENING,
    UNMEASURED_WIDENING,
    UNSEEN_RECIPE_WIDENING,
    WAITING_SPREAD,
    bound_step_factor,
    choose_split,
    scale_step,
    spread_measured_step,
    spread_step_time,
)
from suanpei.validation.intervals import resample

NINETEEN = Residuals(logs=tuple(k / 100 for k in range(-9, 10)), sources=5, median_error=0.05, p90_error=0.08)
SETTING = Setting(
    error_class="A", card="H100-SXM5-80GB", generation="hopper", recipe="fsdp", fabric="roce", hidden=4096, gpus=64,
    micro_batch_tokens=8192, pretrains=True, waiting_share=0.0,
)  # fmt: skip
EVIDENCE = Evidence(
    step={"grouped": {"A": NINETEEN, "B": NINETEEN}, "source_left_out": {"A": NINETEEN, "B": NINETEEN}},
    memory={},
    generations=frozenset({"hopper"}),
    settings=frozenset({("A", "H100-SXM5-80GB", "fsdp", "roce")}),
    counters=frozenset(),
    ranges={"hidden": (1024, 8192), "gpus": (1, 512), "micro_batch_tokens": (2048, 32768)},
)


def half_width(setting: Setting) -> float:
    low, high = spread_step_time(EVIDENCE, setting).interval(1.0)
    assert log(low) == pytest.approx(-log(high))
    return log(high)


def test_waiting_is_less_sure_than_work() -> None:
    assert scale_step(0.0) == 1.0
    assert scale_step(1.0) == WAITING_SPREAD
    # 0.8 of work and 0.2 of waiting, independent: the root of 0.8 squared and (5 · 0.2) squared
    assert scale_step(0.2) == pytest.approx((0.64 + 1.0) ** 0.5)
    assert half_width(replace(SETTING, waiting_share=0.2)) == pytest.approx(0.09 * 1.64**0.5)


def test_cross_validation_speaks_for_what_was_measured_and_sources_left_out_for_the_rest() -> None:
    assert choose_split(EVIDENCE, SETTING) == "grouped"
    assert half_width(SETTING) == pytest.approx(0.09)
    assert "were all measured" in str(spread_step_time(EVIDENCE, SETTING).evidence[0])
    for change in ({"fabric": "infiniband"}, {"fabric": ""}, {"error_class": "B"}):
        other = replace(SETTING, **change)  # type: ignore[arg-type]
        assert choose_split(EVIDENCE, other) == "source_left_out"
        # five sources: (5 + 1) / (5 - 1)
        assert half_width(other) == pytest.approx(0.09 * 1.5**0.5)
        assert "not measured together" in str(spread_step_time(EVIDENCE, other).evidence[0])


def test_a_class_without_residuals_reads_the_next_and_without_any_the_prior() -> None:
    only_b = replace(EVIDENCE, step={"source_left_out": {"B": NINETEEN}}, settings=frozenset())
    assert "class B" in str(spread_step_time(only_b, SETTING).evidence[0])
    prior = spread_step_time(only_b, replace(SETTING, error_class="C", waiting_share=0.5))
    assert prior.residuals == ()
    assert prior.scale == 1.0
    assert log(prior.factor(0.95)) == pytest.approx(1.6449 * 0.30 * UNSEEN_RECIPE_WIDENING, rel=1e-3)


def test_each_gap_in_the_evidence_widens_and_says_so() -> None:
    stretched = half_width(replace(SETTING, fabric="infiniband"))
    for change, factor, said in (
        ({"card": "MI300X", "generation": "cdna3"}, UNMEASURED_WIDENING, "no training run on cdna3"),
        ({"recipe": "ddp"}, UNSEEN_RECIPE_WIDENING, "few or no steps of recipe ddp"),
        ({"hidden": 16384, "fabric": ""}, EXTRAPOLATED_WIDENING, "hidden width 16,384 lies beyond"),
        ({"gpus": 1024, "fabric": ""}, EXTRAPOLATED_WIDENING, "number of cards 1,024 lies beyond"),
        ({"micro_batch_tokens": 1024, "fabric": ""}, EXTRAPOLATED_WIDENING, "(2,048 to 32,768)"),
    ):
        setting = replace(SETTING, **change)
        assert half_width(setting) == pytest.approx(stretched * factor), change
        assert said in str(spread_step_time(EVIDENCE, setting).evidence[1])
    # 1.5 · 1.25 · 1.25³ = 3.66 is more than the bound
    all_gaps = replace(
        SETTING, card="MI300X", generation="cdna3", recipe="ddp", hidden=1, gpus=9999, micro_batch_tokens=1
    )
    assert half_width(all_gaps) == pytest.approx(stretched * MOST_WIDENING)


def test_tuning_reads_errors_of_sources_left_out() -> None:
    tuning = replace(SETTING, pretrains=False)
    assert half_width(tuning) == pytest.approx(half_width(replace(SETTING, fabric="infiniband")))
    assert "two sources only" in " ".join(str(line) for line in spread_step_time(EVIDENCE, tuning).evidence)


def test_few_sources_point_to_the_limits() -> None:
    assert "docs/limits.md" in str(spread_step_time(EVIDENCE, SETTING).evidence[-1])
    many = replace(EVIDENCE, step={"grouped": {"A": replace(NINETEEN, sources=12)}})
    assert len(spread_step_time(many, SETTING).evidence) == 1


@given(
    st.floats(0.02, 0.98),
    st.floats(0.0, 1.0),
    st.sampled_from(["hopper", "cdna3"]),
    st.sampled_from(["fsdp", "ddp"]),
    st.sampled_from(["roce", ""]),
    st.sampled_from([4096, 1]),
    st.lists(st.floats(-0.5, 0.5), min_size=0, max_size=30),
)
def test_no_setting_stays_below_the_bound(
    confidence: float, waiting: float, generation: str, recipe: str, fabric: str, hidden: int, logs: list[float]
) -> None:
    residuals = replace(NINETEEN, logs=tuple(sorted(logs)))
    evidence = replace(EVIDENCE, step={"grouped": {"A": NINETEEN}, "source_left_out": {"A": residuals}})
    setting = replace(
        SETTING, waiting_share=waiting, generation=generation, recipe=recipe, fabric=fabric, hidden=hidden
    )
    factor = spread_step_time(evidence, setting).factor(confidence)
    assert factor >= bound_step_factor(evidence, "A", confidence) * (1 - 1e-9)


def test_scaled_residuals_cover_steps_that_wait_and_steps_that_do_not() -> None:
    random = np.random.default_rng(3)
    shares = np.array([0.0, 0.5])
    scales = scale_step(shares)
    # both kinds spread by 0.05 of their scale; one interval for both would hold all of the first and 80 % of the second
    logs = tuple(np.sort(random.normal(0.0, 0.05, 199)))
    evidence = replace(EVIDENCE, step={"grouped": {"A": replace(NINETEEN, logs=logs)}})
    for share, scale in zip(shares, scales, strict=True):
        low, high = spread_step_time(evidence, replace(SETTING, waiting_share=float(share))).interval(1.0)
        fresh = np.exp(random.normal(0.0, 0.05 * scale, 4000))
        assert 0.87 <= np.mean((fresh >= low) & (fresh <= high)) <= 0.93


def test_intervals_cover_sources_never_seen() -> None:
    # eight sources with biases of their own, 2 to 150 rows each: 0.10 between sources, 0.07 within
    random = np.random.default_rng(11)
    plain: list[float] = []
    stretched: list[float] = []
    for _ in range(120):
        groups = [
            list(random.normal(0.0, 0.10) + random.normal(0.0, 0.07, int(random.integers(2, 150)))) for _ in range(8)
        ]
        known = replace(NINETEEN, logs=resample(groups), sources=8)
        evidence = replace(EVIDENCE, step={"source_left_out": {"A": known}, "grouped": {"A": known}})
        fresh = np.exp(random.normal(0.0, 0.10, (20, 1)) + random.normal(0.0, 0.07, (20, 50)))
        for split, held in (("grouped", plain), ("source_left_out", stretched)):
            low, high = spread_step_time(evidence, SETTING, split).interval(1.0)  # type: ignore[arg-type]
            held.append(float(np.mean((fresh >= low) & (fresh <= high))))
    assert np.mean(plain) < 0.87
    assert 0.87 <= np.mean(stretched) <= 0.93


def test_a_measured_step_leaves_repeat_noise() -> None:
    low, high = spread_measured_step().interval(4.31)
    assert low == pytest.approx(4.31 * exp(-1.6449 * 0.03), rel=1e-3)
    assert high == pytest.approx(4.31 * exp(1.6449 * 0.03), rel=1e-3)

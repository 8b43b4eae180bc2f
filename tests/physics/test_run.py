"""Runs: checkpoints, stops, set-up and the distribution of the finish date."""

from __future__ import annotations

import csv
from math import exp, expm1, log, sqrt
from pathlib import Path
from statistics import median, stdev
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.job.job import Lora
from suanpei.physics.checkpoint import estimate_checkpoint_bytes, estimate_checkpoint_interval_s
from suanpei.physics.run import RunAssumptions, Runs, count_steps, estimate_runs, quantile_poisson
from suanpei.physics.uncertainty import Spread
from suanpei.physics.workload import build_workload
from suanpei.units import DAY_S, HOUR_S
from tests.planner.samples import make_job, recipes

FAILURES = Path(__file__).parents[2] / "data" / "validation" / "failures.csv"
SURE = Spread(prior_sigma=1e-9)


def make_runs(step_s: Any = 2.0, gpus: Any = 64, *, assumptions: RunAssumptions | None = None, **changes: Any) -> Runs:
    fields: dict[str, Any] = {
        "tokens": 2e10,
        "gpus_per_node": 8,
        "checkpoint_bytes": 1e11,
        "spread": SURE,
        "assumptions": assumptions or RunAssumptions(),
    }
    return estimate_runs(step_s, 4_194_304, gpus, **(fields | changes))


def test_young_interval_of_256_cards() -> None:
    # 50,677 card-hours per stop over 256 cards: 197.957 h; a save of 0.1 h: √(2 · 0.1 · 197.957) = 6.292 h
    interval = float(estimate_checkpoint_interval_s(0.1 * HOUR_S, 197.957 * HOUR_S)) / HOUR_S
    assert interval == pytest.approx(6.29217, rel=0.02)
    assert 0.1 / interval + interval / (2 * 197.957) == pytest.approx(0.0317855, rel=0.05)


def test_daly_interval_of_the_survey() -> None:
    # save 60 s, 10,800 s between stops: Young 1,138.4 s, Daly 1,098.8 s
    assert float(estimate_checkpoint_interval_s(60.0, 10_800.0)) == pytest.approx(1098.8, abs=0.05)
    assert sqrt(2 * 60 * 10_800) == pytest.approx(1138.4, abs=0.05)


def test_saves_dearer_than_the_time_between_stops() -> None:
    assert float(estimate_checkpoint_interval_s(300.0, 100.0)) == 100.0


def test_mean_time_between_stops_of_llama_3() -> None:
    # 419 stops of 16,384 cards in 54 days
    card_hours = 16_384 * 54 * 24 / 419
    assert card_hours == pytest.approx(50_677, rel=1e-4)
    runs = make_runs(gpus=[16_384, 256, 1_024], assumptions=RunAssumptions(card_hours_per_stop=card_hours))
    assert runs.mean_time_between_stops_s / HOUR_S == pytest.approx([3.093, 198.0, 49.5], rel=1e-3)


def test_the_spread_of_the_stop_rate_comes_from_published_rates() -> None:
    with FAILURES.open(encoding="utf-8", newline="") as file:
        texts = [row["mtbf_hours_per_node_or_rate_per_node_day"] for row in csv.DictReader(file)]
    rates = [float(text.removeprefix("about ").split()[0]) for text in texts if "per node-day" in text]
    assert len(rates) == 5
    # two more in arXiv 2410.21680: stops per 1,000 node-days on two clusters
    rates += [6.50e-3, 2.34e-3]
    assumed = RunAssumptions()
    assert stdev([log(rate) for rate in rates]) == pytest.approx(assumed.stop_rate_sigma, abs=0.005)
    assert 8 * 24 / median(rates) == pytest.approx(assumed.card_hours_per_stop, rel=0.02)
    assert max(rates) / min(rates) == pytest.approx(7, abs=0.5)


def test_checkpoint_sizes_of_published_runs() -> None:
    # 14 B per parameter as BLOOM wrote, 12 B as torchtitan
    job = make_job()
    work = build_workload(job)
    parameters = job.architecture.total_parameters
    assert estimate_checkpoint_bytes(work, recipes()["megatron"]) == 14 * parameters
    assert estimate_checkpoint_bytes(work, recipes()["fsdp"]) == 12 * parameters


def test_adapters_save_adapters_alone() -> None:
    job = make_job(method="lora", lora=Lora(rank=8, targets=("q",)))
    # one pair of 512 × 8 and 8 × 512 per layer, four layers
    size = estimate_checkpoint_bytes(build_workload(job), recipes()["megatron"])
    assert size == 14 * 4 * 2 * 8 * 512


def test_the_whole_run_by_hand() -> None:
    """8 nodes, 2 s a step, 20 billion tokens in steps of 4 Mi tokens: every figure redone."""
    runs = make_runs(assumptions=RunAssumptions(stop_rate_sigma=1e-9))
    steps = 4769  # 2e10 / 4,194,304 = 4,768.4
    blocking = 1e11 / (8 * 1e9)  # 12.5 s
    mean = 50_000 * 3600 / 64  # 2,812,500 s
    ratio = blocking / (2 * mean)
    interval = sqrt(2 * blocking * mean) * (1 + sqrt(ratio) / 3 + ratio / 9) - blocking
    total = 24 * 3600 + steps * 2.0 * mean * exp(1800 / mean) * expm1((interval + blocking) / mean) / interval
    row = runs.row(0, deadline_s=1e9)
    assert row.steps == steps
    assert row.checkpoint_blocking_s == pytest.approx(12.5)
    assert row.checkpoint_interval_s == pytest.approx(interval)
    assert row.days == pytest.approx(total / DAY_S, rel=1e-9)
    assert row.parts["run_steps"] == pytest.approx(9538.0)
    assert row.parts["run_setup"] == 24 * HOUR_S
    assert sum(row.parts.values()) == pytest.approx(total)
    assert row.goodput == pytest.approx(9538.0 / (total - 86_400))
    assert row.deadline_probability == pytest.approx(1.0)


def test_goodput_agrees_with_the_first_order_formula() -> None:
    # overhead ≈ C / T + T / 2M + R / M, for a long run at 1,024 cards
    runs = make_runs(gpus=1024, tokens=2e13)
    row = runs.row(0)
    mean, interval = float(runs.mean_time_between_stops_s[0]), row.checkpoint_interval_s
    overhead = row.checkpoint_blocking_s / interval + interval / (2 * mean) + 1800 / mean
    assert 1 / row.goodput - 1 == pytest.approx(overhead, rel=0.03)


def test_one_node_is_set_up_sooner() -> None:
    assert make_runs(gpus=8).setup_s[0] == 2 * HOUR_S
    assert make_runs(gpus=16).setup_s[0] == 24 * HOUR_S


@given(st.floats(0.01, 1e3), st.integers(1, 16_384), st.floats(1e6, 1e13))
def test_no_part_of_a_run_is_negative_and_they_sum(step_s: float, gpus: int, tokens: float) -> None:
    run = make_runs(step_s, gpus, tokens=tokens).row(0)
    total_s = run.days * DAY_S
    # rounding leaves parts that cancel a little below zero
    assert min(run.parts.values()) >= -1e-9 * total_s
    assert sum(run.parts.values()) == pytest.approx(total_s)


def test_an_asynchronous_save_blocks_less_and_is_never_denser_than_its_upload() -> None:
    background = RunAssumptions(asynchronous_saves=True, storage_bytes_per_s=1e8)
    waiting = make_runs()
    runs = make_runs(tokens=2e12, assumptions=background)
    # 1e11 B at 0.1 GB/s: 1,000 s of upload; the copy to the hosts at 8 · 40 GB/s blocks 0.3 s
    assert runs.blocking_s[0] == pytest.approx(0.3125)
    assert runs.blocking_s[0] < waiting.blocking_s[0]
    unbounded = estimate_checkpoint_interval_s(0.3125, runs.mean_time_between_stops_s[0])
    assert runs.interval_s[0] == pytest.approx(max(1000.0, float(unbounded)))


def test_spare_nodes_shorten_recovery() -> None:
    many = make_runs(gpus=4096, tokens=2e13)
    spared = make_runs(gpus=4096, tokens=2e13, assumptions=RunAssumptions(spare_nodes=8))
    assert spared.row(0).parts["run_recovery"] == pytest.approx(many.row(0).parts["run_recovery"] / 2, rel=0.03)
    assert spared.days[0] < many.days[0]


def test_the_interval_comes_from_the_step_time_when_stops_are_rare() -> None:
    spread = Spread(residuals=tuple(k / 100 for k in range(-9, 10)))
    row = make_runs(gpus=8, tokens=2e11, spread=spread, assumptions=RunAssumptions(card_hours_per_stop=1e15)).row(0)
    training = row.days - 2 / 24
    assert row.low_days - 2 / 24 == pytest.approx(training * exp(-0.09), rel=2e-3)
    assert row.high_days - 2 / 24 == pytest.approx(training * exp(0.09), rel=2e-3)


def test_runs_of_one_spread_may_differ_in_scale() -> None:
    spread = Spread(residuals=tuple(k / 100 for k in range(-9, 10)))
    together = make_runs(step_s=[2.0, 2.0], spread=spread, spread_scale=[1.0, 2.5])
    for index, scale in enumerate((1.0, 2.5)):
        alone = make_runs(spread=Spread(residuals=spread.residuals, scale=scale))
        for probability in (0.05, 0.5, 0.9):
            assert together.quantile_s(probability)[index] == pytest.approx(alone.quantile_s(probability)[0], rel=1e-6)
        assert together.row(index).high_days == pytest.approx(alone.row(0).high_days, rel=1e-6)
        limit = float(alone.quantile_s(0.7)[0])
        assert together.probability_within(limit)[index] == pytest.approx(0.7, abs=0.01)


def test_simulated_runs_agree_with_the_mixture() -> None:
    """A second road: draw stop rate, step factor and stops, and replay the run checkpoint by checkpoint."""
    generator = np.random.default_rng(11)
    spread = Spread(residuals=tuple(k / 50 for k in range(-9, 10)))
    runs = make_runs(step_s=4.0, gpus=2048, tokens=6e12, spread=spread)
    interval, blocking = float(runs.interval_s[0]), float(runs.blocking_s[0])
    totals = []
    for _ in range(400):
        mean = float(runs.mean_time_between_stops_s[0]) / exp(0.69 * generator.normal())
        useful = float(runs.training_s[0]) * spread.factor(float(generator.uniform(0.001, 0.999)))
        segments = max(round(useful / interval), 1)
        # tries of one segment until one lasts: geometric; each failed try loses a truncated exponential
        length = interval + blocking
        lasts = exp(-length / mean)
        failed = generator.negative_binomial(segments, lasts)
        lost = mean - length * lasts / (1 - lasts)
        totals.append(24 * HOUR_S + segments * length + failed * (lost + 1800.0))
    row = runs.row(0)
    low, high = np.quantile(np.array(totals) / DAY_S, [0.05, 0.95])
    assert row.low_days == pytest.approx(low, rel=0.03)
    assert row.high_days == pytest.approx(high, rel=0.04)
    assert row.days == pytest.approx(float(np.median(totals)) / DAY_S, rel=0.03)


@settings(max_examples=40, deadline=None)
@given(
    step_s=st.floats(0.05, 60.0),
    gpus=st.sampled_from([1, 8, 64, 1024, 16_384]),
    tokens=st.floats(1e7, 1e13),
    probability=st.floats(0.05, 0.95),
)
def test_quantile_and_probability_are_inverse(step_s: float, gpus: int, tokens: float, probability: float) -> None:
    runs = make_runs(step_s=step_s, gpus=gpus, tokens=tokens, spread=Spread(prior_sigma=0.2))
    assert float(runs.probability_within(runs.quantile_s(probability))[0]) == pytest.approx(probability, abs=0.01)


@given(st.floats(1e6, 1e14), st.integers(1, 2**26))
def test_twice_the_tokens_are_twice_the_steps_within_one(tokens: float, tokens_per_step: int) -> None:
    once, twice = count_steps(tokens, tokens_per_step), count_steps(2 * tokens, tokens_per_step)
    assert abs(float(twice) - 2 * float(once)) <= 1


def test_array_and_scalar_runs_agree() -> None:
    together = make_runs(step_s=[1.0, 2.0, 3.0], gpus=[8, 64, 1024], spread=Spread(prior_sigma=0.2))
    for index, (step_s, gpus) in enumerate(((1.0, 8), (2.0, 64), (3.0, 1024))):
        alone = make_runs(step_s=step_s, gpus=gpus, spread=Spread(prior_sigma=0.2))
        assert alone.row(0, 1e6) == together.row(index, 1e6)
    assert together.row(-1) == together.row(2)


@pytest.mark.parametrize("mean", [0.01, 0.7, 3.0, 11.0, 40.0])
def test_poisson_quantiles(mean: float) -> None:
    from scipy.stats import poisson

    probabilities = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    assert quantile_poisson(mean, probabilities) == pytest.approx(poisson.ppf(probabilities, mean), abs=0.6)


def test_assumptions_are_said() -> None:
    said = " ".join(str(message) for message in RunAssumptions().messages())
    assert "one stop per 50,000 card-hours" in said
    assert "set-up 2 h on one node, 24 h on several; 0 spare nodes" in said

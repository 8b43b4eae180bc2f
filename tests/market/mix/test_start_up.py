from __future__ import annotations

from math import exp, inf

import pytest

from suanpei.market.mix.start_up import Interruptions, StartUp, clean_run_probability, expected_hours, transfer_s


def test_the_parts_of_a_start_follow_each_other() -> None:
    start_up = StartUp(boot_s=60, image_s=transfer_s(30e9, 500e6), data_s=100, checkpoint_s=20)

    assert start_up.total_s == 60 + 60 + 100 + 20


def test_expected_hours_are_those_of_a_simulation() -> None:
    """Solved step by step: E = P(clean) T + Σ over the hour of interruption; by recursion in steps of 1/1000 h."""
    rate, hours, restart = 0.4, 3.0, 0.2
    step = 1e-4
    count = round(hours / step)
    reach = [exp(-rate * step * index) for index in range(count)]
    lost = sum(chance * (1 - exp(-rate * step)) * (index * step + restart) for index, chance in enumerate(reach))
    clean = exp(-rate * hours)

    assert expected_hours(hours, rate, restart) == pytest.approx((clean * hours + lost) / clean, rel=1e-3)


def test_no_interruption_costs_nothing_and_too_many_never_finish() -> None:
    assert expected_hours(5, 0.0, 1.0) == 5
    assert expected_hours(8760, 1.0) == inf
    assert clean_run_probability(48.5, 0.15) == pytest.approx(0.00069, abs=1e-5)


def test_a_checkpoint_bounds_what_an_interruption_loses() -> None:
    often, never = Interruptions(rate_per_hour=0.1, checkpoint_hours=1.0), Interruptions(rate_per_hour=0.1)

    assert often.spot_factor(24, 0.0) == pytest.approx((exp(0.1) - 1) / 0.1)
    assert never.spot_factor(24, 0.0) == pytest.approx((exp(2.4) - 1) / 2.4)
    assert often.spot_factor(0.5, 0.0) == pytest.approx((exp(0.05) - 1) / 0.05)

from __future__ import annotations

import pytest

from suanpei.market.mix.pilot import PlannedStep, judge_pilot

PLAN = PlannedStep(accelerator="A800", gpus=64, seconds=10.0, low_seconds=8.0, high_seconds=13.0, goodput_fraction=0.97)


def test_a_step_measured_on_as_many_cards_leaves_the_noise_of_repeats() -> None:
    lesson = judge_pilot(64, PLAN)

    assert lesson.low_seconds_after is not None
    assert lesson.high_seconds_after is not None
    # repeats scatter by 3 % in the logarithm; 90 % lie within 1.6449 of that: e^0.049347 = 1.05058, 10 s of it 9.5185 s
    # to 10.5058 s
    assert lesson.low_seconds_after == pytest.approx(9.5185, abs=1e-4)
    assert lesson.high_seconds_after == pytest.approx(10.5058, abs=1e-4)
    assert "at most 13 s" in str(lesson.criteria[0])
    assert "97.0%" in str(lesson.criteria[1])


def test_fewer_cards_leave_the_interval_of_the_large_cluster() -> None:
    lesson = judge_pilot(8, PLAN)

    assert lesson.low_seconds_after is None
    assert "8 cards measure the work of a card, not what 64 wait for each other" in str(lesson.lessons[0])


def test_without_a_plan_there_is_no_interval_to_narrow() -> None:
    lesson = judge_pilot(8, None)

    assert lesson.high_seconds_after is None
    assert "--plan plan.json" in str(lesson.criteria[0])

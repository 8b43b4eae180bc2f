from __future__ import annotations

import pytest

from suanpei.market.mix.pilot import PlannedStep, judge_pilot
from suanpei.physics.step_uncertainty import REPEAT_SIGMA

PLAN = PlannedStep(accelerator="A800", gpus=64, seconds=10.0, low_seconds=8.0, high_seconds=13.0, goodput_fraction=0.97)


def test_a_step_measured_on_as_many_cards_leaves_the_noise_of_repeats() -> None:
    lesson = judge_pilot(64, PLAN)

    assert lesson.low_seconds_after is not None
    assert lesson.high_seconds_after is not None
    width = lesson.high_seconds_after / lesson.low_seconds_after
    assert width == pytest.approx(2.718281828 ** (2 * 1.6449 * REPEAT_SIGMA), rel=1e-3)
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

"""Whole periods, of any length, of one rental and of many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.planner.billing import (
    count_affordable_hours,
    count_affordable_hours_each,
    count_paid_hours,
    count_paid_hours_each,
)


@pytest.mark.parametrize(
    ("hours", "period", "minimum", "paid"),
    [
        (1.0, 1 / 60, 0.0, 1.0),
        (1.0 + 1 / 3600, 1 / 60, 0.0, 61 / 60),
        (0.5, 1 / 3600, 0.0, 0.5),
        (0.01, 1 / 60, 1.0, 1.0),
        (25.0, 24.0, 0.0, 48.0),
        (100.0, 720.0, 0.0, 720.0),
        (730.0 + 5e-7, 730.0, 0.0, 730.0),  # two milliseconds into the second month
        (730.0 + 5e-7, 1 / 60, 0.0, 730.0),
        (0.0, 730.0, 730.0, 0.0),
    ],
)
def test_started_periods_are_paid(hours: float, period: float, minimum: float, paid: float) -> None:
    assert count_paid_hours(hours, period, minimum) == paid


@given(
    hours=st.lists(st.floats(0.0, 1e5), min_size=1, max_size=6),
    period=st.sampled_from([1 / 3600, 1 / 60, 1.0, 24.0, 730.0]),
    minimum=st.sampled_from([0.0, 1.0, 730.0, 2190.0]),
)
def test_many_are_counted_as_each(hours: list[float], period: float, minimum: float) -> None:
    paid = count_paid_hours_each(np.array(hours), period, minimum)
    affordable = count_affordable_hours_each(np.array(hours), period, minimum)
    for index, held in enumerate(hours):
        assert paid[index] == count_paid_hours(held, period, minimum)
        assert affordable[index] == count_affordable_hours(held, period, minimum)
        # what can be afforded is paid for with no more than there is
        assert count_paid_hours(affordable[index], period, minimum) <= held * (1 + 1e-9) + 1e-9 * period

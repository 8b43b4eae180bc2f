"""Side costs: one formula for one option and for many."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from suanpei.planner.side_costs import SideCosts, add_side_costs, afford_hours, credit_outages, price_hour

ONE = SideCosts(
    once=100.0,
    per_hour=2.0,
    per_checkpoint_byte=1e-9,
    per_checkpoint_byte_hour=1e-11,
    per_gpu_hour_between_nodes=0.5,
    credited_fraction=1.0,
)
costs = st.builds(
    SideCosts,
    once=st.floats(0, 1e5),
    per_hour=st.floats(0, 1e3),
    per_checkpoint_byte=st.floats(0, 1e-7),
    per_checkpoint_byte_hour=st.floats(0, 1e-10),
    per_gpu_hour_between_nodes=st.floats(0, 10),
    credited_fraction=st.sampled_from([0.0, 1.0]),
)


def test_by_hand() -> None:
    # 16 cards at 5 + 0.5 between nodes; 30 h paid, 25 held; 100 GB: 100 + 100 once, 2 + 1 an hour
    rent = price_hour(5.0, 16, 8, ONE)
    assert float(rent) == 88.0
    assert float(price_hour(5.0, 8, 8, ONE)) == 40.0
    assert float(add_side_costs(rent, 30.0, 25.0, 100e9, ONE)) == 88 * 30 + 200 + 3 * 25
    assert float(credit_outages(5.0, 16, 8, 2.0, ONE)) == 5 * 8 * 2
    assert float(credit_outages(5.0, 4, 8, 2.0, ONE)) == 5 * 4 * 2


def test_a_budget_pays_periods_and_what_comes_by_the_hour() -> None:
    # 10 an hour in periods of 10 h, 1 an hour beside, 20 once: 230 are two periods of 100 and ten hours of 1
    side = SideCosts(once=20.0, per_hour=1.0)
    assert float(afford_hours(230.0, 10.0, (10.0, 0.0), 0.0, side)) == 10.0
    assert float(afford_hours(235.0, 10.0, (10.0, 0.0), 0.0, side)) == 15.0
    assert float(afford_hours(130.0, 10.0, (10.0, 0.0), 0.0, side)) == 10.0
    # the shortest rental of 30 h costs 300 before anything is held
    assert float(afford_hours(319.0, 10.0, (10.0, 30.0), 0.0, side)) == 0.0
    assert float(afford_hours(325.0, 10.0, (10.0, 30.0), 0.0, side)) == 5.0


@given(many=st.lists(costs, min_size=1, max_size=5), budget=st.floats(1.0, 1e7), size=st.floats(0, 1e13))
def test_many_options_are_priced_as_each_of_them(many: list[SideCosts], budget: float, size: float) -> None:
    stacked = SideCosts.stack(many)
    rented = np.array([4.0, 8.0, 16.0])
    rents = price_hour(5.0, rented, 8, stacked)
    totals = add_side_costs(rents, 730.0, 700.0, size, stacked)
    hours = afford_hours(budget, rents, (1.0, 24.0), size, stacked)
    assert totals.shape == hours.shape == (len(many), 3)
    for row, side in enumerate(many):
        for column, count in enumerate(rented):
            rent = price_hour(5.0, float(count), 8, side)
            assert totals[row, column] == add_side_costs(rent, 730.0, 700.0, size, side)
            assert hours[row, column] == afford_hours(budget, rent, (1.0, 24.0), size, side)


def test_a_factor_scales_the_money_and_not_the_share() -> None:
    taxed = ONE.scaled(1.06)
    assert taxed.once == 106.0
    assert taxed.credited_fraction == 1.0

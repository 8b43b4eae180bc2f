"""Options as arrays: the same figures as one by one, and nothing dropped that could be wanted."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.planner.billing import count_affordable_hours, count_paid_hours
from suanpei.planner.option_table import OptionTable, group_options
from suanpei.planner.options import ClusterOption, Constraints
from suanpei.planner.side_costs import NO_SIDE_COSTS, SideCosts
from suanpei.units import HOUR_S
from tests.planner.samples import cluster

COUNTS = (1, 4, 8, 16)


def make_option(price: float | None = 2.0, **changes: Any) -> ClusterOption:
    fields: dict[str, Any] = {"counts": COUNTS}
    return ClusterOption(cluster=cluster(), price_per_gpu_hour=price, **(fields | changes))


side_costs = st.builds(
    SideCosts,
    once=st.sampled_from([0.0, 500.0]),
    per_hour=st.sampled_from([0.0, 0.7]),
    per_checkpoint_byte=st.sampled_from([0.0, 1e-9]),
    per_checkpoint_byte_hour=st.sampled_from([0.0, 2e-12]),
    per_gpu_hour_between_nodes=st.sampled_from([0.0, 0.3]),
    credited_fraction=st.sampled_from([0.0, 1.0]),
)
options = st.builds(
    make_option,
    st.one_of(st.none(), st.floats(0.5, 9.0)),
    counts=st.sampled_from([COUNTS, (1, 4), (8, 16), (16,)]),
    billing_hours=st.sampled_from([1.0, 24.0, 730.0]),
    minimum_hours=st.sampled_from([0.0, 24.0, 730.0]),
    sold_by_node=st.booleans(),
    unit_gpus=st.sampled_from([1, 8, 16]),
    side_costs=st.one_of(st.just(NO_SIDE_COSTS), side_costs),
)
budgets = st.one_of(st.none(), st.floats(1.0, 1e5))
deadlines = st.one_of(st.none(), st.floats(1e3, 1e7))


@given(st.lists(options, min_size=1, max_size=6), budgets, deadlines, st.floats(1e3, 1e7))
def test_arrays_give_what_each_option_gives(
    group: list[ClusterOption], budget: float | None, deadline_s: float | None, duration_s: float
) -> None:
    constraints = Constraints(deadline_s=deadline_s, budget=budget)
    table = OptionTable(options=tuple(group), spare_nodes=1)
    checkpoint_bytes = 1e10 * np.arange(1.0, len(table.counts) + 1.0)
    recovery_s = 1e3 * np.arange(1.0, len(table.counts) + 1.0)
    limits_s = table.limits_s(constraints, checkpoint_bytes)
    costs = table.costs(np.full(len(table.counts), duration_s), checkpoint_bytes, recovery_s)
    for row, option in enumerate(group):
        for column, count in enumerate(table.counts):
            assert table.offered[row, column] == (count in option.counts)
            rented = option.rented_gpus(count, 1)
            assert table.rented[row, column] == rented
            size = float(checkpoint_bytes[column])
            assert limits_s[row, column] == pytest.approx(constraints.limit_s(option, rented, size))
            cost = option.cost_of(duration_s, rented, size)
            billed = inf if cost is None else cost - option.credit_of(float(recovery_s[column]), rented)
            assert costs[row, column] == pytest.approx(billed)


@given(st.lists(options, min_size=1, max_size=8), budgets, st.floats(1e3, 1e7))
def test_an_option_that_is_dropped_is_beaten_by_one_that_is_kept(
    group: list[ClusterOption], budget: float | None, duration_s: float
) -> None:
    table = OptionTable(options=tuple(group))
    limits_s = table.limits_s(Constraints(budget=budget))
    costs = table.costs(np.full(len(table.counts), duration_s))
    kept = table.find_unbeaten(range(len(table.counts)), costs, limits_s)
    for column in range(len(table.counts)):
        rows = [row for row, place in kept if place == column]
        assert rows
        for row in np.flatnonzero(table.offered[:, column]).tolist():
            at_least_as_good = [
                other
                for other in rows
                if costs[other, column] <= costs[row, column] and limits_s[other, column] >= limits_s[row, column]
            ]
            assert at_least_as_good or group[row].price_per_gpu_hour is None
        priced = [row for row in rows if group[row].price_per_gpu_hour is not None]
        for row in priced:
            beaten_by = [
                other
                for other in priced
                if other != row
                and costs[other, column] <= costs[row, column]
                and limits_s[other, column] >= limits_s[row, column]
            ]
            assert not beaten_by


def test_of_equals_the_first_is_kept_and_another_cost_keeps_its_cheapest() -> None:
    hourly, twin, monthly = make_option(2.0), make_option(2.0), make_option(1.5, billing_hours=730.0)
    table = OptionTable(options=(hourly, twin, monthly))
    costs, limits_s = (np.full(table.offered.shape, value) for value in (1.0, inf))
    assert table.find_unbeaten([2], costs, limits_s) == [(0, 2)]
    other = costs.copy()
    other[2] = 0.5
    assert table.find_unbeaten([2], costs, limits_s, (other,)) == [(0, 2), (2, 2)]


def test_options_compete_within_their_group_only() -> None:
    dear, cheap = make_option(3.0, rivals="a"), make_option(2.0, rivals="b")
    dearer = make_option(4.0, rivals="b")
    table = OptionTable(options=(dear, cheap, dearer))
    costs = table.costs(np.full(len(COUNTS), HOUR_S))
    assert table.find_unbeaten([0], costs, table.limits_s(Constraints())) == [(0, 0), (1, 0)]


def test_without_a_price_the_first_stays_beside_the_priced() -> None:
    table = OptionTable(options=(make_option(None), make_option(None), make_option(3.0)))
    costs = table.costs(np.full(len(COUNTS), HOUR_S))
    assert table.find_unbeaten([0], costs, table.limits_s(Constraints())) == [(0, 0), (2, 0)]
    priced = table.of_priced()
    assert priced is not None
    assert [option.price_per_gpu_hour for option in priced.options] == [3.0]
    assert OptionTable(options=(make_option(None),)).of_priced() is None


def test_options_are_grouped_by_cluster_in_order() -> None:
    other = cluster("H100-SXM5-80GB")
    group = [make_option(1.0), ClusterOption(cluster=other, price_per_gpu_hour=4.0, counts=(8,)), make_option(3.0)]
    tables = group_options(group, 0)
    assert [[option.price_per_gpu_hour for option in table.options] for table in tables] == [[1.0, 3.0], [4.0]]
    assert tables[0].cluster is cluster()


@given(st.floats(0.0, 1e5), st.sampled_from([1.0, 24.0, 168.0, 730.0]), st.floats(0.0, 9000.0))
def test_what_is_affordable_is_paid_for_by_no_more(paid: float, period: float, minimum: float) -> None:
    """What the money allows to use, billed, costs no more than the money."""
    usable = count_affordable_hours(paid, period, minimum)
    assert count_paid_hours(usable, period, minimum) <= paid * (1 + 1e-9) + 1e-6


def test_periods_are_started_whole() -> None:
    # 25 h are two days, 31 days are two months of 730 h; three months are the least
    assert [count_paid_hours(25.0, 24.0), count_paid_hours(744.0, 730.0)] == [48.0, 1460.0]
    assert count_paid_hours(1.0, 730.0, 2190.0) == 2190.0
    assert count_affordable_hours(47.0, 24.0) == 24.0
    assert count_affordable_hours(2189.0, 730.0, 2190.0) == 0.0

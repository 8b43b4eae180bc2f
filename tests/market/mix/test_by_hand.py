"""Small questions whose cheapest answer is worked out on paper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from suanpei.market.mix.capacity import build_capacity
from suanpei.market.mix.demand import Demand, join_steps
from suanpei.market.mix.start_up import Interruptions
from tests.market.mix.samples import cost_of, find, hourly, make_offer, monthly

if TYPE_CHECKING:
    from suanpei.market.mix.capacity import Capacity


def steps(*parts: tuple[float, int]) -> Demand:
    """Hours and cards, one behind the other."""
    return Demand(steps=join_steps([(round(hours * 3_600), gpus, "") for hours, gpus in parts]))


def paid_by(price: float, hours: float, *, minimum_hours: float = 0.0, count: int = 64) -> Capacity:
    offer = make_offer(price, billing_hours=hours, minimum_hours=minimum_hours, count=count)
    return build_capacity(offer, "quoted")[0]


@pytest.mark.parametrize(
    ("burst_hours", "cost", "reserved"),
    [(200, 7_300 + 2 * 200 * 25, 1), (330, 3 * 7_300, 3), (292, 3 * 7_300, None)],
)
def test_month_against_hour(burst_hours: int, cost: int, reserved: int | None) -> None:
    """A month is 7,300 a card; the two upper cards cost 25 an hour, as much from 292 h on."""
    optimum = find(steps((730 - burst_hours, 1), (burst_hours, 3)), [monthly(10), hourly(25)])

    assert cost_of(optimum) == cost
    assert reserved is None or sum(contract.gpus for contract in optimum.schedule.contracts) == reserved


@pytest.mark.parametrize(("peak_gpus", "cost"), [(11, 100 * 32 + 50 * (32 + 18)), (12, 100 * 32 + 50 * 64)])
def test_whole_nodes_beside_three_single_cards(peak_gpus: int, cost: int) -> None:
    """Nodes of 8 at 4 a card are 32 an hour, cards at 6: 5 cards take a node, 11 a node and three, 12 two nodes."""
    optimum = find(steps((100, 5), (50, peak_gpus)), [hourly(4, count=16, unit_gpus=8), hourly(6, count=3)])

    assert cost_of(optimum) == cost


def test_a_quarter_is_paid_whole_where_it_is_still_the_cheapest() -> None:
    """500 h: a quarter at 4 is 8,760 a card, a month at 15 10,950, hours at 20 10,000."""
    optimum = find(steps((500, 2)), [monthly(4, months=3), monthly(15), hourly(20)])

    assert cost_of(optimum) == 2 * 8_760
    assert {contract.paid_gpu_hours / contract.gpus for contract in optimum.schedule.contracts} == {2_190}


def test_a_contract_is_lengthened_by_periods_not_by_terms() -> None:
    """Three months on two at least: 3 · 730, not 4; with a dearer single month beside it, still."""
    assert cost_of(find(steps((3 * 730, 1)), [monthly(1, months=2), monthly("1.4")])) == 3 * 730


def test_a_week_and_hours() -> None:
    """10 days: two weeks at 1 are 336, hours at 1.5 360, a week and three days of hours 168 + 108."""
    assert cost_of(find(steps((240, 1)), [paid_by(1, 168), hourly("1.5")])) == 276


def test_days_are_paid_whole_from_each_start() -> None:
    """On 10 h, off 4 h, on 10 h is one day at 3: 72; by the hour at 5 it is 100."""
    assert cost_of(find(steps((10, 1), (4, 0), (10, 1)), [paid_by(3, 24), hourly(5)])) == 72


def test_a_least_rental_of_four_hours_is_paid_at_each_start() -> None:
    """1 h, 5 h off, 1 h: two rentals of 4 h, one of 7 h is cheaper."""
    assert cost_of(find(steps((1, 1), (5, 0), (1, 1)), [paid_by(1, 1, minimum_hours=4)])) == 7


@pytest.mark.parametrize(
    ("checkpoint_hours", "cost"),
    [
        (None, 4 * 21 * 5),
        (2.0, 3 * (1 + 10 * (2.718281828459045**0.2 - 1) * 11) * 2 + 21 * 5),
    ],
)
def test_spot_with_interruptions(checkpoint_hours: float | None, cost: float) -> None:
    """20 h on 4 cards, a start of 1 h, 0.1 interruptions an hour, 3 spot cards at 2 beside hours at 5.

    Without a save a spot card takes (e^2 - 1)(10 + 1) + 1 = 71.3 h: 143 against 21 · 5 = 105. Saved every 2 h it takes
    10 (e^0.2 - 1)(10 + 1) + 1 = 25.35 h: 50.71.
    """
    interruptions = Interruptions(rate_per_hour=0.1, checkpoint_hours=checkpoint_hours)
    capacities = [hourly(2, count=3, tier="spot"), hourly(5)]

    optimum = find(steps((20, 4)), capacities, start_up_hours=1.0, interruptions=interruptions)

    assert cost_of(optimum) == pytest.approx(cost, abs=0.01)


def test_both_baselines_by_hand() -> None:
    """1 card for 400 h, 3 for 100 h: 700 card-hours at 25, or three months of the peak, or one month and 200 hours."""
    demand = steps((400, 1), (100, 3))

    assert cost_of(find(demand, [hourly(25)])) == 700 * 25
    assert cost_of(find(replace(demand, steps=steps((500, 3)).steps), [monthly(10)])) == 3 * 7_300
    assert cost_of(find(demand, [monthly(10), hourly(25)])) == 7_300 + 200 * 25

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.market.mix.capacity import build_capacity
from suanpei.market.mix.demand import Demand, join_steps
from tests.market.mix.samples import find, make_offer, yuan

if TYPE_CHECKING:
    from suanpei.market.mix.capacity import Capacity
    from suanpei.market.offer import Offer


def ranged(offer: Offer, low: str, high: str) -> Capacity:
    return build_capacity(replace(offer, price_low=yuan(low), price_high=yuan(high)), "quoted")[0]


def test_the_parts_carry_the_range_of_the_sellers_and_sum_to_that_of_the_mix() -> None:
    """8 cards for a month of 730 h at 10, quoted as 9.995 to 12, and 8 more for 100 h at 25, quoted as 24 to 30:
    58,370.80 + 19,200 at the low ends, 70,080 + 24,000 at the high ends."""
    demand = Demand(steps=join_steps([(630 * 3_600, 8, ""), (100 * 3_600, 16, "")]))
    reserved = ranged(make_offer(10, count=8, billing_hours=730, minimum_hours=730, provider="a"), "9.995", "12")
    elastic = ranged(make_offer(25, provider="b"), "24", "30")

    schedule = find(demand, [reserved, elastic]).schedule

    spans = [(str(part.low.amount), str(part.amount.amount), str(part.high.amount)) for part in schedule.parts]
    assert spans == [("58370.80", "58400.00", "70080.00"), ("19200.00", "20000.00", "24000.00")]
    assert (schedule.low, schedule.total, schedule.high) == (yuan("77570.80"), yuan("78400.00"), yuan("94080.00"))

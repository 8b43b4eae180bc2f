from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.market.mix import optimise as module
from suanpei.market.mix.capacity import Capacity, TaxSide, build_capacity, classify, keep_undominated
from suanpei.market.terms import Tax
from tests.market.mix.samples import cost_of, find, hourly, make_offer, monthly, months_of, yuan

MONTH_S = 730 * 3_600


def keep(capacities: list[Capacity], peak_gpus: int, start_up_hours: float = 0.0) -> list[float]:
    kept = keep_undominated(
        capacities, peak_gpus=peak_gpus, starts_s=(0, MONTH_S), grid_s=3_600, start_up_hours=start_up_hours
    )
    return [float(capacity.price.amount) for capacity in kept]


def test_what_is_paid_for_a_day_or_less_is_elastic() -> None:
    assert classify(make_offer(1)) == "elastic"
    assert classify(make_offer(1, billing_hours=24)) == "elastic"
    assert classify(make_offer(1, billing_hours=1, minimum_hours=168)) == "reserved"
    assert classify(make_offer(1, billing_hours=730)) == "reserved"
    assert classify(make_offer(1, tier="spot")) == "spot"


@pytest.mark.parametrize(
    ("tax", "side", "amount", "is_noted"),
    [
        (Tax(state="out", rate_fraction=Decimal("0.06")), "in", "10.60", False),
        (Tax(state="out", rate_fraction=Decimal("0.06")), "out", "10.00", False),
        (Tax(state="in", rate_fraction=Decimal("0.06")), "out", "9.43", False),
        (Tax(state="in"), "in", "10.00", False),
        (Tax(state="in"), "out", "10.00", True),
        (Tax(), "in", "10.00", True),
        (Tax(), "quoted", "10.00", False),
    ],
)
def test_prices_stand_on_one_side_of_tax_and_the_unknown_is_said(
    tax: Tax, side: TaxSide, amount: str, is_noted: bool
) -> None:
    capacity, note = build_capacity(make_offer(10, tax=tax), side)

    assert f"{capacity.price.rounded().amount:.2f}" == amount
    assert (note is not None) == is_noted


def test_a_tax_that_is_not_stated_is_read_at_its_worst() -> None:
    rates = (Decimal("0.06"), Decimal("0.13"))

    for tax, amount, rate in (
        (Tax(), "11.30", "13 %"),
        (Tax(state="out"), "11.30", "13 %"),
        (Tax(rate_fraction=Decimal("0.06")), "10.60", "6 %"),
    ):
        capacity, note = build_capacity(make_offer(10, tax=tax), "in", rates)
        assert capacity.price == yuan(amount)
        assert note is not None
        assert f" {rate} tax added to its price" in str(note)


def test_a_price_is_divided_by_its_tax_once() -> None:
    """11.30 with 13 % in it is 10 without, to the last digit; 1/1.13 rounded first would leave 9.99…"""
    tax = Tax(state="in", rate_fraction=Decimal("0.13"))

    capacity, _ = build_capacity(make_offer("11.30", tax=tax), "out")

    assert capacity.price == yuan(10)


def test_elastic_offers_of_the_same_terms_are_kept_up_to_the_peak() -> None:
    assert keep([hourly(3, count=4), hourly(1, count=4), hourly(2, count=4)], 8) == [1, 2]
    assert keep([hourly(3, count=4), hourly(1, count=4), hourly(2, count=4)], 9) == [3, 1, 2]


def test_smaller_units_count_where_starting_costs_nothing() -> None:
    offers = [hourly(1, count=8), hourly(2, count=8, unit_gpus=8)]

    assert keep(offers, 8) == [1]
    assert keep(offers, 8, start_up_hours=1) == [1, 2]


def test_an_offer_with_twice_the_peak_dominates_longer_terms() -> None:
    assert keep([monthly(1, count=16), monthly(1.1, count=99, months=12)], 8) == [1]
    assert keep([monthly(1, count=15), monthly(1.1, count=99, months=12)], 8) == [1, 1.1]
    assert keep([monthly(1, count=16, months=12), monthly(1.1, count=99)], 8) == [1, 1.1]
    assert keep([hourly(1, count=16), monthly(1.1, count=99)], 8) == [1]
    assert keep([hourly(1, count=16), monthly(1.1, count=99)], 8, start_up_hours=1) == [1, 1.1]


@settings(max_examples=40, deadline=None)
@given(
    demand=st.lists(st.integers(0, 4), min_size=2, max_size=5).filter(any),
    kinds=st.lists(
        st.tuples(st.sampled_from(["month", "quarter", "hour", "node"]), st.integers(1, 30), st.integers(1, 9)),
        min_size=1,
        max_size=7,
    ),
    start_up_hours=st.sampled_from([0.0, 2.0]),
)
def test_what_is_dropped_could_not_have_helped(
    demand: list[int], kinds: list[tuple[str, int, int]], start_up_hours: float
) -> None:
    capacities = [hourly(4, count=4)]
    for kind, price, count in kinds:
        if kind == "hour":
            capacities.append(hourly(price / 10, count=count))
        elif kind == "node":
            capacities.append(hourly(price / 10, count=2 * count, unit_gpus=2))
        else:
            capacities.append(monthly(price / 10, count=count, months=1 if kind == "month" else 3))

    pruned = find(months_of(*demand), capacities, start_up_hours=start_up_hours)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "keep_undominated", lambda offers, **_: tuple(offers))
        whole = find(months_of(*demand), capacities, start_up_hours=start_up_hours)

    assert whole.considered >= pruned.considered
    assert cost_of(pruned) == pytest.approx(cost_of(whole), abs=0.02, rel=1e-9)

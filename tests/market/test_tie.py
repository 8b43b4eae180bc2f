"""The price at which a bill comes to a total: against enumeration, and against bills of whole periods."""

from __future__ import annotations

from decimal import Decimal
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.market.tie import find_price_for_total

STEP = Decimal("0.0001")


def rent(price: Decimal, *, cards: int = 8, hours: int = 730, beside: Decimal = Decimal(0)) -> Decimal:
    """Cards times hours times price, to the cent, with a charge beside it."""
    return (cards * hours * price + beside).quantize(Decimal("0.01"))


def test_the_tie_of_a_month_is_the_total_over_its_card_hours() -> None:
    # 8 cards for a month of 730 h at 6.2 cost 36,208
    assert find_price_for_total(rent, Decimal(36208), start=Decimal("9.9")) == Decimal("6.2000")
    # 36,000 / 5840 = 6.16438…
    assert find_price_for_total(rent, Decimal(36000), start=Decimal(1)) == Decimal("6.1643")


@pytest.mark.parametrize("limit", ["0.03", "0.17", "1.00", "2.22"])
def test_small_totals_agree_with_enumeration(limit: str) -> None:
    def total_at(price: Decimal) -> Decimal:
        return rent(price, cards=3, hours=7, beside=Decimal("0.02"))

    prices = [step * STEP for step in range(1, 2_000)]
    highest = max((price for price in prices if total_at(price) <= Decimal(limit)), default=None)
    assert find_price_for_total(total_at, Decimal(limit), start=Decimal("0.5")) == highest


def test_charges_above_the_total_leave_no_price() -> None:
    assert find_price_for_total(lambda price: rent(price, beside=Decimal(50)), Decimal(50), start=Decimal(1)) is None


def test_a_bill_that_no_price_moves_has_no_tie() -> None:
    assert find_price_for_total(lambda _: Decimal(7), Decimal(8), start=Decimal(1)) is None


@given(
    cards=st.integers(1, 512),
    hours=st.floats(0.1, 5_000),
    period=st.sampled_from([1, 24, 730]),
    limit=st.decimals(1, 10**7, places=2),
    start=st.decimals("0.01", 99, places=2),
)
def test_the_price_ties_and_one_step_more_does_not(
    cards: int, hours: float, period: int, limit: Decimal, start: Decimal
) -> None:
    paid = ceil(hours / period) * period

    def total_at(price: Decimal) -> Decimal:
        return rent(price, cards=cards, hours=paid)

    price = find_price_for_total(total_at, limit, start=start)
    if price is None:
        assert total_at(STEP) > limit
        return
    assert price % STEP == 0
    assert total_at(price) <= limit < total_at(price + STEP)
    # below the limit by less than one step of the price, and the cent
    assert limit - total_at(price) < cards * paid * STEP + Decimal("0.01")

from __future__ import annotations

from fractions import Fraction

import pytest

from suanpei.market.quotes.prices.cross_checks import exact_multiple
from tests.market.quotes.samples import read, table


def test_exact_multiples() -> None:
    assert exact_multiple(Fraction("37.52"), Fraction("4.69")) == 8
    assert exact_multiple(Fraction("37.53"), Fraction("4.69")) is None
    assert exact_multiple(Fraction(1), Fraction(1)) is None
    assert exact_multiple(Fraction(1), Fraction(0)) is None


def test_eight_times_spot_is_the_price_of_the_node() -> None:
    rows = [("GPU", "Spot ($/GPU/hr)", "On-demand ($/GPU/hr)"), ("A100 80GB SXM", "1.99", "15.92")]
    spot, other = read(table(rows), "USD").offers
    assert "node_price_mislabelled" not in spot.flags
    assert "node_price_mislabelled" in other.flags
    assert other.price_per_accelerator_hour.amount == Fraction("1.99")
    assert [reading.amount for reading in other.readings][:2] == [Fraction("1.99"), Fraction("15.92")]


@pytest.mark.parametrize("factor", [2, 4])
def test_twice_or_four_times_spot_is_a_price_like_others(factor: int) -> None:
    rows = [("GPU", "Spot ($/GPU/hr)", "On-demand ($/GPU/hr)"), ("H100 80GB SXM", "0.9", f"{0.9 * factor:g}")]
    assert all("node_price_mislabelled" not in offer.flags for offer in read(table(rows), "USD").offers)


def test_eight_times_another_row_counts_only_against_the_band() -> None:
    header = ("Provider", "GPU", "Price ($/GPU/hr)")
    rows = [header, ("A", "H100 80GB SXM", "2.5"), ("A", "H100 80GB SXM", "20"), ("B", "H100 80GB SXM", "20")]
    low, high, other = read(table(rows), "USD").offers
    assert "node_price_mislabelled" not in low.flags
    assert "node_price_mislabelled" in high.flags
    assert "node_price_mislabelled" not in other.flags  # another seller's


def test_prices_that_rise_with_the_cards_are_instance_prices() -> None:
    rows = [("GPU", "Qty", "Price (USD/hr)"), ("P40", "1", "1.98"), ("P40", "2", "4.01"), ("P40", "8", "16.02")]
    offers = read(table(rows), "USD").offers
    assert [offer.price_per_accelerator_hour.amount for offer in offers] == [
        Fraction("1.98"),
        Fraction("4.01") / 2,
        Fraction("16.02") / 8,
    ]


def test_prices_that_stay_are_per_card() -> None:
    rows = [("GPU", "Qty", "Price (USD/hr)"), ("P40", "2", "1.98"), ("P40", "4", "1.98")]
    offers = read(table(rows), "USD").offers
    assert {offer.price_per_accelerator_hour.amount for offer in offers} == {Fraction("1.98")}


def test_one_series_in_two_currencies_is_suspect() -> None:
    header = ("GPU", "Cards", "Price per instance per hour", "Currency")
    rows = [("P40", "1", "1.98", "USD"), ("P40", "2", "4.01", "USD"), ("P40", "4", "8.01", "CNY")]
    offers = read(table([header, *rows]), "USD").offers
    assert ["currency_suspect" in offer.flags for offer in offers] == [False, False, True]
    assert offers[2].price_per_accelerator_hour.amount == Fraction("8.01") / 4
    assert offers[2].readings[1].amount == Fraction("8.01") / 4 / Fraction("7.2")


def test_the_band_tells_which_currency_is_the_slip() -> None:
    header = ("型号", "价格", "单位", "币种")
    rows = [("H800", "12", "/卡/时", "CNY"), ("H800", "12", "/卡/时", "CNY"), ("H800", "12.1", "/卡/时", "USD")]
    offers = read(table([header, *rows])).offers
    assert ["currency_suspect" in offer.flags for offer in offers] == [False, False, True]
    assert offers[2].price_per_accelerator_hour.amount == Fraction("12.1")


def test_honest_prices_in_two_currencies_stay() -> None:
    header = ("型号", "价格", "单位", "币种")
    rows = [("H800", "14", "/卡/时", "CNY"), ("H800", "15", "/卡/时", "CNY"), ("H800", "2", "/卡/时", "USD")]
    assert all("currency_suspect" not in offer.flags for offer in read(table([header, *rows])).offers)

"""Totals beside a price: 11.5 a card-hour on 8 cards is 11.5 × 8 × 730 = 67,160 a month."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.market.quotes.samples import offer_of, read, table

MONTHLY = ("型号", "单价(元/卡/时)", "月总价(元/台/月)")


@pytest.mark.parametrize(("total", "agrees"), [("67160", True), ("67800", True), ("67900", False), ("80000", False)])
def test_a_total_with_a_unit_is_held_against_the_price(total: str, agrees: bool) -> None:
    # 1 % of 67,160 is 671.6: 67,800 lies within, 67,900 does not
    quotes = read(table([MONTHLY, ("H800 8卡", "11.5", total)]))
    (offer,) = quotes.offers
    assert offer.price_per_accelerator_hour.amount == Fraction("11.5")
    assert ("prices_disagree" in offer.flags) == (not agrees)
    assert ("C2" in {question.cell for question in quotes.questions}) == (not agrees)
    assert quotes.unread == ()


@pytest.mark.parametrize(("total", "agrees"), [("2014800", True), ("671600", True), ("1500000", False)])
def test_a_total_of_all_machines_is_held_over_the_term(total: str, agrees: bool) -> None:
    # ten machines: 671,600 a month, 2,014,800 in three
    head = ("型号", "单价(元/卡/时)", "数量(台)", "起租期(月)", "总价")
    quotes = read(table([head, ("H800 8卡", "11.5", "10", "3", total)]))
    (offer,) = quotes.offers
    assert ("prices_disagree" in offer.flags) == (not agrees)
    assert quotes.unread == ()


def test_a_total_over_an_unknown_time_is_named() -> None:
    head = ("型号", "单价(元/卡/时)", "数量(台)", "合计")
    quotes = read(table([head, ("H800 8卡", "11.5", "10", "500000"), ("H800 8卡", "11.5", "10", "671600")]))
    assert all("prices_disagree" not in offer.flags for offer in quotes.offers)
    assert [one.cell for one in quotes.unread] == ["D2"]


def test_a_total_that_is_the_only_price_is_the_price() -> None:
    offer = offer_of({"型号": "H800 8卡", "月总价(元/台/月)": "67160"})
    assert offer.price_per_accelerator_hour.amount == Fraction("11.5")

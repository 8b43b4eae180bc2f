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


HEAD_OF_TOTALS = ("型号", "数量", "租期", "总价(元)")


@pytest.mark.parametrize(
    ("rows", "amount", "count"),
    [
        # 3,600,000 / (4 machines × 8 cards × 8,760 h)
        ((HEAD_OF_TOTALS, ("H800 8卡整机", "4台", "12个月", "3600000")), Fraction(3_600_000, 4 * 8 * 8_760), 32),
        ((HEAD_OF_TOTALS, ("A800 80G", "64卡", "6个月", "1560000")), Fraction(1_560_000, 64 * 4_380), 64),
        # a bare 4 counts machines: four cards would cost 102.7 an hour each
        ((HEAD_OF_TOTALS, ("H800 8卡整机", "4", "12个月", "3600000")), Fraction(3_600_000, 4 * 8 * 8_760), 32),
        # a bare 64 counts cards: 64 machines would cost 0.7 a card-hour
        ((HEAD_OF_TOTALS, ("A800 80G", "64", "6个月", "1560000")), Fraction(1_560_000, 64 * 4_380), 64),
        (
            (("型号", "数量", "单位", "月总价(万元)"), ("H800 8卡", "4", "台", "30")),
            Fraction(300_000, 4 * 8 * 730),
            32,
        ),
        # the total of a month names its time, that of the contract does not: 起租期 is only the least term
        (
            (("型号", "台数", "起租期", "总价(元)", "月租合计(元)"), ("H800 8卡", "4", "3个月", "900000", "300000")),
            Fraction(300_000, 4 * 8 * 730),
            32,
        ),
    ],
)
def test_a_total_by_count_and_term_makes_the_price(
    rows: tuple[tuple[str, ...], ...], amount: Fraction, count: int
) -> None:
    (offer,) = read(table(rows)).offers
    assert offer.price_per_accelerator_hour.amount == amount
    assert offer.count == count
    assert offer.readings[0].billed == "total"
    assert {"price_from_total", "unit_missing_inferred"} & set(offer.flags) == {"price_from_total"}
    assert offer.confidence == "medium"


@pytest.mark.parametrize(
    "row",
    [("H800 8卡整机", "4台", "", "3600000"), ("H800 8卡整机", "", "12个月", "3600000")],
    ids=["no-term", "no-count"],
)
def test_a_total_without_count_or_term_stays_open_and_is_asked(row: tuple[str, ...]) -> None:
    quotes = read(table([HEAD_OF_TOTALS, row]))
    (offer,) = quotes.offers
    assert offer.price_per_accelerator_hour.amount is None
    assert {"unit_missing", "price_missing"} & set(offer.flags) == {"unit_missing"}
    asked = [one.problem.key for one in quotes.questions if one.cell == "D2"]
    assert "only the total {price} is stated, and not for how many cards and how long" in asked


def test_a_total_over_the_least_term_stays_open() -> None:
    head = ("型号", "数量(台)", "起租期", "总价(元)")
    (offer,) = read(table([head, ("H800 8卡", "4", "3个月", "900000")])).offers
    assert offer.price_per_accelerator_hour.amount is None


@pytest.mark.parametrize(
    "term", ["起租3个月", "3个月起", "≥3个月", "至少3个月", "3-6个月", "3个月以上", "3/6个月", "3+3个月"]
)
def test_a_total_beside_a_least_term_stays_open(term: str) -> None:
    (offer,) = read(table([HEAD_OF_TOTALS, ("H800 8卡整机", "4台", term, "900000")])).offers
    assert offer.price_per_accelerator_hour.amount is None


def test_a_total_is_not_for_the_least_term_of_a_remark() -> None:
    rows = [HEAD_OF_TOTALS, ("H800 8卡整机", "4台", "", "900000"), ["备注：3个月起租"]]
    (offer,) = read(table(rows)).offers
    assert offer.price_per_accelerator_hour.amount is None


@pytest.mark.parametrize("heading", ["现货数量", "库存(台)", "可用台数"])
def test_a_total_is_not_for_all_that_is_on_hand(heading: str) -> None:
    head = ("型号", heading, "租期", "总价(元)")
    (offer,) = read(table([head, ("H800 8卡", "4", "12个月", "900000")])).offers
    assert offer.price_per_accelerator_hour.amount is None
    assert offer.count == 32


def test_a_total_has_the_tax_of_its_heading() -> None:
    head = ("型号", "台数", "合同期", "合同金额(元)不含税", "合同金额(元)含税6%")
    (offer,) = read(table([head, ("A800 8卡", "10", "1年", "4300000", "4558000")])).offers
    price = offer.price_per_accelerator_hour
    assert price.amount_tax_in == Fraction(4_558_000, 10 * 8 * 8_760)
    assert price.amount_tax_out == Fraction(4_300_000, 10 * 8 * 8_760)


def test_a_total_that_is_not_used_is_named() -> None:
    head = ("型号", "台数", "租期", "月总价(元)", "合同金额(元)")
    quotes = read(table([head, ("H800 8卡", "4", "12个月", "300000", "3600000")]))
    assert quotes.offers[0].price_per_accelerator_hour.amount == Fraction(300_000, 4 * 8 * 730)
    assert [one.cell for one in quotes.unread] == ["E2"]

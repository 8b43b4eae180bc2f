from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.market.quotes.text.words import plain
from tests.market.quotes.samples import CLUES


def amounts(text: str, *, is_price: bool = True) -> list[tuple[Fraction, Fraction, str | None]]:
    return [(one.low, one.high, one.currency) for one in CLUES.amounts.read(plain(text), is_price=is_price)]


def one(
    text: str, value: int | str, currency: str | None = None
) -> tuple[str, list[tuple[Fraction, Fraction, str | None]]]:
    return text, [(Fraction(value), Fraction(value), currency)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        one("78,000", 78_000),
        one("６．８", "6.8"),
        one("8.2万", 82_000),
        one("5万8", 58_000),
        one("5万8千", 58_000),
        one("9千5", 9_500),
        one("78k/月", 78_000),
        one("7.8w/月/台", 78_000),
        one("七万八/月", 78_000),
        one("6块8/卡时", "6.8", "CNY"),
        one("￥3.5", "3.5", "CNY"),
        one("$14,500", 14_500, "USD"),
        one("1.450,00 EUR", 1_450, "EUR"),
        one("2,49 €", "2.49", "EUR"),
        one("1.450.000 EUR", 1_450_000, "EUR"),
        one("USD 2.35/GPU-hour", "2.35", "USD"),
        one("HK$18", 18, "HKD"),
        one("120日元", 120, "JPY"),
        one("£2.5", "2.5", "GBP"),
        one("S$3", 3, "SGD"),
        one("152 000 USD", 152_000, "USD"),
        ("12-15元", [(Fraction(12), Fraction(15), "CNY")]),
        ("12至15", [(Fraction(12), Fraction(15), None)]),
        ("12~15万/台/月", [(Fraction(120_000), Fraction(150_000), None)]),
        ("面议", []),
        ("", []),
    ],
)
def test_a_price_cell_is_read(text: str, expected: list[tuple[Fraction, Fraction, str | None]]) -> None:
    assert amounts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "8卡整机",
        "现货16台",
        "8卡 月付",
        "3个月起租",
        "2025-03-01 10:22",
        "1.2万卡集群",
        "3.2T IB",
        "8×400G",
        "2×8468/2T内存/4×7.68T NVMe",
        "256P(FP16)",
        "6%",
        "36-mo term",
    ],
)
def test_what_is_counted_in_other_things_is_no_money(text: str) -> None:
    assert amounts(text, is_price=False) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("我们这边 6.8一卡时", "6.8"),
        ("7.8万/月 不含税", 78_000),
        ("8x node $19.92/hr", "19.92"),
        ("月租 78000 不含税", 78_000),
        ("7.8万一个月", 78_000),
    ],
)
def test_money_in_running_text_is_found(text: str, value: int | str) -> None:
    assert [low for low, _, _ in amounts(text, is_price=False)] == [Fraction(value)]


@pytest.mark.parametrize(
    ("text", "is_from"),
    [("1.25元/小时起", True), ("from $2.19*", True), ("ab 2,49 €", True), ("3000元/月起租", False), ("$2.49", False)],
)
def test_a_lowest_price_is_told(text: str, is_from: bool) -> None:
    (amount,) = CLUES.amounts.read(plain(text), is_price=True)
    assert amount.is_from is is_from


@given(st.decimals(min_value="0.001", max_value=10**9, places=3))
def test_a_number_is_exact(value: object) -> None:
    (amount,) = CLUES.amounts.read(f"{value}", is_price=True)
    assert amount.low == Fraction(str(value))


@given(st.integers(min_value=1, max_value=10**9))
def test_thousands_change_nothing(value: int) -> None:
    assert amounts(f"¥{value:,}") == amounts(f"¥{value}") == [(Fraction(value), Fraction(value), "CNY")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A800：7元/卡/时", "7"),
        ("H800报价：6.8万/台/月", 68_000),
        ("H800：11.5元/卡/时，公网带宽 80元/Mbps/月", "11.5"),
    ],
)
def test_a_sum_may_stand_right_behind_a_colon(text: str, value: int | str) -> None:
    assert [low for low, _, _ in amounts(text, is_price=False)] == [Fraction(value)]


@pytest.mark.parametrize("text", ["10:22", "收敛比 1:1", "9:30-18:00"])
def test_a_clock_or_a_ratio_is_no_price(text: str) -> None:
    assert amounts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        *("80元/Mbps/月", "公网IP 50元/个/月", "0.8元/GB", "300元/次", "1500元/人/天", "0.9元/千瓦时", "$4 per IP"),
        *("80元/月/Mbps", "每次 200元/次"),
    ],
)
def test_a_sum_for_something_else_is_not_the_price_of_a_card(text: str) -> None:
    assert amounts(text) == []


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("5万8，含税", 58_000, 58_000),  # 5 × 10,000 + 8 × 1,000
        ("每台每月6万8，含税6%", 68_000, 68_000),
        ("6万8。", 68_000, 68_000),
        ("5万8500", 58_500, 58_500),  # 5 × 10,000 + 8,500
        ("6万8-7万2/台/月", 68_000, 72_000),
        ("六万八-七万二", 68_000, 72_000),
        ("1万2-1万5", 12_000, 15_000),
        ("9千5-1万", 9_500, 10_000),
        ("5万8~6万2", 58_000, 62_000),
        ("5万8至6万", 58_000, 60_000),
        ("1.2亿", 120_000_000, 120_000_000),
        ("5百", 500, 500),
    ],
)
def test_the_tail_of_a_scale_is_read(text: str, low: int, high: int) -> None:
    assert [(one_low, one_high) for one_low, one_high, _ in amounts(text)] == [(Fraction(low), Fraction(high))]


@pytest.mark.parametrize(
    "text", ["5万83", "5万8卡", "1.2万亿", "5万83，公网 80元/月", "11。5", "11..5", "11.5.3", "11..5元，公网80元/月"]
)
def test_what_is_not_read_to_its_end_is_no_price_and_nor_is_what_stands_beside_it(text: str) -> None:
    assert amounts(text) == []


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("原价15 现价11.5", "11.5", "11.5"),
        ("11.5元/12.2元（含税）", "12.2", "12.2"),  # the word for tax stands beside 12.2
        ("11.5元（不含税）/12.2元", "11.5", "11.5"),
        ("含税6.8万/台/月，不含税6.4万/台/月", 68_000, 68_000),
        ("不含税6.4万/台/月，含税6.8万/台/月", 64_000, 64_000),
        ("64卡以上10.5 64卡以下11.5", "10.5", "11.5"),
    ],
)
def test_the_price_among_several_sums_is_told(text: str, low: int | str, high: int | str) -> None:
    assert [(one_low, one_high) for one_low, one_high, _ in amounts(text)] == [(Fraction(low), Fraction(high))]


def test_prices_far_apart_are_no_tax_of_each_other() -> None:
    assert [low for low, _, _ in amounts("含税6.8万/台/月，不含税70万/台/月")] == [Fraction(68_000), Fraction(700_000)]


@pytest.mark.parametrize(
    ("text", "is_from", "is_most"),
    [
        ("不低于7万", True, False),
        ("7万/台/月以上", True, False),
        ("7万以上均含税", False, False),
        ("不到7万", False, True),
        ("up to 11.5", False, True),
        ("11.5元/卡/时以内", False, True),
    ],
)
def test_a_bound_of_a_price_is_told(text: str, is_from: bool, is_most: bool) -> None:
    (amount,) = CLUES.amounts.read(plain(text), is_price=True)
    assert (amount.is_from, amount.is_most) == (is_from, is_most)

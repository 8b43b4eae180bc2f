"""Tables whose headings are cards, sellers or quantities, and tables that are turned."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from suanpei.messages import Message
from tests.market.quotes.samples import read, read_one, table

if TYPE_CHECKING:
    from collections.abc import Sequence

MONTH_HOURS = 730
SELLERS_BY_CARD = [
    ("GPU算力比价（单位：元/卡/时，含税）", "", "", ""),
    ("供应商", "A100 80G", "H100", "RTX 4090"),
    ("甲云", "7.2", "18.5", "1.9"),
    ("乙算力", "6.8", "面议", "1.75"),
    ("丙智算", "—", "19", ""),
]


def settled(rows: Sequence[Sequence[str]], currency: str = "CNY") -> list[tuple[str, str | None, Fraction | None]]:
    """Seller, card and price of every offer of a table, in no order."""
    offers = read(table(rows), currency).offers
    found = [(one.seller, one.accelerator, one.price_per_accelerator_hour.amount) for one in offers]
    return sorted(found, key=str)


def test_every_cell_of_a_grid_of_sellers_and_cards_is_an_offer() -> None:
    quotes = read(table(SELLERS_BY_CARD))
    found = [
        (one.source.cell, one.seller, one.accelerator, one.price_per_accelerator_hour.amount) for one in quotes.offers
    ]
    assert found == [
        ("B3", "甲云", "A100-SXM4-80GB", Fraction("7.2")),
        ("C3", "甲云", "H100-SXM5-80GB", Fraction("18.5")),
        ("D3", "甲云", "RTX-4090", Fraction("1.9")),
        ("B4", "乙算力", "A100-SXM4-80GB", Fraction("6.8")),
        ("C4", "乙算力", "H100-SXM5-80GB", None),
        ("D4", "乙算力", "RTX-4090", Fraction("1.75")),
        ("C5", "丙智算", "H100-SXM5-80GB", Fraction(19)),
    ]
    assert {one.price_per_accelerator_hour.tax for one in quotes.offers} == {"in"}
    assert quotes.unread == ()


def test_a_grid_is_the_same_whatever_the_order_of_its_rows_and_columns() -> None:
    title, head, *rows = SELLERS_BY_CARD
    expected = settled(SELLERS_BY_CARD)
    for order in itertools.permutations(range(1, len(head))):
        columns = (0, *order)
        turned = [tuple(row[column] for column in columns) for row in (head, *rows)]
        assert settled([title, *turned]) == expected
    for order_of_rows in itertools.permutations(rows):
        assert settled([title, head, *order_of_rows]) == expected


@pytest.mark.parametrize("corner", ["", "厂商", "GPU", "价格(元/卡/时)"])
def test_names_below_any_corner_of_a_grid_of_cards_are_sellers(corner: str) -> None:
    rows = [("元/卡/时", "", ""), (corner, "H100", "H800"), ("甲云", "18", "14"), ("乙云", "17", "13")]
    offers = read(table(rows)).offers
    assert [(one.seller, one.price_per_accelerator_hour.amount) for one in offers] == [
        *(("甲云", Fraction(18)), ("甲云", Fraction(14)), ("乙云", Fraction(17)), ("乙云", Fraction(13)))
    ]


def test_headings_of_prices_may_be_sellers() -> None:
    rows = [
        ("GPU ($/GPU-hr)", "Acme Cloud", "Borealis", "Cirrus"),
        ("H100 SXM", "2.49", "2.29", "2.79"),
        ("H200", "3.49", "", "3.29"),
        ("A100 80GB", "1.39", "1.29", "contact us"),
    ]
    expected = [
        *(("Acme Cloud", "A100-SXM4-80GB", Fraction("1.39")), ("Acme Cloud", "H100-SXM5-80GB", Fraction("2.49"))),
        *(("Acme Cloud", "H200-SXM-141GB", Fraction("3.49")), ("Borealis", "A100-SXM4-80GB", Fraction("1.29"))),
        *(("Borealis", "H100-SXM5-80GB", Fraction("2.29")), ("Cirrus", "A100-SXM4-80GB", None)),
        *(("Cirrus", "H100-SXM5-80GB", Fraction("2.79")), ("Cirrus", "H200-SXM-141GB", Fraction("3.29"))),
    ]
    assert settled(rows, "USD") == sorted(expected, key=str)
    head, *below = rows
    for order in itertools.permutations(below):
        assert settled([head, *order], "USD") == sorted(expected, key=str)


def test_numbers_below_unknown_headings_are_no_prices_without_a_unit() -> None:
    rows = [("型号", "TDP", "核数", "单价"), ("H100", "700", "96", "18元/卡/时")]
    assert read_one(table(rows)).price_per_accelerator_hour.amount == 18
    quotes = read(table([("型号", "TDP", "核数"), ("H100", "700", "96"), ("H800", "700", "96")]))
    assert all(one.price_per_accelerator_hour.amount is None for one in quotes.offers)


TURNED = [
    ("型号", "A800 80G", "H800 80G"),
    ("配置", "8卡整机", "8卡整机"),
    ("单价（元/台/月）", "42000", "75000"),
    ("起租期", "1个月", "3个月"),
    ("现货", "6台", "2台"),
    ("税", "含税", "不含税(6%)"),
]


def test_a_turned_table_is_read_by_its_columns() -> None:
    # 42,000 / 8 / 730 and 75,000 / 8 / 730; 6 and 2 machines of 8 cards
    offers = read(table(TURNED)).offers
    assert [one.price_per_accelerator_hour.amount for one in offers] == [
        Fraction(42_000, 8 * MONTH_HOURS),
        Fraction(75_000, 8 * MONTH_HOURS),
    ]
    assert [one.source.cell for one in offers] == ["B3", "C3"]
    assert [one.count for one in offers] == [48, 16]
    assert [one.price_per_accelerator_hour.tax for one in offers] == ["in", "out"]
    assert [one.term.minimum_hours for one in offers if one.term] == [MONTH_HOURS, 3 * MONTH_HOURS]


def test_a_turned_table_is_the_same_whatever_the_order_of_its_rows_and_columns() -> None:
    expected = settled(TURNED)
    for order in itertools.permutations(TURNED):
        assert settled(list(order)) == expected
    assert settled([(first, third, second) for first, second, third in TURNED]) == expected


def test_a_corner_stands_for_the_card_where_cards_stand_beside_it() -> None:
    rows = [("项目", "A800 80G", "H800 80G"), *TURNED[1:]]
    assert settled(rows) == settled(TURNED)


def test_terms_below_each_other_are_prices_of_each_card() -> None:
    rows = [
        ("元/台/月", "", ""),
        ("付款", "A800 8卡", "H800 8卡"),
        ("月付", "43000", "78000"),
        ("年付", "38000", "70000"),
    ]
    offers = read(table(rows)).offers
    found = {(one.accelerator, one.pricing, one.price_per_accelerator_hour.amount) for one in offers}
    assert found == {
        ("A800-SXM4-80GB", "monthly", Fraction(43_000, 8 * MONTH_HOURS)),
        ("A800-SXM4-80GB", "yearly", Fraction(38_000, 8 * MONTH_HOURS)),
        ("H800-SXM5-80GB", "monthly", Fraction(78_000, 8 * MONTH_HOURS)),
        ("H800-SXM5-80GB", "yearly", Fraction(70_000, 8 * MONTH_HOURS)),
    }


def test_a_form_of_headings_and_values_is_one_offer() -> None:
    rows = [
        ("报价单", ""),
        ("供应商", "海川云"),
        ("GPU型号", "H800 80G"),
        ("配置", "8卡整机，8×400G IB"),
        ("数量", "16台"),
        ("单价", "7.5万元/台/月"),
        ("租期", "12个月"),
        ("注：不含存储", ""),
    ]
    offer = read_one(table(rows))
    assert offer.seller == "海川云"
    assert offer.source.cell == "B6"
    assert offer.price_per_accelerator_hour.amount == Fraction(75_000, 8 * MONTH_HOURS)
    assert offer.count == 16 * 8


def test_forms_below_each_other_are_an_offer_each() -> None:
    forms = [
        *(("供应商", "甲云"), ("型号", "H800"), ("单价", "14元/卡/时")),
        *(("供应商", "乙云"), ("型号", "H100"), ("单价", "18元/卡/时")),
    ]
    assert settled(forms) == [("乙云", "H100-SXM5-80GB", Fraction(18)), ("甲云", "H800-SXM5-80GB", Fraction(14))]


def test_a_column_beside_a_turned_table_is_named() -> None:
    rows = [(*row, "询价中" if number == 2 else "") for number, row in enumerate(TURNED)]
    quotes = read(table(rows))
    assert len(quotes.offers) == 2
    assert [one.cell for one in quotes.unread] == ["D3"]


QUANTITIES = [
    ("H系列整机月租（单位：万元/台/月，不含税）", "", "", ""),
    ("型号", "1-7台", "8台以上", "备注"),
    ("H100 8卡", "8.2", "7.8", "8×400G IB"),
    ("H800 8卡", "7.6", "面议", "RoCE"),
]


def test_quantities_head_prices_that_hold_for_so_many() -> None:
    # 82,000 / 8 / 730; eight machines of eight cards are 64
    offers = read(table(QUANTITIES)).offers
    assert [(one.price_per_accelerator_hour.amount, one.minimum_count) for one in offers] == [
        (Fraction(82_000, 8 * MONTH_HOURS), 8),
        (Fraction(78_000, 8 * MONTH_HOURS), 64),
        (Fraction(76_000, 8 * MONTH_HOURS), 8),
        (None, 64),
    ]
    assert [one.note for one in offers[:2]] == ["1-7台; 8×400G IB", "8台以上; 8×400G IB"]
    assert all("quantity_tier" in one.flags for one in offers)


def test_quantities_may_count_cards() -> None:
    rows = [
        ("GPU", "8-63 GPUs", "64-255 GPUs", "256+ GPUs"),
        ("Prices in $ per GPU-hour, 12-month term", "", "", ""),
        ("H100 SXM5", "2.45", "2.25", "2.05"),
    ]
    offers = read(table(rows), "USD").offers
    assert [(one.price_per_accelerator_hour.amount, one.minimum_count) for one in offers] == [
        (Fraction("2.45"), 8),
        (Fraction("2.25"), 64),
        (Fraction("2.05"), 256),
    ]


@pytest.mark.parametrize("corner", ["", "卡型"])
def test_a_grid_of_terms_needs_no_heading_above_its_cards(corner: str) -> None:
    rows = [
        ["单卡月租（元/卡/月，含税）"],
        [corner, "1个月", "12个月"],
        ["H100", "10500", "9300"],
        ["A100 80G", "5200", "4500"],
    ]
    offers = read(table(rows)).offers
    assert [(offer.source.cell, offer.price_per_accelerator_hour.amount) for offer in offers] == [
        ("B3", Fraction(10_500, 730)),
        ("C3", Fraction(9_300, 730)),
        ("B4", Fraction(5_200, 730)),
        ("C4", Fraction(4_500, 730)),
    ]
    assert [offer.term.minimum_hours if offer.term else None for offer in offers] == [730, 12 * 730] * 2
    assert {offer.price_per_accelerator_hour.tax for offer in offers} == {"in"}


@pytest.mark.parametrize(
    ("title", "head", "row", "prices"),
    [
        # 96 for eight cards an hour is 12 a card-hour, whatever discount that is
        ("单位：元/小时", ("型号", "1卡", "8卡"), ("H800", "12.5", "96"), [Fraction("12.5"), Fraction(96, 8)]),
        ("单位：元/小时", ("型号", "单卡", "整机"), ("H800", "12.5", "96"), [Fraction("12.5"), Fraction(96, 8)]),
        ("Prices in CNY/hour", ("GPU", "1 GPU", "8 GPUs"), ("H800", "12", "88"), [Fraction(12), Fraction(88, 8)]),
        ("单位：元/小时", ("型号", "1x", "4x"), ("H800", "12", "46"), [Fraction(12), Fraction(46, 4)]),
        (
            "单位：元/月",
            ("型号", "8卡", "16卡"),
            ("H800", "72000", "140000"),
            [Fraction(72_000, 8 * 730), Fraction(140_000, 16 * 730)],
        ),
    ],
)
def test_columns_of_so_many_cards_are_prices_for_so_many(
    title: str, head: tuple[str, ...], row: tuple[str, ...], prices: list[Fraction]
) -> None:
    offers = read(table([(title,), head, row])).offers
    assert [one.price_per_accelerator_hour.amount for one in offers] == prices
    assert all("quantity_tier" not in one.flags for one in offers)


@pytest.mark.parametrize(
    ("title", "row"), [("单位：元/卡/小时", ("H800", "12.5", "11.5")), ("单位：元/小时", ("H800", "12.5", "12.5"))]
)
def test_prices_that_do_not_rise_with_the_cards_are_per_card(title: str, row: tuple[str, ...]) -> None:
    offers = read(table([(title,), ("型号", "1卡", "8卡"), row])).offers
    assert [one.price_per_accelerator_hour.amount for one in offers] == [Fraction(row[1]), Fraction(row[2])]
    assert [one.minimum_count for one in offers] == [1, 8]


def test_a_total_beside_the_prices_of_a_grid_is_named() -> None:
    quotes = read(table([("供应商", "H100(元/卡/时)", "H800(元/卡/时)", "合计"), ("甲云", "12", "11", "23")]))
    assert sorted(one.price_per_accelerator_hour.amount or 0 for one in quotes.offers) == [11, 12]
    assert [(one.cell, str(one.reason)) for one in quotes.unread] == [
        ("D2", str(Message("a total: the offers that it sums up are read one by one")))
    ]

"""Tables side by side, headings that are only a unit, and lines that begin a section."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.market.quotes.samples import read, read_one, table


def test_tables_side_by_side_are_read_each() -> None:
    head = ("型号", "价格(元/卡/时)", "", "型号", "价格(元/卡/时)")
    offers = read(table([head, ("H800", "11.5", "", "A800", "7"), ("H20", "6", "", "", "")])).offers
    found = [(one.accelerator, one.source.cell, one.price_per_accelerator_hour.amount) for one in offers]
    assert found[:2] == [("H800-SXM5-80GB", "B2", Fraction("11.5")), ("A800-SXM4-80GB", "E2", Fraction(7))]
    assert [(cell, amount) for _, cell, amount in found[2:]] == [("B3", Fraction(6))]


def test_what_stands_around_tables_side_by_side_holds_for_each() -> None:
    head = ("供应商", "型号", "价格", "型号", "价格", "单位")
    offers = read(table([head, ("甲云", "H800", "11.5", "A800", "7", "元/卡/时")])).offers
    assert [(one.seller, one.price_per_accelerator_hour.amount) for one in offers] == [
        ("甲云", Fraction("11.5")),
        ("甲云", Fraction(7)),
    ]


def test_a_price_beside_no_card_is_named() -> None:
    head = ("型号", "价格(元/卡/时)", "型号", "价格(元/卡/时)")
    quotes = read(table([head, ("H800", "11.5", "", "7")]))
    assert [one.source.cell for one in quotes.offers] == ["B2"]
    assert [one.cell for one in quotes.unread] == ["D2"]


def test_two_columns_on_one_card_are_no_tables_side_by_side() -> None:
    row = ("A100 PCIe 40G", "单机8卡", "28000", "元/台/月")
    offer = read_one(table([("产品名称", "GPU型号", "价格", "单位"), row]))
    assert offer.price_per_accelerator_hour.amount == Fraction(28_000, 8 * 730)


@pytest.mark.parametrize(
    ("card", "heading", "written", "amount"),
    [
        ("H800", "元/卡/时", "11.5", Fraction("11.5")),
        ("H800 8卡", "万元/台/月", "6.7", Fraction(67_000, 8 * 730)),
        ("H100", "USD/GPU-hour", "2.5", Fraction("2.5")),
        ("H100", "$/GPU-hr", "2.5", Fraction("2.5")),
        ("H100", "$ per GPU-hour", "2.5", Fraction("2.5")),
    ],
)
def test_a_heading_that_is_only_a_unit_heads_prices(card: str, heading: str, written: str, amount: Fraction) -> None:
    currency = "CNY" if "元" in heading else "USD"
    offer = read_one(table([("型号", heading), (card, written)]), currency)
    assert offer.price_per_accelerator_hour.amount == amount
    assert offer.quoted_currency == currency


@pytest.mark.parametrize(("heading", "yearly"), [("元/P/月", 9_000 * 12), ("万元/年/P", 9 * 10_000)])
def test_a_price_per_p_may_be_all_that_a_heading_says(heading: str, yearly: int) -> None:
    # 8,760 h a year; an H800 has 0.9895 dense FP16 PFLOP/s in its data sheet
    written = "9000" if "月" in heading else "9"
    offer = read_one(table([("型号", heading), ("H800", written)]))
    assert offer.price_per_accelerator_hour.amount is not None
    assert float(offer.price_per_accelerator_hour.amount) == pytest.approx(yearly / 8_760 * 0.9895, rel=1e-3)


def test_prices_by_hour_day_and_month_are_offers_each() -> None:
    offers = read(table([("型号", "小时价", "日价", "月价"), ("H800", "12元/卡", "264元/卡", "8030元/卡")])).offers
    assert [one.price_per_accelerator_hour.amount for one in offers] == [12, Fraction(264, 24), Fraction(8_030, 730)]


def test_a_line_of_one_company_begins_its_section() -> None:
    rows = [
        ("甲公司", "", ""),
        ("型号", "数量", "月租(元/台)"),
        ("H800 8卡", "10", "68000"),
        ("乙公司", "", ""),
        ("型号", "数量", "月租(元/台)"),
        ("H800 8卡", "4", "70000"),
    ]
    quotes = read(table(rows))
    assert [one.seller for one in quotes.offers] == ["甲公司", "乙公司"]
    assert quotes.unread == ()


def test_a_section_in_another_currency_counts_more_than_the_heading() -> None:
    rows = [
        ("型号", "月租(元/台)"),
        ("H800 8卡", "70000"),
        ("美元报价 (USD)", ""),
        ("H100 8卡", "11500"),
        ("人民币报价", ""),
        ("H800 8卡", "71000"),
    ]
    quotes = read(table(rows))
    assert [one.quoted_currency for one in quotes.offers] == ["CNY", "USD", "CNY"]
    assert quotes.unread == ()


@pytest.mark.parametrize("price", ["面议", "12-15", "3.5起"])
def test_a_row_with_its_unit_is_no_heading(price: str) -> None:
    rows = [
        ("型号", "配置", "价格", "单位", "税"),
        ("P40", "节点", price, "元/卡/时", "含税"),
        ("H800", "", "12", "元/卡/时", ""),
    ]
    assert [one.source.row for one in read(table(rows)).offers] == [2, 3]


def test_a_range_and_a_unit_behind_a_slash_are_a_rows() -> None:
    head = ("型号", "配置", "价格", "单位", "计费方式", "起租期", "税", "备注", "供应商")
    row = ("P40", "", "12-15", "/GPU/hr", "月付", "3个月", "含税", "押一付三", "甲")
    assert [one.source.row for one in read(table([head, row])).offers] == [2]


MERGED = ["供应商", "型号", "规格", "租期", "价格(元/台/月)", "含税"]


def test_blanks_at_the_start_of_a_row_are_the_cells_above() -> None:
    quotes = read(
        table(
            [
                MERGED,
                ["远山科技", "H100", "8卡", "1年", "82000", "是"],
                ["", "", "", "2年", "76000", "是"],
                ["远山科技", "H200", "8卡", "1年", "99000", "是"],
                ["", "", "", "2年", "92000", "是"],
                ["近水数据", "H100", "8卡", "1年", "80500", "否"],
            ]
        )
    )
    assert [
        (offer.seller, offer.accelerator_as_written, offer.term.minimum_hours / 8760 if offer.term else None)
        for offer in quotes.offers
    ] == [
        ("远山科技", "H100", 1),
        ("远山科技", "H100", 2),
        ("远山科技", "H200", 1),
        ("远山科技", "H200", 2),
        ("近水数据", "H100", 1),
    ]
    assert quotes.offers[1].price_per_accelerator_hour.amount == Fraction(76_000, 8 * 730)
    assert quotes.unread == ()
    assert [one.values["cell"] for one in quotes.assumptions if "the blanks at the start" in one.key] == ["3"]


@pytest.mark.parametrize(
    "row",
    [
        ["", "", "", "", "158000", ""],
        ["", "", "", "1年", "158000", "是"],
        ["", "", "", "", "0.5元/GB/月", "对象存储"],
        ["", "", "", "2年", "76000", ""],
    ],
    ids=["a-sum", "the-same-term-again", "another-good", "a-cell-less"],
)
def test_a_row_of_another_shape_is_not_filled_from_above(row: list[str]) -> None:
    quotes = read(table([MERGED, ["远山科技", "H100", "8卡", "1年", "82000", "是"], row]))
    assert len(quotes.offers) == 1
    assert [one.cell[-1] for one in quotes.unread] == ["3"]


def test_blanks_below_a_gap_are_not_filled() -> None:
    rows = [MERGED, ["远山科技", "H100", "8卡", "1年", "82000", "是"], [], ["", "", "", "2年", "76000", "是"]]
    assert len(read(table(rows)).offers) == 1


def test_a_blank_beside_a_card_is_a_blank() -> None:
    rows = [MERGED, ["远山科技", "H100", "8卡", "1年", "82000", "是"], ["", "H200", "", "2年", "99000", "是"]]
    first, second = read(table(rows)).offers
    assert first.seller == "远山科技"
    assert second.seller != "远山科技"

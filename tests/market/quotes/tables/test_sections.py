"""Lines below a table, headings that alone name the card, and lists of parts."""

from __future__ import annotations

from fractions import Fraction

import pytest

from suanpei.market.quotes.document import Document
from tests.market.quotes.samples import read, table, text

HEAD = ("型号", "单价(元/台/月)", "数量(台)", "网络")
ROWS = (("H800 8卡", "75000", "4", "8×400G IB"), ("A800 8卡", "38000", "10", "4×200G IB"))


def said_by(quotes: object) -> list[str]:
    return [
        one.values["cell"]
        for one in quotes.assumptions  # type: ignore[attr-defined]
        if one.key == "{file} {cell}: '{words}' is taken for the offers that it stands with"
    ]


@pytest.mark.parametrize(
    ("line", "tax", "rate", "deposit"),
    [
        (("含税6%，押一付三",), "in", "0.06", 1),
        (("不含税",), "out", None, None),
        (("VAT 13% included", ""), "in", "0.13", None),
        (("税率", "含6%专票"), "in", "0.06", None),
        (("押一付三", ""), "unknown", None, 1),
    ],
)
def test_the_last_line_holds_for_the_rows_above(
    line: tuple[str, ...], tax: str, rate: str | None, deposit: int | None
) -> None:
    quotes = read(table([HEAD, *ROWS, line]))
    assert len(quotes.offers) == 2
    for offer in quotes.offers:
        price = offer.price_per_accelerator_hour
        assert (price.tax, None if price.tax_rate is None else str(price.tax_rate)) == (tax, rate)
        assert offer.payment.deposit_months == deposit
    assert said_by(quotes) == ["A4"]
    assert quotes.unread == ()


def test_the_last_line_names_the_currency() -> None:
    rows = [("GPU", "Price (per GPU-hour)"), ("H100 SXM 80GB", "2.35"), ("Currency: EUR. VAT not included.",)]
    (offer,) = read(table(rows), "EUR").offers
    assert (offer.quoted_currency, offer.price_per_accelerator_hour.tax) == ("EUR", "out")
    assert "currency_missing_inferred" not in offer.flags


def test_what_a_row_says_itself_counts_more_than_the_last_line() -> None:
    rows = [("型号", "价格(元/卡/时)", "税"), ("H800", "12", "不含税"), ("A800", "6", ""), ("含税6%", "", "")]
    first, second = (offer.price_per_accelerator_hour for offer in read(table(rows)).offers)
    assert (first.tax, second.tax) == ("out", "in")


def test_a_last_line_that_names_a_price_holds_for_nothing_above() -> None:
    quotes = read(table([HEAD, *ROWS, ("加带宽 5000元/月 不含税",)]))
    assert {offer.price_per_accelerator_hour.tax for offer in quotes.offers} == {"unknown"}
    assert [one.cell for one in quotes.unread] == ["A4"]


def test_the_last_line_is_of_the_last_seller() -> None:
    rows = [HEAD, ("甲公司",), ROWS[0], ("乙公司",), ROWS[1], ("含税6%",)]
    assert [(one.seller, one.price_per_accelerator_hour.tax) for one in read(table(rows)).offers] == [
        ("甲公司", "unknown"),
        ("乙公司", "in"),
    ]


def test_a_line_right_below_a_table_is_not_of_the_next() -> None:
    rows = [HEAD, ROWS[0], ("含税6%",), (), ("型号", "价格(元/台/月)"), ("H20 8卡", "52000")]
    assert [one.price_per_accelerator_hour.tax for one in read(table(rows)).offers] == ["in", "unknown"]


def test_a_line_right_above_a_table_is_of_it() -> None:
    rows = [HEAD, ROWS[0], (), ("含税6%",), ("型号", "价格(元/台/月)"), ("H20 8卡", "52000")]
    assert [one.price_per_accelerator_hour.tax for one in read(table(rows)).offers] == ["unknown", "in"]


@pytest.mark.parametrize(
    ("heading", "card"),
    [
        ("H100", "H100-SXM5-80GB"),
        ("【A800 80G】", "A800-SXM4-80GB"),
        ("H800 SXM 80GB 报价", "H800-SXM5-80GB"),
        ("二、H20 96G 租赁价格", "H20-SXM5-96GB"),
    ],
)
def test_a_heading_names_the_card_of_the_rows_below(heading: str, card: str) -> None:
    rows = [(heading,), ("服务商", "价格(元/卡/时)", "租期"), ("甲云", "15", "月付"), ("乙云", "14.5", "年付")]
    quotes = read(table(rows))
    assert [(one.seller, one.accelerator, one.price_per_accelerator_hour.amount) for one in quotes.offers] == [
        ("甲云", card, 15),
        ("乙云", card, Fraction("14.5")),
    ]
    assert said_by(quotes) == ["A1"]
    assert quotes.unread == ()


def test_a_heading_of_text_names_the_card_of_the_table_below_it() -> None:
    above = text("H100\n\n2026年11月").sheets[0]
    below = table([("Provider", "$/GPU-hr", "Term"), ("Northwind", "2.35", "1 month")]).sheets[0]
    offers = read(Document(file="market.md", sheets=(above, below)), "USD").offers
    assert [(one.accelerator, one.price_per_accelerator_hour.amount) for one in offers] == [
        ("H100-SXM5-80GB", Fraction("2.35"))
    ]


def test_each_heading_holds_for_its_own_section() -> None:
    head = ("服务商", "价格(元/卡/时)")
    rows = [("H100",), head, ("甲云", "18"), ("A800 80G",), head, ("甲云", "6"), ("含税6%",), ("乙云", "5.8")]
    offers = read(table(rows)).offers
    assert [one.accelerator for one in offers] == ["H100-SXM5-80GB", "A800-SXM4-80GB", "A800-SXM4-80GB"]
    assert [one.price_per_accelerator_hour.tax for one in offers] == ["unknown", "unknown", "in"]


@pytest.mark.parametrize("heading", ["H100/H200 报价", "H100 配套存储报价", "H100 面议", "求租 H100"])
def test_a_line_that_is_no_heading_of_one_card_names_none(heading: str) -> None:
    quotes = read(table([(heading,), ("服务商", "价格(元/卡/时)"), ("甲云", "15")]))
    assert not [one for one in quotes.offers if one.source.row == 3]
    assert "A3" in {one.cell for one in quotes.unread}


def test_a_heading_is_no_card_of_a_row_that_leaves_its_card_blank() -> None:
    rows = [("H100 报价",), ("型号", "价格(元/台/月)"), ("A800 8卡", "38000"), ("", "158000")]
    quotes = read(table(rows))
    assert [one.accelerator for one in quotes.offers] == ["A800-SXM4-80GB"]
    assert {one.cell for one in quotes.unread} == {"A1", "B4"}


def test_another_section_ends_the_heading_of_a_card() -> None:
    rows = [("H100",), ("服务商", "价格"), ("甲云", "18元/卡/时"), (), ("存储",), ("对象存储", "0.12元/GB/月")]
    quotes = read(table(rows))
    assert [one.source.row for one in quotes.offers] == [3]
    assert {one.cell for one in quotes.unread} == {"A5", "A6"}


PARTS = (("CPU", "Intel Xeon 8480+", "2"), ("内存", "64GB DDR5", "32"), ("硬盘", "3.84TB NVMe", "4"))


def test_a_list_of_parts_is_no_offer() -> None:
    quotes = read(table([("部件", "型号", "数量"), *PARTS, ("GPU", "NVIDIA H100 80GB SXM5", "8")]))
    assert quotes.offers == ()
    assert quotes.questions == ()
    assert [(one.cell, one.reason.key.split(":")[0]) for one in quotes.unread] == [
        ("A2", "a part of a machine, nothing that is rented by itself"),
        ("A3", "a part of a machine, nothing that is rented by itself"),
        ("A4", "a part of a machine, nothing that is rented by itself"),
        ("5", "the card of a list of a machine's parts, without a price"),
    ]


def test_a_machine_with_a_price_above_its_parts_is_an_offer() -> None:
    quotes = read(table([("名称", "型号", "月租(元/台)"), ("GPU服务器", "8×H800 80G", "75000"), *PARTS]))
    assert [one.price_per_accelerator_hour.amount for one in quotes.offers] == [Fraction(75_000, 8 * 730)]
    assert [one.cell for one in quotes.unread] == ["A3", "A4", "A5"]


def test_columns_of_parts_are_headings() -> None:
    rows = [("型号", "CPU", "内存", "硬盘", "月租(元/台)"), ("H800 8卡", "2*8480", "2T", "4*3.84T", "75000")]
    (offer,) = read(table(rows)).offers
    assert offer.price_per_accelerator_hour.amount == Fraction(75_000, 8 * 730)


def test_a_heading_names_its_card_only_as_what_money_is_for() -> None:
    head = ("Provider", "On-demand $/GPU-hr", "1-year reserved $/GPU-hr", "Interconnect")
    rows = [("H100 SXM5 80GB",), head, ("Bluefin Cloud", "2.99", "2.10", "400G RoCE")]
    offers = read(table(rows), "USD").offers
    assert [(one.accelerator, one.price_per_accelerator_hour.amount) for one in offers] == [
        ("H100-SXM5-80GB", Fraction("2.99")),
        ("H100-SXM5-80GB", Fraction("2.1")),
    ]


@pytest.mark.parametrize(
    ("cell", "is_in"), [("另计", False), ("不含", False), ("包含", True), ("含", True), ("", None)]
)
def test_a_column_says_whether_power_is_in(cell: str, is_in: bool | None) -> None:
    (offer,) = read(table([("型号", "月租(元/台)", "电费"), ("H800 8卡", "75000", cell)])).offers
    assert offer.charges.includes_power is is_in


def test_a_line_that_speaks_of_the_rows_above_is_of_none_below() -> None:
    rows = [
        ("供应商", "型号", "价格(元/卡时)"),
        ("甲", "H100", "15"),
        ["以上含税"],
        ("乙", "H100", "14"),
        ["以上不含税"],
        ("丙", "H100", "13"),
    ]
    offers = read(table(rows)).offers
    assert [one.price_per_accelerator_hour.tax for one in offers] == ["in", "out", "unknown"]


@pytest.mark.parametrize("notes", [("注：以上含税6%", "注：以上不含税"), ("备注：不含税", "备注：含税13%")])
def test_notes_that_contradict_each_other_leave_the_tax_open(notes: tuple[str, str]) -> None:
    rows = [("供应商", "型号", "价格(元/卡时)"), ("甲", "H100", "15"), *([one] for one in notes)]
    (offer,) = read(table(rows)).offers
    assert offer.price_per_accelerator_hour.tax == "unknown"
    assert "tax_notes_contradict" in offer.flags


def test_the_tax_of_a_row_counts_more_than_notes() -> None:
    rows = [("供应商", "型号", "价格(元/卡时)"), ("甲", "H100", "15 含税"), ["注：不含税"], ["注：含税"]]
    (offer,) = read(table(rows)).offers
    assert offer.price_per_accelerator_hour.tax == "in"
    assert "tax_notes_contradict" not in offer.flags

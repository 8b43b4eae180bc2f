from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from tests.market.quotes.samples import bundled, offer_of, read, read_one, table

HEADER = ("供应商", "型号", "配置", "价格", "单位")


def amount(value: str | int) -> Fraction:
    return Fraction(value)


def test_headings_stand_anywhere_and_in_any_order() -> None:
    offers = read(
        table(
            [
                ["某算力公司报价单"],
                [],
                ["报价日期：2026年11月", "有效期30天"],
                ["单位", "价格", "型号", "供应商", "配置"],
                ["元/台/月", "78000", "H800 80G", "甲", "8卡整机"],
            ]
        )
    ).offers
    (offer,) = offers
    assert offer.price_per_accelerator_hour.amount == amount(78_000) / 730 / 8
    assert (offer.seller, offer.source.cell, offer.source.row) == ("甲", "B5", 5)
    assert str(offer.quote_date) == "2026-11-01"
    assert str(offer.valid_until) == "2026-12-30"


def test_lines_that_are_no_offers_are_listed_with_their_reason() -> None:
    quotes = read(bundled("quotes_cn_messy.csv"))
    assert {(one.cell, one.reason.key) for one in quotes.unread} == {
        ("A1", "{kind} without terms or prices: {words}"),
        ("A20", "a total: the offers that it sums up are read one by one"),
        ("A21", "{kind} without terms or prices: {words}"),
    }
    assert [offer.source.row for offer in quotes.offers] == list(range(4, 19))


def test_repeated_headings_are_skipped() -> None:
    rows = [
        HEADER,
        ("甲", "H800", "8卡整机", "7.8万", "元/台/月"),
        HEADER,
        ("乙", "H20", "8卡整机", "5.2万", "元/台/月"),
    ]
    quotes = read(table(rows))
    assert [offer.seller for offer in quotes.offers] == ["甲", "乙"]
    assert quotes.unread == ()


def test_a_second_table_has_columns_of_its_own() -> None:
    quotes = read(
        table(
            [
                HEADER,
                ("甲", "H800", "8卡整机", "7.8万", "元/台/月"),
                [],
                ["海外资源（美元）"],
                ["GPU", "Price per GPU-hour", "Provider"],
                ["H100 SXM 80GB", "2.35", "Alpha"],
            ]
        )
    )
    assert [(offer.seller, offer.quoted_currency) for offer in quotes.offers] == [("甲", "CNY"), ("Alpha", "USD")]
    assert quotes.offers[1].price_per_accelerator_hour.amount == Fraction("2.35") * Fraction("7.2")


def test_remarks_hold_for_the_rows_that_they_speak_of() -> None:
    quotes = read(
        table(
            [
                ["单位：元/台/月"],
                ("供应商", "型号", "价格"),
                ("甲", "H800 8卡", "78000"),
                ["以下为美元报价"],
                ("乙", "H100 8卡", "12000"),
                ["以上价格均含税(6%)"],
            ]
        )
    )
    first, second = quotes.offers
    assert (first.quoted_currency, second.quoted_currency) == ("CNY", "USD")
    assert {offer.price_per_accelerator_hour.tax for offer in quotes.offers} == {"in"}
    assert first.price_per_accelerator_hour.amount_tax_out == amount(78_000) / 730 / 8 / Fraction("1.06")
    said = [str(message) for message in quotes.assumptions]
    assert any("A4: '以下为美元报价'" in message for message in said)
    assert any("A6: '以上价格均含税(6%)'" in message for message in said)


def test_a_heading_line_names_the_seller_of_its_section() -> None:
    rows = [
        ("型号", "价格", "单位"),
        ["【甲云】"],
        ("H800", "12", "元/卡/时"),
        ["供应商：乙云"],
        ("H800", "13", "元/卡/时"),
    ]
    assert [offer.seller for offer in read(table(rows)).offers] == ["甲云", "乙云"]


@pytest.mark.parametrize(
    ("headings", "cells", "amounts"),
    [
        (
            ("GPU", "On-demand", "1-year", "3-year"),
            ("H100 SXM 80GB", "$2.99", "$2.39", "$1.99"),
            ("2.99", "2.39", "1.99"),
        ),
        (("GPU", "Spot ($/GPU/hr)", "Price ($/GPU/hr)"), ("H100 SXM 80GB", "1.2", "2.4"), ("1.2", "2.4")),
    ],
)
def test_each_priced_column_is_an_offer(
    headings: tuple[str, ...], cells: tuple[str, ...], amounts: tuple[str, ...]
) -> None:
    offers = read(table([headings, cells]), "USD").offers
    assert [offer.price_per_accelerator_hour.amount for offer in offers] == [Fraction(one) for one in amounts]
    assert [offer.source.cell for offer in offers] == ["B2", "C2", "D2"][: len(amounts)]


def test_the_heading_of_a_priced_column_is_its_term() -> None:
    month, year = read(table([("型号", "1个月", "12个月"), ("H800 8卡整机", "7.8万", "6.5万")])).offers
    assert month.term is not None
    assert year.term is not None
    assert (month.term.minimum_hours, year.term.minimum_hours) == (730, 8_760)
    assert year.price_per_accelerator_hour.amount == amount(65_000) / 730 / 8
    assert "12_month_term" in year.flags


def test_a_heading_may_hold_unit_scale_and_tax() -> None:
    offer = offer_of({"型号": "H800 8卡", "不含税价(万元/台/月)": "7.8", "税率": "6%"})
    price = offer.price_per_accelerator_hour
    assert price.amount == amount(78_000) / 730 / 8
    assert (price.tax, price.amount_tax_in) == ("out", amount(78_000) / 730 / 8 * Fraction("1.06"))


def test_a_table_without_headings_is_read_where_its_cells_speak() -> None:
    quotes = read(table([("H800 80G", "8卡整机", "7.8万/月", "不含税"), ("A800", "8卡", "5.5万/台/月", "")]))
    assert [offer.price_per_accelerator_hour.amount for offer in quotes.offers] == [
        amount(78_000) / 730 / 8,
        amount(55_000) / 730 / 8,
    ]
    assert any("no heading stands above" in message.key for message in quotes.assumptions)


def test_a_table_without_headings_and_units_is_named() -> None:
    quotes = read(table([("H800 80G", "8卡整机", "78000", "16")]))
    assert quotes.offers == ()
    assert [one.cell for one in quotes.unread] == ["A1"]


def test_an_unknown_currency_is_named_and_the_rest_is_read() -> None:
    rows = [("型号", "价格", "单位"), ("A100 80G", "300日元", "/卡/时"), ("H800", "12元", "/卡/时")]
    quotes = read(table(rows))
    assert [offer.accelerator for offer in quotes.offers] == ["H800-SXM5-80GB"]
    (unread,) = quotes.unread
    assert (unread.cell, unread.reason.values["currency"]) == ("B2", "JPY")


def test_a_row_without_a_card_is_named() -> None:
    quotes = read(table([("型号", "价格", "单位", "备注"), ("", "0.5", "元/GB/月", "对象存储价格")]))
    assert quotes.offers == ()
    assert [one.cell for one in quotes.unread] == ["B2", "1"]  # and the headings, below which no offer stands


def test_headings_without_an_offer_are_named_whatever_else_is() -> None:
    quotes = read(table([("型号", "价格", "备注"), ("GPU", "", "报价"), ("", "", "无意义")]))
    assert quotes.offers == ()
    assert {"1", "2"} <= {one.cell for one in quotes.unread}


@pytest.mark.parametrize("word", ["面议", "电议", "Contact sales", "TBD", ""])
def test_a_missing_price_is_an_offer_without_one(word: str) -> None:
    offer = offer_of({"型号": "H800", "价格": word, "单位": "元/卡/时"})
    assert offer.price_per_accelerator_hour.amount is None
    assert "price_missing" in offer.flags
    assert offer.readings == ()


def test_a_row_of_one_card_and_no_price_is_kept() -> None:
    assert "price_missing" in read_one(table([("型号", "价格"), ("H800", "")])).flags


def test_nothing_on_hand_is_flagged_and_counted_zero() -> None:
    header = ("型号", "hour_price(元/台/时)", "gpu_num", "idle")
    free, taken = read(table([header, ("A100 80G", "46.4", "8", "1"), ("A100 80G", "40", "8", "0")])).offers
    assert (free.count, taken.count) == (8, 0)
    assert "none_on_hand" in taken.flags
    assert free.price_per_accelerator_hour.amount == Fraction("46.4") / 8


def test_of_two_columns_on_cards_the_one_that_names_it_counts() -> None:
    row = {"产品名称": "A100 PCIe 40G", "GPU型号": "单机8卡", "价格": "28000", "单位": "元/台/月"}
    for offer in (offer_of(row), offer_of(dict(reversed(row.items())))):
        assert (offer.accelerator, offer.accelerators_per_unit) == ("A100-PCIe-40GB", 8)


def test_more_cards_than_a_machine_holds_are_on_hand() -> None:
    offer = offer_of({"型号": "H800", "卡数": "256", "单价": "65000", "计价单位": "元/月/台(8卡)"})
    assert (offer.count, offer.accelerators_per_unit) == (256, 8)
    assert offer.price_per_accelerator_hour.amount == amount(65_000) / 730 / 8


@pytest.mark.parametrize(
    "title", ["GPU报价单", "2026年显卡租赁价格表", "H800/A800 GPU 集群报价", "GPU rental price list"]
)
def test_a_title_that_names_cards_is_no_unit(title: str) -> None:
    row = ("望江租赁", "4090 48G(改)", "8卡整机", "12600", "元/月")
    (offer,) = read(table([[title], ["供应商", "型号", "配置", "报价", "单位"], row])).offers
    assert offer.price_per_accelerator_hour.amount == Fraction(12600, 8 * 730)
    assert len(offer.readings) == 2


def test_a_remark_that_gives_the_unit_holds() -> None:
    rows = [["单位：元/台/月"], ["供应商", "型号", "配置", "报价"], ["甲云", "H800", "8卡", "78000"]]
    (offer,) = read(table(rows)).offers
    assert offer.price_per_accelerator_hour.amount == Fraction(78000, 8 * 730)


@pytest.mark.parametrize(
    ("quantity", "remark", "count"),
    [
        ("无", "", 0),
        ("暂无", "", 0),
        ("售罄", "", 0),
        ("12月底到", "", 0),
        ("4台", "暂无现货，12月底到货", 0),
        ("4台", "没现货，要等12月底", 0),
        ("4台", "", 32),
        ("4台", "12月底再到货10台", 32),
        ("-", "", None),
        ("", "", None),
    ],
)
def test_stock_said_to_be_gone_is_none(quantity: str, remark: str, count: int | None) -> None:
    row = {"型号": "A800 80G", "配置": "8卡整机", "数量": quantity, "报价": "4万", "单位": "元/台/月", "备注": remark}
    offer = offer_of(row)
    assert offer.count == count
    assert ("none_on_hand" in offer.flags) == (count == 0)
    assert ("no_quantity" in offer.flags) == (count is None)


_ROW = ("1", "H20 96G", "8卡", "30")


@pytest.mark.parametrize(
    "heads",
    [
        # merged cells repeated, as a workbook is read
        [
            ("序号", "GPU型号", "服务器配置", "数量(台)", "月租(元/台/月)", "月租(元/台/月)", "起租期"),
            ("序号", "GPU型号", "服务器配置", "数量(台)", "不含税", "含税(6%)", "起租期"),
        ],
        # merged cells left blank, as a workbook is saved as text
        [
            ("序号", "GPU型号", "服务器配置", "数量(台)", "月租(元/台/月)", "", "起租期"),
            ("", "", "", "", "不含税", "含税(6%)", ""),
        ],
    ],
)
def test_two_rows_of_headings_are_one(heads: list[tuple[str, ...]]) -> None:
    title = ("星河算力租赁报价单",) * 7
    quotes = read(table([title, *heads, (*_ROW, "48000", "50880", "6个月")]))
    (offer,) = quotes.offers
    price = offer.price_per_accelerator_hour
    assert price.amount_tax_in == amount(50_880) / 730 / 8
    assert price.amount_tax_out == amount(48_000) / 730 / 8
    assert (offer.source.cell, offer.count) == ("F4", 240)
    assert not {"quantity_unit_missing", "unit_missing_inferred"} & set(offer.flags)
    assert (offer.seller, quotes.unread) == ("星河算力", ())


@pytest.mark.parametrize(
    ("headings", "prices", "kept"),
    [
        (("月租(元/台/月)不含税", "月租(元/台/月)含税6%"), ("48000", "50880"), [("F2", "in", "0.06")]),
        (("月租(元/台/月)不含税6%", "月租(元/台/月)含税"), ("48000", "50880"), [("E2", "out", "0.06")]),
        (("月租(元/台/月)不含税", "月租(元/台/月)含税"), ("48000", "50880"), [("F2", "in", "0.06")]),
        (("月租(元/台/月)不含税", "月租(元/台/月)含税"), ("48000", "50900"), [("E2", "out", None), ("F2", "in", None)]),
        (
            ("月租(元/台/月)不含税", "月租(元/台/月)含税13%"),
            ("48000", "50880"),
            [("E2", "out", None), ("F2", "in", "0.13")],
        ),
    ],
)
def test_a_price_with_and_without_tax_is_one_offer(
    headings: tuple[str, str], prices: tuple[str, str], kept: list[tuple[str, str, str | None]]
) -> None:
    offers = read(table([("序号", "型号", "配置", "台数", *headings), (*_ROW, *prices)])).offers
    told = [
        (one.source.cell, one.price_per_accelerator_hour.tax, one.price_per_accelerator_hour.tax_rate) for one in offers
    ]
    assert told == [(cell, tax, None if rate is None else Decimal(rate)) for cell, tax, rate in kept]
    assert all(("tax_sides_differ" in one.flags) == (len(kept) == 2) for one in offers)


@pytest.mark.parametrize("word", ["同上", "″", "〃", '"'])
def test_a_ditto_takes_the_cell_above(word: str) -> None:
    rows = [
        ("型号", "配置", "报价", "单位"),
        ("H800 80G", "8卡整机", "7.8万", "元/台/月"),
        ("H20 96G", word, "5万", word),
        ("A800 80G", word, "4万", word),
    ]
    offers = read(table(rows)).offers
    assert [one.price_per_accelerator_hour.amount for one in offers] == [
        amount(rent) / 730 / 8 for rent in (78_000, 50_000, 40_000)
    ]


@pytest.mark.parametrize("heading", ["每台GPU", "单机卡数", "每台卡数"])
def test_cards_of_a_machine_have_a_column(heading: str) -> None:
    offer = offer_of({"型号": "RTX 4090", heading: "10", "月租": "1.2万", "单位": "元/台/月"})
    assert (offer.accelerator, offer.accelerators_per_unit) == ("RTX-4090", 10)
    assert offer.price_per_accelerator_hour.amount == amount(12_000) / 730 / 10


@pytest.mark.parametrize(
    ("heading", "count"),
    [("可用台数", 160), ("数量(台)", 160), ("节点数", 160), ("可用卡数(张)", 20), ("库存(卡)", 20)],
)
def test_the_heading_says_what_the_quantity_counts(heading: str, count: int) -> None:
    row = {"型号": "H800 80G", "配置": "8卡整机", heading: "20", "报价": "12", "单位": "元/卡/时"}
    offer = offer_of(row)
    assert (offer.count, "quantity_unit_missing" in offer.flags) == (count, False)


@pytest.mark.parametrize(
    ("heading", "hours"), [("月租(元/台)", 730), ("月租金（元/台）", 730), ("年租(元/台)", 8_760), ("日租(元/台)", 24)]
)
def test_a_rent_per_machine_says_its_time(heading: str, hours: int) -> None:
    offer = offer_of({"型号": "H800 80G", "配置": "8卡整机", heading: "78000"})
    assert offer.price_per_accelerator_hour.amount == amount(78_000) / hours / 8
    assert not {"unit_missing", "unit_missing_inferred"} & set(offer.flags)


def test_an_unknown_card_without_a_price_is_no_heading() -> None:
    rows = [("型号", "配置", "价格", "单位", "计费方式", "税"), ("P40", "8卡整机", "", "/GPU/hr", "月付", "含税")]
    priced = ("H800 80G", "8卡整机", "78000", "元/台/月", "月付", "含税")
    quotes = read(table([*rows, priced]))
    unknown, known = quotes.offers
    assert {"unknown_card", "price_missing"} <= set(unknown.flags)
    assert (unknown.source.row, known.price_as_written) == (2, "78000")


def test_rows_with_a_unit_among_their_cells_are_no_headings_of_two_lines() -> None:
    head = ("型号", "配置", "价格", "单位", "计费方式", "起租期")
    rows = [
        ("P40", "8卡整机", "含税", "月付", "元/台/月", "3个月"),
        ("8卡整机", "12-15", "H800 80G", "元/台/月", "月付", "3个月"),
        ("H800", "8卡整机", "78000", "元/台/月", "月付", "3个月"),
    ]
    assert [one.source.row for one in read(table([head, *rows])).offers] == [2, 3, 4]


@pytest.mark.parametrize(
    "heading",
    [
        "Preis pro Stunde (netto, zzgl. 19 % MwSt., zahlbar monatlich)",
        "单价（元/台/月，不含税，税率19%，含机柜、电费及7×24小时驻场运维服务）",
        "Price per node per hour [excluding 19% VAT, billed in arrears, EUR]",
    ],
)
def test_a_heading_may_say_much_in_brackets(heading: str) -> None:
    rows = [["GPU", "Knoten", heading, "Mindestlaufzeit"], ["H100 SXM5 80 GB", "8 GPUs", "19,60 €", "6 Monate"]]
    offer = read_one(table(rows), "EUR")
    assert offer.source.cell == "C2"
    assert offer.accelerators_per_unit == 8
    assert offer.term is not None
    assert offer.term.minimum_hours == 6 * 730
    assert (offer.price_per_accelerator_hour.tax, offer.price_per_accelerator_hour.tax_rate) == ("out", Decimal("0.19"))


@pytest.mark.parametrize(
    "good",
    ["存储", "公网带宽", "CPU服务器 64核256G", "管理节点", "IB交换机", "Parallel storage", "Load balancer", "技术支持"],
)
def test_what_is_rented_beside_the_cards_is_no_offer(good: str) -> None:
    quotes = read(table([["资源类型", "单价", "单位"], ["H100 8卡", "80000", "元/台/月"], [good, "1500", "元/台/月"]]))
    assert [offer.accelerator for offer in quotes.offers] == ["H100-SXM5-80GB"]
    (unread,) = quotes.unread
    assert (unread.cell, unread.reason.key) == ("A3", "rented beside the cards, no card itself: {words}")


def test_a_card_that_is_not_known_stays_an_offer() -> None:
    quotes = read(table([["型号", "单价", "单位"], ["天枢X200 存储加速版", "15000", "元/台/月"]]))
    (offer,) = quotes.offers
    assert "unknown_card" in offer.flags


CONVERTED = ["型号", "配置", "月租(元/台/月)", "折合单卡(元/卡/时)"]


def test_a_converted_price_is_no_second_offer() -> None:
    quotes = read(table([CONVERTED, ["H20", "8卡", "58400", "10"]]))
    (offer,) = quotes.offers
    assert offer.price_per_accelerator_hour.amount == Fraction(58_400, 8 * 730) == 10
    assert "prices_disagree" not in offer.flags


def test_a_converted_price_that_is_another_is_asked_about() -> None:
    quotes = read(table([CONVERTED, ["H20", "8卡", "58400", "8"]]))
    (offer,) = quotes.offers
    assert "prices_disagree" in offer.flags
    assert "D2" in [question.cell for question in quotes.questions]


def test_a_converted_price_that_stands_alone_is_the_price() -> None:
    (offer,) = read(table([["型号", "配置", "折合单价(元/卡/时)"], ["H20", "8卡", "10"]])).offers
    assert offer.price_per_accelerator_hour.amount == 10


def test_a_number_of_months_is_the_term() -> None:
    offer = offer_of({"产品名称": "H20*8", "数量": "4", "单位": "台", "单价（元/月）": "55000", "月数": "12"})
    assert offer.term is not None
    assert offer.term.minimum_hours == 12 * 730


@pytest.mark.parametrize(
    "heading",
    ["存储单价(元/GB/月)", "vCPU加购(元/核/时)", "vCPU price per hour", "带宽价格(元/Mbps/月)", "内存单价（元/GB/时）"],
)
def test_a_column_that_prices_what_is_beside_the_cards_makes_no_offer(heading: str) -> None:
    offer = offer_of({"型号": "H20", "单价(元/卡/时)": "7.5", heading: "0.6"})
    assert offer.price_per_accelerator_hour.amount == Fraction("7.5")


def test_a_price_of_storage_in_a_column_is_a_charge() -> None:
    charges = offer_of({"型号": "H20", "单价(元/卡/时)": "7.5", "存储单价(元/GB/月)": "0.6"}).charges
    assert charges.storage_per_gb_month is not None
    assert charges.storage_per_gb_month.amount == Decimal("0.6")


@pytest.mark.parametrize(
    ("payment", "flag"), [("20% upfront", "prepay"), ("100% upfront", "prepaid"), ("paid upfront", "prepaid")]
)
def test_a_share_paid_ahead_is_not_the_whole(payment: str, flag: str) -> None:
    flags = offer_of({"GPU": "H100 SXM", "Price": "$1.95/GPU/h", "Payment": payment}, "USD").flags
    assert [one for one in flags if one.startswith("prepa")] == [flag]

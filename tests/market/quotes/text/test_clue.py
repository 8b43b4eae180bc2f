from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from suanpei.market.quotes.text.charge import make_charges
from suanpei.market.quotes.text.clues import NO_CLUES, join_clues
from suanpei.market.quotes.text.term import NO_TERMS
from suanpei.market.quotes.text.words import plain
from suanpei.money import Money
from tests.market.quotes.samples import CLUES

MONTH = 730


@pytest.mark.parametrize(
    ("role", "text", "expected"),
    [
        ("term", "3个月", {"minimum_hours": 3 * MONTH}),
        ("term", "1年", {"minimum_hours": 12 * MONTH}),
        ("term", "半年", {"minimum_hours": 6 * MONTH}),
        ("term", "无", {"minimum_hours": 0}),
        ("term", "none", {"minimum_hours": 0}),
        ("term", "36 months", {"minimum_hours": 36 * MONTH}),
        ("term", "*12-mo reserved", {"minimum_hours": 12 * MONTH, "pricing": "reserved"}),
        ("unit", "node / month, 36-mo term", {"minimum_hours": 36 * MONTH}),
        ("unit", "reserved 1y", {"minimum_hours": 12 * MONTH, "pricing": "reserved"}),
        ("note", "3个月起租", {"minimum_hours": 3 * MONTH}),
        ("note", "12m commit, 20% upfront", {"minimum_hours": 12 * MONTH, "prepaid_fraction": Decimal("0.2")}),
        ("note", "disk 12m away", {"minimum_hours": None}),
        ("text", "min 1 month", {"minimum_hours": MONTH}),
        ("note", "押一付三", {"deposit_months": 1, "prepaid_months": 3}),
        ("note", "付三押一", {"deposit_months": 1, "prepaid_months": 3}),
        ("note", "押金2个月", {"deposit_months": 2}),
        ("note", "预付一个月，押金一个月", {"deposit_months": 1, "prepaid_months": 1}),
        ("note", "预付三个月租金", {"prepaid_months": 3}),
        ("note", "prepay 25%", {"prepaid_fraction": Decimal("0.25")}),
        ("note", "预付30%", {"prepaid_fraction": Decimal("0.3")}),
        ("pricing", "年付", {"pricing": "yearly", "prepaid_months": 12}),
        ("pricing", "季付", {"pricing": "quarterly", "prepaid_months": 3}),
        ("pricing", "包年8折", {"kept_fraction": Fraction(4, 5), "pricing": "yearly"}),
        ("note", "85折", {"kept_fraction": Fraction(85, 100)}),
        ("note", "八五折，折前价", {"kept_fraction": Fraction(85, 100), "is_discount_applied": False}),
        ("note", "20% off, after discount", {"kept_fraction": Fraction(4, 5), "is_discount_applied": True}),
        ("note", "按30天计", {"has_thirty_days": True}),
        ("unit", "per node, 12 months prepaid", {"prepaid_term_hours": 12 * MONTH, "prepaid_months": 12}),
        ("unit", "gpu/h, may be reclaimed with 30 s notice", {"pricing": "spot"}),
    ],
)
def test_terms_are_read(role: str, text: str, expected: dict[str, Any]) -> None:
    terms = CLUES.read(role, text).terms or NO_TERMS
    assert {name: getattr(terms, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("role", "text", "state", "rate"),
    [
        ("tax", "不含税(6%)", "out", "0.06"),
        ("tax", "含税", "in", None),
        ("tax", "+0%", "out", "0"),
        ("tax", "6%", "unknown", "0.06"),
        ("section", "All prices exclude taxes.", "out", None),
        ("section", "Prices do not include any applicable local taxes", "out", None),
        ("section", "prices net of VAT", "out", None),
        ("section", "VAT not included", "out", None),
        ("section", "20% VAT extra", "out", "0.2"),
        ("section", "All prices include VAT", "in", None),
        ("section", "VAT included", "in", None),
        ("note", "税费另计", "out", None),
        ("note", "税率6%，税金另付", "out", "0.06"),
        ("unit", "pro GPU/Monat zzgl. 19% USt", "out", "0.19"),
        ("note", "含6个点专票", "in", "0.06"),
        ("text", "H800 7.8万/月 不含税 预付30%", "out", None),
        ("note", "excl. 9% GST", "out", "0.09"),
        ("note", "不含税 税率6%", "out", "0.06"),
        ("note", "另加6个点", "out", "0.06"),
        ("note", "开票加6%", "out", "0.06"),
        ("note", "加6个点税", "out", "0.06"),
        ("note", "税点6个点", "out", "0.06"),
        ("note", "+税", "out", None),
        ("note", "是否含税：是", "in", None),
        ("price", "价税合计11.5", "in", None),
        ("note", "以上价格为含税价（13%）", "in", "0.13"),
        ("note", "不含税，税点6个", "out", "0.06"),
        ("note", "未含税(6%)", "out", "0.06"),
        ("note", "价格不包含增值税", "out", None),
        ("note", "价格包含6%增值税", "in", "0.06"),
        ("note", "All prices exclude VAT (6%).", "out", "0.06"),
        ("note", "prices do not include 6% VAT", "out", "0.06"),
        ("note", "VAT is not included", "out", None),
        ("note", "VAT (6%) not included", "out", "0.06"),
        ("note", "exclusive of 13% VAT", "out", "0.13"),
        ("note", "includes 6% VAT", "in", "0.06"),
        ("tax", "VAT not included", "out", None),
        ("tax", "VAT included, storage not included", "in", None),
        ("tax", "不含电费，含税(6%)", "in", "0.06"),
    ],
)
def test_tax_is_read(role: str, text: str, state: str, rate: str | None) -> None:
    tax = CLUES.read(role, text).tax
    assert tax is not None
    assert (tax.state, tax.rate_fraction) == (state, None if rate is None else Decimal(rate))


@pytest.mark.parametrize(
    "text", ["是否含税待定", "含税价请咨询", "税费待定", "是否含税", "包含10%折扣", "price includes 10% discount"]
)
def test_an_open_question_of_tax_is_no_answer(text: str) -> None:
    assert CLUES.read("note", text).tax is None


@pytest.mark.parametrize(("text", "hours"), [("按分钟计费", Fraction(1, 60)), ("按秒计费", Fraction(1, 3600))])
def test_a_fine_bill_is_told(text: str, hours: Fraction) -> None:
    assert (CLUES.read("note", text).terms or NO_TERMS).billing_hours == hours


@pytest.mark.parametrize(("cell", "state"), [("是", "in"), ("否", "out"), ("6%", "in")])
def test_a_column_about_tax_answers_its_heading(cell: str, state: str) -> None:
    tax = CLUES.read("tax", cell, "含税").tax
    assert tax is not None
    assert tax.state == state


@pytest.mark.parametrize(
    ("text", "storage", "egress"),
    [
        ("$0.07/GB-mo; egress free", "0.07", "0"),
        ("egress $0.09/GB", None, "0.09"),
        ("云盘0.5元/GB/月，流量免费", "0.5", "0"),
        ("公网流量 800元/TB", None, "0.8"),
        ("云盘另计", None, None),
        ("存储免费20TB，流量：免费", None, "0"),
        ("egress free up to 10 TB", None, None),
        ("存储 1,200元/TB/月", "1.2", None),
        ("存储 0.1万/TB/月", "1", None),
    ],
)
def test_charges_are_read(text: str, storage: str | None, egress: str | None) -> None:
    charges = make_charges(CLUES.read("charges", text).charges, "CNY")
    assert (charges.storage_per_gb_month and charges.storage_per_gb_month.amount) == (storage and Decimal(storage))
    assert (charges.egress_per_gb and charges.egress_per_gb.amount) == (egress and Decimal(egress))


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("开通费2千元", "2000", "CNY"),
        ("上架费 1.5万", "15000", "CNY"),
        ("安装费1,500元", "1500", "CNY"),
        ("setup fee $1,500", "1500", "USD"),
        ("$1,500 setup fee", "1500", "USD"),
        ("$1.5k setup fee", "1500", "USD"),
        ("上架费 2.000,00 EUR", "2000", "EUR"),
    ],
)
def test_a_fee_is_read_as_any_sum_of_money(text: str, amount: str, currency: str) -> None:
    """The thousand stands as a comma, a point, or a word; none of it is cut off."""
    set_up = make_charges(CLUES.read("text", text).charges, "CNY").set_up
    assert set_up == Money(amount=Decimal(amount), currency=currency)


@pytest.mark.parametrize("text", ["安装费 2-3千元", "安装费2千-3千元", "setup fee $500-$800"])
def test_a_range_is_no_fee(text: str) -> None:
    assert not CLUES.read("text", text).charges


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("H100, 3.2T IB", "3.2T IB"),
        ("8×400G IB 现货", "8×400G IB"),
        ("RoCE 4×200G", "RoCE 4×200G"),
        ("无IB", "无IB"),
        ("H800 8卡整机", ""),
    ],
)
def test_links_are_read_from_text(text: str, links: str) -> None:
    assert CLUES.read("text", text).links == links


def test_a_cell_of_links_is_taken_whole() -> None:
    assert CLUES.read("links", "3.2 Tbps IB").links == "3.2 Tbps IB"
    assert CLUES.read("links", "无").links == "none"


@pytest.mark.parametrize(
    ("role", "text", "gpus"),
    [
        ("node", "8卡整机 2×8468/2T内存/4×7.68T NVMe", 8),
        ("node", "4卡 PCIe", 4),
        ("node", "八卡", 8),
        ("node", "8-GPU node", 8),
        ("node", "8x", 8),
        ("node", "1-8x", 1),
        ("node", "单卡起租", 1),
        ("gpus", "8", 8),
        ("text", "H100 8x400G IB", None),
        ("text", "库存64张", None),
    ],
)
def test_cards_of_a_node_are_counted(role: str, text: str, gpus: int | None) -> None:
    assert CLUES.read(role, text).node_gpus == gpus


@pytest.mark.parametrize(
    ("role", "text", "count", "unit"),
    [
        ("stock", "16台", 16, "machine"),
        ("stock", "2 台", 2, "machine"),
        ("stock", "10", 10, ""),
        ("stock", "0", 0, ""),
        ("stock", "售罄", 0, "machine"),
        ("text", "现货16台", 16, "machine"),
        ("note", "库存 64 张", 64, "card"),
        ("text", "32 nodes available", 32, "machine"),
        ("text", "64x H100 SXM", 64, "card"),
    ],
)
def test_stock_is_counted(role: str, text: str, count: int, unit: str) -> None:
    stock = CLUES.read(role, text).stock
    assert stock is not None
    assert (stock.count, stock.unit) == (count, unit)


@pytest.mark.parametrize(
    ("text", "day", "end"),
    [
        ("报价日期：２０２５年３月 有效期15天", date(2025, 3, 1), date(2025, 4, 15)),
        ("2025-03-01", date(2025, 3, 1), None),
        ("Date: 15 Mar 2025, valid for 2 weeks", date(2025, 3, 15), date(2025, 3, 29)),
        ("有效期至2025年4月1日", None, date(2025, 4, 1)),
        ("2025年13月", None, None),
        ("预计2025年5月到货", None, None),
    ],
)
def test_dates_are_read(text: str, day: date | None, end: date | None) -> None:
    found = CLUES.read_date(text)
    assert (found.day, found.end) == (day, end)


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("含机柜电费", "includes_power"),
        ("无质保", "no_warranty"),
        ("disk billed while stopped", "storage_billed_when_stopped"),
        ("USD GPU component only", "component_price"),
        ("云盘另计", "storage_extra"),
        ("无IB", "no_ib"),
    ],
)
def test_words_raise_flags(text: str, flag: str) -> None:
    assert flag in CLUES.read("note", text).flags


def test_a_remark_names_what_holds_for_all() -> None:
    assert CLUES.read("section", "以下为美元报价").currency == "USD"
    assert CLUES.read("section", "汇率：1美元=7.2元").currency is None
    clues = CLUES.read("section", "单位：万元/台/月")
    assert clues.unit is not None
    assert (clues.unit.billed, clues.unit.period, clues.unit_scale, clues.currency) == ("node", "month", 10_000, "CNY")


def test_the_first_cell_that_says_a_thing_is_believed() -> None:
    joined = join_clues([CLUES.read("tax", "含税"), CLUES.read("note", "不含税(6%)，押一付三"), NO_CLUES])
    assert joined.tax is not None
    assert joined.terms is not None
    assert (joined.tax.state, joined.tax.rate_fraction) == ("in", Decimal("0.06"))
    assert joined.terms.deposit_months == 1
    assert join_clues([NO_CLUES, NO_CLUES]) is NO_CLUES


def test_small_chinese_numbers_become_digits() -> None:
    assert plain("八卡 两台 十六台 三个月 押一付三") == "8卡 2台 16台 3个月 押一付三"


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("流出0.8元/GB", "egress"),
        ("出流量 0.8元/GB", "egress"),
        ("出站0.8元/GB", "egress"),
        ("入站0.8元/GB", "ingress"),
    ],
)
def test_traffic_out_and_in_have_many_names(words: str, kind: str) -> None:
    assert [(one.kind, one.amount) for one in CLUES.read("note", words).charges] == [(kind, Decimal("0.8"))]


@pytest.mark.parametrize("role", ["note", "tax"])
@pytest.mark.parametrize(
    ("words", "state", "rate"),
    [
        ("税点6个点", "out", "0.06"),
        ("加6个点", "out", "0.06"),
        ("开票加6个点", "out", "0.06"),
        ("含税13个点", "in", "0.13"),
        ("不含税，加6个点", "out", "0.06"),
    ],
)
def test_points_of_tax_are_per_cent(role: str, words: str, state: str, rate: str) -> None:
    tax = CLUES.read(role, words).tax
    assert tax is not None
    assert (tax.state, tax.rate_fraction) == (state, Decimal(rate))


@pytest.mark.parametrize(
    ("words", "field", "expected"),
    [
        ("押一付十二", "prepaid_months", 12),
        ("付十二押两", "prepaid_months", 12),
        ("90天预付", "prepaid_months", Decimal("2.96")),
        ("30天全款", "prepaid_months", Decimal("0.99")),
        ("半年预付", "prepaid_months", 6),
        ("1.5个月押金", "deposit_months", Decimal("1.5")),
        ("押金1.5个月", "deposit_months", Decimal("1.5")),
        ("首付12.5%", "prepaid_fraction", Decimal("0.125")),
        ("12.5% off", "kept_fraction", Fraction(7, 8)),
    ],
)
def test_no_part_of_a_count_or_share_is_cut_off(words: str, field: str, expected: Decimal | Fraction) -> None:
    """90 days are 2,160 h of 730 h a month; 12.5 % is neither 5 % nor 12 %."""
    terms = CLUES.read("text", words).terms
    assert getattr(terms, field) == expected


@pytest.mark.parametrize(
    ("role", "words", "months"),
    [
        ("term", "12-36个月", 12),
        ("term", "1-3 years", 12),
        ("text", "3-6个月起", 3),
        ("text", "起租3-6个月", 3),
        ("term", "一年半", 18),
        ("text", "H100-12个月起", 12),
        ("text", "4090-12个月起", 12),
    ],
)
def test_the_shortest_of_a_range_is_the_shortest_rental(role: str, words: str, months: int) -> None:
    terms = CLUES.read(role, words).terms
    assert terms is not None
    assert terms.minimum_hours == months * MONTH

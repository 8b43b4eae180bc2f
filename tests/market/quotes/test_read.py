"""The reader as a whole: the captured quotes, and the laws that hold for any quote."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.market.quotes.document import Document, Line, Sheet
from suanpei.market.quotes.read import read_quotes
from suanpei.market.quotes.text.words import plain
from tests.market.quotes.samples import WORDS, bundled, context, offer_of, read, table, text

if TYPE_CHECKING:
    from suanpei.market.quotes.quoted import QuotedOffer

EN_FLAGS = {
    "Alpha Cloud": (),
    "Beta GPU": ("egress_fee", "pcie"),
    "Gamma": ("36_month_term", "prepay"),
    "Delta Metal": ("decimal_comma", "eur", "tax_excluded_19pct"),
    "Epsilon": ("12_month_term", "4_gpu_node", "from_price", "nvl_variant", "reserved"),
    "Zeta": ("price_missing",),
    "Eta Market": ("storage_billed_when_stopped", "two_tiers:0.34/0.69"),
    "Theta": ("component_price", "pcie", "unit_missing_inferred"),
    "Iota": ("12_month_term", "prepaid", "yearly_node"),
    "Kappa": ("spot",),
    "Lambda-like": ("node_price_mislabelled",),
    "Mu": ("12_month_term", "non_nvidia", "reserved"),
}


def test_every_flag_of_the_english_quote() -> None:
    assert {offer.seller: offer.flags for offer in read(bundled("quotes_en.csv"), "USD").offers} == EN_FLAGS


def test_what_else_the_chinese_quote_says() -> None:
    offers = {offer.seller: offer for offer in read(bundled("quotes_cn_messy.csv")).offers}
    assert offers["甲云"].count == 16 * 8
    assert offers["甲云"].links == "8×400G IB"
    assert offers["戊云"].payment.deposit_months == 1
    assert offers["壬云"].links == "none"
    assert {str(offer.valid_until) for offer in offers.values()} == {"2025-04-15"}  # March, and fifteen days
    assert all("price_expired" in offer.flags for offer in offers.values())
    assert [offer.confidence for offer in offers.values()].count("low") == 2  # no price; a node's price per card


def test_assumptions_say_month_rates_and_remarks() -> None:
    said = [str(message) for message in read(bundled("quotes_cn_messy.csv")).assumptions]
    assert "a month is 730 h and a year 8,760 h where the quote does not say otherwise" in said
    assert "USD is converted at 1 USD = 7.2 CNY" in said
    assert any(message.startswith("quotes_cn_messy.csv A2:") for message in said)


def test_documents_are_read_one_after_another() -> None:
    quotes = read_quotes([bundled("quotes_cn_messy.csv"), bundled("quotes_en.csv")], context())
    assert [offer.source.file for offer in quotes.offers] == ["quotes_cn_messy.csv"] * 15 + ["quotes_en.csv"] * 12


def test_the_sheet_names_the_cell() -> None:
    rows = (("型号", "价格", "单位"), ("H800", "12", "元/卡/时"))
    lines = tuple(Line(row=row, cells=cells) for row, cells in enumerate(rows, start=1))
    sheet = Sheet(kind="table", name="报价", lines=lines)
    (offer,) = read(Document(file="q.xlsx", sheets=(sheet,))).offers
    assert (offer.source.cell, offer.source.sheet) == ("报价!B2", "报价")


CELLS = {
    "型号": st.sampled_from(["H800 80G", "A100 80G SXM", "H20 96G", "4090 48G(改)", "昇腾910B", "P40", "H100 SXM"]),
    "配置": st.sampled_from(["8卡整机", "8卡", "4卡", "单卡", ""]),
    "价格": st.sampled_from(
        ["78000", "12", "96", "6.8", "1.5", "5万8", "12-15", "3.5起", "面议", "$2.35", "15.92", ""]
    ),
    "单位": st.sampled_from(["元/台/月", "元/卡/时", "/GPU/hr", "万元/P/年", "元/月", "元/台/时", ""]),
    "计费方式": st.sampled_from(["月付", "年付", "按量", "spot", ""]),
    "起租期": st.sampled_from(["3个月", "1年", "无", ""]),
    "税": st.sampled_from(["含税", "不含税(6%)", ""]),
    "备注": st.sampled_from(["押一付三", "8折后另算", "同价竞价 $1.99", ""]),
    "供应商": st.sampled_from(["甲", "乙", ""]),
}
ROWS = st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=6)


def without_place(offer: QuotedOffer) -> QuotedOffer:
    return replace(offer, source=replace(offer.source, row=0, cell=""))


def sorted_offers(rows: list[list[str]]) -> list[str]:
    return sorted(repr(without_place(offer)) for offer in read(table(rows)).offers)


@given(rows=ROWS, data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_order_of_rows_means_nothing(rows: list[dict[str, str]], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(rows))
    header = list(CELLS)
    assert sorted_offers([header, *([row[name] for name in header] for row in rows)]) == sorted_offers(
        [header, *([row[name] for name in header] for row in shuffled)]
    )


@given(rows=ROWS, data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_order_of_columns_means_nothing(rows: list[dict[str, str]], data: st.DataObject) -> None:
    header = list(CELLS)
    shuffled = data.draw(st.permutations(header))
    assert sorted_offers([header, *([row[name] for name in header] for row in rows)]) == sorted_offers(
        [shuffled, *([row[name] for name in shuffled] for row in rows)]
    )


@given(
    price=st.decimals(min_value="0.01", max_value=10**7, places=2),
    unit=st.sampled_from(
        [("元/卡/时", 1), ("元/台/时", 8), ("元/卡/天", 24), ("元/台/月", 5_840), ("元/台/年", 70_080)]
    ),
)
def test_conversions_are_exact(price: object, unit: tuple[str, int]) -> None:
    (offer,) = read(table([("型号", "配置", "价格", "单位"), ("H800", "8卡", f"{price}", unit[0])])).offers
    assert offer.price_per_accelerator_hour.amount == Fraction(str(price)) / unit[1]


HEADINGS = frozenset(word for words in WORDS.roles.values() for word in words)
"""A line with one of them may be headings of its own, of one line or of two."""
PIECES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        (
            *("H800", "8卡整机", "7.8万/月", "不含税(6%)", "/", "元/台/月", "$", "-", "99999999999999999999", "1e999"),
            *("0", "-5元", "供应商：", "以上", "【甲】", "P", "2025年13月99日", "折", "押付", "型号", "价格", "报价"),
            *("GPU", "Price", "0折", "押一付", "x8", "8x", "0卡", "0P/卡", "有效期999天", "有效期至9999年12月31日"),
            *("每", "起", "¥¥", "1,2,3", "合计", "注：", "½", "İ"),
        )
    ),
)


@given(st.lists(st.lists(st.lists(PIECES, max_size=4).map(" ".join), max_size=6), max_size=6), st.booleans())
@settings(max_examples=300, deadline=None)
def test_any_cells_give_a_result(rows: list[list[str]], is_text: bool) -> None:
    document = text("\n".join(" ".join(row) for row in rows)) if is_text else table(rows)
    quotes = read(document)
    assert len(quotes.offers) >= 0
    assert all(offer.readings or offer.price_per_accelerator_hour.amount is None for offer in quotes.offers)


@given(st.lists(st.lists(PIECES, min_size=3, max_size=3), min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_nothing_below_headings_is_dropped_without_a_word(rows: list[list[str]]) -> None:
    quotes = read(table([("型号", "价格", "备注"), *rows]))
    told = {int("".join(filter(str.isdigit, one.cell.rpartition("!")[2])) or 0) for one in quotes.unread}
    told |= {offer.source.row for offer in quotes.offers}
    said = " ".join(str(message) for message in quotes.assumptions)
    for row, cells in enumerate(rows, start=2):
        is_heading = [cell.strip() for cell in cells] == ["型号", "价格", "备注"]
        remarked = any(f" {letter}{row}:" in said for letter in "ABC")
        seller_only = any("【" in cell or "：" in cell for cell in cells)
        assert (
            row in told
            or remarked
            or seller_only
            or is_heading
            or not any(letter.isalnum() for cell in cells for letter in cell)
            or any(word in plain(cell) for word in HEADINGS for cell in cells)
        )


@pytest.mark.parametrize("cells", [("H800", "0元/卡/时"), ("H800", "-5元/卡/时"), ("H800", "99999999999999999999999")])
def test_an_absurd_price_is_no_price(cells: tuple[str, str]) -> None:
    (offer,) = read(table([("型号", "价格"), cells])).offers
    assert offer.price_per_accelerator_hour.amount is None


@pytest.mark.parametrize(
    "words",
    [
        "共200P分布在3个机房",
        "总算力200P，分布于三个智算中心",
        "200P across 3 sites",
        "spread over two zones",
        "跨两地",
    ],
)
def test_a_total_over_several_sites_is_not_on_hand_in_one_fabric(words: str) -> None:
    row = {"型号": "H800 80G", "配置": "8卡整机", "报价": "78000", "单位": "元/台/月", "数量": "25台"}
    together = offer_of({**row, "备注": "一个机房"})
    assert (together.count, "spread_over_sites" in together.flags) == (200, False)
    found = read(table([[*row, "备注"], [*row.values(), words]]))
    (offer,) = found.offers
    assert (offer.count, "spread_over_sites" in offer.flags) == (None, True)
    assert offer.price_per_accelerator_hour.amount == together.price_per_accelerator_hour.amount
    asked = [str(question.question) for question in found.questions if "in each site" in str(question.question)]
    assert asked == ["how many cards are in each site, and are the cards that we would get all in one fabric?"]
    assert not any("how many cards are free" in str(question.question) for question in found.questions)


def test_a_total_in_p_in_a_message_is_no_price() -> None:
    found = read(text("青云 H800 8卡整机 7.8万/台/月 含税 现货16台，共200P分布在3个机房"))
    (offer,) = found.offers
    assert offer.price_per_accelerator_hour.amount == Fraction(78_000, 8 * 730)
    assert (offer.count, "spread_over_sites" in offer.flags) == (None, True)


def test_a_currency_is_flagged_where_it_is_not_that_of_the_result() -> None:
    rows = table([["型号", "报价", "单位"], ["H100 SXM", "$2.4", "/GPU/hr"], ["A100 80G SXM", "$1.4", "/GPU/hr"]])
    assert [offer.flags for offer in read(rows, "CNY").offers] == [("usd",), ("usd",)]
    assert [offer.flags for offer in read(rows, "USD").offers] == [(), ()]

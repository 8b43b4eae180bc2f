from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Literal

import pytest

from suanpei.market.quotes.document import Document, Line, Sheet
from tests.market.quotes.samples import offer_of, read


def document(*parts: str | tuple[str, str]) -> Document:
    """Lines of text, and tables of one row (card and price), in order."""
    sheets: list[Sheet] = []
    tables = 0
    for part in parts:
        kind: Literal["table", "text"] = "text" if isinstance(part, str) else "table"
        tables += kind == "table"
        rows = [(part,)] if isinstance(part, str) else [("型号", "配置", "月租"), (part[0], "8卡整机", part[1])]
        lines = tuple(Line(row=row, cells=cells) for row, cells in enumerate(rows, start=len(sheets) * 10 + 1))
        sheets.append(Sheet(kind=kind, name=None if kind == "text" else f"table {tables}", lines=lines))
    return Document(file="quote.docx", sheets=tuple(sheets))


FIRST, SECOND = ("H800 80G", "7.8万"), ("H20 96G", "5万")
RENT = "以上价格均为含税价（增值税专用发票6%），最短租期3个月，押一付一。"


def test_a_remark_below_holds_for_the_table_above() -> None:
    quotes = read(document(FIRST, RENT, SECOND))
    above, below = quotes.offers
    price = above.price_per_accelerator_hour
    assert (price.tax, price.tax_rate) == ("in", Decimal("0.06"))
    assert above.term is not None
    assert above.term.minimum_hours == 3 * 730
    assert (above.payment.deposit_months, above.payment.prepaid_months) == (Decimal(1), Decimal(1))
    assert below.price_per_accelerator_hour.tax == "unknown"
    assert quotes.unread == ()


@pytest.mark.parametrize(
    ("parts", "taxes"),
    [
        ((FIRST, "以下价格均含税6%", SECOND), ["unknown", "in"]),
        ((FIRST, SECOND, "含税6%"), ["in", "in"]),
        (("含税6%", FIRST, SECOND), ["in", "in"]),
        ((FIRST, "备注：含税6%", SECOND), ["in", "in"]),
        ((FIRST, "含税6%", SECOND), ["unknown", "in"]),
        (("不含税", FIRST, "含税6%", SECOND), ["out", "in"]),
    ],
)
def test_remarks_hold_for_the_tables_that_they_stand_around(parts: tuple[str], taxes: list[str]) -> None:
    quotes = read(document(*parts))
    assert [offer.price_per_accelerator_hour.tax for offer in quotes.offers] == taxes
    assert quotes.unread == ()


def test_a_remark_on_tables_that_are_not_there_is_listed() -> None:
    quotes = read(document("以上价格均含税6%", FIRST))
    assert [offer.price_per_accelerator_hour.tax for offer in quotes.offers] == ["unknown"]
    assert [(one.cell, one.reason.key) for one in quotes.unread] == [("1", "a remark that holds for no offer: {words}")]


@pytest.mark.parametrize(
    ("words", "bills_outages", "is_stopped_free"),
    [
        ("故障停机不计费", False, False),
        ("故障期间不计费", False, False),
        ("硬件故障4小时内更换，停机时间不计费", False, False),
        ("关机不计费", None, True),
        ("故障停机不计费，关机不计费", False, True),
        ("7×24小时运维", None, False),
    ],
)
def test_hours_lost_to_failures_are_told_from_machines_switched_off(
    words: str, bills_outages: bool | None, is_stopped_free: bool
) -> None:
    row = {"型号": "H800 80G", "配置": "8卡整机", "月租": "7.8万", "备注": words}
    offer = offer_of(row)
    assert offer.charges.bills_outages is bills_outages
    assert ("stopped_not_billed" in offer.flags) == is_stopped_free


@pytest.mark.parametrize(
    "words",
    [
        "提前退租收取剩余租金的30%",
        "提前退租收剩余租金的30%违约金",
        "提前解约需支付剩余租金30%",
        "30% of the remaining rent on early termination",
    ],
)
def test_what_an_early_exit_costs(words: str) -> None:
    (offer,) = read(document(FIRST, f"备注：{words}")).offers
    assert offer.charges.early_exit_fraction == Decimal("0.3")
    assert offer.payment.prepaid_fraction is None


def test_a_remark_on_failures_says_something() -> None:
    quotes = read(document(FIRST, "备注：合同期内硬件故障4小时内更换，停机时间不计费。"))
    assert quotes.unread == ()
    assert quotes.offers[0].charges.bills_outages is False


@pytest.mark.parametrize(
    "title", ["报价单位：元/台/月（含税6%）", "单位：元/台/月（含税6%）", "价格单位: 元/台·月(含税6%)"]
)
def test_a_line_of_the_unit_above_a_table_names_no_seller(title: str) -> None:
    quotes = read(document(title, ("H800 8卡", "70000")))
    (offer,) = quotes.offers
    assert offer.price_per_accelerator_hour.amount == Fraction(70_000, 8 * 730)
    assert offer.price_per_accelerator_hour.tax_rate == Decimal("0.06")
    assert "unit_missing_inferred" not in offer.flags
    assert "元" not in offer.seller
    assert quotes.unread == ()

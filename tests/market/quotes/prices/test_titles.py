"""Sellers that only a title or the file's name names."""

from __future__ import annotations

from fractions import Fraction

import pytest

from suanpei.market.quotes.document import Document, Line, Sheet
from suanpei.market.quotes.layout.lines import LineReader
from suanpei.market.quotes.prices.titles import TitleReader
from tests.market.quotes.samples import CARDS, CLUES, WORDS, read, table

TITLES = TitleReader(WORDS, LineReader(CLUES, CARDS))
ROWS = [("型号", "单价(元/卡/时)"), ("H100", "18")]


@pytest.mark.parametrize(
    ("title", "seller"),
    [
        ("北京星河算力科技有限公司 GPU服务器租赁报价单", "北京星河算力科技有限公司"),
        ("北京星河算力科技有限公司GPU服务器租赁报价单", "北京星河算力科技有限公司"),
        ("智云算力 2026年11月报价", "智云算力"),
        ("阿里云GPU服务器价格表", "阿里云"),
        ("深圳鹏算信息技术有限公司", "深圳鹏算信息技术有限公司"),
        ("Northwind Compute price list", "Northwind Compute"),
        ("Contoso GPU Cloud pricing 2026", "Contoso GPU Cloud"),
        ("Northwind prices 2026/11", "Northwind"),
    ],
)
def test_a_title_names_its_seller(title: str, seller: str) -> None:
    assert TITLES.read(title) == seller


@pytest.mark.parametrize(
    "title",
    [
        *("GPU云服务器报价单", "GPU算力报价", "算力中心报价（FP16稠密）", "国产算力租赁价格", "各家云报价对比"),
        *(
            "H100云报价",
            "All prices in USD per GPU per hour.",
            "GPU pricing",
            "Weekly GPU Cloud prices",
            "H100 pricing",
        ),
        *("2026年11月", "以下价格均为不含税价，税率6%。", "备注：甲云报价", "", "报价日期：2026-11-15"),
    ],
)
def test_other_titles_name_none(title: str) -> None:
    assert TITLES.read(title) is None


def test_headings_below_a_title_that_names_the_seller_are_no_sellers() -> None:
    head = ("型号 (元/卡/时)", "标准版", "企业版")
    offers = read(table([("北京星河科技有限公司 报价单", "", ""), head, ("H100", "18", "19")])).offers
    assert [(one.seller, one.note, one.price_per_accelerator_hour.amount) for one in offers] == [
        ("北京星河科技有限公司", "标准版", Fraction(18)),
        ("北京星河科技有限公司", "企业版", Fraction(19)),
    ]


def test_the_title_of_a_table_is_its_seller_and_said() -> None:
    quotes = read(table([("北京星河科技有限公司 报价单", ""), *ROWS]))
    assert [one.seller for one in quotes.offers] == ["北京星河科技有限公司"]
    assert [str(one) for one in quotes.assumptions if "seller" in str(one)] == [
        "quote.csv A1: the seller is taken from the title: 北京星河科技有限公司"
    ]
    assert quotes.unread == ()


@pytest.mark.parametrize(
    ("file", "seller"),
    [
        ("下载/云帆智算科技_GPU报价_20261120.csv", "云帆智算科技"),
        ("quotes/2026-11.csv", "2026-11"),
        ("acme.csv", "acme"),
    ],
)
def test_the_name_of_the_file_stands_for_a_seller_that_is_not_named(file: str, seller: str) -> None:
    quotes = read(table(ROWS, file))
    assert [one.seller for one in quotes.offers] == [seller]
    said = f"{file}: no seller is named; the name of the file stands for it: {seller}"
    assert said in [str(one) for one in quotes.assumptions]


def test_where_one_row_names_its_seller_the_others_stay_unnamed() -> None:
    rows = [("甲云科技报价", "", ""), ("供应商", *ROWS[0]), ("乙云", *ROWS[1]), ("", *ROWS[1])]
    assert [one.seller for one in read(table(rows)).offers] == ["乙云", ""]


def test_each_sheet_has_a_title_of_its_own_and_text_beside_speaks_of_all() -> None:
    def lines(*rows: tuple[str, ...]) -> tuple[Line, ...]:
        return tuple(Line(row=row, cells=cells) for row, cells in enumerate(rows, start=1))

    first = Sheet(kind="table", name="A", lines=lines(("甲云科技报价单", ""), *ROWS))
    second = Sheet(kind="table", name="B", lines=lines(("乙算科技报价单", ""), *ROWS))
    third = Sheet(kind="table", name="C", lines=lines(*ROWS))
    beside = Sheet(kind="text", name=None, lines=lines(("丙云有限公司",)))
    quotes = read(Document(file="q.xlsx", sheets=(beside, first, second, third)))
    assert [one.seller for one in quotes.offers] == ["甲云科技", "乙算科技", "丙云有限公司"]


def test_two_titles_leave_the_seller_to_the_name_of_the_file() -> None:
    rows = [("甲云科技报价单", ""), ("乙算科技报价单", ""), *ROWS]
    assert [one.seller for one in read(table(rows)).offers] == ["quote"]

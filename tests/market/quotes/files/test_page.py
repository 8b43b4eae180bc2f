from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.market.quotes.files import limits, page
from tests.market.quotes.files.samples import read_bytes, reasons, rows, shape

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """<!DOCTYPE html><html><head><meta charset="{charset}"><title>报价</title><style>td {{}}</style></head><body>
<h1>算力报价</h1><p>2025年3月，<b>含税</b>价&nbsp;</p>
<table><caption>国内</caption>
<thead><tr><th>供应商</th><th>型号</th><th colspan="2">价格</th></tr></thead>
<tbody><tr><td rowspan=2>甲云</td><td>H800<br>8卡</td><td>7.8</td><td>万元/台/月</td></tr>
<tr><td>A800</td><td>6.8</td><td>元/卡/时</td></tr>
<tr><td>乙算力</td><td>H20 <table><tr><td>内</td><td>表</td></tr></table></td>
<td><del>58</del> 55</td><td>万元/年</td></tr>
<tr style="display: none"><td>丙</td><td>x</td><td>1</td><td>元</td></tr></tbody></table>
<ul><li>押一付三</li><li>现货<img src="a.png"></li></ul>
<script>var price = 1;</script><div hidden>底价 5 元</div>
</body></html>"""


@pytest.mark.parametrize(("charset", "encoding"), [("utf-8", "utf-8"), ("gb2312", "gbk"), ("big5x", "utf-8-sig")])
def test_tables_spread_and_the_text_between(tmp_path: Path, charset: str, encoding: str) -> None:
    document = read_bytes(tmp_path, "q.html", PAGE.format(charset=charset).encode(encoding))
    assert shape(document) == [
        ("text", None, [(1, ("算力报价",)), (2, ("2025年3月，含税价",)), (3, ("国内",))]),
        (
            "table",
            "T1",
            [
                (1, ("供应商", "型号", "价格", "价格")),
                (2, ("甲云", "H800\n8卡", "7.8", "万元/台/月")),
                (3, ("甲云", "A800", "6.8", "元/卡/时")),
                (4, ("乙算力", "H20", "55", "万元/年")),
            ],
        ),
        ("table", "T2", [(1, ("内", "表"))]),
        ("text", None, [(4, ("押一付三",)), (5, ("现货",))]),
    ]
    assert reasons(document) == [
        ("", "struck out, so left out: 58"),
        ("", "pictures are not read: 1"),
        ("", "hidden parts of the page are not read: 2"),
    ]


def test_an_encoding_that_the_page_names_is_taken(tmp_path: Path) -> None:
    html = '<html><head><meta charset="big5"></head><body><p>報價單</p></body></html>'
    assert shape(read_bytes(tmp_path, "q.htm", html.encode("big5"))) == [("text", None, [(1, ("報價單",))])]


def test_an_encoding_that_is_neither_utf_8_nor_gbk_is_read_where_the_page_names_it(tmp_path: Path) -> None:
    html = '<html><meta http-equiv="Content-Type" content="text/html; charset=windows-1252"><p>Zürich 1,99 €</p></html>'
    assert shape(read_bytes(tmp_path, "q.htm", html.encode("cp1252"))) == [("text", None, [(1, ("Zürich 1,99 €",))])]


def test_a_page_is_known_whatever_its_ending(tmp_path: Path) -> None:
    html = "<html><body><table><tr><td>型号</td><td>价</td></tr><tr><td>H800</td><td>7</td></tr></table></body></html>"
    for name in ("q.xls", "q.csv", "q.txt", "q"):
        document = read_bytes(tmp_path, name, html.encode("gbk"))
        assert shape(document) == [("table", None, [(1, ("型号", "价")), (2, ("H800", "7"))])]


def test_a_table_that_only_lays_out_the_page_is_looked_through(tmp_path: Path) -> None:
    html = (
        "<table><tr><td><h2>报价</h2></td></tr><tr><td><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr>"
        "</table>注：含税</td></tr></table>"
    )
    assert shape(read_bytes(tmp_path, "q.html", html.encode())) == [
        ("text", None, [(1, ("报价",))]),
        ("table", None, [(1, ("a", "b")), (2, ("1", "2"))]),
        ("text", None, [(2, ("注：含税",))]),
    ]


def test_cells_and_rows_hidden_or_struck_out_are_no_prices_and_are_named(tmp_path: Path) -> None:
    html = (
        "<table><tr><th>型号</th><th>价</th><th>注</th></tr>"
        "<tr><td rowspan=2>H800</td><td style='text-decoration: line-through'>7</td><td>停售</td></tr>"
        "<tr style='text-decoration:line-through'><td>6</td><td>旧</td></tr>"
        "<tr><td>A800</td><td style='display:none'>1</td><td>5</td><td>现货</td></tr>"
        "<tr><td>H20</td><td style='visibility: hidden'>2</td><td>询价</td></tr>"
        "<tbody hidden><tr><td>H100</td><td>3</td><td>x</td></tr></tbody></table>"
        "<table><tr hidden><td>L40S 4 元</td></tr><tr><td>您好</td></tr>"
        "<tr><td style='display:none'>L20</td></tr></table>"
    )
    document = read_bytes(tmp_path, "q.html", html.encode())
    assert shape(document) == [
        (
            "table",
            None,
            [
                (1, ("型号", "价", "注")),
                (2, ("H800", "", "停售")),
                (4, ("A800", "5", "现货")),
                (5, ("H20", "", "询价")),
            ],
        ),
        ("text", None, [(1, ("您好",))]),
    ]
    # 1, 2, the rows of H100, of L40S, and L20
    assert reasons(document) == [
        ("", "struck out, so left out: 7, 6 旧"),
        ("", "hidden parts of the page are not read: 5"),
    ]


def test_a_cell_whose_class_is_struck_out_is_no_price(tmp_path: Path) -> None:
    html = (
        "<html><head><style><!-- td {color:black;} .xl65 {mso-style-parent:style0; text-decoration:line-through;}"
        " .xl66 {color:red;} .a .xl66 {text-decoration:line-through;} --></style></head><body><table>"
        "<tr><td>型号</td><td>价</td></tr><tr><td>H800</td><td class=xl65>7</td></tr>"
        "<tr><td>A800</td><td class='xl66 x'>5 <font class=xl65>6</font></td></tr></table></body></html>"
    )
    document = read_bytes(tmp_path, "q.xls", html.encode())
    assert shape(document) == [("table", None, [(1, ("型号", "价")), (2, ("H800", "")), (3, ("A800", "5"))])]
    assert reasons(document) == [("", "struck out, so left out: 7, 6")]


def test_spans_beyond_the_table_and_nonsense_spans(tmp_path: Path) -> None:
    html = (
        "<table><tr><td rowspan=99999999999>a</td><td rowspan=0>b</td><td colspan='x'>c</td><td colspan=-2>d</td></tr>"
        "<tr><td>e</td></tr><tr></tr><tr><td>f</td><td>g</td></tr></table>"
    )
    assert shape(read_bytes(tmp_path, "q.html", html.encode())) == [
        ("table", None, [(1, ("a", "b", "c", "d")), (2, ("a", "b", "e")), (4, ("a", "b", "f", "g"))])
    ]


def test_a_row_with_nothing_of_its_own_does_not_repeat_the_one_above(tmp_path: Path) -> None:
    html = "<table><tr><td rowspan=2>甲</td><td rowspan=2>7.8</td></tr><tr></tr><tr><td>乙</td><td>6</td></tr></table>"
    assert shape(read_bytes(tmp_path, "q.html", html.encode())) == [
        ("table", None, [(1, ("甲", "7.8")), (3, ("乙", "6"))])
    ]


@pytest.mark.parametrize("tag", ["div", "table><tr><td", "b", "ul><li"])
def test_elements_nested_a_thousand_times(tmp_path: Path, tag: str) -> None:
    deep = f"<html><body><p>报价</p>{f'<{tag}>' * 600}H800 7.8万</body></html>"
    document = read_bytes(tmp_path, "q.html", deep.encode())
    assert [cells for sheet in document.sheets for _, cells in rows(sheet)] == [("报价",), ("H800 7.8万",)]


def test_what_is_nested_too_deeply_is_named(tmp_path: Path) -> None:
    deep = "<html><body><p>报价</p>" + "<div>" * 5000 + "H800 7.8万"
    document = read_bytes(tmp_path, "q.html", deep.encode())
    assert shape(document) == [("text", None, [(1, ("报价",))])]
    assert reasons(document) == [("", "the end of the page is not read: its elements are nested too deeply")]


def test_a_page_without_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="q.html holds no text"):
        read_bytes(tmp_path, "q.html", b"<!-- nothing -->")


def test_a_page_too_large_for_a_tree_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_TREE_BYTES", 2**20)
    assert limits.MOST_TREE_BYTES > 2**20
    with pytest.raises(InputError, match="q.html: a page of more than 1 MiB is not read; save its table as CSV"):
        read_bytes(tmp_path, "q.html", b"<p>" + b"x" * 2**20 + b"</p>")

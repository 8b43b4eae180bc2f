from __future__ import annotations

import pytest

from suanpei.errors import InputError
from suanpei.market.quotes.files import read_pasted
from tests.market.quotes.files.samples import shape


def test_chat_messages_stay_text_with_their_line_numbers() -> None:
    text = "老王 10:32\nH800 8卡整机 7.8w/月，含税\n\n老李 10:40\nA800,8卡,6.5/卡时,现货;押一付三\n有4090  2台"
    assert shape(read_pasted(text, "微信")) == [
        (
            "text",
            None,
            [
                (1, ("老王 10:32",)),
                (2, ("H800 8卡整机 7.8w/月，含税",)),
                (4, ("老李 10:40",)),
                (5, ("A800,8卡,6.5/卡时,现货;押一付三",)),
                (6, ("有4090  2台",)),
            ],
        )
    ]


def test_rows_copied_from_a_sheet_become_a_table_between_the_messages() -> None:
    text = '你好，报价如下：\n型号\t配置\t价格\nH800\t"8卡\n整机"\t7.8万\nA800\t\t6.5\n以上含税\n'
    assert shape(read_pasted(text, "chat")) == [
        ("text", None, [(1, ("你好，报价如下：",))]),
        ("table", None, [(2, ("型号", "配置", "价格")), (3, ("H800", "8卡\n整机", "7.8万")), (5, ("A800", "", "6.5"))]),
        ("text", None, [(6, ("以上含税",))]),
    ]


@pytest.mark.parametrize(
    "drawn",
    [
        "+----+----+----+\n| a  | b  | c  |\n+----+----+----+\n| 1  | 2  |    |\n+----+----+----+",
        "┌───┬───┬───┐\n│ a │ b │ c │\n├───┼───┼───┤\n│ 1 │ 2 │   │\n└───┴───┴───┘",
    ],
)
def test_tables_drawn_with_bars(drawn: str) -> None:
    assert shape(read_pasted(drawn, "x")) == [("table", None, [(2, ("a", "b", "c")), (4, ("1", "2", ""))])]


def test_columns_of_spaces_are_a_table_only_where_their_count_never_changes() -> None:
    table = "型号    数量   价格\nH800    8台    7.8万\nA800　　4台　　6.5\n"
    assert shape(read_pasted(table, "x")) == [
        ("table", None, [(1, ("型号", "数量", "价格")), (2, ("H800", "8台", "7.8万")), (3, ("A800", "4台", "6.5"))])
    ]
    assert [kind for kind, _, _ in shape(read_pasted("H800    8台    7.8万\nA800    6.5\nH20   8   5", "x"))] == [
        "text"
    ]


def test_two_columns_parted_by_spaces_or_indented_by_tabs_stay_text() -> None:
    assert [kind for kind, _, _ in shape(read_pasted("H800   7.8\nA800   6.5\nH20   3.2", "x"))] == ["text"]
    assert [kind for kind, _, _ in shape(read_pasted("\tH800 7.8\n\tA800 6.5", "x"))] == ["text"]


def test_a_pasted_page_and_a_pasted_markdown_table() -> None:
    expected = [("a", "b"), ("1", "2")]
    html = read_pasted("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "x")
    markdown = read_pasted("| a | b |\n|---|---|\n| 1 | 2 |", "x")
    for document in (html, markdown):
        (sheet,) = document.sheets
        assert (sheet.kind, [line.cells for line in sheet.lines]) == ("table", expected)


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_nothing_pasted(text: str) -> None:
    with pytest.raises(InputError, match="pasted text is empty"):
        read_pasted(text, "pasted text")


def test_spaces_that_do_not_show_are_stripped() -> None:
    assert shape(read_pasted("\u200bH800\u3000\u00a0\ufeff", "x")) == [("text", None, [(1, ("H800",))])]

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.market.quotes.files.samples import read_bytes, reasons, shape

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """# **算力**报价

2025年3月，*含税*价

| 型号 | 配置 | 价格 |
|:--|---|--:|
| **H800** | 2*8468/4*7.68T | ¥7.8万<br>含税 | 多出的格 |
| A800 \\| 改 | [官网](https://example.com) |
||||

- 押一付三
  1. 现货
> 仅供参考

```
H20\t5
L40S\t3
```

<table><tr><td>x</td><td>y</td></tr>

<tr><td>1</td><td>2</td></tr></table>

完
"""


def test_tables_lists_code_and_pages_with_their_lines(tmp_path: Path) -> None:
    assert shape(read_bytes(tmp_path, "q.md", TEXT.encode())) == [
        ("text", None, [(1, ("算力报价",)), (3, ("2025年3月，*含税*价",))]),
        (
            "table",
            None,
            [
                (5, ("型号", "配置", "价格")),
                (7, ("H800", "2*8468/4*7.68T", "¥7.8万\n含税", "多出的格")),
                (8, ("A800 | 改", "官网")),
            ],
        ),
        ("text", None, [(11, ("押一付三",)), (12, ("1. 现货",)), (13, ("仅供参考",))]),
        ("table", None, [(16, ("H20", "5")), (17, ("L40S", "3"))]),
        ("table", None, [(20, ("x", "y")), (22, ("1", "2"))]),
        ("text", None, [(24, ("完",))]),
    ]


def test_a_table_in_a_text_file_is_known_by_its_row_of_dashes(tmp_path: Path) -> None:
    text = "报价\n\n型号 | 价格\n--- | ---\nH800 | 7.8\n"
    assert shape(read_bytes(tmp_path, "q.txt", text.encode())) == [
        ("text", None, [(1, ("报价",))]),
        ("table", None, [(3, ("型号", "价格")), (5, ("H800", "7.8"))]),
    ]


def test_links_by_reference_and_comments_are_not_lost(tmp_path: Path) -> None:
    document = read_bytes(tmp_path, "q.md", "[1]: https://example.com\n    H800 7.8万\n".encode())
    assert shape(document) == [("text", None, [(1, ("[1]: https://example.com",)), (2, ("H800 7.8万",))])]


def test_words_struck_out_are_no_prices_and_are_named(tmp_path: Path) -> None:
    table = "| 型号 | 价 | 台数 |\n|---|---|---|\n| H800 | ~~**20**~~ 16 | 7~~8 或 9~~10 |\n| A800 | ~~5~~ | 1 |\n"
    text = f"{table}\n原价~~9 元~~，现价 8 元\n"
    document = read_bytes(tmp_path, "q.md", text.encode())
    assert shape(document) == [
        ("table", None, [(1, ("型号", "价", "台数")), (3, ("H800", "16", "7~~8 或 9~~10")), (4, ("A800", "", "1"))]),
        ("text", None, [(6, ("原价，现价 8 元",))]),
    ]
    assert reasons(document) == [
        ("B3", "struck out, so left out: 20"),
        ("B4", "struck out, so left out: 5"),
        ("6", "struck out, so left out: 9 元"),
    ]

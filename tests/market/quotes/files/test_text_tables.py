from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.market.quotes.files import read_document
from suanpei.market.quotes.files.delimited import choose_delimiter, split_lines
from tests.market.quotes.files.samples import DATA, read_bytes, reasons, rows, shape

if TYPE_CHECKING:
    from pathlib import Path

QUOTE = "供应商,型号,报价\n甲云,H800 80G,78000\n乙算力,A800,6.8\n"
QUOTE_ROWS = [(1, ("供应商", "型号", "报价")), (2, ("甲云", "H800 80G", "78000")), (3, ("乙算力", "A800", "6.8"))]


def test_the_chinese_quote_is_read_row_by_row() -> None:
    document = read_document(DATA / "quotes_cn_messy.csv")
    assert document.unread == ()
    (sheet,) = document.sheets
    assert (sheet.kind, sheet.name) == ("table", None)
    lines = dict(rows(sheet))
    assert sorted(lines) == [*range(1, 19), 20, 21]  # 19 is blank
    assert {len(cells) for cells in lines.values()} == {12}
    assert lines[1][0] == "算力资源报价单（示例，虚构供应商）"
    assert (lines[2][0], lines[2][9]) == ("报价日期：２０２５年３月", "有效期15天")
    assert lines[3] == (
        *("序号", "供应商", "型号", "配置", "数量", "报价", "单位", "计费方式", "起租期", "网络", "税", "备注"),
    )
    assert lines[4] == (
        *(
            "1",
            "甲云",
            "H800 80G SXM5",
            "8卡整机 2×8468/2T内存/4×7.68T NVMe",
            "16台",
            "78,000",
            "元/台/月",
            "月付",
            "3个月",
        ),
        *("8×400G IB", "不含税(6%)", "含机柜电费"),
    )
    assert lines[12] == (
        "9",
        "壬云",
        "L40S 48G",
        "8卡",
        "",
        "￥3.5",
        "/卡·时",
        "包年8折",
        "1年",
        "无",
        "含税",
        "8折后另算",
    )
    assert lines[20][:6] == ("合计", "", "", "", "", "—")
    assert lines[21][0] == "注：以上为参考价，最终以合同为准"


def test_the_english_quote_is_read_row_by_row() -> None:
    document = read_document(DATA / "quotes_en.csv")
    (sheet,) = document.sheets
    lines = dict(rows(sheet))
    assert sorted(lines) == list(range(1, 14))
    assert {len(cells) for cells in lines.values()} == {10}
    assert lines[5] == (
        *("Delta Metal", "A100 80GB", "SXM4", "8x", "1.450,00 EUR", "pro GPU/Monat zzgl. 19% USt", "6 months", "", ""),
        "decimal comma",
    )
    assert lines[9][5] == "USD GPU component only; + $0.010/vCPU-hr + $0.005/GB-RAM-hr"
    assert lines[12][4:6] == ("$15.92", "labelled 'per GPU on-demand'; same row lists spot $1.99")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gbk", "gb18030"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(tmp_path: Path, encoding: str, end: str) -> None:
    data = QUOTE.replace("\n", end).encode(encoding)
    assert rows(read_bytes(tmp_path, "报价.csv", data).sheets[0]) == QUOTE_ROWS


def test_utf_16_of_either_order(tmp_path: Path) -> None:
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        document = read_bytes(tmp_path, "q.txt", mark + QUOTE.replace(",", "\t").encode(encoding))
        assert shape(document) == [("table", None, QUOTE_ROWS)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["q.csv", "q.tsv"])
def test_delimiters_whatever_the_ending(tmp_path: Path, delimiter: str, name: str) -> None:
    document = read_bytes(tmp_path, name, QUOTE.replace(",", delimiter).encode())
    assert rows(document.sheets[0]) == QUOTE_ROWS


def test_decimal_commas_do_not_part_the_cells_of_a_semicolon_file(tmp_path: Path) -> None:
    text = (
        "Preisliste, bis 31,12, netto, zzgl. USt\nGPU;Stunde;Monat;Jahr\nA100;1,99;1.450,00;15,5\nH100;2,49;1,8;20,5\n"
    )
    document = read_bytes(tmp_path, "q.csv", text.encode())
    assert rows(document.sheets[0])[1:] == [
        (2, ("GPU", "Stunde", "Monat", "Jahr")),
        (3, ("A100", "1,99", "1.450,00", "15,5")),
        (4, ("H100", "2,49", "1,8", "20,5")),
    ]


def test_the_delimiter_is_chosen_over_all_lines_not_the_first() -> None:
    title = "算力报价, 含税, 2025; 2026; 仅供参考;;"
    assert choose_delimiter([title, "型号\t价格", "H800\t1", "A800\t2", "H20\t3", "L40S\t4", "A10\t5", "T4\t6"]) == "\t"
    assert choose_delimiter(["H800", "A800"]) is None
    assert choose_delimiter(["1,5", "2,5"]) == ","


def test_a_declared_delimiter_is_taken_and_is_no_row(tmp_path: Path) -> None:
    document = read_bytes(tmp_path, "q.csv", b"sep=^\r\nGPU^price\r\nH800^1,5\r\n")
    assert shape(document) == [("table", None, [(1, ("GPU", "price")), (2, ("H800", "1,5"))])]


def test_quoted_cells_hold_commas_quotes_and_lines(tmp_path: Path) -> None:
    text = 'a,b,c\n"8卡\n整机","78,000","含""税"""\nx,"y",z\n'
    assert rows(read_bytes(tmp_path, "q.csv", text.encode()).sheets[0]) == [
        (1, ("a", "b", "c")),
        (2, ("8卡\n整机", "78,000", '含"税"')),
        (3, ("x", "y", "z")),
    ]


def test_ragged_and_blank_rows_keep_their_numbers(tmp_path: Path) -> None:
    text = "a,b,c\n\n1,2\n,,\n 1 , 2 ,3,4\u3000\n"
    assert rows(read_bytes(tmp_path, "q.csv", text.encode()).sheets[0]) == [
        (1, ("a", "b", "c")),
        (3, ("1", "2")),
        (5, ("1", "2", "3", "4")),
    ]


def test_a_quotation_mark_that_never_closes_costs_its_own_row_only(tmp_path: Path) -> None:
    lines = ["型号,盘,价", 'H800,"7.68T,5', *(f'A{i},"1,5",{i}' for i in range(80))]
    document = read_bytes(tmp_path, "q.csv", "\n".join(lines).encode())
    (sheet,) = document.sheets
    assert rows(sheet)[1:3] == [(2, ("H800", '"7.68T', "5")), (3, ("A0", "1,5", "0"))]
    assert rows(sheet)[-1] == (82, ("A79", "1,5", "79"))
    assert reasons(document) == [
        ("2", "a quotation mark is not closed within 50 lines: it is read as a plain character")
    ]


def test_an_unclosed_mark_in_the_last_row(tmp_path: Path) -> None:
    document = read_bytes(tmp_path, "q.csv", b'a,b\n1,"2\n')
    assert rows(document.sheets[0]) == [(1, ("a", "b")), (2, ("1", '"2'))]
    assert [cell for cell, _ in reasons(document)] == ["2"]


def test_a_line_beyond_the_limit_of_the_csv_reader_is_read(tmp_path: Path) -> None:
    document = read_bytes(tmp_path, "q.csv", b"a,b\n" + b"x" * 200_000 + b",2\n3,4\n")
    assert [len(cells[1]) for _, cells in rows(document.sheets[0])] == [1, 1, 1]


def test_a_list_in_a_file_named_as_a_table_is_text(tmp_path: Path) -> None:
    assert shape(read_bytes(tmp_path, "q.csv", b"H800\n\nA800\n")) == [("text", None, [(1, ("H800",)), (3, ("A800",))])]


def test_a_csv_file_without_its_ending_is_known_by_its_lines(tmp_path: Path) -> None:
    data = (DATA / "quotes_cn_messy.csv").read_bytes()
    assert shape(read_bytes(tmp_path, "quote.txt", data)) == shape(read_document(DATA / "quotes_cn_messy.csv"))


def test_fifty_thousand_rows_keep_their_order(tmp_path: Path) -> None:
    body = "\n".join(f'{i},"甲, 云",H800,{i * 2}' for i in range(2, 50_001))
    (sheet,) = read_bytes(tmp_path, "q.csv", f"序号,供应商,型号,价\n{body}\n".encode("gbk")).sheets
    assert len(sheet.lines) == 50_000
    assert all(line.cells[0] == str(line.row) and line.cells[3] == str(2 * line.row) for line in sheet.lines[1:])


@pytest.mark.parametrize(
    ("data", "line", "offset"),
    [
        ("价格\n".encode() + b"a\xff\xff", 2, 9),
        (("含税价格" * 20 + "\n价格").encode()[:-1], 2, 245),
        (b"\xff\xfea\x00\n\x00b", 2, 7),
        ("GPU;Ort\nH100;Zürich\n".encode("cp1252"), 2, 15),
    ],
)
def test_bytes_that_do_not_decode_are_named(tmp_path: Path, data: bytes, line: int, offset: int) -> None:
    with pytest.raises(InputError, match=rf"q.csv, line {line}: neither UTF-8 nor GBK text at byte {offset}; save it"):
        read_bytes(tmp_path, "q.csv", data)


def test_lines_end_as_on_any_system_only() -> None:
    assert split_lines("a\u2028b\x0cc\n\nd") == ["a\u2028b\x0cc", "", "d"]
    assert split_lines("") == []

from __future__ import annotations

import datetime as dt
import io
import zipfile
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Font
from openpyxl.styles.numbers import BUILTIN_FORMATS

from suanpei.market.quotes.files.workbook import column_of, read_reference
from tests.market.quotes.files.samples import make_workbook, read_bytes, reasons, rows, shape

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from suanpei.market.quotes.document import Document


def read_book(folder: Path, fill: Callable[[Any], None]) -> Document:
    return read_bytes(folder, "报价.xlsx", make_workbook(fill))


def rewrite(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """Write a workbook again with its parts changed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return stream.getvalue()


def fill_quote(book: Any) -> None:
    sheet = book.active
    sheet.title = "国内"
    for row in (
        ["算力资源报价单"],
        ["供应商", "型号", "报价", "税率", "日期"],
        ["甲云", "H800", 78000, 0.06, dt.date(2025, 3, 1)],
        [None, "A800", 6.8, 0.13, dt.datetime(2025, 3, 1, 10, 30)],  # noqa: DTZ001
        [],
        ["海外"],
        ["癸", "H100", 2.35, None, "3月"],
    ):
        sheet.append(row)
    sheet.merge_cells("A1:E1")
    sheet.merge_cells("A3:A4")
    sheet["C3"].number_format = '"¥"#,##0"/台/月"'
    sheet["C7"].number_format = "$#,##0.00"
    sheet["D3"].number_format = sheet["D4"].number_format = "0%"


def test_a_sheet_is_read_as_it_is_shown_and_merged_cells_repeat(tmp_path: Path) -> None:
    document = read_book(tmp_path, fill_quote)
    assert shape(document) == [
        (
            "table",
            None,
            [
                (1, ("算力资源报价单",) * 5),
                (2, ("供应商", "型号", "报价", "税率", "日期")),
                (3, ("甲云", "H800", "¥78,000/台/月", "6%", "2025-03-01")),
                (4, ("甲云", "A800", "6.8", "13%", "2025-03-01 10:30")),
                (6, ("海外",)),
                (7, ("癸", "H100", "$2.35", "", "3月")),
            ],
        )
    ]
    assert document.unread == ()


def test_values_agree_with_openpyxl_where_no_format_adds_anything(tmp_path: Path) -> None:
    table = [
        [f"r{row}c{column}" if (row + column) % 3 else row * column + 0.25 for column in range(7)] for row in range(40)
    ]

    def fill(book: Any) -> None:
        for row in table:
            book.active.append(row)

    data = make_workbook(fill)
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True)
    expected = [tuple(str(value) for value in row) for row in book.active.iter_rows(values_only=True)]
    book.close()
    (sheet,) = read_bytes(tmp_path, "q.xlsx", data).sheets
    assert [cells for _, cells in rows(sheet)] == expected


def test_several_sheets_hidden_ones_too(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        book.active.title = "国内"
        book.active.append(["甲", "7.8万"])
        book.create_sheet("空")
        hidden = book.create_sheet("底价")
        hidden.sheet_state = "veryHidden"
        book.create_sheet("公式").append(["=1+1"])
        hidden.append(["乙", "6万"])
        hidden.append(["丙", "5万"])
        hidden.append(["丁", "4万"])
        hidden.row_dimensions[2].hidden = hidden.row_dimensions[3].hidden = True
        hidden.column_dimensions["B"].hidden = True
        hidden.column_dimensions["K"].hidden = True

    document = read_book(tmp_path, fill)
    assert shape(document) == [
        ("table", "国内", [(1, ("甲", "7.8万"))]),
        ("table", "底价", [(1, ("乙", "6万")), (2, ("丙", "5万")), (3, ("丁", "4万"))]),
    ]
    assert reasons(document) == [
        ("底价", "the sheet is hidden in the workbook; it is read all the same"),
        ("底价!A2:A3", "the row is hidden in the workbook; it is read all the same"),
        ("底价!B1", "the column is hidden in the workbook; it is read all the same"),
        ("公式!A1", "a formula whose value is not stored; open the workbook, save it again and retry"),
    ]
    assert [item.is_read for item in document.unread] == [True, True, True, False]


def test_formulas_without_values_and_errors_are_named_by_ranges(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        book.active.append(["型号", "单价", "总价"])
        for row in range(2, 5):
            book.active.append(["H800", 5, f"=B{row}*8"])
        book.active.append(["A800", "=1/0", 3])

    def give_error(name: str, data: bytes) -> bytes:
        if name != "xl/worksheets/sheet1.xml":
            return data
        return data.replace(
            b'<c r="B5"><f>1/0</f><v></v></c>', b'<c r="B5" t="e"><f>1/0</f><v>#DIV/0!</v></c>'
        ).replace(b'<c r="B5"><f>1/0</f><v /></c>', b'<c r="B5" t="e"><f>1/0</f><v>#DIV/0!</v></c>')

    document = read_bytes(tmp_path, "q.xlsx", rewrite(make_workbook(fill), give_error))
    assert rows(document.sheets[0]) == [
        (1, ("型号", "单价", "总价")),
        *((row, ("H800", "5")) for row in range(2, 5)),
        (5, ("A800", "#DIV/0!", "3")),
    ]
    assert reasons(document) == [
        ("C2:C4", "a formula whose value is not stored; open the workbook, save it again and retry"),
        ("B5", "the cell shows an error instead of a value"),
    ]


def test_stored_values_of_formulas_are_read(tmp_path: Path) -> None:
    data = make_workbook(lambda book: book.active.append(["H800", "=A1", "=2*3", '=""']))

    def store(name: str, part: bytes) -> bytes:
        if name != "xl/worksheets/sheet1.xml":
            return part
        for formula, value, kind in ((b"A1", b"H800", b' t="str"'), (b"2*3", b"6", b""), (b'""', b"", b' t="str"')):
            for empty in (b"<v></v>", b"<v />", b"<v/>"):
                part = part.replace(b"<f>" + formula + b"</f>" + empty, b"<f>" + formula + b"</f><v>" + value + b"</v>")
            before, mark, after = part.partition(b"><f>" + formula)
            part = before + kind + mark + after
        return part

    document = read_bytes(tmp_path, "q.xlsx", rewrite(data, store))
    assert shape(document) == [("table", None, [(1, ("H800", "H800", "6"))])]
    assert document.unread == ()


def test_struck_out_prices_comments_and_far_columns_are_named(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        sheet = book.active
        sheet.append(["H800", 9, 7.8])
        sheet["B1"].font = Font(strike=True)
        sheet["D1"] = CellRichText(TextBlock(InlineFont(strike=True), "9万"), TextBlock(InlineFont(b=True), "8万"))
        sheet["A1"].comment = Comment("仅限三台", "甲")
        sheet.cell(row=1, column=300, value="far")

    document = read_book(tmp_path, fill)
    assert rows(document.sheets[0]) == [(1, ("H800", "", "7.8", "8万"))]
    assert reasons(document) == [
        ("KN1", "beyond the first 256 columns, which are read"),
        ("", "struck out, so left out: B1 9, D1 9万"),
        ("", "comments on cells are not read"),
    ]


def test_a_format_in_the_currency_of_the_readers_computer_is_asked_about(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        book.active.append([6.8, 7])
        book.active["A1"].number_format = BUILTIN_FORMATS[7]  # stored by its number alone
        book.active["B1"].number_format = "$0.00"

    document = read_book(tmp_path, fill)
    assert rows(document.sheets[0]) == [(1, ("6.80", "$7.00"))]
    reason = "the cell shows the currency of whichever computer opens it; the workbook names none"
    assert reasons(document) == [("A1", reason)]


def test_merged_ranges_beyond_the_sheet_are_cut(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        book.active.append(["甲", "H800", "7"])
        book.active.append([None, "A800", "6"])
        book.active.append([None, None, None])

    ranges = b'<mergeCells><mergeCell ref="A1:A1048576"/><mergeCell ref="C2:XFD2"/><mergeCell ref="?"/></mergeCells>'
    data = rewrite(make_workbook(fill), lambda _, part: part.replace(b"</sheetData>", b"</sheetData>" + ranges))
    document = read_bytes(tmp_path, "q.xlsx", data)
    assert rows(document.sheets[0]) == [(1, ("甲", "H800", "7")), (2, ("甲", "A800", "6"))]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://purl.oclc.org/ooxml/spreadsheetml/main"),
        (
            "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
            "http://purl.oclc.org/ooxml/officeDocument/relationships",
        ),
    ],
)
def test_workbooks_of_the_strict_standard(tmp_path: Path, old: str, new: str) -> None:
    data = rewrite(make_workbook(fill_quote), lambda _, part: part.replace(old.encode(), new.encode()))
    assert shape(read_bytes(tmp_path, "q.xlsx", data)) == shape(read_book(tmp_path, fill_quote))


def test_shared_texts_and_rows_without_references(tmp_path: Path) -> None:
    """As other programs write: texts by number, with phonetic guides, cells and rows without their names."""
    sheet = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        b'<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="b"><v>1</v></c></row>'
        b'<row r="2"><c r="B2"><v>x</v></c><c r="A2" t="s"><v>2</v></c><c r="C2"><v>3</v><extLst/></c></row>'
        b'<row r="4"><c r="B4" t="s"><v>7</v></c><c t="d"><v>2025-03-01</v></c><c><v>1.0000000000000002</v></c></row>'
        b"</sheetData></worksheet>"
    )
    texts = (
        '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>甲云</t></si>'
        "<si><r><t>H</t></r><r><t>800</t></r><rPh sb='0' eb='1'><t>guide</t></rPh></si>"
        "<si><t>乙云</t><rPh sb='0' eb='1'><t>guide</t></rPh></si></sst>"
    )
    sheets = '<sheet name="一" r:id="x"/><sheet name="图" r:id="z"/><sheet name="缺"/>'
    parts = {
        "_rels/.rels": (
            '<Relationships xmlns="r"><Relationship Id="b" Type="t/x" Target="http://x" TargetMode="External"/>'
            '<Relationship Id="a" Type="t/officeDocument" Target="/xl/workbook.xml"/>'
            "</Relationships>"
        ),
        "xl/workbook.xml": f'<workbook xmlns:r="rel"><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": (
            '<Relationships xmlns="r"><Relationship Id="x" Type="t/worksheet" Target="worksheets/a.xml"/>'
            '<Relationship Id="y" Type="t/sharedStrings" Target="texts.xml"/></Relationships>'
        ),
        "xl/worksheets/a.xml": sheet.decode(),
        "xl/texts.xml": texts,
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    document = read_bytes(tmp_path, "q.xlsx", stream.getvalue())
    assert shape(document) == [
        ("table", None, [(1, ("甲云", "H800", "TRUE")), (2, ("乙云", "x", "3")), (4, ("", "", "2025-03-01", "1"))])
    ]
    assert reasons(document) == [
        ("B4", "the cell shows an error instead of a value"),  # a shared text that is not there
        ("图", "the sheet has no cells: a chart, or missing from the workbook"),
        ("缺", "the sheet has no cells: a chart, or missing from the workbook"),
    ]


def test_pictures_in_a_workbook_are_named(tmp_path: Path) -> None:
    data = make_workbook(lambda book: book.active.append(["见图"]))
    stream = io.BytesIO(data)
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("xl/media/image1.png", b"x")
        archive.writestr("xl/drawings/drawing1.xml", "<d xmlns:a='x'><a:t> 押一付三 </a:t></d>")
    assert reasons(read_bytes(tmp_path, "q.xlsx", stream.getvalue())) == [
        ("", "pictures are not read: 1"),
        ("", "text boxes that float over the cells are not read"),
    ]


@pytest.mark.parametrize(
    ("letters", "column"), [("A", 0), ("Z", 25), ("AA", 26), ("AZ", 51), ("ZZ", 701), ("XFD", 16383)]
)
def test_columns_by_their_letters(letters: str, column: int) -> None:
    assert column_of(letters) == column
    assert read_reference(f"{letters}12") == (12, column)


@pytest.mark.parametrize("reference", ["", "A", "12", "A1:B2", "$A$1", "ABCD1"])
def test_names_of_no_cell(reference: str) -> None:
    assert read_reference(reference) is None

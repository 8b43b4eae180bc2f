from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from tests.market.quotes.files.samples import read_bytes, reasons, shape

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from suanpei.market.quotes.document import Document


def read_word(folder: Path, fill: Callable[[Any], None]) -> Document:
    document = docx.Document()
    fill(document)
    stream = io.BytesIO()
    document.save(stream)
    return read_bytes(folder, "报价.docx", stream.getvalue())


def put_table(parent: Any, cells: list[list[str]]) -> Any:
    table = parent.add_table(rows=len(cells), cols=len(cells[0]))
    for row, texts in zip(table.rows, cells, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    return table


def test_paragraphs_and_tables_in_the_order_of_the_body(tmp_path: Path) -> None:
    def fill(document: Any) -> None:
        document.add_heading("算力报价", level=1)
        document.add_paragraph("")
        document.add_paragraph("2025年3月\n含税价")
        table = put_table(
            document, [["供应商", "型号", "价格", ""], ["甲云", "H800", "7.8万", ""], ["", "A800", "6.8", "元"]]
        )
        table.cell(0, 2).merge(table.cell(0, 3))
        table.cell(1, 0).merge(table.cell(2, 0))
        document.add_paragraph("注：参考价", style="List Bullet")
        put_table(document, [["a", "b"], ["1", "2"]])

    assert shape(read_word(tmp_path, fill)) == [
        ("text", None, [(1, ("算力报价",)), (2, ("2025年3月",)), (3, ("含税价",))]),
        (
            "table",
            "T1",
            [
                (1, ("供应商", "型号", "价格", "价格")),
                (2, ("甲云", "H800", "7.8万", "")),
                (3, ("甲云", "A800", "6.8", "元")),
            ],
        ),
        ("text", None, [(4, ("注：参考价",))]),
        ("table", "T2", [(1, ("a", "b")), (2, ("1", "2"))]),
    ]


def test_a_nested_table_follows_the_one_that_holds_it(tmp_path: Path) -> None:
    def fill(document: Any) -> None:
        table = put_table(document, [["甲云", "见内"], ["乙", "丙"]])
        put_table(table.cell(0, 1), [["H800", "7.8"], ["A800", "6"]])

    assert shape(read_word(tmp_path, fill)) == [
        ("table", "T1", [(1, ("甲云", "见内")), (2, ("乙", "丙"))]),
        ("table", "T2", [(1, ("H800", "7.8")), (2, ("A800", "6"))]),
    ]


def test_paragraphs_with_tabs_are_a_table(tmp_path: Path) -> None:
    def fill(document: Any) -> None:
        for line in ("报价：", "型号\t价格", "H800\t7.8万"):
            document.add_paragraph(line)

    assert shape(read_word(tmp_path, fill)) == [
        ("text", None, [(1, ("报价：",))]),
        ("table", None, [(2, ("型号", "价格")), (3, ("H800", "7.8万"))]),
    ]


def test_headers_and_footers_are_read_around_the_body(tmp_path: Path) -> None:
    def fill(document: Any) -> None:
        document.sections[0].header.paragraphs[0].text = "甲云科技有限公司"
        document.sections[0].footer.paragraphs[0].text = "电话 000"
        document.add_paragraph("H800 7.8万")

    lines = [(1, ("甲云科技有限公司",)), (2, ("H800 7.8万",)), (3, ("电话 000",))]
    assert shape(read_word(tmp_path, fill)) == [("text", None, lines)]


def test_struck_deleted_and_hidden_runs_are_not_read(tmp_path: Path) -> None:
    def fill(document: Any) -> None:
        paragraph = document.add_paragraph("H800 ")
        paragraph.add_run("9万").font.strike = True
        paragraph.add_run("8万")
        paragraph.add_run("底价").font.hidden = True
        for xml in (
            f"<w:del {nsdecls('w')}><w:r><w:delText>七万</w:delText></w:r></w:del>",
            f"<w:ins {nsdecls('w')}><w:r><w:t>/月</w:t></w:r></w:ins>",
        ):
            paragraph._p.append(parse_xml(xml))

    document = read_word(tmp_path, fill)
    assert shape(document) == [("text", None, [(1, ("H800 8万/月",))])]
    assert reasons(document) == [("", "struck out, so left out: 9万"), ("", "hidden pieces of text are not read: 1")]


def test_text_boxes_are_read_once_after_their_paragraph(tmp_path: Path) -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>框内：押一付三</w:t></w:r></w:p></w:txbxContent>"
    names = nsdecls("w") + ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    drawn = (
        f"<mc:AlternateContent {names}><mc:Choice Requires='wps'><w:drawing>{box}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent>"
    )

    def fill(document: Any) -> None:
        run = document.add_paragraph("H800 7.8万").add_run()
        run._r.append(parse_xml(drawn))
        document.add_paragraph("完")

    lines = [(1, ("H800 7.8万",)), (2, ("框内：押一付三",)), (3, ("完",))]
    assert shape(read_word(tmp_path, fill)) == [("text", None, lines)]


def test_pictures_in_a_document_are_named(tmp_path: Path) -> None:
    from PIL import Image

    picture = io.BytesIO()
    Image.new("RGB", (2, 2)).save(picture, "PNG")

    def fill(document: Any) -> None:
        document.add_paragraph("报价见图")
        picture.seek(0)
        document.add_picture(picture)

    assert reasons(read_word(tmp_path, fill)) == [("", "pictures are not read: 1")]


def test_a_large_table_keeps_its_rows(tmp_path: Path) -> None:
    def fill(document: Any) -> None:
        rows = "".join(
            f"<w:tr><w:tc><w:p><w:r><w:t>{row}</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>H800</w:t></w:r></w:p></w:tc></w:tr>"
            for row in range(1, 3001)
        )
        document.element.body.insert(0, parse_xml(f"<w:tbl {nsdecls('w')}>{rows}</w:tbl>"))

    (sheet,) = read_word(tmp_path, fill).sheets
    assert [line.cells for line in sheet.lines] == [(str(row), "H800") for row in range(1, 3001)]
    assert [line.row for line in sheet.lines] == list(range(1, 3001))


def test_rows_deleted_in_tracked_changes_and_footnotes(tmp_path: Path) -> None:
    def fill(document: Any) -> None:
        table = put_table(document, [["H800", "7.8"], ["A800", "6.5"], ["H20", "3.2"]])
        table.rows[1]._tr.get_or_add_trPr().append(parse_xml(f"<w:del {nsdecls('w')}/>"))
        document.add_comment(document.add_paragraph("x").runs, text="再降", author="a", initials="a")

    document = read_word(tmp_path, fill)
    assert shape(document)[0] == ("table", None, [(1, ("H800", "7.8")), (2, ("H20", "3.2"))])
    assert reasons(document) == [("", "comments are not read")]


def test_a_row_that_begins_further_right_and_content_controls(tmp_path: Path) -> None:
    def cell(text: str) -> str:
        return f"<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"

    table = (
        f"<w:tbl {nsdecls('w')}><w:tr>{cell('甲')}{cell('H800')}</w:tr><w:sdt><w:sdtContent><w:tr><w:trPr>"
        f"<w:gridBefore w:val='1'/></w:trPr>{cell('A800')}</w:tr></w:sdtContent></w:sdt></w:tbl>"
    )
    link = "<w:hyperlink><w:r><w:t>官网</w:t></w:r></w:hyperlink>"
    paragraph = f"<w:sdt {nsdecls('w')}><w:sdtContent><w:p>{link}</w:p></w:sdtContent></w:sdt>"

    def fill(document: Any) -> None:
        document.element.body.insert(0, parse_xml(table))
        document.element.body.insert(0, parse_xml(paragraph))

    assert shape(read_word(tmp_path, fill)) == [
        ("text", None, [(1, ("官网",))]),
        ("table", None, [(1, ("甲", "H800")), (2, ("", "A800"))]),
    ]

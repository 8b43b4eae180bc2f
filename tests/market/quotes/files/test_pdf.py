from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING

import fpdf
import pytest
from PIL import Image

from suanpei.errors import InputError
from suanpei.market.quotes.files import pdf as pdf_reader
from tests.market.quotes.files.samples import put_table, read_bytes, reasons, shape, start_pdf

if TYPE_CHECKING:
    from pathlib import Path

    from suanpei.market.quotes.document import Document

CHINESE = [
    ["供应商", "型号", "报价", "单位", "备注"],
    ["甲云", "H800 80G SXM5", "78,000", "元/台/月", "不含税(6%)，含机柜电费，押一付三，起租三个月"],
    ["乙算力", "A800-80G", "6.8", "元/卡/时", ""],
    ["丙智算", "H20 96G", "58", "万元/年", "整机价"],
]
LETTERS = "".join("".join(row) for row in CHINESE) + "算力资源报价单注以上为参考价，合计"
WIDTHS = (18, 34, 22, 24, 52)


def read_pdf(folder: Path, pdf: fpdf.FPDF) -> Document:
    return read_bytes(folder, "报价.pdf", bytes(pdf.output()))


def latin() -> fpdf.FPDF:
    pdf = fpdf.FPDF()
    pdf.set_font("Helvetica", size=10)
    pdf.add_page()
    return pdf


@pytest.mark.parametrize("borders", ["ALL", "NONE"])
def test_a_chinese_table_ruled_or_not_with_text_around(tmp_path: Path, borders: str) -> None:
    pdf = start_pdf(LETTERS, tmp_path)
    pdf.cell(text="算力资源报价单", new_x="LMARGIN", new_y="NEXT")
    pdf.ln(10)
    put_table(pdf, CHINESE, borders=borders, widths=WIDTHS)
    pdf.ln(10)
    pdf.cell(text="注 以上为参考价", new_x="LMARGIN", new_y="NEXT")
    assert shape(read_pdf(tmp_path, pdf)) == [
        ("text", None, [(1, ("算力资源报价单",))]),
        ("table", None, list(enumerate(map(tuple, CHINESE), start=2))),
        ("text", None, [(6, ("注 以上为参考价",))]),
    ]


@pytest.mark.parametrize(
    "borders", ["ALL", "NONE", "SINGLE_TOP_LINE", "MINIMAL", "HORIZONTAL_LINES", "NO_HORIZONTAL_LINES"]
)
@pytest.mark.parametrize("align", ["LEFT", "RIGHT", "CENTER"])
def test_an_english_table_however_ruled_and_aligned(tmp_path: Path, borders: str, align: str) -> None:
    table = [
        ["Provider", "GPU", "Price", "Min commit"],
        ["Alpha Cloud", "H100 80GB", "$2.49", "none"],
        ["Gamma", "H200 141GB", "$14,500", "36 months"],
        ["Delta Metal", "A100", "1.450,00 EUR", "6 months"],
    ]
    pdf = latin()
    with pdf.table(borders_layout=borders, text_align=align, width=170, first_row_as_headings=False) as drawn:
        for cells in table:
            drawn.row(cells)
    assert shape(read_pdf(tmp_path, pdf)) == [("table", None, list(enumerate(map(tuple, table), start=1)))]


def test_merged_cells_repeat_in_a_ruled_table(tmp_path: Path) -> None:
    pdf = latin()
    with pdf.table(width=150, first_row_as_headings=False) as drawn:
        drawn.row().cell("Domestic offers", colspan=3)
        row = drawn.row()
        row.cell("Alpha", rowspan=2)
        row.cell("H800")
        row.cell("7.8")
        row = drawn.row()
        row.cell("A800")
        row.cell("6.5")
    assert shape(read_pdf(tmp_path, pdf)) == [
        ("table", None, [(1, ("Domestic offers",) * 3), (2, ("Alpha", "H800", "7.8")), (3, ("Alpha", "A800", "6.5"))])
    ]


def test_a_table_that_goes_on_over_pages_is_one_and_its_header_is_read_once(tmp_path: Path) -> None:
    pdf = latin()
    pdf.set_auto_page_break(auto=True, margin=20)
    table = [["No", "GPU", "Price"], *([str(number), f"H{number}", f"{number}.5"] for number in range(1, 90))]
    with pdf.table(width=120) as drawn:  # the first row is repeated on each page
        for cells in table:
            drawn.row(cells)
    assert pdf.page_no() == 3
    ((kind, name, lines),) = shape(read_pdf(tmp_path, pdf))
    assert (kind, name) == ("table", "P1-3")
    assert [cells for _, cells in lines] == list(map(tuple, table))
    assert [row for row, _ in lines] == sorted({row for row, _ in lines})


def test_pages_are_named_and_one_without_text_is_said_to_be_a_scan(tmp_path: Path) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (20, 20), "white").save(picture, "PNG")
    pdf = latin()
    pdf.cell(text="Quote of Alpha Cloud")
    pdf.add_page()
    pdf.image(picture, w=100)
    pdf.add_page()
    pdf.add_page()
    pdf.cell(text="H800: 78,000 CNY per node and month")
    with pdf.rotation(45, x=50, y=100):
        pdf.text(50, 100, "DRAFT")
    document = read_pdf(tmp_path, pdf)
    assert shape(document) == [
        ("text", "P1", [(1, ("Quote of Alpha Cloud",))]),
        ("text", "P4", [(1, ("H800: 78,000 CNY per node and month",))]),
    ]
    assert reasons(document) == [
        ("P2", "the page is a picture without text, such as a scan; ask for a file with text"),
        ("P3", "the page has no text"),
        ("P4", "slanted text is not read: DRAFT"),
    ]


def test_a_page_that_is_turned_is_read_as_it_is_shown(tmp_path: Path) -> None:
    import pypdf

    pdf = latin()
    put_table(pdf, [["GPU", "Price"], ["H800", "7.8"], ["A800", "6.5"]], borders="ALL", widths=(40, 40))
    upright = bytes(pdf.output())
    for degrees in (90, 180, 270):
        writer = pypdf.PdfWriter(clone_from=io.BytesIO(upright))
        writer.pages[0].rotate(degrees)
        writer.pages[0].transfer_rotation_to_content()
        writer.pages[0].rotate(-degrees)
        stream = io.BytesIO()
        writer.write(stream)
        document = read_bytes(tmp_path, "q.pdf", stream.getvalue())
        assert shape(document) == shape(read_bytes(tmp_path, "u.pdf", upright))


def test_cells_shown_within_one_text_object_are_kept_apart(tmp_path: Path) -> None:
    """As TeX and some converters write: one object for the page, with moves along each line."""
    lines = [("GPU", "Price", "Term"), ("H800", "78000", "month"), ("A800", "6.8", "hour")]
    shown = "".join(
        f"1 0 0 1 50 {700 - 14 * row} Tm "
        + " 100 0 Td ".join(f"[({cell[:2]})-20({cell[2:]})] TJ" for cell in cells)
        + " "
        for row, cells in enumerate(lines)
    )
    assert shape(read_bytes(tmp_path, "q.pdf", make_pdf(f"BT /F1 10 Tf {shown} ET"))) == [
        ("table", None, list(enumerate(lines, start=1)))
    ]


def test_text_shown_in_several_steps_without_a_move_is_one_piece(tmp_path: Path) -> None:
    content = "BT /F1 10 Tf 50 700 Td (H8) Tj (00: ) Tj (7.8) Tj ET BT /F1 10 Tf 50 680 Td (A800: 6.5) Tj ET"
    document = read_bytes(tmp_path, "q.pdf", make_pdf(content))
    assert shape(document) == [("text", None, [(1, ("H800: 7.8",)), (2, ("A800: 6.5",))])]


def test_words_shown_letter_by_letter_are_put_together(tmp_path: Path) -> None:
    widths = {"H": 0.722, "8": 0.556, "0": 0.556, " ": 0.278, "x": 0.5}
    x, shown = 50.0, ""
    for letter in "H800 x8":
        if letter != " ":
            shown += f"BT /F1 10 Tf {x:.2f} 700 Td ({letter}) Tj ET "
        x += 10 * widths[letter]
    assert shape(read_bytes(tmp_path, "q.pdf", make_pdf(shown))) == [("text", None, [(1, ("H800 x8",))])]


def make_pdf(content: str) -> bytes:
    """A PDF of one page in Helvetica, written by hand."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Resources 6 0 R >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        "<< /Font << /F1 4 0 R >> >>",
    ]
    data, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n"
    return data + (head + f"<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n").encode()


def test_an_encrypted_file_is_refused_unless_it_opens_without_a_password(tmp_path: Path) -> None:
    pdf = latin()
    pdf.cell(text="H800 7.8")
    pdf.set_encryption(owner_password="owner", user_password="user")  # noqa: S106
    with pytest.raises(InputError, match="报价.pdf is encrypted; save it without a password"):
        read_pdf(tmp_path, pdf)
    pdf = latin()
    pdf.cell(text="H800 7.8")
    pdf.set_encryption(owner_password="owner")  # noqa: S106
    assert shape(read_pdf(tmp_path, pdf)) == [("text", None, [(1, ("H800 7.8",))])]


def test_a_file_of_too_many_pages_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_reader, "MOST_PAGES", 2)
    pdf = latin()
    pdf.add_page()
    pdf.add_page()
    with pytest.raises(InputError, match="has 3 pages, and at most 2 are read"):
        read_pdf(tmp_path, pdf)


def test_remarks_of_the_library_do_not_reach_the_user(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pdf = latin()
    pdf.cell(text="H800 7.8")
    damaged = bytes(pdf.output()).replace(b"startxref\n", b"startxref\n9")
    with caplog.at_level(logging.DEBUG):
        assert shape(read_bytes(tmp_path, "q.pdf", damaged)) == [("text", None, [(1, ("H800 7.8",))])]
    assert [record for record in caplog.records if record.name.startswith("pypdf")] == []
    assert logging.getLogger("pypdf").level == logging.NOTSET

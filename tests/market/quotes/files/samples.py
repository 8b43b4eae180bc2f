"""Files of quotes made for tests, and documents in a short form to compare."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fpdf
import openpyxl
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

from suanpei.market.quotes.files import read_document

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suanpei.market.quotes.document import Document, Sheet

DATA = Path(__file__).parents[3] / "data" / "quotes"
Rows = list[tuple[int, tuple[str, ...]]]


def rows(sheet: Sheet) -> Rows:
    return [(line.row, line.cells) for line in sheet.lines]


def shape(document: Document) -> list[tuple[str, str | None, Rows]]:
    return [(sheet.kind, sheet.name, rows(sheet)) for sheet in document.sheets]


def reasons(document: Document) -> list[tuple[str, str]]:
    return [(unread.cell, str(unread.reason)) for unread in document.unread]


def read_bytes(folder: Path, name: str, data: bytes) -> Document:
    path = folder / name
    path.write_bytes(data)
    return read_document(path)


def make_workbook(fill: Callable[[Any], None]) -> bytes:
    """A workbook that openpyxl writes; `fill` gets the book."""
    book = openpyxl.Workbook()
    fill(book)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def make_font(letters: str) -> io.BytesIO:
    """A TrueType font in which every letter is a box: half a square for ASCII, a whole one for the rest."""
    names = {letter: f"u{ord(letter):04X}" for letter in sorted(set(letters))}
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", *names.values()])
    builder.setupCharacterMap({ord(letter): name for letter, name in names.items()})
    pen = TTGlyphPen(None)
    pen.moveTo((50, 0))
    for corner in ((50, 700), (450, 700), (450, 0)):
        pen.lineTo(corner)
    pen.closePath()
    box = pen.glyph()
    builder.setupGlyf(dict.fromkeys([".notdef", *names.values()], box))
    widths = {name: (500 if letter < "\x7f" else 1000, 50) for letter, name in names.items()}
    builder.setupHorizontalMetrics({".notdef": (500, 50), **widths})
    builder.setupHorizontalHeader(ascent=880, descent=-120)
    builder.setupNameTable({"familyName": "Boxes", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    stream = io.BytesIO()
    builder.save(stream)
    stream.seek(0)
    return stream


def start_pdf(text: str, folder: Path) -> fpdf.FPDF:
    """A PDF with a page and a font that has the letters of a text."""
    path = folder / "boxes.ttf"
    path.write_bytes(make_font(text + " 0123456789/-.,").getvalue())
    pdf = fpdf.FPDF()
    pdf.add_font("Boxes", fname=str(path))
    pdf.set_font("Boxes", size=10)
    pdf.add_page()
    return pdf


def put_table(pdf: fpdf.FPDF, table: Sequence[Sequence[str]], *, borders: str, widths: Sequence[int]) -> None:
    with pdf.table(
        borders_layout=borders, col_widths=tuple(widths), width=sum(widths), first_row_as_headings=False
    ) as t:
        for cells in table:
            row = t.row()
            for cell in cells:
                row.cell(cell)

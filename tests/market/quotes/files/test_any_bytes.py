"""Whatever the bytes, reading gives a document or one line that says what is wrong with the file."""

from __future__ import annotations

import functools
import io
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import docx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.market.quotes.files import read_document, read_pasted
from tests.market.quotes.files.samples import make_workbook, put_table, start_pdf
from tests.market.quotes.files.test_page import PAGE
from tests.market.quotes.files.test_workbook import fill_quote, rewrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from suanpei.market.quotes.document import Document

ENDINGS = ("", ".csv", ".tsv", ".txt", ".md", ".html", ".xlsx", ".docx", ".pdf", ".xls")
STARTS = (
    b"",
    b"%PDF-1.7\n",
    b"PK\x03\x04",
    b"<table><tr><td>",
    b"| a | b |\n|---|---|\n",
    b"\xff\xfe",
    b"sep=;\n",
    b"\xef\xbb\xbf",
)
SHORT = settings(max_examples=60, deadline=None, derandomize=True)


def check(data: bytes, ending: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"quote{ending}"
        path.write_bytes(data)
        try:
            document = read_document(path)
        except InputError as error:
            assert str(error).startswith(str(path))
            assert "\n" not in str(error)
            return
    check_document(document)


def check_document(document: Document) -> None:
    assert document.sheets or document.unread
    for sheet in document.sheets:
        assert sheet.lines
        numbers = [line.row for line in sheet.lines]
        assert numbers == sorted(numbers)
        assert numbers[0] >= 1
        for line in sheet.lines:
            assert any(line.cells)
            assert all(cell == cell.strip() for cell in line.cells)
            assert sheet.kind == "table" or len(line.cells) == 1


@SHORT
@given(start=st.sampled_from(STARTS), data=st.binary(max_size=400), ending=st.sampled_from(ENDINGS))
@example(start=b"", data=b"\r", ending=".csv")
def test_any_bytes(start: bytes, data: bytes, ending: str) -> None:
    check(start + data, ending)


TEXTS = st.text(
    st.sampled_from(list("a1 ,;\t|\n\"'-=<>/&#*`[]()\\_~:.￥万元H800卡\u3000\u00a0\ufeff\r"))
    | st.characters(codec="utf-8"),
    max_size=300,
)


@SHORT
@given(
    text=TEXTS, ending=st.sampled_from(ENDINGS), encoding=st.sampled_from(("utf-8", "gb18030", "utf-16", "utf-8-sig"))
)
def test_any_text(text: str, ending: str, encoding: str) -> None:
    check(text.encode(encoding), ending)


@SHORT
@given(text=TEXTS)
def test_any_pasted_text(text: str) -> None:
    try:
        check_document(read_pasted(text, "pasted"))
    except InputError as error:
        assert str(error).startswith("pasted")


@SHORT
@given(
    table=st.lists(
        st.lists(
            st.text(st.sampled_from("a1 ,;\t\n\"'|万-"), max_size=6).map(str.strip), min_size=4, max_size=4
        ).filter(all),
        min_size=2,
        max_size=6,
    )
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_a_spreadsheet_writes_is_read_back(table: list[list[str]], delimiter: str) -> None:
    import csv

    stream = io.StringIO()
    stream.write(f"sep={delimiter}\r\n")
    csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(table)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "q.csv"
        path.write_bytes(stream.getvalue().encode("utf-8-sig"))
        (sheet,) = read_document(path).sheets
    assert [line.cells for line in sheet.lines] == [tuple(cells) for cells in table]


@functools.cache
def workbook() -> bytes:
    return make_workbook(fill_quote)


@functools.cache
def word() -> bytes:
    document = docx.Document()
    document.add_paragraph("报价")
    table = document.add_table(rows=2, cols=2)
    table.cell(0, 0).text = "H800"
    table.cell(1, 1).text = "7.8万"
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


@functools.cache
def pdf() -> bytes:
    with TemporaryDirectory() as folder:
        drawn = start_pdf("型号价格H800", Path(folder))
        drawn.set_compression(False)
        put_table(drawn, [["型号", "价格"], ["H800", "7.8"], ["A800", "6.5"]], borders="ALL", widths=(40, 40))
        return bytes(drawn.output())


def html() -> bytes:
    return PAGE.format(charset="utf-8").encode()


def damage(data: bytes, draw: random.Random) -> bytes:
    """Flip some bytes, cut a piece out, or end early."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 3, 20))):
        changed[draw.randrange(len(changed))] = draw.choice((0, 32, 48, 57, 60, 62, 255, draw.randrange(256)))
    if draw.random() < 0.3:
        start = draw.randrange(len(changed))
        del changed[start : start + draw.randrange(200)]
    return bytes(changed[: draw.randrange(len(changed))] if draw.random() < 0.3 else changed)


@pytest.mark.parametrize(("make", "ending"), [(workbook, ".xlsx"), (word, ".docx"), (pdf, ".pdf"), (html, ".html")])
@SHORT
@given(seed=st.integers(0, 2**32))
def test_damaged_files(make: Callable[[], bytes], ending: str, seed: int) -> None:
    check(damage(make(), random.Random(seed)), ending)


@pytest.mark.parametrize(("make", "ending"), [(workbook, ".xlsx"), (word, ".docx")])
@SHORT
@given(seed=st.integers(0, 2**32))
def test_damaged_parts_of_sound_archives(make: Callable[[], bytes], ending: str, seed: int) -> None:
    draw = random.Random(seed)
    check(rewrite(make(), lambda _, part: damage(part, draw) if draw.random() < 0.3 else part), ending)

from __future__ import annotations

import builtins
import io
import zipfile
from typing import TYPE_CHECKING, Any

import docx
import pytest

from suanpei.errors import InputError, MissingExtraError
from suanpei.market.quotes.files import archive, gathered, read, read_document, read_pasted
from suanpei.market.quotes.files.limits import MOST_CELL_CHARACTERS, MOST_NAMED
from tests.market.quotes.files.samples import make_workbook, read_bytes, reasons

if TYPE_CHECKING:
    from pathlib import Path

    from suanpei.market.quotes.document import Document

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def zipped(**parts: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in parts.items():
            package.writestr(name.replace("__", "/"), data)
    return stream.getvalue()


def utf16(name: str) -> bytes:
    return name.encode("utf-16-le") + bytes(8)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("q.csv", b"", "is empty"),
        ("q.csv", b"\xef\xbb\xbf \r\n", "is empty"),
        ("q.xlsx", b"\x89PNG\r\n\x1a\n", r"is a picture \(PNG\), and only text is read; ask the seller for a table"),
        ("q.pdf", b"\xff\xd8\xff\xe0", r"is a picture \(JPEG\)"),
        ("q.png", b"RIFF\0\0\0\0WEBP", r"is a picture \(WEBP\)"),
        ("q.png", b"\0\0\0\x18ftypheic", r"is a picture \(HEIC\)"),
        ("q.bmp", b"BM\0\0\0\0\0\0\0\0", r"is a picture \(BMP\)"),
        ("q.csv.gz", b"\x1f\x8b\x08", r"is a packed archive \(gzip\); unpack it and give the files in it"),
        ("q.zip", zipped(**{"quote.csv": b"a,b"}), r"is a packed archive \(zip\)"),
        ("q.pptx", zipped(ppt__presentation=b""), "is a presentation"),
        ("q.ods", zipped(mimetype=b"", **{"content.xml": b""}), "is an OpenDocument file; save it as .xlsx or .docx"),
        ("q.xlsb", zipped(**{"xl__workbook.bin": b""}), "is a binary Excel workbook"),
        ("q.xls", OLE + utf16("Workbook"), r"is a workbook of the old Excel format \(.xls\); save it as .xlsx"),
        ("q.doc", OLE + utf16("WordDocument"), r"is a document of the old Word format \(.doc\); save it as .docx"),
        ("q.xlsx", OLE + utf16("EncryptedPackage"), "is encrypted; save it without a password"),
        ("q.msg", OLE, "is an old Office file"),
        ("q.rtf", b"{\\rtf1 H800}", "is an RTF document"),
        ("q.mht", b"MIME-Version: 1.0\n", "is a web page saved as one file"),
        (
            "q.xls",
            b'<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet">',
            "is an Excel 2003",
        ),
        ("q.bin", b"H800\0\0\0", "is of no kind that is read; that takes CSV, XLSX"),
        ("q.txt", b"\x01\x02\x03\x04H800", "is of no kind that is read"),
        ("q.pdf", b"%PDF-1.7\n", "q.pdf is damaged"),
        ("q.xlsx", b"PK\x03\x04nothing", "q.xlsx is damaged"),
        ("q.xlsx", zipped(xl__x=b""), r"is damaged \(nothing in xl/workbook.xml\)"),
        ("q.docx", zipped(word__x=b""), r"is damaged \(nothing in word/document.xml\)"),
        ("q.docx", zipped(**{"word__document.xml": b"<a/>"}), r"is damaged \(nothing in word/document.xml\)"),
        ("q.docx", zipped(**{"word__document.xml": b"<a>"}), "q.docx is damaged"),
        ("q.xlsx", zipped(**{"xl__workbook.xml": b"<workbook/>"}), r"is damaged \(nothing in xl/workbook.xml\)"),
    ],
)
def test_a_file_that_is_not_read_is_named_in_one_line(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read_bytes(tmp_path, name, data)
    assert str(caught.value).startswith(str(tmp_path / name))
    assert "\n" not in str(caught.value)


def test_absent_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="absent.csv: there is no such file"):
        read_document(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="is a folder; name the files in it"):
        read_document(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_document(tmp_path / "a\0b")
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(InputError, match="cannot be read: Not a directory"):
        read_document(tmp_path / "file" / "quote.csv")


def test_empty_workbooks_and_documents(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="q.xlsx holds no text"):
        read_bytes(tmp_path, "q.xlsx", make_workbook(lambda book: book.active.append([None])))
    stream = io.BytesIO()
    docx.Document().save(stream)
    with pytest.raises(InputError, match="q.docx holds no text"):
        read_bytes(tmp_path, "q.docx", stream.getvalue())


def test_an_encrypted_archive_is_said_to_be(tmp_path: Path) -> None:
    data = bytearray(zipped(**{"xl__workbook.xml": b"<workbook/>"}))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + flags] |= 1
    with pytest.raises(InputError, match="q.xlsx is encrypted"):
        read_bytes(tmp_path, "q.xlsx", bytes(data))


def test_a_file_beyond_the_limits_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MOST_FILE_BYTES", 2**20)
    with pytest.raises(
        InputError, match="q.csv is larger than 1 MiB, which no price list is; give the part with prices"
    ):
        read_bytes(tmp_path, "q.csv", b"a," * 2**19 + b"b")
    with pytest.raises(InputError, match="pasted is larger than 1 MiB"):
        read_pasted("a" * (2**20 + 1), "pasted")
    monkeypatch.setattr(archive, "MOST_UNPACKED_BYTES", 2**20)
    bomb = zipped(**{"xl__workbook.xml": bytes(2**20 + 1)})
    assert len(bomb) < 5000
    with pytest.raises(InputError, match="q.xlsx unpacks to more than 1 MiB"):
        read_bytes(tmp_path, "q.xlsx", bomb)
    monkeypatch.setattr(archive, "MOST_UNPACKED_BYTES", 2**22)
    monkeypatch.setattr(archive, "MOST_TREE_BYTES", 2**20)
    with pytest.raises(InputError, match="q.docx: a text of more than 1 MiB is not read; save its table as CSV"):
        read_bytes(tmp_path, "q.docx", zipped(**{"word__document.xml": b"<d>" + b" " * 2**20 + b"</d>"}))
    monkeypatch.setattr(gathered, "MOST_CELLS", 1000)
    with pytest.raises(
        InputError, match="q.csv has more than 1,000 cells; give the sheets with prices in a file of their"
    ):
        read_bytes(tmp_path, "q.csv", b"1,2,3,4\n" * 251)


def test_entities_of_a_document_are_not_expanded(tmp_path: Path) -> None:
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 9))
    text = f'<!DOCTYPE d [<!ENTITY l0 "ha">{laughs}]><d><body><p><r><t>&l8;H800</t></r></p></body></d>'
    data = zipped(**{"word__document.xml": text.encode()})
    with pytest.raises(InputError, match="q.docx"):
        read_bytes(tmp_path, "q.docx", data)


@pytest.mark.parametrize(
    ("package", "name", "data"),
    [
        ("lxml", "q.html", b"<html><p>H800"),
        ("lxml", "q.xlsx", make_workbook(lambda book: book.active.append(["H800"]))),
        ("pypdf", "q.pdf", b"%PDF-1.7\n"),
    ],
)
def test_a_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, name: str, data: bytes
) -> None:
    real = builtins.__import__

    def refuse(module: str, *rest: Any, **more: Any) -> Any:
        if module.partition(".")[0] == package:
            raise ImportError(module)
        return real(module, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=rf"needs {package}, .*suanpei\[report\]"):
        read_bytes(tmp_path, name, data)


def test_many_places_of_one_kind_are_counted_rather_than_listed(tmp_path: Path) -> None:
    def fill(book: Any) -> None:
        for row in range(1, 200, 2):
            book.active.cell(row=row, column=1, value="=1+1")
            book.active.cell(row=row, column=2, value="H800")

    document = read_bytes(tmp_path, "q.xlsx", make_workbook(fill))
    assert [cell for cell, _ in reasons(document)] == [*(f"A{row}" for row in range(1, 2 * MOST_NAMED, 2)), ""]
    assert reasons(document)[-1][1].endswith("(80 more places)")


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("q.csv", "卡,备注\nH800,{long}\n", "B2"),
        ("q.md", "| 卡 | 备注 |\n|---|---|\n| H800 | {long} |\n", "B3"),
        ("q.txt", "H800 9元/卡时\n{long}\n", "2"),
    ],
)
def test_a_cell_without_end_is_cut_and_named(tmp_path: Path, name: str, text: str, place: str) -> None:
    def read(length: int) -> Document:
        return read_bytes(tmp_path, name, text.format(long="甲" * length).encode())

    assert reasons(read(MOST_CELL_CHARACTERS)) == []
    document = read(MOST_CELL_CHARACTERS + 1)
    assert reasons(document) == [(place, "only its first 32,767 characters are read")]
    assert max(len(cell) for sheet in document.sheets for line in sheet.lines for cell in line.cells) == 32_767

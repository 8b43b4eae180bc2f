"""What a file is, by its content first and the end of its name second."""

from __future__ import annotations

import io
import zipfile
from typing import Literal

from suanpei.errors import InputError
from suanpei.market.quotes.files.markdown import looks_like_markdown
from suanpei.market.quotes.files.page import looks_like_html
from suanpei.messages import Message

BinaryKind = Literal["workbook", "word", "pdf"]
TextKind = Literal["page", "markdown", "delimited", "plain"]

_PICTURES = {
    b"\x89PNG\r\n": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"GIF87a": "GIF",
    b"GIF89a": "GIF",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
}
_ARCHIVES = {
    b"\x1f\x8b": "gzip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "RAR",
    b"\xfd7zXZ\0": "xz",
    b"BZh": "bzip2",
}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PDF_WITHIN_BYTES = 1024
"""Of the beginning, in which readers of PDF look for its mark (ISO 32000-1, appendix H, note 13). [B]"""
_TEXT_ENDS: dict[str, TextKind] = {
    ".csv": "delimited",
    ".tsv": "delimited",
    ".tab": "delimited",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "page",
    ".htm": "page",
    ".xhtml": "page",
}
_CONTROLS = frozenset(map(chr, range(32))) - frozenset("\t\n\r\f\v\x1a\x1b")
_TOLD_BY_CHARACTERS = 4096


def find_binary_kind(data: bytes, file: str) -> BinaryKind | None:
    """Tell what a file is by its first bytes; None is text.

    Raises:
        InputError: It is something that is not read: a picture, an archive, an old or encrypted Office file, or binary
            data of no known kind.
    """
    if b"%PDF-" in data[:_PDF_WITHIN_BYTES]:
        return "pdf"
    if data.startswith(_ZIP):
        return _find_office_kind(data, file)
    if data.startswith(_OLE):
        raise _refuse_ole(data, file)
    for mark, kind in _PICTURES.items():
        if data.startswith(mark):
            raise _refuse_picture(kind, file)
    later_marks = {"WEBP": data[8:12] == b"WEBP", "HEIC": data[4:8] == b"ftyp", "BMP": _is_bitmap(data)}
    for kind, is_it in later_marks.items():
        if is_it:
            raise _refuse_picture(kind, file)
    for archive_mark, archive in _ARCHIVES.items():
        if data.startswith(archive_mark):
            raise InputError(
                Message(
                    "{file} is a packed archive ({kind}); unpack it and give the files in it", file=file, kind=archive
                )
            )
    if data.startswith(b"{\\rtf"):
        raise InputError(Message("{file} is an RTF document; save it as .docx", file=file))
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise refuse_binary(file)
    return None


def find_text_kind(text: str, end: str, file: str) -> TextKind:
    """Tell how a text is to be read.

    Args:
        text: The whole of it. [-]
        end: Of the file's name, with its dot; empty for a pasted text. [-]
        file: For messages. [-]

    Raises:
        InputError: It is no text, or a kind of text that is not read.
    """
    head = text[:_TOLD_BY_CHARACTERS]
    if sum(character in _CONTROLS for character in head) * 100 > len(head):
        raise refuse_binary(file)
    if "urn:schemas-microsoft-com:office:spreadsheet" in head and head.lstrip().startswith("<"):
        raise InputError(Message("{file} is an Excel 2003 XML workbook; save it as .xlsx", file=file))
    if head.lstrip().lower().startswith("mime-version:"):
        raise InputError(Message("{file} is a web page saved as one file (.mht); save it as .html or .xlsx", file=file))
    if looks_like_html(text):
        return "page"
    known = _TEXT_ENDS.get(end)
    if known == "page" and "<" not in text:
        known = None
    if known is not None:
        return known
    return "markdown" if looks_like_markdown(text) else "plain"


def refuse_binary(file: str) -> InputError:
    """Make the error of a file that is of no known kind."""
    return InputError(
        Message(
            "{file} is of no kind that is read; that takes CSV, XLSX, DOCX, HTML, Markdown, PDF with text, plain text",
            file=file,
        )
    )


def _refuse_picture(kind: str, file: str) -> InputError:
    return InputError(
        Message(
            "{file} is a picture ({kind}), and only text is read; ask the seller for a table, or paste its text",
            file=file,
            kind=kind,
        )
    )


def _is_bitmap(data: bytes) -> bool:
    return data.startswith(b"BM") and data[6:10] == b"\0\0\0\0"


def _find_office_kind(data: bytes, file: str) -> BinaryKind:
    try:
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as error:
        raise InputError(
            Message(
                "{file} is damaged ({why}); open it, save it again and retry",
                file=file,
                why=" ".join(str(error).split()) or type(error).__name__,
            )
        ) from error
    folders = {name.replace("\\", "/").lstrip("/").partition("/")[0].lower() for name in names}
    lower = {name.lower() for name in names}
    if "xl/workbook.bin" in lower:
        raise InputError(Message("{file} is a binary Excel workbook (.xlsb); save it as .xlsx", file=file))
    if "xl" in folders:
        return "workbook"
    if "word" in folders:
        return "word"
    if "ppt" in folders:
        raise InputError(Message("{file} is a presentation; save its tables as .xlsx, or it as a PDF", file=file))
    if "mimetype" in folders and "content.xml" in lower:
        raise InputError(Message("{file} is an OpenDocument file; save it as .xlsx or .docx", file=file))
    raise InputError(
        Message("{file} is a packed archive ({kind}); unpack it and give the files in it", file=file, kind="zip")
    )


def _refuse_ole(data: bytes, file: str) -> InputError:
    if any(name.encode("utf-16-le") in data for name in ("EncryptedPackage", "EncryptionInfo")):
        return InputError(Message("{file} is encrypted; save it without a password", file=file))
    if any(name.encode("utf-16-le") + b"\0\0" in data for name in ("Workbook", "Book")):
        return InputError(Message("{file} is a workbook of the old Excel format (.xls); save it as .xlsx", file=file))
    if "WordDocument".encode("utf-16-le") in data:
        return InputError(Message("{file} is a document of the old Word format (.doc); save it as .docx", file=file))
    return InputError(Message("{file} is an old Office file; save it as .xlsx, .docx or PDF", file=file))

"""Reading a quote's file, whatever its format, into lines that know their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.table import decode_text
from suanpei.market.quotes.files.delimited import read_delimited
from suanpei.market.quotes.files.gathered import Gathered
from suanpei.market.quotes.files.kinds import find_binary_kind, find_text_kind
from suanpei.market.quotes.files.limits import MOST_FILE_BYTES
from suanpei.market.quotes.files.markdown import read_markdown
from suanpei.market.quotes.files.page import decode_html, read_html
from suanpei.market.quotes.files.pdf import read_pdf
from suanpei.market.quotes.files.plain import read_plain
from suanpei.market.quotes.files.word import read_word
from suanpei.market.quotes.files.workbook import read_workbook
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from suanpei.market.quotes.document import Document
    from suanpei.market.quotes.files.kinds import BinaryKind, TextKind

_BINARY_READERS: dict[BinaryKind, Callable[[bytes, Gathered], None]] = {
    "workbook": read_workbook,
    "word": read_word,
    "pdf": read_pdf,
}
_TEXT_READERS: dict[TextKind, Callable[[str, Gathered], None]] = {
    "page": read_html,
    "markdown": read_markdown,
    "delimited": read_delimited,
    "plain": read_plain,
}


def read_document(path: Path) -> Document:
    """Read a file: CSV, XLSX, DOCX, HTML, Markdown, PDF with text, or plain text.

    What it is follows from its content, and from the end of its name only where the content leaves it open. Rows are
    numbered as a person counts them: in text files by line (in CSV by row, as a spreadsheet shows them), in workbooks
    by row, in documents and pages tables by their own rows and text by its lines. Merged cells repeat their value;
    blank rows are left out, and the numbers show the gap.

    Args:
        path: The file. [-]

    Returns:
        Its sheets in order, and what could not be turned into text.

    Raises:
        InputError: The file is absent, empty, too large, damaged, encrypted, of no known kind, or holds no text at all.
        MissingExtraError: Its format needs a package that is not installed.
    """
    file = str(path)
    data = _read_bytes(path)
    gathered = Gathered(file)
    kind = find_binary_kind(data, file)
    if kind is not None:
        _BINARY_READERS[kind](data, gathered)
    else:
        text = decode_text(data, file)
        text_kind = find_text_kind(text, path.suffix.lower(), file)
        _TEXT_READERS[text_kind](decode_html(data, file) if text_kind == "page" else text, gathered)
    return _close(gathered)


def read_pasted(text: str, name: str) -> Document:
    """Read a text that was pasted: chat messages, a list, or a table copied from a sheet or page.

    Args:
        text: As pasted. [-]
        name: Under which its lines are named. [-]

    Returns:
        Its sheets in order.

    Raises:
        InputError: It is empty, too large or no text.
        MissingExtraError: It is a page, and lxml is not installed.
    """
    gathered = Gathered(name)
    if len(text) > MOST_FILE_BYTES:
        raise _refuse_large(name)
    if not text.strip():
        raise InputError(Message("{file} is empty", file=name))
    kind = find_text_kind(text, "", name)
    _TEXT_READERS[kind](text, gathered)
    return _close(gathered)


def _read_bytes(path: Path) -> bytes:
    file = str(path)
    try:
        if path.is_dir():
            raise InputError(Message("{file} is a folder; name the files in it", file=file))
        with path.open("rb") as stream:
            data = stream.read(MOST_FILE_BYTES + 1)
    except FileNotFoundError as error:
        raise InputError(Message("{file}: there is no such file", file=file)) from error
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(Message("{file} cannot be read: {why}", file=file, why=why)) from error
    if len(data) > MOST_FILE_BYTES:
        raise _refuse_large(file)
    if not data.strip(b" \t\r\n\0\xef\xbb\xbf\xff\xfe"):
        raise InputError(Message("{file} is empty", file=file))
    return data


def _refuse_large(file: str) -> InputError:
    return InputError(
        Message(
            "{file} is larger than {most} MiB, which no price list is; give the part with prices in a file of its own",
            file=file,
            most=MOST_FILE_BYTES // 2**20,
        )
    )


def _close(gathered: Gathered) -> Document:
    """Close a file that holds something, or at least something to be named."""
    document = gathered.document()
    if not document.sheets and not document.unread:
        raise InputError(Message("{file} holds no text", file=gathered.file))
    return document

"""Tables as text: rows that know their place, read from CSV files of the catalogue and of users.

Cells stay text until a reader names the type it wants, so that a malformed cell is reported with its file, line and
column.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from suanpei.errors import InputError
from suanpei.machine.csv_lines import iterate_lines
from suanpei.messages import Message, excerpt
from suanpei.provenance import Provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from suanpei.provenance import Confidence

DELIMITERS = (",", "\t", ";")
MOST_NUMBER = 1e12
"""Larger than any figure of a catalogue in the unit of its column."""
MOST_TEXT_BYTES = 64 * 2**20
"""Of a user's table: 50,000 rows take 8 MB. [B]"""
UNDATED = ("", "undated")
_HIGH_PAIR = re.compile(rb"[\x80-\xff]{2}")
"""Two bytes beyond ASCII in a row: every Chinese text has them, a Western one has hardly any."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Row:
    """One row of a table, with the place it was read from."""

    file: str
    line: int
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        """Give a cell as written, without surrounding space; a blank or absent one is the empty string."""
        return self.cells.get(column, "")

    def required(self, column: str) -> str:
        """Give a cell that must not be blank.

        Raises:
            InputError: The cell is blank or its column absent.
        """
        if text := self.text(column):
            return text
        raise InputError(
            Message("{file}, line {line}: column {column} is blank and must be given", **self._place(column))
        )

    def number(self, column: str) -> float | None:
        """Give a cell as a number from zero to `MOST_NUMBER`; None where it is blank.

        Raises:
            InputError: The cell is no such number.
        """
        text = self.text(column)
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if 0 <= value <= MOST_NUMBER:
            return value
        raise InputError(
            Message(
                "{file}, line {line}: column {column} must be a number from 0 to 1e12, got {given}",
                **self._place(column),
                given=excerpt(text),
            )
        )

    def one_of(self, column: str, allowed: tuple[str, ...]) -> str:
        """Give a cell that must be one of `allowed` or blank.

        Raises:
            InputError: It is neither.
        """
        text = self.text(column)
        if text and text not in allowed:
            raise InputError(
                Message(
                    "{file}, line {line}: column {column} takes {allowed}, got {given}",
                    **self._place(column),
                    allowed=", ".join(allowed),
                    given=excerpt(text),
                )
            )
        return text

    def provenance(self, as_of: str | None, date_column: str = "") -> Provenance:
        """Give the origin of the row; `as_of` is the date of its table, used where the row has none."""
        confidence = self.one_of("confidence", ("high", "medium", "low", "unstated"))
        date = self.text(date_column) if date_column else ""
        known = cast("Confidence", confidence) if confidence in ("high", "medium", "low") else None
        return Provenance(
            source=self.text("source"),
            as_of=as_of if date in UNDATED else date,
            as_of_is_table=date in UNDATED,
            confidence=known,
            note=self.text("note"),
        )

    def _place(self, column: str) -> dict[str, Any]:
        return {"file": self.file, "line": self.line, "column": column}


def decode_text(data: bytes, file: str) -> str:
    """Decode a user's text file: UTF-8, with a byte-order mark or without, UTF-16 with one, else GBK.

    Text that is UTF-8 but for a few damaged bytes, and text of a Western encoding (Zürich), is refused rather than read
    as GBK, which would turn its characters into others.

    Raises:
        InputError: It is none of them; the first byte that fits none is named.
    """
    try:
        return _decode_unicode(data)
    except UnicodeDecodeError as error:
        offset = error.start
        if error.encoding.startswith("utf-16") or not _is_mostly_utf8(data):
            try:
                text = data.decode("gb18030")
            except UnicodeDecodeError as second:
                offset = max(offset, second.start)
            else:
                if _HIGH_PAIR.search(data):
                    return text
    raise InputError(
        Message(
            "{file}, line {line}: neither UTF-8 nor GBK text at byte {offset}; save it as UTF-8",
            file=file,
            line=data.count(b"\n", 0, offset) + 1,
            offset=offset + 1,
        )
    )


def _decode_unicode(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16")
    return data.decode("utf-8-sig")


def _is_mostly_utf8(data: bytes) -> bool:
    """Tell damaged UTF-8 from another encoding by the characters beyond ASCII: nine of ten must be whole. [-]"""
    beyond = [character for character in data.decode("utf-8", errors="replace") if character > "\x7f"]
    return beyond.count("\ufffd") * 10 <= len(beyond)


def read_text(path: Path) -> str:
    """Read a user's text file.

    Raises:
        InputError: It cannot be read, is larger than `MOST_TEXT_BYTES`, or is no text that `decode_text` knows.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_TEXT_BYTES + 1)
    except OSError as error:
        raise refuse_unreadable(path, error) from error
    if len(data) > MOST_TEXT_BYTES:
        raise InputError(
            Message(
                "{file} is larger than {most} MiB; give the lines that matter in a file of their own",
                file=str(path),
                most=MOST_TEXT_BYTES // 2**20,
            )
        )
    return decode_text(data, str(path))


def refuse_unreadable(path: Path, error: OSError) -> InputError:
    """Make the error of a file that the system does not let us read."""
    return InputError(Message("{file} cannot be read: {why}", file=str(path), why=str(error.strerror)))


def read_rows(
    text: str,
    file: str,
    *,
    known: Sequence[str] = (),
    required: Sequence[str] = (),
    aliases: Mapping[str, str] = MappingProxyType({}),
) -> list[Row]:
    """Split a CSV file into rows, as `split_cells` does; each knows its place.

    Returns:
        The rows, lines without a cell left out.

    Raises:
        InputError: As `split_cells`.
    """
    header, lines = split_cells(text, file, known=known, required=required, aliases=aliases)
    return [Row(file=file, line=line, cells=dict(zip(header, cells, strict=True))) for line, cells in lines]


def split_cells(
    text: str,
    file: str,
    *,
    known: Sequence[str] = (),
    required: Sequence[str] = (),
    aliases: Mapping[str, str] = MappingProxyType({}),
    leave: Callable[[int, InputError], None] | None = None,
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Split a CSV file into cells; commas, semicolons or tabs, whichever its header has most of.

    Args:
        text: The whole file. [-]
        file: Its name, for messages. [-]
        known: Columns that the header may have; none allows any. [-]
        required: Columns that it must have. [-]
        aliases: Other spellings of columns. [-]
        leave: Takes the number of a row of wrong length or that is no CSV, and what is wrong; None raises it. [-]

    Returns:
        The header, empty for an empty file, and the lines below it as they are read: number and cells without
        surrounding space, as many as the header has. Lines without a cell are left out.

    Raises:
        InputError: A column is unknown, repeated or missing; while the lines are read, a row of wrong length, or one
            that is no CSV; a quote never closed also with `leave`.
    """
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text), delimiter=max(DELIMITERS, key=first.count), strict=True)
    lines = iterate_lines(reader, file, leave)
    _, cells = next(lines, (0, []))
    header = [aliases.get(cell.casefold(), cell.casefold()) for cell in cells]
    if header:
        _check_header(header, file, known, required)
    return header, _of_length(lines, len(header), file, leave)


def _of_length(
    lines: Iterator[tuple[int, list[str]]], length: int, file: str, leave: Callable[[int, InputError], None] | None
) -> Iterator[tuple[int, list[str]]]:
    """Check that each line is as long as the header."""
    for line, cells in lines:
        if len(cells) == length:
            yield line, cells
            continue
        error = InputError(
            Message(
                "{file}, line {line}: {given} cells where the header has {expected}",
                file=file,
                line=line,
                given=len(cells),
                expected=length,
            )
        )
        if leave is None:
            raise error
        leave(line, error)


def _check_header(header: Sequence[str], file: str, known: Sequence[str], required: Sequence[str]) -> None:
    for column in header:
        if (known and column not in known) or header.count(column) > 1:
            raise InputError(
                Message(
                    "{file}: the header has an unknown or repeated column {column}; it takes {known}",
                    file=file,
                    column=excerpt(column) or "''",
                    known=", ".join(known or header),
                )
            )
    for column in required:
        if column not in header:
            raise InputError(
                Message(
                    "{file}: the column {column} is missing; the file needs {required}",
                    file=file,
                    column=column,
                    required=", ".join(required),
                )
            )

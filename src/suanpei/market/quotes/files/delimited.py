"""Text tables whose cells are parted by commas, tabs, semicolons or bars, as spreadsheets save them.

A row is numbered as a spreadsheet shows it: a quoted cell that spans lines is one row, and a blank line counts.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from suanpei.market.quotes.document import Line, Sheet, name_cell
from suanpei.market.quotes.files.gathered import Tidied, text_sheet
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from suanpei.market.quotes.files.gathered import Gathered

DELIMITERS = (",", "\t", ";", "|")
"""In the order of preference where two explain the lines equally well."""
_SAMPLE_LINES = 1000
"""Lines that the delimiter is chosen over. [-]"""
_QUOTED_LINES = 50
"""Of one quoted cell: a quotation mark that stays open longer was never meant to open a cell. [-]"""
_QUOTED_CHARACTERS = 100_000
"""Of one row: below the limit of Python's reader (131,072). [-]"""
_SURE_CELLS = 4
_SURE_ROWS = 3
"""Of a table in a file that is not named as one: prose rarely has three commas in most of its lines. [-]"""
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_DECLARED = re.compile(r'\s*"?sep=(.)"?\s*', re.IGNORECASE)
"""The first line by which Excel is told the delimiter; Excel does not show it as a row."""


def split_lines(text: str) -> list[str]:
    r"""Split at line ends of any system, and at nothing else.

    Example:
        >>> split_lines("a\r\nb\rc\x0bd\n")
        ['a', 'b', 'c\x0bd']
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def choose_delimiter(lines: Sequence[str]) -> str | None:
    """Choose what parts the cells: the one under which the lines hold the largest table.

    The size of a table of ``c`` columns is ``(c - 1)`` times the lines with at least ``c`` cells, so that titles, notes
    and ragged rows neither decide nor disturb. A comma between two digits counts only where nothing else parts the
    lines: it is a decimal comma or a thousands separator.

    Args:
        lines: The beginning of the file. [-]

    Returns:
        The delimiter; None where no line has any.
    """
    sample = [line for line in lines[:_SAMPLE_LINES] if line.strip()]
    without = [_DECIMAL_COMMA.sub("", line) for line in sample]
    sizes = {delimiter: _table_size(without if delimiter == "," else sample, delimiter) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=sizes.__getitem__)
    if sizes[best]:
        return best
    return "," if _table_size(sample, ",") else None


def _table_size(lines: Sequence[str], delimiter: str) -> int:
    counts = sorted((len(record.cells) for record in split_records(lines, delimiter)), reverse=True)
    return max((count - 1) * (place + 1) for place, count in enumerate(counts)) if counts else 0


def is_surely_delimited(lines: Sequence[str]) -> bool:
    """Whether a file of no known ending is a table: two of three lines have the same number of cells, four or more."""
    sample = [line for line in lines[:_SAMPLE_LINES] if line.strip()]
    delimiter = choose_delimiter(sample)
    if delimiter not in (",", ";"):
        return False
    counts = Counter(len(record.cells) for record in split_records(sample, delimiter))
    cells, rows = max(counts.items(), key=lambda item: item[1])
    return cells >= _SURE_CELLS and rows >= _SURE_ROWS and 3 * rows >= 2 * len(sample)


def read_delimited(text: str, gathered: Gathered) -> None:
    """Read a whole file as one table, titles and notes around it as rows of it.

    Args:
        text: The file. [-]
        gathered: Takes the table; a row with an unclosed quotation mark is split as if it were none, and named. [-]
    """
    lines = split_lines(text)
    declared = _DECLARED.fullmatch(lines[0]) if lines else None
    delimiter = declared.group(1) if declared else choose_delimiter(lines)
    if delimiter is None:  # a list in a file that is named as a table
        gathered.add([text_sheet(enumerate(lines, start=1))])
        return
    table = _read_rows(lines[1:] if declared else lines, delimiter, gathered)
    gathered.add([Sheet(kind="table", name=None, lines=table)])


def _read_rows(lines: Sequence[str], delimiter: str, gathered: Gathered) -> tuple[Line, ...]:
    """Give the rows with stripped cells; blank ones are counted and left out."""
    tidied = Tidied()
    kept: list[Line] = []
    for row, record in enumerate(split_records(lines, delimiter), start=1):
        stripped = tuple(map(tidied.__getitem__, record.cells))
        if not record.is_closed:
            gathered.leave(
                name_cell(None, row),
                Message(
                    "a quotation mark is not closed within {lines} lines: it is read as a plain character",
                    lines=_QUOTED_LINES,
                ),
            )
        if any(stripped):
            gathered.count_cells(len(stripped))
            kept.append(Line(row=row, cells=stripped))
    return tuple(kept)


class _Source:
    """Lines for `csv.reader`, at most as many as one quoted cell may have."""

    def __init__(self, lines: Sequence[str], start: int) -> None:
        self.lines = lines
        self.next = start
        self.has_ended = False
        self._row_start = start

    def __iter__(self) -> Iterator[str]:
        while self.next < len(self.lines):
            length = sum(map(len, self.lines[self._row_start : self.next + 1]))
            if self.next - self._row_start >= _QUOTED_LINES or length > _QUOTED_CHARACTERS:
                break
            self.next += 1
            yield self.lines[self.next - 1] + "\n"
        self.has_ended = True

    def close_row(self) -> None:
        """Let the next row have its lines."""
        self._row_start = self.next


class Record(NamedTuple):
    """One row, and the lines that it stands on."""

    first_line: int
    """From 0. [-]"""
    end_line: int
    """The line after it. [-]"""
    cells: list[str]
    is_closed: bool
    """Whether its quotation marks are."""


def split_records(lines: Sequence[str], delimiter: str, start: int = 0) -> Iterator[Record]:
    """Split lines into rows of cells; where a quotation mark stays open, its line is split as if there were none.

    Args:
        lines: Without their ends. [-]
        delimiter: One character. [-]
        start: Line to begin at, from 0. [-]

    Yields:
        One record per row, blank ones too.
    """
    while start < len(lines):
        source = _Source(lines, start)
        for cells in csv.reader(source, delimiter=delimiter):
            if source.has_ended or not _is_well_quoted(lines[start : source.next], delimiter):
                break  # the source was asked for another line within a row and gave none, or gave one of another row
            yield Record(start, source.next, cells, is_closed=True)
            start = source.next
            source.close_row()
        if start == len(lines):
            return
        yield Record(start, start + 1, lines[start].split(delimiter), is_closed=False)
        start += 1


def _is_well_quoted(lines: Sequence[str], delimiter: str) -> bool:
    """Whether a row of several lines is quoted as programs do, so that its mark closes where it was meant to."""
    if len(lines) < 2:
        return True
    try:
        next(csv.reader(iter([line + "\n" for line in lines]), delimiter=delimiter, strict=True))
    except csv.Error:
        return False
    return True

"""What has been read of one file so far: sheets in order, what stays unread, and how many cells there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.market.quotes.document import Document, Line, Sheet, Unread, name_cell
from suanpei.market.quotes.files.limits import MOST_CELL_CHARACTERS, MOST_CELLS, MOST_NAMED
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_OUTER = " \t\r\n\v\f\u00a0\u3000\u200b\u200c\u200d\ufeff"
"""What is stripped around a cell: also the spaces of Chinese text and marks without width."""


def tidy(text: str) -> str:
    """Strip the outer space of a cell, the wide and the invisible kinds too."""
    return text.strip(_OUTER)


class Tidied(dict[str, str]):
    """Each cell of a file to its text without outer space: cells that say the same become one text in memory."""

    def __missing__(self, cell: str) -> str:
        """Strip a cell that was not met before."""
        text = tidy(cell)
        self[cell] = text = self.setdefault(text, text)
        return text


class Gathered:
    """The parts of a `Document` while its file is read."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._sheets: list[Sheet] = []
        self._unread: list[Unread] = []
        self._cells = 0
        self._text_lines = 0
        self._numbered: list[int] = []

    def add(self, sheets: Iterable[Sheet]) -> None:
        """Append sheets; text that follows text of the same name joins it, and empty ones are left out."""
        for sheet in sheets:
            last = self._sheets[-1] if self._sheets else None
            lines = self._cut(sheet.lines, sheet.name, is_text=sheet.kind == "text")
            if not lines:
                continue
            if last is not None and last.kind == sheet.kind == "text" and last.name == sheet.name:
                self._sheets[-1] = Sheet(kind="text", name=last.name, lines=last.lines + lines)
            else:
                self._sheets.append(Sheet(kind=sheet.kind, name=sheet.name, lines=lines))

    def add_numbered_table(self, lines: tuple[Line, ...]) -> None:
        """Append a table of a document, named by its number there (``T2``); the only one stays without a name."""
        if lines:
            self._numbered.append(len(self._sheets))
            name = f"T{len(self._numbered)}"
            self._sheets.append(Sheet(kind="table", name=name, lines=self._cut(lines, name, is_text=False)))

    def _cut(self, lines: tuple[Line, ...], sheet: str | None, *, is_text: bool) -> tuple[Line, ...]:
        """Cut cells longer than `MOST_CELL_CHARACTERS`, and name them: reading takes time by the character."""
        long = [
            (line.row, column)
            for line in lines
            if len(max(line.cells, key=len, default="")) > MOST_CELL_CHARACTERS
            for column, cell in enumerate(line.cells)
            if len(cell) > MOST_CELL_CHARACTERS
        ]
        if not long:
            return lines
        reason = Message("only its first {most:,} characters are read", most=MOST_CELL_CHARACTERS)
        if is_text:
            for row, _ in long:
                self.leave(name_cell(sheet, row), reason)
        else:
            self.leave_cells(sheet, long, reason)
        rows = {row for row, _ in long}
        return tuple(
            Line(row=line.row, cells=tuple(cell[:MOST_CELL_CHARACTERS] for cell in line.cells))
            if line.row in rows
            else line
            for line in lines
        )

    def next_text_row(self) -> int:
        """Count one more line of text, for formats whose lines have no number in the file. [-]"""
        self._text_lines += 1
        return self._text_lines

    def count_cells(self, cells: int) -> None:
        """Count cells of tables before they are kept.

        Raises:
            InputError: There are more than `MOST_CELLS`.
        """
        self._cells += cells
        if self._cells > MOST_CELLS:
            raise InputError(
                Message(
                    "{file} has more than {most:,} cells; give the sheets with prices in a file of their own",
                    file=self.file,
                    most=MOST_CELLS,
                )
            )

    def leave(self, cell: str, reason: Message, *, is_read: bool = False) -> None:
        """Name a part that is not read, or read under a reserve, and why."""
        self._unread.append(Unread(file=self.file, cell=cell, reason=reason, is_read=is_read))

    def leave_cells(
        self, sheet: str | None, cells: Sequence[tuple[int, int]], reason: Message, *, is_read: bool = False
    ) -> None:
        """Name cells (row from 1, column from 0) by ranges down their columns; past `MOST_NAMED`, only how many."""
        ranges = group_cells(cells)
        for first, last in ranges[:MOST_NAMED]:
            name = name_cell(sheet, first[0], first[1])
            place = name if first == last else f"{name}:{name_cell(None, last[0], last[1])}"
            self.leave(place, reason, is_read=is_read)
        if len(ranges) > MOST_NAMED:
            rest = Message("{reason} ({count} more places)", reason=reason, count=len(ranges) - MOST_NAMED)
            self.leave(sheet or "", rest, is_read=is_read)

    def document(self) -> Document:
        """Close the file."""
        if len(self._numbered) == 1:
            only = self._numbered[0]
            self._sheets[only] = Sheet(kind="table", name=None, lines=self._sheets[only].lines)
        return Document(file=self.file, sheets=tuple(self._sheets), unread=tuple(self._unread))


def group_cells(cells: Sequence[tuple[int, int]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Join cells that follow each other down a column into ranges: first and last cell, by place in the sheet.

    Example:
        >>> group_cells([(2, 5), (3, 5), (3, 7), (9, 5)])
        [((2, 5), (3, 5)), ((3, 7), (3, 7)), ((9, 5), (9, 5))]
    """
    ranges: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for column, row in sorted({(column, row) for row, column in cells}):
        if ranges and ranges[-1][1] == (row - 1, column):
            ranges[-1] = (ranges[-1][0], (row, column))
        else:
            ranges.append(((row, column), (row, column)))
    return sorted(ranges)


def text_sheet(lines: Iterable[tuple[int, str]], name: str | None = None) -> Sheet:
    """Make a sheet of running text; lines without content are left out."""
    kept = ((row, tidy(text), len(text) - len(text.lstrip(_OUTER))) for row, text in lines)
    return Sheet(
        kind="text",
        name=name,
        lines=tuple(Line(row=row, cells=(text,), indent=indent) for row, text, indent in kept if text),
    )

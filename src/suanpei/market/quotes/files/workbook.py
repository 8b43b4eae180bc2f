"""XLSX workbooks: each sheet as a table of what its reader sees, values rather than formulas.

Merged cells repeat their value; hidden sheets, rows and columns are read and named; formulas without a stored value,
error values, struck-out cells, pictures and comments are named.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

from suanpei.market.quotes.document import Line, Sheet, name_cell
from suanpei.market.quotes.files.archive import Package
from suanpei.market.quotes.files.gathered import Tidied, tidy
from suanpei.market.quotes.files.limits import MOST_COLUMNS
from suanpei.market.quotes.files.shown_numbers import read_number, write_date, write_plain
from suanpei.market.quotes.files.workbook_parts import PLAIN, is_true, local_name, read_book, read_text
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.market.quotes.files.gathered import Gathered
    from suanpei.market.quotes.files.workbook_parts import Book, SheetPart, Style

_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_WHOLE = re.compile(r"-?\d{1,11}")
_LETTERS = re.compile(r"[A-Z]{1,3}")
Cells = list[tuple[int, int]]
"""Places: row from 1, column from 0."""


def read_workbook(data: bytes, gathered: Gathered) -> None:
    """Read a workbook.

    Args:
        data: The file. [B]
        gathered: Takes a table per sheet that holds any text. [-]

    Raises:
        InputError: It is damaged, encrypted or too large.
        MissingExtraError: lxml is not installed.
    """
    package = Package(data, gathered.file)
    book = read_book(package)
    for sheet in book.sheets:
        reader = _SheetReader(book, sheet.name if len(book.sheets) > 1 else None, gathered)
        reader.read(package, sheet)
    for name in book.without_cells:
        gathered.leave(name, Message("the sheet has no cells: a chart, or missing from the workbook"))
    pictures = sum(name.startswith("xl/media/") for name in package.names)
    if pictures:
        gathered.leave("", Message("pictures are not read: {count}", count=pictures))
    if any(re.match(r"xl/(threadedC|c)omments", name) for name in package.names):
        gathered.leave("", Message("comments on cells are not read"))
    boxes = sum(_has_text_box(package, name) for name in package.names if name.startswith("xl/drawings/drawing"))
    if boxes:
        gathered.leave("", Message("text boxes that float over the cells are not read"))


def _has_text_box(package: Package, name: str) -> bool:
    return any(tidy(element.text or "") for element in package.rows(name, ("t",)))


def read_reference(reference: str) -> tuple[int, int] | None:
    """Read a cell's name: its row from 1 and its column from 0; None where it is none.

    Example:
        >>> read_reference("AB7")
        (7, 27)
    """
    match = _REFERENCE.fullmatch(reference)
    return None if match is None else (int(match.group(2)), column_of(match.group(1)))


def column_of(letters: str) -> int:
    """Read the letters of a column, from 0."""
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - ord("A") + 1
    return column - 1


class _SheetReader:
    """Reads one sheet in one pass, row by row."""

    def __init__(self, book: Book, name: str | None, gathered: Gathered) -> None:
        self._book = book
        self._name = name
        self._gathered = gathered
        self._rows: dict[int, tuple[str, ...]] = {}
        self._styles = {str(place): style for place, style in enumerate(book.styles)}
        self._same = Tidied()
        self._shown: dict[tuple[Style, str], str] = {}
        self._columns: dict[str, int] = {}
        self._merged: list[str] = []
        self._hidden_rows: Cells = []
        self._hidden_columns: list[tuple[int, int]] = []
        self._no_value: Cells = []
        self._errors: Cells = []
        self._open_currency: Cells = []
        self._far: Cells = []
        self._struck: list[str] = []

    def read(self, package: Package, sheet: SheetPart) -> None:
        """Read the sheet and hand on its table and what is to be said of it."""
        last = 0
        for element in package.rows(sheet.part, ("row", "mergeCell", "col")):
            kind = local_name(element)
            if kind == "row":
                last = self._read_row(element, last)
            elif kind == "mergeCell":
                self._merged.append(element.get("ref") or "")
            elif is_true(element.get("hidden")):
                self._hidden_columns.append((_whole(element.get("min")), _whole(element.get("max"))))
        self._spread_merged()
        lines = tuple(Line(row=row, cells=cells) for row, cells in sorted(self._rows.items()))
        self._gathered.add([Sheet(kind="table", name=self._name, lines=lines)])
        if sheet.is_hidden and lines:
            reason = Message("the sheet is hidden in the workbook; it is read all the same")
            self._gathered.leave(sheet.name, reason, is_read=True)
        self._say(sheet)

    def _read_row(self, element: Any, last: int) -> int:
        """Read one row; blank ones are left out."""
        row = _whole(element.get("r")) or last + 1
        cells: list[str] = []
        next_column = 0
        columns, same = self._columns, self._same
        for cell in element:
            letters = (cell.get("r") or "").rstrip("0123456789")
            column = columns.get(letters, -1)
            if column < 0:
                column = next_column
                if _LETTERS.fullmatch(letters):
                    column = columns[letters] = column_of(letters)
            next_column = column + 1
            text = self._read_cell(cell, row, column)
            if text is None:
                continue
            shown = same[text]
            if column >= MOST_COLUMNS and shown:
                self._far.append((row, column))
            elif shown:
                if len(cells) <= column:
                    cells.extend([""] * (column + 1 - len(cells)))
                cells[column] = shown
        if cells:
            self._gathered.count_cells(len(cells))
            self._rows[row] = tuple(cells)
            if is_true(element.get("hidden")):
                self._hidden_rows.append((row, 0))
        return row

    def _read_cell(self, cell: Any, row: int, column: int) -> str | None:
        """Give a cell as it is shown; None where nothing is."""
        if not len(cell):
            return None
        kind = cell.get("t") or "n"
        style = self._styles.get(cell.get("s"), PLAIN)
        content = cell[-1]
        if not content.tag.endswith(("}v", "}is")):
            content = next((child for child in cell if child.tag.endswith(("}v", "}is"))), content)
        struck = ""
        if kind == "inlineStr":
            text, struck = read_text(content)
        else:
            stored = content.text if content.tag.endswith("}v") else None
            if stored is None:
                if kind != "str" and cell[0].tag.endswith("}f"):
                    self._no_value.append((row, column))
                return None
            if kind == "s":
                place = int(stored) if stored.isdecimal() else len(self._book.texts)
                if place >= len(self._book.texts):
                    self._errors.append((row, column))
                    return None
                text, struck = self._book.texts[place]
            elif kind == "n":
                known = (style, stored)
                shown = self._shown.get(known)
                text = self._shown[known] = self._show(stored, style) if shown is None else shown
                if style.is_currency_open:
                    self._open_currency.append((row, column))
            else:
                text = {"1": "TRUE", "0": "FALSE"}.get(stored, stored) if kind == "b" else stored
                if kind == "e":
                    self._errors.append((row, column))
        if style.number_format is not None and kind in ("s", "str", "inlineStr"):
            text = style.number_format.show_text(text)
        if style.is_struck:
            text, struck = "", text
        if struck and tidy(struck):
            self._struck.append(f"{name_cell(self._name, row, column)} {tidy(struck)}")
        return text

    def _show(self, stored: str, style: Style) -> str:
        if style.number_format is None and _WHOLE.fullmatch(stored):
            return stored
        value = read_number(stored)
        if value is None:
            return stored
        if style.number_format is None:
            return write_plain(value)
        if style.number_format.is_date:
            return write_date(value, is_1904=self._book.is_1904)
        return style.number_format.show(value)

    def _spread_merged(self) -> None:
        """Repeat each merged value over its range, in rows that have a cell of their own."""
        width = max(map(len, self._rows.values()), default=0)
        own = dict(self._rows)
        order = sorted(own)
        for merged in self._merged:
            first, _, last = merged.partition(":")
            start, end = read_reference(first), read_reference(last)
            if start is None or end is None or start[0] not in own or start[1] >= len(own[start[0]]):
                continue
            text = own[start[0]][start[1]]
            covered = range(start[1], min(end[1] + 1, width))
            for row in order[bisect_left(order, start[0]) : bisect_right(order, end[0])] if text else ():
                self._gathered.count_cells(len(covered))
                cells = list(self._rows[row])
                cells.extend([""] * (covered.stop - len(cells)))
                cells[covered.start : covered.stop] = [text] * len(covered)
                self._rows[row] = tuple(cells)

    def _say(self, sheet: SheetPart) -> None:
        """Name what a reader of the workbook would not see as it was read here."""
        name, gathered = self._name, self._gathered
        row_hidden = Message("the row is hidden in the workbook; it is read all the same")
        gathered.leave_cells(name, self._hidden_rows, row_hidden, is_read=True)
        columns = [
            (1, column) for first, last in self._hidden_columns for column in range(first - 1, min(last, MOST_COLUMNS))
        ]
        for _, column in columns:
            if any(column < len(cells) and cells[column] for cells in self._rows.values()):
                reason = Message("the column is hidden in the workbook; it is read all the same")
                gathered.leave(name_cell(name, 1, column), reason, is_read=True)
        gathered.leave_cells(
            name,
            self._no_value,
            Message("a formula whose value is not stored; open the workbook, save it again and retry"),
        )
        gathered.leave_cells(name, self._errors, Message("the cell shows an error instead of a value"))
        gathered.leave_cells(
            name,
            self._open_currency,
            Message("the cell shows the currency of whichever computer opens it; the workbook names none"),
        )
        gathered.leave_cells(
            name, self._far, Message("beyond the first {most} columns, which are read", most=MOST_COLUMNS)
        )
        if self._struck:
            gathered.leave(
                sheet.name if name else "", Message("struck out, so left out: {words}", words=tuple(self._struck))
            )


def _whole(given: str | None) -> int:
    """Read a whole number of the file; what is none is 0."""
    return int(given) if given and _WHOLE.fullmatch(given.strip()) else 0

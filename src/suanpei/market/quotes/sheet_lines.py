"""Lines as a sheet holds them: titles merged over the whole width, cells that say 同上, where a line begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.quotes.document import Line
from suanpei.market.quotes.text.words import plain

if TYPE_CHECKING:
    from suanpei.market.quotes.text.words import QuoteWords

_SHORT_CELL = 4
"""A value such as 面议 may stand in every column of a row; a title is longer. [characters]"""
_LEAST_REPEATED = 3
"""Cells of a line that say the same, at least, where it is a title. [-]"""


class DittoFiller:
    """Puts the cell above in place of 同上."""

    def __init__(self, words: QuoteWords) -> None:
        self._ditto = words.lines["ditto"].pattern
        self._above: tuple[str, ...] = ()

    def clear(self) -> None:
        """Begin a table."""
        self._above = ()

    def fill(self, line: Line) -> Line:
        """Fill a line of the running table; a column without a cell above keeps the word."""
        above = self._above
        cells = tuple(
            above[column] if column < len(above) and cell and self._ditto.fullmatch(plain(cell)) else cell
            for column, cell in enumerate(line.cells)
        )
        self._above = cells
        return line if cells == line.cells else Line(row=line.row, cells=cells)


def unrepeated(line: Line) -> Line:
    """Keep one of the cells of a line that says the same everywhere: a title merged over the whole table."""
    given = [cell for cell in line.cells if cell]
    if len(given) < _LEAST_REPEATED or len(set(given)) > 1 or len(given[0]) <= _SHORT_CELL:
        return line
    first = first_column(line)
    return Line(row=line.row, cells=(*line.cells[:first], given[0]))


def first_column(line: Line) -> int:
    """Give the first column of a line that is not blank. [-]"""
    return next(column for column, cell in enumerate(line.cells) if cell)

"""Lines as a sheet holds them: titles merged over the whole width, cells that say 同上, where a line begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.quotes.document import Line, name_cell
from suanpei.market.quotes.layout.entries import Remark

if TYPE_CHECKING:
    from suanpei.market.quotes.layout.header import Header
    from suanpei.market.quotes.layout.lines import LineReader

_SHORT_CELL = 4
"""A value such as 面议 may stand in every column of a row; a title is longer. [characters]"""
_LEAST_REPEATED = 3
"""Cells of a line that say the same, at least, where it is a title. [-]"""


_MERGED_ROLES = frozenset({"seller", "card", "instance", "node", "gpus", "form", "memory", "region"})
"""Columns whose cells are merged over several rows."""
_INDEX = ("index",)
_TELLING_ROLES = (_MERGED_ROLES - {"seller", "region"}) | {"term", "pricing"}
"""Columns of which one differs where a row goes on with the cells above it; a sum below a table has none."""


class DittoFiller:
    """Puts the cell above in place of 同上, and of blanks that a row which goes on with the one above begins with."""

    def __init__(self, lines: LineReader) -> None:
        self._is_ditto = lines.is_ditto
        self._above: tuple[str, ...] = ()
        self._row_above = 0

    def clear(self) -> None:
        """Begin a table."""
        self._above = ()

    def go_on(self, line: Line, header: Header) -> Line:
        """Fill the blanks at the start of a row, as a cell merged over several rows leaves them in a text file.

        Only for a row that names no card, where all other columns are filled as in the row right above, and one that
        tells rows apart differs.

        Args:
            line: Of the running table. [-]
            header: Its columns. [-]
        """
        above, cells, roles = self._above, line.cells, header.roles
        begun = next((column for column, cell in enumerate(cells) if cell and roles[column : column + 1] != _INDEX), 0)
        is_same_shape = len(above) == len(cells) and all(
            bool(cell) == bool(over) for cell, over in zip(cells[begun:], above[begun:], strict=True)
        )
        if not begun or header.rows or not is_same_shape or line.row != self._row_above + 1:
            return line
        differing = {
            roles[column]
            for column in range(begun, len(roles))
            if cells[column : column + 1] != above[column : column + 1]
        }
        if "price" not in roles[begun:] or not differing & _TELLING_ROLES:
            return line
        filled = (
            over if column < begun and roles[column : column + 1] and roles[column] in _MERGED_ROLES else cell
            for column, (cell, over) in enumerate(zip(cells, above, strict=True))
        )
        return Line(row=line.row, cells=tuple(filled))

    def fill(self, line: Line) -> Line:
        """Fill a line of the running table; a column without a cell above keeps the word."""
        above, cells = self._above, line.cells
        if any(map(self._is_ditto, cells)):
            cells = tuple(
                above[column] if column < len(above) and self._is_ditto(cell) else cell
                for column, cell in enumerate(cells)
            )
        self._above, self._row_above = cells, line.row
        return line if cells is line.cells else Line(row=line.row, cells=cells)


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


def remark_of(sheet: str | None, line: Line, *, is_note: bool = False) -> Remark:
    """Make a remark of a whole line."""
    text = " ".join(cell for cell in line.cells if cell)
    return Remark(cell=name_cell(sheet, line.row, first_column(line)), text=text, is_note=is_note)

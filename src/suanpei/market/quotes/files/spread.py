"""Tables whose cells span rows and columns: every cell that a span covers gets its value.

So a seller, or a section title, that is written once beside or above several rows reaches each of them. A row in which
nothing is written of its own is not made: it would repeat the row above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from suanpei.market.quotes.document import Line
from suanpei.market.quotes.files.limits import MOST_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from suanpei.market.quotes.files.gathered import Gathered


class Cell(NamedTuple):
    """A cell as a document writes it."""

    text: str
    columns: int = 1
    """That it spans, at least 1. [-]"""
    rows: int = 1
    """That it spans, itself included, at least 1. [-]"""


def spread_cells(rows: Iterable[Sequence[Cell]], gathered: Gathered) -> tuple[Line, ...]:
    """Lay cells out on a grid.

    Args:
        rows: The cells that each row writes itself. [-]
        gathered: Counts the cells. [-]

    Returns:
        The rows with a cell of their own that is not blank, numbered from 1.
    """
    lines: list[Line] = []
    hanging: dict[int, tuple[str, int]] = {}  # column: text and rows still to fill
    for number, cells in enumerate(rows, start=1):
        placed: dict[int, str] = {column: text for column, (text, _) in hanging.items()}
        hanging = {column: (text, left - 1) for column, (text, left) in hanging.items() if left > 1}
        column = 0
        for cell in cells:
            while column in placed:
                column += 1
            for covered in range(column, min(column + cell.columns, MOST_COLUMNS)):
                if covered in placed:
                    break
                placed[covered] = cell.text
                if cell.rows > 1:
                    hanging[covered] = (cell.text, cell.rows - 1)
        if any(cell.text for cell in cells):
            width = max(placed) + 1
            gathered.count_cells(width)
            lines.append(Line(row=number, cells=tuple(placed.get(place, "") for place in range(width))))
    return tuple(lines)

"""What a file of any format comes down to: sheets of lines of cells, each with its place in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.messages import Message

ALPHABET = 26


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One row of a table, or one line of running text."""

    row: int
    """Its number in the file or sheet as a person counts it, from 1. [-]"""
    cells: tuple[str, ...]
    """As written, outer space stripped; a line of text is one cell."""
    indent: int = 0
    """Of running text: spaces before it. [characters]"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sheet:
    """A table or a run of text, in the order of the file."""

    kind: Literal["table", "text"]
    name: str | None
    """Of the worksheet, of the table in a document (``T2``) or of the page (``P3``); None where a file has only one."""
    lines: tuple[Line, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """Something in a file that no offer could be made of, or that was read under a reserve, and why."""

    file: str
    cell: str
    """Place, as `name_cell` writes it; empty is the whole file."""
    reason: Message
    is_read: bool = False
    """Whether it was read all the same: hidden cells, which a person who opens the file does not see."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One file as text."""

    file: str
    """Name as the user gave it."""
    sheets: tuple[Sheet, ...]
    unread: tuple[Unread, ...] = ()
    """Parts that could not be turned into text: a picture, a page without text, an encrypted sheet."""


def name_cell(sheet: str | None, row: int, column: int | None = None) -> str:
    """Name a place as spreadsheets do: ``F7``, ``Sheet1!F7``; without a column, the row alone.

    Args:
        sheet: Name of the sheet or table; None where there is only one. [-]
        row: From 1. [-]
        column: From 0; None names the row. [-]

    Example:
        >>> name_cell(None, 7, 5), name_cell("H800", 7, 27), name_cell(None, 7)
        ('F7', 'H800!AB7', '7')
    """
    letters = ""
    rest = -1 if column is None else column
    while rest >= 0:
        letters = chr(ord("A") + rest % ALPHABET) + letters
        rest = rest // ALPHABET - 1
    return f"{sheet}!{letters}{row}" if sheet else f"{letters}{row}"


def name_rows(sheet: str | None, rows: Sequence[int]) -> str:
    """Name rows, those that follow each other by the first and the last.

    Args:
        sheet: Name of the sheet or table; None where there is only one. [-]
        rows: From 1, rising. [-]

    Example:
        >>> name_rows(None, [2, 3, 4, 9]), name_rows("P3", [2])
        ('2-4, 9', 'P3!2')
    """
    runs: list[list[int]] = []
    for row in rows:
        if runs and runs[-1][-1] == row - 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    names = (str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return ", ".join(f"{sheet}!{name}" if sheet else name for name in names)

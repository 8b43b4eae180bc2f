"""Plain text: lists, chat messages, and tables pasted among them.

A run of lines becomes a table only where that is sure: tabs or bars in each of its lines, or columns of spaces whose
count never changes. Everything else stays text, line by line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import Line, Sheet
from suanpei.market.quotes.files.delimited import (
    Record,
    is_surely_delimited,
    read_delimited,
    split_lines,
    split_records,
)
from suanpei.market.quotes.files.gathered import text_sheet, tidy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from suanpei.market.quotes.files.gathered import Gathered

Numbered = tuple[int, str]
"""A line and its number as a person counts."""

_DRAWN = frozenset("-=_─━═┄┈")
_RULE = _DRAWN | frozenset(" \t|+:.·│┃║┼┬┴├┤┌┐└┘╪╬╔╗╚╝╠╣╦╩")
"""What a line that only draws is made of: ``|---|:--:|``, ``+----+``, ``═══``."""
_BARS = str.maketrans("│┃║｜", "||||")
_GAP = re.compile(r"[ \u3000]{2,}|\u3000")
_BAR = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, kw_only=True)
class _Splitter:
    """One way to part lines, and when a run of such lines is surely a table."""

    split: Callable[[Sequence[str], int], Iterator[Record]]
    least_lines: int
    least_cells: int
    is_even: bool
    """Whether every line must have the same number of cells; else the first must have the most."""


def split_bars(line: str) -> list[str]:
    r"""Split a row written with bars; outer bars are drawn, escaped ones are characters.

    Example:
        >>> split_bars("| H800 | 8卡 | a\\|b |")
        ['H800', '8卡', 'a|b']
    """
    stripped = tidy(line.translate(_BARS))
    parts = _BAR.split(stripped)
    if stripped.startswith("|"):
        parts = parts[1:]
    if parts and len(parts) > 1 and not tidy(parts[-1]) and stripped.endswith("|"):
        parts = parts[:-1]
    return [tidy(part.replace("\\|", "|")) for part in parts]


def _split_at_tabs(lines: Sequence[str], start: int) -> Iterator[Record]:
    return split_records(lines, "\t", start)


def _split_at_bars(lines: Sequence[str], start: int) -> Iterator[Record]:
    for line in range(start, len(lines)):
        yield Record(line, line + 1, split_bars(lines[line]), is_closed=True)


def _split_at_gaps(lines: Sequence[str], start: int) -> Iterator[Record]:
    for line in range(start, len(lines)):
        yield Record(line, line + 1, _GAP.split(tidy(lines[line])), is_closed=True)


_SPLITTERS = (
    _Splitter(split=_split_at_tabs, least_lines=2, least_cells=2, is_even=False),
    _Splitter(split=_split_at_bars, least_lines=2, least_cells=3, is_even=False),
    _Splitter(split=_split_at_gaps, least_lines=3, least_cells=3, is_even=True),
)


def read_plain(text: str, gathered: Gathered) -> None:
    """Read a file of plain text.

    Args:
        text: The file. [-]
        gathered: Takes its sheets. [-]
    """
    lines = split_lines(text)
    if is_surely_delimited(lines):
        read_delimited(text, gathered)
        return
    gathered.add(find_tables(list(enumerate(lines, start=1)), gathered))


def find_tables(lines: Sequence[Numbered], gathered: Gathered, name: str | None = None) -> Iterator[Sheet]:
    """Part lines into text and the tables that are surely among them, in their order.

    Args:
        lines: With their numbers; blank ones end a table. [-]
        gathered: Counts the cells. [-]
        name: Of the sheets. [-]

    Yields:
        Sheets, of which text may be empty.
    """
    texts = [line for _, line in lines]
    text_start = start = 0
    while start < len(lines):
        rows, end = _table_at(texts, start)
        if not rows:
            start += 1
            continue
        yield text_sheet(lines[text_start:start], name)
        gathered.count_cells(sum(len(row.cells) for row in rows))
        table = (Line(row=lines[row.first_line][0], cells=tuple(map(tidy, row.cells))) for row in rows)
        yield Sheet(kind="table", name=name, lines=tuple(table))
        text_start = start = end
    yield text_sheet(lines[text_start:], name)


def _table_at(lines: Sequence[str], start: int) -> tuple[list[Record], int]:
    """Give the rows of the table that begins at a line, and the line after it; none where none surely does."""
    for splitter in _SPLITTERS:
        rows: list[Record] = []
        end = start
        for record in splitter.split(lines, start):
            line = lines[record.first_line]
            if _is_rule(line) and (rows or end == start):
                end = record.end_line
                continue
            cells = len(record.cells)
            most = len(rows[0].cells) if rows else cells
            is_short = cells < splitter.least_cells or (splitter.is_even and cells < most)
            if is_short or cells > most or not record.is_closed:
                break
            rows.append(record)
            end = record.end_line
        if len(rows) >= splitter.least_lines and any(sum(map(bool, map(tidy, row.cells))) > 1 for row in rows):
            return rows, end
    return [], start


def _is_rule(line: str) -> bool:
    drawn = tidy(line)
    return len(drawn) > 1 and _RULE.issuperset(drawn) and not _DRAWN.isdisjoint(drawn)

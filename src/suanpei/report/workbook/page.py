"""How much text a cell holds and how many columns a page holds: estimates, for a spreadsheet alone knows its fonts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Sequence

_PIECES = re.compile(r"[^\s\u2e80-\uffef]+|[\u2e80-\uffef]|\s+")
"""What a line may be broken between: words, each Chinese character, and blanks."""
_LATIN_WIDTH = 1.0
"""Of a Latin character, bold and with substituted fonts allowed for, in characters of the column's width."""
_PAGE_MM = 262.0
"""A4 landscape within the margins of a form is 277 mm; programs differ a little in how wide they draw columns. [mm]"""
_CHARACTER_MM, _PADDING_MM = 1.852, 1.323
"""Of a column: 7 pixels per character and 5 more, at 96 to the inch. [mm]"""
_LEAST_SCALE_PERCENT = 70
"""Smaller print is not read on paper. [%]"""


def count_lines(text: str, width: float) -> int:
    """Count the lines of a text wrapped in a column; a Chinese character is two wide.

    Args:
        text: Of the cell. [-]
        width: Of the column. [characters]

    Example:
        >>> count_lines("Cards on hand in one fabric", 12), count_lines("同一集群网络内的现货卡数", 11)
        (3, 3)
    """
    room = max(width - 1.0, 2.0)
    lines = 0
    for paragraph in text.split("\n"):
        lines, used = lines + 1, 0.0
        for piece in _PIECES.findall(paragraph):
            size = cell_len(piece) * (_LATIN_WIDTH if piece.isascii() else 1.0)
            if used and used + size > room:
                lines, used = lines + 1, 0.0
                if piece.isspace():
                    continue
            overlong = max(int((size - 1e-9) / room), 0)
            lines, used = lines + overlong, used + size - overlong * room
    return lines


def fit_pages(widths: Sequence[float], groups: Sequence[int], repeated: int) -> tuple[list[int], int]:
    """Share columns among pages, whole groups each, as many as print large enough to be read.

    Args:
        widths: Of the columns. [characters]
        groups: Number of columns of each group, in their order. [-]
        repeated: First columns that every page repeats. [-]

    Returns:
        The column behind the last of each page, counted from 0, and the scale at which the widest page fits. [%]
    """
    sizes = [width * _CHARACTER_MM + _PADDING_MM for width in widths]
    most = _PAGE_MM * 100 / _LEAST_SCALE_PERCENT
    ends: list[int] = []
    widest = used = 0.0
    end = 0
    for count in groups:
        size = sum(sizes[end : end + count])
        if used and used + size > most:
            ends.append(end)
            used = sum(sizes[:repeated])
        used += size
        end += count
        widest = max(widest, used)
    return [*ends, end], min(int(_PAGE_MM * 100 / widest), 100)

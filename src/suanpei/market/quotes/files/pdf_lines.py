"""Lines of a page, and the tables that stand in them by columns of white space alone."""

from __future__ import annotations

import itertools
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from suanpei.market.quotes.files.pdf_marks import Piece

_SAME_LINE = 0.4
"""Of the size of the type: baselines closer than this are one. [-]"""
_WORD_GAP = 0.16
"""Of the size: wider is a space; a space is 0.25 to 0.28 in usual fonts. [-]"""
_CELL_GAP = 0.85
"""Of the size: wider parts cells; two spaces are 0.5 to 0.56, justified text seldom stretches one beyond 0.8. [-]"""
_LINE_STEP = 3.5
"""Of the size: a larger step down ends a table. [-]"""
_WRAPPED = 0.75
"""Of the usual step between rows: a part of a cell that is closer to a row than this belongs to it. [-]"""
_WIDE = ("W", "F")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A table, or a run of lines, of one page."""

    top: float
    """[pt]"""
    rows: tuple[tuple[str, ...], ...]
    edges: tuple[float, ...] = ()
    """Where the columns of a table begin; none is text. [pt]"""


@dataclass(frozen=True, kw_only=True)
class _Segment:
    """Pieces of a line without a wide gap."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, kw_only=True)
class _TextLine:
    base: float
    size: float
    segments: tuple[_Segment, ...]


def join_pieces(pieces: Sequence[Piece]) -> str:
    """Put the pieces of one cell together: along their lines, and its wrapped lines after each other."""
    return join_words([" ".join(segment.text for segment in line.segments) for line in _find_lines(pieces)])


def join_words(parts: Iterable[str]) -> str:
    """Put wrapped lines after each other, with a space except beside Chinese.

    Example:
        >>> join_words(["起租", "三个月", "", "2 x", "8468"])
        '起租三个月2 x 8468'
    """
    text = ""
    for part in filter(None, parts):
        text += part if not text or _is_wide(text[-1]) or _is_wide(part[0]) else f" {part}"
    return text


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in _WIDE


def read_lines(pieces: Sequence[Piece]) -> list[Block]:
    """Part what stands outside ruled tables into text and tables.

    A table is a run of lines of which at least two have several parts, with a strip of white between each two columns
    that runs through all of those; a line with one part between them is a cell of its column.

    Args:
        pieces: Text of a page. [-]

    Returns:
        Blocks from the top.
    """
    lines = _find_lines(pieces)
    blocks: list[Block] = []
    start = 0
    while start < len(lines):
        end = _run_end(lines, start)
        columns = _find_columns(lines[start:end]) if end > start else []
        if len(columns) > 1:
            rows = _lay_out_rows(lines[start:end], columns)
            edges = tuple(left for left, _ in columns)
            blocks.append(Block(top=lines[start].base, rows=rows, edges=edges))
        else:
            end = max(end, start + 1)
            rows = tuple((" ".join(segment.text for segment in line.segments),) for line in lines[start:end])
            blocks.append(Block(top=lines[start].base, rows=rows))
        start = end
    return blocks


def group_lines(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Gather pieces into lines from the top."""
    groups: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda each: (-each.base, each.left)):
        if groups and groups[-1][0].base - piece.base <= _SAME_LINE * max(piece.size, groups[-1][0].size):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def _find_lines(pieces: Sequence[Piece]) -> list[_TextLine]:
    """Gather pieces into lines, and into segments along them."""
    lines: list[_TextLine] = []
    for group in group_lines(pieces):
        segments = _find_segments(sorted(group, key=lambda each: each.left))
        if segments:
            size = max(piece.size for piece in group)
            lines.append(_TextLine(base=group[0].base, size=size, segments=segments))
    return lines


def _find_segments(pieces: Sequence[Piece]) -> tuple[_Segment, ...]:
    segments: list[_Segment] = []
    for piece in pieces:
        last = segments[-1] if segments else None
        gap = piece.left - last.right if last else 0.0
        if last is None or gap > _CELL_GAP * piece.size:
            segments.append(_Segment(text=piece.text, left=piece.left, right=piece.right))
            continue
        space = " " if gap > _WORD_GAP * piece.size and not last.text.endswith(" ") else ""
        right = max(last.right, piece.right)
        segments[-1] = _Segment(text=f"{last.text}{space}{piece.text}", left=last.left, right=right)
    stripped = [_Segment(text=each.text.strip(), left=each.left, right=each.right) for each in segments]
    return tuple(each for each in stripped if each.text)


def _run_end(lines: Sequence[_TextLine], start: int) -> int:
    """Find where the run of a table that begins at a line ends; `start` where none begins."""
    if len(lines[start].segments) < 2:
        return start
    end, last = start, start
    while end < len(lines):
        if end > start and lines[end - 1].base - lines[end].base > _LINE_STEP * lines[end].size:
            break
        if len(lines[end].segments) > 1:
            last = end
        elif end - last > 2:
            break
        end += 1
    several = sum(len(line.segments) > 1 for line in lines[start : last + 1])
    return last + 1 if several > 1 else start


def _find_columns(lines: Sequence[_TextLine]) -> list[tuple[float, float]]:
    """Find the strips that the segments of lines with several cover: each is a column, from its left to its right."""
    spans = sorted((each.left, each.right) for line in lines if len(line.segments) > 1 for each in line.segments)
    columns: list[tuple[float, float]] = []
    for left, right in spans:
        if columns and left <= columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns


def _lay_out_rows(lines: Sequence[_TextLine], columns: Sequence[tuple[float, float]]) -> tuple[tuple[str, ...], ...]:
    """Put lines into rows; a part alone that stands much closer to a row than rows to each other is wrapped from it."""
    full = [place for place, line in enumerate(lines) if len(line.segments) > 1]
    steps = sorted(lines[upper].base - lines[lower].base for upper, lower in itertools.pairwise(full))
    near = _WRAPPED * steps[len(steps) // 2]
    belongs = {place: place for place in full}
    for place, line in enumerate(lines):
        if place not in belongs:
            nearest = _nearest(lines, full, line.base)
            belongs[place] = nearest if abs(lines[nearest].base - line.base) < near else place
    rows: list[tuple[str, ...]] = []
    for row in sorted(set(belongs.values())):
        laid = [_lay_out(lines[place], columns) for place in range(len(lines)) if belongs[place] == row]
        rows.append(tuple(join_words(column) for column in zip(*laid, strict=True)))
    return tuple(rows)


def _nearest(lines: Sequence[_TextLine], places: Sequence[int], base: float) -> int:
    """Find the row that a baseline is nearest to."""
    return min(places, key=lambda place: abs(lines[place].base - base))


def _lay_out(line: _TextLine, columns: Sequence[tuple[float, float]]) -> tuple[str, ...]:
    """Put the segments of a line into its columns."""
    cells = [""] * len(columns)
    for segment in line.segments:
        place = max((number for number, (left, _) in enumerate(columns) if left <= segment.left + 0.5), default=0)
        cells[place] = f"{cells[place]} {segment.text}".strip()
    return tuple(cells)

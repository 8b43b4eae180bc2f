"""Tables that a page rules off: the cells are where the rules leave them, however their text wraps."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.market.quotes.files.pdf_lines import Block, group_lines, join_pieces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suanpei.market.quotes.files.pdf_marks import Piece, Rule

_NEAR_POINTS = 3.0
"""Rules closer than this are one; ends closer than this touch. [pt]"""
_MOST_BANDS = 2
"""Of a table whose rows may stand without rules between them: its header and the rest. [-]"""
_LEAST_FILLED = 0.75
"""Of the cells of such rows. [-]"""
_MOST_RULES = 2_000
_MOST_PLACES = 5_000
"""Of a page, and places of one grid; drawings have more, tables do not. [-]"""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Rules that touch each other."""

    columns: tuple[float, ...]
    """Upright rules, from the left. [pt]"""
    rows: tuple[float, ...]
    """Level rules, from the top. [pt]"""
    rules: tuple[Rule, ...]


def find_grids(rules: Sequence[Rule]) -> list[Grid]:
    """Find the tables that rules draw: those with at least two columns or rows of places.

    Args:
        rules: Of a page. [-]
    """
    merged = _merge(rules)
    grids: list[Grid] = []
    for group in _groups(merged) if len(merged) <= _MOST_RULES else ():
        columns = _distinct([rule.place for rule in group if not rule.is_level])
        rows = _distinct([rule.place for rule in group if rule.is_level])[::-1]
        places = (len(columns) - 1) * (len(rows) - 1)
        if len(columns) > 2 and len(rows) > 1 and places <= _MOST_PLACES:
            grids.append(Grid(columns=tuple(columns), rows=tuple(rows), rules=tuple(group)))
    return grids


def read_grid(grid: Grid, pieces: Sequence[Piece]) -> tuple[Block | None, set[int]]:
    """Read a ruled table.

    Args:
        grid: Its rules. [-]
        pieces: Text of the page. [-]

    Returns:
        Its rows, merged cells repeated, and which pieces are in it; None where it holds no text.
    """
    regions = _find_regions(grid)
    held: dict[tuple[int, int], list[Piece]] = {}
    used: set[int] = set()
    for number, piece in enumerate(pieces):
        place = _place_of(grid, piece)
        if place is not None:
            held.setdefault(regions[place], []).append(piece)
            used.add(number)
    texts = {region: join_pieces(inside) for region, inside in held.items()}
    columns = range(len(grid.columns) - 1)
    rows: list[tuple[str, ...]] = []
    for row in range(len(grid.rows) - 1):
        own = {region: inside for region, inside in held.items() if region[0] == row}
        lines = _split_band(own) if len(grid.rows) <= _MOST_BANDS + 1 else []
        if lines:
            rows += [tuple(line.get(regions[row, column], "") for column in columns) for line in lines]
        elif own:
            rows.append(tuple(texts.get(regions[row, column], "") for column in columns))
    if not rows:
        return None, used
    return Block(top=grid.rows[0], rows=tuple(rows), edges=grid.columns), used


def _split_band(held: Mapping[tuple[int, int], Sequence[Piece]]) -> list[dict[tuple[int, int], str]]:
    """Part a band that holds several rows without rules between them; none where it is one row.

    Rows fill most of their cells, line by line; the wrapped text of one row stands in a few of its cells.
    """
    cell_of = {id(piece): cell for cell, inside in held.items() for piece in inside}
    lines: list[dict[tuple[int, int], list[Piece]]] = []
    for group in group_lines([piece for inside in held.values() for piece in inside]):
        cells: dict[tuple[int, int], list[Piece]] = {}
        for piece in group:
            cells.setdefault(cell_of[id(piece)], []).append(piece)
        lines.append(cells)
    filled = sum(map(len, lines))
    if len(lines) < 2 or len(held) < 2 or filled < _LEAST_FILLED * len(held) * len(lines):
        return []
    return [{cell: join_pieces(inside) for cell, inside in cells.items()} for cells in lines]


def _merge(rules: Sequence[Rule]) -> list[Rule]:
    """Join rules that continue each other, which tables are often drawn with cell by cell."""
    from suanpei.market.quotes.files.pdf_marks import Rule

    joined: list[Rule] = []
    for is_level in (True, False):
        same = [rule for rule in rules if rule.is_level == is_level]
        places = _distinct([rule.place for rule in same])
        by_place: dict[float, list[Rule]] = {}
        for rule in same:
            by_place.setdefault(_snap(rule.place, places), []).append(rule)
        for place, group in by_place.items():
            start, end = None, 0.0
            for rule in sorted(group, key=lambda each: each.start):
                if start is not None and rule.start <= end + _NEAR_POINTS:
                    end = max(end, rule.end)
                    continue
                if start is not None:
                    joined.append(Rule(is_level=is_level, place=place, start=start, end=end))
                start, end = rule.start, rule.end
            if start is not None:
                joined.append(Rule(is_level=is_level, place=place, start=start, end=end))
    return joined


def _distinct(places: Sequence[float]) -> list[float]:
    found: list[float] = []
    for place in sorted(places):
        if not found or place - found[-1] > _NEAR_POINTS:
            found.append(place)
    return found


def _snap(place: float, places: Sequence[float]) -> float:
    return places[max(bisect_right(places, place) - 1, 0)]


def _groups(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Part rules into groups that cross or touch."""
    level = [rule for rule in rules if rule.is_level]
    upright = [rule for rule in rules if not rule.is_level]
    groups: list[list[Rule]] = []
    waiting_level, waiting_upright = list(level), list(upright)
    while waiting_level:
        group, edge = [], [waiting_level.pop()]
        while edge:
            rule = edge.pop()
            group.append(rule)
            others = waiting_upright if rule.is_level else waiting_level
            touching = [other for other in others if _touch(rule, other)]
            edge += touching
            kept = [other for other in others if other not in touching]
            if rule.is_level:
                waiting_upright = kept
            else:
                waiting_level = kept
        groups.append(group)
    return groups


def _touch(one: Rule, other: Rule) -> bool:
    return (
        one.start - _NEAR_POINTS <= other.place <= one.end + _NEAR_POINTS
        and other.start - _NEAR_POINTS <= one.place <= other.end + _NEAR_POINTS
    )


def _find_regions(grid: Grid) -> dict[tuple[int, int], tuple[int, int]]:
    """Give for each place the upper left place of the cell that it belongs to: places with no rule between are one."""
    upright = [rule for rule in grid.rules if not rule.is_level]
    level = [rule for rule in grid.rules if rule.is_level]
    region: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(len(grid.rows) - 1):
        middle = (grid.rows[row] + grid.rows[row + 1]) / 2
        for column in range(len(grid.columns) - 1):
            centre = (grid.columns[column] + grid.columns[column + 1]) / 2
            place = (row, column)
            if column and not _is_ruled(upright, grid.columns[column], middle):
                region[place] = region[row, column - 1]
            elif row and not _is_ruled(level, grid.rows[row], centre):
                region[place] = region[row - 1, column]
            else:
                region[place] = place
    return region


def _is_ruled(rules: Sequence[Rule], place: float, at: float) -> bool:
    return any(abs(rule.place - place) <= _NEAR_POINTS and rule.start <= at <= rule.end for rule in rules)


def _place_of(grid: Grid, piece: Piece) -> tuple[int, int] | None:
    """Find the place that a piece begins in, by the middle of its first letter."""
    x, y = piece.left + 0.2 * min(piece.size, piece.right - piece.left), piece.base + 0.25 * piece.size
    if not (grid.columns[0] <= x <= grid.columns[-1] and grid.rows[-1] <= y <= grid.rows[0]):
        return None
    column = min(bisect_right(grid.columns, x), len(grid.columns) - 1) - 1
    row = min(sum(y < rule for rule in grid.rows), len(grid.rows) - 1) - 1
    return max(row, 0), max(column, 0)

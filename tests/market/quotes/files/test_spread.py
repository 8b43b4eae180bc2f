from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from suanpei.market.quotes.files.gathered import Gathered, group_cells
from suanpei.market.quotes.files.spread import Cell, spread_cells

CELLS = st.builds(Cell, st.sampled_from("abc"), st.integers(1, 3), st.integers(1, 3))


@given(rows=st.lists(st.lists(st.sampled_from(["", "x", "y"]), min_size=1, max_size=5), max_size=6))
def test_cells_without_spans_stay_where_they_are(rows: list[list[str]]) -> None:
    lines = spread_cells(([Cell(text) for text in row] for row in rows), Gathered("x"))
    expected = [(number, tuple(row)) for number, row in enumerate(rows, start=1) if any(row)]
    assert [(line.row, line.cells) for line in lines] == expected


@given(rows=st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=5))
def test_a_cell_reaches_every_place_that_it_spans_and_no_place_twice(rows: list[list[Cell]]) -> None:
    lines = spread_cells(rows, Gathered("x"))
    assert [line.row for line in lines] == list(range(1, len(rows) + 1))
    area = sum(cell.columns * min(cell.rows, len(rows) - row) for row, cells in enumerate(rows) for cell in cells)
    filled = sum(bool(text) for line in lines for text in line.cells)
    assert filled <= area  # less only where a wide cell meets one that hangs from above
    assert filled == area or any(cell.columns > 1 for cells in rows for cell in cells)


def test_a_wide_cell_stops_at_one_that_hangs_from_above() -> None:
    lines = spread_cells([[Cell("a"), Cell("b", 1, 2)], [Cell("c", 2)]], Gathered("x"))
    assert [line.cells for line in lines] == [("a", "b"), ("c", "b")]


@given(cells=st.sets(st.tuples(st.integers(1, 8), st.integers(0, 3))))
def test_ranges_hold_each_cell_once(cells: set[tuple[int, int]]) -> None:
    ranges = group_cells(sorted(cells))
    held = [(row, first[1]) for first, last in ranges for row in range(first[0], last[0] + 1)]
    assert sorted(held) == sorted(cells)
    assert all(first[1] == last[1] for first, last in ranges)
    assert all((last[0] + 1, last[1]) not in cells for _, last in ranges)

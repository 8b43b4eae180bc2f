"""The frontier keeps what nothing beats."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from suanpei.planner.frontier import find_frontier

rows = st.lists(st.tuples(*[st.integers(0, 5).map(float)] * 3), min_size=0, max_size=40)


@given(rows)
def test_the_frontier_equals_comparing_all_pairs(table: list[tuple[float, float, float]]) -> None:
    columns = list(zip(*table, strict=True)) or [(), (), ()]
    expected = [
        not any(other != row and all(a <= b for a, b in zip(other, row, strict=True)) for other in table)
        for row in table
    ]
    assert find_frontier(*columns).tolist() == expected


def test_an_unknown_cost_is_kept_when_it_is_fastest() -> None:
    assert find_frontier([1.0, np.inf, np.inf], [9.0, 3.0, 4.0]).tolist() == [True, True, False]

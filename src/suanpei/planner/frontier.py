"""The frontier of cost, time and risk: what no other choice beats in all three."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def find_frontier(*measures: ArrayLike) -> NDArray[np.bool_]:
    """Tell which rows no other row beats: at most as large in every measure and smaller in one.

    Rows are sorted by the first measures and compared with the frontier so far only, because a later row cannot beat an
    earlier one; equal rows stay together.

    Args:
        measures: Arrays of shape (n,), smaller is better; infinite where unknown. [any]

    Returns:
        Truth per row, shape (n,).

    Example:
        >>> find_frontier([1.0, 2.0, 3.0], [5.0, 6.0, 4.0]).tolist()
        [True, False, True]
    """
    table = np.column_stack([np.asarray(measure, dtype=np.float64) for measure in measures])
    order = np.lexsort(table.T[::-1])
    on_frontier = np.zeros(len(table), dtype=np.bool_)
    kept = np.empty_like(table)
    size = 0
    for row in order:
        best = kept[:size]
        beaten = np.any(np.all(best <= table[row], axis=1) & np.any(best < table[row], axis=1))
        if not beaten:
            kept[size] = table[row]
            size += 1
            on_frontier[row] = True
    return on_frontier

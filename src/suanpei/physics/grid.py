"""Evaluate a term once per distinct combination of the knobs it depends on, then gather.

A million candidates share a few thousand combinations of, say, tensor parallelism, micro-batch and recomputation. A
term is a plain function of knob arrays; `Grid.tabulate` calls it on the broadcast grid of the distinct values of its
knobs, or on the list of those combinations that occur where the grid is mostly empty, and gives back something to
gather from block by block. The function is the same either way, and the same for one candidate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from suanpei.physics.strategy import Strategies

    Codes = NDArray[np.int32]
    FloatArray = NDArray[np.float64]
    Term = Callable[..., Mapping[str, FloatArray]]


_SPARSE_CELLS = 2**18
"""Most cells of a grid of combinations before those that do not occur are dropped; one more axis of up to 8,191 values
still numbers its cells in 32 bits."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns of one term, ready to be gathered for any slice of the candidates."""

    columns: Mapping[str, FloatArray]
    """Flat columns over the combinations."""
    cells: NDArray[np.intp] | None
    """Combination of each candidate, shape (n,); None where there is one only."""

    def gather(self, block: slice, names: tuple[str, ...] | None = None) -> dict[str, FloatArray]:
        """Give the named columns (default all) for the candidates of `block`."""
        if self.cells is None:
            return {name: self.columns[name] for name in (names or self.columns)}
        cells = self.cells[block]
        return {name: self.columns[name].take(cells) for name in (names or self.columns)}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The combinations of some knobs, and which one each candidate is."""

    values: Mapping[str, NDArray[np.int64]]
    """Knobs as arrays that broadcast to `shape`."""
    shape: tuple[int, ...]
    cells: NDArray[np.intp] | None


class Grid:
    """The distinct values of every knob over a set of candidates; shared by all terms and all accelerators."""

    def __init__(self, strategies: Strategies) -> None:
        self.strategies = strategies
        self._coded: dict[str, tuple[NDArray[np.int64], Codes]] = {}
        self._layouts: dict[tuple[str, ...], Layout] = {}
        self._parent: tuple[Grid, NDArray[np.intp]] | None = None

    def take(self, indices: NDArray[np.intp]) -> Grid:
        """Give the grid of a subset, with the same combinations: what was found out about them is found once."""
        part = Grid(self.strategies.take(indices))
        part._parent = self, indices
        return part

    def tabulate(self, term: Term, knobs: tuple[str, ...]) -> Table:
        """Evaluate `term(**knobs)` on the combinations of the knobs' values.

        Args:
            term: Takes each knob as an integer array of broadcastable shape, gives arrays that broadcast to the common
                shape. [-]
            knobs: Names of `Strategies` fields. [-]

        Returns:
            A table over the grid of the knobs' distinct values, or over the combinations that occur where the grid has
            more cells than there are candidates.
        """
        layout = self.lay_out(tuple(sorted(knobs)))
        columns = {
            name: np.ascontiguousarray(np.broadcast_to(column, layout.shape), dtype=np.float64).ravel()
            for name, column in term(**layout.values).items()
        }
        return Table(columns=columns, cells=layout.cells)

    def lay_out(self, knobs: tuple[str, ...]) -> Layout:
        """Give the combinations of some knobs, named in alphabetical order."""
        if knobs not in self._layouts:
            self._layouts[knobs] = self._find_layout(knobs)
        return self._layouts[knobs]

    def _find_layout(self, knobs: tuple[str, ...]) -> Layout:
        if self._parent is not None:
            whole, indices = self._parent
            layout = whole.lay_out(knobs)
            return replace(layout, cells=None if layout.cells is None else layout.cells[indices])
        coded = {knob: self._code(knob) for knob in knobs}
        varying = [(distinct, codes) for distinct, codes in coded.values() if len(distinct) > 1]
        if prod(len(distinct) for distinct, _ in varying) > len(self.strategies):
            return self._list(knobs, varying)
        cells: Codes | None = None
        for distinct, codes in varying:
            cells = codes if cells is None else _nest(cells, distinct, codes)
        axes = np.meshgrid(*(distinct for distinct, _ in coded.values()), indexing="ij", sparse=True)
        shape = tuple(len(distinct) for distinct, _ in coded.values())
        place = None if cells is None else cells.astype(np.intp)
        return Layout(values=dict(zip(knobs, axes, strict=True)), shape=shape, cells=place)

    def _list(self, knobs: tuple[str, ...], varying: Sequence[tuple[NDArray[np.int64], Codes]]) -> Layout:
        """List the combinations that occur."""
        (distinct, cells), *others = varying
        first: Codes = np.zeros(1, dtype=np.int32)
        size = len(distinct)
        for distinct, codes in others:
            cells, size = _nest(cells, distinct, codes), size * len(distinct)
            if size > _SPARSE_CELLS:
                cells, first = _compress(cells, size)
                size = len(first)
        cells, first = _compress(cells, size)
        values = {knob: getattr(self.strategies, knob)[first] for knob in knobs}
        return Layout(values=values, shape=(len(first),), cells=cells.astype(np.intp))

    def _code(self, knob: str) -> tuple[NDArray[np.int64], Codes]:
        """Give the distinct values of a knob, and the number of each candidate's among them."""
        if knob not in self._coded:
            values = getattr(self.strategies, knob)
            most = int(values.max(initial=0))
            if most == int(values.min(initial=most)):
                self._coded[knob] = (np.array([most], dtype=np.int64), np.zeros(0, dtype=np.int32))
                return self._coded[knob]
            seen = np.zeros(most + 1, dtype=np.bool_)
            seen[values] = True
            distinct = np.flatnonzero(seen).astype(np.int64)
            position = np.zeros(len(seen), dtype=np.int32)
            position[distinct] = np.arange(len(distinct))
            self._coded[knob] = (distinct, position.take(values))
        return self._coded[knob]


def _nest(cells: Codes, distinct: NDArray[np.int64], codes: Codes) -> Codes:
    """Number the cells of a grid that gets one more axis."""
    nested = cells * np.int32(len(distinct))
    nested += codes
    return nested


def _compress(cells: Codes, size: int) -> tuple[Codes, Codes]:
    """Number the cells that occur from zero, and give a candidate that stands in each."""
    member = np.full(size, -1, dtype=np.int32)
    member[cells] = np.arange(len(cells), dtype=np.int32)
    occurring = np.flatnonzero(member >= 0)
    position = np.empty(size, dtype=np.int32)
    position[occurring] = np.arange(len(occurring), dtype=np.int32)
    return position.take(cells), member[occurring]

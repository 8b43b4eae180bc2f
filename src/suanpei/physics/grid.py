"""Evaluate a term once per distinct combination of the knobs it depends on, then gather.

A million candidates share a few thousand combinations of, say, tensor parallelism, micro-batch and recomputation. A
term is a plain function of knob arrays; `Grid.tabulate` calls it on the broadcast grid of the distinct values of its
knobs, or on the candidates themselves where those are fewer, and gives back something to gather from block by block.
The function is the same either way, and the same for one candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from suanpei.physics.strategy import Strategies

    FloatArray = NDArray[np.float64]
    Term = Callable[..., Mapping[str, FloatArray]]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns of one term, ready to be gathered for any slice of the candidates."""

    columns: Mapping[str, FloatArray]
    """Flat columns over the cells of the grid. Empty where the term is evaluated on the candidates directly."""
    cells: NDArray[np.intp] | None
    """Cell of each candidate, shape (n,); None where there is one cell only."""
    direct: Callable[[slice], Mapping[str, FloatArray]] | None = None

    def gather(self, block: slice, names: tuple[str, ...] | None = None) -> dict[str, FloatArray]:
        """Give the named columns (default all) for the candidates of `block`."""
        if self.direct is not None:
            columns = self.direct(block)
            return {name: columns[name] for name in (names or columns)}
        if self.cells is None:
            shape = (block.stop - block.start,)
            return {name: np.broadcast_to(self.columns[name], shape) for name in (names or self.columns)}
        cells = self.cells[block]
        return {name: self.columns[name].take(cells) for name in (names or self.columns)}


class Grid:
    """The distinct values of every knob over a set of candidates."""

    def __init__(self, strategies: Strategies) -> None:
        self._strategies = strategies
        self._coded: dict[str, tuple[NDArray[np.int64], NDArray[np.intp]]] = {}

    def tabulate(self, term: Term, knobs: tuple[str, ...]) -> Table:
        """Evaluate `term(**knobs)` on the grid of the knobs' distinct values.

        Args:
            term: Takes each knob as an integer array of broadcastable shape, gives arrays that broadcast to the common
                shape. [-]
            knobs: Names of `Strategies` fields. [-]

        Returns:
            A table over the distinct combinations, or one that evaluates the candidates directly when the grid would
            have more cells than there are candidates.
        """
        count = len(self._strategies)
        coded = [self._code(knob) for knob in knobs]
        shape = tuple(len(distinct) for distinct, _ in coded)
        if prod(shape) > count:
            return Table(columns={}, cells=None, direct=lambda block: self._evaluate(term, knobs, block))
        axes = np.meshgrid(*(distinct for distinct, _ in coded), indexing="ij", sparse=True)
        columns = term(**dict(zip(knobs, axes, strict=True)))
        flat = {
            name: np.ascontiguousarray(np.broadcast_to(column, shape), dtype=np.float64).ravel()
            for name, column in columns.items()
        }
        cells: NDArray[np.intp] | None = None
        for (distinct, codes), size in zip(coded, shape, strict=True):
            if size > 1:
                cells = codes if cells is None else cells * np.intp(len(distinct)) + codes
        return Table(columns=flat, cells=cells)

    def _evaluate(self, term: Term, knobs: tuple[str, ...], block: slice) -> Mapping[str, FloatArray]:
        values = {knob: getattr(self._strategies, knob)[block] for knob in knobs}
        length = len(next(iter(values.values())))
        return {name: np.broadcast_to(column, (length,)) for name, column in term(**values).items()}

    def _code(self, knob: str) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        if knob not in self._coded:
            values = getattr(self._strategies, knob)
            most = int(values.max(initial=0))
            if most == int(values.min(initial=most)):
                self._coded[knob] = (np.array([most], dtype=np.int64), np.zeros(0, dtype=np.intp))
                return self._coded[knob]
            seen = np.zeros(most + 1, dtype=np.bool_)
            seen[values] = True
            distinct = np.flatnonzero(seen).astype(np.int64)
            position = np.zeros(len(seen), dtype=np.intp)
            position[distinct] = np.arange(len(distinct))
            self._coded[knob] = (distinct, position[values])
        return self._coded[knob]

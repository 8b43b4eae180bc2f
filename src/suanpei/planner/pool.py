"""Legal strategies with their memory, shared by all clusters on which they are the same.

Which strategies are legal depends on a cluster only through its scale-up domain, and their memory on no cluster at all;
dozens of accelerators share a few pools. A pool that is too large to keep is enumerated anew each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.physics.grid import Grid
from suanpei.physics.memory.totals import evaluate_memory
from suanpei.planner.enumerate import iterate_strategies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from suanpei.machine.calibration import Calibration
    from suanpei.machine.cluster import Cluster
    from suanpei.physics.memory.totals import MemoryTotals
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.strategy import Strategies
    from suanpei.physics.workload import Workload
    from suanpei.planner.enumerate import Space

POOL_ROWS = 2**18
"""Strategies per block: large enough to share tabulated terms, small enough for tens of megabytes."""

KEPT_ROWS = 2**19
"""Strategies kept over all pools, about 300 bytes each."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """Strategies, ascending by number of accelerators, with their memory and the grid of their knobs."""

    strategies: Strategies
    memory: MemoryTotals
    grid: Grid


class CandidatePool:
    """Enumerates for a cluster, or remembers what it enumerated for one like it."""

    def __init__(self, work: Workload, calibration: Calibration, space: Space) -> None:
        self._work = work
        self._calibration = calibration
        self._space = space
        self._kept: dict[tuple[str, int, tuple[int, ...]], list[Block]] = {}
        self._room = KEPT_ROWS

    def blocks(self, cluster: Cluster, recipe: Recipe, counts: Sequence[int]) -> Iterable[Block]:
        """Give the legal strategies of a recipe on these numbers of accelerators.

        Args:
            cluster: Gives the scale-up domain. [-]
            recipe: Gives axes and shardings. [-]
            counts: Numbers of accelerators, ascending. [-]

        Returns:
            Blocks, ascending by number of accelerators.
        """
        key = (recipe.name, min(cluster.domain_gpus, max(counts, default=1)), tuple(counts))
        if key in self._kept:
            return self._kept[key]
        return self._enumerate(key, cluster, recipe, counts)

    def _enumerate(
        self, key: tuple[str, int, tuple[int, ...]], cluster: Cluster, recipe: Recipe, counts: Sequence[int]
    ) -> Iterator[Block]:
        kept: list[Block] | None = []
        rows = 0
        for strategies in iterate_strategies(self._work.job, cluster, recipe, counts, self._space, POOL_ROWS):
            grid = Grid(strategies)
            memory = evaluate_memory(self._work, recipe, self._calibration, strategies, grid)
            block = Block(strategies=strategies, memory=memory, grid=grid)
            rows += len(strategies)
            if rows > self._room:
                kept = None
            if kept is not None:
                kept.append(block)
            yield block
        if kept is not None:
            self._kept[key] = kept
            self._room -= rows

"""Legal strategies with their memory bounds, shared by all clusters on which they are the same.

Which strategies are legal depends on a cluster only through its scale-up domain, and their states on no cluster at all;
dozens of accelerators share a few pools. A pool that is too large to keep is enumerated anew each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.planner.bounds import bound_memory_bytes
from suanpei.planner.enumerate import iterate_strategies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from suanpei.machine.cluster import Cluster
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.strategy import Strategies
    from suanpei.physics.workload import Workload
    from suanpei.planner.enumerate import Space

    FloatArray = NDArray[np.float64]

POOL_ROWS = 2**17
"""Strategies per block: large enough to share tabulated terms, small enough for tens of megabytes."""

KEPT_ROWS = 2**20
"""Strategies kept over all pools, about 100 bytes each."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """Strategies, ascending by number of accelerators, with the lower bound of their memory."""

    strategies: Strategies
    memory_bound_bytes: FloatArray


class CandidatePool:
    """Enumerates for a cluster, or remembers what it enumerated for one like it."""

    def __init__(self, work: Workload, space: Space) -> None:
        self._work = work
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
            block = Block(strategies=strategies, memory_bound_bytes=bound_memory_bytes(self._work, recipe, strategies))
            rows += len(strategies)
            if rows > self._room:
                kept = None
            if kept is not None:
                kept.append(block)
            yield block
        if kept is not None:
            self._kept[key] = kept
            self._room -= rows

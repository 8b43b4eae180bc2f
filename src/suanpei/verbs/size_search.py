"""The fewest cards of each kind that hold a job, and the fastest strategy on them.

Memory depends on no accelerator: strategies are enumerated and their memory evaluated once per job, for the widest
scale-up domain, and each cluster takes what its own domain and capacity allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suanpei.errors import InputError
from suanpei.physics.evaluate import evaluate
from suanpei.physics.memory.totals import evaluate_memory
from suanpei.physics.uncertainty import Fit, judge_fit, spread_need
from suanpei.physics.workload import build_workload
from suanpei.planner.enumerate import iterate_strategies, join_strategies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from suanpei.job.job import Job
    from suanpei.machine.calibration import Calibration
    from suanpei.machine.cluster import Cluster
    from suanpei.physics.memory.totals import MemoryTotals
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.strategy import Strategies, Strategy

LARGEST_GPUS = 1024
_FEW_GPUS = 8
"""Up to here strategies are so few that all numbers are enumerated at once."""


@dataclass(frozen=True, kw_only=True)
class Smallest:
    """The fewest cards of one cluster that hold a job."""

    gpus: int
    recipe: str
    strategy: Strategy
    step_s: float
    tokens_per_step: float
    device_bytes: float


@dataclass(frozen=True, kw_only=True)
class _Batch:
    """The strategies of one recipe on some numbers of cards, with their memory."""

    recipe: Recipe
    strategies: Strategies
    memory: MemoryTotals


def find_smallest(
    job: Job, clusters: Sequence[Cluster], recipes: Iterable[Recipe], calibration: Calibration
) -> list[tuple[Cluster, Smallest]]:
    """Find the fewest cards of each cluster that hold a job.

    Args:
        job: What is trained. [-]
        clusters: Of which cards. [-]
        recipes: Frameworks to consider. [-]
        calibration: Achievable rates and overheads. [-]

    Returns:
        Clusters that hold the job, in their order; a cluster that does not run its precision is left out.
    """
    found: dict[int, Smallest] = {}
    batches = _Batches(job, clusters, tuple(recipes), calibration)
    for counts in _groups(clusters):
        open_clusters = [(index, cluster) for index, cluster in enumerate(clusters) if index not in found]
        if not open_clusters:
            break
        group = list(batches.evaluate(counts))
        for index, cluster in open_clusters:
            smallest = _find_on(job, cluster, group, calibration)
            if smallest is not None:
                found[index] = smallest
    return [(clusters[index], found[index]) for index in sorted(found)]


def _groups(clusters: Sequence[Cluster]) -> Iterator[tuple[int, ...]]:
    """Give the numbers of cards to look at, those inside a node together, then one by one."""
    nodes = sorted({cluster.gpus_per_node for cluster in clusters})
    counts = {count for node in nodes for power in range(11) if (count := node << power) <= LARGEST_GPUS}
    counts |= {1 << power for power in range(11) if 1 << power <= max(nodes, default=1)}
    few = tuple(sorted(count for count in counts if count <= _FEW_GPUS))
    yield few
    for count in sorted(counts - set(few)):
        yield (count,)


class _Batches:
    """Enumerates a job's strategies on the widest domain and evaluates their memory."""

    def __init__(
        self, job: Job, clusters: Sequence[Cluster], recipes: tuple[Recipe, ...], calibration: Calibration
    ) -> None:
        self._job = job
        self._widest = max(clusters, key=lambda cluster: cluster.domain_gpus)
        self._recipes = recipes
        self._calibration = calibration
        self._work = build_workload(job)

    def evaluate(self, counts: Sequence[int]) -> Iterator[_Batch]:
        """Give a batch per recipe that has a legal strategy."""
        for recipe in self._recipes:
            strategies = join_strategies(list(iterate_strategies(self._job, self._widest, recipe, counts)))
            if len(strategies):
                memory = evaluate_memory(self._work, recipe, self._calibration, strategies)
                yield _Batch(recipe=recipe, strategies=strategies, memory=memory)


def _find_on(job: Job, cluster: Cluster, group: Sequence[_Batch], calibration: Calibration) -> Smallest | None:
    """Find the fewest cards of one cluster in a group of batches, and the fastest strategy on so many."""
    held: list[tuple[_Batch, np.ndarray]] = []
    fewest = LARGEST_GPUS + 1
    for batch in group:
        gpus = batch.strategies.gpus
        spread = spread_need(calibration, job, batch.recipe)
        whole = (gpus <= cluster.gpus_per_node) | (gpus % cluster.gpus_per_node == 0)
        fits = judge_fit(batch.memory.device_bytes, cluster.accelerator.memory_bytes, spread) == Fit.FITS
        mask = whole & fits & (batch.strategies.tp <= cluster.domain_gpus)
        mask &= cluster.accelerator.stack in batch.recipe.stacks
        if mask.any():
            held.append((batch, mask))
            fewest = min(fewest, int(gpus[mask].min()))
    best: Smallest | None = None
    for batch, mask in held:
        rows = np.flatnonzero(mask & (batch.strategies.gpus == fewest))
        if not len(rows):
            continue
        strategies, memory = batch.strategies.take(rows), batch.memory.take(rows)
        try:
            estimates = evaluate(job, cluster, batch.recipe, calibration, strategies, memory)
        except InputError:  # the card does not run the precision
            return None
        per_token_s = estimates.step_s / estimates.tokens_per_step
        row = int(np.argmin(per_token_s))
        if best is None or float(per_token_s[row]) < best.step_s / best.tokens_per_step:
            best = Smallest(
                gpus=fewest,
                recipe=batch.recipe.name,
                strategy=strategies.row(row),
                step_s=float(estimates.step_s[row]),
                tokens_per_step=float(estimates.tokens_per_step[row]),
                device_bytes=float(estimates.device_bytes[row]),
            )
    return best

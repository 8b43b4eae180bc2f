"""The scan of one cluster: its fastest strategies that fit, for every number of accelerators.

On one number of accelerators the fastest run is also the cheapest and the likeliest to keep deadline and budget, so one
survivor per number answers every objective. Where checkpoints are billed, by what is stored or taken home, that holds
among runs whose checkpoints are of one size: one survivor per number and size. Only totals are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import exp, floor, log10
from typing import TYPE_CHECKING

import numpy as np

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.physics.checkpoint import estimate_checkpoint_bytes
from suanpei.physics.evaluate import Estimates, judge_memory
from suanpei.physics.rates import resolve_rates
from suanpei.physics.run import count_steps
from suanpei.physics.setting import describe_setting, share_waiting
from suanpei.physics.step_uncertainty import LEAST_SCALE, scale_step
from suanpei.physics.uncertainty import Fit, spread_need
from suanpei.planner.bounds import bound_step_s
from suanpei.planner.options import Found
from suanpei.planner.rejections import Reason, Tallies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suanpei.job.job import Job
    from suanpei.machine.calibration import Calibration
    from suanpei.machine.cluster import Cluster
    from suanpei.physics.grid import Grid
    from suanpei.physics.memory.totals import MemoryTotals
    from suanpei.physics.rates import Rates
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.strategy import Strategies
    from suanpei.physics.workload import Workload
    from suanpei.planner.pool import Block, CandidatePool

    FloatArray = NDArray[np.float64]
    BoolArray = NDArray[np.bool_]

Evaluate = Callable[["Job", "Cluster", "Recipe", "Calibration", "Strategies", "MemoryTotals", "Grid"], Estimates]
"""The seam to physics: `physics.evaluate.evaluate`."""


@dataclass(frozen=True, kw_only=True)
class Scanner:
    """What all clusters of one search share."""

    work: Workload
    recipes: tuple[Recipe, ...]
    calibration: Calibration
    tokens: float
    pool: CandidatePool
    evaluate: Evaluate
    tallies: Tallies

    def scan(
        self,
        cluster: Cluster,
        training_limits_s: Mapping[int, float],
        risk: float = 0.0,
        *,
        by_checkpoint: bool = False,
    ) -> tuple[dict[int, Found], ...]:
        """Find the best fitting strategy for every number of accelerators.

        The best has the least training time at the confidence asked for: a step that waits is less sure than one that
        computes. Without constraints it is the fastest.

        Args:
            cluster: On what. [-]
            training_limits_s: Numbers of accelerators, each with the longest predicted training time that could still
                keep the constraints; infinite without any. [s]
            risk: Logarithm of the factor at that confidence of a step that is all work. [-]
            by_checkpoint: Whether to find the best for each size of checkpoint. [-]

        Returns:
            The best by number, for each size of checkpoint told apart; numbers on which nothing fits are absent.
        """
        counts = sorted(training_limits_s)
        limits_s = np.array([training_limits_s[count] for count in counts])
        stack = cluster.accelerator.stack
        recipes = [recipe for recipe in self.recipes if stack in recipe.stacks]
        name = cluster.accelerator.name
        if not recipes:
            example = Message("no recipe runs on the {stack} stack of {accelerator}", stack=stack, accelerator=name)
            self.tallies.add(Reason.UNSUPPORTED, 1, example)
        sizes = {recipe.name: self._checkpoints[recipe.name] if by_checkpoint else 0.0 for recipe in recipes}
        by_size = {size: _Best(counts, limits_s, risk) for size in sizes.values()}
        seen: set[int] = set()
        for recipe in recipes:
            best = by_size[sizes[recipe.name]]
            try:
                rates = resolve_rates(self.work.job, cluster, recipe, self.calibration)
            except InputError as error:
                self.tallies.add(Reason.UNSUPPORTED, 1, error.message)
                return ()
            for block in self.pool.blocks(cluster, recipe, counts):
                seen.update(np.unique(block.strategies.gpus).tolist())
                self._scan_block(cluster, recipe, rates, block, best)
        if recipes:
            for count in set(counts) - seen:
                self.tallies.add(
                    Reason.ILLEGAL, 1, Message("{gpus} × {accelerator}", gpus=count, accelerator=name), count
                )
        return tuple(
            {count: self._found(cluster, *place) for count, place in best.places.items()}
            for best in by_size.values()
            if best.places
        )

    def _scan_block(self, cluster: Cluster, recipe: Recipe, rates: Rates, block: Block, best: _Best) -> None:
        """Drop what does not fit and what bounds rule out, evaluate the rest, keep the best."""
        fitting = np.flatnonzero(self._judge(cluster, recipe, block))
        strategies = block.strategies.take(fitting)
        index, steps = best.index_of(strategies), self._steps(strategies)
        bound_s = steps * bound_step_s(self.work, rates, recipe, strategies)
        over_limit = bound_s > best.limit_s[index]
        slower = bound_s * exp(best.risk * LEAST_SCALE) > best.sure_s[index]
        self._add_limit(cluster, strategies, over_limit, bound_s, best.limit_s[index])
        self.add_slower(cluster, int(np.count_nonzero(~over_limit & slower)))
        kept = np.flatnonzero(~(over_limit | slower))
        self.tallies.pruned += len(block.strategies) - len(kept)
        self.tallies.candidates += len(kept)
        if not len(kept):
            return
        rows, index = fitting[kept], index[kept]
        grid = block.grid.take(rows)
        estimates = self.evaluate(
            self.work.job, cluster, recipe, self.calibration, grid.strategies, block.memory.take(rows), grid
        )
        waiting = share_waiting(estimates.step_s, estimates.compute_s)
        sure_s = steps[kept] * estimates.step_s * np.exp(best.risk * scale_step(waiting))
        accepted = best.offer(index, sure_s, estimates)
        self.add_slower(cluster, len(kept) - accepted)

    def _steps(self, strategies: Strategies) -> FloatArray:
        return count_steps(self.tokens, strategies.global_batch_seqs * float(self.work.job.seq_len))

    def _judge(self, cluster: Cluster, recipe: Recipe, block: Block) -> BoolArray:
        """Tell which fit, and count those that do not."""
        strategies, device = block.strategies, block.memory.device_bytes
        fit = judge_memory(block.memory, strategies, cluster, spread_need(self.calibration, self.work.job, recipe))
        beyond = fit == Fit.DOES_NOT_FIT
        if cluster.host_memory_bytes is not None:
            host_bytes = block.memory.host_bytes(strategies.gpus, cluster.gpus_per_node)
            host = host_bytes > cluster.host_memory_bytes
            self.tallies.add_memory(Reason.HOST_MEMORY, cluster, strategies, host_bytes, host)
            beyond &= ~host
        self.tallies.add_memory(Reason.MEMORY, cluster, strategies, device, beyond)
        self.tallies.add_memory(Reason.AT_RISK, cluster, strategies, device, fit == Fit.AT_RISK)
        return np.asarray(fit == Fit.FITS)

    def _found(self, cluster: Cluster, estimates: Estimates, row: int) -> Found:
        recipe, strategy = estimates.recipe, estimates.strategies.row(row)
        rates = resolve_rates(self.work.job, cluster, recipe, self.calibration)
        tokens_per_step = float(strategy.global_batch_seqs) * self.work.job.seq_len
        step_s = float(estimates.step_s[row])
        rate = tokens_per_step * self.model_flops_per_token / step_s / strategy.gpus
        return Found(
            recipe=recipe,
            strategy=strategy,
            step_s=step_s,
            tokens_per_step=tokens_per_step,
            device_bytes=float(estimates.device_bytes[row]),
            model_flops_per_s_per_gpu=rate,
            mfu=rate / rates.peak_flops_per_s,
            of_achievable=rate / rates.product_flops_per_s,
            exposed_comm_to_compute=float(estimates.exposed_comm_s[row] / estimates.compute_s[row]),
            checkpoint_bytes=self._checkpoints[recipe.name],
            setting=describe_setting(
                self.work.job,
                cluster,
                recipe.name,
                gpus=strategy.gpus,
                micro_batch_seqs=strategy.micro_batch,
                step_s=step_s,
                compute_s=float(estimates.compute_s[row]),
            ),
        )

    @cached_property
    def model_flops_per_token(self) -> float:
        """Model FLOPs of the job, per token. [FLOP]"""
        return self.work.model_flops_per_token()

    @cached_property
    def _checkpoints(self) -> dict[str, float]:
        return {recipe.name: estimate_checkpoint_bytes(self.work, recipe) for recipe in self.recipes}

    def add_slower(self, cluster: Cluster, count: int) -> None:
        """Count strategies that another one on the same accelerators beats."""
        self.tallies.add(Reason.SLOWER, count, Message("on {accelerator}", accelerator=cluster.accelerator.name))

    def _add_limit(
        self, cluster: Cluster, strategies: Strategies, mask: BoolArray, bound_s: FloatArray, limit_s: FloatArray
    ) -> None:
        """Count candidates beyond their limit; where no budget pays the shortest rental, the limit is 0."""
        if not mask.any():
            return
        excess = np.divide(bound_s, limit_s, out=np.full_like(bound_s, np.inf), where=mask & (limit_s > 0))
        nearest = int(np.argmin(excess)) if np.isfinite(excess).any() else int(np.argmax(mask))
        values = {"gpus": int(strategies.gpus[nearest]), "accelerator": cluster.accelerator.name}
        example = (
            Message(
                "{gpus} × {accelerator} with tp {tp}, pp {pp}: the work alone, at the confidence asked for, takes"
                " {ratio} times the limit",
                tp=int(strategies.tp[nearest]),
                pp=int(strategies.pp[nearest]),
                ratio=_exceeding(float(excess[nearest])),
                **values,
            )
            if np.isfinite(excess[nearest])
            else Message("{gpus} × {accelerator}: the budget does not pay the shortest rental", **values)
        )
        self.tallies.add(Reason.LIMIT, int(np.count_nonzero(mask)), example, float(excess[nearest]))


def _exceeding(ratio: float) -> str:
    """Write a ratio above one with three digits, and as many more as tell it from one."""
    digits = max(3, 1 - floor(log10(ratio - 1.0))) if 1.0 < ratio < 2.0 else 3
    return f"{ratio:.{digits}g}"


class _Best:
    """The best so far, by number of accelerators."""

    def __init__(self, counts: Sequence[int], limit_s: FloatArray, risk: float) -> None:
        self.counts = np.array(counts, dtype=np.int64)
        self.limit_s = limit_s
        self.risk = risk
        self.sure_s = np.full(len(counts), np.inf)
        """Training time at the confidence asked for. [s]"""
        self.places: dict[int, tuple[Estimates, int]] = {}

    def index_of(self, strategies: Strategies) -> NDArray[np.intp]:
        """Give the position of each strategy's number of accelerators."""
        return np.searchsorted(self.counts, strategies.gpus)

    def offer(self, index: NDArray[np.intp], sure_s: FloatArray, estimates: Estimates) -> int:
        """Take what is better; `index` ascends. Returns how many numbers have their first strategy."""
        starts = np.flatnonzero(np.diff(index, prepend=-1))
        least = np.minimum.reduceat(sure_s, starts)
        first = 0
        for start, end, time_s in zip(starts, [*starts[1:], len(index)], least, strict=True):
            place = int(index[start])
            if time_s < self.sure_s[place]:
                row = int(start) + int(np.argmin(sure_s[start:end]))
                first += not np.isfinite(self.sure_s[place])
                self.sure_s[place] = time_s
                self.places[int(self.counts[place])] = (estimates, row)
        return first

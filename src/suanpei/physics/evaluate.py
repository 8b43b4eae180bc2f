"""Evaluate candidates: memory and time of one strategy or of a million, by the same functions.

`evaluate` tabulates every term over the distinct combinations of its knobs and puts the totals together block by block;
`Estimates.row` evaluates one candidate again and keeps all parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.estimate import PHASES, Estimate, MemoryEstimate, StepEstimate
from suanpei.physics.grid import Grid
from suanpei.physics.memory.peak import combine_peak, explain_peak
from suanpei.physics.memory.stages import STAGES
from suanpei.physics.memory.totals import (
    BLOCK,
    MemoryTotals,
    evaluate_memory,
    gather_terms,
    resolve_overheads,
    tabulate_memory,
    total_peak,
)
from suanpei.physics.narrowing import list_remedies
from suanpei.physics.rates import resolve_rates
from suanpei.physics.setting import describe_setting
from suanpei.physics.step import combine_step, explain_step, tabulate_step
from suanpei.physics.step_uncertainty import spread_step_time
from suanpei.physics.strategy import Recompute
from suanpei.physics.uncertainty import Fit, judge_fit, spread_need
from suanpei.physics.workload import Workload, build_workload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suanpei.job.job import Job
    from suanpei.machine.calibration import Calibration
    from suanpei.machine.cluster import Cluster
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.strategy import Strategies
    from suanpei.physics.uncertainty import Spread

    FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Estimates:
    """Totals of many candidates, arrays of shape (n,)."""

    job: Job
    cluster: Cluster
    recipe: Recipe
    calibration: Calibration
    strategies: Strategies
    step_s: FloatArray
    """Time of one optimizer step. [s]"""
    compute_s: FloatArray
    """Work of the fullest stage in one step. [s]"""
    exposed_comm_s: FloatArray
    """Communication of one step that nothing hides. [s]"""
    memory: MemoryTotals

    @property
    def allocated_bytes(self) -> FloatArray:
        """What tensors need, shape (n,). [B]"""
        return self.memory.allocated_bytes

    @property
    def reserved_bytes(self) -> FloatArray:
        """What the allocator holds, shape (n,). [B]"""
        return self.memory.bound_reserved(self.cluster.accelerator.memory_bytes)

    @property
    def device_bytes(self) -> FloatArray:
        """What the driver must give, shape (n,). [B]"""
        return self.memory.device_bytes

    @cached_property
    def host_bytes(self) -> FloatArray:
        """Host memory of one node, shape (n,). [B]"""
        return self.memory.host_bytes(self.strategies.gpus, self.cluster.gpus_per_node)

    def __len__(self) -> int:
        return len(self.step_s)

    @property
    def tokens_per_step(self) -> FloatArray:
        """Tokens of one optimizer step, shape (n,). [tokens]"""
        return np.asarray(self.strategies.global_batch_seqs * float(self.job.seq_len), dtype=np.float64)

    @cached_property
    def memory_spread(self) -> Spread:
        """Distribution of what the job really needs over what is predicted."""
        return spread_need(self.calibration, self.job, self.recipe)

    @cached_property
    def fit(self) -> NDArray[np.int8]:
        """`Fit` of each as a number, shape (n,); a host without room does not fit either."""
        return judge_memory(self.memory, self.strategies, self.cluster, self.memory_spread)

    def row(self, index: int) -> Estimate:
        """Explain one candidate: evaluate it again and keep all parts."""
        return explain(
            self.job,
            self.cluster,
            self.recipe,
            self.calibration,
            self.strategies.take(np.array([index], dtype=np.intp)),
        )


def judge_memory(memory: MemoryTotals, strategies: Strategies, cluster: Cluster, spread: Spread) -> NDArray[np.int8]:
    """Judge whether memory suffices, on the accelerator and on its host.

    Args:
        memory: Of these strategies. [-]
        strategies: The candidates, shape (n,). [-]
        cluster: Gives the capacities; an unknown host capacity suffices. [-]
        spread: Distribution of measured over predicted device memory. [-]

    Returns:
        `Fit` of each as a number, shape (n,).
    """
    verdict = judge_fit(memory.device_bytes, cluster.accelerator.memory_bytes, spread)
    host = cluster.host_memory_bytes
    if host is None:
        return verdict
    lacks_host = memory.host_bytes(strategies.gpus, cluster.gpus_per_node) > host
    return np.where(lacks_host, Fit.DOES_NOT_FIT, verdict).astype(np.int8)


def evaluate(
    job: Job,
    cluster: Cluster,
    recipe: Recipe,
    calibration: Calibration,
    strategies: Strategies,
    memory: MemoryTotals | None = None,
    grid: Grid | None = None,
) -> Estimates:
    """Evaluate memory and step time of every strategy.

    Args:
        job: What is trained, and how. [-]
        cluster: On what. [-]
        recipe: With which framework's habits. [-]
        calibration: Achievable rates and overheads. [-]
        strategies: Legal ones; their arrays have shape (n,). [-]
        memory: The memory of these strategies where it was evaluated before: it depends on no accelerator. [-]
        grid: Of these strategies, where it is shared. [-]

    Returns:
        Totals of shape (n,).

    Raises:
        InputError: the accelerator does not run the job's precision.
    """
    work = build_workload(job)
    rates = resolve_rates(job, cluster, recipe, calibration)
    grid = grid or Grid(strategies)
    tables = tabulate_step(work, rates, recipe, grid, strategies)
    count = len(strategies)
    step_s, compute_s, exposed_comm_s = (np.empty(count) for _ in range(3))
    for start in range(0, count, BLOCK):
        block = slice(start, min(start + BLOCK, count))
        times = combine_step(tables, rates, strategies, block)
        step_s[block], compute_s[block], exposed_comm_s[block] = times.seconds, times.compute, times.exposed
    return Estimates(
        job=job,
        cluster=cluster,
        recipe=recipe,
        calibration=calibration,
        strategies=strategies,
        memory=memory or evaluate_memory(work, recipe, calibration, strategies, grid),
        step_s=step_s,
        compute_s=compute_s,
        exposed_comm_s=exposed_comm_s,
    )


def explain(job: Job, cluster: Cluster, recipe: Recipe, calibration: Calibration, strategies: Strategies) -> Estimate:
    """Evaluate one candidate and keep all parts.

    Args:
        job: What is trained, and how. [-]
        cluster: On what. [-]
        recipe: With which framework's habits. [-]
        calibration: Achievable rates and overheads. [-]
        strategies: One strategy, shape (1,). [-]

    Returns:
        The explained estimate; its parts sum to its totals.
    """
    work = build_workload(job)
    rates = resolve_rates(job, cluster, recipe, calibration)
    overheads = resolve_overheads(calibration)
    grid, block = Grid(strategies), slice(0, 1)
    step_tables = tabulate_step(work, rates, recipe, grid, strategies)
    times = combine_step(step_tables, rates, strategies, block)
    terms, host_per_gpu = gather_terms(tabulate_memory(work, recipe, overheads, grid), work, recipe, strategies, block)
    peak = combine_peak(terms, overheads)
    memory = total_peak(peak, host_per_gpu)
    host = float(memory.host_bytes(strategies.gpus, cluster.gpus_per_node)[0])
    strategy = strategies.row(0)
    seconds, device = float(times.seconds[0]), float(peak.device_bytes[0])
    setting = describe_setting(
        job,
        cluster,
        recipe.name,
        gpus=strategy.gpus,
        micro_batch_seqs=strategy.micro_batch,
        step_s=seconds,
        compute_s=float(times.compute[0]),
    )
    step_spread = spread_step_time(calibration.evidence, setting)
    memory_spread = spread_need(calibration, job, recipe)
    low_s, high_s = step_spread.interval(seconds)
    low_bytes, high_bytes = memory_spread.interval(device)
    capacity = cluster.accelerator.memory_bytes
    verdict = Fit(int(judge_fit(device, capacity, memory_spread))).verdict
    if cluster.host_memory_bytes is not None and host > cluster.host_memory_bytes:
        verdict = "does_not_fit"
    tokens = float(strategy.global_batch_seqs) * job.seq_len
    flops_rate = tokens * work.model_flops_per_token() / seconds / strategy.gpus
    return Estimate(
        strategy=strategy,
        recipe=recipe.name,
        gpus=strategy.gpus,
        global_batch_seqs=strategy.global_batch_seqs,
        tokens_per_step=tokens,
        memory=MemoryEstimate(
            device_bytes=device,
            low_bytes=low_bytes,
            high_bytes=high_bytes,
            reserved_bytes=float(memory.bound_reserved(capacity)[0]),
            allocated_bytes=float(peak.allocated_bytes[0]),
            capacity_bytes=capacity,
            verdict=verdict,
            phase=PHASES[int(peak.phase[0])],
            stage=STAGES[int(peak.stage[0])],
            parts=explain_peak(terms, overheads, 0),
            host_bytes=host,
        ),
        step=StepEstimate(
            seconds=seconds,
            low_seconds=low_s,
            high_seconds=high_s,
            parts=explain_step(step_tables, times, strategies),
        ),
        mfu=flops_rate / rates.peak_flops_per_s,
        mfu_full_attention=_rate(work.model_flops_per_token(full_attention=True), tokens, seconds, strategy.gpus)
        / rates.peak_flops_per_s,
        hfu=(flops_rate + _recomputed_rate(work, strategy.recompute, recipe, tokens, seconds, strategy.gpus))
        / rates.peak_flops_per_s,
        of_achievable=flops_rate / rates.product_flops_per_s,
        tokens_per_second_per_gpu=tokens / seconds / strategy.gpus,
        exposed_comm_to_compute=float(times.exposed[0] / times.compute[0]),
        error_class=setting.error_class,
        setting=setting,
        evidence=(*step_spread.evidence, *memory_spread.evidence),
        remedies=list_remedies(calibration.evidence, setting, job, cluster),
    )


def _rate(flops_per_token: float, tokens: float, seconds: float, gpus: int) -> float:
    return flops_per_token * tokens / seconds / gpus


def _recomputed_rate(
    work: Workload, recompute: Recompute, recipe: Recipe, tokens: float, seconds: float, gpus: int
) -> float:
    """FLOPs of recomputation per second and accelerator; element-wise work counts none."""
    if recompute is Recompute.NONE:
        return 0.0
    attention = work.forward_attention_flops_per_token(full=False)
    if recompute is Recompute.FULL:
        return _rate(work.recompute_flops_per_token, tokens, seconds, gpus)
    flops = attention if "attention" in recipe.selective else 0.0
    if "half_products" in recipe.selective:
        flops += (work.recompute_flops_per_token - attention) / 2
    return _rate(flops, tokens, seconds, gpus)

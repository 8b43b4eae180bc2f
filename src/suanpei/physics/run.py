"""The run: one step's time over all steps, with checkpoints, failures, restarts and set-up.

A run is set-up, then useful steps, interrupted by checkpoints that block and by stops at random times, each of which
costs the work since the last checkpoint and a recovery. For exponential stops the expected time is exact [1]_; the stop
rate itself is uncertain by its published spread, the number of stops is Poisson, and the step time has the spread of
``uncertainty``. Together they give the distribution of the finish date.

Everything is an array over runs; the distribution is a mixture over a small grid of equally likely stop rates and stop
counts, exact in the step time, so a thousand runs cost milliseconds. Limits: stops are independent; queues, holidays,
restarts of a diverged loss and waiting for a provider's replacement machine beyond the recovery time are not in it.

References:
    .. [1] J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS 22(3), 2006,
           doi:10.1016/j.future.2004.11.016, equation 13.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from suanpei.messages import Message
from suanpei.physics.checkpoint import estimate_checkpoint_interval_s
from suanpei.units import DAY_S, HOUR_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from suanpei.physics.uncertainty import Spread

    FloatArray = NDArray[np.float64]

RATE_POINTS = 9
"""Equally likely stop rates in the mixture."""

COUNT_POINTS = 5
"""Equally likely numbers of stops, for each rate."""

_EXACT_POISSON_MEAN = 12.0
"""Above this mean the number of stops is read from the normal expansion."""

_BISECTIONS = 34


@dataclass(frozen=True, kw_only=True)
class RunAssumptions:
    """What a run meets beside its steps. Defaults are stated with every plan."""

    card_hours_per_stop: float = 50_000.0
    """Median accelerator-hours per unexpected stop. Source: Llama 3 405B, 419 stops of 16,384 H100 in 54 days: 50,677
    (arXiv 2407.21783); 400 A100-class cards: 33,600 to 67,200 (BLOOM). [h]"""
    stop_rate_sigma: float = 0.69
    """Log-spread of the stop rate between clusters. Source: stops per node-day of Llama 3 0.0038, OPT-175B 0.0156,
    BLOOM 0.0030, a B200 cluster 0.0029, an H200 cluster 0.0085, Meta RSC-1 0.0065 and RSC-2 0.0023. [-]"""
    recovery_s: float = 0.5 * HOUR_S
    """Detect, reschedule, load and warm up after a stop. [s]"""
    recovery_with_spares_s: float = 0.25 * HOUR_S
    """The same where a spare node stands ready. Source: MegaScale (NSDI 2024), caught up in under 15 minutes. [s]"""
    spare_nodes: int = 0
    """Nodes rented beyond those that compute. [-]"""
    setup_single_s: float = 2.0 * HOUR_S
    """From delivery to the first useful step on one node. [s]"""
    setup_several_s: float = 24.0 * HOUR_S
    """The same on several nodes, acceptance tests included. [s]"""
    storage_bytes_per_s_per_node: float = 1.0e9
    """Rate at which one node writes a checkpoint. Source: BLOOM, 2.3 TB in 40 s from 48 nodes: 1.2 GB/s per node.
    [B/s]"""
    storage_bytes_per_s: float = 20.0e9
    """Most that the storage takes from all nodes together. A third of BLOOM's 60 GB/s: rented storage is rarely a
    national centre's. [B/s]"""
    asynchronous_saves: bool = False
    """Whether training goes on while a copy in host memory is uploaded."""
    host_copy_bytes_per_s_per_node: float = 40.0e9
    """Rate of the copy into host memory that still blocks an asynchronous save: 8 cards at 5 GB/s of pageable copies.
    [B/s]"""

    def count_storage_bytes_per_s(self, nodes: ArrayLike) -> FloatArray:
        """Give the rate at which a number of nodes together write to the storage. [B/s]"""
        return np.minimum(np.asarray(nodes) * self.storage_bytes_per_s_per_node, self.storage_bytes_per_s)

    def messages(self) -> tuple[Message, ...]:
        """State the assumptions for the list that stands under every plan."""
        return (
            Message(
                "set-up {single} h on one node, {several} h on several; {spares} spare nodes",
                single=f"{self.setup_single_s / HOUR_S:g}",
                several=f"{self.setup_several_s / HOUR_S:g}",
                spares=self.spare_nodes,
            ),
            Message(
                "one stop per {hours} card-hours in the median, within a factor of {factor} on nine clusters of ten;"
                " recovery {recovery} h",
                hours=f"{self.card_hours_per_stop:,.0f}",
                factor=f"{exp(NormalDist().inv_cdf(0.95) * self.stop_rate_sigma):.1f}",
                recovery=f"{self.effective_recovery_s / HOUR_S:g}",
            ),
            Message(
                "checkpoints written at {node} GB/s per node, at most {total} GB/s, {mode}",
                node=f"{self.storage_bytes_per_s_per_node / 1e9:g}",
                total=f"{self.storage_bytes_per_s / 1e9:g}",
                mode=Message("in the background") if self.asynchronous_saves else Message("while training waits"),
            ),
        )

    @property
    def effective_recovery_s(self) -> float:
        """Recovery with what stands ready. [s]"""
        return self.recovery_with_spares_s if self.spare_nodes else self.recovery_s


@dataclass(frozen=True, kw_only=True)
class RunEstimate:
    """One run, explained."""

    days: float
    """Central estimate of the calendar time from delivery to the last step. [d]"""
    low_days: float
    """5th percentile. [d]"""
    high_days: float
    """95th percentile. [d]"""
    goodput: float
    """Useful step time over all time after set-up. [-]"""
    deadline_probability: float | None
    """Probability of finishing within the deadline; None without one. [-]"""
    steps: int
    checkpoint_interval_s: float
    """Useful time between checkpoints. [s]"""
    checkpoint_blocking_s: float
    """Time that one checkpoint blocks training. [s]"""
    expected_stops: float
    parts: Mapping[str, float]
    """Seconds by part: useful steps, checkpoints, lost work, recovery, set-up; they sum to `days`. [s]"""


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Many runs as arrays of shape (n,)."""

    steps: FloatArray
    training_s: FloatArray
    """Useful step time as predicted, before the spread of the step time. [s]"""
    gpus: FloatArray
    nodes: FloatArray
    setup_s: FloatArray
    blocking_s: FloatArray
    interval_s: FloatArray
    spread: Spread
    spread_scale: FloatArray
    """Factor on the logarithms of `spread` for each run."""
    assumptions: RunAssumptions

    def _stretch(self, mean_time_between_stops_s: FloatArray) -> FloatArray:
        """Give wall time over useful time, for stops at this mean time between them (Daly 2006, equation 13)."""
        mean = mean_time_between_stops_s
        recovery = self.assumptions.effective_recovery_s
        cycle = self.interval_s + self.blocking_s
        shape = (-1,) + (1,) * (mean.ndim - 1)
        repeated = np.exp(recovery / mean) * np.expm1(cycle.reshape(shape) / mean)
        return np.asarray(mean * repeated / self.interval_s.reshape(shape))

    @property
    def mean_time_between_stops_s(self) -> FloatArray:
        """Mean time between stops of the whole job at the median rate: card-hours per stop over cards. [s]"""
        return np.asarray(self.assumptions.card_hours_per_stop * HOUR_S / self.gpus)

    @cached_property
    def central_s(self) -> FloatArray:
        """Central estimate of the whole run: predicted step time, median stop rate, expected number of stops. [s]"""
        return np.asarray(self.setup_s + self.training_s * self._stretch(self.mean_time_between_stops_s))

    @property
    def days(self) -> FloatArray:
        """Central estimate in days. [d]"""
        return np.asarray(self.central_s / DAY_S)

    @property
    def recovery_s(self) -> FloatArray:
        """Time spent in recovery: what the factor exp(R / M) of Daly's equation adds, stops during it included. [s]"""
        after_setup_s = self.central_s - self.setup_s
        return np.asarray(
            after_setup_s * -np.expm1(-self.assumptions.effective_recovery_s / self.mean_time_between_stops_s)
        )

    @cached_property
    def _mixture(self) -> tuple[FloatArray, FloatArray]:
        """Give the stretch and the time beside it per equally likely cell of stop rate and count; shape (n, cells)."""
        normal = NormalDist()
        scores = np.array([normal.inv_cdf((point + 0.5) / RATE_POINTS) for point in range(RATE_POINTS)])
        rates = np.exp(self.assumptions.stop_rate_sigma * scores)
        mean = self.mean_time_between_stops_s[:, None] / rates
        stretch = self._stretch(mean)
        expected = self.training_s[:, None] * stretch / mean
        loss_s = self.assumptions.effective_recovery_s + (self.interval_s + self.blocking_s)[:, None] / 2.0
        counts = quantile_poisson(expected, (np.arange(COUNT_POINTS) + 0.5) / COUNT_POINTS)
        # the spread about the expectation that `stretch` holds already
        beside = (counts - expected[..., None]) * loss_s[..., None] + self.setup_s[:, None, None]
        cells = RATE_POINTS * COUNT_POINTS
        return np.repeat(stretch, COUNT_POINTS, axis=1), beside.reshape(-1, cells)

    def probability_within(self, limit_s: ArrayLike) -> FloatArray:
        """Give the probability that the run is over within a limit.

        Args:
            limit_s: Calendar time from delivery, scalar or shape (n,). [s]

        Returns:
            Probability, shape (n,). [-]
        """
        stretch, beside = self._mixture
        limit = np.broadcast_to(np.asarray(limit_s, dtype=np.float64), self.gpus.shape)[:, None]
        ratio = np.maximum((limit - beside) / (self.training_s[:, None] * stretch), 0.0)
        within = self.spread.probability_at_most(ratio ** (1.0 / self.spread_scale[:, None]))
        return np.asarray(within.mean(axis=1))

    def quantile_s(self, probability: float) -> FloatArray:
        """Give the time that the run stays within with this probability, by bisection of `probability_within`.

        Args:
            probability: Strictly between 0 and 1. [-]

        Returns:
            Time, shape (n,). [s]
        """
        stretch, beside = self._mixture
        low = np.zeros_like(self.gpus)
        extreme = (self.spread.factor(1.0 - 1e-6) ** self.spread_scale)[:, None]
        high = (beside + self.training_s[:, None] * stretch * extreme).max(axis=1)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2.0
            below = self.probability_within(middle) < probability
            low = np.where(below, middle, low)
            high = np.where(below, high, middle)
        return np.asarray(high)

    def take(self, indices: NDArray[np.intp] | slice) -> Runs:
        """Give a subset."""
        return Runs(
            steps=self.steps[indices],
            training_s=self.training_s[indices],
            gpus=self.gpus[indices],
            nodes=self.nodes[indices],
            setup_s=self.setup_s[indices],
            blocking_s=self.blocking_s[indices],
            interval_s=self.interval_s[indices],
            spread=self.spread,
            spread_scale=self.spread_scale[indices],
            assumptions=self.assumptions,
        )

    def row(self, index: int, deadline_s: float | None = None) -> RunEstimate:
        """Explain one run.

        Args:
            index: Which one. [-]
            deadline_s: Calendar time it should take at most; None leaves the probability out. [s]

        Returns:
            The run with its parts, which sum to `days`.
        """
        one = self.take(slice(index, index + 1) if index >= 0 else slice(index, index + 1 or None))
        total = float(one.central_s[0])
        setup, training = float(one.setup_s[0]), float(one.training_s[0])
        blocking = training / float(one.interval_s[0]) * float(one.blocking_s[0])
        mean_s = float(one.mean_time_between_stops_s[0])
        stops = (total - setup) / mean_s
        recovery = float(one.recovery_s[0])
        low, high = float(one.quantile_s(0.05)[0]), float(one.quantile_s(0.95)[0])
        return RunEstimate(
            days=total / DAY_S,
            low_days=min(low, total) / DAY_S,
            high_days=max(high, total) / DAY_S,
            goodput=training / (total - setup),
            deadline_probability=None if deadline_s is None else float(one.probability_within(deadline_s)[0]),
            steps=int(one.steps[0]),
            checkpoint_interval_s=float(one.interval_s[0]),
            checkpoint_blocking_s=float(one.blocking_s[0]),
            expected_stops=stops,
            parts={
                "run_steps": training,
                "run_checkpoints": blocking,
                "run_lost_work": total - setup - training - blocking - recovery,
                "run_recovery": recovery,
                "run_setup": setup,
            },
        )


def count_steps(tokens: ArrayLike, tokens_per_step: ArrayLike) -> FloatArray:
    """Count optimizer steps: tokens over tokens per step, rounded up, at least one. [-]"""
    ratio = np.asarray(tokens, dtype=np.float64) / np.asarray(tokens_per_step, dtype=np.float64)
    return np.maximum(np.ceil(ratio), 1.0)


def quantile_poisson(mean: ArrayLike, probability: ArrayLike) -> FloatArray:
    """Give quantiles of Poisson counts: exact below a mean of 12, by the Cornish-Fisher expansion above.

    ``k ≈ μ + z √μ + (z² - 1) / 6`` (E. A. Cornish, R. A. Fisher, 1938), within half a count there.

    Args:
        mean: Expected counts μ, any shape. [-]
        probability: Probabilities, shape (p,). [-]

    Returns:
        Counts, shape of `mean` + (p,). [-]
    """
    expected = np.asarray(mean, dtype=np.float64)[..., None]
    wanted = np.asarray(probability, dtype=np.float64)
    score = np.array([NormalDist().inv_cdf(float(value)) for value in wanted])
    expansion = np.maximum(expected + score * np.sqrt(expected) + (score**2 - 1.0) / 6.0, 0.0)
    small = np.minimum(expected, _EXACT_POISSON_MEAN)
    term = np.exp(-small)
    total = term.copy()
    counts = np.zeros(np.broadcast_shapes(expected.shape, wanted.shape))
    for count in range(1, int(_EXACT_POISSON_MEAN * 4)):
        below = total < wanted
        if not below.any():
            break
        counts += below
        term = term * small / count
        total = total + term
    return np.where(expected < _EXACT_POISSON_MEAN, counts, expansion)


def estimate_runs(
    step_s: ArrayLike,
    tokens_per_step: ArrayLike,
    gpus: ArrayLike,
    *,
    tokens: float,
    gpus_per_node: int,
    checkpoint_bytes: ArrayLike,
    spread: Spread,
    spread_scale: ArrayLike = 1.0,
    assumptions: RunAssumptions,
) -> Runs:
    """Estimate runs from step times.

    A checkpoint blocks for its write, ``bytes / min(nodes · node rate, storage rate)``; an asynchronous one only for
    the copy into host memory, and then the interval is at least the upload. The interval is never shorter than a step
    nor longer than the run.

    Args:
        step_s: Predicted time of one optimizer step, scalar or shape (n,). [s]
        tokens_per_step: Tokens of one step, broadcastable. [tokens]
        gpus: Accelerators that compute, broadcastable. [-]
        tokens: All tokens trained. [tokens]
        gpus_per_node: Accelerators of one node. [-]
        checkpoint_bytes: Size of one checkpoint, broadcastable. [B]
        spread: Distribution of measured over predicted step time. [-]
        spread_scale: Factor on the logarithms of `spread` for each run, broadcastable. [-]
        assumptions: Failures, storage, set-up, spares. [-]

    Returns:
        Arrays of shape (n,).
    """
    step, per_step, cards, saved_bytes = (
        np.atleast_1d(array)
        for array in np.broadcast_arrays(
            *(np.asarray(values, dtype=np.float64) for values in (step_s, tokens_per_step, gpus, checkpoint_bytes))
        )
    )
    steps = count_steps(tokens, per_step)
    training_s = steps * step
    nodes = np.ceil(cards / gpus_per_node)
    upload_s = saved_bytes / assumptions.count_storage_bytes_per_s(nodes)
    if assumptions.asynchronous_saves:
        blocking_s = saved_bytes / (nodes * assumptions.host_copy_bytes_per_s_per_node)
        least_s = np.maximum(upload_s, step)
    else:
        blocking_s = upload_s
        least_s = step
    between_stops_s = assumptions.card_hours_per_stop * HOUR_S / cards
    interval_s = np.maximum(estimate_checkpoint_interval_s(blocking_s, between_stops_s), least_s)
    return Runs(
        steps=steps,
        training_s=training_s,
        gpus=cards,
        nodes=nodes,
        setup_s=np.where(nodes > 1, assumptions.setup_several_s, assumptions.setup_single_s),
        blocking_s=blocking_s,
        interval_s=np.minimum(interval_s, np.maximum(training_s, step)),
        spread=spread,
        spread_scale=np.broadcast_to(np.asarray(spread_scale, dtype=np.float64), step.shape),
        assumptions=assumptions,
    )

"""Uncertainty: one owner for every interval, probability and verdict; ``step_uncertainty`` chooses a step's residuals.

What is uncertain is a factor: measured over predicted. Its distribution comes from runs that the fit did not see, as
sorted residuals of the logarithm; interval, deadline probability, fit verdict and cost band all read it, so they cannot
contradict each other.

A step's residual is taken over its scale, how much less is known of the time in which nothing computes [1]_, and a
distribution is scaled back for the step that it speaks for. Quantiles are conformal: of n residuals the k-th is the
k / (n + 1) quantile, so that a new run from the same population falls below it with exactly that probability [2]_ [3]_.
Between residuals the quantile is linear in the normal score; beyond the outermost it goes on at the slope of a
predictive normal, so thin evidence gives wide, finite tails. Nothing measured at all gives the prior.

Runs of one source err together. Where card, recipe and fabric were all measured, a run is one more of theirs, and the
residuals are those of cross-validation by configuration. Else it is a run of a source never seen: the residuals are
those of each source predicted without it, sources weighing equally [4]_, and as the next source may lie beyond all K,
deviations from the median are stretched by what a predictive variance has over that of K sources, (K + 1) / (K - 1).

Limits: the residuals must come from runs like the one predicted; where they do not, `widening` says so.

References:
    .. [1] J. Lei et al., "Distribution-free predictive inference for regression", JASA 113, 2018, arXiv 1604.04173,
           section 5.2: locally weighted conformal inference.
    .. [2] V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random World, Springer, 2005, section 2.2.
    .. [3] As [1]_, section 2.
    .. [4] R. Dunn, L. Wasserman, A. Ramdas, "Distribution-free prediction sets for two-layer hierarchical models",
           JASA 118, 2023, arXiv 1809.07441; Y. Lee, R. F. Barber, R. Willett, arXiv 2306.06342.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from math import exp, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.physics.strategy import Sharding

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suanpei.job.job import Job
    from suanpei.machine.calibration import Calibration, Evidence, EvidenceSplit, Residuals
    from suanpei.physics.estimate import Verdict
    from suanpei.physics.recipe import Recipe

    FloatArray = NDArray[np.float64]

INTERVAL_LEVEL = 0.9
"""Share of runs that a shown interval should hold: 5th to 95th percentile."""

PRIOR_STEP_SIGMA = 0.30
"""Log-spread of step time where nothing was measured. Source: published MFU of comparable dense runs lies between 0.3
and 0.6, catalogue of whole runs; half of that range in logarithm."""

PRIOR_MEMORY_SIGMA = 0.12
"""Log-spread of memory where nothing was measured: from 16 to 24 B per parameter of one and the same optimizer step
between frameworks is ± 0.2, taken as the 90 % interval."""

_TAIL_FLOOR = 0.02
"""Least log-spread by which a tail goes on, so that equal residuals do not promise certainty; under that of repeats."""

_NORMAL = NormalDist()
_SCORES = np.linspace(-6.0, 6.0, 2401)
_PROBABILITIES = np.array([_NORMAL.cdf(float(score)) for score in _SCORES])


class Fit(IntEnum):
    """The memory verdict as a number, for arrays."""

    FITS = 0
    AT_RISK = 1
    DOES_NOT_FIT = 2

    @property
    def verdict(self) -> Verdict:
        """The word for it."""
        words: dict[int, Verdict] = {0: "fits", 1: "at_risk", 2: "does_not_fit"}
        return words[int(self)]

    @property
    def as_call(self) -> tuple[float, float, float]:
        """The verdict as 1 for fits, 0.5 at risk, 0 does not fit, with both ends of what may be measured."""
        calls = {Fit.FITS: (1.0, 1.0, 1.0), Fit.AT_RISK: (0.5, 0.0, 1.0), Fit.DOES_NOT_FIT: (0.0, 0.0, 0.0)}
        return calls[self]


@lru_cache(maxsize=256)
def _lay_knots(residuals: tuple[float, ...], prior_sigma: float) -> tuple[FloatArray, FloatArray, float]:
    """Lay scores, logarithms and their median at scale and widening 1: one distribution serves many settings."""
    count = len(residuals)
    end = float(_SCORES[-1])
    if not count:
        return np.array([-end, end]), np.array([-end, end]) * prior_sigma, 0.0
    logs = np.sort(np.asarray(residuals, dtype=np.float64))
    scores = np.array([_NORMAL.inv_cdf(rank / (count + 1)) for rank in range(1, count + 1)])
    if count >= 3:
        slope = max(float(np.std(logs, ddof=1)) * sqrt(1 + 1 / count), _TAIL_FLOOR)
    else:
        slope = max(prior_sigma, float(np.ptp(logs)))
    scores = np.concatenate([[-end], scores, [end]])
    logs = np.concatenate([[logs[0] + slope * (-end - scores[1])], logs, [logs[-1] + slope * (end - scores[-2])]])
    return scores, logs, float(np.interp(0.0, scores, logs))


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The distribution of measured over predicted.

    Example:
        >>> spread = Spread(residuals=tuple(k / 100 for k in range(-9, 10)))
        >>> low, high = spread.interval(100.0)
        >>> f"{low:.1f} {high:.1f}"
        '91.4 109.4'
    """

    residuals: tuple[float, ...] = ()
    """Sorted log(measured / predicted), over the scale of each."""
    prior_sigma: float = PRIOR_STEP_SIGMA
    """Log-spread of the normal that stands in for no residuals at all."""
    widening: float = 1.0
    """Factor on the distance of every quantile from the median."""
    scale: float = 1.0
    """Factor on every logarithm, which undoes that the residuals were taken over their scales."""
    evidence: tuple[Message, ...] = ()
    """What the distribution rests on."""

    @cached_property
    def _knots(self) -> tuple[FloatArray, FloatArray]:
        """Normal scores and logarithms through which the quantile function runs, the tails included."""
        scores, logs, centre = _lay_knots(self.residuals, self.prior_sigma)
        return scores, self.scale * (centre + self.widening * (logs - centre))

    def log_quantile(self, probability: ArrayLike) -> FloatArray:
        """Give the quantile of log(measured / predicted), for probabilities strictly between 0 and 1. [-]"""
        wanted = np.atleast_1d(np.asarray(probability, dtype=np.float64))
        score = np.array([_NORMAL.inv_cdf(float(value)) for value in wanted.ravel()]).reshape(wanted.shape)
        knots, logs = self._knots
        return np.asarray(np.interp(score, knots, logs)).reshape(np.shape(probability))

    def factor(self, probability: float) -> float:
        """Give the factor that measured over predicted stays below with this probability. [-]"""
        return float(exp(self.log_quantile(probability)))

    def interval(self, value: float, level: float = INTERVAL_LEVEL) -> tuple[float, float]:
        """Give the central interval of the measured value around a prediction.

        Args:
            value: The prediction, in any unit. [any]
            level: Probability of the interval. [-]

        Returns:
            Low and high end, in the unit of `value`.
        """
        tail = (1.0 - level) / 2.0
        return value * self.factor(tail), value * self.factor(1.0 - tail)

    def probability_at_most(self, ratio: ArrayLike) -> FloatArray:
        """Give the probability that measured over predicted is at most `ratio`.

        Args:
            ratio: Limit over prediction, any shape; 0 and below give 0. [-]

        Returns:
            Probability, shape of `ratio`. [-]
        """
        ratio = np.asarray(ratio, dtype=np.float64)
        positive = np.maximum(ratio, np.finfo(np.float64).tiny)
        knots, logs = self._knots
        score = np.interp(np.log(positive), logs, knots, left=_SCORES[0], right=_SCORES[-1])
        return np.where(ratio > 0, np.interp(score, _SCORES, _PROBABILITIES), 0.0)


def stretch_sources(sources: int) -> float:
    """Give what a source never seen adds to the spread over those that were.

    The variance of K values about their mean is (K - 1) / K of their population's, that of a new value about the same
    mean (K + 1) / K of it. One source says nothing of how far apart sources lie and is taken as two.

    Args:
        sources: How many were seen. [-]

    Returns:
        ``√((K + 1) / (K - 1))``. [-]
    """
    count = max(sources, 2)
    return sqrt((count + 1) / (count - 1))


def say_residuals(residuals: Residuals) -> dict[str, object]:
    """Give what a sentence of evidence says of residuals."""
    return {
        "sources": residuals.sources,
        "half": f"{residuals.median_error:.0%}",
        "most": f"{residuals.p90_error:.0%}",
    }


ALLOCATED = "allocated"
ADAPTERS_WHOLE, ADAPTERS_SHARDED = "allocated_adapters_whole", "allocated_adapters_sharded"

MEMORY_COUNTERS = (ALLOCATED, ADAPTERS_WHOLE, ADAPTERS_SHARDED, "reserved", "device")
"""Counters with residuals of their own. What tensors need is apart for adapters, and there by whether the recipe shards
the frozen base: frameworks differ most in how much of a sharded one stays gathered."""


def name_counter(counter: str, job: Job, recipe: Recipe) -> str:
    """Name the residuals that a counter of a job under a recipe reads."""
    if counter != ALLOCATED or job.trains_all:
        return counter
    return ADAPTERS_SHARDED if Sharding.ZERO3 in recipe.shardings else ADAPTERS_WHOLE


def spread_need(calibration: Calibration, job: Job, recipe: Recipe) -> Spread:
    """Give the distribution of what a job needs of a device, which the verdict reads.

    The need is tensors with their fragments, buffers and context, without the cache that an allocator takes only
    because it is free; so it spreads as allocated memory does.

    Args:
        calibration: Holds residuals by counter. [-]
        job: Adapters have residuals of their own. [-]
        recipe: Whether it shards a frozen base. [-]

    Returns:
        The spread with its evidence.
    """
    return spread_memory(calibration.evidence, name_counter(ALLOCATED, job, recipe), recipe.name)


def spread_memory(evidence: Evidence, counter: str, recipe: str, split: EvidenceSplit | None = None) -> Spread:
    """Give the distribution of peak memory by counter.

    Memory depends on the framework, hardly on the card: the residuals are those of cross-validation where the recipe
    was measured.

    Args:
        evidence: What was measured. [-]
        counter: One of `MEMORY_COUNTERS`. [-]
        recipe: Name of the framework's recipe. [-]
        split: Whose residuals to read; None chooses by what was measured. [-]

    Returns:
        The spread with its evidence.

    Raises:
        InputError: the counter is none of them.
    """
    if counter not in MEMORY_COUNTERS:
        raise InputError(
            Message("counter must be one of {known}, got {counter}", known=", ".join(MEMORY_COUNTERS), counter=counter)
        )
    split = split or ("grouped" if (counter, recipe) in evidence.counters else "source_left_out")
    residuals = evidence.memory.get(split, {}).get(counter)
    if residuals is None or not residuals.logs:
        line = Message("memory: no comparable peak was measured; the interval is a prior")
        return Spread(prior_sigma=PRIOR_MEMORY_SIGMA, evidence=(line,))
    values = {"counter": counter, **say_residuals(residuals)}
    if split == "grouped":
        widening = 1.0
        line = Message(
            "memory: the recipe was measured; peaks of the counter {counter} as predicted by fits without the"
            " configuration, {sources} sources weighing equally: half within {half}, nine of ten within {most}",
            **values,
        )
    else:
        widening = stretch_sources(residuals.sources)
        line = Message(
            "memory: the recipe was not measured; peaks of the counter {counter} as predicted by fits without the whole"
            " source, {sources} sources weighing equally: half within {half}, nine of ten within {most}",
            **values,
        )
    return Spread(residuals=residuals.logs, prior_sigma=PRIOR_MEMORY_SIGMA, widening=widening, evidence=(line,))


def judge_fit(device_bytes: ArrayLike, capacity_bytes: ArrayLike, spread: Spread) -> NDArray[np.int8]:
    """Judge whether predicted memory fits, by its 90 % interval.

    ``fits`` where the high end is within capacity, ``does_not_fit`` where the low end is beyond it, else ``at_risk``.

    Args:
        device_bytes: Predicted peak, any shape. [B]
        capacity_bytes: Usable memory, broadcastable. [B]
        spread: Distribution of measured over predicted memory. [-]

    Returns:
        `Fit` as numbers, broadcast shape. [-]
    """
    low, high = spread.interval(1.0)
    predicted, capacity = np.asarray(device_bytes, dtype=np.float64), np.asarray(capacity_bytes, dtype=np.float64)
    # the verdict counts the ends of the interval that are beyond capacity
    fits, beyond = predicted * high <= capacity, predicted * low > capacity
    return np.asarray(np.add(~fits, beyond, dtype=np.int8))

"""From a sample of records to the whole data set, with its error.

Each file is a stratum; strata with few sampled records are pooled. Within a stratum tokens are estimated by the ratio
to the size in bytes, which is known for every record (W. G. Cochran, "Sampling Techniques", 3rd ed., 1977, sections 6.4
and 6.10, separate ratio estimate)::

    T = B · R,   R = Σ t / Σ b,   Var(T) = N² (1 - n/N) / n · Σ (t - R b)² / (n - 1)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

SMALLEST_STRATUM = 30
"""Sampled records below which a stratum has no variance of its own worth the name. [-]"""

_NORMAL_95 = 1.6448536269514722
"""95th percentile of the normal distribution: a two-sided interval of 90 %."""


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """What is known of the records of one file."""

    records: int
    """All records. [-]"""
    size_bytes: float
    """Their summed size. [B]"""
    tokens: FloatArray
    """Tokens of the sampled records, shape (n,). [tokens]"""
    sizes_bytes: FloatArray
    """Sizes of the sampled records, shape (n,). [B]"""

    @property
    def is_exact(self) -> bool:
        """Whether every record was counted."""
        return len(self.tokens) >= self.records


@dataclass(frozen=True, kw_only=True)
class Total:
    """An estimated total with its 90 % interval."""

    value: float
    low: float
    high: float


def pool_strata(strata: Sequence[Stratum]) -> tuple[Stratum, ...]:
    """Join the strata with too few sampled records into one; exact ones stay as they are. [-]

    Valid for: equal sampling rates in the strata joined.
    """
    small = [stratum for stratum in strata if not stratum.is_exact and len(stratum.tokens) < SMALLEST_STRATUM]
    large = [stratum for stratum in strata if stratum.is_exact or len(stratum.tokens) >= SMALLEST_STRATUM]
    if not small:
        return tuple(large)
    return (*large, join_strata(small))


def join_strata(strata: Sequence[Stratum]) -> Stratum:
    """Treat several strata as one. [-]"""
    return Stratum(
        records=sum(stratum.records for stratum in strata),
        size_bytes=sum(stratum.size_bytes for stratum in strata),
        tokens=np.concatenate([stratum.tokens for stratum in strata]),
        sizes_bytes=np.concatenate([stratum.sizes_bytes for stratum in strata]),
    )


def estimate_total(strata: Sequence[Stratum]) -> Total:
    """Estimate the tokens of all records with a 90 % interval.

    Args:
        strata: One per file, sampled at one rate. [-]

    Returns:
        The total; low and high are equal to it where every record was counted. [tokens]

    Valid for: at least two sampled records that are not exact; with one there is no error to state and the interval
    reaches from zero to twice the value.
    """
    value = variance = 0.0
    smallest = math.inf
    for stratum in pool_strata(strata):
        count = len(stratum.tokens)
        if stratum.is_exact:
            value += float(stratum.tokens.sum())
            continue
        sampled_bytes = float(stratum.sizes_bytes.sum())
        ratio = float(stratum.tokens.sum()) / sampled_bytes if sampled_bytes else 0.0
        total = ratio * stratum.size_bytes
        value += total
        smallest = min(smallest, count)
        if count < 2:
            variance += (total / _NORMAL_95) ** 2
            continue
        residuals = stratum.tokens - ratio * stratum.sizes_bytes
        spread = float((residuals**2).sum()) / (count - 1)
        variance += stratum.records**2 * (1 - count / stratum.records) / count * spread
    half = _student_95(smallest) * math.sqrt(variance)
    return Total(value=value, low=max(0.0, value - half), high=value + half)


def _student_95(count: float) -> float:
    """Approximate the 95th percentile of Student's t with ``count - 1`` degrees of freedom.

    First terms of the expansion in Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.5.
    """
    z = _NORMAL_95
    if not math.isfinite(count):
        return z
    freedom = max(1.0, count - 1)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def find_weights(strata: Sequence[Stratum]) -> FloatArray:
    """Give each sampled record the number of records that it stands for, in order of the strata. [-]"""
    pooled = [stratum for stratum in strata if not stratum.is_exact and len(stratum.tokens) < SMALLEST_STRATUM]
    sampled = sum(len(stratum.tokens) for stratum in pooled)
    pooled_weight = sum(stratum.records for stratum in pooled) / sampled if sampled else 1.0
    weights = [
        np.full(
            len(stratum.tokens),
            pooled_weight if any(stratum is each for each in pooled) else stratum.records / max(1, len(stratum.tokens)),
        )
        for stratum in strata
    ]
    return np.concatenate(weights) if weights else np.zeros(0)


def weighted_quantile(values: FloatArray, weights: FloatArray, fraction: float) -> float:
    """Give the smallest value that at least `fraction` of the weight does not exceed. [unit of values]"""
    if not len(values):
        return 0.0
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    index = int(np.searchsorted(reached, fraction * reached[-1] * (1 - 1e-12)))
    return float(values[order][min(index, len(values) - 1)])

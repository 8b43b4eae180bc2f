"""The estimator, against the formula written out and against what it must keep."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from suanpei.job.dataset.records import _hash_fraction
from suanpei.job.dataset.sampling import (
    Stratum,
    estimate_total,
    find_weights,
    pool_strata,
    weighted_quantile,
)


def stratum(records: int, size_bytes: float, tokens: list[float], sizes: list[float]) -> Stratum:
    return Stratum(
        records=records,
        size_bytes=size_bytes,
        tokens=np.array(tokens, dtype=np.float64),
        sizes_bytes=np.array(sizes, dtype=np.float64),
    )


def test_everything_counted_has_no_error() -> None:
    total = estimate_total([stratum(2, 10, [3, 4], [5, 5])])
    assert (total.value, total.low, total.high) == (7, 7, 7)


def test_ratio_estimate_by_hand() -> None:
    tokens, sizes = [float(2 + index % 3) for index in range(40)], [float(8 + index % 5) for index in range(40)]
    total = estimate_total([stratum(400, 4200.0, tokens, sizes)])
    ratio = sum(tokens) / sum(sizes)
    spread = sum((t - ratio * b) ** 2 for t, b in zip(tokens, sizes, strict=True)) / 39
    half = stats.t.ppf(0.95, 39) * 400 * math.sqrt(0.9 / 40 * spread)
    assert total.value == pytest.approx(ratio * 4200)
    assert total.high - total.value == pytest.approx(half, rel=1e-4)
    assert total.value - total.low == pytest.approx(half, rel=1e-4)


def test_one_record_says_little() -> None:
    total = estimate_total([stratum(100, 1000, [5], [10])])
    assert (total.value, total.low) == (500, 0)
    assert total.high > 1000


def test_small_strata_are_pooled_and_exact_ones_are_not() -> None:
    exact = stratum(2, 20, [1, 2], [10, 10])
    small = [stratum(10, 100, [5], [10]), stratum(10, 100, [7], [10])]
    pooled = pool_strata([small[0], exact, small[1]])
    assert len(pooled) == 2
    assert pooled[1].records == 20
    assert estimate_total([exact, *small]).value == pytest.approx(3 + 200 * 12 / 20)


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(4, 30)), min_size=1, max_size=8))
def test_weights_sum_to_the_records(sizes: list[tuple[int, int]]) -> None:
    strata = [stratum(records, 10.0 * records, [1.0] * count, [10.0] * count) for count, records in sizes]
    assert find_weights(strata).sum() == pytest.approx(sum(each.records for each in strata))


def test_weighted_quantiles() -> None:
    values = np.array([1.0, 2.0, 3.0])
    assert weighted_quantile(values, np.array([1.0, 1.0, 1.0]), 0.5) == 2
    assert weighted_quantile(values, np.array([1.0, 1.0, 8.0]), 0.5) == 3
    assert weighted_quantile(values, np.array([1.0, 1.0, 8.0]), 1.0) == 3
    assert weighted_quantile(values[:0], values[:0], 0.5) == 0


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_hash_is_uniform(seed: int) -> None:
    fractions = _hash_fraction(np.arange(20_000), seed, "a.jsonl")
    assert stats.kstest(fractions, "uniform").pvalue > 1e-4
    # neighbours are independent
    assert abs(np.corrcoef(fractions[:-1], fractions[1:])[0, 1]) < 0.03
    assert abs(np.corrcoef(fractions, _hash_fraction(np.arange(20_000), seed + 1, "a.jsonl"))[0, 1]) < 0.03

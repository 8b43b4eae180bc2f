"""Packing and padding, against enumeration and bounds that any packing keeps."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.job.dataset.packing import (
    LARGEST_PACKING,
    count_joined_sequences,
    estimate_packed_sequences,
    estimate_padding_fraction,
    pack_sequences,
)

lengths_of = st.lists(st.integers(1, 40), min_size=1, max_size=60)


def test_packing_by_hand() -> None:
    # 7+3, 6+4, 5+5 fill three sequences of ten
    assert pack_sequences(np.array([3.0, 4, 5, 5, 6, 7]), 10) == 3
    assert pack_sequences(np.array([11.0, 12]), 10) == 2
    assert pack_sequences(np.array([]), 10) == 0
    assert pack_sequences(np.array([6.0, 6, 6]), 10) == 3


@given(lengths_of)
def test_packing_keeps_the_bounds(lengths: list[int]) -> None:
    values = np.array(lengths, dtype=np.float64)
    packed = pack_sequences(values, 20)
    whole = np.minimum(values, 20).sum() / 20
    assert math.ceil(whole - 1e-9) <= packed <= len(lengths)
    # two sequences that are both at most half full would have been one
    assert packed <= 2 * whole + 1


def test_sampled_packing_is_near_the_whole() -> None:
    generator = np.random.default_rng(5)
    lengths = np.ceil(generator.lognormal(5, 1, 6000))
    exact = pack_sequences(lengths, 4096)
    # every tenth by length: a sample without luck
    sampled = estimate_packed_sequences(np.sort(lengths)[5::10], np.full(600, 10.0), 4096)
    assert sampled == pytest.approx(exact, rel=0.03)
    assert estimate_packed_sequences(lengths, np.ones(6000), 4096) == exact


def test_many_records_are_represented_by_few() -> None:
    lengths = np.full(3 * LARGEST_PACKING, 512.0)
    assert estimate_packed_sequences(lengths, np.ones(len(lengths)), 2048) == len(lengths) / 4


def test_joined_counts_separators() -> None:
    assert count_joined_sequences(4090, 6, 4096) == 1
    assert count_joined_sequences(4090, 7, 4096) == 2


@given(st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(1, 3))
def test_padding_by_enumeration(lengths: list[int], group: int) -> None:
    # every group that can be drawn, with replacement
    groups = list(itertools.product(lengths, repeat=group))
    computed = np.mean([max(each) for each in groups])
    expected = 1 - np.mean(lengths) / computed
    values = np.array(lengths, dtype=np.float64)
    assert estimate_padding_fraction(values, np.ones(len(values)), group, 100) == pytest.approx(expected, abs=1e-9)


def test_one_record_at_a_time_needs_no_padding() -> None:
    assert estimate_padding_fraction(np.array([3.0, 9.0]), np.ones(2), 1, 100) == 0
    assert estimate_padding_fraction(np.array([0.0]), np.ones(1), 4, 100) == 0

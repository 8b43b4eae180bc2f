"""Totals: what a card's size does to the allocator's cache."""

from __future__ import annotations

import numpy as np

from suanpei.physics.memory.totals import MemoryTotals

TOTALS = MemoryTotals(
    allocated_bytes=np.array([50.0, 50.0, 50.0]),
    reserved_bytes=np.array([70.0, 70.0, 70.0]),
    device_bytes=np.array([55.0, 55.0, 55.0]),
    shown_bytes=np.array([73.0, 73.0, 73.0]),
    host_bytes_per_gpu=np.array([1.0, 2.0, 3.0]),
)
"""Three outside the allocator, two of fragments, eighteen of cache."""


def test_a_card_with_room_keeps_the_cache() -> None:
    np.testing.assert_array_equal(TOTALS.bound_shown(80.0), [73, 73, 73])
    np.testing.assert_array_equal(TOTALS.bound_reserved(80.0), [70, 70, 70])


def test_a_full_card_loses_cache_and_never_what_is_needed() -> None:
    np.testing.assert_array_equal(TOTALS.bound_shown(60.0), [60, 60, 60])
    np.testing.assert_array_equal(TOTALS.bound_reserved(60.0), [57, 57, 57])
    np.testing.assert_array_equal(TOTALS.bound_shown(40.0), [55, 55, 55])
    np.testing.assert_array_equal(TOTALS.bound_reserved(40.0), [52, 52, 52])


def test_a_subset_keeps_every_total() -> None:
    last = TOTALS.take(np.array([2]))
    assert (last.shown_bytes[0], last.host_bytes_per_gpu[0]) == (73, 3)

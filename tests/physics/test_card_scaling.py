"""Scaling a time between cards: the bracket, against a pair of measured runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.physics.card_scaling import CardSet, card_hour_ratio, scale_time

H800 = CardSet(gpus=6, peak_flops_per_s=989.4e12, memory_bytes_per_s=3.35e12)
A800 = CardSet(gpus=2, peak_flops_per_s=312e12, memory_bytes_per_s=2.039e12)


def test_a_measured_pair_lies_in_the_bracket() -> None:
    # a small model, 25 h on 6 H800 and 126 h on 2 A800 (mini_qwen, issue 11)
    scaled = scale_time(25.0, H800, A800)

    assert scaled.at_equal_mfu_s == pytest.approx(25 * 6 * 989.4 / (2 * 312))
    assert scaled.low_s <= 126 <= scaled.high_s
    assert scaled.is_unsafe
    assert card_hour_ratio(H800, 25, A800, 126) == pytest.approx(1.68)


def test_unknown_bandwidth_leaves_one_road_and_no_trust() -> None:
    scaled = scale_time(25.0, H800, CardSet(gpus=2, peak_flops_per_s=312e12))

    assert scaled.at_equal_bandwidth_use_s is None
    assert scaled.low_s == scaled.high_s == scaled.at_equal_mfu_s
    assert scaled.is_unsafe


@given(gpus=st.integers(1, 64), seconds=st.floats(1.0, 1e7))
def test_the_same_card_scales_by_count_alone(gpus: int, seconds: float) -> None:
    many = CardSet(gpus=gpus, peak_flops_per_s=312e12, memory_bytes_per_s=2.039e12)
    scaled = scale_time(seconds, A800, many)

    assert scaled.low_s == pytest.approx(seconds * 2 / gpus)
    assert scaled.high_s == pytest.approx(seconds * 2 / gpus)
    assert not scaled.is_unsafe


def test_no_cards_are_refused() -> None:
    with pytest.raises(InputError, match="gpus must be above 0"):
        scale_time(25.0, H800, CardSet(gpus=0, peak_flops_per_s=312e12))

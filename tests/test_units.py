"""What people read: sizes, counts, durations."""

from __future__ import annotations

import pytest

from suanpei.units import format_bytes, format_count, format_duration


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999_885_952, "1B"),
        (1e9, "1B"),
        (999_400_000, "999M"),
        (8_030_261_248, "8.03B"),
        (1.5e12, "1.5T"),
        (1e16, "10,000T"),
        (512, "512"),
    ],
)
def test_counts(number: float, text: str) -> None:
    assert format_count(number) == text


@pytest.mark.parametrize(
    ("size", "text"), [(500, "500 B"), (79.15 * 2**30, "79.2 GiB"), (1023 * 2**30, "1,023 GiB"), (2**40, "1 TiB")]
)
def test_sizes(size: float, text: str) -> None:
    assert format_bytes(size) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (1e-5, "10 µs"),
        (0.0043, "4.3 ms"),
        (4.31, "4.31 s"),
        (121, "2.02 min"),
        (7_201, "2 h"),
        (1_500 * 86_400, "1,500 d"),
    ],
)
def test_durations(duration: float, text: str) -> None:
    assert format_duration(duration) == text

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.quantities import parse_bandwidth_bytes_per_s, parse_bytes, parse_duration_s

if TYPE_CHECKING:
    from collections.abc import Callable

DAY = 86_400


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("20d", 20 * DAY),
        ("20天", 20 * DAY),
        ("２０天", 20 * DAY),
        ("4.31s", 4.31),
        ("250ms", 0.25),
        ("3周", 21 * DAY),
        ("两周", 14 * DAY),
        ("三个月", 3 * 730 * 3600),
        ("48h", 2 * DAY),
        ("48 hours", 2 * DAY),
        ("90min", 5400),
        ("1d12h", 1.5 * DAY),
        ("2天3小时", 2 * DAY + 3 * 3600),
        ("1.5 months", 1.5 * 730 * 3600),
        ("1年", 8760 * 3600),
        ("2-12:00:00", 2.5 * DAY),
        ("2-12", 2.5 * DAY),
        ("36:30:00", 36.5 * 3600),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration_s(text, "--deadline") == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("20", "--deadline: '20' has no unit; it takes a duration with its unit, such as 20d"),
        ("0d", "--deadline must be above zero, got '0d'"),
        ("-3d", "--deadline must be above zero, got '-3d'"),
        ("1e9 y", "--deadline must be at most 100 y, got '1e9 y'"),
        ("30m", "--deadline: cannot read '30m'"),  # minutes or months
        ("48:00", "--deadline: cannot read '48:00'"),  # minutes and seconds to a batch system, hours to a person
        ("1:75:00", "--deadline: cannot read '1:75:00'"),  # no clock shows 75 minutes
        ("soon", "--deadline: cannot read 'soon'"),
        ("2d-3h", "--deadline: cannot read '2d-3h'"),
        ("1d12", "--deadline: '1d12' has no unit"),
    ],
)
def test_what_is_no_duration_is_refused_by_name(text: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_duration_s(text, "--deadline")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("80GB", 80e9),
        ("80G", 80e9),
        ("80gb", 80e9),
        ("79.2GiB", 79.2 * 2**30),
        ("512MiB", 512 * 2**20),
        ("1.5 TB", 1.5e12),
        ("100B", 100),
    ],
)
def test_sizes(text: str, size: float) -> None:
    assert parse_bytes(text, "--memory") == size


@pytest.mark.parametrize("text", ["80", "80Gb", "0GB", "-1GB", "1e9PB", "80 cards", "GB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--memory"):
        parse_bytes(text, "--memory")


@pytest.mark.parametrize(
    ("text", "bandwidth"),
    [
        ("400Gbps", 50e9),
        ("400gbps", 50e9),
        ("400Gb/s", 50e9),
        ("400Gbit/s", 50e9),
        ("400G", 50e9),
        ("8x400G", 400e9),
        ("8×400Gbps", 400e9),
        ("8*200G", 200e9),
        ("50GB/s", 50e9),
        ("3.35TB/s", 3.35e12),
        ("64GiB/s", 64 * 2**30),
    ],
)
def test_bandwidths(text: str, bandwidth: float) -> None:
    assert parse_bandwidth_bytes_per_s(text, "--fabric") == bandwidth


@pytest.mark.parametrize("text", ["400", "50gb/s", "50GB", "0x400G", "2.5x400G", "-400G", "fast", "8x", "1e30Gbps"])
def test_what_is_no_bandwidth_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--fabric"):
        parse_bandwidth_bytes_per_s(text, "--fabric")


@given(st.integers(min_value=1, max_value=30_000), st.integers(min_value=0, max_value=23))
def test_days_and_hours_add_up_in_every_spelling(days: int, hours: int) -> None:
    expected = days * DAY + hours * 3600
    for text in (f"{days}d{hours}h", f"{days}天{hours}小时", f"{days}-{hours:02d}:00:00"):
        assert parse_duration_s(text, "--deadline") == expected


@given(st.text(max_size=40))
@pytest.mark.parametrize("parse", [parse_duration_s, parse_bytes, parse_bandwidth_bytes_per_s])
def test_any_text_is_read_or_refused_with_the_field_named(parse: Callable[[str, str], float], text: str) -> None:
    try:
        assert parse(text, "--field") > 0
    except InputError as error:
        assert "--field" in str(error)  # most texts raise, some do not

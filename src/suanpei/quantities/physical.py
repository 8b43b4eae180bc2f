"""Durations, sizes and bandwidths that people write."""

from __future__ import annotations

import re
from decimal import Decimal

from suanpei.messages import Message
from suanpei.quantities.number import check_range, normalise, read_number, refuse, refuse_unitless
from suanpei.units import DAY_S, HOUR_S, MINUTE_S, MONTH_HOURS, YEAR_HOURS

_LONGEST_YEARS = 100
_MOST_BYTES = Decimal(10) ** 21
_MOST_BYTES_PER_S = Decimal(10) ** 18

_DURATION_WORDS: dict[str, float] = {
    **dict.fromkeys(("ms", "毫秒"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "秒", "秒钟"), 1.0),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "分", "分钟"), MINUTE_S),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "小时", "个小时", "时", "钟头", "个钟头"), HOUR_S),
    **dict.fromkeys(("d", "day", "days", "天", "日"), DAY_S),
    **dict.fromkeys(("w", "wk", "week", "weeks", "周", "星期", "个星期"), 7 * DAY_S),
    **dict.fromkeys(("mo", "month", "months", "月", "个月"), MONTH_HOURS * HOUR_S),
    **dict.fromkeys(("y", "yr", "year", "years", "年"), YEAR_HOURS * HOUR_S),
}
"""A month is 730 h, a year 8,760 h. A lone ``m`` is refused: minutes or months."""
_CLOCK = re.compile(r"(?:(?P<days>\d+)-)?(?P<hours>\d+):(?P<minutes>[0-5]\d):(?P<seconds>[0-5]\d)")
_CLOCK_DAYS = re.compile(r"(?P<days>\d+)-(?P<hours>\d+)(?::(?P<minutes>[0-5]\d))?")
"""Forms of a batch system's time limit that name hours without doubt; ``48:00`` does not."""

_PREFIXES = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_SIZE = re.compile(r"([kKmMgGtTpP]?)(i?)([bB]?)(?:ytes?)?")
_RATE = re.compile(r"([kKmMgGtTpP]?)(i?)([bB]?)(?:it)?(ps|/s|/秒|每秒)?(\s*(?:IB|RoCE|NDR|HDR))?")
_TIMES = re.compile(r"\s*[x×*]\s*", re.IGNORECASE)


def parse_duration_s(text: str, field: str) -> float:
    """Read a duration: ``20d``, ``4.31s``, ``3周``, ``1d12h``, ``1.5 months``, ``2-12:00:00``.

    Args:
        text: What the user wrote.
        field: Name of the option or column, for the error.

    Returns:
        The duration; a month is 730 h, a year 8,760 h. [s]

    Raises:
        InputError: Not a duration, no unit, zero, negative, or above a hundred years.
    """
    takes = Message("a duration with its unit, such as 20d, 48h, 4.31s, 3周 or 2-12:00:00")
    plain = normalise(text, field)
    clock = _CLOCK.fullmatch(plain) or _CLOCK_DAYS.fullmatch(plain)
    if clock:
        part = {name: int(value or 0) for name, value in clock.groupdict().items()}
        total = Decimal(
            part.get("days", 0) * int(DAY_S)
            + part["hours"] * int(HOUR_S)
            + part["minutes"] * int(MINUTE_S)
            + part.get("seconds", 0)
        )
    else:
        total = Decimal(0)
        rest = plain
        while rest:
            number = read_number(rest)
            if number is None or number.value < 0 < total:
                raise refuse(field, plain, takes)
            if not number.rest:
                check_range(number.value, number.value, field, plain, "")
                raise refuse_unitless(field, plain, takes)
            word = re.match(r"[A-Za-z]+|[^\W\d_零一二两三四五六七八九十百千]+", number.rest)
            seconds = _DURATION_WORDS.get(word.group(0).lower()) if word else None
            if word is None or seconds is None:
                raise refuse(field, plain, takes)
            total += number.value * Decimal(str(seconds))
            rest = number.rest[word.end() :].strip()
    most = Decimal(str(_LONGEST_YEARS * YEAR_HOURS * HOUR_S))
    check_range(total, most, field, plain, f"{_LONGEST_YEARS} y")
    return float(total)


def parse_bytes(text: str, field: str) -> float:
    """Read a size: ``80GB`` (decimal), ``79.2GiB`` (binary), ``80G`` (as GB).

    Args:
        text: What the user wrote.
        field: Name of the option or column, for the error.

    Returns:
        The size. [B]

    Raises:
        InputError: Not a size, bits instead of bytes, no unit, zero, negative, or absurdly large.
    """
    takes = Message("a size such as 80GB (10^9 bytes) or 79.2GiB (2^30 bytes)")
    plain = normalise(text, field)
    number = read_number(plain)
    if number is None:
        raise refuse(field, plain, takes)
    if not number.rest:
        raise refuse_unitless(field, plain, takes)
    unit = _SIZE.fullmatch(number.rest)
    if unit is None or (unit[1].isupper() and unit[3] == "b" and not unit[2] and len(number.rest) == 2):
        raise refuse(field, plain, takes)
    value = number.value * Decimal(1024 if unit[2] else 1000) ** _PREFIXES[unit[1].upper()]
    check_range(value, _MOST_BYTES, field, plain, "1e21 B")
    return float(value)


def parse_bandwidth_bytes_per_s(text: str, field: str) -> float:
    """Read a bandwidth: ``400Gbps`` (bits), ``50GB/s`` (bytes), ``8x400G`` (links times bits, as networks are sold).

    Args:
        text: What the user wrote.
        field: Name of the option or column, for the error.

    Returns:
        The bandwidth of all links together. [B/s]

    Raises:
        InputError: Not a bandwidth, bits and bytes in doubt (``50gb/s``), no unit, zero, negative, or absurdly large.
    """
    takes = Message("a bandwidth such as 400Gbps (bits), 50GB/s (bytes) or 8x400G (links of 400 Gbit/s)")
    plain = normalise(text, field)
    parts = _TIMES.split(plain, maxsplit=1)
    links = Decimal(1)
    if len(parts) == 2:  # links x rate
        count = read_number(parts[0])
        if count is None or count.rest not in ("", "条", "根", "个") or count.value != int(count.value):
            raise refuse(field, plain, takes)
        links = count.value
    number = read_number(parts[-1])
    if number is None:
        raise refuse(field, plain, takes)
    if not number.rest:
        raise refuse_unitless(field, plain, takes)
    unit = _RATE.fullmatch(number.rest)
    if unit is None or not unit[1] or (unit[3] and not unit[4]):
        raise refuse(field, plain, takes)
    in_doubt = unit[1].islower() and unit[3] == "b" and unit[4] != "ps" and "bit" not in number.rest
    if in_doubt or (not unit[3] and unit[4] and not unit[1].isupper()):
        raise refuse(field, plain, takes)
    per_byte = 1 if unit[3] == "B" else 8
    value = links * number.value * Decimal(1024 if unit[2] else 1000) ** _PREFIXES[unit[1].upper()] / per_byte
    check_range(value, _MOST_BYTES_PER_S, field, plain, "1e18 B/s")
    return float(value)

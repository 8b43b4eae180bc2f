"""SI units and the few conversions that exist at the edges of the program.

Inside, every number is in SI base units (bytes, seconds, FLOP, FLOP/s, bytes/s, fractions 0-1).
GiB, TFLOP/s, hours and days exist only where a person reads or writes them.
"""

KILO = 1e3
MEGA = 1e6
GIGA = 1e9
TERA = 1e12
PETA = 1e15

BITS_PER_BYTE = 8

GB_BYTES = 1e9
"""A gigabyte, decimal."""
MIB_BYTES = 2.0**20
GIB_BYTES = 2.0**30
"""A gibibyte, binary. Never mixed with the decimal gigabyte."""

MINUTE_S = 60.0
HOUR_S = 3_600.0
DAY_S = 86_400.0
DAY_HOURS = 24.0
MONTH_HOURS = 730.0
"""Hours of a month unless a quote names a calendar or 30-day month: 8,760 / 12."""
YEAR_HOURS = 8_760.0


def format_bytes(size_bytes: float) -> str:
    """Write a size for a person, in binary units: ``79.2 GiB``. [B]"""
    for unit, scale in (("TiB", 2.0**40), ("GiB", GIB_BYTES), ("MiB", MIB_BYTES), ("KiB", 2.0**10)):
        if abs(size_bytes) >= scale:
            return (
                f"{size_bytes / scale:.3g} {unit}" if size_bytes < 1000 * scale else f"{size_bytes / scale:,.0f} {unit}"
            )
    return f"{size_bytes:.0f} B"


def format_gbit(bytes_per_s: float) -> str:
    """Write a rate as networks are sold, in Gbit/s without the unit: ``400``. [B/s]

    Example:
        >>> format_gbit(50e9)
        '400'
    """
    return f"{bytes_per_s * BITS_PER_BYTE / GIGA:g}"


def format_count(number: float) -> str:
    """Write a large count for a person: ``8.03B``, ``20B``, ``512``. [-]"""
    for unit, scale in (("T", 1e12), ("B", 1e9), ("M", 1e6)):
        if abs(number) >= 0.9995 * scale:  # what rounds to a whole unit is written in it
            count = number / scale
            return f"{count:,.0f}{unit}" if abs(count) >= 999.5 else f"{count:.3g}{unit}"
    return f"{number:,.0f}"


def format_duration(duration_s: float) -> str:
    """Write a duration for a person: ``4.31 s``, ``5.2 h``, ``12.3 d``. [s]"""
    if duration_s < 1e-3:
        return f"{duration_s * 1e6:.3g} µs"
    if duration_s < 1.0:
        return f"{duration_s * 1e3:.3g} ms"
    if duration_s < 2 * MINUTE_S:
        return f"{duration_s:.3g} s"
    if duration_s < 2 * HOUR_S:
        return f"{duration_s / MINUTE_S:.3g} min"
    if duration_s < 2 * DAY_S:
        return f"{duration_s / HOUR_S:.3g} h"
    days = duration_s / DAY_S
    return f"{days:.3g} d" if days < 1000 else f"{days:,.0f} d"

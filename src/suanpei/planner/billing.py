"""How long a rental is paid for: whole billing periods. The search's ranking and the bill both count here.

A period is a second (1/3600 h), a minute (1/60 h), an hour, a day or a month. What is a few milliseconds into a period
has not started it, however long the period is, so that a finer period never costs more than one that it divides.
"""

from __future__ import annotations

from math import ceil, floor

_NOISE_HOURS = 1e-6
"""Time into a period below which starting it is rounding noise of the hours: 3.6 ms. [h]"""
_NOISE_FRACTION = 1e-9
"""Share of a period that money may lack and still pay it. [-]"""


def count_paid_hours(hours: float, billing_hours: float, minimum_hours: float = 0.0) -> float:
    """Count the hours that are paid for a rental.

    ``max(ceil(hours / period), ceil(minimum / period)) · period``; no use, no pay.

    Args:
        hours: Hours of use. [h]
        billing_hours: The period that is paid whole: 1/60 by the minute, 1 by the hour, 730 by the month. [h]
        minimum_hours: The shortest rental. [h]

    Returns:
        Hours paid. [h]

    Valid for: periods of a second and longer (3.6 ms into a period count as not started), up to 1e6 hours.

    Example:
        >>> [count_paid_hours(hours, 730.0) for hours in (0.0, 1.0, 730.0, 730.1)]
        [0.0, 730.0, 730.0, 1460.0]
        >>> count_paid_hours(1.51, 1 / 60)
        1.5166666666666666
    """
    if hours <= 0:
        return 0.0
    periods = max(_started(hours, billing_hours), _started(minimum_hours, billing_hours), 1)
    return _hours_of(periods, billing_hours)


def count_affordable_hours(paid_hours: float, billing_hours: float, minimum_hours: float = 0.0) -> float:
    """Count the hours that can be used where so many can be paid: whole periods, none below the shortest rental.

    Args:
        paid_hours: Hours that the money pays. [h]
        billing_hours: The period that is paid whole. [h]
        minimum_hours: The shortest rental. [h]

    Returns:
        Hours of use. [h]

    Example:
        >>> [count_affordable_hours(hours, 730.0) for hours in (729.0, 730.0, 1459.0)]
        [0.0, 730.0, 730.0]
    """
    periods = floor(paid_hours / billing_hours + _NOISE_FRACTION)
    return _hours_of(periods, billing_hours) if periods >= _started(minimum_hours, billing_hours) else 0.0


def _started(hours: float, billing_hours: float) -> int:
    """Count the periods that some hours start. [-]"""
    return ceil((hours - _NOISE_HOURS) / billing_hours)


def _hours_of(periods: int, billing_hours: float) -> float:
    """Give the length of some periods; of minutes and seconds without the rounding of 1/60 and 1/3600. [h]"""
    per_hour = round(1.0 / billing_hours)
    if billing_hours < 1.0 and abs(per_hour * billing_hours - 1.0) < _NOISE_FRACTION:
        return periods / per_hour
    return periods * billing_hours

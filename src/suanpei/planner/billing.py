"""How long a rental is paid for: whole billing periods. The search's ranking and the bill both count here."""

from __future__ import annotations

from math import ceil, floor

_PERIOD_TOLERANCE = 1e-9
"""Share of a period below which a started period is rounding noise of the hours: 3 ms of a month."""


def count_paid_hours(hours: float, billing_hours: float, minimum_hours: float = 0.0) -> float:
    """Count the hours that are paid for a rental.

    ``max(ceil(hours / period), ceil(minimum / period)) · period``; no use, no pay.

    Args:
        hours: Hours of use. [h]
        billing_hours: The period that is paid whole: 1 by the hour, 730 by the month. [h]
        minimum_hours: The shortest rental. [h]

    Returns:
        Hours paid. [h]

    Valid for: hours up to 1e6 periods (a billionth of a period counts as not started).

    Example:
        >>> [count_paid_hours(hours, 730.0) for hours in (0.0, 1.0, 730.0, 730.1)]
        [0.0, 730.0, 730.0, 1460.0]
    """
    if hours <= 0:
        return 0.0
    return max(_started(hours, billing_hours), _started(minimum_hours, billing_hours), 1) * billing_hours


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
    periods = floor(paid_hours / billing_hours + _PERIOD_TOLERANCE)
    return periods * billing_hours if periods >= _started(minimum_hours, billing_hours) else 0.0


def _started(hours: float, billing_hours: float) -> int:
    """Count the periods that some hours start. [-]"""
    return ceil(hours / billing_hours - _PERIOD_TOLERANCE)

"""How long a rental is paid for: whole billing periods. The search's ranking and the bill both count here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

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
    return float(count_paid_hours_each(hours, billing_hours, minimum_hours))


def count_paid_hours_each(hours: ArrayLike, billing_hours: ArrayLike, minimum_hours: ArrayLike) -> FloatArray:
    """Count the hours paid for many rentals: `count_paid_hours` of arrays that broadcast. [h]"""
    held, period, least = (np.asarray(values, dtype=np.float64) for values in (hours, billing_hours, minimum_hours))
    periods = np.maximum(np.maximum(_started(held, period), _started(least, period)), 1.0)
    return np.asarray(np.where(held > 0.0, periods * period, 0.0))


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
    return float(count_affordable_hours_each(paid_hours, billing_hours, minimum_hours))


def count_affordable_hours_each(
    paid_hours: ArrayLike, billing_hours: ArrayLike, minimum_hours: ArrayLike
) -> FloatArray:
    """Count the hours that many rentals can use: `count_affordable_hours` of arrays that broadcast. [h]"""
    paid, period, least = (
        np.asarray(values, dtype=np.float64) for values in (paid_hours, billing_hours, minimum_hours)
    )
    periods = np.floor(paid / period + _PERIOD_TOLERANCE)
    return np.asarray(np.where(periods >= _started(least, period), periods * period, 0.0))


def _started(hours: FloatArray, billing_hours: FloatArray) -> FloatArray:
    """Count the periods that some hours start. [-]"""
    return np.ceil(hours / billing_hours - _PERIOD_TOLERANCE)

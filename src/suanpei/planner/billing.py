"""How long a rental is paid for: whole billing periods. The search's ranking and the bill both count here.

A period is a second (1/3600 h), a minute (1/60 h), an hour, a day or a month. What is a few milliseconds into a period
has not started it, however long the period is, so that a finer period never costs more than one that it divides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

_NOISE_HOURS = 1e-6
"""Time into a period below which starting it is rounding noise of the hours: 3.6 ms. [h]"""
_NOISE_FRACTION = 1e-9
"""Share of a period that money may lack and still pay it; and by which 1 h may miss a whole number of periods. [-]"""


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
    return float(count_paid_hours_each(hours, billing_hours, minimum_hours))


def count_paid_hours_each(hours: ArrayLike, billing_hours: ArrayLike, minimum_hours: ArrayLike) -> FloatArray:
    """Count the hours paid for many rentals: `count_paid_hours` of arrays that broadcast. [h]"""
    held, period, least = (np.asarray(values, dtype=np.float64) for values in (hours, billing_hours, minimum_hours))
    periods = np.maximum(np.maximum(_started(held, period), _started(least, period)), 1.0)
    return np.asarray(np.where(held > 0.0, _hours_of(periods, period), 0.0))


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
    periods = np.maximum(np.floor(paid / period + _NOISE_FRACTION), 0.0)
    return np.asarray(np.where(periods >= _started(least, period), _hours_of(periods, period), 0.0))


def _started(hours: FloatArray, billing_hours: FloatArray) -> FloatArray:
    """Count the periods that some hours start. [-]"""
    return np.asarray(np.ceil((hours - _NOISE_HOURS) / billing_hours))


def _hours_of(periods: FloatArray, billing_hours: FloatArray) -> FloatArray:
    """Give the length of some periods; of minutes and seconds without the rounding of 1/60 and 1/3600. [h]"""
    per_hour = np.maximum(np.round(1.0 / billing_hours), 1.0)
    is_part = np.abs(per_hour * billing_hours - 1.0) < _NOISE_FRACTION
    return np.asarray(np.where(is_part, periods / per_hour, periods * billing_hours))

"""Rents of many runs at once, in floating point, for the search's ranking; the bill counts its periods here too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from suanpei.market.offer import UnitPrice
    from suanpei.money import ExchangeRates

    FloatArray = NDArray[np.float64]

_PERIOD_TOLERANCE = 1e-9
"""Share of a period below which a started period is rounding noise of the hours: 3 ms of a month."""


def count_paid_hours(hours: ArrayLike, billing_hours: ArrayLike, minimum_hours: ArrayLike = 0.0) -> FloatArray:
    """Count the hours that are paid for a rental.

    ``max(ceil(hours / period), ceil(minimum / period)) · period``; no use, no pay.

    Args:
        hours: Hours of use, any shape. [h]
        billing_hours: The period that is paid whole, broadcast. [h]
        minimum_hours: The shortest rental, broadcast. [h]

    Returns:
        Hours paid, broadcast shape. [h]

    Valid for: hours up to 1e6 periods (a billionth of a period counts as not started).

    Example:
        >>> count_paid_hours([0.0, 1.0, 730.0, 730.1], 730.0).tolist()
        [0.0, 730.0, 730.0, 1460.0]
    """
    used, period = np.asarray(hours, dtype=np.float64), np.asarray(billing_hours, dtype=np.float64)
    least = np.ceil(np.asarray(minimum_hours, dtype=np.float64) / period - _PERIOD_TOLERANCE)
    periods = np.ceil(used / period - _PERIOD_TOLERANCE)
    return np.asarray(np.where(used > 0, np.maximum(np.maximum(periods, least), 1.0), 0.0) * period, dtype=np.float64)


def rank_cost(
    hours: ArrayLike,
    billed_gpus: ArrayLike,
    price_per_gpu_hour: ArrayLike,
    billing_hours: ArrayLike,
    minimum_hours: ArrayLike = 0.0,
) -> FloatArray:
    """Compute the rent of many runs in floating point, as the bill would: for ranking, never for showing.

    ``billed cards · paid hours · price``, with `count_paid_hours`.

    Args:
        hours: Hours held, any shape. [h]
        billed_gpus: Cards paid (`UnitPrice.billed_gpus`), broadcast. [-]
        price_per_gpu_hour: Price in one currency, broadcast. [currency/h]
        billing_hours: 730 where a month is paid whole, 1 by the hour, broadcast. [h]
        minimum_hours: Shortest rental, broadcast. [h]

    Returns:
        Rent, broadcast shape. [currency]
    """
    paid_hours = count_paid_hours(hours, billing_hours, minimum_hours)
    return np.asarray(np.asarray(billed_gpus) * paid_hours * np.asarray(price_per_gpu_hour), dtype=np.float64)


def rank_cheapest_usd(
    hours: ArrayLike, gpus: ArrayLike, gpus_per_node: int, prices: Sequence[UnitPrice], rates: ExchangeRates
) -> FloatArray:
    """Compute the rent at the cheapest of several prices, elementwise, for ranking.

    Args:
        hours: Hours held, any shape. [h]
        gpus: Cards used, broadcast. [-]
        gpus_per_node: Cards of one node. [-]
        prices: At least one. [-]
        rates: Exchange rates to the dollar. [-]

    Returns:
        The least of `rank_cost` over the prices at their medians, broadcast shape. [USD]
    """
    costs = [
        rank_cost(
            hours,
            price.billed_gpus(gpus, gpus_per_node),
            price.usd_per_gpu_hour(rates),
            price.term.billing_hours,
            price.term.minimum_hours,
        )
        for price in prices
    ]
    return np.asarray(np.min(np.stack(costs), axis=0), dtype=np.float64)

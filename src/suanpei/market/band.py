"""The band of a price: which rows still count, one reading per seller, and the quartiles or range of the readings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from suanpei.market.offer import PriceRow

FRESH_DAYS = 365
"""A reading of this age or older is no longer fresh."""
QUARTILE_READINGS = 4
"""From this many readings on the band is the quartiles."""
LEAST_SPREAD = Decimal("0.25")
"""Half-width of the band, as a share of the median, where readings are fewer."""

Level = Literal["fresh", "weak", "old"]
"""How far a row can be trusted."""


@dataclass(frozen=True, kw_only=True)
class SellerReading:
    """What one seller asked on its latest day."""

    low: Decimal
    middle: Decimal
    high: Decimal


def level_of(row: PriceRow, as_of: date) -> Level:
    """Tell how far a row can be trusted: fresh, weak (young, low confidence) or old (a year or more, or undated)."""
    if row.date is None or as_of - row.date >= timedelta(days=FRESH_DAYS):
        return "old"
    return "weak" if row.confidence == "low" else "fresh"


def latest_rows(rows: Sequence[PriceRow]) -> tuple[PriceRow, ...]:
    """Keep each seller's rows of its latest day (undated rows only where it has no dated one), ordered by seller."""
    kept: list[PriceRow] = []
    for _, group in groupby(sorted(rows, key=lambda row: row.seller), key=lambda row: row.seller):
        of_seller = list(group)
        latest = max((row.date for row in of_seller if row.date is not None), default=None)
        kept += [row for row in of_seller if row.date == latest]
    return tuple(kept)


def read_sellers(rows: Sequence[PriceRow]) -> tuple[SellerReading, ...]:
    """Make one reading per seller of rows that `latest_rows` ordered.

    Args:
        rows: Rows of one currency, a seller's together. [-]
    """
    by_seller = groupby(rows, key=lambda row: row.seller)
    return tuple(_read([row.price.amount for row in group]) for _, group in by_seller)


def _read(amounts: Sequence[Decimal]) -> SellerReading:
    """Make one reading of a seller's prices of one day."""
    return SellerReading(low=min(amounts), middle=_quantile(amounts, Decimal("0.5")), high=max(amounts))


def find_band(readings: Sequence[SellerReading]) -> tuple[Decimal, Decimal, Decimal]:
    """Give low, median and high of the readings.

    Four or more: the lower quartile of the low ends, the median of the middles, the upper quartile of the high ends
    (plain quartiles where no seller gives a range). Fewer: the whole range, at least ± 25 % of the median.
    """
    median = _quantile([reading.middle for reading in readings], Decimal("0.5"))
    lows, highs = [reading.low for reading in readings], [reading.high for reading in readings]
    if len(readings) >= QUARTILE_READINGS:
        return _quantile(lows, Decimal("0.25")), median, _quantile(highs, Decimal("0.75"))
    return min(*lows, median * (1 - LEAST_SPREAD)), median, max(*highs, median * (1 + LEAST_SPREAD))


def _quantile(amounts: Sequence[Decimal], share: Decimal) -> Decimal:
    """Give a quantile by linear interpolation between order statistics (Hyndman and Fan's type 7)."""
    ordered = sorted(amounts)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)

"""What quotes are read with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.price_rows import PriceTable
    from suanpei.money import ExchangeRates


@dataclass(frozen=True, kw_only=True)
class QuoteContext:
    """What quotes are read with."""

    catalogue: Catalogue
    prices: PriceTable
    """Price rows of the catalogue, for the bands that amounts are held against."""
    rates: ExchangeRates
    currency: str
    """Of the result."""
    as_of: date
    """The day that validity and bands are held against."""

"""Rows and rates that the market tests share: the bundled catalogue, and rows made by hand."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from suanpei.machine.catalogue import load_catalogue
from suanpei.machine.table import Row
from suanpei.market.indicative import PriceTerms
from suanpei.market.offer import PriceRow
from suanpei.market.offers_file import read_offer_lines
from suanpei.market.price_rows import PriceTable, load_exchange_rates, load_prices
from suanpei.market.terms import UNKNOWN_TAX, Term
from suanpei.money import Money

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from suanpei.market.offer import Offer

AS_OF = date(2026, 11, 30)
CATALOGUE = load_catalogue()
RATES = load_exchange_rates(CATALOGUE)
HOURLY = Term(billing_hours=1.0)
MONTHLY = Term(billing_hours=730.0, minimum_hours=730.0)


def load_offers(path: Path, resolve_name: Callable[[str], str] = str) -> tuple[Offer, ...]:
    """The offers of a file in our own columns; names of cards are kept unless they are to be resolved."""
    return tuple(line.offer for line in read_offer_lines(path, resolve_name)[1])


def bundled_table() -> PriceTable:
    """The price rows that ship with the product."""
    return load_prices(CATALOGUE)


def terms(currency: str = "CNY", **values: Any) -> PriceTerms:
    """Look-up conditions on the day of the tests."""
    return PriceTerms(currency=currency, rates=RATES, as_of=AS_OF, **values)


def cny(amount: str) -> Money:
    """Yuan."""
    return Money(amount=Decimal(amount), currency="CNY")


def usd(amount: str) -> Money:
    """Dollars."""
    return Money(amount=Decimal(amount), currency="USD")


def price_row(price: str, **values: Any) -> PriceRow:
    """A fresh platform row of medium confidence, changed where `values` say so."""
    fields: dict[str, Any] = {
        "provider": "seller",
        "accelerator_name": "X",
        "tier": "platform",
        "price": cny(price),
        "date": date(2026, 10, 1),
        "confidence": "medium",
        "region": "",
        "market": "cn",
        "term": HOURLY,
        "unit_sold": "card",
        "tax": UNKNOWN_TAX,
        "links": "",
        "source": "made for the test",
        "note": "",
    }
    return PriceRow(**{**fields, **values})


def raw_row(line: int = 2, file: str = "offers_cn.csv", **cells: str) -> Row:
    """A line of ``offers_cn.csv`` as the catalogue reads it."""
    good = {
        "provider": "seller",
        "region": "Beijing",
        "gpu": "X",
        "gpu_count": "1",
        "price_per_hour": "6.5",
        "currency": "CNY",
        "pricing": "on_demand",
        "date": "2026-07-15",
        "source": "a page",
        "confidence": "medium",
        "note": "",
        "term": "hourly",
        "node_or_card": "card",
        "tax": "unstated",
        "links": "none",
        "tier": "platform",
    }
    return Row(file=file, line=line, cells={**good, **cells})

"""Quoted offers made by hand, for whatever takes them further: every field stated, nothing suspicious."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from suanpei.machine.catalogue import load_catalogue
from suanpei.market.price_rows import load_exchange_rates, load_prices
from suanpei.market.quotes.context import QuoteContext
from suanpei.market.quotes.document import Document, Line, Sheet
from suanpei.market.quotes.quoted import Place, Question, QuotedOffer, QuotedPrice, Quotes, Reading
from suanpei.market.terms import Term
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.market.quotes.document import Unread

DAY = date(2026, 11, 30)
CATALOGUE = load_catalogue()


def context(currency: str = "CNY", *rate: str) -> QuoteContext:
    """What quotes are read against, on the day of the tests."""
    return QuoteContext(
        catalogue=CATALOGUE,
        prices=load_prices(CATALOGUE),
        rates=load_exchange_rates(CATALOGUE, rate),
        currency=currency,
        as_of=DAY,
    )


def price(amount: str | None = "12.5", **changes: Any) -> QuotedPrice:
    """A price with tax in at 6 %."""
    exact = None if amount is None else Fraction(amount)
    values: dict[str, Any] = {
        "amount": exact,
        "low": exact,
        "high": exact,
        "currency": "CNY",
        "tax": "in",
        "tax_rate": None,
        "amount_tax_in": exact,
        "amount_tax_out": None,
    }
    return QuotedPrice(**{**values, **changes})


def quoted(**changes: Any) -> QuotedOffer:
    """Sixteen nodes of eight H800 by the month at 12.5 yuan per card-hour."""
    values: dict[str, Any] = {
        "source": Place(file="q.csv", sheet=None, row=4, cell="F4"),
        "seller": "甲云",
        "accelerator": "H800-SXM5-80GB",
        "accelerator_as_written": "H800 80G SXM5",
        "accelerators_per_unit": 8,
        "price_as_written": "73000 元/台/月",
        "quoted_currency": "CNY",
        "price_per_accelerator_hour": price(),
        "pricing": "monthly",
        "term": Term(billing_hours=730.0, minimum_hours=3 * 730.0),
        "count": 128,
        "links": "8×400G IB",
        "region": "",
        "quote_date": None,
        "valid_until": None,
        "readings": (reading("12.5", "node", 730),),
        "flags": (),
        "confidence": "high",
        "note": "",
    }
    return QuotedOffer(**{**values, **changes})


def reading(amount: str, billed: Any = "card", period_hours: int = 1, *, is_plausible: bool | None = True) -> Reading:
    """One way to read an amount."""
    return Reading(
        amount=Fraction(amount),
        billed=billed,
        period_hours=Fraction(period_hours),
        quoted_currency="CNY",
        is_plausible=is_plausible,
        why=Message("an hour"),
    )


def quotes(*offers: QuotedOffer, questions: tuple[Question, ...] = (), unread: tuple[Unread, ...] = ()) -> Quotes:
    """What was read of some files."""
    return Quotes(offers=offers, questions=questions, unread=unread, assumptions=())


def table(*lines: str, file: str = "catalogs/v8/lambda/vms.csv", separator: str = "|") -> Document:
    """A file with one table, its cells separated by bars."""
    rows = tuple(
        Line(row=row, cells=tuple(cell.strip() for cell in line.split(separator))) for row, line in enumerate(lines, 1)
    )
    return Document(file=file, sheets=(Sheet(kind="table", name=None, lines=rows),))

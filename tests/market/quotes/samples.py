"""Documents and contexts that the tests of quotes share."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from suanpei.machine.catalogue import load_catalogue
from suanpei.market.price_rows import load_exchange_rates, load_prices
from suanpei.market.quotes.context import QuoteContext
from suanpei.market.quotes.document import Document, Line, Sheet
from suanpei.market.quotes.read import read_quotes
from suanpei.market.quotes.text.card import CardReader
from suanpei.market.quotes.text.clue import ClueReader
from suanpei.market.quotes.text.words import load_words
from tests.market.price_samples import AS_OF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.quoted import QuotedOffer, Quotes

DATA = Path(__file__).parents[2] / "data" / "quotes"
WORDS = load_words(load_catalogue())
CARDS = CardReader(load_catalogue(), WORDS)
CLUES = ClueReader(WORDS, CARDS)


@cache
def context(currency: str = "CNY") -> QuoteContext:
    """What quotes are read with, on the day of the tests."""
    catalogue = load_catalogue()
    return QuoteContext(
        catalogue=catalogue,
        prices=load_prices(catalogue),
        rates=load_exchange_rates(catalogue),
        currency=currency,
        as_of=AS_OF,
    )


def table(rows: Sequence[Sequence[str]], file: str = "quote.csv") -> Document:
    """A document of one table."""
    lines = tuple(Line(row=row, cells=tuple(cell.strip() for cell in cells)) for row, cells in enumerate(rows, start=1))
    return Document(file=file, sheets=(Sheet(kind="table", name=None, lines=lines),))


def text(words: str, file: str = "chat.txt") -> Document:
    """A document of running text."""
    lines = tuple(Line(row=row, cells=(line.strip(),)) for row, line in enumerate(words.strip().split("\n"), start=1))
    return Document(file=file, sheets=(Sheet(kind="text", name=None, lines=lines),))


def bundled(name: str) -> Document:
    """A captured quote of the test data."""
    with (DATA / name).open(encoding="utf-8-sig", newline="") as file:
        return table(list(csv.reader(file)), name)


def read(document: Document, currency: str = "CNY") -> Quotes:
    """Read one document."""
    return read_quotes([document], context(currency))


def read_one(document: Document, currency: str = "CNY") -> QuotedOffer:
    """Read a document that holds one offer."""
    (offer,) = read(document, currency).offers
    return offer


def offer_of(row: dict[str, str], currency: str = "CNY") -> QuotedOffer:
    """Read a table of one row, given by its headings."""
    return read_one(table([list(row), list(row.values())]), currency)

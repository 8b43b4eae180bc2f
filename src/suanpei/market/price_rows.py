"""Price rows from the catalogue's tables, checked one by one.

The rows arrive as the catalogue read them, so that nothing is read from disk here. A row without a source, a
price that is no positive number, an unknown tier or a date that is none stops the load with its line.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Literal, cast

from suanpei.errors import InputError
from suanpei.machine.table import UNDATED
from suanpei.market.offer import TIERS, USUAL_NODE_GPUS, PriceRow, Tier, UnitSold
from suanpei.market.terms import Term, parse_term, read_tax
from suanpei.messages import Message, excerpt
from suanpei.money import ExchangeRates, Money
from suanpei.quantities import parse_count, parse_currency, parse_rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from suanpei.machine.catalogue import Catalogue
    from suanpei.machine.table import Row
    from suanpei.market.offer import Offer
    from suanpei.money import ExchangeRate
    from suanpei.provenance import Confidence

PriceTable = dict[str, tuple[PriceRow, ...]]
"""Price rows by accelerator name."""

_MOST_PER_GPU_HOUR = Decimal(10**6)
"""Above this a price is a slip of the pen in any currency. [currency/card-hour]"""
_NO_LINKS = frozenset({"", "none", "无", "unknown", "-", "n/a"})
_MAINLAND = frozenset({"cn", "china", "mainland", "mainland china", "prc", "中国", "大陆", "中国大陆", "国内"})
_PLACES = {
    "北京": "beijing",
    "上海": "shanghai",
    "深圳": "shenzhen",
    "广州": "guangzhou",
    "成都": "chengdu",
    "厦门": "xiamen",
    "香港": "hongkong",
    "hk": "hongkong",
    "hong kong": "hongkong",
    "usa": "us",
    "united states": "us",
    "美国": "us",
}


@dataclass(frozen=True, kw_only=True)
class PriceCells:
    """Reads the cells of one price row or offer, and says where a bad one stands."""

    row: Row

    def text(self, *columns: str) -> str:
        """Give the first of the columns that is not blank; empty where all are."""
        return next(filter(None, map(self.row.text, columns)), "")

    def bad(self, *, column: str, given: object, wanted: Message) -> InputError:
        """Make the error of a cell that cannot be used."""
        return InputError(
            Message(
                "{file}, line {line}, column {column}: got {given}, takes {wanted}",
                file=self.row.file,
                line=self.row.line,
                column=column,
                given=excerpt(str(given)),
                wanted=wanted,
            )
        )

    def money(self, column: str) -> Money:
        """Read a positive price, in the row's column ``currency``."""
        given = self.row.required(column)
        currency = self._currency()
        try:
            amount = Decimal(unicodedata.normalize("NFKC", given))
        except InvalidOperation:
            raise self.bad(column=column, given=given, wanted=Message("a number")) from None
        if not (amount.is_finite() and 0 < amount <= _MOST_PER_GPU_HOUR):
            raise self.bad(
                column=column,
                given=given,
                wanted=Message("a number above zero and at most {most}", most=f"{_MOST_PER_GPU_HOUR:,}"),
            )
        return Money(amount=amount, currency=currency)

    def _currency(self) -> str:
        given = self.row.required("currency")
        return _known_currency(given) or parse_currency(given, self._place("currency"))

    def count(self, column: str) -> int:
        """Read a whole number of at least one."""
        return parse_count(self.row.required(column), self._place(column))

    def day(self, *columns: str) -> date | None:
        """Read an ISO date; blank is unknown."""
        given = self.text(*columns)
        if given in UNDATED:
            return None
        try:
            return date.fromisoformat(given)
        except ValueError:
            raise self.bad(
                column=columns[0], given=given, wanted=Message("a date such as 2026-07-15, or nothing")
            ) from None

    def tier(self) -> Tier:
        """Read a tier."""
        self.row.required("tier")
        return cast("Tier", self.row.one_of("tier", TIERS))

    def confidence(self) -> Confidence:
        """Read a confidence; blank counts as medium."""
        return cast("Confidence", self.row.one_of("confidence", ("high", "medium", "low")) or "medium")

    def term(self) -> Term:
        """Read for how long the price is paid."""
        term, pricing = self.text("term"), self.text("pricing")
        found = parse_term(term, pricing)
        if found is None:
            raise self.bad(
                column="term", given=term or pricing, wanted=Message("hourly, monthly, 3 months, 30 days or the like")
            )
        return found

    def links(self, *columns: str) -> str:
        """Read the interconnect; a web address is a citation and no interconnect."""
        given = self.text(*columns)
        is_citation = re.search(r"https?://|www\.|\.com|\.cn/|index id", given) is not None
        return "" if is_citation or given.casefold() in _NO_LINKS else given

    def unit_sold(self) -> UnitSold:
        """Read whether cards or whole 8-card servers are sold."""
        given = self.row.one_of("node_or_card", ("card", "node8"))
        if given:
            return cast("UnitSold", given)
        return "node8" if self.text("gpu_count") == str(USUAL_NODE_GPUS) else "card"

    def _place(self, column: str) -> str:
        """Name a cell for an error of the quantity readers."""
        return f"{self.row.file}:{self.row.line} {column}"


@lru_cache(maxsize=64)
def _known_currency(text: str) -> str | None:
    """Read a currency once per spelling; None leaves the error to the line where it stands."""
    try:
        return parse_currency(text, "currency")
    except InputError:
        return None


def load_prices(catalogue: Catalogue) -> PriceTable:
    """Give the price rows of a catalogue by accelerator name, each in file order.

    Raises:
        InputError: A bad line of the user's own tables, named with file, line and column.
    """
    groups: defaultdict[str, list[PriceRow]] = defaultdict(list)
    for row in build_price_rows(catalogue.table("offers"), catalogue.table("offers_cn")):
        groups[row.accelerator_name].append(row)
    return {name: tuple(group) for name, group in groups.items()}


def load_exchange_rates(catalogue: Catalogue, own: Iterable[str] = ()) -> ExchangeRates:
    """Give the exchange rates of a catalogue, a user's own before them.

    Args:
        catalogue: Holds the table. [-]
        own: The options ``--rate``, such as ``USD=7.2CNY``; each stands for the catalogue's rate of its pair. [-]

    Raises:
        InputError: One of them cannot be read, or two of them are of one pair of currencies and differ.
    """
    rates = ExchangeRates.from_rows(row.cells for row in catalogue.table("exchange_rates"))
    seen: dict[frozenset[str], ExchangeRate] = {}
    for text in own:
        rate = parse_rate(text, "rate")
        first = seen.setdefault(frozenset((rate.base, rate.quote)), rate)
        if str(first) != str(rate):
            raise InputError(
                Message(
                    "rate: {base} to {quote} is given twice, {first} and {second}; keep one",
                    base=rate.base,
                    quote=rate.quote,
                    first=str(first),
                    second=str(rate),
                )
            )
        rates = rates.overridden(rate)
    return rates


def build_price_rows(offers_rows: Iterable[Row], offers_cn_rows: Iterable[Row]) -> tuple[PriceRow, ...]:
    """Turn the two price tables into checked observations.

    Rows of tier ``none`` (bids, assumptions, ratios, contracts, academic tariffs) are evidence, never a price: they are
    checked for price, date and source and left out. Rows that name no accelerator are left out too.

    Args:
        offers_rows: Lines of ``offers.csv`` (outside mainland China). [-]
        offers_cn_rows: Lines of ``offers_cn.csv`` (mainland China). [-]

    Returns:
        One `PriceRow` per usable line, in file order, the Chinese table first.

    Raises:
        InputError: A bad line, named with file, line and column.
    """
    chinese = (_read_row(PriceCells(row=row), "cn") for row in offers_cn_rows)
    foreign = (_read_row(PriceCells(row=row), "world") for row in offers_rows)
    return tuple(row for row in chain(chinese, foreign) if row is not None)


def _read_row(cells: PriceCells, market: Literal["cn", "world"]) -> PriceRow | None:
    """Check one line; None where it is evidence only."""
    source, tier = cells.row.required("source"), cells.tier()
    price = cells.money("price_per_hour" if market == "cn" else "price_per_gpu_hour")
    day, confidence = cells.day("date", "snapshot_date"), cells.confidence()
    name = cells.text("gpu")
    if tier == "none" or not name:
        return None
    return PriceRow(
        provider=cells.row.required("provider"),
        accelerator_name=name,
        tier=tier,
        price=price,
        date=day,
        confidence=confidence,
        region=cells.text("region"),
        market=market,
        term=cells.term(),
        unit_sold=cells.unit_sold(),
        tax=read_tax(cells.text("tax")),
        links=cells.links("interconnect", "links"),
        source=source,
        note=cells.text("note"),
    )


def is_in_region(row: PriceRow | Offer, region: str) -> bool:
    """Tell whether a row or an offer is of a region, as people name it.

    ``China``, ``cn`` or ``国内`` is all of mainland China; else every word of the asked name must be a word of the
    row's region (``us`` is in ``us-central1`` and ``newyork-usa-1``, not in ``austin``).

    Args:
        row: The observation or offer; its blank region is unknown and matches nothing. [-]
        region: The region asked for. [-]
    """
    asked = region.strip().casefold()
    if asked in _MAINLAND:
        return row.market == "cn" and row.region.casefold() != "hongkong"
    words = _region_words(_PLACES.get(asked, asked))
    return bool(words) and words <= _region_words(row.region)


@lru_cache(maxsize=4096)
def _region_words(region: str) -> frozenset[str]:
    """Split a region into words without digits."""
    words = {re.sub(r"\d+$", "", word) for word in re.split(r"[\W_]+", region.casefold())}
    return frozenset(_PLACES.get(word, word) for word in words if word)

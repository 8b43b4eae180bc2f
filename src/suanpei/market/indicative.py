"""Indicative prices: a band from dated price rows, not an offer.

Rules. A band is made of rows of one tier, one currency and one way of paying (by the hour or by the month), never
pooled. Each seller gives one reading: its rows of the latest day (a range is two rows). Fresh rows are younger than a
year and not of low confidence. Four readings or more give quartiles; fewer give their range, at least ± 25 %. A tier
without fresh rows falls back, in this order: the next tier, weaker rows, older rows, the other currency converted; each
substitute is marked with the question to ask. Rows that commit to more than a month never price a plan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from suanpei.market.band import Level, find_band, latest_rows, level_of, read_sellers
from suanpei.market.indicative_notes import is_retail, list_questions, list_substitutes
from suanpei.market.offer import PriceRow, Tier, UnitPrice
from suanpei.market.price_rows import is_in_region
from suanpei.market.terms import HOURLY, NO_CHARGES, NO_PAYMENT, UNKNOWN_TAX, Charges, Payment, Tax, Term
from suanpei.messages import Message
from suanpei.money import Money
from suanpei.units import MONTH_HOURS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from suanpei.market.price_rows import PriceTable
    from suanpei.money import ExchangeRates

_PRICE_DIGITS = 4
_NODE_TIERS: tuple[Tier, ...] = ("server", "platform", "big_cloud")
_CARD_TIERS: tuple[Tier, ...] = ("platform", "big_cloud")
_USER_TIER: Literal["stated"] = "stated"


@dataclass(frozen=True, kw_only=True)
class PriceTerms:
    """Under which conditions prices are looked up."""

    currency: str
    rates: ExchangeRates
    as_of: date
    region: str | None = None
    dedicated: bool = False
    """Whether the machines must be the renter's alone: cards by the hour are then paid by the whole node."""
    extra_tiers: frozenset[Tier] = frozenset()
    """``spot`` and ``marketplace``, only when asked for."""


@dataclass(frozen=True, kw_only=True)
class IndicativePrice:
    """A band per accelerator-hour, and what it rests on."""

    accelerator_name: str
    tier: Tier | Literal["stated"]
    """``stated`` is the user's own price."""
    low: Money
    median: Money
    high: Money
    term: Term
    whole_nodes: bool
    readings: int
    """Sellers read, one reading each; the quartile rule counts these. [-]"""
    rows: tuple[PriceRow, ...]
    """The rows used; a seller's range is two."""
    oldest: date | None
    """Day of the oldest row; None where a row is undated or the price is the user's own."""
    substitutes: tuple[Message, ...] = ()
    """Why these rows stand in for the ones wanted, each with the question to ask."""
    questions: tuple[Message, ...] = ()
    """What the rows leave open."""
    is_tax_open: bool = True
    """Whether it is unknown if tax is in the price."""

    @property
    def is_month_billed(self) -> bool:
        """Whether a started month is paid whole."""
        return self.term.is_month_billed

    @property
    def tax(self) -> Tax:
        """What the rows together say of tax: a state and a rate only where all of them agree."""
        if self.is_tax_open:
            return UNKNOWN_TAX
        states = {row.tax.state for row in self.rows}
        rates = {row.tax.rate_fraction for row in self.rows}
        if "out" in states and states != {"out"}:
            return UNKNOWN_TAX
        return Tax(state="out" if "out" in states else "in", rate_fraction=rates.pop() if len(rates) == 1 else None)

    @property
    def charges(self) -> Charges:
        """Nothing: price rows state no charges beside the price."""
        return NO_CHARGES

    @property
    def payment(self) -> Payment:
        """Nothing: price rows state no deposit and no prepayment."""
        return NO_PAYMENT

    @property
    def billing_currency(self) -> str:
        """What the sellers read bill in; the user's own price is in the plan's currency. [ISO 4217]"""
        return self.rows[0].price.currency if self.rows else self.median.currency

    @property
    def unit_price(self) -> UnitPrice:
        """The band as it is billed."""
        return UnitPrice(low=self.low, median=self.median, high=self.high, term=self.term, whole_nodes=self.whole_nodes)


@dataclass(frozen=True, kw_only=True)
class _Pick:
    """Rows that answer one look-up, and how far they are from what was wanted."""

    rows: tuple[PriceRow, ...]
    tier: Tier
    level: Level
    currency: str


def quote_indicative(
    table: PriceTable, accelerator_name: str, *, nodes: int, terms: PriceTerms
) -> tuple[IndicativePrice, ...]:
    """Find the indicative prices at which a count of nodes can be had.

    Several nodes take whole servers by the month. One node or less takes cards by the hour and, beside them, whole
    servers by the month and cards by the month where fresh rows of the same currency exist: all bills are then to be
    made and the cheapest shown (`market.cost.make_bills`). Tiers asked for by `terms.extra_tiers` come last.

    Args:
        table: Price rows by accelerator name (`load_prices`). [-]
        accelerator_name: A name of the accelerator catalogue. [-]
        nodes: Nodes rented; 1 is one node or less. [-]
        terms: Currency, rates, day, region, tenancy. [-]

    Returns:
        The prices, the wanted tier first; empty where the card has no row that a plan can use.
    """
    rows = tuple(row for row in table.get(accelerator_name, ()) if row.term.minimum_hours <= MONTH_HOURS)
    rows, region_notes = _of_region(rows, terms.region)
    prices: list[IndicativePrice] = []
    if nodes > 1:
        prices += _quote_chain(rows, _NODE_TIERS, terms)
    else:
        prices += _quote_chain(rows, _CARD_TIERS, terms)
        currency = prices[0].rows[0].price.currency if prices else _home_currency(terms.currency)
        months = [pick for pick in _fresh_months(rows, terms, currency) if not _has(prices, pick)]
        prices += [_quote(pick, pick.tier, terms) for pick in months]
        if not prices:
            prices += _quote_chain(rows, ("server",), terms)
    for tier in ("spot", "marketplace"):
        if tier in terms.extra_tiers:
            prices += _quote_chain(rows, (tier,), terms)
    return tuple(replace(price, substitutes=price.substitutes + region_notes) for price in prices)


def state_price(accelerator_name: str, price: Money) -> IndicativePrice:
    """Take a price that the user states: a band without width, tax in it, paid by the started hour for the cards used.

    Args:
        accelerator_name: A name of the accelerator catalogue. [-]
        price: Per accelerator-hour. [-]
    """
    return IndicativePrice(
        accelerator_name=accelerator_name,
        tier=_USER_TIER,
        low=price,
        median=price,
        high=price,
        term=HOURLY,
        whole_nodes=False,
        readings=0,
        rows=(),
        oldest=None,
        is_tax_open=False,
        questions=(
            Message(
                "the price of {accelerator} is yours, taken as with tax and paid by the hour",
                accelerator=accelerator_name,
            ),
        ),
    )


def _of_region(rows: tuple[PriceRow, ...], region: str | None) -> tuple[tuple[PriceRow, ...], tuple[Message, ...]]:
    """Keep the rows of a region; all of them, marked, where none names it."""
    if region is None or not rows:
        return rows, ()
    kept = tuple(row for row in rows if is_in_region(row, region))
    if kept:
        return kept, ()
    note = Message(
        "no price row names the region {region}, other regions stand in: ask for a price there", region=region
    )
    return rows, (note,)


def _home_currency(currency: str) -> str:
    """Name the market read first: the Chinese one in CNY, the dollar one otherwise."""
    return "CNY" if currency == "CNY" else "USD"


def _pick_rows(
    rows: Sequence[PriceRow], tiers: Sequence[Tier], terms: PriceTerms, levels: Sequence[Level]
) -> _Pick | None:
    """Walk the fall-back order over currencies, levels, tiers and ways of paying; give the first rows found."""
    home = _home_currency(terms.currency)
    currencies = [home, *sorted({row.price.currency for row in rows} - {home})]
    for currency in currencies:
        own = [(row, level_of(row, terms.as_of)) for row in rows if row.price.currency == currency]
        for level in levels:
            for tier in tiers:
                found = [row for row, its_level in own if its_level == level and row.tier == tier]
                for month_billed in (False, True):
                    kept = tuple(row for row in found if row.term.is_month_billed == month_billed)
                    if kept:
                        return _Pick(rows=kept, tier=tier, level=level, currency=currency)
    return None


def _quote_chain(rows: Sequence[PriceRow], tiers: Sequence[Tier], terms: PriceTerms) -> list[IndicativePrice]:
    """Quote the first tier, or what stands in for it."""
    pick = _pick_rows(rows, tiers, terms, ("fresh", "weak", "old"))
    return [] if pick is None else [_quote(pick, tiers[0], terms)]


def _fresh_months(rows: Sequence[PriceRow], terms: PriceTerms, currency: str) -> list[_Pick]:
    """Find fresh rows of one currency that are paid by the month: whole servers, and single cards."""
    monthly = [row for row in rows if row.term.is_month_billed and row.price.currency == currency]
    tiers: tuple[Tier, ...] = ("server", "platform")
    picks = [_pick_rows(monthly, (tier,), terms, ("fresh",)) for tier in tiers]
    return [pick for pick in picks if pick is not None]


def _has(prices: Sequence[IndicativePrice], pick: _Pick) -> bool:
    """Tell whether the same rows were quoted already."""
    return any(set(map(id, price.rows)) <= set(map(id, pick.rows)) for price in prices)


def _quote(pick: _Pick, wanted: Tier, terms: PriceTerms) -> IndicativePrice:
    """Make the band of a pick, in the currency asked for."""
    used = latest_rows(pick.rows)
    readings = read_sellers(used)
    low, median, high = (
        terms.rates.convert(Money(amount=amount, currency=pick.currency), terms.currency)
        for amount in find_band(readings)
    )
    dates = [row.date for row in used if row.date is not None]
    name = used[0].accelerator_name
    return IndicativePrice(
        accelerator_name=name,
        tier=pick.tier,
        low=low.rounded(_PRICE_DIGITS),
        median=median.rounded(_PRICE_DIGITS),
        high=high.rounded(_PRICE_DIGITS),
        term=_common_term(used),
        whole_nodes=pick.tier == "server" or terms.dedicated,
        readings=len(readings),
        rows=used,
        oldest=min(dates) if len(dates) == len(used) else None,
        substitutes=list_substitutes(used, pick.level, wanted, terms.currency, terms.rates),
        questions=list_questions(used, len(readings), dedicated=terms.dedicated),
        is_tax_open=not all(row.tax.state != "unknown" or is_retail(row) for row in used),
    )


def _common_term(rows: Sequence[PriceRow]) -> Term:
    """Take the longest terms among rows that are all paid by the hour or all by the month."""
    return Term(
        billing_hours=MONTH_HOURS if rows[0].term.is_month_billed else 1.0,
        minimum_hours=max(row.term.minimum_hours for row in rows),
        usual_hours=max(row.term.usual_hours for row in rows),
    )

"""Whether an amount lies where the catalogue's price rows put its card.

The least slip of a unit that quotes make is the factor between a card and its node, eight; then day and hour, month
and hour. An amount is plausible within a factor √8 ≈ 2.8 of the band: what is off by eight from the middle of a
narrow band lies outside, what is dear or cheap lies inside. The factor is a rule of ours; the bands are the
catalogue's dated rows (`market.indicative`): whole servers for nodes by the month or longer, else platforms and
servers, and spot or marketplace rows for those. A quote in yuan is held against the Chinese market, any other
against the dollar market; where a market has no row for a card, the other's stand in, half and double of them:
cards priced in both differ by about two (H100 by 1.7, A100 by 2.0, RTX 4090 by 2.4: middles of the bands of
November 2026).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.market.indicative import PriceTerms, quote_indicative
from suanpei.messages import Message

if TYPE_CHECKING:
    from datetime import date

    from suanpei.market.indicative import IndicativePrice
    from suanpei.market.offer import Tier
    from suanpei.market.price_rows import PriceTable
    from suanpei.money import ExchangeRates

PLAUSIBLE_FACTOR = Fraction(14, 5)
"""√8 to one decimal. [-]"""
OTHER_MARKET_FACTOR = Fraction(2)
"""How far a band of the other market is widened. [-]"""
CHEAP_FLAG = "too_cheap_unit_suspect"
DEAR_FLAG = "too_dear_unit_suspect"
FAR_FLAG = "price_far_from_band"
"""The flags of an amount outside its band: another unit would bring it there, or none would."""
OTHER_UNIT = Message("the words say otherwise; only the price band speaks for it")
"""Why a unit that would bring an amount into its band is listed."""
MOST_OTHER_UNITS = 3
"""Such units listed beside an amount. [-]"""
_EXTRA_TIERS: dict[str, Tier] = {"spot": "spot", "marketplace": "marketplace"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Band:
    """Where prices of a card lie."""

    low: Fraction
    high: Fraction
    """Per accelerator-hour, in the currency of the result. [currency/card-hour]"""

    middle: Fraction
    """The median of the rows, of groups of rows the highest one. [currency/card-hour]"""

    least: Fraction
    most: Fraction
    """Between these an amount is plausible. [currency/card-hour]"""

    def holds(self, amount: Fraction) -> bool:
        """Tell whether an amount is plausible."""
        least, most = self.least, self.most
        numerator, denominator = amount.numerator, amount.denominator
        return (
            least.numerator * denominator <= numerator * least.denominator
            and numerator * most.denominator <= most.numerator * denominator
        )

    def ratio(self, amount: Fraction) -> Fraction:
        """Give an amount over the middle of the band: 8 is eight times too dear. [-]"""
        return compare_amounts(amount, (self.low + self.high) / 2)


def flag_far(band: Band | None, amount: Fraction, *, has_other_unit: bool) -> str:
    """Give the flag of an amount outside its band.

    Args:
        band: That the amount is held against. [-]
        amount: Per accelerator-hour. [currency/card-hour]
        has_other_unit: Whether another unit would bring it there. [-]
    """
    if not has_other_unit:
        return FAR_FLAG
    return CHEAP_FLAG if band is not None and band.ratio(amount) < 1 else DEAR_FLAG


def compare_amounts(amount: Fraction, reference: Fraction) -> Fraction:
    """Give one price over another: 1.36 is 36 % dearer, exactly 8 is a node quoted as a card. [-]"""
    return amount / reference


class Bands:
    """Looks bands up, each once."""

    def __init__(self, prices: PriceTable, rates: ExchangeRates, currency: str, as_of: date) -> None:
        self._prices = prices
        self._rates = rates
        self._currency = currency
        self._as_of = as_of
        self._found: dict[tuple[tuple[str, ...], str, bool, str], Band | None] = {}

    def find(self, names: tuple[str, ...], currency: str, *, whole_months: bool, pricing: str) -> Band | None:
        """Find the band of a card, or of all cards that a name may mean; None where no row prices any.

        Args:
            names: Of the accelerator catalogue. [-]
            currency: Of the quote. [-]
            whole_months: Whether nodes by the month or longer are quoted. [-]
            pricing: ``spot`` and ``marketplace`` take their own rows too. [-]
        """
        home = "CNY" if currency == "CNY" else "USD"
        key = (names, home, whole_months, pricing if pricing in _EXTRA_TIERS else "")
        if key not in self._found:
            self._found[key] = self._look_up(*key)
        return self._found[key]

    def _look_up(self, names: tuple[str, ...], home: str, whole_months: bool, pricing: str) -> Band | None:  # noqa: FBT001
        terms = PriceTerms(
            currency=home,
            rates=self._rates,
            as_of=self._as_of,
            extra_tiers=frozenset({_EXTRA_TIERS[pricing]} if pricing else ()),
        )
        found = [
            price
            for name in names
            for price in quote_indicative(self._prices, name, nodes=2 if whole_months else 1, terms=terms)
        ]
        if not found:
            return None
        rate = self._rates.factor(home, self._currency)
        widths = [OTHER_MARKET_FACTOR if _is_of_other_market(price, home) else Fraction(1) for price in found]
        low = min(Fraction(price.low.amount) / width for price, width in zip(found, widths, strict=True)) * rate
        high = max(Fraction(price.high.amount) * width for price, width in zip(found, widths, strict=True)) * rate
        asked = [price for price in found if price.tier == pricing] or found
        middle = max(Fraction(price.median.amount) for price in asked) * rate
        return Band(low=low, high=high, middle=middle, least=low / PLAUSIBLE_FACTOR, most=high * PLAUSIBLE_FACTOR)


def _is_of_other_market(price: IndicativePrice, home: str) -> bool:
    return bool(price.rows) and price.rows[0].price.currency != home

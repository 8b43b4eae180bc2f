"""Every offer held against the price band of its card, wherever it was read: what is far off is flagged and asked.

The reader of sellers' own words holds each reading against its band while it settles the unit (`readings`). Sources
that fix their unit (files in our own columns, filled forms, catalogues of clouds) are held here, by the same bands and
factor, and flagged alike.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.machine.accelerator_table import load_accelerators
from suanpei.market.quotes.offers.price_questions import ask_unit
from suanpei.market.quotes.prices.plausible import CHEAP_FLAG, FAR_FLAG, MOST_OTHER_UNITS, OTHER_UNIT, Bands, flag_far
from suanpei.market.quotes.prices.unit_options import OPEN_PERIODS
from suanpei.market.quotes.quoted import Question, Reading
from suanpei.market.terms import PERIOD_HOURS, THIRTY_DAYS_HOURS

if TYPE_CHECKING:
    from suanpei.market.offer import Offer
    from suanpei.market.quotes.context import QuoteContext
    from suanpei.market.quotes.prices.plausible import Band
    from suanpei.market.quotes.quoted import QuotedOffer, Quotes

COMPONENT_FLAG = "component_price"
"""The flag of a price that leaves out the machine around the card; no band is of such prices."""


def make_bands(context: QuoteContext) -> Bands:
    """Make the bands that the quotes of a context are held against."""
    return Bands(context.prices, context.rates, context.currency, context.as_of)


def find_band(offer: QuotedOffer, bands: Bands) -> Band | None:
    """Find the band of an offer's card, for its way of paying; None where no row prices it.

    Args:
        offer: With its readings, the one taken first. [-]
        bands: In the currency of its price. [-]
    """
    if offer.accelerator is None:
        return None
    period_hours = offer.readings[0].period_hours if offer.readings else Fraction(1)
    by_months = period_hours >= THIRTY_DAYS_HOURS or (offer.term is not None and offer.term.is_month_billed)
    return bands.find(
        (offer.accelerator,),
        offer.quoted_currency or offer.price_per_accelerator_hour.currency,
        whole_months=by_months and (offer.accelerators_per_unit or 1) > 1,
        pricing=offer.pricing or "",
    )


def is_far_below(offer: QuotedOffer, bands: Bands) -> bool:
    """Tell whether an offer is too cheap to be true as it is written.

    Args:
        offer: Held against its band. [-]
        bands: In the currency of its price. [-]
    """
    if CHEAP_FLAG in offer.flags:
        return True
    amount = offer.price_per_accelerator_hour.amount
    if FAR_FLAG not in offer.flags or amount is None:
        return False
    band = find_band(offer, bands)
    return band is not None and amount < band.low


def hold_against_bands(quotes: Quotes, context: QuoteContext) -> Quotes:
    """Hold the offers that are not yet held against the band of their card.

    Args:
        quotes: Of any source. [-]
        context: Price rows, exchange rates, currency, day. [-]

    Returns:
        The same, with `Reading.is_plausible` filled where a band is known; an amount far from it is flagged, of low
        confidence, and asked.
    """
    holder = _Holder(context)
    offers = tuple([holder.hold(offer) for offer in quotes.offers])
    return replace(quotes, offers=offers, questions=(*quotes.questions, *holder.questions))


class _Holder:
    """Holds offers against the bands of one context."""

    def __init__(self, context: QuoteContext) -> None:
        self._bands = make_bands(context)
        self._accelerators = load_accelerators(context.catalogue)
        self.questions: list[Question] = []

    def hold(self, offer: QuotedOffer) -> QuotedOffer:
        """Give the offer with what its band says of it."""
        readings = offer.readings
        if not readings or readings[0].is_plausible is not None or COMPONENT_FLAG in offer.flags:
            return offer
        band = find_band(offer, self._bands)
        if band is None:
            return offer
        held = tuple(replace(reading, is_plausible=band.holds(reading.amount)) for reading in readings)
        if held[0].is_plausible or offer.price_per_accelerator_hour.amount is None:
            return replace(offer, readings=held)
        others = self._others(offer, held[0])
        flags = tuple(sorted({*offer.flags, flag_far(band, held[0].amount, has_other_unit=bool(others))}))
        flagged = replace(offer, readings=(*held, *others), flags=flags, confidence="low")
        asked = ask_unit(flagged, set(flags))
        if asked is not None:
            problem, question = asked
            place = offer.source
            self.questions.append(
                Question(seller=offer.seller, cell=place.cell, problem=problem, question=question, file=place.file)
            )
        return flagged

    def _others(self, offer: QuotedOffer, taken: Reading) -> list[Reading]:
        """List the units that would bring an amount into its band."""
        if offer.accelerator is None or taken.billed == "pflops":
            return []
        gpus = offer.accelerators_per_unit or 1
        node_gpus = gpus if gpus > 1 else self._accelerators[offer.accelerator].node_gpus
        written = taken.period_hours * (1 if taken.billed == "card" else gpus)
        found = []
        for cards in dict.fromkeys((1, node_gpus)):
            for hours in dict.fromkeys((taken.period_hours, *(PERIOD_HOURS[name] for name in OPEN_PERIODS))):
                other = replace(
                    taken,
                    amount=taken.amount * written / (hours * cards),
                    billed="card" if cards == 1 else "node",
                    period_hours=hours,
                    is_plausible=True,
                    why=OTHER_UNIT,
                )
                unit = replace(offer, readings=(other,), accelerators_per_unit=cards)
                band = find_band(unit, self._bands)
                if hours * cards != written and band is not None and band.holds(other.amount):
                    found.append(other)
        return found[:MOST_OTHER_UNITS]


class CheapOffers:
    """Tells offers of our own columns that are too cheap to be true; each band is looked up once."""

    def __init__(self, context: QuoteContext) -> None:
        self._context = context
        self._bands = make_bands(context)
        self._least: dict[tuple[str, str, str, bool], Decimal | None] = {}

    def holds(self, offer: Offer) -> bool:
        """Tell whether an offer's price is far below the band of its card.

        Args:
            offer: In its own currency. [-]
        """
        price = offer.price
        key = (offer.accelerator_name, price.currency, offer.tier, offer.unit_gpus > 1 and offer.term.is_month_billed)
        if key not in self._least:
            self._least[key] = self._look_up(*key)
        least = self._least[key]
        return least is not None and price.amount < least

    def _look_up(self, name: str, currency: str, tier: str, whole_months: bool) -> Decimal | None:  # noqa: FBT001
        """Give the least plausible price in the offer's own currency. [currency/card-hour]"""
        band = self._bands.find((name,), currency, whole_months=whole_months, pricing=tier)
        if band is None:
            return None
        least = band.least / self._context.rates.factor(currency, self._context.currency)
        return Decimal(least.numerator) / Decimal(least.denominator)

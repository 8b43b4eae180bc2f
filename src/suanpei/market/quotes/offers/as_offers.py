"""From quoted offers to what a plan can rent, with the reason for each that it cannot.

A plan needs a card of the catalogue, a price and something on hand; what else is open is planned at its worst reading
and asked. Exact fractions become decimals of `DIGITS` places, rounded half to even: 0.0000005 of a currency at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.cluster import build_cluster
from suanpei.market.offer import Offer
from suanpei.market.offer_notes import SPOT_QUESTION, ask_links
from suanpei.market.quotes.offers.band_check import COMPONENT_FLAG, find_band, is_far_below, make_bands
from suanpei.market.quotes.offers.sold_units import count_sold
from suanpei.market.quotes.offers.taken_terms import choose_term, choose_tier
from suanpei.market.terms import Tax
from suanpei.messages import Message
from suanpei.money import Money

if TYPE_CHECKING:
    from datetime import date
    from fractions import Fraction

    from suanpei.market.offer import Tier
    from suanpei.market.quotes.context import QuoteContext
    from suanpei.market.quotes.quoted import Place, QuotedOffer, Quotes

DIGITS = 6
"""Decimals of a price per accelerator-hour that is planned with. [-]"""
MODIFIED_FLAG = "modified_card"
TOO_CHEAP = Message("it is too cheap to be true as written: have the unit of its price confirmed first")
"""Why a price far below the band of its card is left out: planned as written, it would come first and mislead."""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A quoted offer that cannot be planned."""

    source: Place
    seller: str
    reason: Message


@dataclass(frozen=True, kw_only=True)
class PlannableOffers:
    """Quoted offers as a plan takes them."""

    offers: tuple[Offer, ...]
    """In the order of the quotes."""
    left_out: tuple[LeftOut, ...]


def make_offers(quotes: Quotes, context: QuoteContext) -> PlannableOffers:
    """Make of quotes what a plan can rent.

    Left out, each with its reason, are offers without a price or a card of the catalogue, with nothing on hand, past
    their validity, prices of a component, and prices too cheap to be true as they are written. An unknown count is one
    unit, unknown links are planned at their worst reading, an unknown term follows from the way of paying; each of
    these is asked or said. An offer's questions are those that its plan hangs on; all that a seller is to be asked
    stands in the quotes.

    Args:
        quotes: What was read. [-]
        context: Catalogue, price rows, exchange rates, and the day on which an offer must still hold. [-]

    Returns:
        The offers in the order of the quotes, and those left out.
    """
    maker = _Maker(context)
    offers: list[Offer] = []
    left_out: list[LeftOut] = []
    for quoted in quotes.offers:
        made = maker.make(quoted)
        if isinstance(made, Offer):
            offers.append(made)
        else:
            left_out.append(LeftOut(source=quoted.source, seller=quoted.seller, reason=made))
    return PlannableOffers(offers=tuple(offers), left_out=tuple(left_out))


def to_money(amount: Fraction, currency: str) -> Money:
    """Round an exact amount to `DIGITS` decimals, half to even.

    Args:
        amount: Exact. [currency]
        currency: ISO code. [-]
    """
    return Money(amount=Decimal(round(amount * 10**DIGITS)).scaleb(-DIGITS), currency=currency)


def name_seller(seller: str, source: Place) -> str:
    """Name a seller, or the place where an unnamed one's offer stands."""
    return seller or f"{source.file}:{source.cell}"


class _Maker:
    """Makes offers of one catalogue, remembering which links of which card can be read."""

    def __init__(self, context: QuoteContext) -> None:
        self.catalogue = context.catalogue
        self.rates = context.rates
        self.as_of = context.as_of
        self.bands = make_bands(context)
        self.accelerators = load_accelerators(context.catalogue)
        self.readable: dict[tuple[str, str], bool] = {}

    def make(self, quoted: QuotedOffer) -> Offer | Message:
        """Make an offer, or say why it cannot be planned."""
        price, provider = quoted.price_per_accelerator_hour, name_seller(quoted.seller, quoted.source)
        if quoted.accelerator is None:
            return _say_open_card(quoted)
        if price.amount is None:
            return Message("it has no price, or one whose unit is open")
        if (reason := _why_not(quoted, self.as_of)) is not None:
            return reason
        if is_far_below(quoted, self.bands):
            return TOO_CHEAP
        sold = count_sold(quoted, self.accelerators[quoted.accelerator].node_gpus, provider)
        if isinstance(sold, Message):
            return sold
        said: list[Message] = list(sold.said)
        asked: list[Message] = list(sold.asked)
        planned, low, high = self._choose_price(quoted, provider, said)
        term = choose_term(quoted, provider, said)
        links = self._links(quoted.accelerator, quoted.links, provider, asked)
        tier = choose_tier(quoted, term)
        asked += _ask_about_price(quoted, provider, tier)
        return Offer(
            provider=provider,
            accelerator_name=quoted.accelerator,
            tier=tier,
            price=planned,
            price_low=None if low == high else low,
            price_high=None if low == high else high,
            count=sold.count,
            is_count_open=quoted.count is None,
            term=term,
            unit_gpus=sold.unit_gpus,
            region=quoted.region,
            links=links,
            date=quoted.quote_date,
            source=f"{quoted.source.file}:{quoted.source.cell}",
            note="; ".join(filter(None, (quoted.note, *map(str, quoted.remarks)))),
            tax=Tax(state=price.tax, rate_fraction=price.tax_rate),
            charges=quoted.charges.priced_in(price.currency, self.rates),
            payment=quoted.payment,
            quoted_currency=quoted.quoted_currency,
            assumptions=tuple(said),
            questions=tuple(asked),
        )

    def _choose_price(self, quoted: QuotedOffer, provider: str, said: list[Message]) -> tuple[Money, Money, Money]:
        """Give the price to plan with and its ends: whoever leaves a price open upwards gains nothing by it."""
        price = quoted.price_per_accelerator_hour
        amount, high, currency = cast("Fraction", price.amount), price.high, price.currency
        low = amount if price.low is None else min(price.low, amount)
        if high is not None:
            planned = max(amount, high)
            if planned > low:
                said.append(
                    Message(
                        "the price of {provider} is {low} to {high}; planned at the higher until the seller says",
                        provider=provider,
                        low=to_money(low, currency),
                        high=to_money(planned, currency),
                    )
                )
            return to_money(planned, currency), to_money(low, currency), to_money(planned, currency)
        band = find_band(quoted, self.bands)
        if band is None:
            return (to_money(amount, currency),) * 3
        planned = max(amount, band.middle)
        said.append(
            Message(
                "the price of {provider}, {low}, is a lowest price; planned at {planned}, the higher of it and the"
                " middle of the usual prices, until the seller says",
                provider=provider,
                low=to_money(amount, currency),
                planned=to_money(planned, currency),
            )
        )
        return to_money(planned, currency), to_money(low, currency), to_money(max(planned, band.high), currency)

    def _links(self, accelerator: str, links: str, provider: str, asked: list[Message]) -> str:
        """Give the links that a cluster can be built of; empty, and asked, where they are unknown or not understood."""
        if not links:
            asked.append(ask_links(provider))
            return ""
        if self._can_be_read(accelerator, links):
            return links
        asked.append(
            Message(
                "the links of {provider}, '{given}', are not understood and planned at their worst reading: ask for "
                "ports, their rate and kind per node, such as 8x400G IB",
                provider=provider,
                given=links,
            )
        )
        return ""

    def _can_be_read(self, accelerator: str, links: str) -> bool:
        key = (accelerator, links)
        if key not in self.readable:
            try:
                build_cluster(self.catalogue, self.accelerators[accelerator], links)
                self.readable[key] = True
            except InputError:
                self.readable[key] = False
        return self.readable[key]


def _say_open_card(quoted: QuotedOffer) -> Message:
    """Say why no one card of the catalogue is meant."""
    given = quoted.accelerator_as_written
    if "impossible_memory" in quoted.flags:
        return Message("no card of this kind has that memory: {card}", card=given)
    if "unknown_card" in quoted.flags:
        return Message("the card '{given}' is none of the catalogue, or fits several", given=given)
    return Message("the name '{given}' fits several cards: ask which", given=given)


def _why_not(quoted: QuotedOffer, as_of: date) -> Message | None:
    """Say why an offer with a card and a price cannot be planned; None where it can."""
    if COMPONENT_FLAG in quoted.flags:
        return Message("its price leaves out the machine around the card")
    if quoted.valid_until is not None and quoted.valid_until < as_of:
        return Message("it ended on {date}", date=quoted.valid_until.isoformat())
    return None


def _ask_about_price(quoted: QuotedOffer, provider: str, tier: Tier) -> list[Message]:
    """List what the price leaves open: its upper end, whether it stays, whether it is what it seems."""
    price = quoted.price_per_accelerator_hour
    asked: list[Message] = []
    if price.high is None:
        asked.append(
            Message(
                "the price of {provider} is a lowest one: ask what this rental would really cost", provider=provider
            )
        )
    if quoted.confidence == "low":
        asked.append(
            Message(
                "the price of {provider} at {cell} is suspicious: have it confirmed before you count on it",
                provider=provider,
                cell=quoted.source.cell,
            )
        )
    elif len(quoted.readings) > 1:
        asked.append(
            Message(
                "the unit of the price of {provider} at {cell} is inferred: have it confirmed",
                provider=provider,
                cell=quoted.source.cell,
            )
        )
    if "price_from_total" in quoted.flags:
        asked.append(
            Message(
                "the price of {provider} at {cell} is worked out of a total: ask whether fewer cards or another term"
                " cost as much per card-hour",
                provider=provider,
                cell=quoted.source.cell,
            )
        )
    if tier == "spot":
        asked.append(SPOT_QUESTION)
    if MODIFIED_FLAG in quoted.flags:
        asked.append(Message("the card of {provider} is modified: ask for the warranty", provider=provider))
    return asked

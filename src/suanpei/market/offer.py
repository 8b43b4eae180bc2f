"""What can be rented and what was seen: price rows, offers, and the terms on which a card-hour is paid.

A `PriceRow` is one observation of a price, an `Offer` something that a seller will rent out now. Both lead to a
`UnitPrice`, the only thing that `market.cost` bills. A blank is kept as unknown and shown; nothing is filled in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self, get_args

from suanpei.market.terms import NO_CHARGES, NO_PAYMENT, UNKNOWN_TAX
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from suanpei.market.terms import Charges, Payment, Tax, Term
    from suanpei.money import ExchangeRates, Money
    from suanpei.provenance import Confidence

Tier = Literal["server", "platform", "big_cloud", "spot", "marketplace", "none"]
"""``server`` whole nodes by the month; ``platform`` cards by the hour (or the month); ``big_cloud`` list prices;
``spot`` may be taken back; ``marketplace`` hosts set the price; ``none`` evidence, never a price to plan with."""
TIERS: tuple[Tier, ...] = get_args(Tier)
UnitSold = Literal["card", "node8"]
"""Sold card by card, or only as a whole 8-card server."""

USUAL_NODE_GPUS = 8
"""Cards of the server that nearly all sellers mean where they name no other. [-]"""
LARGEST_SERVER_GPUS = 16
"""Cards of the largest server that is one node: more are several machines, or what is on hand. [-]"""


@dataclass(frozen=True, kw_only=True)
class UnitPrice:
    """A price per accelerator-hour with its band and the terms of the bill."""

    low: Money
    median: Money
    high: Money
    term: Term
    whole_nodes: bool
    """Whether all cards of a started node are paid."""
    unit_gpus: int = 1
    """Accelerators that are only sold together, where that is more than a node: a rack. [-]"""

    def billed_gpus(self, gpus: int, gpus_per_node: int) -> int:
        """Count the accelerators that are paid: all cards of a started node where whole nodes are sold, whole units.

        Args:
            gpus: Accelerators used. [-]
            gpus_per_node: Accelerators of one node. [-]
        """
        paid = -(-gpus // gpus_per_node) * gpus_per_node if self.whole_nodes else gpus
        return -(-paid // self.unit_gpus) * self.unit_gpus


@dataclass(frozen=True, kw_only=True)
class PriceRow:
    """One observation of a price."""

    provider: str
    accelerator_name: str
    """A name of the accelerator catalogue."""
    tier: Tier
    price: Money
    """Per accelerator-hour, also where a whole node or a month is sold."""
    date: date | None
    """The day of the reading, or the first day of the span that the note names; None is unknown."""
    confidence: Confidence
    region: str
    """Empty is unknown."""
    market: Literal["cn", "world"]
    """Mainland China retail, or elsewhere."""
    term: Term
    unit_sold: UnitSold
    tax: Tax
    links: str
    """The interconnect as the source names it; empty is unknown."""
    source: str
    note: str

    @property
    def seller(self) -> str:
        """The provider without case, punctuation and the channel it was read through: one key per seller."""
        return re.sub(r"[\s._-]+", "", re.sub(r",?\s*via [^)]*", "", self.provider).casefold()).replace("()", "")


@dataclass(frozen=True, kw_only=True)
class Offer:
    """Something that a seller rents out, with its terms."""

    provider: str
    accelerator_name: str
    tier: Tier
    price: Money
    """Per accelerator-hour."""
    count: int
    """Accelerators on hand in one fabric; one machine, to plan with, where `is_count_open`. [-]"""
    term: Term
    unit_gpus: int
    """Accelerators that are only sold together: 1 by the card, 8 by the whole 8-card node. [-]"""
    region: str
    links: str
    """The interconnect as the seller names it; empty is unknown: planned at its worst reading."""
    date: date | None
    source: str
    """File and line, or what the seller wrote as source."""
    note: str
    price_low: Money | None = None
    price_high: Money | None = None
    """The ends of a quoted range; None is the price itself."""
    tax: Tax = UNKNOWN_TAX
    charges: Charges = NO_CHARGES
    payment: Payment = NO_PAYMENT
    quoted_currency: str | None = None
    """What the seller bills in; None is the currency of `price`, which may have been converted."""
    is_count_open: bool = False
    """Whether the seller names no number on hand."""
    assumptions: tuple[Message, ...] = ()
    questions: tuple[Message, ...] = ()
    """What to ask the seller before signing."""

    @property
    def market(self) -> Literal["cn", "world"]:
        """Mainland China where the seller bills in yuan."""
        return "cn" if self.billing_currency == "CNY" else "world"

    @property
    def billing_currency(self) -> str:
        """What the seller bills in. [ISO 4217]"""
        return self.quoted_currency or self.price.currency

    @property
    def names_links(self) -> bool:
        """Whether the seller says what joins the cards."""
        return bool(self.links)

    @property
    def is_tax_open(self) -> bool:
        """Whether the seller leaves open if tax is in the price."""
        return self.tax.state == "unknown"

    @property
    def unit_price(self) -> UnitPrice:
        """The price as it is billed; its band is the range that the seller quotes."""
        return UnitPrice(
            low=self.price_low or self.price,
            median=self.price,
            high=self.price_high or self.price,
            term=self.term,
            whole_nodes=self.unit_gpus > 1,
            unit_gpus=self.unit_gpus,
        )

    def priced_in(self, currency: str, rates: ExchangeRates) -> Self:
        """Give the offer with its price and charges converted (`explain_conversions` says at which rates).

        Args:
            currency: ISO code. [-]
            rates: Exchange rates. [-]

        Raises:
            InputError: No rate joins the currencies.
        """
        if currency == self.price.currency:
            return self

        def converted(money: Money | None) -> Money | None:
            return None if money is None else rates.convert(money, currency)

        return replace(
            self,
            price=rates.convert(self.price, currency),
            price_low=converted(self.price_low),
            price_high=converted(self.price_high),
            charges=self.charges.priced_in(currency, rates),
            quoted_currency=self.billing_currency,
        )


def explain_conversions(offers: Iterable[Offer], currency: str, rates: ExchangeRates) -> tuple[Message, ...]:
    """Say at which rates the prices of offers are converted.

    Args:
        offers: In their own currencies. [-]
        currency: ISO code. [-]
        rates: Exchange rates. [-]

    Raises:
        InputError: No rate joins the currencies.
    """
    foreign = dict.fromkeys(offer.price.currency for offer in offers)
    foreign.pop(currency, None)
    return tuple(
        Message(
            "offers in {currency} are converted at {rate}",
            currency=source,
            rate=", ".join(map(str, rates.route(source, currency))),
        )
        for source in foreign
    )


def tier_name(tier: Tier) -> Message:
    """Name a tier for a person."""
    return {
        "server": Message("whole servers by the month"),
        "platform": Message("cards on platforms"),
        "big_cloud": Message("big-cloud list price"),
        "spot": Message("spot"),
        "marketplace": Message("marketplace"),
        "none": Message("no price to plan with"),
    }[tier]

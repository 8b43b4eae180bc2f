"""What was read from quotes: offers on one basis beside their cells, questions, and what stays unread.

Amounts are exact fractions, per accelerator-hour; they are rounded once, where they are shown. An amount that the
seller's own words or the price band do not settle is None, its possible readings stand in `QuotedOffer.readings`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from suanpei.market.terms import NO_CHARGES, NO_PAYMENT

if TYPE_CHECKING:
    from datetime import date
    from decimal import Decimal
    from fractions import Fraction

    from suanpei.market.quotes.document import Unread
    from suanpei.market.terms import Charges, Payment, Tax, TaxState, Term
    from suanpei.messages import Message
    from suanpei.provenance import Confidence

Pricing = Literal["on_demand", "daily", "weekly", "monthly", "yearly", "reserved", "spot", "marketplace"]
"""How it is paid: by the hour (or shorter), by whole days … years, committed, interruptible, or a host's own price."""
Billed = Literal["card", "node", "instance", "pflops", "total"]
"""What a quoted amount is for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where an offer stands."""

    file: str
    sheet: str | None
    row: int
    """As a person counts, from 1; in running text, the line. [-]"""
    cell: str
    """Of the price, as `document.name_cell` writes it; of the row where no cell holds a price."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """One way to read a quoted amount."""

    amount: Fraction
    """Per accelerator-hour, in the currency of the result. [currency/card-hour]"""
    billed: Billed
    period_hours: Fraction
    """The time that the amount is for: 1 by the hour, 730 by the month. [h]"""
    quoted_currency: str
    is_plausible: bool | None
    """Whether it lies near the price band of the card; None where no band is known."""
    why: Message
    """What speaks for it: the row's words, the heading, the band, or nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QuotedPrice:
    """A price per accelerator-hour."""

    amount: Fraction | None
    """As quoted, tax neither added nor taken out; None where it is missing or its unit stays open."""
    low: Fraction | None
    high: Fraction | None
    """The ends of a quoted range, else the amount; the high end of a price "from" is None."""
    currency: str
    """Of the result; the seller's own stands in `QuotedOffer.quoted_currency`."""
    tax: TaxState
    tax_rate: Decimal | None
    """0.06 is 6 %. [-]"""
    amount_tax_in: Fraction | None
    amount_tax_out: Fraction | None
    """None where neither state nor rate settle them."""

    @classmethod
    def of(cls, amount: Fraction | None, high: Fraction | None, currency: str, tax: Tax) -> QuotedPrice:
        """Make the price of an amount that is the least asked, with both sides of its tax."""
        tax_in, tax_out = (None, None) if amount is None else tax.split(amount)
        return cls(
            amount=amount,
            low=amount,
            high=high,
            currency=currency,
            tax=tax.state,
            tax_rate=tax.rate_fraction,
            amount_tax_in=tax_in,
            amount_tax_out=tax_out,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class QuotedOffer:
    """One offer as a seller wrote it."""

    source: Place
    seller: str
    """Empty is not named."""
    accelerator: str | None
    """A name of the catalogue; None where the seller's own name settles none."""
    accelerator_as_written: str
    accelerators_per_unit: int | None
    """Cards of the node or instance quoted, 1 where single cards are sold; None is unknown. [-]"""
    price_as_written: str
    """The words that the price was read from."""
    quoted_currency: str | None
    price_per_accelerator_hour: QuotedPrice
    pricing: Pricing | None
    term: Term | None
    """For how long the price is paid at a time, and at least; None is not stated."""
    count: int | None
    """Cards on hand; None is not stated. [-]"""
    links: str
    """As written; empty is not stated, ``none`` is none."""
    region: str
    quote_date: date | None
    valid_until: date | None
    readings: tuple[Reading, ...]
    """Every way to read the amount, the one taken first; a single one where nothing was open."""
    flags: tuple[str, ...]
    """What to know of it, in stable words (docs/quotes.md): ``tax_excluded_6pct``, ``from_price``."""
    confidence: Confidence
    """``high`` where the row's own words settle price, unit and card; ``medium`` where something was inferred; ``low``
    where the amount is open or suspicious."""
    note: str
    """The seller's own words."""
    charges: Charges = NO_CHARGES
    payment: Payment = NO_PAYMENT
    remarks: tuple[Message, ...] = ()
    """What else the seller filled into a form, under the names of its fields and requirements."""
    minimum_count: int | None = None
    """Cards that must be rented for the price to hold; None is not stated. [-]"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What to ask a seller, and why."""

    seller: str
    cell: str
    problem: Message
    question: Message
    """A sentence that can be sent as it is."""
    file: str = ""
    """Where the cell stands."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Quotes:
    """Everything read from some files."""

    offers: tuple[QuotedOffer, ...]
    questions: tuple[Question, ...]
    unread: tuple[Unread, ...]
    assumptions: tuple[Message, ...]
    """Month length, exchange rates, what was taken for every row."""

"""What to know of each quoted offer beside its line in the table: words, flags, readings, charges, open points."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.console import Group

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.figures import UNKNOWN
from suanpei.report.text.layout import ByWidth, Paragraph, heading
from suanpei.report.text.quote_flags import say_flag
from suanpei.units import DAY_HOURS, MONTH_HOURS, YEAR_HOURS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal
    from fractions import Fraction

    from rich.console import RenderableType

    from suanpei.market.quotes.quoted import QuotedOffer, QuotedPrice, Reading
    from suanpei.market.terms import Charges, Payment
    from suanpei.provenance import Confidence
    from suanpei.report.locale import Language

_MOST_OTHERS = 3
"""Readings listed beside the one taken; the first are those in the price band, the JSON result holds all. [-]"""
_DECIMALS = 3
"""Of a price per card-hour as it is shown. [-]"""
_COLUMN = re.compile(r"[A-Z]+(?=\d+$)")


def render_notes(offers: Sequence[QuotedOffer], lang: Language) -> list[RenderableType]:
    """List what to know of the offers, each under the number that it has in the table.

    Args:
        offers: In the order of the table.
        lang: The reader's language.
    """
    parts: list[RenderableType] = []
    is_one_file = len({offer.source.file for offer in offers}) == 1
    for number, offer in enumerate(offers, start=1):
        place = offer.source.cell if is_one_file else f"{offer.source.file} {offer.source.cell}"
        title = Paragraph(f"{number}  {offer.seller or UNKNOWN}  {place}", style="bold")
        wide = _list_notes(offer)
        narrow = [*_list_words(offer), *wide]
        parts.append(ByWidth(_lines(title, wide, lang), _lines(title, narrow, lang)))
    return [heading(translate("What to know of them", lang)), *parts] if parts else []


def row_of(cell: str) -> str:
    """Name the row of a cell, in which an offer stands with all that is asked of it: ``H800!7`` of ``H800!AB7``."""
    return _COLUMN.sub("", cell)


def _lines(title: Paragraph, notes: Sequence[Message | str], lang: Language) -> RenderableType:
    """Put bullets below a title; nothing at all where there is no bullet."""
    if not notes:
        return Group()
    return Group(title, *(Paragraph(translate(note, lang), bullet="   - ") for note in notes))


def _list_words(offer: QuotedOffer) -> list[Message]:
    """List what a narrow table has no room for."""
    values = {
        "text": offer.price_as_written or UNKNOWN,
        "amount": say_amount(offer.price_per_accelerator_hour.amount_tax_out),
        "confidence": name_confidence(offer.confidence),
    }
    return [Message("as written: {text}; without tax {amount}; sure: {confidence}", **values)]


def name_confidence(confidence: Confidence) -> Message:
    """Name a confidence for a person."""
    return {"high": Message("high"), "medium": Message("medium"), "low": Message("low")}[confidence]


def _list_notes(offer: QuotedOffer) -> list[Message | str]:
    """List flags in words, what is open, what else is billed, and the seller's own remark."""
    notes: list[Message | str] = [say_flag(flag) for flag in offer.flags]
    is_settled = offer.price_per_accelerator_hour.amount is not None
    if len(offer.readings) > 1 or "price_from_total" in offer.flags:
        notes += [
            _say_reading(reading, is_taken=is_settled and index == 0)
            for index, reading in enumerate(offer.readings[: _MOST_OTHERS + is_settled])
        ]
    notes += [*_list_charges(offer.charges), *_list_payment(offer.payment)]
    notes += _list_dates(offer)
    notes += offer.remarks
    if offer.note and offer.note != offer.source.cell:
        notes.append(Message("the seller's remark: {note}", note=offer.note))
    return notes


def _list_dates(offer: QuotedOffer) -> list[Message]:
    date, last = offer.quote_date, offer.valid_until
    if date is not None and last is not None:
        return [Message("dated {date}, valid until {last}", date=date.isoformat(), last=last.isoformat())]
    if date is not None:
        return [Message("dated {date}", date=date.isoformat())]
    return [] if last is None else [Message("valid until {date}", date=last.isoformat())]


def _say_reading(reading: Reading, *, is_taken: bool) -> Message:
    """Say one way to read an amount, and whether it is the one in the table."""
    values = {
        "amount": say_amount(reading.amount),
        "billed": _BILLED[reading.billed],
        "period": say_length(float(reading.period_hours)) or Message("an hour"),
        "why": reading.why,
        "plausible": ""
        if reading.is_plausible is None
        else Message(" (near the usual price)")
        if reading.is_plausible
        else Message(" (far from the usual price)"),
    }
    if is_taken:
        return Message("taken: {amount}, for {billed} and {period}{plausible}: {why}", **values)
    return Message("or: {amount}, for {billed} and {period}{plausible}: {why}", **values)


_BILLED = {
    "card": Message("a card"),
    "node": Message("a machine"),
    "instance": Message("an instance"),
    "pflops": Message("a P of computing power"),
    "total": Message("all cards of the row"),
}


def _list_charges(charges: Charges) -> list[Message]:
    """List what is billed beside the cards."""
    said = {
        Message("storage: {price} per GB and month", price=str(charges.storage_per_gb_month)): (
            charges.storage_per_gb_month
        ),
        Message("traffic in: {price} per GB", price=str(charges.ingress_per_gb)): charges.ingress_per_gb,
        Message("traffic out: {price} per GB", price=str(charges.egress_per_gb)): charges.egress_per_gb,
        Message("set-up: {price}", price=str(charges.set_up)): charges.set_up,
        Message("network between machines: {price} per card-hour", price=str(charges.fabric_per_gpu_hour)): (
            charges.fabric_per_gpu_hour
        ),
        Message("early exit costs {share} of the unused rent", share=_per_cent(charges.early_exit_fraction)): (
            charges.early_exit_fraction
        ),
    }
    notes = [note for note, value in said.items() if value is not None]
    if charges.bills_outages is not None:
        notes.append(
            Message("outages of the seller are billed")
            if charges.bills_outages
            else Message("outages of the seller are not billed")
        )
    return notes


def _list_payment(payment: Payment) -> list[Message]:
    """List what is paid before it is used."""
    said = {
        Message("months of rent as deposit: {months}", months=str(payment.deposit_months)): payment.deposit_months,
        Message("months paid ahead at a time: {months}", months=str(payment.prepaid_months)): payment.prepaid_months,
        Message("paid on signing: {share} of the term", share=_per_cent(payment.prepaid_fraction)): (
            payment.prepaid_fraction
        ),
    }
    return [note for note, value in said.items() if value is not None]


def _per_cent(fraction: Decimal | None) -> str:
    return UNKNOWN if fraction is None else f"{float(100 * fraction):g}%"


def say_amount(amount: Fraction | None) -> str:
    """Write a price per card-hour, rounded half up to a thousandth; unknown is a dash. [currency/card-hour]"""
    if amount is None:
        return UNKNOWN
    scale = 10**_DECIMALS
    thousandths = (2 * amount.numerator * scale + amount.denominator) // (2 * amount.denominator)
    return f"{thousandths // scale:,}.{thousandths % scale:0{_DECIMALS}}"


def say_price(price: QuotedPrice) -> Message | str:
    """Write the price as quoted: an amount, a range, or a lowest price."""
    if price.amount is None:
        return UNKNOWN
    if price.high is None:
        return Message("from {amount}", amount=say_amount(price.amount))
    if price.low is not None and price.low != price.high:
        return f"{say_amount(price.low)}–{say_amount(price.high)}"
    return say_amount(price.amount)


def say_term(offer: QuotedOffer) -> Message | str:
    """Write how an offer is paid, and for how long at least."""
    ways = {
        "on_demand": Message("hourly"),
        "daily": Message("daily"),
        "weekly": Message("weekly"),
        "monthly": Message("monthly"),
        "yearly": Message("yearly"),
        "reserved": Message("committed"),
        "spot": Message("spot"),
        "marketplace": Message("marketplace"),
    }
    least = None if offer.term is None else say_length(offer.term.minimum_hours)
    if offer.pricing is None:
        return _say_period(offer) if least is None else Message("≥ {least}", least=least)
    if least is None:
        return ways[offer.pricing]
    return Message("{way}, ≥ {least}", way=ways[offer.pricing], least=least)


def _say_period(offer: QuotedOffer) -> Message | str:
    """Say what time the price is for, where nothing says how it is paid."""
    if not offer.readings or offer.price_per_accelerator_hour.amount is None:
        return UNKNOWN
    length = say_length(float(offer.readings[0].period_hours)) or Message("an hour")
    return Message("priced for {length}", length=length)


def say_length(hours: float) -> Message | None:
    """Write a length of time in the largest unit that it is whole in; None where it is an hour or less. [h]"""
    if hours <= 1:
        return None
    if hours % YEAR_HOURS == 0:
        years = hours / YEAR_HOURS
        return Message("a year") if years == 1 else Message("{count:g} years", count=years)
    if hours % MONTH_HOURS == 0:
        months = hours / MONTH_HOURS
        return Message("a month") if months == 1 else Message("{count:g} months", count=months)
    if hours % DAY_HOURS == 0:
        days = hours / DAY_HOURS
        return Message("a day") if days == 1 else Message("{count:g} days", count=days)
    return Message("{count:g} hours", count=hours)

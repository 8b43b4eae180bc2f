"""What an indicative price says of itself: rows that stand in for the ones wanted, and what all rows leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.band import QUARTILE_READINGS
from suanpei.market.offer import tier_name
from suanpei.market.offer_notes import SPOT_QUESTION
from suanpei.messages import Message
from suanpei.units import MONTH_HOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.band import Level
    from suanpei.market.offer import PriceRow, Tier
    from suanpei.money import ExchangeRates


def list_substitutes(
    rows: Sequence[PriceRow], level: Level, wanted: Tier, currency: str, rates: ExchangeRates
) -> tuple[Message, ...]:
    """Say how far the rows are from those wanted, each with the question to ask.

    Args:
        rows: Of one card, tier and currency, at least one. [-]
        level: How far they can be trusted. [-]
        wanted: The tier looked for. [-]
        currency: The one looked for. [ISO 4217]
        rates: Exchange rates. [-]
    """
    name, tier, given = rows[0].accelerator_name, rows[0].tier, rows[0].price.currency
    notes: list[Message] = []
    if tier != wanted:
        notes.append(
            Message(
                "{accelerator} has no usable price for {wanted}, that for {tier} is used: ask for a quote for {wanted}",
                accelerator=name,
                wanted=tier_name(wanted),
                tier=tier_name(tier),
            )
        )
    if level == "weak":
        notes.append(
            Message("the price of {accelerator} rests on rows of low confidence: ask for a quote", accelerator=name)
        )
    if level == "old":
        notes.append(
            Message(
                "the price of {accelerator} rests on rows that are undated or over a year old: ask for a quote today",
                accelerator=name,
            )
        )
    if given != currency:
        notes.append(
            Message(
                "the price of {accelerator} is converted from {currency} at {rate}: ask whether a seller bills in "
                "{wanted} at this level",
                accelerator=name,
                currency=given,
                wanted=currency,
                rate=", ".join(map(str, rates.route(given, currency))),
            )
        )
    return tuple(notes)


def is_retail(row: PriceRow) -> bool:
    """Tell whether an unstated price is read as retail with tax in it: mainland cards by the hour."""
    return row.market == "cn" and row.tier == "platform"


def list_questions(rows: Sequence[PriceRow], readings: int, *, dedicated: bool) -> tuple[Message, ...]:
    """List what the rows leave open.

    Args:
        rows: Of one card and tier, at least one. [-]
        readings: Sellers read. [-]
        dedicated: Whether the machines must be the renter's alone. [-]
    """
    questions: list[Message] = []
    tier = rows[0].tier
    if readings < QUARTILE_READINGS:
        questions.append(
            Message(
                "sellers read for the price of {accelerator}: {readings}; the band is their range, at least ± 25 %: "
                "ask for more quotes",
                accelerator=rows[0].accelerator_name,
                readings=readings,
            )
        )
    if any(row.term.usual_hours > MONTH_HOURS for row in rows):
        questions.append(Message("one-year signing is usual at this price: ask whether single months are sold"))
    if tier == "spot":
        questions.append(SPOT_QUESTION)
    if dedicated and tier != "server":
        questions.append(Message("machines by the hour may be shared: ask whether the whole node is yours alone"))
    if any(is_retail(row) and row.tax.state == "unknown" for row in rows):
        questions.append(
            Message("tax is not stated, the price is read as retail with tax in it: ask for the invoice type")
        )
    return tuple(questions)

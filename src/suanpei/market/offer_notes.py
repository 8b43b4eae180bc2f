"""What is assumed and asked of an offer that leaves something open, in the same words wherever it was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.messages import Message
from suanpei.units import DAY_HOURS, YEAR_HOURS

if TYPE_CHECKING:
    from suanpei.market.terms import Term

SPOT_QUESTION = Message("spot machines may be taken back: ask for the notice and the rate of interruptions")


def say_term(term: Term, provider: str) -> Message:
    """Say which term was taken for an offer that names none.

    Args:
        term: As taken. [-]
        provider: Name of the seller. [-]
    """
    if term.minimum_hours >= YEAR_HOURS:
        return Message("the offer of {provider} names no term and is read as bound for a year", provider=provider)
    if term.is_month_billed:
        return Message("the offer of {provider} names no term and is read as paid by the month", provider=provider)
    if term.billing_hours >= 7 * DAY_HOURS:
        return Message("the offer of {provider} names no term and is read as paid by the week", provider=provider)
    if term.billing_hours >= DAY_HOURS:
        return Message("the offer of {provider} names no term and is read as paid by the day", provider=provider)
    return Message("the offer of {provider} names no term and is read as paid by the hour", provider=provider)


def say_by_card(provider: str) -> Message:
    """Say that an offer is taken as sold card by card."""
    return Message("the offer of {provider} is taken as sold by the card", provider=provider)


def ask_links(provider: str) -> Message:
    """Ask the seller what joins the cards."""
    return Message(
        "the offer of {provider} names no links and is planned at its worst reading: ask what joins the cards, "
        "in the node and between nodes",
        provider=provider,
    )

"""On which terms a quoted offer is planned where its seller states none, and which tier that makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.offer_notes import say_term
from suanpei.market.quotes.ways_of_paying import WAYS_OF_PAYING, name_way

if TYPE_CHECKING:
    from suanpei.market.offer import Tier
    from suanpei.market.quotes.quoted import QuotedOffer
    from suanpei.market.terms import Term
    from suanpei.messages import Message


def choose_term(quoted: QuotedOffer, provider: str, said: list[Message]) -> Term:
    """Take the term stated, else what the way of paying or the time that the price is for asks at least."""
    if quoted.term is not None:
        return quoted.term
    pricing = quoted.pricing
    if pricing is None:
        pricing = name_way(quoted.readings[0].period_hours) if quoted.readings else "on_demand"
    term = WAYS_OF_PAYING[pricing].term
    said.append(say_term(term, provider))
    return term


def choose_tier(quoted: QuotedOffer, term: Term) -> Tier:
    """Name the tier: spot and marketplace by the way of paying, whole nodes by the month, else cards on a platform."""
    if quoted.pricing == "spot":
        return "spot"
    if quoted.pricing == "marketplace":
        return "marketplace"
    return "server" if term.is_month_billed and (quoted.accelerators_per_unit or 1) > 1 else "platform"

"""A discount that the words of a row name, and what it makes of the price."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.market.quotes.prices.draft import Draft


def add_discount(draft: Draft) -> None:
    """Apply a discount only where the price is said to be before it; else show what it would give."""
    kept, terms = draft.terms.kept_fraction, draft.terms
    if kept is None or draft.taken is None or terms.is_discount_applied:
        return
    percent = f"{float((1 - kept) * 100):g}"
    first = draft.readings[0]
    reduced = replace(
        first,
        amount=first.amount * kept,
        why=Message("with the discount of {percent} % that the words name", percent=percent),
    )
    if terms.is_discount_applied is False:
        draft.flag(f"discount_{percent}pct_applied")
        draft.taken *= kept
        draft.readings = [reduced, *draft.readings]
    else:
        draft.flag(f"discount_{percent}pct_not_applied")
        draft.readings = [first, reduced, *draft.readings[1:]]

"""A list price beside the price after the discount, in two columns of a row: one offer, at what is really asked."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.prices.draft import Draft
    from suanpei.market.quotes.text.words import QuoteWords

_TOLERANCE = Fraction(1, 100)
"""How far a price may lie from list price times discount: rounding is smaller. [-]"""
_PERCENT = 100


def name_kind(heading: str, words: QuoteWords) -> str:
    """Tell whether a heading names a ``list`` price or the ``present`` one; empty where it says neither.

    Args:
        heading: In plain form. [-]
        words: What words mean. [-]
    """
    if words.terms["present_price"].has(heading) or words.terms["already_discounted"].has(heading):
        return "present"
    return "list" if words.terms["list_price"].has(heading) else ""


def join_list_prices(drafts: Sequence[Draft]) -> list[Draft]:
    """Keep the present price of each pair in a row and say which discount it has; a pair that disagrees stays.

    Args:
        drafts: Of one row, each with an amount. [-]
    """
    kept = list(drafts)
    for listed in [draft for draft in drafts if draft.kind == "list"]:
        present = next((one for one in kept if one.kind == "present" and _key(one) == _key(listed)), None)
        if present is None or present.amount is None or listed.amount is None:
            continue
        ratio = present.amount.low * present.unit_scale / (listed.amount.low * listed.unit_scale)
        stated = listed.terms.kept_fraction
        if ratio > 1 or (stated is not None and abs(ratio - stated) > _TOLERANCE * stated):
            for draft in (present, listed):
                draft.flag("prices_disagree")
            continue
        present.terms = replace(present.terms, kept_fraction=None, is_discount_applied=None)
        if ratio < 1:
            present.flag(f"discount_{round(float((1 - ratio) * _PERCENT), 1):g}pct_applied")
        kept.remove(listed)
    return kept


def _key(draft: Draft) -> tuple[object, ...]:
    """What a list price and the price after the discount share."""
    terms = replace(draft.terms, kept_fraction=None, is_discount_applied=None)
    return terms, draft.unit.billed, draft.unit.period, draft.currency, draft.tax

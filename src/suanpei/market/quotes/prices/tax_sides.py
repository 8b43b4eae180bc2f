"""One price quoted twice, with and without tax: one offer.

In two columns of a row the side that settles both is kept; in running text the side that is named first, beside the
other as it is quoted.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.market.terms import MOST_TAX_FRACTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.prices.draft import Draft

_ROUNDING = Fraction(1, 200)
"""How far two sides may differ by the rounding of what is written; a per cent of tax more is twice that. [-]"""
_PERCENT = 100


def join_tax_sides(drafts: Sequence[Draft]) -> list[Draft]:
    """Join the drafts of a row that are one price with and without tax.

    The side whose rate is stated is kept, the one with tax where both state it. Where neither does, two amounts that
    are a whole per cent apart state it themselves. Sides that contradict each other both stay, flagged.
    """
    kept = list(drafts)
    for inside in [draft for draft in drafts if draft.tax.state == "in"]:
        outside = next((one for one in kept if one.tax.state == "out" and _key(one) == _key(inside)), None)
        if outside is None or inside.amount is None or outside.amount is None:
            continue
        ratio = inside.amount.low * inside.unit_scale / (outside.amount.low * outside.unit_scale)
        stated = inside.tax.rate_fraction if inside.tax.rate_fraction is not None else outside.tax.rate_fraction
        if stated is None:
            if (rate := _whole_percent(ratio)) is not None:
                inside.tax = replace(inside.tax, rate_fraction=rate)
                kept.remove(outside)
                continue
        elif _fits(ratio, stated):
            kept.remove(inside if inside.tax.rate_fraction is None else outside)
            continue
        for draft in (inside, outside):
            draft.flag("tax_sides_differ")
    return kept


def join_quoted_side(draft: Draft) -> None:
    """Hold a price against the same price on the other side of tax, where its words give both.

    A whole per cent between them states the rate; a stated rate that does not lead from one to the other is flagged.

    Args:
        draft: Changed in place. [-]
    """
    amount = draft.amount
    if amount is None or amount.other_tax_side is None or draft.tax.state == "unknown":
        return
    sides = (amount.low, amount.other_tax_side)
    ratio = max(sides) / min(sides)
    stated = draft.tax.rate_fraction
    if stated is None:
        draft.tax = replace(draft.tax, rate_fraction=_whole_percent(ratio))
    elif not _fits(ratio, stated):
        draft.flag("tax_sides_differ")


def _whole_percent(ratio: Fraction) -> Decimal | None:
    """Give the rate that two sides state themselves: they are a whole per cent apart. [-]"""
    percent = (ratio - 1) * _PERCENT
    is_rate = percent.denominator == 1 and 0 < percent <= MOST_TAX_FRACTION * _PERCENT
    return Decimal(int(percent)) / _PERCENT if is_rate else None


def _fits(ratio: Fraction, stated: Decimal) -> bool:
    return abs(ratio / (1 + Fraction(stated)) - 1) <= _ROUNDING


def _key(draft: Draft) -> tuple[object, ...]:
    """What the two sides of one price share."""
    return draft.terms, draft.unit.billed, draft.unit.period, draft.currency

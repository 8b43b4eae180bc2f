"""One price quoted twice, with and without tax, in two columns of a row: one offer, on the side that settles both."""

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
            percent = (ratio - 1) * _PERCENT
            if percent.denominator == 1 and 0 < percent <= MOST_TAX_FRACTION * _PERCENT:
                inside.tax = replace(inside.tax, rate_fraction=Decimal(int(percent)) / _PERCENT)
                kept.remove(outside)
                continue
        elif abs(ratio / (1 + Fraction(stated)) - 1) <= _ROUNDING:
            kept.remove(inside if inside.tax.rate_fraction is None else outside)
            continue
        for draft in (inside, outside):
            draft.flag("tax_sides_differ")
    return kept


def _key(draft: Draft) -> tuple[object, ...]:
    """What the two sides of one price share."""
    return draft.terms, draft.unit.billed, draft.unit.period, draft.currency

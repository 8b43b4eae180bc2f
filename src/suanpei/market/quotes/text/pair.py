"""Two prices that a slash joins and one unit ends: ``11.5/12.2 元/卡/时``, ``7.5/8.2万/台/月``."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.market.quotes.text.amount import Amount
    from suanpei.market.quotes.text.words import QuoteWords

_MOST_RATIO = 3
"""Numbers further apart are no two prices of one card. [-]"""
_DIGITS = r"\d{1,9}(?:\.\d{1,9})?"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Where two prices stand. [-]"""

    first: int
    slash: int
    second: int


class PairReader:
    """Finds pairs with one catalogue's words."""

    def __init__(self, words: QuoteWords) -> None:
        unit = rf"(?:{words.currencies.source}|[/每一]\s*(?:{words.billed.source}|{words.periods.source}))"
        self._pair = re.compile(
            rf"(?<![\d.,/a-z-])(?P<first>{_DIGITS})\s?(?P<slash>/)\s?(?P<second>{_DIGITS})"
            rf"(?=\s?(?:(?:万|w(?![a-z]))|{unit}))"
        )

    def find(self, text: str) -> tuple[Pair, ...]:
        """Find the pairs of a plain text; both numbers bare, and less than three times apart."""
        if "/" not in text:
            return ()
        pairs: list[Pair] = []
        for found in self._pair.finditer(text):
            first, second = Fraction(found["first"]), Fraction(found["second"])
            if 0 < first < _MOST_RATIO * second < _MOST_RATIO**2 * first:
                pairs.append(Pair(first=found.start("first"), slash=found.start("slash"), second=found.start("second")))
        return tuple(pairs)


def part_pairs(text: str, pairs: tuple[Pair, ...]) -> str:
    """Write a bar for the slash of each pair: a number behind a slash is no price of its own elsewhere."""
    for pair in pairs:
        text = f"{text[: pair.slash]}|{text[pair.slash + 1 :]}"
    return text


def lend_units(amounts: tuple[Amount, ...], pairs: tuple[Pair, ...], scales: Mapping[int, int]) -> tuple[Amount, ...]:
    """Give the first of each pair what stands behind the second.

    Args:
        amounts: In the order of the text. [-]
        pairs: Found in it. [-]
        scales: What the number at a position is multiplied by, where a word such as 万 says so. [-]
    """
    by_start = {amount.start: amount for amount in amounts}
    for pair in pairs:
        first, second = by_start.get(pair.first), by_start.get(pair.second)
        if first is None or second is None:
            continue
        scale = scales.get(pair.second, 1)
        by_start[pair.first] = replace(
            first,
            low=first.low * scale,
            high=first.high * scale,
            currency=second.currency,
            is_scaled=second.is_scaled,
            unit=second.unit,
        )
    return tuple(by_start[amount.start] for amount in amounts)

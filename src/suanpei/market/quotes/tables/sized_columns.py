"""Columns headed by a number of cards (``1卡 | 8卡``, ``单卡 | 整机``): prices for so many, or per card from some on.

A price per card never rises with the number of cards. So where the amounts of every row rise with it, to at least half
as much per card, each column is the price of so many cards; else the headings are quantities (`layout.quantity`).
"""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suanpei.market.quotes.document import Line
    from suanpei.market.quotes.text.clue import ClueReader

_LEAST_KEPT = Fraction(1, 2)
"""What at least is left of the price of one card where several are rented together: discounts are smaller. [-]"""
_LEAST_COLUMNS = 2
_LEAST_WHOLE_GPUS = 2
"""Cards that a machine of unknown size has at least. [-]"""


class SizedColumns:
    """Finds such columns with one catalogue's words."""

    def __init__(self, clues: ClueReader) -> None:
        words = clues.words
        cards = rf"(?:{words.counts['cards'].source}|{words.counts['loose_cards'].source})"
        self._amounts = clues.amounts
        self._counted = re.compile(rf"(?P<count>\d{{1,3}})\s*[x×*]?\s*{cards}|(?P<times>\d{{1,3}})\s*[x×*]")
        self._one = words.counts["one"]
        self._implied = words.implied

    def find(self, headings: Mapping[int, str], below: Sequence[Line]) -> dict[int, str]:
        """Find the columns that are prices of so many cards.

        Args:
            headings: By column, what brackets hold left out. [-]
            below: Rows that stand below. [-]

        Returns:
            What each price is for, as a unit, by column; empty where the columns are none.
        """
        sizes = {column: size for column, heading in headings.items() if (size := self._size(plain(heading)))}
        order = sorted(sizes, key=lambda column: sizes[column][0])
        if len(order) < _LEAST_COLUMNS or len({gpus for gpus, _ in sizes.values()}) < len(order):
            return {}
        rows = [self._priced(row, order) for row in below]
        if not any(len(row) >= _LEAST_COLUMNS for row in rows):
            return {}
        for row in rows:
            for before, after in itertools.pairwise(row):
                if row[after] / row[before] < sizes[after][0] / sizes[before][0] * _LEAST_KEPT:
                    return {}
        return {column: unit for column, (_, unit) in sizes.items()}

    def _size(self, heading: str) -> tuple[Fraction, str] | None:
        """Read how many cards a heading names, with that as a unit; None where it names anything else."""
        if self._one.pattern.fullmatch(heading):
            return Fraction(1), f"/{heading}"
        if found := self._counted.fullmatch(heading):
            count = int(found["count"] or found["times"])
            return (Fraction(count), f"/{count}卡") if count else None
        found = self._implied.pattern.fullmatch(heading)
        is_node = found is not None and self._implied.group(found.group()) == "node"
        return (Fraction(_LEAST_WHOLE_GPUS), f"/{heading}") if is_node else None

    def _priced(self, row: Line, order: Sequence[int]) -> dict[int, Fraction]:
        """List the amounts of a row by column, from the fewest cards to the most."""
        found: dict[int, Fraction] = {}
        for column in order:
            amounts = self._amounts.read(plain(row.cells[column]), is_price=True) if column < len(row.cells) else ()
            if amounts and amounts[0].low > 0:
                found[column] = amounts[0].low
        return found

"""Quantities in headings: ``1-7台``, ``8台以上``, ``64-255 GPUs``, ``256+ GPUs`` head prices that hold for so many."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.words import plain

if TYPE_CHECKING:
    from suanpei.market.quotes.text.words import QuoteWords


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantity:
    """How many must be rented for a price to hold."""

    least: int
    unit: str
    """``machine`` or ``card``."""
    words: str
    """As written."""

    def gpus(self, unit_gpus: int | None) -> int:
        """Count the cards, at least: a machine of unknown size has one or more. [-]"""
        return self.least if self.unit == "card" else self.least * (unit_gpus or 1)


class QuantityReader:
    """Reads quantities with one catalogue's words."""

    def __init__(self, words: QuoteWords) -> None:
        machines, cards = words.counts["machines"].source, words.counts["loose_cards"].source
        unit = rf"个?(?:(?P<machine>{machines})|(?P<card>{cards}))"
        least, upper = r"(?P<least>\d{1,5})", r"\d{1,5}"
        above = rf"(?:及?(?:{words.from_after.source})|or more|and above|\+)"
        below = rf"(?:及?(?:{words.most_after.source})|or (?:fewer|less))"
        more, most = f"(?:{words.from_before.source}|[≥>])", f"(?:{words.most_before.source}|少于|不足|under|[<≤])"
        self._ranges = tuple(
            re.compile(pattern)
            for pattern in (
                rf"{least}\s*(?:{machines}|{cards})?\s*(?:-|~|至|到|to)\s*{upper}\s*{unit}",
                rf"{more}?\s*{least}\s*\+?\s*{unit}\s*{above}?",
            )
        )
        self._least_one = tuple(
            re.compile(pattern) for pattern in (rf"{most}\s*{upper}\s*{unit}", rf"{upper}\s*{unit}\s*{below}")
        )

    def read(self, heading: str) -> Quantity | None:
        """Read a heading that is nothing but a quantity; None where it is another.

        Args:
            heading: As written, without its unit of price. [-]

        Example:
            >>> from suanpei.machine.catalogue import load_catalogue
            >>> from suanpei.market.quotes.text.words import load_words
            >>> QuantityReader(load_words(load_catalogue())).read("8台以上")
            Quantity(least=8, unit='machine', words='8台以上')
        """
        for pattern in (*self._least_one, *self._ranges):
            if found := pattern.fullmatch(plain(heading)):
                least = int(found.groupdict().get("least") or 1)
                return Quantity(least=least, unit="machine" if found["machine"] else "card", words=heading)
        return None

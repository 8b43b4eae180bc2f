"""How many must be rented for a price: ``1-7台`` and ``256+ GPUs`` as headings and beside prices, ``2台起租``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.words import plain

if TYPE_CHECKING:
    from suanpei.market.quotes.text.words import QuoteWords

_OF_ONE_PRICE = 3
"""How many of the patterns for tiers may also stand beside a single price. [-]"""
_CLAUSE_END = re.compile(r"[,;。|、]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Quantity:
    """How many must be rented for a price to hold."""

    least: int
    unit: str
    """``machine`` or ``card``."""
    words: str
    """As written."""
    is_order: bool = False
    """Whether it is the least that is rented at all (``2台起租``), and no other price holds for fewer."""

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
        begins = r"(?<![\d.a-z/-])"
        told = rf"(?:{machines}|{cards})"
        self._tiers = tuple(
            re.compile(begins + pattern)
            for pattern in (
                rf"{least}\s*{told}?\s*(?:-|~|至|到|to)\s*{upper}\s*{unit}",
                rf"{more}?\s*{least}\s*\+\s*{unit}",
                rf"{more}?\s*{least}\s*{unit}\s*{above}",
                rf"{least}\s*{unit}\s*(?:{words.counts['together'].source})",
                rf"{most}\s*{upper}\s*{unit}",
                rf"{upper}\s*{unit}\s*{below}",
            )
        )
        self._orders = (
            re.compile(rf"{begins}{least}\s*{unit}\s*(?:起[租订拿](?!期|\s*[:为]?\s*[\d半])|minimum)"),
            re.compile(rf"(?:{words.counts['least'].source})(?:\s*order)?\s*[:为]?\s*{least}\s*{unit}(?:起)?"),
        )
        self._stock = words.stock

    def read(self, heading: str) -> Quantity | None:
        """Read a heading that is nothing but a quantity; None where it is another.

        Args:
            heading: As written, without its unit of price. [-]

        Example:
            >>> from suanpei.machine.catalogue import load_catalogue
            >>> from suanpei.market.quotes.text.words import load_words
            >>> QuantityReader(load_words(load_catalogue())).read("8台以上")
            Quantity(least=8, unit='machine', words='8台以上', is_order=False)
        """
        for pattern in (*self._least_one, *self._ranges):
            if found := pattern.fullmatch(plain(heading)):
                least = int(found.groupdict().get("least") or 1)
                return Quantity(least=least, unit="machine" if found["machine"] else "card", words=heading)
        return None

    def find(self, text: str, *, is_tier: bool) -> tuple[Quantity, tuple[int, int]] | None:
        """Find a quantity in running text, and where it stands; what is on hand is none.

        Args:
            text: In plain form. [-]
            is_tier: Whether the text gives other prices for other quantities: ``8台以上`` is then of one price. [-]
        """
        found = self.find_order(text)
        if found is not None:
            return found
        for pattern in self._tiers if is_tier else self._tiers[:_OF_ONE_PRICE]:
            quantity = self._quantity(text, pattern, is_order=not is_tier)
            if quantity is not None and (is_tier or quantity[0].least > 1):
                return quantity
        return None

    def find_order(self, text: str) -> tuple[Quantity, tuple[int, int]] | None:
        """Find the least that is rented at all in a plain text, and where it stands: ``2台起租``."""
        found = (self._quantity(text, pattern, is_order=True) for pattern in self._orders)
        return next((quantity for quantity in found if quantity is not None and quantity[0].least > 1), None)

    def _quantity(
        self, text: str, pattern: re.Pattern[str], *, is_order: bool
    ) -> tuple[Quantity, tuple[int, int]] | None:
        found = pattern.search(text)
        if found is None or self._is_stock(text, found):
            return None
        least = int(found.groupdict().get("least") or 1)
        unit = "machine" if found["machine"] else "card"
        return Quantity(least=least, unit=unit, words=found.group().strip(), is_order=is_order), found.span()

    def without_tiers(self, text: str) -> str:
        """Take the quantities of single prices out of a plain text; those that hold for all prices stay."""
        for pattern in self._tiers:
            text = pattern.sub(" ", text)
        return text

    def _is_stock(self, text: str, found: re.Match[str]) -> bool:
        """Tell whether words for what is on hand stand in the same clause."""
        before, behind = _CLAUSE_END.split(text[: found.start()])[-1], _CLAUSE_END.split(text[found.end() :])[0]
        return self._stock.has(before) or self._stock.has(behind)

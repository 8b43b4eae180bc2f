"""A piece of running text that gives one card several prices: each with its own words and those that all share.

``月租 4.2万, 3个月起, 年租 45万``: what stands behind a price up to the words right before the next one is its own,
what stands before the first price is shared, and so is what follows the last one after a comma.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.words import as_positioned, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.layout.entries import Cell
    from suanpei.market.quotes.layout.quantity import QuantityReader
    from suanpei.market.quotes.text.amount import Amount
    from suanpei.market.quotes.text.clue import ClueReader

_SEPARATORS = re.compile(r"[,;。|、/\n]+")
_WHOLE_NUMBER = re.compile(r"\d[\d.,]*\s*(?:(?:[万千w]|[kK](?![a-zA-Z]))\d{0,4}千?)?")
_BARE = re.compile(r"[\d.]+")
_DIGITS = re.compile(r"^[\d.]+")
_JOINED = re.compile(r"\S+(?=\s)")
"""Words that stand right behind a price and apart from the next one: ``12元/卡时按量 10元/卡时``."""
_BEHIND = re.compile(r"\s*\([^()]*\)")
"""A remark in brackets right behind a price."""


class PriceParter:
    """Parts pieces with one catalogue's words."""

    def __init__(self, clues: ClueReader, quantities: QuantityReader) -> None:
        self._clues = clues
        self._quantities = quantities
        words = clues.words
        self._sold_together = re.compile(
            rf"(?:{words.implied.source})|\d{{1,2}}\s*(?:{words.counts['cards'].source})(?:{words.billed.source})?"
        )

    def part(self, piece: str) -> list[tuple[Cell, ...]]:
        """Give the cells of each price of a piece, its own words first; of a piece with at most one price, the piece.

        Args:
            piece: In half width. [-]
        """
        amounts = self._clues.read("text", piece).amounts
        text = as_positioned(piece)
        if len(amounts) < 2:
            return [self._of_one_price(piece, text, amounts)]
        cuts = [_cut(text, one.end, other.start) for one, other in itertools.pairwise(amounts)]
        shared = _SEPARATORS.search(text, amounts[-1].end)
        end = shared.start() if shared else len(text)
        behind = self._shared_behind(text[end:].strip(" ,;。、|"))
        head = text[: amounts[0].start]
        lent = [_lent_unit(text, one, other) for one, other in itertools.pairwise(amounts)]
        units = _shared_units(text, amounts)
        began = max(head.rfind(separator) for separator in ",;。、:(") + 1
        first = f"{text[: cuts[0]]}{lent[0]}"
        parts = [self._cells(first, "", behind, self._duration(text[began : cuts[0]]), units[0])]
        for start, stop, unit, shared_unit in zip(cuts, [*cuts[1:], end], [*lent[1:], ""], units[1:], strict=True):
            own = text[start:stop].strip(" ,;。、|/") + unit
            parts.append(self._cells(own, self._shared_head(head, own), behind, self._duration(own), shared_unit))
        return parts

    def _of_one_price(self, piece: str, text: str, amounts: Sequence[Amount]) -> tuple[Cell, ...]:
        """Give the cells of a piece with at most one price; a bare 36个月 in it is its term."""
        for amount in amounts:
            text = f"{text[: amount.start]} {text[amount.end :]}"
        terms = self._clues.read("text", piece).terms
        is_stated = terms is not None and terms.minimum_hours is not None
        term = "" if is_stated or not amounts else self._clues.terms.find_bare_term(plain(text))
        return (("text", piece), ("term", term)) if term else (("text", piece),)

    def _duration(self, own: str) -> str:
        """Give the time that one of several prices is for, where its own words name one and no shortest rental."""
        said = self._clues.read("text", own)
        if said.terms is not None and said.terms.minimum_hours is not None:
            return ""
        text = plain(own)
        for amount in reversed(said.amounts):
            text = f"{text[: amount.start]} {text[amount.end :]}"
        return self._clues.terms.find_duration(text)

    def _shared_head(self, head: str, own: str) -> str:
        """Leave out of the words before the first price what the own words of another say otherwise."""
        head = re.sub(self._clues.words.pricing.source, " ", self._quantities.without_tiers(head), flags=re.IGNORECASE)
        said = self._clues.read("text", own)
        if said.implied or said.node_gpus:
            head = self._sold_together.sub(" ", head)
        return head.strip(" ,;。、|:")

    def _shared_behind(self, behind: str) -> str:
        """Leave several ways of paying out of the words behind the last price: which price is for which stays open."""
        pricing = self._clues.words.pricing
        if len(pricing.groups(plain(behind))) < 2:
            return behind
        return re.sub(pricing.source, " ", behind, flags=re.IGNORECASE)

    @staticmethod
    def _cells(own: str, head: str, behind: str, term: str, unit: str) -> tuple[Cell, ...]:
        cells = (("text", own), ("term", term), ("unit", unit), ("text", head), ("text", behind))
        return tuple(cell for cell in cells if cell[1])


def _lent_unit(text: str, amount: Amount, following: Amount) -> str:
    """Give the unit that a bare number before a slash shares with the price behind it: ``11.5/12.2元/卡/时``."""
    if text[amount.end : following.start].strip() != "/" or not _BARE.fullmatch(text[amount.start : amount.end]):
        return ""
    return _DIGITS.sub("", text[following.start : following.end])


def _shared_units(text: str, amounts: Sequence[Amount]) -> list[str]:
    """Give what each price without a unit is for: the same as the one beside it that is less than twice apart."""
    units = ["" if one.unit.is_empty else without_number(text[one.start : one.end]) for one in amounts]
    shared = [""] * len(amounts)
    forward = list(itertools.pairwise(range(len(amounts))))
    for before, now in (*forward, *((later, earlier) for earlier, later in reversed(forward))):
        if not units[now] and units[before] and are_alike(amounts[before], amounts[now]):
            units[now] = shared[now] = units[before]
    return shared


def _cut(text: str, start: int, end: int) -> int:
    """Find where the words of a price end and those before the next one begin."""
    if bracket := _BEHIND.match(text, start, end):
        start = bracket.end()
    separators = list(_SEPARATORS.finditer(text, start, end))
    if separators:
        return separators[-1].start()
    joined = _JOINED.match(text, start, end)
    return joined.end() if joined else start


def are_alike(before: Amount, now: Amount) -> bool:
    """Tell whether a price without a unit is another sum for what a price before it is for: less than twice apart."""
    return now.unit.is_empty and before.low < 2 * now.low < 4 * before.low


def without_number(words: str) -> str:
    """Give the unit of a price in its own words.

    Example:
        >>> without_number("7万5/台/月"), without_number("每台每月4.2万")
        ('/台/月', '每台每月')
    """
    return _WHOLE_NUMBER.sub("", words, count=1).strip()

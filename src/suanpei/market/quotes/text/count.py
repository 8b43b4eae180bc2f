"""Counts in text: cards of a node (``8卡整机``, ``8x``, ``8-GPU node``), what is on hand (``现货16台``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.link import LinkReader
from suanpei.market.quotes.text.words import NOTHING_WORDS

if TYPE_CHECKING:
    from suanpei.market.quotes.text.words import QuoteWords

MOST_GPUS = 100_000
"""More cards than any seller offers at once. [-]"""
_CARDS_BEHIND = re.compile(r"(?<=[a-z\d)])\s*[x×*]\s*(?P<count>\d{1,2})(?!\s*[\dg.])")
_NUMBER = r"(?<![\d.])(?P<count>\d{1,6})\s*[余多]?\s*"
_BARE = re.compile(r"\d{1,6}")

MOST_USUAL_GPUS = 16
"""More cards (``64x H100``, 卡数 256) are what is on hand, not one machine. [-]"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stock:
    """What is on hand, in what it was counted."""

    count: int
    unit: str
    """``machine``, ``card``, or empty where a bare number stands."""


NONE_ON_HAND = Stock(count=0, unit="machine")


class CountReader:
    """Reads counts with one catalogue's words."""

    def __init__(self, words: QuoteWords) -> None:
        self._links = LinkReader(words)
        cards, loose = words.counts["cards"].source, words.counts["loose_cards"].source
        machines, stock = words.counts["machines"].source, words.stock.source
        self._cards = re.compile(
            rf"(?<![\d.\-~])(?P<count>\d{{1,3}})\s*-?\s*(?:{cards}|x(?![a-z\d]|\s*\d)|×(?!\s*\d)"
            r"|[x×*]\s*(?=[a-z\u4e00-\u9fff]))"
        )
        self._card_range = re.compile(rf"(?<!\d)1\s*[-~至到]\s*\d{{1,2}}\s*(?:{cards}|x|×)")
        self._one = re.compile(rf"(?:{words.counts['one'].source})|(?<!\d)1\s*-?\s*gpu(?!s)")
        self._machines = re.compile(rf"{_NUMBER}(?:{machines})(?!\s*起)")
        self._loose_cards = re.compile(rf"{_NUMBER}(?:{loose})")
        unit = rf"(?:(?P<machine{{0}}>{machines})|(?P<card{{0}}>{loose}))"
        self._stock = re.compile(
            rf"(?:{stock})[^\d;。,]{{0,6}}?(?P<near>\d{{1,6}})\s*(?:{unit.format('')})?(?![\d.%])"
            rf"|(?<![\d.])(?P<far>\d{{1,6}})\s*{unit.format('2')}\s*(?:{stock})"
            rf"(?![^\d;。,]{{0,6}}\d)"
        )
        self._unsold, self._later = words.lines["unsold"], words.lines["later"]
        self._billed = words.billed
        self._none = words.counts["none_on_hand"].pattern

    @lru_cache(maxsize=16_384)  # noqa: B019  readers live as long as their catalogue
    def read_node_gpus(self, text: str, *, is_count: bool) -> int | None:
        """Read how many cards are sold together; None where the text does not say.

        Args:
            text: In plain form. [-]
            is_count: Whether it stands under a heading such as 卡数, where a bare number counts cards. [-]
        """
        bare = _stripped(text)
        if is_count and bare.isdecimal():
            return _sane(int(bare))
        if self._card_range.search(bare):
            return 1
        text = self._stock.sub(" ", self._links.without(text))
        found = self._cards.search(text) or _CARDS_BEHIND.search(text)
        if found is not None:
            return _sane(int(found["count"]))
        return 1 if self._one.search(text) else None

    @lru_cache(maxsize=16_384)  # noqa: B019  readers live as long as their catalogue
    def read_stock(self, text: str, *, is_stock: bool, heading: str = "") -> Stock | None:
        """Read what is on hand; None where the text does not say.

        Args:
            text: In plain form. [-]
            is_stock: Whether it stands under a heading such as 数量: a word for nothing, or a date of delivery without
                a count, then says that none is on hand. [-]
            heading: Of its column, in plain form: 可用台数 counts machines. [-]
        """
        if self._unsold.has(text):
            return NONE_ON_HAND
        if found := self._stock.search(text):
            return Stock(count=int(found["near"] or found["far"]), unit=_unit(found))
        if is_stock and text not in NOTHING_WORDS:
            for pattern, unit in ((self._machines, "machine"), (self._loose_cards, "card")):
                if found := pattern.search(text):
                    return Stock(count=int(found["count"]), unit=unit)
            bare = _stripped(text)
            if _BARE.fullmatch(bare):
                return Stock(count=int(bare), unit=self._counted(heading))
        if is_stock:
            return NONE_ON_HAND if self._none.fullmatch(text.strip("() ")) or self._later.has(text) else None
        if found := self._machines.search(self._links.without(text)):
            return Stock(count=int(found["count"]), unit="machine")
        return None

    def _counted(self, heading: str) -> str:
        """Tell what a bare number counts under a heading such as 数量(台); empty where the heading does not say."""
        groups = self._billed.groups(heading)
        return "machine" if "node" in groups else "card" if "card" in groups else ""


def _stripped(text: str) -> str:
    return text.strip(" +")


def _sane(count: int) -> int | None:
    return count if 1 <= count <= MOST_GPUS else None


def _unit(found: re.Match[str]) -> str:
    if found["machine"] or found["machine2"]:
        return "machine"
    return "card" if found["card"] or found["card2"] else ""

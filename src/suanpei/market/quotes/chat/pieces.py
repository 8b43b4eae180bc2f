"""Pieces of running text, each of one card, made entries: one per price, with the quantity that it holds for."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.market.quotes.chat.card_pieces import part_clauses
from suanpei.market.quotes.chat.parted_prices import PriceParter
from suanpei.market.quotes.layout.entries import Entry
from suanpei.market.quotes.layout.quantity import QuantityReader
from suanpei.market.quotes.text.date import NO_DATE
from suanpei.market.quotes.text.words import as_positioned, plain
from suanpei.messages import Message, excerpt

if TYPE_CHECKING:
    from suanpei.market.quotes.chat.card_pieces import CardParter
    from suanpei.market.quotes.layout.entries import Cell
    from suanpei.market.quotes.layout.lines import LineReader
    from suanpei.market.quotes.layout.quantity import Quantity
    from suanpei.market.quotes.text.clue import ClueReader

_BARE_NUMBER = re.compile(
    r"(?:(?<![\d.])\d{1,4}\s*[卡张台]|[拿要给到收报价]|一起)\s*(?:\d{1,3}\.\d{1,2}|\d{4,6})(?=$|[\s,;。、)])"
)
_LEAST_NOTE = 3
"""A clause shorter than this that says nothing of an offer is no remark. [characters]"""


class PieceReader:
    """Makes the entries of pieces with one catalogue's words."""

    def __init__(self, lines: LineReader, clues: ClueReader, parter: CardParter) -> None:
        self._kinds = lines
        self._clues = clues
        self._parter = parter
        self._quantities = QuantityReader(clues.words)
        lowered = clues.words.terms["lowered_to"].source
        self._lowered = re.compile(rf"(?<![\w.])\d{{1,7}}(?:\.\d{{1,4}})?(?=\s*(?:{lowered}))")
        self._prices = PriceParter(clues, self._quantities)

    def make(self, row: int, piece: str) -> tuple[list[Entry], list[Message]]:
        """Make one entry per price of a piece.

        Args:
            row: Of its line. [-]
            piece: In half width. [-]

        Returns:
            The entries, and what none of them takes up.
        """
        left_out = self._clues.read_left_out(piece)
        bare = (words for words in self._bare_numbers(piece) if not any(words in one for one in left_out))
        unread = [Message("a sum beside the price of an offer: {words}", words=words) for words in (*left_out, *bare)]
        note = "; ".join(clause for clause in part_clauses(piece) if self._is_note(clause))
        remark = (("note", note),) if note else ()
        foreign = self._parter.foreign_name(piece)
        card = (("card", foreign),) if foreign else ()
        entries: list[Entry] = []
        parts = self._prices.part(piece)
        order = self._quantities.find_order(plain(piece))
        for number, cells in enumerate(parts):
            if number and self._kinds.is_aside(cells[0][1], is_beside=True):
                unread.append(Message("the price of another thing than a card: {words}", words=excerpt(cells[0][1])))
            else:
                quantity, own = self._take_quantity(cells, is_tier=len(parts) > 1)
                quantity = quantity or (order[0] if order else None)
                entries.append(Entry(row=row, cells=(*own, *card, *remark), quantity=quantity))
        return entries, unread

    def _bare_numbers(self, piece: str) -> list[str]:
        """Find what may be further prices, and is none as it stands: ``8卡1.7``, ``一起拿9600``."""
        amounts = self._clues.read("text", piece).amounts
        text = as_positioned(piece)
        if not amounts or len(text) != len(plain(piece)):
            return []
        return [
            found.group().strip()
            for found in (*_BARE_NUMBER.finditer(text), *self._lowered.finditer(text))
            if not any(amount.start < found.end() and found.start() < amount.end for amount in amounts)
        ]

    def shared_head(self, head: str) -> str:
        """Leave out of the words before a price what is that price's alone: its way of paying and its quantity."""
        return re.sub(self._clues.words.pricing.source, " ", self._quantities.without_tiers(head), flags=re.IGNORECASE)

    def _take_quantity(self, cells: tuple[Cell, ...], *, is_tier: bool) -> tuple[Quantity | None, tuple[Cell, ...]]:
        """Cut out of the cells of a price how many must be rented for it; its own words count first."""
        for number, (role, words) in enumerate(cells):
            text = as_positioned(words)
            found = self._quantities.find(plain(text), is_tier=is_tier and not number) if role == "text" else None
            if found is None:
                continue
            quantity, (start, end) = found
            quantity = replace(quantity, words=text[start:end].strip())
            return quantity, (*cells[:number], (role, f"{text[:start]} {text[end:]}"), *cells[number + 1 :])
        return None, cells

    def _is_note(self, clause: str) -> bool:
        """Tell whether a clause says nothing that an offer has a field for."""
        if len(clause) < _LEAST_NOTE or self._kinds.has_card([clause]) or self._clues.read_date(clause) != NO_DATE:
            return False
        if self._clues.read("text", clause).amounts:
            return False
        if self._quantities.find(plain(clause), is_tier=False) is not None:
            return False
        if self._kinds.speaks_of_later(clause):
            return True
        stands_for_price = self._clues.words.no_price.has(plain(clause)) and not re.search(r"\d", clause)
        return not (stands_for_price or self._clues.read("text", clause).is_telling)

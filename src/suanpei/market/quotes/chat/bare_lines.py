"""Offers of a message that say little: what only takes up a question, and a number that is a price by a remark."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import name_cell
from suanpei.messages import Message, excerpt

if TYPE_CHECKING:
    from suanpei.market.quotes.chat.card_pieces import CardParter
    from suanpei.market.quotes.layout.entries import Block, Entry
    from suanpei.market.quotes.layout.lines import LineReader
    from suanpei.market.quotes.text.clue import ClueReader

_LAST_NUMBER = re.compile(r"(?<![\w.,/×*+-])(\d{1,3}(?:,\d{3})+|\d{1,7}(?:\.\d{1,4})?)\s*$")
_LEAST_BEHIND_CARD = 200
"""A smaller whole number right behind a card may be its memory. [-]"""


class BareLines:
    """Settles the offers of one sheet that say little."""

    def __init__(self, sheet: str | None, lines: LineReader, clues: ClueReader, parter: CardParter) -> None:
        self._name = sheet
        self._kinds = lines
        self._clues = clues
        self._parter = parter

    def leave_asked(self, block: Block) -> list[tuple[str, Message]]:
        """Leave out what only takes up the buyer's question: ``您要的A800`` without a price.

        Args:
            block: Changed in place. [-]

        Returns:
            The cells left out, and why.
        """
        kept: list[Entry] = []
        left: list[tuple[str, Message]] = []
        for entry in block.entries:
            said = said_of(entry, self._kinds)
            clues = self._clues.read("text", said)
            if clues.amounts or clues.stock or not self._kinds.is_asked(said):
                kept.append(entry)
            else:
                reason = Message("what was asked for, without a price: {words}", words=excerpt(said))
                left.append((name_cell(self._name, entry.row), reason))
        block.entries = kept
        return left

    def take_prices(self, block: Block) -> None:
        """Take the last number of a line for its price where a remark gives the unit of all: ``单位：元/台/月``."""
        said = [self._clues.read("section", remark.text) for remark in block.remarks]
        if not any(one.unit is not None and one.unit.period and (one.currency or one.unit.billed) for one in said):
            return
        for number, entry in enumerate(block.entries):
            (role, words), *others = entry.cells
            found = _LAST_NUMBER.search(words)
            if found is None or role != "text" or self._clues.read("text", words).amounts:
                continue
            head = words[: found.start()].rstrip(" :")
            spans = self._parter.spans(words)
            behind_card = (
                not spans or found.start() < spans[-1][1] or not words[spans[-1][1] : found.start()].strip(" :")
            )
            if behind_card and float(found[1].replace(",", "")) < _LEAST_BEHIND_CARD and "." not in found[1]:
                continue  # "A100 40" is its memory
            block.entries[number] = replace(entry, cells=(("text", head), *others), prices=((None, found[1]),))


def said_of(entry: Entry, kinds: LineReader) -> str:
    """Give all that an entry says of itself, its card before its prices."""
    texts = [words for role, words in entry.cells if role == "text"]
    return ", ".join(sorted(texts, key=lambda words: not kinds.has_card([words])))

"""Cards that the catalogue does not have, before a price: ``2080ti 0.6元/卡时``, ``RTX 7000 Pro: $1.20``.

A price behind such a name is not one more price of the card before it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from suanpei.machine.names import BRAND_WORDS

if TYPE_CHECKING:
    from suanpei.market.quotes.text.card import CardReader
    from suanpei.market.quotes.text.words import QuoteWords

_SILENT_BRANDS = frozenset({"gpu", "npu", "intel", "amd", "aws", "google", "英特尔", "亚马逊", "谷歌"})
"""Words that stand before other things too: ``Intel 8480C``, ``GPU 64``."""
_BRANDED = r"(?:[a-z]{1,4}-?\d{1,4}|\d{3,4})[a-z]{0,2}"
_CONSUMER = r"(?:1[06]|[2-6]0)[5-9]0"
_DATA_CENTRE = r"[a-z]{1,2}-?\d{2,4}[a-z]?|(?:amd\s*)?mi-?\d{3}[a-z]?"
_SUFFIX = r"(?:[\s-]?(?:ti|super|max|pro|ultra|ada|blackwell)(?![a-z]))*"
_MEMORY = r"(?:[\s\-/,(]*\d{1,3}\s*(?:gib|gb|g)(?![a-z\d])\)?)?"
_NOT_BEHIND = r"(?![a-z\d]|[.:]\d)(?!\s*(?:[元块万千%区号楼期层月日年]|机房|机柜|兆|核))"
_MODEL_OF_BRAND = re.compile(r"(?P<brand>[a-z]+)[\s-]+(?P<model>[a-z]\d[a-z]?)(?![a-z\d])")
_MODEL = re.compile(r"[a-z]\d[a-z]?(?![a-z\d])")
_MEMORY_ALONE = re.compile(r"(?P<size>\d{2,3})\s*(?:gib|gb|g)(?![a-z\d])(?:\s*(?:版|的|显存))?(?=\s*[\d:¥$€]|\s*$)")
_MEMORY_SAID = re.compile(r"[\s\-(]*\d{2,3}\s*(?:gib|gb|g)(?![a-z\d])\)?")
_LEAD = " ,;。、|/:：()（）*·•-"


class ForeignCardReader:
    """Finds names of cards that are none of the catalogue's, with one catalogue's words."""

    def __init__(self, words: QuoteWords, cards: CardReader) -> None:
        self._cards = cards
        brands = "|".join(
            re.escape(word) for word in sorted(BRAND_WORDS, key=len, reverse=True) if word not in _SILENT_BRANDS
        )
        vocabularies = (
            *(words.currencies, words.pflops, words.host_measures, words.billed, words.periods, words.charges),
            *(words.links["kinds"], words.links["rates"], words.pricing),
        )
        spelled = {word for one in vocabularies for word in one.group_of if word.isascii() and word.isalpha()}
        other = "|".join(sorted((word for word in spelled if len(word) > 1), key=len, reverse=True))
        self._other = re.compile(rf"(?:{other}|nvl|sxm|hbm|ddr|cx)-?\d")
        self._name = re.compile(
            rf"(?:(?:(?:{brands})[\s-]*)+(?:{_BRANDED})|{_CONSUMER}|{_DATA_CENTRE}){_SUFFIX}{_MEMORY}{_NOT_BEHIND}"
        )

    def match(self, text: str, position: int) -> tuple[int, int] | None:
        """Find a name that begins at a position or right behind spaces and marks; None where none does.

        Args:
            text: In plain form. [-]
            position: Where a clause or the words behind a price begin. [-]
        """
        while position < len(text) and text[position] in _LEAD:
            position += 1
        found = self._name.match(text, position)
        if found is None or self._other.match(text, position) or self._cards.find(found.group()):
            return None
        return found.span()

    def complete(self, clause: str, before: str) -> tuple[str, int]:
        """Give the card of a clause that says only how it differs from the card before it.

        ``v5p`` behind ``TPU v5e`` is TPU v5p, ``40G`` behind ``A100 80G`` is A100 40G.

        Args:
            clause: In plain form. [-]
            before: The name of the card before, in plain form. [-]

        Returns:
            What to write before the rest of the clause, a card of the catalogue, and how many characters of the
            clause it stands for; empty and 0 where the clause says no such thing.
        """
        model, branded = _MODEL.match(clause), _MODEL_OF_BRAND.search(before)
        if model is not None and branded is not None:
            full = f"{branded['brand']} {model.group()}"
            return (full, model.end()) if self._cards.find(full) else ("", 0)
        memory = _MEMORY_ALONE.match(clause)
        if memory is None:
            return "", 0
        full = f"{_MEMORY_SAID.sub('', before)} {memory['size']}g"
        candidates = self._cards.read(full).candidates
        is_other = bool(candidates) and candidates != self._cards.read(before).candidates
        return (full, memory.end()) if is_other else ("", 0)

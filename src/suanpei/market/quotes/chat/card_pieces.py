"""Running text parted: a line into clauses, and clauses into one piece per card that they name."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.foreign import ForeignCardReader
from suanpei.market.quotes.text.words import half_width, plain

if TYPE_CHECKING:
    from suanpei.market.quotes.layout.lines import LineReader
    from suanpei.market.quotes.text.card import CardReader
    from suanpei.market.quotes.text.clue import ClueReader

_COUNTED_NEXT = r"(?=\d{1,4}\s*(?:个|年|月|天|日|台|卡|张|块|节点|套|p(?![a-z])))(?!\d{3}(?!\d))"
_CLAUSES = re.compile(
    rf"[;；\n|、]+|(?<!\d)[,。]|[,。](?!\d)|[,。]{_COUNTED_NEXT}"
    r"|(?:(?<=[)\d])|(?<=[a-z]{5}))\.\s+(?=(?-i:[A-Z]))",
    re.IGNORECASE,
)
"""A comma or full stop between digits is part of a number, unless what follows counts: ``12.5,3个月起``. A full stop
behind a bracket, a number or a long word ends a sentence before a capital; ``excl. VAT`` goes on."""
_WIDE_COMMA = re.compile(r"(?<![０-９])，|，(?![０-９]{3})")
"""Of a full-width comma only one between full-width digits may stand for thousands."""
_COUNT_BEFORE = re.compile(r"(?<![\d.])\d{1,4}\s*(?:台|张|块|卡|节点|套|[x×*])\s*(?:[x×*]|卡|张|块|台)?\s*(?:的)?$")
_NUMBER = re.compile(r"^\D*[\d.,]*\d")
_ENDS_BARE = re.compile(r"\d\s*$")
_SHARED = re.compile(r"^\s*(?:/|和|与|或|、|and|or|&|\+)\s*$")


def part_clauses(text: str) -> list[str]:
    """Part a text in half width into its clauses."""
    return [clause.strip() for clause in _CLAUSES.split(text) if clause.strip()]


def narrow(text: str) -> str:
    """Bring a line into half width, a full-width comma still told from one inside a number."""
    return half_width(_WIDE_COMMA.sub(", ", text))


class CardParter:
    """Parts lines with one catalogue's words."""

    def __init__(self, lines: LineReader, clues: ClueReader, cards: CardReader) -> None:
        self._kinds = lines
        self._clues = clues
        self._cards = cards
        self._foreign = ForeignCardReader(clues.words, cards)

    def split(self, text: str, said: str = "") -> tuple[list[str], str]:
        """Split a line into one piece per card, and a remark on all of them.

        A clause without a card belongs to the card before it, unless it says that it holds for all; cards joined by a
        slash share what follows. A card that the catalogue does not have begins a piece where it stands before a
        price, unless the card before it has none yet.

        Args:
            text: In half width. [-]
            said: All that the offer before the line says. [-]
        """
        groups: list[list[str]] = []
        remark = ""
        leading = ""
        for clause in part_clauses(text):
            before = groups[-1][-1] if groups else said
            is_waiting = bool(before) and not self._clues.read("text", before).amounts
            cards = self._split_clause(clause, before, is_waiting=is_waiting)
            if cards and len(cards) == 1 and groups and self._goes_on(groups[-1], clause):
                groups[-1] = [f"{groups[-1][0]}, {clause}"]
            elif cards:
                groups.append([f"{leading}{card}" for card in cards])
                leading = ""
            elif not groups:
                leading += f"{clause}, "
            elif len(groups) > 1 and (remark or self._kinds.speaks_of_every(clause)):
                remark = f"{remark}, {clause}".strip(", ")
            else:
                groups[-1] = [f"{piece}, {clause}" for piece in groups[-1]]
        told = f", {remark}" if remark and not self._clues.read("text", remark).amounts else ""
        return [f"{piece}{told}" for group in groups for piece in group], remark

    def _goes_on(self, group: list[str], clause: str) -> bool:
        """Tell whether a clause names again the one card of the clauses before it, which have no price yet."""
        if len(group) != 1 or self._kinds.is_asked(group[0]) or self._clues.read("text", group[0]).amounts:
            return False
        before, now = self.spans(group[0]), self.spans(clause)
        if not before or not now:
            return False
        first = self._cards.read(group[0][slice(*before[0])]).candidates
        again = self._cards.read(clause[slice(*now[0])]).candidates
        return bool(set(first) & set(again))

    def _split_clause(self, clause: str, before: str, *, is_waiting: bool) -> list[str]:
        """Split a clause where it names several cards; a count before a card goes with it."""
        if not is_waiting and (full := self._complete(clause, before)):
            return [full]
        spans = tuple(sorted((*self.spans(clause), *self._foreign_spans(clause, is_waiting=is_waiting))))
        if len(spans) < 2:
            return [clause] if spans else []
        starts = [0]
        joined: list[list[tuple[int, int]]] = [[spans[0]]]
        for last, span in itertools.pairwise(spans):
            between = clause[last[1] : span[0]]
            counted = _COUNT_BEFORE.search(between)
            bare = between[: counted.start()] if counted else between
            if _SHARED.match(bare):
                joined[-1].append(span)
            elif self._is_named_again(clause, last, span):
                continue
            elif bare.strip():
                starts.append(last[1] + len(bare))
                joined.append([span])
        pieces: list[str] = []
        for number, (start, shared) in enumerate(zip(starts, joined, strict=True)):
            end = starts[number + 1] if number + 1 < len(starts) else len(clause)
            first, final = shared[0], shared[-1]
            pieces += [f"{clause[start : first[0]]}{clause[a:b]}{clause[final[1] : end]}" for a, b in shared]
        return self._share_unit(pieces)

    def _is_named_again(self, clause: str, last: tuple[int, int], span: tuple[int, int]) -> bool:
        """Tell whether a clause names the card before once more, before any price: ``A800 服务器(8×A800 80G``."""
        if self._clues.read("text", clause[: span[0]]).amounts:
            return False
        first, again = (set(self._cards.read(clause[slice(*one)]).candidates) for one in (last, span))
        return bool(first & again)

    def _share_unit(self, pieces: list[str]) -> list[str]:
        """Give the unit of the last of several prices to bare numbers before it: ``H100 2.3 H200 3.1 美元/卡时``."""
        amounts = self._clues.read("text", pieces[-1]).amounts
        if not amounts:
            return pieces
        unit = _NUMBER.sub("", plain(pieces[-1])[amounts[0].start : amounts[0].end])
        return [
            f"{piece.rstrip()}{unit}"
            if _ENDS_BARE.search(piece) and not self._clues.read("text", piece).amounts
            else piece
            for piece in pieces
        ]

    def foreign_name(self, piece: str) -> str:
        """Give the card of a piece that names none of the catalogue; empty where it names one, or none at all.

        Args:
            piece: In half width. [-]
        """
        spans = () if self.spans(piece) else self._foreign_spans(piece, is_waiting=False)
        return piece[slice(*spans[0])].strip() if spans else ""

    def _foreign_spans(self, clause: str, *, is_waiting: bool) -> list[tuple[int, int]]:
        """Find cards that the catalogue does not have: at the head of a clause or behind a price, before a price."""
        text = plain(clause)
        if len(text) != len(clause):
            return []
        amounts = self._clues.read("text", clause).amounts
        found: list[tuple[int, int]] = []
        for number, amount in enumerate(amounts):
            start = amounts[number - 1].end if number else 0
            span = self._foreign.match(text, start) if number or not is_waiting else None
            if span is not None and span[1] <= amount.start:
                found.append(span)
        return found

    def _complete(self, clause: str, before: str) -> str:
        """Write the card into a clause that says only how it differs from the card before; empty where it does not."""
        spans, text = self.spans(before), plain(clause)
        if not spans or self.spans(clause) or len(text) != len(clause):
            return ""
        full, end = self._foreign.complete(text, plain(before[slice(*spans[-1])]))
        return f"{full}{clause[end:]}" if full else ""

    def spans(self, text: str) -> tuple[tuple[int, int], ...]:
        """Find where cards are named in a text in half width."""
        lowered = text.lower()
        return self._cards.find(lowered) if len(lowered) == len(text) else ()

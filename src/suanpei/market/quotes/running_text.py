"""Running text: lists and chat messages. A piece of a line that names a card is an offer; who speaks is the seller.

A line may offer several cards, and one card at several prices; a line without a card goes on with the offer before it,
or is a remark on that offer; on all offers of the same speaker where it stands before them or says so.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import name_cell
from suanpei.market.quotes.entries import Block, Entry, Remark, SheetContent, find_idle_remarks
from suanpei.market.quotes.text.date import NO_DATE
from suanpei.market.quotes.text.words import half_width, plain
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.market.quotes.document import Line, Sheet
    from suanpei.market.quotes.lines import LineReader
    from suanpei.market.quotes.text.card import CardReader
    from suanpei.market.quotes.text.clue import ClueReader
    from suanpei.market.quotes.text.clues import Clues
    from suanpei.market.quotes.text.date import QuoteDate

_CLAUSES = re.compile(r"[;；。\n|]+|(?<!\d)[,，、]|[,，、](?!\d)")
_COUNT_BEFORE = re.compile(r"(?<![\d.])\d{1,4}\s*(?:台|张|块|卡|节点|套|[x×*])\s*(?:[x×*]|卡|张|块|台)?\s*(?:的)?$")
_NUMBER = re.compile(r"^\D*[\d.,]*\d")
_ENDS_BARE = re.compile(r"\d\s*$")
_SHARED = re.compile(r"^\s*(?:/|和|与|或|、|and|or|&|\+)\s*$")
_LEAST_CHAT_WORDS = 4
"""A line shorter than this without card, price or terms is a greeting. [characters]"""


class TextReader:
    """Reads one sheet of running text."""

    def __init__(self, file: str, sheet: Sheet, lines: LineReader, clues: ClueReader, cards: CardReader) -> None:
        self._file = file
        self._name = sheet.name
        self._lines = sheet.lines
        self._kinds = lines
        self._clues = clues
        self._cards = cards
        self._content = SheetContent()
        self._remarks: list[Remark] = []
        self._sheet_remarks: list[Remark] = []
        self._block = Block()
        self._blocks = [self._block]
        self._is_buyer_speaking = False
        self._card_rows: list[int] = []
        self._own_remarks: defaultdict[int, list[Remark]] = defaultdict(list)
        """Remarks that hold for the offers of one line with a card, by its row."""

    def read(self) -> SheetContent:
        """Read the sheet."""
        for line in self._lines:
            text = " ".join(cell for cell in line.cells if cell).strip()
            if text:
                self._take(line, text)
        for block in self._blocks:
            self._leave_asked(block)
            block.remarks += self._sheet_remarks
            if block.entries:
                self._content.blocks += self._by_card_row(block)
        self._content.idle = find_idle_remarks(self._content, self._remarks)
        return self._content

    def _by_card_row(self, block: Block) -> list[Block]:
        """Part a block where a remark holds for the offers of one line only."""
        parts: list[Block] = []
        for row, entries in itertools.groupby(block.entries, key=self._card_row):
            own = self._own_remarks.get(row, [])
            if own or not parts or parts[-1].remarks != block.remarks:
                parts.append(Block(seller=block.seller, remarks=[*own, *block.remarks]))
            parts[-1].entries += entries
        return parts

    def _card_row(self, entry: Entry) -> int:
        """Give the row of the line that names the card of an entry."""
        return max(row for row in self._card_rows if row <= entry.row)

    def _leave_asked(self, block: Block) -> None:
        """Leave out what only takes up the buyer's question: ``您要的A800`` without a price."""
        kept: list[Entry] = []
        for entry in block.entries:
            said = entry.cells[0][1]
            clues = self._clues.read("text", said)
            if clues.amounts or clues.stock or not self._kinds.is_asked(said):
                kept.append(entry)
            else:
                reason = Message("what was asked for, without a price: {words}", words=said[:120])
                self._content.unread.append((name_cell(self._name, entry.row), reason))
        block.entries = kept

    def _take(self, line: Line, text: str) -> None:
        sender, day, rest = self._kinds.take_sender(text)
        is_buyer = self._kinds.is_buyer(sender) if sender is not None else self._is_buyer_speaking
        self._is_buyer_speaking = is_buyer and (sender is None or not rest.strip())
        if is_buyer or self._kinds.is_wanted(text) or self._kinds.is_wanted(self._kinds.without_mark(rest)):
            self._leave(line, Message("somebody asks for machines: {words}", words=text[:120]))
            return
        if sender is not None:
            self._block = Block(seller=sender or self._block.seller)
            self._blocks.append(self._block)
            if day:
                self._block.remarks.append(Remark(cell=name_cell(self._name, line.row), text=day))
        rest = self._kinds.without_mark(half_width(rest))
        if not rest:
            return
        if self._kinds.is_total([rest]):
            self._leave(line, Message("a total: the offers that it sums up are read one by one"))
            return
        if self._kinds.is_sale(rest):
            self._leave(line, Message("machines for sale, not for rent: {words}", words=rest[:120]))
            return
        rest = self._set_aside(line, rest)
        if not rest:
            return
        pieces, remark = self.split(rest)
        if pieces:
            self._card_rows.append(line.row)
        for piece in pieces:
            self._add(line, piece)
        if remark:
            self._take_remark(line, remark)
        if not pieces and not remark:
            self._take_cardless(line, rest, is_note=self._kinds.is_note([text]))

    def _set_aside(self, line: Line, text: str) -> str:
        """List the clauses that price another thing than a card, and give the text without them."""
        clauses = _clauses(text)
        asides = [clause for clause in clauses if self._kinds.is_aside(clause)]
        for aside in asides:
            self._leave(line, Message("the price of another thing than a card: {words}", words=aside[:120]))
        return ", ".join(clause for clause in clauses if clause not in asides) if asides else text

    def split(self, text: str) -> tuple[list[str], str]:
        """Split a line into one piece per card, and a remark on all of them.

        A clause without a card belongs to the card before it, unless it says that it holds for all; cards joined by a
        slash share what follows.

        Args:
            text: In half width. [-]
        """
        groups: list[list[str]] = []
        remark = ""
        leading = ""
        for clause in _clauses(text):
            cards = self._split_clause(clause)
            if cards:
                groups.append([f"{leading}{card}" for card in cards])
                leading = ""
            elif not groups:
                leading += f"{clause}, "
            elif len(groups) > 1 and self._kinds.speaks_of_every(clause):
                remark = f"{remark} {clause}".strip()
            else:
                groups[-1] = [f"{piece}, {clause}" for piece in groups[-1]]
        if not groups:
            return [], ""
        return [piece for group in groups for piece in group], remark

    def _split_clause(self, clause: str) -> list[str]:
        """Split a clause where it names several cards; a count before a card goes with it."""
        spans = self._spans(clause)
        if len(spans) < 2:
            return [clause] if spans else []
        starts = [0]
        joined: list[list[tuple[int, int]]] = [[spans[0]]]
        for before, span in itertools.pairwise(spans):
            between = clause[before[1] : span[0]]
            counted = _COUNT_BEFORE.search(between)
            bare = between[: counted.start()] if counted else between
            if _SHARED.match(bare):
                joined[-1].append(span)
            elif bare.strip():
                starts.append(before[1] + len(bare))
                joined.append([span])
        pieces: list[str] = []
        for number, (start, shared) in enumerate(zip(starts, joined, strict=True)):
            end = starts[number + 1] if number + 1 < len(starts) else len(clause)
            first, last = shared[0], shared[-1]
            pieces += [f"{clause[start : first[0]]}{clause[a:b]}{clause[last[1] : end]}" for a, b in shared]
        return self._share_unit(pieces)

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

    def _spans(self, text: str) -> tuple[tuple[int, int], ...]:
        lowered = text.lower()
        return self._cards.find(lowered) if len(lowered) == len(text) else ()

    def _add(self, line: Line, piece: str) -> None:
        self._block.entries.append(Entry(row=line.row, cells=(("text", piece),)))

    def _take_cardless(self, line: Line, text: str, *, is_note: bool) -> None:
        """Go on with the offer before, offer its card at one more price, or keep a remark."""
        clues = self._clues.read("text", text)
        block = self._block if self._block.entries else self._block_before(clues)
        last = block.entries[-1] if block is not None else None
        if block is None or last is None or last.row >= line.row or not (clues.amounts or clues.stock):
            self._take_remark(line, text, is_note=is_note)
            return
        said = last.cells[0][1]
        amounts = self._clues.read("text", said).amounts
        if not clues.amounts:
            everywhere = range(len(block.entries)) if self._kinds.speaks_of_every(text) else (-1,)
            for number in everywhere:
                entry = block.entries[number]
                block.entries[number] = Entry(row=entry.row, cells=(("text", f"{entry.cells[0][1]}, {text}"),))
        elif not amounts:
            block.entries[-1] = Entry(row=last.row, cells=(("text", f"{said}, {text}"),))
        else:
            told, half = plain(said), half_width(said)
            before = (half if len(half) == len(told) else told)[: amounts[0].start]
            head = re.sub(self._clues.words.pricing.source, " ", before, flags=re.IGNORECASE)
            self._add(line, f"{head.strip(' ,')}, {text}")

    def _block_before(self, clues: Clues) -> Block | None:
        """Find what the same speaker offered in an earlier message; a price that names its unit goes on with it."""
        if clues.amounts and not any(amount.unit.billed for amount in clues.amounts):
            return None
        return next((one for one in reversed(self._blocks) if one.entries and one.seller == self._block.seller), None)

    def _take_remark(self, line: Line, text: str, *, is_note: bool = False) -> None:
        clues, date = self._clues.read("section", text), self._clues.read_date(text)
        remark = Remark(cell=name_cell(self._name, line.row), text=text, is_note=is_note)
        if not (clues.is_telling or date.day or date.valid_days or date.end):
            if len(text) >= _LEAST_CHAT_WORDS:
                self._leave(line, Message("no card, price or terms in: {words}", words=text[:120]))
            return
        self._remarks.append(remark)
        if len(self._blocks) == 1 and not self._block.entries and not self._block.seller:
            self._sheet_remarks.insert(0, remark)
        elif self._kinds.speaks_of_below(text) and self._block.entries:
            self._block = Block(seller=self._block.seller, remarks=[remark])
            self._blocks.append(self._block)
        elif self._block.entries and self._is_own(clues, date, text):
            self._own_remarks[self._card_row(self._block.entries[-1])].append(remark)
        else:
            self._block.remarks.append(remark)

    def _is_own(self, clues: Clues, date: QuoteDate, text: str) -> bool:
        """Tell whether a remark behind an offer is of that offer only: terms, not the unit or date of all prices."""
        is_of_prices = clues.currency is not None or (clues.unit is not None and clues.terms is None)
        kinds = self._kinds
        is_of_all = kinds.speaks_of_above(text) or kinds.speaks_of_every(text) or kinds.is_note([text])
        return not (is_of_prices or is_of_all or date != NO_DATE)

    def _leave(self, line: Line, reason: Message) -> None:
        self._content.unread.append((name_cell(self._name, line.row), reason))


def _clauses(text: str) -> list[str]:
    return [clause.strip() for clause in _CLAUSES.split(text) if clause.strip()]

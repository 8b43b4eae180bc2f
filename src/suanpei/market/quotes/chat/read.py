"""Running text: lists and chat messages. A piece of a line that names a card is an offer; who speaks is the seller.

A line may offer several cards, and one card at several prices; a line without a card goes on with the offer before it,
or is a remark on that offer; on all offers of the same speaker where it stands before them or says so.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.market.quotes.chat.bare_lines import BareLines, said_of
from suanpei.market.quotes.chat.card_pieces import CardParter, narrow, part_clauses
from suanpei.market.quotes.chat.own_remarks import OwnRemarks
from suanpei.market.quotes.chat.parted_prices import are_alike, without_number
from suanpei.market.quotes.chat.pieces import PieceReader
from suanpei.market.quotes.chat.quoted import Quote, find_quoted
from suanpei.market.quotes.document import name_cell
from suanpei.market.quotes.layout.entries import Block, CarriedSeller, Entry, Remark, SheetContent, find_idle_remarks
from suanpei.market.quotes.text.date import NO_DATE
from suanpei.market.quotes.text.words import as_positioned, half_width
from suanpei.messages import Message, excerpt

if TYPE_CHECKING:
    from suanpei.market.quotes.document import Line, Sheet
    from suanpei.market.quotes.layout.lines import LineReader
    from suanpei.market.quotes.text.card import CardReader
    from suanpei.market.quotes.text.clue import ClueReader
    from suanpei.market.quotes.text.clues import Clues
    from suanpei.market.quotes.text.date import QuoteDate

_LEAST_CHAT_WORDS = 4
"""A line shorter than this without card, price or terms is a greeting. [characters]"""
_TIME = re.compile(r"\d:\d\d")


class TextReader:
    """Reads one sheet of running text."""

    def __init__(self, file: str, sheet: Sheet, lines: LineReader, clues: ClueReader, cards: CardReader) -> None:
        self._file = file
        self._name = sheet.name
        self._lines = sheet.lines
        self._kinds = lines
        self._clues = clues
        self._parter = CardParter(lines, clues, cards)
        self._pieces = PieceReader(lines, clues, self._parter)
        self._content = SheetContent()
        self._remarks: list[Remark] = []
        self._sheet_remarks: list[Remark] = []
        self._block = Block()
        self._blocks = [self._block]
        self._is_buyer_speaking = False
        self._speaker = ""
        self._askers: set[str] = set()
        """Who asked for machines: a sum that names no card is none of their offers."""
        self._asked: Remark | None = None
        """The card that was last asked for; None where none was, or several."""
        self._own = OwnRemarks()
        self._bare = BareLines(sheet.name, lines, clues, self._parter)
        self._quote = Quote()
        self._carried: CarriedSeller | None = None
        """Who is named before an offer on its own line; None under a line that heads a message."""

    def read(self) -> SheetContent:
        """Read the sheet."""
        quoted = find_quoted(self._lines)
        for line in self._lines:
            text = " ".join(cell for cell in line.cells if cell).strip()
            if line.row in quoted:
                self._take_quoted(line, quoted[line.row])
            elif text:
                self._answer_quoted()
                self._take(line, text)
        for block in self._blocks:
            self._content.unread += self._bare.leave_asked(block)
            block.remarks += self._sheet_remarks
            self._bare.take_prices(block)
            if block.entries:
                self._content.blocks += self._own.part(block)
        self._content.idle = find_idle_remarks(self._content, self._remarks)
        return self._content

    def _take(self, line: Line, text: str) -> None:
        sender, day, rest = self._kinds.take_sender(self._kinds.without_mark(text))
        is_buyer = self._kinds.is_buyer(sender) if sender is not None else self._is_buyer_speaking
        self._is_buyer_speaking = is_buyer and (sender is None or not rest.strip())
        self._speaker = self._speaker if sender is None else sender
        is_asked = is_buyer or self._kinds.is_wanted(text) or self._kinds.is_wanted(self._kinds.without_mark(rest))
        self._quote.remember(sender, rest, is_asked=is_asked)
        if is_asked:
            self._take_asked(line, text, rest)
            self._askers.add(self._speaker)
            return
        if sender is not None:
            self._block = Block(seller=sender or self._block.seller)
            self._blocks.append(self._block)
            self._carry_seller(line, text[: len(text) - len(rest)], rest)
            if day:
                self._block.remarks.append(Remark(cell=name_cell(self._name, line.row), text=day))
        rest = self._kinds.without_mark(narrow(rest))
        if not rest:
            return
        if self._kinds.is_total([rest]):
            self._leave(line, Message("a total: the offers that it sums up are read one by one"))
            return
        if self._kinds.is_sale(rest):
            self._leave(line, Message("machines for sale, not for rent: {words}", words=excerpt(rest)))
            return
        rest = self._set_aside(line, rest)
        if not rest:
            return
        last = self._block.entries[-1] if self._block.entries else None
        pieces, remark = self._parter.split(rest, said_of(last, self._kinds) if last is not None else "")
        if pieces:
            self._own.begin(line)
            if sender is None and self._carried is not None:
                self._carried.rows.append(line.row)
        for piece in pieces:
            if self._is_offered(line, piece):
                self._block.entries += self._entries(line.row, piece)
        if remark:
            self._take_remark(line, remark)
        if not pieces and not remark:
            self._take_cardless(line, rest, is_note=self._kinds.is_note([text]))

    def _take_asked(self, line: Line, text: str, words: str) -> None:
        """Keep what somebody asks for."""
        self._remember_asked(line, half_width(words))
        self._leave(line, Message("somebody asks for machines: {words}", words=excerpt(text)))

    def _take_quoted(self, line: Line, text: str) -> None:
        """Take a line that the chat quotes: what was said before is not said again, anything else is read."""
        if not text:
            return
        words = self._kinds.without_mark(text)
        sender, _, rest = self._kinds.take_sender(words)
        is_asked = self._quote.is_asked(rest)
        if is_asked is None:
            is_asked = (sender is not None and self._kinds.is_buyer(sender)) or self._kinds.is_wanted(rest) or None
        self._quote.take(
            is_asked=is_asked, names_speaker=sender is not None, seller=self._block.seller, speaker=self._speaker
        )
        if is_asked is None:
            self._take(line, text)
        elif is_asked:
            self._take_asked(line, text, rest)
        else:
            self._leave(line, Message("a message quoted, read where it was said: {words}", words=excerpt(text)))

    def _answer_quoted(self) -> None:
        """Go on behind a quoted message: who answers is who headed the answer, else not named."""
        answer = self._quote.close()
        if answer is not None:
            seller, self._speaker = answer
            self._block = Block(seller=seller)
            self._blocks.append(self._block)
            self._is_buyer_speaking = self._kinds.is_buyer(self._speaker)
            self._carried = None

    def _is_offered(self, line: Line, text: str) -> bool:
        """Tell whether a price is offered, and name one that is asked, or that nobody knows who says."""
        if self._kinds.is_doubted(text):
            self._leave(line, Message("a price that is asked, not offered: {words}", words=excerpt(text)))
            return False
        if self._quote.is_answer_open and self._clues.read("text", text).amounts:
            self._leave(
                line, Message("a price in answer to an offer; who says it is not named: {words}", words=excerpt(text))
            )
            return False
        return True

    def _carry_seller(self, line: Line, head: str, rest: str) -> None:
        """Note who is named before an offer; a line that is only a name or has a time heads all lines below it."""
        self._carried = None
        if self._block.seller and rest.strip() and not _TIME.search(head):
            self._carried = CarriedSeller(seller=self._block.seller, cell=name_cell(self._name, line.row))
            self._content.carried.append(self._carried)

    def _set_aside(self, line: Line, text: str) -> str:
        """List the clauses that price another thing than a card, and give the text without them."""
        clauses = part_clauses(text)
        priced = [clause for clause in clauses if self._clues.read("text", clause).amounts]
        entries = self._block.entries
        has_offer = bool(entries) or self._kinds.has_card([text])
        is_priced = len(priced) > 1 or (
            bool(entries) and bool(self._clues.read("text", said_of(entries[-1], self._kinds)).amounts)
        )
        asides = [
            clause
            for clause in clauses
            if self._kinds.is_aside(clause, is_beside=has_offer and (is_priced or clause not in priced))
        ]
        for aside in asides:
            self._leave(line, Message("the price of another thing than a card: {words}", words=excerpt(aside)))
        return ", ".join(clause for clause in clauses if clause not in asides) if asides else text

    def _entries(self, row: int, piece: str) -> list[Entry]:
        """Make one entry per price of a piece, and name what none of them takes up."""
        entries, unread = self._pieces.make(row, piece)
        self._content.unread += [(name_cell(self._name, row), reason) for reason in unread]
        return entries

    def _take_cardless(self, line: Line, text: str, *, is_note: bool) -> None:
        """Go on with the offer before, offer its card at one more price, or keep a remark."""
        clues = self._clues.read("text", text)
        block = self._block if self._block.entries else self._block_before(clues)
        last = block.entries[-1] if block is not None else None
        if clues.amounts and self._speaker and self._speaker in self._askers:
            self._leave(line, Message("said by who asks for machines: {words}", words=excerpt(text)))
            return
        if not self._is_offered(line, text):
            return
        if block is None and clues.amounts and self._asked is not None:
            self._answer(line, self._asked, text)
            return
        if block is None or last is None or last.row >= line.row or not (clues.amounts or clues.stock):
            self._take_remark(line, text, is_note=is_note)
            return
        if block is self._block:
            self._own.go_on(line)
        said = said_of(last, self._kinds)
        amounts = self._clues.read("text", said).amounts
        if not clues.amounts:
            everywhere = range(len(block.entries)) if self._kinds.speaks_of_every(text) else (-1,)
            for number in everywhere:
                block.entries[number] = _gone_on(block.entries[number], text)
        elif not amounts:
            block.entries[-1:] = self._entries(last.row, f"{said}, {text}")
        else:
            spelled = as_positioned(said)
            head = self._pieces.shared_head(spelled[: amounts[0].start])
            is_alike = are_alike(amounts[-1], clues.amounts[0]) and amounts[-1].unit.billed
            if is_alike or block is not self._block:
                self._own.begin(line)
            if is_alike:
                unit = without_number(spelled[amounts[-1].start : amounts[-1].end])
                self._own.lend_unit(Remark(cell=name_cell(self._name, last.row), text=unit))
            self._block.entries += self._entries(line.row, f"{head.strip(' ,')}, {text}")

    def _remember_asked(self, line: Line, words: str) -> None:
        """Keep the card that somebody asks for: an answer may give its price without naming it."""
        names = list(dict.fromkeys(words[start:end] for start, end in self._parter.spans(words)))
        if names:
            self._asked = Remark(cell=name_cell(self._name, line.row), text=names[0]) if len(names) == 1 else None

    def _answer(self, line: Line, asked: Remark, text: str) -> None:
        """Take a price without a card for that of the card that was asked for, and say so."""
        self._own.begin(line)
        if asked not in self._block.remarks:
            self._block.remarks.append(asked)
        self._block.entries += self._entries(line.row, text)

    def _block_before(self, clues: Clues) -> Block | None:
        """Find what the same speaker offered in an earlier message; a price that names its unit goes on with it.

        So does one without a unit that is like the price before it.
        """
        blocks = (one for one in reversed(self._blocks) if one.entries and one.seller == self._block.seller)
        block = next(blocks, None)
        if block is None or not clues.amounts or any(amount.unit.billed for amount in clues.amounts):
            return block
        before = self._clues.read("text", said_of(block.entries[-1], self._kinds)).amounts
        return block if before and are_alike(before[-1], clues.amounts[0]) else None

    def _take_remark(self, line: Line, text: str, *, is_note: bool = False) -> None:
        clues, date = self._clues.read("section", text), self._clues.read_date(text)
        remark = Remark(cell=name_cell(self._name, line.row), text=text, is_note=is_note)
        if not (clues.is_telling or date.day or date.valid_days or date.end):
            if len(text) >= _LEAST_CHAT_WORDS:
                self._leave(line, Message("no card, price or terms in: {words}", words=excerpt(text)))
            return
        self._remarks.append(remark)
        if len(self._blocks) == 1 and not self._block.entries and not self._block.seller:
            self._sheet_remarks.insert(0, remark)
        elif self._kinds.speaks_of_below(text) and self._block.entries:
            self._block = Block(seller=self._block.seller, remarks=[remark])
            self._blocks.append(self._block)
        elif self._block.entries and self._is_own(clues, date, text):
            self._own.keep(line, remark, clues)
        elif self._block.entries and self._kinds.speaks_of_above(text):
            self._own.keep_above(remark)
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


def _gone_on(entry: Entry, text: str) -> Entry:
    """Give an entry with a line that goes on with it."""
    (role, first), *others = entry.cells
    return replace(entry, cells=((role, f"{first}, {text}"), *others))

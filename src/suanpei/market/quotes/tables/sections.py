"""Sections of tables: which remarks and which heading hold for which rows.

A line above a table holds for it, one between rows for the rows below it, and a note for all rows. The last line below
a table has no rows of its own: where it says something of all prices (tax, currency, payment), and names neither a card
nor a price, it holds for the rows above it of the same seller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.quotes.document import name_cell
from suanpei.market.quotes.layout.entries import Block, find_idle_remarks
from suanpei.market.quotes.tables.sheet_lines import first_column, remark_of
from suanpei.market.quotes.text.words import plain
from suanpei.messages import Message, excerpt

if TYPE_CHECKING:
    from suanpei.market.quotes.document import Line
    from suanpei.market.quotes.layout.entries import Entry, Remark, SheetContent
    from suanpei.market.quotes.layout.lines import LineReader
    from suanpei.market.quotes.text.clue import ClueReader
    from suanpei.market.quotes.text.unit import Unit

_LEAST_PARTS = 2
"""Lines of parts that a list of parts has at least. [-]"""


class Sections:
    """Keeps the blocks of the running table, and every remark where it holds."""

    def __init__(
        self, sheet: str | None, kinds: LineReader, clues: ClueReader, content: SheetContent, *, heading: Remark | None
    ) -> None:
        """Begin a sheet.

        Args:
            sheet: Its name. [-]
            kinds: Tells what a line is. [-]
            clues: Reader of cells. [-]
            content: Takes the blocks of each table that is closed, and lines that say nothing. [-]
            heading: A line of text right above the sheet that names the card of its rows; None where there is none. [-]
        """
        self._sheet = sheet
        self._kinds = kinds
        self._clues = clues
        self._content = content
        self._remarks: list[Remark] = []
        self._sheet_remarks: list[Remark] = []
        self._above: list[Remark] = []
        """Remarks between rows that hold for those above them only."""
        self._headings: list[Remark] = [heading] if heading else []
        self._heading = heading
        self._has_cards = True
        self._parts = 0
        self._is_right_below = False
        self._table: list[Block] = []
        self.block = Block(remarks=[heading] if heading else [])
        """Takes the rows that follow."""

    @property
    def has_heading(self) -> bool:
        """Whether the line above is the heading of one card's offers."""
        return self._heading is not None

    @property
    def names_card(self) -> bool:
        """Whether a line above names the card of rows that have none of their own.

        The heading of a card does where no column holds cards: a blank below 型号 is none of its rows.
        """
        said = (one for one in self.block.remarks if not (self._has_cards and one in self._headings))
        return any(self._kinds.names_one_card(remark.text) for remark in said)

    @property
    def unit(self) -> Unit | None:
        """What a remark above says that prices are for, with their time; None where none does."""
        said = [self._clues.read("section", one.text) for one in (*self.block.remarks, *self._sheet_remarks)]
        return next((clues.unit for clues in said if clues.unit is not None and clues.unit.period), None)

    @property
    def has_rows(self) -> bool:
        """Whether the running table has a row."""
        return any(block.entries for block in self._table)

    def add(self, entry: Entry) -> None:
        """Take a row."""
        if not self._table:
            self._table = [self.block]
        remarks = [one for one in self.block.remarks if one not in self._above]
        if remarks != self.block.remarks:
            self.block = Block(seller=self.block.seller, remarks=remarks, currency=self.block.currency)
            self._table.append(self.block)
        self.block.entries.append(entry)

    def take_part(self, line: Line) -> None:
        """Name a line of a list of a machine's parts."""
        self._parts += 1
        words = excerpt(" ".join(filter(None, line.cells)))
        reason = Message("a part of a machine, nothing that is rented by itself: {words}", words=words)
        self._content.unread.append((name_cell(self._sheet, line.row, first_column(line)), reason))

    def open(self, *, has_cards: bool, is_apart: bool) -> None:
        """Begin a table; lines right above its headings belong to it.

        Args:
            has_cards: Whether the table itself says where its cards stand. [-]
            is_apart: Whether a gap stands above the headings. [-]
        """
        is_of_above = self._is_right_below and is_apart
        is_carried = not (self.block.entries or is_of_above)
        carried = Block(seller=self.block.seller, remarks=list(self.block.remarks) if is_carried else [])
        self.close(is_ended=is_of_above)
        self._heading = next((one for one in carried.remarks if one in self._headings), None)
        self._has_cards = has_cards
        self.block = carried
        self._table = [carried]

    def close(self, *, is_ended: bool) -> None:
        """Close the running table.

        Args:
            is_ended: Whether lines below its last row can be of no other table. [-]
        """
        if is_ended and self.has_rows and not self.block.entries:
            self._hand_up()
        if self._parts >= _LEAST_PARTS:
            self._leave_parts()
        for block in self._table or [self.block]:
            kept = [one for one in block.remarks if not (self._has_cards and one in self._headings)]
            block.remarks = [*kept, *self._sheet_remarks]
            if block.entries:
                self._content.blocks.append(block)
        self._table = []
        self._is_right_below = False
        self._parts = 0

    def end(self) -> None:
        """End the sheet: name the headings of cards that no row needed, and find remarks that hold for no offer."""
        used = {remark.cell for block in self._content.blocks for remark in block.remarks}
        for heading in self._headings:
            if heading.cell not in used:
                self._leave(heading.cell, Message("a title or remark"), heading.text)
        self._content.idle = find_idle_remarks(self._content, self._remarks)

    def take(self, line: Line, *, is_note: bool, has_header: bool, is_apart: bool) -> None:
        """Keep a remark where it holds; one that says nothing of prices or terms is listed.

        Args:
            line: Without a row's cells. [-]
            is_note: Whether it begins as a note does. [-]
            has_header: Whether it stands below the headings of a table. [-]
            is_apart: Whether a gap stands above it. [-]
        """
        if is_apart and self._is_right_below and not self.block.entries:
            self._hand_up()
            self.block = Block(seller=self.block.seller, remarks=[self._heading] if self._heading else [])
            self._table.append(self.block)
        remark = remark_of(self._sheet, line, is_note=is_note)
        text = remark.text
        is_single = sum(1 for cell in line.cells if cell) == 1
        seller = None if is_note else self._kinds.seller_of(text) or (self._kinds.company(text) if is_single else None)
        if seller:
            self._start(seller, [], has_header=has_header)
            return
        if not self._says_something(text):
            if not is_note and is_single and self._kinds.is_card_heading(text):
                self._take_heading(remark, has_header=has_header)
            else:
                if is_apart and not is_note and self.has_rows:
                    self._end_heading()  # what follows is of something else
                kind = Message("a remark") if is_note else Message("a title or remark")
                self._leave(name_cell(self._sheet, line.row, first_column(line)), kind, text)
            return
        self._remarks.append(remark)
        is_of_above = self._kinds.speaks_of_above(text)
        if not has_header:
            self._sheet_remarks.insert(0, remark)
        elif not self.has_rows:
            self.block.remarks.insert(0, remark)
        elif is_of_above or is_note or self._kinds.is_date(line.cells):
            self._above += [remark] if is_of_above else []
            for block in self._table:
                block.remarks.append(remark)
        else:
            self._is_right_below = self._is_right_below or (bool(self.block.entries) and not is_apart)
            self._start(self.block.seller, [remark], has_header=has_header)
        if has_header and is_single and not is_note and not is_of_above:
            self.block.currency = self._clues.read("section", text).currency or self.block.currency

    def _take_heading(self, remark: Remark, *, has_header: bool) -> None:
        """Begin the section of a card that only its heading names."""
        self._headings.append(remark)
        self._heading = None
        self.block.remarks = [one for one in self.block.remarks if self.block.entries or one not in self._headings]
        self._start(self.block.seller, [remark], has_header=has_header)
        self._heading = remark

    def _end_heading(self) -> None:
        """Let the heading of a card hold for no further row."""
        if self._heading is not None:
            self._heading = None
            self.block = Block(seller=self.block.seller)
            self._table.append(self.block)

    def _start(self, seller: str, remarks: list[Remark], *, has_header: bool) -> None:
        """Begin a section of the same table: what its heading says holds for the rows below."""
        if self.block.entries or not has_header:
            heading = [self._heading] if self._heading else []
            kept = [] if self.block.entries else self.block.remarks
            self.block = Block(seller=seller, remarks=list(dict.fromkeys([*remarks, *kept, *heading])))
            self._table.append(self.block)
        else:
            self.block.seller = seller or self.block.seller
            self.block.remarks[:0] = remarks

    def _hand_up(self) -> None:
        """Let the lines below the last row hold for the rows above of the same seller, behind what those say."""
        self._is_right_below = False
        *_, last = (block for block in self._table if block.entries)
        spoken = [one for one in self.block.remarks if one in self._remarks and self._may_hold_for_all(one.text)]
        for block in self._table:
            if block.entries and block.seller == last.seller:
                block.remarks += [one for one in spoken if one not in block.remarks]

    def _leave_parts(self) -> None:
        """Name the cards of a list of parts for what they are, where nothing in it has a price."""
        entries = [entry for block in self._table for entry in block.entries]
        said = [text for entry in entries for _, text in entry.cells]
        if any(entry.prices or entry.totals for entry in entries) or any(map(self._has_price, said)):
            return
        for entry in entries:
            words = excerpt(" ".join(text for _, text in entry.cells))
            reason = Message("the card of a list of a machine's parts, without a price: {words}", words=words)
            self._content.unread.append((name_cell(self._sheet, entry.row), reason))
        for block in self._table:
            block.entries = []

    def _has_price(self, text: str) -> bool:
        return bool(self._clues.read("text", text).amounts) or self._clues.words.no_price.has(plain(text))

    def _may_hold_for_all(self, text: str) -> bool:
        """Tell whether a remark names neither a card nor a price."""
        return not self._kinds.has_card([text]) and not self._clues.read("text", text).amounts

    def _says_something(self, text: str) -> bool:
        clues = self._clues.read("section", text)
        date = self._clues.read_date(text)
        return date.day is not None or date.end is not None or date.valid_days is not None or clues.is_telling

    def _leave(self, cell: str, kind: Message, text: str) -> None:
        reason = Message("{kind} without terms or prices: {words}", kind=kind, words=excerpt(text))
        self._content.unread.append((cell, reason))

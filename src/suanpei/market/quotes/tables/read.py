"""Tables: where their headings stand, which lines are offers, and which remarks hold for which rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.quotes.document import Line, name_cell
from suanpei.market.quotes.layout.entries import Entry, SheetContent
from suanpei.market.quotes.layout.header import rank
from suanpei.market.quotes.layout.heading_units import complete_row
from suanpei.market.quotes.layout.quantity import Quantity
from suanpei.market.quotes.tables.grids import GridReader
from suanpei.market.quotes.tables.sections import Sections
from suanpei.market.quotes.tables.sheet_lines import DittoFiller, first_column, remark_of, unrepeated
from suanpei.market.quotes.tables.unknown_numbers import UnknownNumbers
from suanpei.market.quotes.text.words import NOTHING_WORDS, plain
from suanpei.messages import Message, excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.document import Sheet
    from suanpei.market.quotes.layout.entries import Cell, Remark
    from suanpei.market.quotes.layout.header import Header
    from suanpei.market.quotes.layout.heading_reader import HeaderReader
    from suanpei.market.quotes.layout.lines import LineReader
    from suanpei.market.quotes.tables.grids import TurnedTable
    from suanpei.market.quotes.text.clue import ClueReader

_MOST_REMARK_CELLS = 2
"""A line of at most so many cells under a wider table, without card and price, is a remark. [-]"""


class TableReader:
    """Reads one sheet of lines of cells."""

    def __init__(
        self,
        sheet: Sheet,
        headers: HeaderReader,
        lines: LineReader,
        clues: ClueReader,
        *,
        heading: Remark | None,
        is_titled: bool,
    ) -> None:
        """Begin a sheet.

        Args:
            sheet: Its lines. [-]
            headers: Reader of headings. [-]
            lines: Reader of lines that are no rows. [-]
            clues: Reader of cells. [-]
            heading: A line of text above it that names the card of its rows; None where there is none. [-]
            is_titled: Whether a title names the seller. [-]
        """
        self._name = sheet.name
        self._lines = sheet.lines
        self._headers = headers
        self._kinds = lines
        self._clues = clues
        self._grids = GridReader(headers, lines, clues)
        self._is_titled = is_titled
        self._content = SheetContent()
        self._sections = Sections(sheet.name, lines, clues, self._content, heading=heading)
        self._is_apart = False
        self._header: Header | None = None
        self._ditto = DittoFiller(lines)
        self._heading_rows: tuple[int, ...] = ()
        self._numbers = UnknownNumbers(sheet.name, clues)

    def read(self) -> SheetContent:
        """Read the sheet."""
        lines = [unrepeated(line) for line in self._lines if any(line.cells)]
        position = 0
        while position < len(lines):
            position += self._take(lines, position)
        self._name_empty_table()
        self._sections.close(is_ended=True)
        self._sections.end()
        self._content.unread += self._numbers.name()
        return self._content

    def _take(self, lines: Sequence[Line], position: int) -> int:
        """Take a line, or several that are one heading or one turned table; give how many."""
        line = lines[position]
        self._is_apart = position > 0 and line.row > lines[position - 1].row + 1
        if self._header is not None and not self._is_apart and self._names_card(line, self._header):
            self._take_row(line, self._header)
            return 1
        turned = self._grids.read_turned(lines, position)
        if turned is not None:
            self._take_turned(turned)
            return turned.height
        grid = self._grids.read_grid(
            lines,
            position,
            said=self._sections.unit,
            is_seller_known=self._is_titled or bool(self._sections.block.seller),
        )
        if grid is not None:
            self._open_table(grid, line)
            return 1
        if self._header is not None and self._names_card(line, self._header):
            self._take_row(line, self._header)
            return 1
        is_row = self._header is not None and self._headers.is_row_of(self._header, line.cells)
        may_be_double = position + 1 < len(lines) and not is_row
        double = (
            self._headers.read_double(line, lines[position + 1], is_sold=self._sections.has_heading)
            if may_be_double
            else None
        )
        if double is not None:
            self._open_table(double, line, lines[position + 1])
            return 2
        self._take_other(line)
        return 1

    def _take_turned(self, turned: TurnedTable) -> None:
        """Read a table whose headings stand one below the other; remarks below it still hold for it."""
        self._open_table(turned.header)
        for line in turned.lines:
            self._take_row(line, turned.header)
        for row, column, words in turned.beside:
            reason = Message("no accelerator is named: {words}", words=excerpt(words))
            self._content.unread.append((name_cell(self._name, row, column), reason))

    def _take_other(self, line: Line) -> None:
        """Take a line that names no card where cards stand."""
        header = self._headers.read(line.row, line.cells, is_sold=self._sections.has_heading)
        running = self._header
        if header is not None and not (running is not None and self._headers.is_row_of(running, line.cells)):
            self._open_table(header, line)
        elif self._kinds.is_total(line.cells):
            self._leave(line, Message("a total: the offers that it sums up are read one by one"))
        elif self._kinds.is_note(line.cells) or self._kinds.is_date(line.cells):
            self._take_remark(line, is_note=self._kinds.is_note(line.cells))
        elif self._kinds.is_part(line.cells):
            self._sections.take_part(line)
        elif self._header is None or self._header.rows:
            self._take_headless(line)
        else:
            self._take_row(line, self._header)

    def _open_table(self, header: Header, *lines: Line) -> None:
        """Start a table; the same headings again are skipped, a heading line right above belongs to the new table."""
        if self._header is not None and header.headings == self._header.headings:
            return
        self._name_empty_table()
        self._sections.open(has_cards=bool(header.card_columns) or header.names_cards, is_apart=self._is_apart)
        self._header = header
        self._heading_rows = tuple(line.row for line in lines)
        self._content.units += [
            remark_of(self._name, line) for line in lines[1:] if self._headers.are_units(line.cells)
        ]
        self._ditto.clear()

    def _name_empty_table(self) -> None:
        """Name headings without a row."""
        if self._header is not None and not self._sections.has_rows:
            words = excerpt(" ".join(filter(None, self._header.headings)))
            reason = Message("headings below which no offer stands: {words}", words=words)
            self._content.unread += [(name_cell(self._name, row), reason) for row in self._heading_rows]

    def _take_remark(self, line: Line, *, is_note: bool) -> None:
        self._sections.take(line, is_note=is_note, has_header=self._header is not None, is_apart=self._is_apart)

    def _take_headless(self, line: Line) -> None:
        """Read a line before any heading: an offer where its own cells say so, else a title or remark."""
        given = [cell for cell in line.cells if cell]
        if self._kinds.has_card(given) and any(self._has_price(cell) for cell in given):
            self._sections.add(Entry(row=line.row, cells=tuple(("text", cell) for cell in given)))
            self._content.headless_rows.append(name_cell(self._name, line.row))
        elif len(given) > _MOST_REMARK_CELLS and self._kinds.has_card(given):
            self._leave(
                line, Message("no heading says which cell holds the price, and no cell has its unit or currency")
            )
        else:
            self._take_remark(line, is_note=False)

    def _has_price(self, cell: str) -> bool:
        text = plain(cell)
        return bool(self._clues.read("text", cell).amounts) or self._clues.words.no_price.has(text)

    def _is_price(self, cell: str) -> bool:
        """Tell whether a cell of a column of prices is one, of whatever it be, or stands for one."""
        clues = self._clues.read("price", cell)
        return bool(clues.amounts or clues.charges) or self._clues.words.no_price.has(plain(cell))

    def _take_row(self, line: Line, header: Header) -> None:
        """Read a row of a table; a row of tables that stand side by side is one row of each."""
        if not self._kinds.has_card(line.cells) and not any(self._given(line, one) for one in header.card_columns):
            whole = self._ditto.go_on(line, header)
            self._content.continued_rows += [] if whole is line else [name_cell(self._name, line.row)]
            line = whole
        line = self._ditto.fill(line)
        named = [part for part in header.parts if any(self._given(line, column) for column in part.card_columns)]
        if not named:
            self._take_single(line, header)
        for part in named:
            cells = tuple(cell if column in part.own else "" for column, cell in enumerate(line.cells))
            self._take_single(Line(row=line.row, cells=cells), part)
        for part in header.parts:
            orphans = [column for column in part.prices if named and part not in named and self._given(line, column)]
            for column in orphans:
                reason = Message("no accelerator is named: {words}", words=excerpt(line.cells[column]))
                self._content.unread.append((name_cell(self._name, line.row, column), reason))

    def _take_single(self, line: Line, header: Header) -> None:
        cells = line.cells
        given = [cell for cell in cells if cell]
        prices = tuple((column, cells[column]) for column in header.prices if column < len(cells) and cells[column])
        named = [self._given(line, column) for column in header.card_columns]
        has_card = any(named)
        is_short = len(given) <= _MOST_REMARK_CELLS and len(header.headings) > len(given)
        if is_short and not any(self._is_price(text) for _, text in prices) and not self._names_card(line, header):
            if self._kinds.has_card(given) and any(self._clues.read("text", cell).amounts for cell in given):
                self._sections.add(Entry(row=line.row, cells=tuple(("text", cell) for cell in given)))
            else:
                self._take_remark(line, is_note=False)
            return
        has_card = has_card or header.names_cards
        if not has_card and not self._kinds.has_card(given) and not self._sections.names_card:
            self._leave(line, Message("no accelerator is named: {words}", words=excerpt(" ".join(given))))
            return
        known = len(cells)
        goods = named if header.card_columns else [self._given(line, column) for column in header.goods]
        if not self._kinds.has_card(cells) and any(map(self._kinds.is_beside, goods)):
            self._leave(
                line, Message("rented beside the cards, no card itself: {words}", words=excerpt(" ".join(given)))
            )
            return
        row = complete_row(cells, header, self._clues)
        row += [("text", cell) for cell in cells[len(header.headings) :] if cell]
        self._numbers.take(line, header)
        if header.words:
            self._take_across(line, header, row)
            return
        totals = tuple((column, cells[column]) for column in header.totals if column < known and cells[column])
        self._sections.add(Entry(row=line.row, cells=tuple(row), prices=prices, totals=totals, header=header))

    def _take_across(self, line: Line, header: Header, row: list[Cell]) -> None:
        """Read a row of a grid: every cell below a name is a price of what that names, any other one of the row."""
        for column in header.totals:
            if self._given(line, column):
                reason = Message("a total: the offers that it sums up are read one by one")
                self._content.unread.append((name_cell(self._name, line.row, column), reason))
        named = {column for column, _ in header.words}
        rest = tuple(
            (column, text) for column in header.prices if column not in named and (text := self._given(line, column))
        )
        if rest:
            self._sections.add(Entry(row=line.row, cells=tuple(row), prices=rest, header=header))
        for column, word in header.words:
            if text := self._given(line, column):
                quantity = word if isinstance(word, Quantity) else None
                cells = tuple(row) if isinstance(word, Quantity) else tuple(sorted((*row, word), key=rank))
                prices = ((column, text),)
                entry = Entry(row=line.row, cells=cells, prices=prices, quantity=quantity, header=header)
                self._sections.add(entry)

    def _names_card(self, line: Line, header: Header) -> bool:
        """Tell quickly whether a line is a row: a card of the catalogue stands where cards stand."""
        return self._kinds.has_card([self._given(line, column) for column in header.card_columns])

    def _given(self, line: Line, column: int) -> str:
        text = line.cells[column] if column < len(line.cells) else ""
        return "" if plain(text) in NOTHING_WORDS else text

    def _leave(self, line: Line, reason: Message) -> None:
        self._content.unread.append((name_cell(self._name, line.row, first_column(line)), reason))

"""Tables whose headings name more than what their cells hold: cards, sellers or quantities, or a turned table.

Three shapes are known by their headings and by what stands below:

- a grid: columns headed by cards (rows are sellers, terms or sites) or by sellers or quantities (rows are cards); every
  cell is a price;
- a turned table: headings stand one below the other, a card's column is what a row is elsewhere;
- a form of one card: two columns, heading and value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import Line
from suanpei.market.quotes.layout.header import make_header, turn_header
from suanpei.market.quotes.layout.heading_reader import PLAIN_NUMBER, is_too_long
from suanpei.market.quotes.layout.quantity import QuantityReader
from suanpei.market.quotes.tables.sized_columns import SizedColumns
from suanpei.market.quotes.text.clues import NO_CLUES
from suanpei.market.quotes.text.words import NOTHING_WORDS, half_width, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.layout.entries import Cell
    from suanpei.market.quotes.layout.header import Header
    from suanpei.market.quotes.layout.heading_reader import HeaderReader
    from suanpei.market.quotes.layout.lines import LineReader
    from suanpei.market.quotes.layout.quantity import Quantity
    from suanpei.market.quotes.text.clue import ClueReader
    from suanpei.market.quotes.text.unit import Unit

_Words = tuple[tuple[int, "Cell | Quantity"], ...]
_LEAST_COLUMNS = 2
"""One column headed by a name that is not known may be anything. [-]"""
_LEAST_ATTRIBUTES = 3
"""Known headings below each other, the card's among them, that a turned table has at least. [-]"""
_MOST_ATTRIBUTES = 100
"""Lines of a turned table at most: thousands of lines below each other are none. [-]"""
_LEAST_PRICED = 0.8
"""Share of the cells of a grid that are prices or stand for one, at least: a remark may stand among them. [-]"""
_BRACKETS = re.compile(r"[(\[【]([^)\]】]*)[)\]】]")


@dataclass(frozen=True, kw_only=True)
class TurnedTable:
    """A table whose headings stand one below the other."""

    header: Header
    lines: tuple[Line, ...]
    """One for each of its cards; the number of a line is that of its column. [-]"""
    height: int
    """Lines of the sheet that it takes. [-]"""
    beside: tuple[tuple[int, int, str], ...]
    """Row, column from 0 and text of cells that stand below no card."""


class GridReader:
    """Reads grids and turned tables with one catalogue's words."""

    def __init__(self, headers: HeaderReader, kinds: LineReader, clues: ClueReader) -> None:
        self._headers = headers
        self._kinds = kinds
        self._clues = clues
        self._quantities = QuantityReader(clues.words)
        self._sized = SizedColumns(clues)

    def read_grid(
        self, lines: Sequence[Line], position: int, *, said: Unit | None, is_seller_known: bool
    ) -> Header | None:
        """Read the line at a position as the headings of a grid; None where it is none.

        Args:
            lines: Of the sheet. [-]
            position: Of the line. [-]
            said: What a remark above says that prices are for; None where none does. [-]
            is_seller_known: Whether the seller of the table is named: unknown headings are then no sellers. [-]
        """
        cells = lines[position].cells
        if not self._may_head(cells):
            return None
        roles = [self._headers.role(cell) if cell else None for cell in cells]
        carded = [column for column, cell in enumerate(cells) if cell and self._kinds.has_card([cell])]
        if carded:
            is_one = len(carded) < _LEAST_COLUMNS and not self._has_money(cells[carded[0]])
            words: _Words = tuple((column, ("card", _unpriced(cells[column]))) for column in carded)
            below = [] if is_one else self._rows_below(lines, position)
            return self._of_names(
                lines[position], self._roles_of_rows(roles, carded, below, is_open=not is_seller_known), words, below
            )
        if "card" not in roles and "instance" not in roles:
            return self._of_ways(lines, position, roles)
        sized = self._of_sizes(lines, position, roles) if said is None or said.billed is None else None
        if sized is not None:
            return sized
        words = self._quantity_words(cells)
        is_tiered = len(words) >= _LEAST_COLUMNS
        if not is_tiered and ("price" in roles or not (said or any(map(self._has_money, cells)))):
            return None
        below = self._rows_below(lines, position)
        if not is_tiered:
            named = [
                column
                for column, cell in enumerate(cells)
                if cell
                and roles[column] in (None, "seller")
                and self._is_name(cell)
                and self._holds_prices(below, [column])
            ]
            has_sellers = any(role == "seller" and column not in named for column, role in enumerate(roles))
            role = "note" if has_sellers or is_seller_known else "seller"
            words = tuple((column, (role, _unpriced(cells[column]))) for column in named)
        return self._of_names(lines[position], roles, words, below) if len(words) >= _LEAST_COLUMNS else None

    def _of_ways(self, lines: Sequence[Line], position: int, roles: Sequence[str | None]) -> Header | None:
        """Read a line whose headings are all ways of paying or durations, above cards in a column without a heading."""
        cells = lines[position].cells
        ways = [column for column, cell in enumerate(cells) if cell and self._headers.is_term(cell)]
        others = [column for column in range(len(cells)) if column not in ways]
        if len(ways) < _LEAST_COLUMNS or any(cells[column] for column in others[1:]) or others[:1] != [0]:
            return None
        below = self._rows_below(lines, position)
        if not self._kinds.has_card([row.cells[0] for row in below]) or not self._holds_prices(below, ways):
            return None
        settled = ["price" if column in ways else role for column, role in enumerate(roles)]
        return make_header(lines[position].row, cells, ["card", *settled[1:]])

    def _of_sizes(self, lines: Sequence[Line], position: int, roles: Sequence[str | None]) -> Header | None:
        """Read a line whose headings of prices are numbers of cards, each price for so many; else None."""
        cells = lines[position].cells
        headings = {column: _unpriced(cell) for column, cell in enumerate(cells) if cell}
        sizes = self._sized.find(headings, self._rows_below(lines, position))
        money = {column: self._money(cell) for column, cell in enumerate(cells)}
        corner = next((one for column, one in money.items() if one and column not in sizes), "")
        if not sizes or any(self._is_billed(money[column] or corner) for column in sizes):
            return None
        named = [
            f"{money[column] or corner}{sizes[column]}" if column in sizes else cell
            for column, cell in enumerate(cells)
        ]
        return make_header(
            lines[position].row, named, ["price" if column in sizes else role for column, role in enumerate(roles)]
        )

    def _is_billed(self, money: str) -> bool:
        """Tell whether a unit in brackets says what an amount is for."""
        unit = self._clues.read("heading", money).unit if money else None
        return unit is not None and unit.billed is not None

    def read_turned(self, lines: Sequence[Line], position: int) -> TurnedTable | None:
        """Read the lines from a position on as a turned table; None where they are none."""
        first = next((column for column, cell in enumerate(lines[position].cells) if cell), 0)
        run = self._attributes(lines, position, first)
        if len(run) < _LEAST_COLUMNS:
            return None
        labels = [line.cells[first] for line in run]
        roles = [self._headers.role(label) for label in labels]
        has_corner = roles[0] in (None, "card", "node", "index") and self._kinds.has_card(run[0].cells[first + 1 :])
        if has_corner:
            roles[0] = "card"
        known = [role for role in roles if role]
        if "card" not in roles or len(known) < (_LEAST_COLUMNS if has_corner else _LEAST_ATTRIBUTES):
            return None
        carding = run[roles.index("card")].cells
        columns = [column for column, cell in enumerate(carding) if column > first and cell]
        if not columns or not self._kinds.has_card([carding[column] for column in columns]):
            return None
        for number, (label, role) in enumerate(zip(labels, roles, strict=True)):
            if (
                role in (None, "pricing", "term")
                and self._headers.is_term(label)
                and self._holds_prices([run[number]], columns)
            ):
                roles[number] = "price"
        prices = [number for number, role in enumerate(roles) if role == "price"]
        if not any(self._holds_prices([run[number]], columns) for number in prices) or 2 * len(known) < len(roles):
            return None
        beside = [
            (line.row, column, cell)
            for line in run
            for column, cell in enumerate(line.cells)
            if cell and column != first and column not in columns
        ]
        turned = tuple(
            Line(row=column + 1, cells=tuple(line.cells[column] if column < len(line.cells) else "" for line in run))
            for column in columns
        )
        return TurnedTable(header=turn_header(run, labels, roles), lines=turned, height=len(run), beside=tuple(beside))

    def _quantity_words(self, cells: Sequence[str]) -> _Words:
        """List the headings that are a quantity."""
        found = ((column, self._quantities.read(_unpriced(cell))) for column, cell in enumerate(cells) if cell)
        return tuple((column, quantity) for column, quantity in found if quantity is not None)

    def _roles_of_rows(
        self, roles: Sequence[str | None], carded: Sequence[int], below: Sequence[Line], *, is_open: bool
    ) -> list[str | None]:
        """Name the roles of a grid of cards; a column of names without a heading of its own holds the sellers."""
        settled = list(roles)
        for column, role in enumerate(roles):
            if column in carded or role not in (None, "card", "price", "node"):
                continue
            cells = [row.cells[column] for row in below if column < len(row.cells) and row.cells[column]]
            is_names = bool(cells) and all(self._is_name(cell) and not self._is_price(cell) for cell in cells)
            is_seller = is_names and "seller" not in settled and is_open
            settled[column] = "seller" if is_seller else None
        return settled

    def _of_names(self, line: Line, roles: Sequence[str | None], words: _Words, below: Sequence[Line]) -> Header | None:
        """Make the header of a grid whose columns are named so; None where no prices stand below."""
        columns = [column for column, _ in words]
        are_cards = any(isinstance(word, tuple) and word[0] == "card" for _, word in words)
        others = [column for column, cell in enumerate(line.cells) if column not in columns]
        beside = [row.cells[column] for row in below for column in others if column < len(row.cells)]
        has_cards_below = self._kinds.has_card(beside)
        if not self._holds_prices(below, columns) or has_cards_below == are_cards:
            return None
        corner = next(
            (self._money(cell) for cell in (line.cells[column] for column in others) if self._money(cell)), ""
        )
        cells = [self._money(cell) or corner if column in columns else cell for column, cell in enumerate(line.cells)]
        settled = ["price" if column in columns else role for column, role in enumerate(roles)]
        return replace(make_header(line.row, cells, settled), parts=(), words=words)

    def _may_head(self, cells: Sequence[str]) -> bool:
        given = [cell for cell in cells if cell]
        return len(given) >= _LEAST_COLUMNS and not any(map(is_too_long, given)) and not any(map(self._is_price, given))

    def _rows_below(self, lines: Sequence[Line], position: int) -> list[Line]:
        """List the lines that follow, up to a line of one cell, a remark, a total or a line without a price."""
        below: list[Line] = []
        for line in lines[position + 1 :]:
            given = [cell for cell in line.cells if cell]
            is_other = (
                len(given) < _LEAST_COLUMNS or self._kinds.is_note(line.cells) or self._kinds.is_total(line.cells)
            )
            if not is_other and any(map(self._is_price, given)):
                below.append(line)
            elif below or not is_other:
                break
        return below

    def _attributes(self, lines: Sequence[Line], position: int, first: int) -> list[Line]:
        """List the lines of a turned table: each begins with a heading of its own, values stand beside it."""
        run: list[Line] = []
        seen: set[str] = set()
        for line in lines[position : position + _MOST_ATTRIBUTES]:
            label = line.cells[first] if first < len(line.cells) else ""
            has_values = any(line.cells[first + 1 :]) and not any(line.cells[:first])
            if not label or not has_values or plain(label) in seen or PLAIN_NUMBER.fullmatch(label):
                break
            seen.add(plain(label))
            run.append(line)
        return run

    def _holds_prices(self, rows: Sequence[Line], columns: Sequence[int]) -> bool:
        """Tell whether the cells of some columns are prices, or stand for one; at least one is an amount."""
        cells = [row.cells[column] for row in rows for column in columns if column < len(row.cells)]
        given = [cell for cell in cells if plain(cell) not in NOTHING_WORDS]
        priced = sum(1 for cell in given if self._is_price(cell))
        has_amount = any(self._clues.amounts.read(plain(cell), is_price=True) for cell in given if self._is_price(cell))
        return has_amount and priced >= _LEAST_PRICED * len(given)

    def _is_price(self, cell: str) -> bool:
        """Tell whether a cell is a price, or a word that stands for one."""
        text = plain(cell)
        if self._is_number(text) or self._clues.words.no_price.pattern.fullmatch(text):
            return True
        return bool(self._clues.amounts.read(text, is_price=False)) and not self._kinds.has_card([cell])

    def _is_number(self, text: str) -> bool:
        return PLAIN_NUMBER.fullmatch(text) is not None and not text.endswith("%")

    def _is_name(self, heading: str) -> bool:
        """Tell whether a heading may be a name: nothing in it is known."""
        return self._clues.read("heading", _unpriced(heading)) is NO_CLUES

    def _has_money(self, heading: str) -> bool:
        return bool(self._money(heading))

    def _money(self, heading: str) -> str:
        """Give what a heading says in brackets of the money and of what it is for; empty where it says nothing."""
        found = _BRACKETS.search(half_width(heading))
        if found is None:
            return ""
        clues = self._clues.read("heading", found[1])
        return found[1] if clues.currency is not None and clues.unit is not None else ""


def _unpriced(heading: str) -> str:
    """Cut off what a heading says in brackets."""
    return _BRACKETS.sub("", half_width(heading)).strip()

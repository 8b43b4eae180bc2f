"""The columns of a table: which holds what. Columns may stand in any order, several may hold prices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import name_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.document import Line
    from suanpei.market.quotes.layout.entries import Cell
    from suanpei.market.quotes.layout.quantity import Quantity

ROLE_ORDER = (
    *("instance", "gpus", "term", "pricing", "unit", "tax", "currency", "links", "stock", "charges", "host", "node"),
    *("card", "form", "memory", "note", "text", "region", "date", "valid", "seller", "index"),
)
"""Whose word counts first where several cells of a row say the same thing."""
_RANK = {role: rank for rank, role in enumerate(ROLE_ORDER)}


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Header:
    """The columns of a table."""

    row: int
    roles: tuple[str | None, ...]
    """By column; None where the heading is not known."""
    headings: tuple[str, ...]
    """As written."""
    prices: tuple[int, ...]
    """Columns of prices. [-]"""

    letters: tuple[str, ...]
    """Name of each column."""
    order: tuple[tuple[int, str], ...]
    """Column and role of the cells that hold no price, those whose word counts first in front."""
    card_columns: tuple[int, ...]
    """Columns that name a card or an instance. [-]"""
    has_stock: bool
    """Whether a column counts what is on hand."""
    totals: tuple[int, ...] = ()
    """Columns of totals, which are held against the price. [-]"""
    parts: tuple[Header, ...] = ()
    """Tables that stand side by side below this line, each with its own columns; empty where there is one."""
    own: frozenset[int] = frozenset()
    """Columns of a part. [-]"""
    words: tuple[tuple[int, Cell | Quantity], ...] = ()
    """Columns of prices whose heading is a card, a seller or a quantity, with that as a cell of each row below; empty
    where headings only say what their cells hold."""
    rows: tuple[int, ...] = ()
    """Of a turned table, whose headings stand one below the other: the row of each heading; its lines are columns."""

    def cell(self, sheet: str | None, row: int, column: int) -> str:
        """Name a cell of the table."""
        if self.rows:
            return name_cell(sheet, self.rows[column], row - 1)
        return f"{self.letters[column]}{row}" if sheet is None else name_cell(sheet, row, column)

    @property
    def goods(self) -> tuple[int, ...]:
        """Columns that may say what is sold where none names cards. [-]"""
        return tuple(column for column, role in self.order if role in ("node", "text"))

    @property
    def names_cards(self) -> bool:
        """Whether the headings of prices are cards."""
        return any(isinstance(word, tuple) and word[0] == "card" for _, word in self.words)

    def line(self, sheet: str | None, row: int) -> str:
        """Name a line of the table: its row, or in a turned table the cell of its card."""
        column = self.card_columns[0] if self.card_columns else 0
        return self.cell(sheet, row, column) if self.rows else name_cell(sheet, row)

    def heading(self, role: str) -> str:
        """Give the heading of the first column of a role; empty where there is none."""
        return self.headings[self.roles.index(role)] if role in self.roles else ""

    def column(self, *roles: str) -> int | None:
        """Give the first column of any of these roles, in the order asked."""
        for role in roles:
            if role in self.roles:
                return self.roles.index(role)
        return None


def make_header(row: int, cells: Sequence[str], roles: Sequence[str | None]) -> Header:
    """Make the header of a line of headings, parted where tables stand side by side.

    Args:
        row: As a person counts. [-]
        cells: The headings, as written. [-]
        roles: By column; None where the heading is not known. [-]
    """
    header = _make_whole(row, cells, roles)
    starts = _part_starts(roles)
    if not starts:
        return header
    return replace(header, parts=tuple(_make_part(header, columns) for columns in _part_columns(roles, starts)))


def turn_header(lines: Sequence[Line], cells: Sequence[str], roles: Sequence[str | None]) -> Header:
    """Make the header of a turned table.

    Args:
        lines: The rows that its headings begin. [-]
        cells: The headings, as written. [-]
        roles: By heading; None where it is not known. [-]
    """
    return replace(_make_whole(lines[0].row, cells, roles), rows=tuple(line.row for line in lines))


def rank(cell: Cell) -> int:
    """Give the place of a cell among those of its row: whose word counts first comes first."""
    return _RANK.get(cell[0], len(_RANK))


def _make_whole(row: int, cells: Sequence[str], roles: Sequence[str | None]) -> Header:
    order = sorted(
        ((column, role or "text") for column, role in enumerate(roles) if role not in ("price", "total")),
        key=lambda item: (_RANK.get(item[1], len(_RANK)), cells[item[0]]),
    )
    return Header(
        row=row,
        roles=tuple(roles),
        headings=tuple(cells),
        letters=tuple(name_cell(None, 0, column)[:-1] for column in range(len(roles))),
        prices=tuple(column for column, role in enumerate(roles) if role == "price"),
        order=tuple(order),
        card_columns=tuple(column for column, role in enumerate(roles) if role in ("card", "instance")),
        has_stock="stock" in roles,
        totals=tuple(column for column, role in enumerate(roles) if role == "total"),
    )


def _part_starts(roles: Sequence[str | None]) -> list[int]:
    """Find where tables side by side begin: each at a column of cards that has prices of its own before the next."""
    cards = [column for column, role in enumerate(roles) if role == "card"]
    if not cards:
        return []
    ends = [*cards[1:], len(roles)]
    starts = [card for card, end in zip(cards, ends, strict=True) if "price" in roles[card:end]]
    return starts if len(starts) > 1 and len(starts) == len(cards) else []


def _part_columns(roles: Sequence[str | None], starts: Sequence[int]) -> list[frozenset[int]]:
    """Share the columns out: those before the first part, and those that only the last part has, hold for all."""
    spans = [range(start, end) for start, end in zip(starts, [*starts[1:], len(roles)], strict=True)]
    first_roles = {roles[column] for column in spans[0]}
    last_price = max(column for column, role in enumerate(roles) if role == "price")
    shared = {
        *range(starts[0]),
        *(column for column in range(last_price + 1, len(roles)) if roles[column] not in first_roles),
    }
    return [frozenset(span) | shared for span in spans]


def _make_part(header: Header, columns: frozenset[int]) -> Header:
    return replace(
        header,
        roles=tuple(role if column in columns else None for column, role in enumerate(header.roles)),
        prices=tuple(column for column in header.prices if column in columns),
        totals=tuple(column for column in header.totals if column in columns),
        order=tuple(item for item in header.order if item[0] in columns),
        card_columns=tuple(column for column in header.card_columns if column in columns),
        own=columns,
    )

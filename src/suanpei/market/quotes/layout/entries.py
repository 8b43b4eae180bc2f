"""What is read as one offer each: a row of a table or a piece of running text, with the remarks that hold for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suanpei.market.quotes.layout.header import Header
    from suanpei.market.quotes.layout.quantity import Quantity
    from suanpei.messages import Message

Cell = tuple[str, str]
"""Role of the column, and the text as written."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One row or piece of text that offers something."""

    row: int
    """As a person counts. [-]"""
    cells: tuple[Cell, ...]
    """Every cell that is not blank, prices left out; those whose word counts first in front."""
    prices: tuple[tuple[int | None, str], ...] = ()
    """Column from 0 (None in running text) and text of every cell of prices."""
    totals: tuple[tuple[int, str], ...] = ()
    """Column from 0 and text of every cell of totals."""
    quantity: Quantity | None = None
    """How many must be rented for the price; None where that is not said."""
    header: Header | None = None
    """None in running text and in a table without headings."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """A line that speaks of several offers."""

    cell: str
    text: str
    is_note: bool = False
    """Whether its line begins as a note does: 备注, 说明."""


@dataclass(kw_only=True, slots=True)
class Block:
    """Entries that share a seller and remarks; their order means nothing."""

    seller: str = ""
    remarks: list[Remark] = field(default_factory=list)
    """The one that counts first stands first."""
    entries: list[Entry] = field(default_factory=list)
    currency: str | None = None
    """Of a section below the headings (``美元报价 (USD)``): it counts more than theirs; None where none is named."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CarriedSeller:
    """A seller whose name stands before one offer, and whose later offers stand on lines of their own."""

    seller: str
    cell: str
    """Where the name stands."""
    rows: list[int] = field(default_factory=list)
    """Lines of offers that are taken as of the same seller."""


@dataclass(kw_only=True, slots=True)
class SheetContent:
    """What a sheet holds."""

    blocks: list[Block] = field(default_factory=list)
    unread: list[tuple[str, Message]] = field(default_factory=list)
    """Cell and reason."""
    idle: list[Remark] = field(default_factory=list)
    """Remarks that hold for no offer of the sheet."""
    headless_rows: list[str] = field(default_factory=list)
    """Cells of rows that were read without headings."""
    units: list[Remark] = field(default_factory=list)
    """Lines of units below headings."""
    continued_rows: list[str] = field(default_factory=list)
    """Rows whose first cells are those of the row above."""
    carried: list[CarriedSeller] = field(default_factory=list)


def find_idle_remarks(content: SheetContent, remarks: list[Remark]) -> list[Remark]:
    """Find the remarks that hold for no offer of a sheet."""
    used = {remark.cell for block in content.blocks for remark in block.remarks}
    return [remark for remark in remarks if remark.cell not in used]


def list_remarks(blocks: list[Block]) -> list[Remark]:
    """List the remarks that hold for offers, each once, in the order of the file."""
    return list({remark.cell: remark for block in blocks for remark in reversed(block.remarks)}.values())

"""What is read as one offer each: a row of a table or a piece of running text, with the remarks that hold for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suanpei.market.quotes.header import Header
    from suanpei.market.quotes.quoted import Place
    from suanpei.messages import Message


@dataclass(kw_only=True, slots=True)
class Entry:
    """One row or piece of text that offers something."""

    place: Place
    """Of the row; the cell of a price is named later. [-]"""
    cells: tuple[tuple[str, str], ...]
    """Role and text of every cell that is not blank, prices left out, the most trusted first."""
    prices: tuple[tuple[int, str, str], ...] = ()
    """Column from 0, heading and text of every cell of prices."""
    header: Header | None = None
    """None in running text and in a table without headings."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """A line that speaks of several offers."""

    cell: str
    text: str


@dataclass(kw_only=True, slots=True)
class Block:
    """Entries that share a seller and remarks; their order means nothing."""

    seller: str = ""
    remarks: list[Remark] = field(default_factory=list)
    """The one that counts first stands first."""
    entries: list[Entry] = field(default_factory=list)


@dataclass(kw_only=True, slots=True)
class SheetContent:
    """What a sheet holds."""

    blocks: list[Block] = field(default_factory=list)
    unread: list[tuple[str, Message]] = field(default_factory=list)
    """Cell and reason."""
    headless_rows: list[str] = field(default_factory=list)
    """Cells of rows that were read without headings."""

"""Remarks behind the offers of a message: which of them hold for the offer before them, which for all of the message.

A line between two offers is of the one before it; what says 以上 is of all offers before it, and of none behind it.
Terms behind the last of several offers (``不含税，押一付一``) hold for all, as people close a list; not where they are
indented below the last one, speak of its machine, or where an offer before has a line of its own on the same matter.
"""

from __future__ import annotations

import bisect
import itertools
from collections import defaultdict
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from suanpei.market.quotes.layout.entries import Block

if TYPE_CHECKING:
    from suanpei.market.quotes.document import Line
    from suanpei.market.quotes.layout.entries import Entry, Remark
    from suanpei.market.quotes.text.clues import Clues

_CLOSING = frozenset({"terms", "tax", "currency", "invoice"})
"""Matters of which a line behind several offers says something where it holds for all of them."""
_OF_MACHINE = frozenset({"links", "node_gpus", "stock", "implied", "card_pflops", "unit"})
"""Matters that differ from offer to offer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Behind:
    """A remark behind an offer."""

    remark: Remark
    matters: frozenset[str]
    row: int
    indent: int


class OwnRemarks:
    """Keeps the remarks behind the offers of one sheet."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        """Of the lines that name a card, rising."""
        self._indents: dict[int, int] = {}
        self._last_rows: dict[int, int] = {}
        """Last line that the offers of a line with a card go on to, by its row."""
        self._behind: defaultdict[int, list[_Behind]] = defaultdict(list)
        self._above: defaultdict[int, list[Remark]] = defaultdict(list)
        """Remarks that hold for all offers before them, by the row of the last."""
        self._units: defaultdict[int, list[Remark]] = defaultdict(list)

    def begin(self, line: Line) -> None:
        """Begin offers: a line names a card, or stands for one that was named elsewhere."""
        self._rows.append(line.row)
        self._indents[line.row] = line.indent
        self._last_rows[line.row] = line.row

    def go_on(self, line: Line) -> None:
        """Note that a line goes on with the offers before it."""
        if self._rows:
            self._last_rows[self._rows[-1]] = line.row

    def keep(self, line: Line, remark: Remark, clues: Clues) -> None:
        """Keep a remark behind the offers of the last line with a card."""
        matters = frozenset(field.name for field in fields(clues) if getattr(clues, field.name) != field.default)
        if clues.terms is not None and clues.unit is not None and clues.unit.billed is None:
            matters -= {"unit"}  # the month of 起租1个月 is the term's
        kept = _Behind(remark=remark, matters=matters, row=line.row, indent=line.indent)
        self._behind[self._rows[-1]].append(kept)

    def keep_above(self, remark: Remark) -> None:
        """Keep a remark that holds for the offers of the message before it, and for none behind it."""
        self._above[self._rows[-1]].append(remark)

    def lend_unit(self, unit: Remark) -> None:
        """Keep the unit of the price before for the offers of the last line."""
        self._units[self._rows[-1]].append(unit)

    def part(self, block: Block) -> list[Block]:
        """Part the offers of a message where a remark holds for those of one line only."""
        rows = list(dict.fromkeys(self._row_of(entry) for entry in block.entries))
        closing = self._closing(rows)
        shared = [*(one.remark for one in closing), *block.remarks]
        parts: list[Block] = []
        for row, entries in itertools.groupby(block.entries, key=self._row_of):
            own = [*self._units[row], *(one.remark for one in self._behind[row] if one not in closing)]
            above = [remark for last in rows if last >= row for remark in self._above[last]]
            if own or not parts or parts[-1].remarks != [*above, *shared]:
                parts.append(Block(seller=block.seller, remarks=[*own, *above, *shared]))
            parts[-1].entries += entries
        return parts

    def _closing(self, rows: list[int]) -> list[_Behind]:
        """List the remarks behind the last of several offers that hold for all of them."""
        if len(rows) < 2:
            return []
        last = rows[-1]
        told = {matter for row in rows[:-1] for one in self._behind[row] for matter in one.matters & _CLOSING}
        return [
            one
            for one in self._behind[last]
            if one.row > self._last_rows[last]
            and one.indent <= self._indents[last]
            and one.matters & _CLOSING
            and not one.matters & (_OF_MACHINE | told)
        ]

    def _row_of(self, entry: Entry) -> int:
        """Give the row of the line that names the card of an entry."""
        return self._rows[bisect.bisect_right(self._rows, entry.row) - 1]

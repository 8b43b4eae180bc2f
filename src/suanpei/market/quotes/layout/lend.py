"""Remarks beside the tables of a document: a sheet of nothing but remarks speaks of the tables that it stands around.

What says 以上 holds for the tables before it, what says 以下 for those after it. Any other line holds for all tables,
except that between two of them a line that begins as no note (单位：元/台/月) heads the tables after it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import name_cell
from suanpei.market.quotes.layout.entries import Remark
from suanpei.messages import Message, excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.document import Line, Sheet
    from suanpei.market.quotes.layout.entries import SheetContent
    from suanpei.market.quotes.layout.lines import LineReader


def lend_headings(sheets: Sequence[Sheet], kinds: LineReader) -> list[tuple[Sheet, Remark | None]]:
    """Take the heading of one card's offers from the text above a table to that table, where no other card follows it.

    Args:
        sheets: Of one document, in order. [-]
        kinds: Tells which lines are such headings. [-]

    Returns:
        Every sheet, and its heading; None where it has none.
    """
    lent: list[tuple[Sheet, Remark | None]] = []
    for sheet in sheets:
        heading = None
        if sheet.kind == "table" and lent and lent[-1][0].kind == "text":
            above, its_own = lent[-1]
            found = _find_heading(above, kinds)
            if found is not None:
                heading = Remark(cell=name_cell(above.name, found.row), text=_words(found))
                lent[-1] = (replace(above, lines=tuple(line for line in above.lines if line is not found)), its_own)
        lent.append((sheet, heading))
    return lent


def _find_heading(sheet: Sheet, kinds: LineReader) -> Line | None:
    """Find the last line of a text that names a card, where it is a heading that nobody speaks."""
    naming = next((line for line in reversed(sheet.lines) if kinds.has_card([_words(line)])), None)
    if naming is None or not kinds.is_card_heading(_words(naming)) or kinds.take_sender(_words(naming))[0] is not None:
        return None
    return naming


def _words(line: Line) -> str:
    return " ".join(filter(None, line.cells))


def lend_remarks(contents: Sequence[SheetContent], kinds: LineReader) -> None:
    """Give the remarks of sheets without offers to the sheets with offers that they speak of, and list the others.

    Args:
        contents: Of every sheet of one document, in order; changed in place. [-]
        kinds: Tells of which lines a remark speaks. [-]
    """
    offering = [number for number, content in enumerate(contents) if content.blocks]
    lent: dict[int, list[tuple[int, Remark]]] = {number: [] for number in offering}
    for number, content in enumerate(contents):
        for remark in content.idle:
            targets = _targets(remark, number, offering, kinds) if not content.blocks else []
            for target in targets:
                lent[target].append((number, remark))
            if not targets:
                reason = Message("a remark that holds for no offer: {words}", words=excerpt(remark.text))
                content.unread.append((remark.cell, reason))
    for target, remarks in lent.items():
        nearest = [remark for _, remark in sorted(remarks, key=lambda one: (one[0] > target, abs(one[0] - target)))]
        for block in contents[target].blocks:
            block.remarks += nearest


def _targets(remark: Remark, number: int, offering: Sequence[int], kinds: LineReader) -> list[int]:
    """List the sheets that a remark speaks of."""
    before = [other for other in offering if other < number]
    after = [other for other in offering if other > number]
    if kinds.speaks_of_above(remark.text):
        return before
    if kinds.speaks_of_below(remark.text):
        return after
    is_heading = before and after and not remark.is_note and not kinds.is_date([remark.text])
    return after if is_heading else [*before, *after]

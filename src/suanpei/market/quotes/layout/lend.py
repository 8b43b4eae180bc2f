"""Remarks beside the tables of a document: a sheet of nothing but remarks speaks of the tables that it stands around.

What says 以上 holds for the tables before it, what says 以下 for those after it. Any other line holds for all tables,
except that between two of them a line that begins as no note (单位：元/台/月) heads the tables after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.messages import Message, excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.layout.entries import Remark, SheetContent
    from suanpei.market.quotes.layout.lines import LineReader


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

"""Bare numbers below headings that are not known: none is a price, and none is dropped without being named."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from suanpei.market.quotes.layout.heading_reader import PLAIN_NUMBER
from suanpei.market.quotes.layout.heading_units import complete
from suanpei.market.quotes.text.clues import NO_CLUES
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.market.quotes.document import Line
    from suanpei.market.quotes.layout.header import Header
    from suanpei.market.quotes.text.clue import ClueReader

_MOST_NAMED = 5
"""Numbers of a column that are written out. [-]"""


class UnknownNumbers:
    """Collects them for one sheet."""

    def __init__(self, sheet: str | None, clues: ClueReader) -> None:
        self._sheet = sheet
        self._clues = clues
        self._found: defaultdict[tuple[Header, int], list[tuple[str, str]]] = defaultdict(list)

    def take(self, line: Line, header: Header) -> None:
        """Keep the numbers of a row, unless their heading gives them a meaning."""
        for column, role in header.order:
            if role != "text":
                continue
            text = line.cells[column] if column < len(line.cells) else ""
            if not PLAIN_NUMBER.fullmatch(text):
                continue
            if self._clues.read("text", complete("text", text, header.headings[column])) is NO_CLUES:
                self._found[header, column].append((header.cell(self._sheet, line.row, column), text))

    def name(self) -> list[tuple[str, Message]]:
        """Name them: the first cell of each column, and why it is not read."""
        return [
            (
                found[0][0],
                Message(
                    "{count} numbers below '{heading}', a heading that is not known, are not read: {words}",
                    count=len(found),
                    heading=header.headings[column],
                    words=", ".join(text for _, text in found[:_MOST_NAMED]),
                ),
            )
            for (header, column), found in sorted(self._found.items(), key=lambda item: (item[0][0].row, item[0][1]))
        ]

"""Sellers that only a title or the name of the file names: ``北京星河科技 报价单``, ``Northwind price list``."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import name_cell
from suanpei.market.quotes.text.words import half_width, plain
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.document import Document, Sheet
    from suanpei.market.quotes.layout.lines import LineReader
    from suanpei.market.quotes.prices.draft import Draft
    from suanpei.market.quotes.text.words import QuoteWords

_LONGEST_TITLE = 60
"""A longer line is a sentence. [characters]"""
_SEPARATORS = re.compile(r"[_\-—–·|]+")


@dataclass(frozen=True, kw_only=True)
class NamedSellers:
    """What the sellers of a document's tables were taken from."""

    said: tuple[Message, ...]
    cells: frozenset[str]
    """Of the titles that were taken."""


class TitleReader:
    """Reads titles with one catalogue's words."""

    def __init__(self, words: QuoteWords, kinds: LineReader) -> None:
        self._kinds = kinds
        lines = words.lines
        title, generic = lines["title"].source, lines["generic"].source
        company = f"{lines['company'].source}|{lines['trade'].source}"
        self._several = lines["several"]
        self._company = re.compile(
            rf"^(?P<name>[^:：,，。;；]{{1,30}}(?:{company}))(?=$|[\s\d(（]|{title}|{generic})",
            re.IGNORECASE,
        )
        self._before = re.compile(
            rf"^(?P<name>[A-Z][A-Za-z0-9.&']*(?: [A-Za-z0-9.&']+){{0,3}}?) (?i:{title})[\s\d/.-]*$"
        )
        self._generic = re.compile(rf"(?:{generic}|{company}|\d|\s)+", re.IGNORECASE)

    def read(self, title: str) -> str | None:
        """Read the seller that a title names; None where it names none, or compares several.

        Args:
            title: As written. [-]
        """
        text = half_width(title)
        if not text or len(text) > _LONGEST_TITLE or self._several.has(plain(text)) or self._kinds.is_note([text]):
            return None
        found = self._company.match(text) or self._before.match(text)
        if found is None or self._generic.fullmatch(found["name"]) or self._kinds.has_card([found["name"]]):
            return None
        return found["name"].strip()

    def find(self, sheet: Sheet) -> dict[str, str]:
        """Find the sellers that lines of one cell name, with the cell of the first that names each."""
        found: dict[str, str] = {}
        for line in sheet.lines:
            given = [column for column, cell in enumerate(line.cells) if cell]
            if len({line.cells[column] for column in given}) == 1 and (seller := self.read(line.cells[given[0]])):
                column = None if sheet.kind == "text" else given[0]
                found.setdefault(seller, name_cell(sheet.name, line.row, column))
        return found

    def of_file(self, file: str) -> str:
        """Give the seller that a file's name names, else the name itself; empty where there is none."""
        stem = PurePath(file).stem
        if not re.search(r"\w", stem):
            return ""
        return self.read(_SEPARATORS.sub(" ", stem)) or stem


def name_sellers(document: Document, drafts: Sequence[Draft], titles: TitleReader) -> NamedSellers:
    """Name the seller of tables that name none themselves, by their title, else by their file; drafts are changed.

    Where any offer of the document names its seller, those without one stay unnamed: they are another's.

    Args:
        document: That the drafts were read from. [-]
        drafts: Of the document. [-]
        titles: Reader of titles. [-]
    """
    if not drafts or any(draft.seller or draft.header is None for draft in drafts):
        return NamedSellers(said=(), cells=frozenset())
    by_sheet: defaultdict[str | None, dict[str, str]] = defaultdict(dict)
    beside: dict[str, str] = {}
    for sheet in document.sheets:
        found = titles.find(sheet)
        if sheet.kind == "text":
            beside |= found
        else:
            by_sheet[sheet.name] |= found
    said: dict[Message, None] = {}
    cells: set[str] = set()
    for draft in drafts:
        names = by_sheet[draft.place.sheet] or beside
        if len(names) == 1:
            ((draft.seller, cell),) = names.items()
            cells.add(cell)
            said[
                Message(
                    "{file} {cell}: the seller is taken from the title: {seller}",
                    file=document.file,
                    cell=cell,
                    seller=draft.seller,
                )
            ] = None
        elif stem := titles.of_file(document.file):
            draft.seller = stem
            said[
                Message(
                    "{file}: no seller is named; the name of the file stands for it: {seller}",
                    file=document.file,
                    seller=stem,
                )
            ] = None
    return NamedSellers(said=tuple(said), cells=frozenset(cells))

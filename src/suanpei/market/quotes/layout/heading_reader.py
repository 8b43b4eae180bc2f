"""Headings of tables: what a word, a unit or a term above a column says that its cells hold."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from suanpei.market.quotes.layout.header import make_header
from suanpei.market.quotes.text.words import half_width, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.document import Line
    from suanpei.market.quotes.layout.header import Header
    from suanpei.market.quotes.text.card import CardReader
    from suanpei.market.quotes.text.clue import ClueReader
    from suanpei.market.quotes.text.words import QuoteWords

_LONGEST_HEADING = 40
"""A longer cell, what it says in brackets left out, is no heading. [characters]"""
_LONGEST_BRACKETED = 120
"""A cell that is longer with what it says in brackets is a remark. [characters]"""
LEAST_NAMED = 2
"""Columns with a known heading that a header has at least. [-]"""
_OFFER_ROLES = frozenset({"card", "price", "instance", "node", "gpus"})
_CERTAIN_ROLES = frozenset({"card", "price"})
"""With these and one more named, a wide table may have more headings that are not known than are."""
_WAYS = frozenset({None, "pricing", "term", "tax"})
"""A heading of these (包月, 不含税) may head prices too, where it has their unit."""
_COUNTED = frozenset({"card", "gpus"})
"""A heading of these may name the card only as what money is for: On-demand $/GPU-hr."""
_SOLD_ROLES = frozenset({"card", "instance", "node", "gpus"})
"""A heading that is only a unit stands beside one of these; a remark (税 | 元/月) has none."""
_RANGE = re.compile(r"\d[\d.]*\s*[-~]\s*\d[\d.]*")
_LED_BY_NUMBER = re.compile(r"[¥$€]?\s*\d")
PLAIN_NUMBER = re.compile(r"[¥￥$€]?\s*\d[\d.,]*\s*[万%]?")
_BRACKETED = re.compile(r"\([^)]*\)|\[[^\]]*\]|【[^】]*】")
_MORE = re.compile(r"^(?:per|price per|extra|additional|额外|超出|加购|每)\s*")
_STATED = re.compile(r":\s*\S")
"""``报价日期:2025年3月`` states something, a heading only names it."""
_SHORT_WORD = 2
"""Latin words up to this length name a column only as the whole heading. [characters]"""


class HeaderReader:
    """Reads headings with one catalogue's words."""

    def __init__(self, clues: ClueReader, cards: CardReader) -> None:
        self._words: QuoteWords = clues.words
        self._clues = clues
        self._cards = cards
        self._by_heading = {heading: role for role, headings in self._words.roles.items() for heading in headings}
        self._contained = sorted(
            (
                (heading, role)
                for heading, role in self._by_heading.items()
                if not (heading.isascii() and len(heading) <= _SHORT_WORD) and len(heading) > 1
            ),
            key=lambda item: (item[1] not in ("price", "total"), -len(item[0]), item[1] != "price"),
        )
        """A heading that holds a word for a price or total is one, whatever else it names; the longer word counts."""
        words = self._words
        word = rf"(?:{words.currencies.source}|{words.billed.source}|{words.periods.source}|g|gb|gib|%)"
        self._unit_words = re.compile(rf"[万千]?\s*{word}(?:\s*[/每·]?\s*(?:per\s+)?{word})*")
        self._priced_unit = re.compile(rf"\(?\s*[万千]?\s*(?:{self._words.currencies.source})(?=\s*[/每·]|\s+per\s)")

    def read(self, row: int, cells: Sequence[str], *, is_sold: bool = False) -> Header | None:
        """Read a line as a header; None where it is none.

        Args:
            row: As a person counts. [-]
            cells: Of the line. [-]
            is_sold: Whether a line above says what is sold, so that no column need do so. [-]
        """
        given = [cell for cell in cells if cell]
        if any(PLAIN_NUMBER.fullmatch(cell) for cell in given):
            return None
        if len(given) < LEAST_NAMED or any(map(is_too_long, given)):
            return None
        roles = [self.role(cell) if cell else None for cell in cells]
        terms = [self.is_term(cell) for cell in cells]
        named = {role for role in roles if role} | ({"price"} if _has_price_terms(roles, terms) else set())
        known = sum(
            1 for cell, role, is_term in zip(cells, roles, terms, strict=True) if role or is_term or self._is_part(cell)
        )
        is_known = 2 * known >= len(given) or (len(named) > LEAST_NAMED and named >= _CERTAIN_ROLES)
        if len(named) < LEAST_NAMED or not named & _OFFER_ROLES or not is_known:
            return None
        if any(self._is_content(cell) for cell in given):
            return None
        if self._is_priced_by_unit(cells, roles) and (
            not (named & _SOLD_ROLES or is_sold) or any(self._is_row_cell(cell) for cell in given)
        ):
            return None
        priced = [
            number
            for number, (role, is_term) in enumerate(zip(roles, terms, strict=True))
            if role == "price" or (is_term and role in (None, "pricing"))
        ]
        if "price" not in roles and len([number for number in priced if roles[number] == "pricing"]) == 1:
            priced = [number for number in priced if roles[number] is None]
        if "price" not in roles and not priced:
            priced = [number for number, role in enumerate(roles) if role == "total" and self._has_unit(cells[number])]
        settled = ["price" if number in priced else role for number, role in enumerate(roles)]
        return make_header(row, cells, settled)

    def is_row_of(self, running: Header, cells: Sequence[str]) -> bool:
        """Tell a row of a running table, such as a card not of the catalogue, from the headings of the next table.

        Headings name a card or a price outright; a row has something else where cards stand, or only ways of paying.
        """
        if any(self._by_heading.get(_BRACKETED.sub("", plain(cell)).strip(" :*#/")) in _OFFER_ROLES for cell in cells):
            return False
        cards = [cells[column] for column in running.card_columns if column < len(cells) and cells[column]]
        named = {self.role(cell) for cell in cells if cell} & _OFFER_ROLES
        return not named or any(self.role(card) is None for card in cards)

    def read_double(self, line: Line, following: Line, *, is_sold: bool = False) -> Header | None:
        """Read two lines as one heading, where cells of the first stand over several of the second; None where not.

        A cell merged downwards stands in both lines, or has a blank below; one merged sideways is repeated, or has
        blanks beside it.
        """
        has_number = any(PLAIN_NUMBER.fullmatch(cell) for cell in (*line.cells, *following.cells))
        if has_number or sum(map(bool, line.cells)) < LEAST_NAMED:
            return None
        if self.are_units(following.cells):
            return self.read(following.row, _with_units(line.cells, following.cells), is_sold=is_sold)
        width = max(len(line.cells), len(following.cells))
        upper, lower = ([*one.cells, *[""] * (width - len(one.cells))] for one in (line, following))
        for column in range(1, width):
            if lower[column] and not upper[column]:
                upper[column] = upper[column - 1]
        split = [column for column in range(width) if lower[column] and lower[column] != upper[column]]
        shared = [column for column in split if column + 1 in split and upper[column] == upper[column + 1] != ""]
        if not shared or not any(upper[column] and column not in split for column in range(width)):
            return None
        joined = [
            f"{over} {below}" if below and below != over else over for over, below in zip(upper, lower, strict=True)
        ]
        if any(self._is_content(cell) for cell in lower if cell):
            return None
        return self.read(following.row, joined, is_sold=is_sold)

    def are_units(self, cells: Sequence[str]) -> bool:
        """Tell whether a line holds nothing but the units of the headings above it: ``GB | 元/小时 | 天 | 台``."""
        given = [plain(cell).strip(" ()") for cell in cells if cell]
        return len(given) >= LEAST_NAMED and all(map(self._unit_words.fullmatch, given))

    @lru_cache(maxsize=4_096)  # noqa: B019  readers live as long as their catalogue
    def role(self, heading: str) -> str | None:
        """Name the role of a heading; None where no known word stands in it."""
        text = plain(heading)
        bare = _BRACKETED.sub("", text).strip(" :*#/")
        for candidate in (text, text.strip(" :*"), bare):
            if candidate in self._by_heading:
                return self._by_heading[candidate]
        if self._words.terms["converted"].pattern.match(bare):
            return "total"
        if self._is_price_unit(text):
            return "price"
        if len(bare) > _LONGEST_HEADING or not bare:
            return None
        role = self._contained_role(bare)
        role = "price" if role in _WAYS | _COUNTED and self._is_priced(text, bare) else role
        return "charges" if role == "price" and self._is_of_other_goods(bare) else role

    def _contained_role(self, bare: str) -> str | None:
        """Name the role of the longest known word that a heading contains."""
        for word, role in self._contained:
            found = bare.find(word)
            if found >= 0 and (not word.isascii() or _stands_alone(bare, found, len(word))):
                return role
        return None

    def _is_of_other_goods(self, bare: str) -> bool:
        """Tell whether a heading of prices begins with what is rented beside the cards: 存储单价, vCPU price."""
        start = _MORE.sub("", bare)
        return self._words.lines["beside"].pattern.match(start) is not None and not self._words.counts["cards"].has(
            bare
        )

    def _is_priced(self, text: str, bare: str) -> bool:
        """Tell whether a heading without a word for a price has money per time (包月(元/卡/月)), or ends in 价."""
        clues = self._clues.read("heading", text)
        return bare.endswith("价") or bool(clues.currency and clues.unit and clues.unit.period)

    def _is_priced_by_unit(self, cells: Sequence[str], roles: Sequence[str | None]) -> bool:
        """Tell whether only units, such as a row of a table has too, speak for columns of prices."""
        prices = [cell for cell, role in zip(cells, roles, strict=True) if role == "price"]
        return bool(prices) and all(self._is_price_unit(plain(cell)) for cell in prices)

    def _is_row_cell(self, cell: str) -> bool:
        """Tell whether a cell is a row's: a number, a range or a term, or a word that stands for a price."""
        text = plain(cell)
        return bool(_LED_BY_NUMBER.match(text)) or self._words.no_price.has(text)

    def _is_price_unit(self, text: str) -> bool:
        """Tell whether a heading is only a currency and what an amount is for: ``元/卡/时``, ``$ per GPU-hour``."""
        currency = self._priced_unit.match(text)
        if currency is None:
            return False
        unit = self._clues.amounts.units.follow(text, currency.end())
        return not unit.is_empty and not _BRACKETED.sub("", text[unit.end :]).strip(" )")

    def _has_unit(self, heading: str) -> bool:
        """Tell whether a heading says for what an amount is, and for how long."""
        unit = self._clues.read("heading", heading).unit
        return unit is not None and unit.billed is not None and unit.period is not None

    def is_term(self, cell: str) -> bool:
        """Tell whether a heading names a way of paying or a duration: a column of a price matrix."""
        text = plain(cell)
        if not text:
            return False
        terms = self._clues.terms.read(text, is_term=True)
        return terms.pricing is not None or (terms.minimum_hours or 0) > 0

    def _is_part(self, heading: str) -> bool:
        """Tell whether a heading names a part of the machine: CPU, 内存(GB)."""
        bare = _BRACKETED.sub("", plain(heading)).strip(" :*#/")
        return self._words.lines["part"].pattern.fullmatch(bare) is not None

    def _is_content(self, cell: str) -> bool:
        """Tell whether a cell is an offer's, not a heading's: it names a card or an amount, or states something."""
        text = plain(cell)
        if _STATED.search(_BRACKETED.sub("", text)) or (self._cards.find(text) and self.role(cell) is None):
            return True
        if (text.startswith("/") and len(text) > 1) or _RANGE.fullmatch(text):
            return True
        return bool(re.fullmatch(r"[¥$€]?\s*\d[\d.,]*\s*(?:[万wk元%])?", text)) or bool(
            re.search(r"\d", text) and self._clues.amounts.read(text, is_price=False)
        )


def _with_units(headings: Sequence[str], units: Sequence[str]) -> list[str]:
    """Write each unit in brackets behind the heading that it stands below."""
    width = max(len(headings), len(units))
    over, below = ([*cells, *[""] * (width - len(cells))] for cells in (headings, units))
    return [f"{one}({unit.strip(' ()（）')})" if unit else one for one, unit in zip(over, below, strict=True)]


def is_too_long(cell: str) -> bool:
    """Tell whether a cell is too long for a heading; what brackets hold (netto, zzgl. 19 % USt) may be long."""
    return len(cell) > _LONGEST_BRACKETED or len(_BRACKETED.sub("", half_width(cell)).strip()) > _LONGEST_HEADING


def _has_price_terms(roles: Sequence[str | None], terms: Sequence[bool]) -> bool:
    """Tell whether a column without a known heading is named by a way of paying: its cells are prices."""
    return any(is_term and role is None for role, is_term in zip(roles, terms, strict=True))


def _stands_alone(text: str, start: int, length: int) -> bool:
    before, after = text[:start][-1:], text[start + length :][:1]
    return not (before.isascii() and before.isalpha()) and not (after.isascii() and after.isalpha())

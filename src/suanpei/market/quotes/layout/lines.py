"""Lines that are no offers: titles, dates, totals, remarks, names of sellers; and of which rows they speak."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.words import half_width, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.text.card import CardReader
    from suanpei.market.quotes.text.clue import ClueReader

_BRACKETED = re.compile(r"^\s*[【\[「]\s*([^】\]」]{1,40})\s*[】\]」]\s*[:：]?\s*")
_BRACKETED_SPEAKER = re.compile(
    r"^\s*[【\[「]\s*(?P<name>[^】\]」]{1,40})\s*[】\]」]\s*(?:(?P<date>20\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?)"
    r"|\d{1,2}[-/.月]\d{1,2}日?)?\s*\d{1,2}:\d{2}(?::\d{2})?\s*[:：]?\s*"
)
_SPEAKER = re.compile(
    r"^(?P<name>[^\d\s:：，,。][^:：，,。]{0,24}?)\s+(?:(?P<date>20\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?)"
    r"|\d{1,2}[-/.月]\d{1,2}日?)?\s*(?P<time>\d{1,2}:\d{2}(?::\d{2})?)\s*[:：]?\s*"
)
_STAMPED = re.compile(
    r"^[\[(【]?\s*(?P<date>20\d\d[-/.年]\d{1,2}[-/.月]\d{1,2}日?)\s+\d{1,2}:\d{2}(?::\d{2})?\s*[\])】]?\s*(?P<name>[^:：\d]{0,24})\s*[:：]?\s*"
)
_NAMED = re.compile(r"^(?P<name>[^\d:：，,。;；/()（）]{1,20})\s*[:：]\s*(?P<rest>.*)$")
_SUM = re.compile(r"\d[\d.,]*\s*[万千]?\s*(?:元|块|[$¥€]|usd|cny|rmb)\s*/|[$¥€]\s*\d")
_OTHER_WORDS = re.compile(r"[\d含包免送]")
"""Between the name of another thing and an amount they say that the amount is not its price: ``带宽100M 6万/台``."""
_INCLUDED = re.compile(r"[含包免送]")
_MODEL = re.compile(r"[a-z]\d{2,4}(?![\dgt])")
"""``K100``; ``64C256G`` is a machine's memory."""
_SENTENCE = re.compile(r"[,;。?!]|: *\S")
_LONGEST_SELLER = 40
"""A longer name is a sentence. [characters]"""
_MARK = re.compile(r"^\s*(?:[*※#•·\-—]|\d{1,2}\s*[.、)）](?!\d)|[一二三四五六七八九十]{1,3}\s*[、.])\s*")


class LineReader:
    """Tells what a line is, with one catalogue's words."""

    def __init__(self, clues: ClueReader, cards: CardReader) -> None:
        self._words = clues.words
        self._clues = clues
        self._cards = cards
        self._leads = {
            kind: re.compile(rf"^(?:{self._words.lines[kind].source})\s*(?:$|[:：.、\d\-—(（]|\s)")
            for kind in ("total", "note", "date", "wanted")
        }
        self._asking = re.compile(
            rf"^(?:{self._words.lines['wanted_card'].source})\s*(?P<thing>\S.*)|{self._words.lines['asking'].source}"
        )
        self._on_top = re.compile(
            rf"(?:{self._words.lines['surcharge'].source}|(?<!\d)\+|\+(?=\d))\s*[\da-z]{{0,6}}\s*$"
        )
        self._aside = re.compile(rf"^[^\d含包免送]{{0,8}}?(?:{self._words.lines['aside'].source})")
        self._beside = self._words.lines["beside"]
        self._doubt = re.compile(
            rf"[\s.!)]*(?:(?:{self._words.lines['doubt'].source})[\s.!)]*)?\?|\s*吗(?=$|[\s,;.!)])"
        )
        self._part = re.compile(rf"(?:{self._words.lines['part'].source})(?=$|[\s:(/\d*×-])")
        sizes = "|".join(sorted(self._words.measures_gb, key=len, reverse=True))
        self._sized = re.compile(
            rf"^(?:[^\d含包免送]{{0,4}}?)\d{{1,4}}\s*(?:(?:{sizes}|m)(?:bps)?|兆)\s*的?"
            rf"(?:{self._words.lines['aside'].source}|{self._words.charges.source})\s*[:为是]?\s*$"
        )
        self._aside_behind = re.compile(
            rf"(?:\s*(?:for|per|的)\s*|\s(?=[a-z]))?(?:{self._words.lines['aside'].source})"
            rf"(?!\s*[\d:]|[^,;。]{{0,6}}(?:[含包免送另不]|{self._words.free.source}|extra))"
        )
        self._seller = re.compile(rf"^(?:{self._words.lines['seller'].source})\s*[:：]\s*(.+)$", re.IGNORECASE)
        self._company = re.compile(
            rf"[^\d:：，,。;；()（）/]{{1,30}}(?:{self._words.lines['company'].source})", re.IGNORECASE
        )
        self._roles = frozenset(word for words in self._words.roles.values() for word in words)

    def is_total(self, cells: Sequence[str]) -> bool:
        """Tell whether a line sums others up."""
        first = self._first(cells)
        return bool(self._leads["total"].search(first)) and not self.has_card(cells)

    def is_note(self, cells: Sequence[str]) -> bool:
        """Tell whether a line begins as a remark does."""
        first = self._first(cells)
        return bool(self._leads["note"].search(first)) or first.startswith(("*", "※"))

    def is_wanted(self, text: str) -> bool:
        """Tell whether somebody asks for machines rather than offers them."""
        text = plain(text)
        if self._leads["wanted"].search(text):
            return True
        found = self._asking.search(text)
        if found is None:
            return self._is_question(text)
        if found["thing"] is None:
            return True
        spans = self._cards.find(found["thing"])
        return bool(spans) and spans[0][0] == 0

    def _is_question(self, text: str) -> bool:
        """Tell whether a line names a card, neither price nor count, and asks."""
        if not self._words.lines["question"].has(text) or not self.has_card([text]):
            return False
        clues = self._clues.read("text", text)
        return not (clues.amounts or clues.stock)

    def is_doubted(self, text: str) -> bool:
        """Tell whether a price of a text is asked, not offered: a question stands right behind it: ``14万/月??``."""
        words = plain(text)
        return any(self._doubt.match(words, amount.end) for amount in self._clues.read("text", text).amounts)

    def is_buyer(self, sender: str) -> bool:
        """Tell whether who speaks is the one who asks, not a seller."""
        return self._words.lines["buyer"].pattern.fullmatch(plain(sender)) is not None

    def is_sale(self, text: str) -> bool:
        """Tell whether machines are sold, not rented; a price per hour or month is a rent whatever stands beside it."""
        words = plain(text)
        if not self._words.lines["sale"].has(words) or self._words.lines["rent"].has(words):
            return False
        return not any(amount.unit.period for amount in self._clues.read("text", text).amounts)

    def is_aside(self, text: str, *, is_beside: bool) -> bool:
        """Tell whether a clause prices another thing than a card: a penalty, a line of bandwidth, a CPU node.

        Args:
            text: The clause. [-]
            is_beside: Whether another clause prices a card: what comes on top of a price, and a sum that names no
                machine behind what it may include, is then none of its own. [-]
        """
        words = plain(text)
        if self.has_card([text]):
            return False
        clues = self._clues.read("text", text)
        if is_beside and clues.amounts and self._on_top.search(words[: clues.amounts[0].start]):
            return True
        if len(clues.amounts) == 1 and self._aside_behind.match(words, clues.amounts[0].end):
            return True
        is_unbilled = bool(clues.amounts) and not clues.amounts[0].unit.billed
        if is_beside and is_unbilled and self._sized.search(words[: clues.amounts[0].start]):
            return True
        if not (clues.amounts or clues.charges) and self._clues.amounts.prices_other(words):
            return True
        found = self._aside.search(words)
        if found is None:
            return False
        if not clues.amounts:
            # a sum per Mbps or address is none of a card, and is named all the same; storage and traffic are charges
            return not clues.charges and _SUM.search(words, found.end()) is not None
        between = words[found.end() : clues.amounts[0].start]
        if is_beside and not _INCLUDED.search(between) and not any(one.unit.billed for one in clues.amounts):
            return True
        return not _OTHER_WORDS.search(between)

    def is_asked(self, text: str) -> bool:
        """Tell whether a clause takes up what somebody asked for."""
        return self._words.lines["asked"].has(plain(text))

    def is_date(self, cells: Sequence[str]) -> bool:
        """Tell whether a line is the date of the quote."""
        first = self._first(cells)
        if self._leads["date"].search(first):
            return True
        found = self._clues.dates.find(first)
        return found is not None and len(first) - len(found.group()) <= 2

    def has_card(self, cells: Sequence[str]) -> bool:
        """Tell whether a card of the catalogue, or a cloud's instance, is named."""
        return any(map(self._cards.is_named, cells))

    @lru_cache(maxsize=16_384)  # noqa: B019  readers live as long as their catalogue
    def is_ditto(self, cell: str) -> bool:
        """Tell whether a cell says that it is as the one above: 同上."""
        return self._words.lines["ditto"].pattern.fullmatch(plain(cell)) is not None

    def names_one_card(self, text: str) -> bool:
        """Tell whether a line names one card, be it several times: H100/H800 are two."""
        words = plain(text)
        named = {self._cards.read(words[slice(*span)]).candidates for span in self._cards.find(words)}
        return len(named) == 1

    def is_card_heading(self, text: str) -> bool:
        """Tell whether a line is the heading of one card's offers and offers nothing itself: H800 SXM 80GB 报价."""
        words = plain(text)
        if len(words) > _LONGEST_SELLER or _SENTENCE.search(words) or self._beside.has(words):
            return False
        if not self.names_one_card(text) or self._words.no_price.has(words) or self.is_wanted(text):
            return False
        clues = self._clues.read("text", text)
        return not (clues.amounts or clues.stock or self.is_sale(text) or self.is_note([text]))

    def is_beside(self, text: str) -> bool:
        """Tell whether a cell where cards stand names what is rented beside them: storage, bandwidth, a CPU node."""
        words = plain(text)
        return self._beside.has(words) and not _MODEL.search(words) and not self.has_card([text])

    def is_part(self, cells: Sequence[str]) -> bool:
        """Tell whether a line begins with the name of a part of a machine, and names no card: 内存 | 64GB DDR5 | 32."""
        first = next((plain(cell) for cell in cells if cell and not cell.isdecimal()), "")
        return self._part.match(first) is not None and not self.has_card(cells)

    def speaks_of_later(self, text: str) -> bool:
        """Tell whether a clause speaks of a delivery to come."""
        return self._words.lines["later"].has(plain(text))

    def speaks_of_above(self, text: str) -> bool:
        """Tell whether a remark says that it holds for what stands before it."""
        return self._words.lines["above"].has(plain(text))

    def speaks_of_below(self, text: str) -> bool:
        """Tell whether a remark says that it holds for what follows."""
        return self._words.lines["below"].has(plain(text))

    def speaks_of_every(self, text: str) -> bool:
        """Tell whether a remark says that it holds for all."""
        return self._words.lines["every"].has(plain(text))

    def seller_of(self, text: str) -> str | None:
        """Read the seller that a heading names: ``【甲云】``, ``供应商：甲云``; None where it names none."""
        bracketed = _BRACKETED.match(text)
        if bracketed and bracketed.end() == len(text):
            return self._as_seller(bracketed[1])
        found = self._seller.match(half_width(text))
        return self._as_seller(found[1]) if found else None

    def company(self, text: str) -> str | None:
        """Read a line that is nothing but a company's name: ``甲公司``, ``Acme Cloud``; None where it is none."""
        if not self._company.fullmatch(half_width(text)):
            return None
        return self._as_seller(text)

    def take_sender(self, text: str) -> tuple[str | None, str, str]:
        """Cut off who speaks, and when, at the start of a chat line.

        Returns:
            The sender (None where nothing names one), the date as written, and the rest.
        """
        for pattern in (_STAMPED, _BRACKETED_SPEAKER, _SPEAKER):
            if found := pattern.match(text):
                sender = self._as_seller(found["name"].strip(" -"))
                return sender or "", found["date"] or "", text[found.end() :]
        if found := _BRACKETED.match(text):
            seller = self._as_seller(found[1])
            return (seller, "", text[found.end() :]) if seller else (None, "", text)
        if found := self._seller.match(half_width(text)):
            seller = self._as_seller(found[1])
            return (seller, "", "") if seller else (None, "", text)  # 报价单位:元/台/月 names a unit, no company
        found = _NAMED.match(text)
        if found and (len(found["name"]) > 1 or self.is_buyer(found["name"]) or self.has_card([found["rest"]])):
            name = self._as_seller(found["name"])
            if name is None:
                return None, "", text
            return name, "", found["rest"]
        return None, "", text

    def without_mark(self, text: str) -> str:
        """Cut off a bullet or a number of a list."""
        return _MARK.sub("", text, count=1) if not self._cards.find(plain(text)[:1]) else text

    def _as_seller(self, name: str) -> str | None:
        """Take a name as a seller's unless it is a heading, a card, a price, or a word on prices."""
        text = plain(self.without_mark(name))
        if not text or len(text) > _LONGEST_SELLER or text in self._roles or self._words.lines["opening"].has(text):
            return None
        if self._cards.find(text) or self._words.price_lead.has(text) or self._clues.dates.find(text):
            return None
        if any(self._leads[kind].search(text) for kind in self._leads) or self._words.tax.has(text):
            return None
        words = self._words
        if any(
            one.pattern.fullmatch(text)
            for one in (*words.terms.values(), words.lines["aside"], words.stock, words.charges, words.flags)
        ):
            return None
        clues = self._clues.read("unit", name)
        unit = clues.unit
        if (
            clues.currency
            or (unit is not None and unit.period and (unit.is_marked or unit.end == len(text)))
            or self._words.pricing.has(text)
            or text.startswith(("http", "单位"))
        ):
            return None
        return half_width(name).strip(" :：")

    def _first(self, cells: Sequence[str]) -> str:
        return plain(next((cell for cell in cells if cell), ""))

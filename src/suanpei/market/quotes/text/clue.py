"""Cells and remarks in text: each is read once for everything that it may say, whatever its column.

A cell may speak of anything: ``8卡整机 月付``, ``$0.07/GB-mo; egress free``, ``per node, 12 months prepaid``. The
column decides only whose word counts first (`clues.join_clues`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from suanpei.market.offer import LARGEST_SERVER_GPUS
from suanpei.market.quotes.text.amount import Amount, AmountReader
from suanpei.market.quotes.text.charge import ChargeReader
from suanpei.market.quotes.text.claim import read_claim
from suanpei.market.quotes.text.clues import NO_CLUES, NO_FLAGS, Clues
from suanpei.market.quotes.text.count import SPREAD_FLAG, CountReader, Stock
from suanpei.market.quotes.text.date import NO_DATE, DateReader, QuoteDate, without_days
from suanpei.market.quotes.text.denial import DenialReader
from suanpei.market.quotes.text.link import LinkReader
from suanpei.market.quotes.text.tax import TaxReader
from suanpei.market.quotes.text.term import NO_TERMS, TermReader
from suanpei.market.quotes.text.unit import NO_UNIT, Unit
from suanpei.market.quotes.text.words import NOTHING_WORDS, QuoteWords, has_wide_digits, plain
from suanpei.market.terms import UNKNOWN_TAX

if TYPE_CHECKING:
    from suanpei.market.quotes.text.card import CardReader

UNIT_ROLES = ("unit", "currency")
LOOSE_ROLES = frozenset({"text", "note", "unit", "pricing", "node", "card"})
"""Columns whose words may name what is on hand."""
_NUMBER_ROLES = frozenset({"price", "gpus", "stock", "term", "tax", "links", "section", "heading"})
"""Columns in which a bare number or an unknown word says something."""
_UNCOUNTED_ROLES = frozenset({"links", "charges", "stock", "term", "memory"})
"""Columns whose numbers count no cards of a machine."""
_WIDE = frozenset({"fullwidth_digits"})
_SPREAD = frozenset({SPREAD_FLAG})
_SCALE = re.compile(r"(?<!\d)(?<!\d\s)([万千])(?=\s*(?:[元块/¥$€]|美|欧|港|人民|rmb|usd|$|\)))")
_SCALES = {"万": 10_000, "千": 1_000}
_NO_CURRENCY_HERE = re.compile(r"汇率|exchange|=")
_UNIT_WORD = re.compile(r"单位|\bunits?\b")
_MOST_REMARK = 24
"""A remark of at most this length may name a currency without saying that it speaks of prices. [characters]"""
_MOST_REMEMBERED = 16_384
"""Different cells of one role that are remembered. [-]"""


class ClueReader:
    """Reads cells with one catalogue's words."""

    def __init__(self, words: QuoteWords, cards: CardReader) -> None:
        self.words = words
        self._cards = cards
        self.amounts = AmountReader(words)
        self.counts = CountReader(words)
        self.terms = TermReader(words)
        self.dates = DateReader(words)
        self._denials = DenialReader(words)
        self._charges = ChargeReader(words)
        self._links = LinkReader(words)
        self._taxes = TaxReader(words)
        self._remembered: defaultdict[str, dict[str, Clues]] = defaultdict(dict)
        telling = [
            *(words.billed, words.periods, words.currencies, words.pricing, words.tax, words.flags, words.charges),
            *(words.pflops, words.thirty_days, words.places, words.implied, words.stock, words.price_lead),
            *words.terms.values(),
            *words.counts.values(),
            *words.links.values(),
            *words.tax_words.values(),
            words.lines["unsold"],
        ]
        self._telling = re.compile(
            "|".join([r"[折押付%+×*/]|\dx|\d\s*[万千wk](?![a-z])", *(one.source for one in telling)])
        )
        """What any clue has at least one of; a cell without is not looked into."""
        self._spread = re.compile(
            rf"(?:\d+(?:\.\d+)?\s*p(?:flops)?\s*(?:算力)?\s*,?\s*)?(?:{words.counts['spread'].source})\s*(?:[2-9]|[1-9]\d|[两二三四五六七八九十多几]|two|three|four|five|several)"
            rf"\s*个?\s*(?:{words.counts['sites'].source})"
        )
        self._telling_price = re.compile(r"[^\d\s.,¥$€元万/~-]")
        self._said_of_prices = re.compile(
            "|".join(
                one.source
                for one in (words.price_lead, words.lines["above"], words.lines["below"], words.lines["every"])
            )
            + "|单位|币种|unit|currency|quote|quot|prices|rates"
        )

    def read(self, role: str, written: str, heading: str = "") -> Clues:
        """Read one cell.

        Args:
            role: Of its column: a key of ``roles``, ``text`` for running text, ``section`` for a remark on all rows,
                ``heading`` for the heading of a column of prices. [-]
            written: The cell. [-]
            heading: Of its column, where that tells what a bare yes or number means. [-]
        """
        key = f"{written}\n{heading}" if heading else written
        remembered = self._remembered[role]
        clues = remembered.get(key)
        if clues is None:
            clues = self._read(role, plain(written), written, heading)
            if len(remembered) < _MOST_REMEMBERED:
                remembered[key] = clues
        return clues

    def _read(self, role: str, text: str, written: str, heading: str) -> Clues:
        if not text or not (role in _NUMBER_ROLES or self._telling.search(text)):
            return NO_CLUES
        if role == "price" and not self._telling_price.search(text):
            amounts = self.amounts.read(text, is_price=True)
            flags = _WIDE if has_wide_digits(written) else NO_FLAGS
            return Clues(amounts=amounts, labels=("",) * len(amounts), flags=flags)
        denied, text = self._denials.read(text)
        charges, rest = self._charges.read(without_days(self._spread.sub(_blank, text)))
        large, large_gpus = None, None
        if role == "stock" or role in LOOSE_ROLES:
            large, large_gpus, rest = self.counts.take_large(rest)
        amounts = self._find_amounts(role, rest)
        labels = tuple(self._label(rest, amount) for amount in amounts)
        for amount, label in zip(amounts, labels, strict=True):
            start = amount.start if role in ("price", "text") else _label_start(rest, amount, label)
            rest = rest[:start] + " " * (amount.end - start) + rest[amount.end :]
        terms = self.terms.read(rest, is_term=role in ("term", "heading"), is_running=role == "text")
        if "deposit" in denied and terms.deposit_months is None:
            terms = replace(terms, deposit_months=Decimal(0))
        tax = self._taxes.read(rest, heading=heading, is_tax=role == "tax")
        unit = self._find_unit(role, text if role != "price" else "", rest)
        node_gpus, stock = self._count(role, rest, heading)
        stock, node_gpus = large or stock, large_gpus or node_gpus
        clues = Clues(
            unit=None if unit.is_empty else unit,
            unit_scale=self._scale(role, rest),
            currency=self._currency(role, rest),
            terms=None if terms == NO_TERMS else terms,
            tax=None if tax == UNKNOWN_TAX or (tax.state == "unknown" and tax.rate_fraction is None) else tax,
            charges=charges,
            links=self._read_links(role, written),
            node_gpus=node_gpus,
            stock=stock,
            implied=None if role == "section" else self._implied(rest),
            amounts=amounts,
            labels=labels,
            flags=self._flags(role, self._charges.without_outages(text), written),
            pflops_words=self.words.pflops.groups(text),
            card_pflops=read_claim(text),
            place=self._place(role, written),
            invoice=self._taxes.find_invoice(rest) if role not in _UNCOUNTED_ROLES else "",
        )
        return NO_CLUES if clues == NO_CLUES else clues

    def _count(self, role: str, rest: str, heading: str) -> tuple[int | None, Stock | None]:
        """Read the cards of a machine and what is on hand; a count that no machine holds is of what is on hand."""
        is_loose = role in LOOSE_ROLES
        stock = None
        if role == "stock" or is_loose:
            goods = self._cards.without(rest) if is_loose else rest
            stock = self.counts.read_stock(goods, is_stock=role == "stock", heading=plain(heading))
        if role == "section":
            return self._find_section_node(rest), stock
        if role in _UNCOUNTED_ROLES:
            return None, stock
        rack = self.counts.read_rack(rest)
        if rack is not None:
            return rack, stock
        node_gpus = self.counts.read_node_gpus(rest, is_count=role == "gpus")
        if node_gpus is not None and node_gpus > LARGEST_SERVER_GPUS and (role == "gpus" or is_loose):
            return None, stock or Stock(count=node_gpus, unit="card")
        return node_gpus, stock

    def name_charge(self, written: str, heading: str) -> str:
        """Put the heading of a column of charges before a cell that does not say what it is for: 流量 免费.

        Args:
            written: The cell. [-]
            heading: Of its column; one that names several charges says nothing of the cell. [-]
        """
        is_told = plain(written) in NOTHING_WORDS or self.read("charges", written).charges
        if is_told or len(self.words.charges.groups(plain(heading))) > 1:
            return written
        return f"{heading} {written}" if written[0].isascii() else f"{heading}{written}"

    def read_left_out(self, written: str) -> tuple[str, ...]:
        """Give the words of the sums of a running text that are none of its prices."""
        text = self._denials.read(plain(written))[1]
        return self.amounts.read_left_out(self._charges.read(without_days(self._spread.sub(_blank, text)))[1])

    def read_date(self, written: str, role: str = "section") -> QuoteDate:
        """Read date and validity of a cell or remark; in a row's own note a date may be of anything else."""
        text = plain(written)
        if not (role == "valid" or self.dates.may_speak(text)):
            return NO_DATE
        if role == "valid":
            return self.dates.read(f"有效期至 {text}" if self.dates.find(text) else f"有效期 {text}")
        found = self.dates.read(text)
        is_other = role == "note" or self.words.lines["later"].has(text)
        return replace(found, day=None, last_day=None) if is_other and found.day else found

    def _read_links(self, role: str, written: str) -> str:
        if role in ("charges", "tax", "term"):
            return ""
        named = self._cards.without_names(written) if role == "text" else written
        return self._links.read(named, is_links=role == "links")

    def _find_amounts(self, role: str, rest: str) -> tuple[Amount, ...]:
        if role in ("term", "gpus", "stock", "tax", "memory", "links", "date", "valid", "index", "heading"):
            return ()
        return self.amounts.read(rest, is_price=role == "price")

    def _label(self, text: str, amount: Amount) -> str:
        """Name the way of paying that stands right before or, in brackets, right behind an amount."""
        before = list(self.words.pricing.pattern.finditer(text[: amount.start]))
        if before and not text[before[-1].end() : amount.start].strip(" :为是"):
            return self.words.pricing.group(before[-1].group())
        behind = re.match(r"\s*\(([^)]*)\)", text[amount.end :])
        found = self.words.pricing.search(behind[1]) if behind else None
        return self.words.pricing.group(found.group()) if found else ""

    def _find_unit(self, role: str, text: str, rest: str) -> Unit:
        """Read the unit of a cell of units, a heading, or a clause that says per or 每."""
        if role in (*UNIT_ROLES, "heading"):
            unit = self.amounts.units.find(rest)
            rent = self.words.rent_periods.search(rest) if role == "heading" else None
            if rent is not None and unit.billed and unit.period is None:
                return replace(unit, period=self.words.rent_periods.group(rent.group()))
            return unit
        if role == "section":
            # a title such as "GPU报价单" names a card, not what its prices are for
            named = _UNIT_WORD.search(rest)
            unit = self.amounts.units.find(rest[named.end() :]) if named else NO_UNIT
            if unit.is_empty:
                unit = self.amounts.units.find(rest)
            return unit if unit.is_marked or named else NO_UNIT
        if role in ("text", "price", "note", "pricing"):
            unit = self.amounts.units.find(rest)
            marked = re.search(r"每|per |pro |/", text or rest)
            return unit if unit.is_marked and marked else NO_UNIT
        return NO_UNIT

    def _find_section_node(self, rest: str) -> int | None:
        """Read the cards of a machine that a remark on all rows names (``单位：元/台/月，8卡整机``)."""
        gpus = self.counts.read_node_gpus(rest, is_count=False) if "node" in self.words.billed.groups(rest) else None
        return gpus if gpus is not None and 1 < gpus <= LARGEST_SERVER_GPUS else None

    def _scale(self, role: str, text: str) -> int | None:
        found = _SCALE.search(text) if role in (*UNIT_ROLES, "heading", "section") else None
        return _SCALES[found[1]] if found else None

    def _currency(self, role: str, text: str) -> str | None:
        if role in ("section", "note", "text") and (
            _NO_CURRENCY_HERE.search(text) or (len(text) > _MOST_REMARK and not self._said_of_prices.search(text))
        ):
            return None
        if role not in (*UNIT_ROLES, "heading", "section", "note", "text", "price"):
            return None
        found = self.words.currencies.search(text)
        return self.words.currencies.group(found.group()) if found else None

    def _implied(self, text: str) -> str | None:
        found = self.words.implied.search(text)
        return self.words.implied.group(found.group()) if found else None

    def _flags(self, role: str, text: str, written: str) -> frozenset[str]:
        flags = self.words.flags.groups(text)
        if role in ("price", "unit", "node", "gpus", "text") and has_wide_digits(written):
            flags |= _WIDE
        return flags | _SPREAD if self._spread.search(text) else flags

    def _place(self, role: str, written: str) -> str:
        if role == "region":
            return written.strip()
        found = self.words.places.search(plain(written)) if role in ("text", "note", "section") else None
        return found.group() if found else ""


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


def _label_start(text: str, amount: Amount, label: str) -> int:
    """Take the word before a remark's amount with it: ``spot $1.99`` says nothing of the row's own price."""
    if not label:
        return amount.start
    before = text[: amount.start].rstrip(" :为是")
    cut = max(before.rfind(separator) for separator in (" ", ",", ";", "(", "。", "、"))
    return cut + 1

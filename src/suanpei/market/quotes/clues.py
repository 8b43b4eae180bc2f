"""What the cells of a row say beside its price, each read once and remembered, then joined by their columns' roles.

A cell may speak of anything: ``8卡整机 月付``, ``$0.07/GB-mo; egress free``, ``per node, 12 months prepaid``. The
column decides only whose word counts first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from suanpei.market.quotes.amount_text import Amount, AmountReader
from suanpei.market.quotes.charge_text import Charge, ChargeReader
from suanpei.market.quotes.count_text import CountReader, Stock
from suanpei.market.quotes.date_text import DateReader, QuoteDate
from suanpei.market.quotes.link_text import LinkReader
from suanpei.market.quotes.pflops import read_claim
from suanpei.market.quotes.tax_text import TaxReader, join_taxes
from suanpei.market.quotes.term_text import NO_TERMS, TermReader, Terms
from suanpei.market.quotes.unit_text import NO_UNIT, Unit
from suanpei.market.quotes.words import QuoteWords, has_wide_digits, plain
from suanpei.market.terms import UNKNOWN_TAX, Tax

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    Cell = tuple[str, str]
    """Role of the column, and the text as written."""

UNIT_ROLES = ("unit", "currency")
LOOSE_ROLES = ("text", "note", "unit", "pricing", "node", "card")
"""Columns whose words may name links, stock, or amounts that are not the price."""
_SCALE = re.compile(r"(?<!\d)(?<!\d\s)([万千])(?=\s*(?:[元块/¥$€]|美|欧|港|人民|rmb|usd|$|\)))")
_SCALES = {"万": 10_000, "千": 1_000}
_NO_CURRENCY_HERE = re.compile(r"汇率|exchange|=")
_MOST_REMARK = 24
"""A remark of at most this length may name a currency without saying that it speaks of prices. [characters]"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Clues:
    """What one cell or a whole row says beside its price."""

    unit: Unit = NO_UNIT
    unit_scale: int = 1
    """10,000 where the unit is 万元. [-]"""
    currency: str | None = None
    terms: Terms = NO_TERMS
    tax: Tax = UNKNOWN_TAX
    charges: tuple[Charge, ...] = ()
    links: str = ""
    node_gpus: int | None = None
    stock: Stock | None = None
    implied: str | None = None
    """What its words beside the unit say that the amount is for: ``card``, ``node`` or ``instance``."""
    amounts: tuple[Amount, ...] = ()
    """Amounts of money that are no charge: in a column of prices the price, elsewhere a remark."""
    labels: tuple[str, ...] = ()
    """Way of paying that stands before each of `amounts`; empty where none does."""
    flags: frozenset[str] = frozenset()
    pflops_words: frozenset[str] = frozenset()
    card_pflops: Fraction | None = None
    """PFLOP/s of one card as the seller counts. [PFLOP/s]"""
    place: str = ""

    @property
    def is_telling(self) -> bool:
        """Whether a remark with these clues says anything that holds for offers."""
        return (
            not self.unit.is_empty
            or self.currency is not None
            or self.terms != NO_TERMS
            or self.tax != UNKNOWN_TAX
            or bool(self.charges or self.links or self.flags or self.card_pflops or self.pflops_words or self.place)
        )


class ClueReader:
    """Reads cells with one catalogue's words."""

    def __init__(self, words: QuoteWords) -> None:
        self.words = words
        self.amounts = AmountReader(words)
        self.counts = CountReader(words)
        self.terms = TermReader(words)
        self.dates = DateReader(words)
        self._charges = ChargeReader(words)
        self._links = LinkReader(words)
        self._taxes = TaxReader(words)
        self._said_of_prices = re.compile(
            "|".join(
                one.source
                for one in (words.price_lead, words.lines["above"], words.lines["below"], words.lines["every"])
            )
            + "|单位|币种|unit|currency|quote|quot"
        )

    @lru_cache(maxsize=65_536)  # noqa: B019  readers live as long as their catalogue
    def read(self, role: str, written: str, heading: str = "") -> Clues:
        """Read one cell.

        Args:
            role: Of its column: a key of ``roles``, ``text`` for running text, ``section`` for a remark on all rows,
                ``heading`` for the heading of a column of prices. [-]
            written: The cell. [-]
            heading: Of its column, where that tells what a bare yes or number means. [-]
        """
        text = plain(written)
        if not text:
            return Clues()
        charges, rest = self._charges.read(text)
        amounts = self._find_amounts(role, rest)
        labels = tuple(self._label(rest, amount) for amount in amounts)
        for amount, label in zip(amounts, labels, strict=True):
            start = amount.start if role in ("price", "text") else _label_start(rest, amount, label)
            rest = rest[:start] + " " * (amount.end - start) + rest[amount.end :]
        is_remark = role == "section"
        return Clues(
            unit=self._find_unit(role, text if role != "price" else "", rest),
            unit_scale=self._scale(role, rest),
            currency=self._currency(role, rest),
            terms=self.terms.read(rest, is_term=role in ("term", "heading")),
            tax=self._taxes.read(rest, heading=heading, is_tax=role == "tax"),
            charges=charges,
            links="" if role in ("charges", "tax", "term") else self._links.read(written, is_links=role == "links"),
            node_gpus=None
            if is_remark or role in ("links", "charges", "stock", "term", "memory")
            else self.counts.read_node_gpus(rest, is_count=role == "gpus"),
            stock=None
            if is_remark or role not in ("stock", *LOOSE_ROLES)
            else self.counts.read_stock(rest, is_stock=role == "stock"),
            implied=None if is_remark else self._implied(rest),
            amounts=amounts,
            labels=labels,
            flags=self._flags(role, text, written),
            pflops_words=self.words.pflops.groups(text),
            card_pflops=read_claim(text),
            place=self._place(role, written),
        )

    def read_date(self, written: str, role: str = "section") -> QuoteDate:
        """Read date and validity of a cell or remark; in a row's own note a date may be of anything else."""
        text = plain(written)
        if role == "valid":
            return self.dates.read(f"有效期至 {text}" if self.dates.find(text) else f"有效期 {text}")
        found = self.dates.read(text)
        is_other = role == "note" or self.words.lines["later"].has(text)
        return replace(found, day=None, last_day=None) if is_other and found.day else found

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
            return self.amounts.units.find(rest)
        if role == "section":
            speaks = self.words.currencies.has(rest) or self._said_of_prices.search(rest)
            return self.amounts.units.find(rest) if speaks else NO_UNIT
        if role in ("text", "price", "note", "pricing"):
            unit = self.amounts.units.find(rest)
            marked = re.search(r"每|per |pro |/", text or rest)
            return unit if unit.is_marked and marked else NO_UNIT
        return NO_UNIT

    def _scale(self, role: str, text: str) -> int:
        found = _SCALE.search(text) if role in (*UNIT_ROLES, "heading", "section") else None
        return _SCALES[found[1]] if found else 1

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
            flags |= {"fullwidth_digits"}
        return flags

    def _place(self, role: str, written: str) -> str:
        if role == "region":
            return written.strip()
        found = self.words.places.search(plain(written)) if role in ("text", "note", "section") else None
        return found.group() if found else ""


def _label_start(text: str, amount: Amount, label: str) -> int:
    """Take the word before a remark's amount with it: ``spot $1.99`` says nothing of the row's own price."""
    if not label:
        return amount.start
    before = text[: amount.start].rstrip(" :为是")
    cut = max(before.rfind(separator) for separator in (" ", ",", ";", "(", "。", "、"))
    return cut + 1


def join_clues(found: Sequence[tuple[str, Clues]]) -> Clues:
    """Join what the cells of a row say; the first that says a thing is believed, so order them by whose word counts.

    Args:
        found: Role and clues of each cell, the most trusted first. [-]
    """
    unit_sources = (
        [one for role, one in found if role in (*UNIT_ROLES, "heading")]
        + [one for role, one in found if role not in (*UNIT_ROLES, "heading", "section")]
        + [one for role, one in found if role == "section"]
    )
    return Clues(
        unit=_join_units([one.unit for one in unit_sources]),
        unit_scale=next((one.unit_scale for one in unit_sources if one.unit_scale != 1), 1),
        currency=next((one.currency for one in unit_sources if one.currency), None),
        terms=_join_terms([(role, one.terms) for role, one in found]),
        tax=join_taxes([one.tax for _, one in found]),
        charges=tuple(charge for _, one in found for charge in one.charges),
        links=next((one.links for role, one in found if role == "links" and one.links), "")
        or next((one.links for _, one in found if one.links), ""),
        node_gpus=next((one.node_gpus for _, one in found if one.node_gpus is not None), None),
        stock=next((one.stock for role, one in found if role == "stock" and one.stock), None)
        or next((one.stock for _, one in found if one.stock), None),
        implied=next((one.implied for _, one in found if one.implied), None),
        amounts=tuple(amount for role, one in found if role != "price" for amount in one.amounts),
        labels=tuple(label for role, one in found if role != "price" for label in one.labels),
        flags=frozenset().union(*(one.flags for _, one in found)),
        pflops_words=frozenset().union(*(one.pflops_words for _, one in found)),
        card_pflops=next((one.card_pflops for _, one in found if one.card_pflops), None),
        place=next((one.place for _, one in found if one.place), ""),
    )


def _join_units(units: Sequence[Unit]) -> Unit:
    return Unit(
        billed=next((unit.billed for unit in units if unit.billed), None),
        billed_gpus=next((unit.billed_gpus for unit in units if unit.billed_gpus), None),
        period=next((unit.period for unit in units if unit.period), None),
    )


def _join_terms(found: Sequence[tuple[str, Terms]]) -> Terms:
    terms = [one for _, one in found]

    def first(values: list[Any]) -> Any:
        return next((value for value in values if value is not None), None)

    stated = [one.minimum_hours for role, one in found if role in ("term", "heading")]
    return Terms(
        pricing=first([one.pricing for one in terms]),
        minimum_hours=first([*stated, *(one.minimum_hours for one in terms)]),
        deposit_months=first([one.deposit_months for one in terms]),
        prepaid_months=first([one.prepaid_months for one in terms]),
        prepaid_fraction=first([one.prepaid_fraction for one in terms]),
        prepaid_term_hours=first([one.prepaid_term_hours for one in terms]),
        kept_fraction=first([one.kept_fraction for one in terms]),
        is_discount_applied=first([one.is_discount_applied for one in terms]),
        has_thirty_days=any(one.has_thirty_days for one in terms),
    )

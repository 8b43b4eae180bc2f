"""From an entry to drafts, one per price, with everything that row, heading and remarks say; not yet on one basis."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from suanpei.market.quotes.clues import Clues, join_clues
from suanpei.market.quotes.date_text import QuoteDate
from suanpei.market.quotes.document import name_cell
from suanpei.market.quotes.unit_text import Unit
from suanpei.market.quotes.words import NOTHING_WORDS, half_width, plain

if TYPE_CHECKING:
    from fractions import Fraction

    from suanpei.market.quotes.amount_text import Amount
    from suanpei.market.quotes.card_text import Card, CardReader
    from suanpei.market.quotes.clues import ClueReader
    from suanpei.market.quotes.count_text import Stock
    from suanpei.market.quotes.entries import Block, Entry, Remark
    from suanpei.market.quotes.header import Header
    from suanpei.market.quotes.quoted import Place, Reading
    from suanpei.market.quotes.term_text import Terms
    from suanpei.market.terms import Tax

_OWN_COLUMNS = ("seller", "index", "stock", "region", "date", "valid")
"""Columns that are read apart, because they differ from row to row and say nothing of the price."""
_MOST_REMEMBERED = 65_536


@dataclass(frozen=True, kw_only=True, slots=True)
class RowFacts:
    """What a row says beside price, seller, stock, region and date; rows that say the same share it."""

    card: Card
    instance_gpus: int | None
    row: Clues
    shared: Clues
    """What the remarks on all rows say."""
    date: QuoteDate
    note: str


@dataclass(kw_only=True, slots=True)
class Draft:
    """One price of one row, on its way to a quoted offer."""

    place: Place
    seller: str
    facts: RowFacts
    price_text: str
    amount: Amount | None
    second_tier: Amount | None
    unit: Unit
    unit_scale: int
    currency: str | None
    terms: Terms
    tax: Tax
    stock: Stock | None
    region: str
    date: QuoteDate
    header: Header | None
    is_stock_blank: bool
    """Whether there is a column of quantities, and this row's is blank."""
    has_wide_digits: bool
    is_currency_inferred: bool = False
    series_billed: str | None = None
    """What other rows of the same card speak for: ``instance`` where prices rise with the cards."""
    readings: list[Reading] = field(default_factory=list)
    taken: Fraction | None = None
    """What one unit of the quoted currency is per accelerator-hour of the result, in the reading taken."""
    flags: set[str] = field(default_factory=set)
    worded: Fraction | None = None
    """The same for the reading that words speak for and the band contradicts; None where there is none."""
    is_plausible: bool | None = None
    unit_gpus: int | None = None
    host: Fraction | None = None

    @property
    def card(self) -> Card:
        """The card offered."""
        return self.facts.card

    @property
    def card_key(self) -> str:
        """What rows of the same card share."""
        return "|".join(self.card.candidates) or plain(self.card.as_written)


class DraftMaker:
    """Makes drafts of entries, remembering what rows that say the same say."""

    def __init__(self, clues: ClueReader, cards: CardReader) -> None:
        self._clues = clues
        self._cards = cards
        self._remembered: dict[tuple[tuple[tuple[str, str], ...], tuple[str, ...]], RowFacts] = {}

    def make(self, block: Block, entry: Entry) -> list[Draft]:
        """Make one draft per price of an entry, or one without a price."""
        remarks = tuple(remark.text for remark in block.remarks)
        facts = self._facts(tuple(cell for cell in entry.cells if cell[0] not in _OWN_COLUMNS), remarks)
        own = {role: text for role, text in entry.cells if role in _OWN_COLUMNS}
        stock_text = own.get("stock", "")
        stock = self._clues.counts.read_stock(plain(stock_text), is_stock=True) if stock_text else facts.row.stock
        has_stock_column = entry.header is not None and "stock" in entry.header.roles
        base = Draft(
            place=entry.place,
            seller=own.get("seller", "") or block.seller,
            facts=facts,
            price_text="",
            amount=None,
            second_tier=None,
            unit=facts.row.unit,
            unit_scale=1,
            currency=facts.row.currency or facts.shared.currency,
            terms=facts.row.terms,
            tax=facts.row.tax,
            stock=stock,
            region=own.get("region", "") or facts.row.place or facts.shared.place,
            date=self._date(own, facts),
            header=entry.header,
            is_stock_blank=has_stock_column and stock is None and plain(stock_text) in NOTHING_WORDS,
            has_wide_digits="fullwidth_digits" in facts.row.flags,
        )
        drafts: list[Draft] = []
        for column, heading, text in entry.prices:
            drafts += self._of_price_cell(base, column, heading, text)
        priced = [draft for draft in drafts if draft.amount is not None]
        if priced:
            return priced
        if drafts or not facts.row.amounts:
            return [drafts[0] if drafts else self._complete(base, Clues(), None, self._no_price(entry))]
        text = next(text for role, text in entry.cells if self._clues.read(role, text).amounts)
        return [
            self._complete(base, Clues(), amount, plain(text)[amount.start : amount.end] or half_width(text), label)
            for amount, label in zip(facts.row.amounts, facts.row.labels, strict=True)
            if amount.unit.period or amount is facts.row.amounts[0]
        ]

    def _no_price(self, entry: Entry) -> str:
        """Give the word that stands for a price, such as 面议."""
        found = (self._clues.words.no_price.search(plain(text)) for _, text in entry.cells)
        return next((match.group() for match in found if match is not None), "")

    def _of_price_cell(self, base: Draft, column: int, heading: str, text: str) -> list[Draft]:
        """Make the drafts of a cell of prices; a cell without an amount gives one without."""
        own = self._clues.read("price", text)
        named = self._clues.read("heading", heading)
        cell = name_cell(base.place.sheet, base.place.row, column)
        base = replace(base, place=replace(base.place, cell=cell))
        amounts = own.amounts
        if not amounts:
            return [self._complete(base, join_clues([("price", own), ("heading", named)]), None, text)]
        amounts, tier = _split_tiers(plain(text), amounts)
        clues = join_clues([("price", replace(own, amounts=(), labels=())), ("heading", named)])
        labels = own.labels if len(amounts) > 1 else ("",) * len(amounts)
        drafts = [
            self._complete(base, clues, amount, text, label) for amount, label in zip(amounts, labels, strict=False)
        ]
        return [replace(drafts[0], second_tier=tier), *drafts[1:]]

    def _complete(self, base: Draft, own: Clues, amount: Amount | None, text: str, label: str = "") -> Draft:
        """Join what amount, row, heading and remarks say; the nearer to the amount, the more it counts."""
        row, shared = base.facts.row, base.facts.shared
        units = [unit for unit in (amount.unit if amount else None, row.unit, own.unit, shared.unit) if unit]
        unit = Unit(
            billed=next((one.billed for one in units if one.billed), None),
            billed_gpus=next((one.billed_gpus for one in units if one.billed_gpus), None),
            period=next((one.period for one in units if one.period), None),
        )
        scale = 1 if amount is None or amount.is_scaled else _scale(row, own, shared)
        terms = join_clues([("heading", own), ("row", row), ("section", shared)]).terms
        if label:
            terms = replace(terms, pricing=label)
        tax = join_clues([("heading", own), ("row", row), ("section", shared)]).tax
        return replace(
            base,
            price_text=text,
            amount=amount,
            unit=unit,
            unit_scale=scale,
            currency=(amount.currency if amount else None) or row.currency or own.currency or shared.currency,
            terms=terms,
            tax=tax,
            flags=set(own.flags | row.flags | shared.flags),
            readings=[],
            has_wide_digits=base.has_wide_digits or "fullwidth_digits" in own.flags,
        )

    def _facts(self, cells: tuple[tuple[str, str], ...], remarks: tuple[str, ...]) -> RowFacts:
        key = (cells, remarks)
        facts = self._remembered.get(key)
        if facts is None:
            facts = self._read_facts(cells, remarks)
            if len(self._remembered) < _MOST_REMEMBERED:
                self._remembered[key] = facts
        return facts

    def _read_facts(self, cells: tuple[tuple[str, str], ...], remarks: tuple[str, ...]) -> RowFacts:
        found = [(role, self._clues.read(role, text)) for role, text in cells]
        shared = [("section", self._clues.read("section", text)) for text in remarks]
        card, instance_gpus = self._card(cells, remarks)
        dates = [self._clues.read_date(text, role) for role, text in cells if role in ("note", "text")]
        dates += [self._clues.read_date(text) for text in remarks]
        return RowFacts(
            card=card,
            instance_gpus=instance_gpus,
            row=join_clues(found) if found else Clues(),
            shared=join_clues(shared) if shared else Clues(),
            date=_join_dates(dates),
            note="; ".join(text for role, text in cells if role == "note"),
        )

    def _card(self, cells: tuple[tuple[str, str], ...], remarks: tuple[str, ...]) -> tuple[Card, int | None]:
        """Settle the card from its own column, else from whichever cell or remark names one."""
        by_role: dict[str, str] = {}
        for role, text in cells:
            if plain(text) not in NOTHING_WORDS:
                by_role.setdefault(role, text)
        written = by_role.get("card", "")
        instance = by_role.get("instance", "")
        if not written and not instance:
            named = [text for _, text in cells if self._names_card(text)] or [
                text for text in remarks if self._names_card(text)
            ]
            written = self._cut(named[0]) if named else ""
        elif (
            written and not self._cards.find(plain(written)) and not instance and not self._cards.find_instance(written)
        ):
            named = [text for role, text in cells if role in ("node", "form", "memory") and self._names_card(text)]
            written = self._cut(named[0]) if named else written
        form = " ".join(by_role[role] for role in ("form", "node") if role in by_role)
        card = self._cards.read(written, form, by_role.get("memory", ""), instance)
        known = self._cards.find_instance(instance) or self._cards.find_instance(written)
        return card, known.gpus if known else None

    def _names_card(self, text: str) -> bool:
        return bool(self._cards.find(plain(text)))

    def _cut(self, text: str) -> str:
        """Cut the card's name out of running text, in the seller's own letters where they can be told."""
        start, end = self._cards.find(plain(text))[0]
        half = half_width(text)
        spans = self._cards.find(half.lower())
        return half[slice(*spans[0])].strip() if spans and len(half.lower()) == len(half) else plain(text)[start:end]

    def _date(self, own: dict[str, str], facts: RowFacts) -> QuoteDate:
        stated = [self._clues.read_date(text, role) for role, text in own.items() if role in ("date", "valid")]
        return _join_dates([*stated, facts.date]) if stated else facts.date


def list_remarks(blocks: list[Block]) -> list[Remark]:
    """List the remarks that hold for offers, each once, in the order of the file."""
    return list({remark.cell: remark for block in blocks for remark in reversed(block.remarks)}.values())


def _split_tiers(text: str, amounts: tuple[Amount, ...]) -> tuple[tuple[Amount, ...], Amount | None]:
    """Tell two tiers of one price (``$0.34 / $0.69``) from prices of their own, and those from remarks."""
    first = amounts[0]
    if (
        len(amounts) == 2
        and first.unit.is_empty
        and text[first.end : amounts[1].start].strip() in ("/", "|", "或", "or")
    ):
        return (replace(first, unit=amounts[1].unit, currency=first.currency or amounts[1].currency),), amounts[1]
    return (first, *(amount for amount in amounts[1:] if amount.unit.period)), None


def _scale(row: Clues, own: Clues, shared: Clues) -> int:
    """Give 10,000 where the nearest unit is 万元."""
    for clues in (row, own, shared):
        if clues.unit_scale != 1 or clues.currency or not clues.unit.is_empty:
            return clues.unit_scale
    return 1


def _join_dates(dates: list[QuoteDate]) -> QuoteDate:
    day = next((one for one in dates if one.day), QuoteDate())
    return QuoteDate(
        day=day.day,
        last_day=day.last_day,
        valid_days=next((one.valid_days for one in dates if one.valid_days is not None), None),
        valid_until=next((one.valid_until for one in dates if one.valid_until), None),
    )

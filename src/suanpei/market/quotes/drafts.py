"""From an entry to drafts, one per price, with everything that row, heading and remarks say; not yet on one basis."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import name_cell
from suanpei.market.quotes.quoted import Place
from suanpei.market.quotes.tax_sides import join_tax_sides
from suanpei.market.quotes.text.clues import NO_CLUES, Clues, join_clues
from suanpei.market.quotes.text.date import NO_DATE, QuoteDate, join_dates
from suanpei.market.quotes.text.term import NO_TERMS, Terms
from suanpei.market.quotes.text.unit import NO_UNIT, Unit, join_units
from suanpei.market.quotes.text.words import NOTHING_WORDS, half_width, plain
from suanpei.market.quotes.totals import Total
from suanpei.market.terms import UNKNOWN_TAX

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from suanpei.market.quotes.entries import Block, Cell, Entry
    from suanpei.market.quotes.header import Header
    from suanpei.market.quotes.quoted import Reading
    from suanpei.market.quotes.text.amount import Amount
    from suanpei.market.quotes.text.card import Card, CardReader
    from suanpei.market.quotes.text.charge import Charge
    from suanpei.market.quotes.text.clue import ClueReader
    from suanpei.market.quotes.text.count import Stock
    from suanpei.market.terms import Tax

_VARYING = frozenset({"seller", "index", "region", "date", "valid", "stock"})
"""Columns that differ from row to row and say nothing of the price."""
_MOST_REMEMBERED = 8_192
"""Different rows that are remembered. [-]"""


@dataclass(kw_only=True, slots=True)
class Draft:
    """One price of one row, on its way to a quoted offer."""

    place: Place
    seller: str
    card: Card
    instance_gpus: int | None
    row: Clues
    """What the row's other cells say."""
    shared: Clues
    """What the remarks on all rows say."""
    price_text: str
    amount: Amount | None
    second_tier: Amount | None
    unit: Unit
    unit_scale: int
    currency: str | None
    terms: Terms
    tax: Tax
    stock: Stock | None
    """What is on hand."""
    region: str
    note: str
    date: QuoteDate
    header: Header | None
    is_stock_blank: bool
    """Whether there is a column of quantities, and this row's is blank."""
    flags: frozenset[str]
    is_currency_inferred: bool = False
    series_billed: str | None = None
    """What other rows of the same card speak for: ``instance`` where prices rise with the cards."""
    readings: list[Reading] = field(default_factory=list)
    taken: Fraction | None = None
    """What one unit of the quoted currency is per accelerator-hour of the result, in the reading taken."""
    worded: Fraction | None = None
    """The same for the reading that words speak for and the band contradicts; None where there is none."""
    is_plausible: bool | None = None
    unit_gpus: int | None = None
    usual_gpus: int | None = None
    """Cards of the node that the card is usually rented in, where the row states no size. [-]"""
    host: Fraction | None = None
    """What the host of one card costs beside a component price, per hour. [quoted currency/h]"""
    totals: tuple[Total, ...] = ()
    """Of the row, with the first of its prices."""

    @property
    def card_key(self) -> str:
        """What rows of the same card share."""
        return "|".join(self.card.candidates) or plain(self.card.as_written)

    @property
    def stated_gpus(self) -> int | None:
        """Cards of the node or instance, as unit, instance type or row state them. [-]"""
        return self.unit.billed_gpus or self.instance_gpus or self.row.node_gpus

    @property
    def charges(self) -> tuple[Charge, ...]:
        """What is billed beside the card."""
        return self.row.charges + self.shared.charges

    @property
    def pflops_words(self) -> frozenset[str]:
        """What a P counts, in the seller's words."""
        return self.row.pflops_words | self.shared.pflops_words

    def flag(self, *names: str) -> None:
        """Add flags."""
        self.flags = self.flags.union(names)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Facts:
    """What rows with the same cells share."""

    card: Card
    instance_gpus: int | None
    clues: Clues
    note: str
    date: QuoteDate


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """What all prices of an entry share."""

    entry: Entry
    seller: str
    facts: _Facts
    stock: Stock | None
    region: str
    date: QuoteDate
    is_stock_blank: bool


class DraftMaker:
    """Makes the drafts of the entries of one sheet."""

    def __init__(self, file: str, sheet: str | None, clues: ClueReader, cards: CardReader) -> None:
        self._file = file
        self._sheet = sheet
        self._clues = clues
        self._cards = cards
        self._block: Block | None = None
        self._remembered: dict[tuple[tuple[Cell, ...], Header | None], _Facts] = {}
        self._remarks: tuple[str, ...] = ()
        self._shared = NO_CLUES
        self._shared_date = NO_DATE

    def make(self, block: Block, entry: Entry) -> list[Draft]:
        """Make one draft per price of an entry, or one without a price."""
        drafts = self._make(block, entry)
        if entry.totals:
            drafts[0].totals = tuple(self._read_total(entry, column, text) for column, text in entry.totals)
        return drafts

    def _make(self, block: Block, entry: Entry) -> list[Draft]:
        if block is not self._block:
            self._enter(block)
        base = self._read_row(block, entry)
        drafts = [draft for column, text in entry.prices for draft in self._of_price_cell(base, column, text)]
        priced = [draft for draft in drafts if draft.amount is not None]
        if priced:
            return join_tax_sides(priced)
        if drafts or not base.facts.clues.amounts:
            return [drafts[0] if drafts else self._complete(base, NO_CLUES, NO_CLUES, None, self._no_price(entry))]
        text = next(text for role, text in entry.cells if self._clues.read(role, text).amounts)
        return [
            self._complete(base, NO_CLUES, NO_CLUES, amount, _as_written(text, amount), label)
            for amount, label in zip(base.facts.clues.amounts, base.facts.clues.labels, strict=True)
            if amount.unit.period or amount is base.facts.clues.amounts[0]
        ]

    def _read_total(self, entry: Entry, column: int, text: str) -> Total:
        """Read a cell of totals with what its heading says."""
        own, header = self._clues.read("price", text), entry.header
        heading = self._clues.read("heading", header.headings[column]) if header else NO_CLUES
        amount = own.amounts[0] if len(own.amounts) == 1 else None
        return Total(
            cell=header.cell(self._sheet, entry.row, column) if header else name_cell(self._sheet, entry.row, column),
            text=text,
            amount=amount,
            unit=join_units(amount.unit if amount else NO_UNIT, heading.unit or NO_UNIT),
            scale=heading.unit_scale or 1,
            currency=(amount.currency if amount else None) or heading.currency,
        )

    def _enter(self, block: Block) -> None:
        """Read what the remarks of a block say."""
        self._block = block
        self._remembered.clear()
        self._remarks = tuple(remark.text for remark in block.remarks)
        self._shared = join_clues([self._clues.read("section", text) for text in self._remarks])
        self._shared_date = join_dates([self._clues.read_date(text) for text in self._remarks])

    def _read_row(self, block: Block, entry: Entry) -> _Row:
        """Read what all prices of an entry share; rows that say the same are read once."""
        own = {role: text for role, text in entry.cells if role in _VARYING}
        cells = tuple(cell for cell in entry.cells if cell[0] not in _VARYING) if own else entry.cells
        facts = self._remembered.get((cells, entry.header))
        if facts is None:
            facts = self._read_facts(cells, entry.header)
            if len(self._remembered) < _MOST_REMEMBERED:
                self._remembered[cells, entry.header] = facts
        stock, is_stock_blank = facts.clues.stock, False
        if entry.header is not None and entry.header.has_stock:
            stock_text = own.get("stock", "")
            counted = self._clues.read("stock", stock_text, entry.header.heading("stock")).stock
            if stock is None or stock.count > 0:
                stock = counted or stock
            is_stock_blank = stock is None and plain(stock_text) in NOTHING_WORDS
        date = facts.date
        if "date" in own or "valid" in own:
            stated = [self._clues.read_date(own[role], role) for role in ("date", "valid") if role in own]
            date = join_dates([*stated, date])
        return _Row(
            entry=entry,
            seller=own.get("seller", "") or block.seller,
            facts=facts,
            stock=stock,
            region=own.get("region", "") or facts.clues.place or self._shared.place,
            date=date,
            is_stock_blank=is_stock_blank,
        )

    def _read_facts(self, cells: tuple[Cell, ...], header: Header | None) -> _Facts:
        """Read the cells of a row that differ little between rows."""
        by_role: dict[str, str] = {}
        found: list[Clues] = []
        dates: list[QuoteDate] = []
        read = self._clues.read
        for role, text in cells:
            if role not in by_role or (role == "card" and not self._names_card(by_role[role])):
                by_role[role] = text
            clues = read(role, text, header.heading(role)) if header and role == "tax" else read(role, text)
            if clues is not NO_CLUES:
                found.append(clues)
            if role in ("note", "text") and (date := self._clues.read_date(text, role)) is not NO_DATE:
                dates.append(date)
        card, instance_gpus = self._card(by_role, cells)
        return _Facts(
            card=card,
            instance_gpus=instance_gpus,
            clues=join_clues(found),
            note=by_role.get("note", ""),
            date=join_dates([*dates, self._shared_date]) if dates else self._shared_date,
        )

    def _no_price(self, entry: Entry) -> str:
        """Give the word that stands for a price, such as 面议."""
        found = (self._clues.words.no_price.search(plain(text)) for _, text in entry.cells)
        return next((match.group() for match in found if match is not None), "")

    def _of_price_cell(self, base: _Row, column: int | None, text: str) -> list[Draft]:
        """Make the drafts of a cell of prices; a cell without an amount gives one without."""
        own = self._clues.read("price", text)
        header, row = base.entry.header, base.entry.row
        if header is None or column is None:
            heading, cell = NO_CLUES, name_cell(self._sheet, row, column)
        else:
            heading = self._clues.read("heading", header.headings[column])
            cell = header.cell(self._sheet, row, column)
        place = Place(file=self._file, sheet=self._sheet, row=row, cell=cell)
        if not own.amounts:
            return [self._complete(base, own, heading, None, text, place=place)]
        if len(own.amounts) == 1:
            return [self._complete(base, own, heading, own.amounts[0], text, place=place)]
        amounts, tier = _split_tiers(plain(text), own.amounts)
        labels = own.labels if len(amounts) > 1 else ("",) * len(amounts)
        drafts = [
            self._complete(base, own, heading, amount, text, label, place=place)
            for amount, label in zip(amounts, labels, strict=False)
        ]
        drafts[0].second_tier = tier
        return drafts

    def _complete(
        self,
        base: _Row,
        own: Clues,
        heading: Clues,
        amount: Amount | None,
        text: str,
        label: str = "",
        *,
        place: Place | None = None,
    ) -> Draft:
        """Join what amount, cell, row, heading and remarks say; the nearer to the amount, the more it counts."""
        facts, shared = base.facts, self._shared
        row = facts.clues
        if place is None:
            number = base.entry.row
            place = Place(file=self._file, sheet=self._sheet, row=number, cell=name_cell(self._sheet, number))
        near = (own, heading, row, shared) if own is not NO_CLUES or heading is not NO_CLUES else (row, shared)
        said = join_clues(near) if near[0] is own else row if shared is NO_CLUES else join_clues(near)
        unit = amount.unit if amount is not None else NO_UNIT
        for other in (row, own, heading, shared):
            unit = unit if other.unit is None else join_units(unit, other.unit)
        terms = said.terms or NO_TERMS
        by_distance = (row, own, heading, shared)
        section = self._block.currency if self._block is not None else None
        said_currencies = (row.currency, own.currency, section, heading.currency, shared.currency)
        currency = (amount.currency if amount is not None else None) or next(filter(None, said_currencies), None)
        return Draft(
            place=place,
            seller=base.seller,
            card=facts.card,
            instance_gpus=facts.instance_gpus,
            row=row,
            shared=shared,
            price_text=text,
            amount=amount,
            second_tier=None,
            unit=unit,
            unit_scale=1 if amount is None or amount.is_scaled else _scale(by_distance),
            currency=currency,
            terms=replace(terms, pricing=label) if label else terms,
            tax=said.tax or UNKNOWN_TAX,
            region=base.region,
            note=facts.note,
            stock=base.stock,
            date=base.date,
            header=base.entry.header,
            is_stock_blank=base.is_stock_blank,
            flags=said.flags,
        )

    def _card(self, by_role: dict[str, str], cells: Sequence[Cell]) -> tuple[Card, int | None]:
        """Settle the card from its own column, else from whichever cell or remark names one."""
        written, instance = _given(by_role, "card"), _given(by_role, "instance")
        if not written and not instance:
            texts = [*(text for _, text in cells), *self._remarks]
            named = next((text for text in texts if self._names_card(text)), "")
            written = self._cut(named) if named else ""
        elif written and not instance and not self._names_card(written) and not self._cards.find_instance(written):
            texts = [text for role, text in cells if role in ("node", "form", "memory")]
            named = next((text for text in texts if self._names_card(text)), "")
            written = self._cut(named) if named else written
        form, node = _given(by_role, "form"), _given(by_role, "node")
        card = self._cards.read(written, f"{form} {node}" if node else form, _given(by_role, "memory"), instance)
        known = self._cards.find_instance(instance or written)
        return card, known.gpus if known else None

    def _names_card(self, text: str) -> bool:
        return bool(self._cards.find(plain(text)))

    def _cut(self, text: str) -> str:
        """Cut the card's name out of running text, in the seller's own letters where they can be told."""
        start, end = self._cards.find(plain(text))[0]
        half = half_width(text)
        spans = self._cards.find(half.lower())
        return half[slice(*spans[0])].strip() if spans and len(half.lower()) == len(half) else plain(text)[start:end]


def _given(by_role: dict[str, str], role: str) -> str:
    text = by_role.get(role, "")
    return "" if text and plain(text) in NOTHING_WORDS else text


def _as_written(text: str, amount: Amount) -> str:
    """Cut an amount out of running text, in the seller's own letters where they can be told."""
    half, told = half_width(text), plain(text)
    return (half if len(half) == len(told) else told)[amount.start : amount.end].strip() or half


def _split_tiers(text: str, amounts: tuple[Amount, ...]) -> tuple[tuple[Amount, ...], Amount | None]:
    """Tell two tiers of one price (``$0.34 / $0.69``) from prices of their own, and those from remarks."""
    first = amounts[0]
    between = text[first.end : amounts[1].start].strip()
    if len(amounts) == 2 and first.unit.is_empty and between in ("/", "|", "或", "or"):
        return (replace(first, unit=amounts[1].unit, currency=first.currency or amounts[1].currency),), amounts[1]
    return (first, *(amount for amount in amounts[1:] if amount.unit.period)), None


def _scale(by_distance: tuple[Clues, ...]) -> int:
    """Give 10,000 where the nearest unit is 万元."""
    for clues in by_distance:
        if clues.unit_scale is not None or clues.currency or clues.unit is not None:
            return clues.unit_scale or 1
    return 1

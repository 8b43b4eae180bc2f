"""From an entry to drafts, one per price, with everything that row, heading and remarks say; not yet on one basis."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import name_cell
from suanpei.market.quotes.prices.draft import Draft
from suanpei.market.quotes.prices.list_prices import join_list_prices, name_kind
from suanpei.market.quotes.prices.rows import RowReader
from suanpei.market.quotes.prices.tax_sides import join_quoted_side, join_tax_sides
from suanpei.market.quotes.prices.totals import Total
from suanpei.market.quotes.quoted import Place
from suanpei.market.quotes.text.clues import NO_CLUES, Clues, join_conditions
from suanpei.market.quotes.text.term import LONG_PERIODS, NO_TERMS, PERIOD_OF_PRICING, Terms
from suanpei.market.quotes.text.unit import NO_UNIT, join_units
from suanpei.market.quotes.text.words import NOTHING_WORDS, half_width, plain
from suanpei.market.quotes.ways_of_paying import WAYS_OF_PAYING
from suanpei.market.terms import UNKNOWN_TAX
from suanpei.messages import Message, excerpt

if TYPE_CHECKING:
    from suanpei.market.quotes.layout.entries import Block, Entry
    from suanpei.market.quotes.prices.rows import Row
    from suanpei.market.quotes.text.amount import Amount
    from suanpei.market.quotes.text.card import CardReader
    from suanpei.market.quotes.text.clue import ClueReader


_COUNTED_IN = {"node": "machine", "card": "card"}
"""What a column of units (台, 卡) says that the quantity of a row with a total counts."""


class DraftMaker:
    """Makes the drafts of the entries of one sheet."""

    def __init__(self, file: str, sheet: str | None, clues: ClueReader, cards: CardReader) -> None:
        self._file = file
        self._sheet = sheet
        self._clues = clues
        self._rows = RowReader(clues, cards)
        self._currency: str | None = None
        self.unread: dict[tuple[str, Message], None] = {}
        """Cells with amounts that no offer was made of, and why."""

    def make(self, block: Block, entry: Entry) -> list[Draft]:
        """Make one draft per price of an entry, or one without a price."""
        drafts = self._make(block, entry)
        if entry.totals and not drafts[0].is_total:
            drafts[0].totals = tuple(self._read_total(entry, column, text) for column, text in entry.totals)
        return drafts

    def _make(self, block: Block, entry: Entry) -> list[Draft]:
        self._currency = block.currency
        base = self._rows.read(block, entry)
        if entry.totals and not entry.prices and (totals := self._of_totals(base)):
            return totals
        drafts = [draft for column, text in entry.prices for draft in self._of_price_cell(base, column, text)]
        priced = [draft for draft in drafts if draft.amount is not None]
        if priced:
            open_ones = [draft for draft in drafts if draft.amount is None and self._is_open(draft.price_text)]
            return [*join_tax_sides(join_list_prices(priced)), *open_ones, *self._of_remarks(base)]
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

    def _of_totals(self, base: Row) -> list[Draft]:
        """Make the draft of a row whose only sums are totals, of one that names its time where there is one."""
        entry, unit = base.entry, base.facts.clues.unit
        counted = _COUNTED_IN.get((unit.billed if unit else None) or "")
        drafts: list[Draft] = []
        totals: dict[int, Total] = {}
        for column, text in entry.totals:
            draft, total = self._of_price_cell(base, column, text)[0], self._read_total(entry, column, text)
            if draft.amount is None or entry.header is None:
                continue
            draft.is_total = True
            draft.unit_scale = 1 if draft.amount.is_scaled else total.scale
            draft.unit = replace(
                total.unit, period=total.unit.period or self._heading_period(entry.header.headings[column])
            )
            if draft.stock is not None and not draft.stock.unit and counted:
                draft.stock = replace(draft.stock, unit=counted)
            drafts.append(draft)
            totals[id(draft)] = total
        joined = sorted(join_tax_sides(drafts), key=lambda one: one.unit.period is None)
        if joined:
            joined[0].totals = tuple(totals[id(one)] for one in joined[1:])
        return joined[:1]

    def _heading_period(self, heading: str) -> str | None:
        """Give the time that the heading of a total begins with: 月总价, monthly total."""
        words, text = self._clues.words, plain(heading)
        if found := words.periods.pattern.match(text):
            return words.periods.group(found.group())
        found = words.pricing.pattern.match(text)
        return {**PERIOD_OF_PRICING, **LONG_PERIODS}.get(words.pricing.group(found.group())) if found else None

    def _is_open(self, text: str) -> bool:
        """Tell whether a cell says that its price is to be asked for: 面议."""
        return plain(text) not in NOTHING_WORDS and self._clues.words.no_price.has(plain(text))

    def _of_remarks(self, base: Row) -> list[Draft]:
        """Make drafts of further prices in a row's remarks: amounts behind a way of paying, with what they are for."""
        drafts: list[Draft] = []
        header = base.entry.header
        if header is None:
            return drafts
        for role, text in base.facts.priced_remarks:
            found = self._clues.read(role, text)
            for amount, label in zip(found.amounts, found.labels, strict=True):
                place = self._place(base.entry, header.column(role))
                words = _as_written(text, amount)
                if label and amount.unit.billed:
                    drafts.append(self._complete(base, NO_CLUES, NO_CLUES, amount, words, label, place=place))
                else:
                    reason = Message("an amount in a remark, not read as a price: {words}", words=excerpt(text))
                    self.unread[place.cell, reason] = None
        return drafts

    def _no_price(self, entry: Entry) -> str:
        """Give the word that stands for a price, such as 面议."""
        found = (self._clues.words.no_price.search(plain(text)) for _, text in entry.cells)
        return next((match.group() for match in found if match is not None), "")

    def _of_price_cell(self, base: Row, column: int | None, text: str) -> list[Draft]:
        """Make the drafts of a cell of prices; a cell without an amount gives one without."""
        own = self._clues.read("price", text)
        header = base.entry.header
        heading_text = header.headings[column] if header is not None and column is not None else ""
        heading = self._clues.read("heading", heading_text) if heading_text else NO_CLUES
        place = self._place(base.entry, column)
        kind = name_kind(plain(heading_text), self._clues.words) if header and len(header.prices) > 1 else ""
        if not own.amounts:
            return [self._complete(base, own, heading, None, text, place=place)]
        if len(own.amounts) == 1:
            draft = self._complete(base, own, heading, own.amounts[0], text, place=place)
            draft.kind = kind
            return [draft]
        amounts, tier = _split_tiers(plain(text), own.amounts)
        labels = own.labels if len(amounts) > 1 else ("",) * len(amounts)
        drafts = [
            self._complete(base, own, heading, amount, text, label, place=place)
            for amount, label in zip(amounts, labels, strict=False)
        ]
        drafts[0].second_tier = tier
        return drafts

    def _place(self, entry: Entry, column: int | None) -> Place:
        """Name the place of a cell, or of a line where no cell holds the price."""
        header, row = entry.header, entry.row
        if header is None:
            cell = name_cell(self._sheet, row, column)
        else:
            cell = header.line(self._sheet, row) if column is None else header.cell(self._sheet, row, column)
        row = header.rows[column or 0] if header is not None and header.rows else row
        return Place(file=self._file, sheet=self._sheet, row=row, cell=cell)

    def _complete(
        self,
        base: Row,
        own: Clues,
        heading: Clues,
        amount: Amount | None,
        text: str,
        label: str = "",
        *,
        place: Place | None = None,
    ) -> Draft:
        """Join what amount, cell, row, heading and remarks say; the nearer to the amount, the more it counts."""
        facts, shared = base.facts, self._rows.shared
        row = facts.clues
        terms, tax, flags = join_conditions((own, heading, row, shared))
        unit = amount.unit if amount is not None else NO_UNIT
        for other in (row, own, heading, shared):
            unit = unit if other.unit is None else join_units(unit, other.unit)
        by_distance = (row, own, heading, shared)
        said_currencies = (row.currency, own.currency, self._currency, heading.currency, shared.currency)
        currency = (amount.currency if amount is not None else None) or next(filter(None, said_currencies), None)
        draft = Draft(
            place=place or self._place(base.entry, None),
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
            terms=_bind(terms or NO_TERMS, label or (heading.terms.pricing if heading.terms else None)),
            tax=tax or UNKNOWN_TAX,
            region=base.region,
            note=facts.note,
            stock=base.stock,
            date=base.date,
            header=base.entry.header,
            is_stock_blank=base.is_stock_blank,
            flags=flags if tax is None else flags - {"tax_notes_contradict"},
            quantity=base.entry.quantity,
        )
        join_quoted_side(draft)
        return draft


def _bind(terms: Terms, pricing: str | None) -> Terms:
    """Take the way of paying that stands with a price; a shorter rental, said of the row, is of other prices."""
    if pricing is None:
        return terms
    way, least = WAYS_OF_PAYING[pricing], terms.minimum_hours
    is_shorter = least is not None and way.is_term_said and least < way.term.minimum_hours
    return replace(terms, pricing=pricing, minimum_hours=None if is_shorter else least)


def _as_written(text: str, amount: Amount) -> str:
    """Cut an amount out of running text, in the seller's own letters where they can be told."""
    half, told = half_width(text), plain(text)
    spelled = half if len(half) == len(told) else told
    words = spelled[amount.start : amount.end].strip()
    is_open = words.count("(") > words.count(")") and spelled.startswith(")", amount.end)
    return f"{words})" if is_open else words or half


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

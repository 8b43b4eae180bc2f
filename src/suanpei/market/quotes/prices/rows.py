"""What all prices of a row share: its card, its clues, its seller, what is on hand; and what remarks say of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.clues import NO_CLUES, Clues, join_clues
from suanpei.market.quotes.text.date import NO_DATE, QuoteDate, join_dates
from suanpei.market.quotes.text.words import NOTHING_WORDS, half_width, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.layout.entries import Block, Cell, Entry
    from suanpei.market.quotes.layout.header import Header
    from suanpei.market.quotes.text.card import Card, CardReader
    from suanpei.market.quotes.text.clue import ClueReader
    from suanpei.market.quotes.text.count import Stock

_VARYING = frozenset({"seller", "index", "region", "date", "valid", "stock"})
"""Columns that differ from row to row and say nothing of the price."""
_REMARK_ROLES = frozenset({"note", "text"})
"""Columns that may hold dates, and further prices beside those of the price columns."""
_BESIDE_CARD = frozenset({"instance", "gpus", "node", "form", "memory"})
"""Columns that may name the card where its own does not."""
_MOST_REMEMBERED = 8_192
"""Different rows that are remembered. [-]"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What rows with the same cells share."""

    card: Card
    instance_gpus: int | None
    clues: Clues
    note: str
    priced_remarks: tuple[Cell, ...]
    """Remarks that hold amounts."""
    date: QuoteDate


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What all prices of an entry share."""

    entry: Entry
    seller: str
    facts: Facts
    stock: Stock | None
    region: str
    date: QuoteDate
    is_stock_blank: bool


class RowReader:
    """Reads the rows of one sheet, block by block."""

    def __init__(self, clues: ClueReader, cards: CardReader) -> None:
        self._clues = clues
        self._cards = cards
        self._remembered: dict[tuple[tuple[Cell, ...], Header | None], Facts] = {}
        self._remarks: tuple[str, ...] = ()
        self._block: Block | None = None
        self.shared = NO_CLUES
        """What the remarks of the block say."""
        self._shared_date = NO_DATE

    def read(self, block: Block, entry: Entry) -> Row:
        """Read what all prices of an entry share; rows that say the same are read once."""
        if block is not self._block:
            self._enter(block)
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
        return Row(
            entry=entry,
            seller=own.get("seller", "") or block.seller,
            facts=facts,
            stock=stock,
            region=own.get("region", "") or facts.clues.place or self.shared.place,
            date=date,
            is_stock_blank=is_stock_blank,
        )

    def _enter(self, block: Block) -> None:
        """Read what the remarks of a block say."""
        self._block = block
        self._remembered.clear()
        self._remarks = tuple(remark.text for remark in block.remarks)
        said = [self._clues.read("section", text) for text in self._remarks]
        self.shared = join_clues(said)
        notes = [clues.tax.state for clues, one in zip(said, block.remarks, strict=True) if one.is_note and clues.tax]
        if {"in", "out"} <= set(notes):  # notes are of one rank: neither counts more
            self.shared = replace(self.shared, tax=None, flags=self.shared.flags | {"tax_notes_contradict"})
        self._shared_date = join_dates([self._clues.read_date(text) for text in self._remarks])

    def _read_facts(self, cells: tuple[Cell, ...], header: Header | None) -> Facts:
        """Read the cells of a row that differ little between rows."""
        by_role: dict[str, str] = {}
        found: list[Clues] = []
        unpriced: list[str] = []
        priced: list[Cell] = []
        dates: list[QuoteDate] = []
        read = self._clues.read
        for role, text in cells:
            if role not in by_role or (role == "card" and not self._names_card(by_role[role])):
                by_role[role] = text
            clues = read(role, text, header.heading(role)) if header and role == "tax" else read(role, text)
            if clues is not NO_CLUES:
                found.append(clues)
            if role == "charges" and not (clues.charges or clues.flags) and plain(text) not in NOTHING_WORDS:
                unpriced.append(text)
            if role in _REMARK_ROLES:
                priced += [(role, text)] if clues.amounts else []
                date = self._clues.read_date(text, role)
                dates += [] if date is NO_DATE else [date]
        card, instance_gpus = self._card(by_role, cells)
        clues = join_clues(found)
        note = "; ".join(filter(None, (by_role.get("note", ""), *unpriced)))
        invoice = clues.invoice or self.shared.invoice
        return Facts(
            card=card,
            instance_gpus=instance_gpus,
            clues=clues,
            note=note if invoice in plain(note) else "; ".join(filter(None, (note, invoice))),
            priced_remarks=tuple(priced),
            date=join_dates([*dates, self._shared_date]) if dates else self._shared_date,
        )

    def _card(self, by_role: dict[str, str], cells: Sequence[Cell]) -> tuple[Card, int | None]:
        """Settle the card from its own column, else from whichever cell or remark names one."""
        written, instance = _given(by_role, "card"), _given(by_role, "instance")
        if not written and not instance:
            texts = [*(text for _, text in cells), *self._remarks]
            named = next((text for text in texts if self._names_card(text)), "")
            written = self._cut(named) if named else ""
        elif not self._is_known(written) and not self._cards.find_instance(instance):
            texts = [text for role, text in cells if role in _BESIDE_CARD]
            named = next((text for text in texts if self._names_card(text)), "")
            written = self._cut(named) if named else written or instance
        form, node = _given(by_role, "form"), _given(by_role, "node")
        card = self._cards.read(written, f"{form} {node}" if node else form, _given(by_role, "memory"), instance)
        known = self._cards.find_instance(instance or written)
        return card, known.gpus if known else None

    def _is_known(self, written: str) -> bool:
        return self._names_card(written) or self._cards.find_instance(written) is not None

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

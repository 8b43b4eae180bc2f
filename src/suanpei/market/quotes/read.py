"""Read quotes: documents of any seller to offers on one basis, with questions, and with what stays unread.

The way: lines become entries (`tables`, `running_text`), an entry becomes drafts, one per price (`drafts`), a draft
gets its readings (`readings`), drafts of one card are held against each other (`cross_checks`), and become offers
(`finish`) and questions (`questions`).
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.market.collector import collector_paused
from suanpei.market.quotes.chat.read import TextReader
from suanpei.market.quotes.document import Unread, name_rows
from suanpei.market.quotes.layout.entries import list_remarks
from suanpei.market.quotes.layout.heading_reader import HeaderReader
from suanpei.market.quotes.layout.lend import lend_headings, lend_remarks
from suanpei.market.quotes.layout.lines import LineReader
from suanpei.market.quotes.offers.finish import count_cards, finish
from suanpei.market.quotes.offers.questions import ask
from suanpei.market.quotes.prices.cross_checks import (
    find_currency_slips,
    find_node_prices,
    find_series,
    find_table_units,
    group_drafts,
)
from suanpei.market.quotes.prices.drafts import DraftMaker
from suanpei.market.quotes.prices.plausible import Bands
from suanpei.market.quotes.prices.readings import Settler
from suanpei.market.quotes.prices.titles import TitleReader, name_sellers
from suanpei.market.quotes.prices.totals import check_total
from suanpei.market.quotes.quoted import Question, QuotedOffer, Quotes
from suanpei.market.quotes.tables.read import TableReader
from suanpei.market.quotes.text.card import CardReader
from suanpei.market.quotes.text.clue import ClueReader
from suanpei.market.quotes.text.words import load_words
from suanpei.market.terms import THIRTY_DAYS_HOURS
from suanpei.messages import Message, excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.quotes.context import QuoteContext
    from suanpei.market.quotes.document import Document, Sheet
    from suanpei.market.quotes.layout.entries import Remark, SheetContent
    from suanpei.market.quotes.prices.draft import Draft

CHINESE_CURRENCY = "CNY"
_CHINESE = re.compile("[\u4e00-\u9fff]")
_CHINESE_PRICE = re.compile(r"[\u4e00-\u9fff]|\d\s*[wW](?![a-zA-Z])")
"""4.2w is 4.2万, which is said of yuan."""


def read_quotes(documents: Sequence[Document], context: QuoteContext) -> Quotes:
    """Read everything that some documents offer.

    Args:
        documents: As their readers gave them. [-]
        context: Catalogue, price rows, exchange rates, currency, day. [-]

    Returns:
        Offers in the order of the documents, the questions they leave, every line that no offer was made of and that
        may matter, and what was assumed.
    """
    reader = _Reader(context)
    with collector_paused():
        for document in documents:
            reader.read(document)
        return reader.result()


@lru_cache(maxsize=8)
def _load_readers(catalogue: Catalogue) -> tuple[ClueReader, CardReader, LineReader, HeaderReader, TitleReader]:
    """Make the readers of one catalogue's words, with what they remember."""
    words = load_words(catalogue)
    cards = CardReader(catalogue, words)
    clues = ClueReader(words, cards)
    lines = LineReader(clues, cards)
    return clues, cards, lines, HeaderReader(clues, cards), TitleReader(words, lines)


class _Reader:
    """Collects what documents hold."""

    def __init__(self, context: QuoteContext) -> None:
        self._context = context
        self._clues, self._cards, self._lines, self._headers, self._titles = _load_readers(context.catalogue)
        self._rate_of: dict[str, Fraction] = {}
        bands = Bands(context.prices, context.rates, context.currency, context.as_of)
        self._settler = Settler(context.catalogue, bands, self._rate_of)
        self._offers: list[QuotedOffer] = []
        self._questions: list[Question] = []
        self._unread: list[Unread] = []
        self._assumptions: dict[Message, None] = {}
        self._hours: set[str] = set()

    def read(self, document: Document) -> None:
        """Read one document."""
        self._unread += document.unread
        unread: list[Unread] = []
        drafts: list[Draft] = []
        contents = [
            self._read_sheet(document.file, sheet, heading)
            for sheet, heading in lend_headings(document.sheets, self._lines)
        ]
        lend_remarks(contents, self._lines)
        for sheet, content in zip(document.sheets, contents, strict=True):
            unread += [Unread(file=document.file, cell=cell, reason=reason) for cell, reason in content.unread]
            self._say_remarks(document.file, sheet.name, content)
            maker = DraftMaker(document.file, sheet.name, self._clues, self._cards)
            for block in content.blocks:
                for entry in block.entries:
                    drafts += maker.make(block, entry)
            unread += [Unread(file=document.file, cell=cell, reason=reason) for cell, reason in maker.unread]
        named = name_sellers(document, drafts, self._titles)
        self._unread += [item for item in unread if item.cell not in named.cells]
        for message in named.said:
            self._assume(message)
        self._finish(document, drafts)

    def result(self) -> Quotes:
        """Give what was read."""
        hours = Message("a month is 730 h and a year 8,760 h where the quote does not say otherwise")
        said = [hours] if "month" in self._hours else []
        if "thirty_days" in self._hours:
            said.append(Message("a month is 720 h where the quote counts thirty days"))
        said += [
            Message(
                "{currency} is converted at {rate}",
                currency=code,
                rate=", ".join(map(str, self._context.rates.route(code, self._context.currency))),
            )
            for code in sorted(self._rate_of)
            if code != self._context.currency
        ]
        return Quotes(
            offers=tuple(self._offers),
            questions=tuple(self._questions),
            unread=tuple(self._unread),
            assumptions=(*said, *self._assumptions),
        )

    def _read_sheet(self, file: str, sheet: Sheet, heading: Remark | None) -> SheetContent:
        if sheet.kind == "text":
            return TextReader(file, sheet, self._lines, self._clues, self._cards).read()
        is_titled = bool(self._titles.find(sheet))
        return TableReader(sheet, self._headers, self._lines, self._clues, heading=heading, is_titled=is_titled).read()

    def _say_remarks(self, file: str, sheet: str | None, content: SheetContent) -> None:
        for remark in (*content.units, *list_remarks(content.blocks)):
            self._assume(
                Message(
                    "{file} {cell}: '{words}' is taken for the offers that it stands with",
                    file=file,
                    cell=remark.cell,
                    words=excerpt(remark.text),
                )
            )
        for one in content.carried:
            if one.rows:
                self._assume(
                    Message(
                        "{file} {cells}: no seller is named; taken as of the one named at {cell}: {seller}",
                        file=file,
                        cells=name_rows(sheet, one.rows),
                        cell=one.cell,
                        seller=one.seller,
                    )
                )
        if content.continued_rows:
            self._assume(
                Message(
                    "{file} {cell}: the blanks at the start of a row are read as the cells above it",
                    file=file,
                    cell=content.continued_rows[0],
                )
            )
        if content.headless_rows:
            self._assume(
                Message(
                    "{file} {cell}: no heading stands above; the cells are read for what they say themselves",
                    file=file,
                    cell=content.headless_rows[0],
                )
            )

    def _finish(self, document: Document, drafts: list[Draft]) -> None:
        """Settle the drafts of one file, hold them against each other, and make offers and questions of them."""
        self._fill_currencies(document, drafts)
        kept = [draft for draft in drafts if self._has_rate(draft)]
        groups = group_drafts(kept)
        for group in groups:
            find_series(group, {id(draft): draft.stated_gpus for draft in group})
        for draft in kept:
            self._settler.settle(draft)
        find_table_units(kept)
        for group in groups:
            if len(group) > 1 or group[0].row.amounts:
                find_node_prices(group)
                find_currency_slips(group, self._rate_of, self._settler)
        for draft in kept:
            if draft.totals:
                self._check_totals(draft)
            offer = finish(draft, self._context.currency, self._context.as_of)
            self._offers.append(offer)
            self._questions += ask(draft, offer)
            self._note_hours(draft)
            for message in draft.card.assumptions:
                self._assume(message)

    def _check_totals(self, draft: Draft) -> None:
        """Hold the totals of a row against its price; what cannot be held against it is named."""
        for total in draft.totals:
            question, reason = check_total(draft, total, count_cards(draft))
            if question is not None:
                self._questions.append(question)
            if reason is not None:
                self._unread.append(Unread(file=draft.place.file, cell=total.cell, reason=reason))

    def _fill_currencies(self, document: Document, drafts: list[Draft]) -> None:
        """Give prices without a currency that of their language, of their file, or of the result; and say so."""
        file = document.file
        stated = Counter(draft.currency for draft in drafts if draft.amount is not None and draft.currency)
        open_ones = [draft for draft in drafts if draft.amount is not None and draft.currency is None]
        is_all_chinese = bool(open_ones) and not stated and _is_chinese(document)
        for draft in open_ones:
            is_chinese = _CHINESE_PRICE.search(draft.price_text) is not None
            if is_chinese or is_all_chinese:
                draft.currency = CHINESE_CURRENCY
                self._assume(Message("{file}: prices without a currency in a Chinese quote are read in CNY", file=file))
            elif stated:
                draft.currency = _most_frequent(stated, self._context.currency)
                self._assume(
                    Message(
                        "{file}: prices without a currency are read in {currency}, as the others are",
                        file=file,
                        currency=draft.currency,
                    )
                )
            else:
                draft.currency = self._context.currency
                self._assume(
                    Message(
                        "{file}: no price names a currency; {currency} is taken", file=file, currency=draft.currency
                    )
                )
            draft.is_currency_inferred = not is_chinese

    def _has_rate(self, draft: Draft) -> bool:
        """Tell whether a draft's currency can be converted; one that cannot is listed as unread."""
        code = draft.currency
        if code is None or draft.amount is None or code in self._rate_of:
            return True
        try:
            self._rate_of[code] = self._context.rates.factor(code, self._context.currency)
        except InputError:
            self._unread.append(
                Unread(
                    file=draft.place.file,
                    cell=draft.place.cell,
                    reason=Message(
                        "{price}: no exchange rate; give one with --rate {currency}=…{wanted}",
                        price=draft.price_text,
                        currency=code,
                        wanted=self._context.currency,
                    ),
                )
            )
            return False
        return True

    def _note_hours(self, draft: Draft) -> None:
        name = "thirty_days" if draft.terms.has_thirty_days else "month"
        if name not in self._hours and draft.readings and draft.readings[0].period_hours >= THIRTY_DAYS_HOURS:
            self._hours.add(name)

    def _assume(self, message: Message) -> None:
        self._assumptions[message] = None


def _is_chinese(document: Document) -> bool:
    """Tell whether a document is written in Chinese."""
    return any(_CHINESE.search(cell) for sheet in document.sheets for line in sheet.lines for cell in line.cells)


def _most_frequent(counts: Counter[str], preferred: str) -> str:
    """Name the currency of most offers; that of the result where as many have it."""
    return max(counts, key=lambda code: (counts[code], code == preferred, code))

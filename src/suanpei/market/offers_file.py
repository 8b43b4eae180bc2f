"""Offers from a user's CSV file: the columns of ``offers_cn.csv`` and ``count``, the cards on hand in one fabric.

Must be given: ``provider``, ``gpu``, ``price_per_hour`` (per card), ``currency`` and ``count``. What else is blank is
unknown, and becomes an assumption or a question on the offer. Charges beside the price and payments ahead have columns
of their own (`market.charge_cells`).

Tens of thousands of lines repeat few wordings: each distinct cell is read once, where it first stands, and offers share
what it was read into.
"""

from __future__ import annotations

import codecs
import csv
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from suanpei.errors import InputError
from suanpei.machine.table import DELIMITERS, Row, read_text, split_cells
from suanpei.market.charge_cells import CHARGE_COLUMNS, read_charges, read_payment
from suanpei.market.offer import TIERS, USUAL_NODE_GPUS, Offer, Tier
from suanpei.market.price_rows import PriceCells
from suanpei.market.terms import NO_CHARGES, NO_PAYMENT, Term, parse_term, read_tax
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date
    from pathlib import Path

    from suanpei.market.terms import Charges, Payment, Tax
    from suanpei.money import Money

REQUIRED_COLUMNS = ("provider", "gpu", "price_per_hour", "currency", "count")
COLUMNS = (
    *("provider", "region", "gpu", "gpu_name_as_listed", "gpu_count", "price_per_hour", "currency", "pricing", "date"),
    *("source", "confidence", "note", "term", "node_or_card", "tax", "links", "tier", "count"),
    *CHARGE_COLUMNS,
)

_Gap = Literal["month", "hour", "tier", "card", "links", "usual"]
"""What an offer leaves open."""

_TERM_COLUMNS = ("tier", "term", "pricing", "node_or_card", "gpu_count", "tax", "links")
"""Columns that are read together, because one fills what another leaves blank."""

_CHARGE_COLUMNS = ("currency", *CHARGE_COLUMNS)
"""Columns of what is billed beside the price and paid ahead, read together with the currency."""

_CELL_COLUMNS = ("provider", "gpu", "price_per_hour", "currency", "count", "date", "region", "source", "note")
"""Columns that are read alone, but for the price, which needs its currency."""


_HEAD_BYTES = 65_536
"""Enough of a file to hold its header. [B]"""


def is_own_format(path: Path) -> bool:
    """Tell whether a file is a CSV with every column that this module needs."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    is_utf16 = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = head.decode("utf-16" if is_utf16 else "utf-8-sig", errors="ignore")  # the names looked for are ASCII
    line = text.lstrip().partition("\n")[0].strip()
    try:
        headers = [next(csv.reader([line], delimiter=delimiter), []) for delimiter in DELIMITERS]
    except csv.Error:  # no text at all
        return False
    return any({cell.strip().casefold() for cell in cells} >= set(REQUIRED_COLUMNS) for cells in headers)


def load_offers(path: Path, resolve_name: Callable[[str], str] | None = None) -> tuple[Offer, ...]:
    """Read a file of offers.

    UTF-8 with or without a mark, or GBK; commas, semicolons or tabs. An offer that names no links is to be planned at
    its worst reading: the question stands in its `questions`.

    Args:
        path: The CSV file. [-]
        resolve_name: Turns a seller's name of a card into the catalogue's, or raises `InputError`; None keeps the name.

    Returns:
        The offers, in file order, at least one.

    Raises:
        InputError: The file cannot be read, has no header or no offer, lacks a column, or has a bad cell (file,
            line and column are named).
    """
    _, lines = read_offer_lines(path, resolve_name)
    return tuple([line.offer for line in lines])


class OfferLine(NamedTuple):
    """One line of a file of offers."""

    number: int
    """As a person counts, from 1. [-]"""
    cells: list[str]
    offer: Offer


def read_offer_lines(
    path: Path,
    resolve_name: Callable[[str], str] | None = None,
    leave: Callable[[int, InputError], None] | None = None,
) -> tuple[list[str], list[OfferLine]]:
    """Read a file of offers with the place of each, as `load_offers` does.

    Args:
        path: The CSV file. [-]
        resolve_name: As for `load_offers`. [-]
        leave: Takes the number of a bad line and what is wrong with it, and the others are read; None raises it. [-]

    Returns:
        The header, and the lines in file order.

    Raises:
        InputError: As `load_offers`; with `leave`, only for the file as a whole.
    """
    header, lines = split_cells(read_text(path), str(path), known=COLUMNS, required=REQUIRED_COLUMNS, leave=leave)
    read = _OfferReader(str(path), header, resolve_name).read
    is_empty = True
    found: list[OfferLine] = []
    for number, cells in lines:
        is_empty = False
        try:
            found.append(OfferLine(number, cells, read(number, cells)))
        except InputError as error:
            if leave is None:
                raise
            leave(number, error)
    if is_empty and not found:
        raise InputError(Message("{file} holds no offer: a header and at least one line are needed", file=str(path)))
    return header, found


@dataclass(frozen=True, kw_only=True)
class _Conditions:
    """What the cells of `_TERM_COLUMNS` say together."""

    tier: Tier
    term: Term
    unit_gpus: int
    tax: Tax
    links: str
    assumed: tuple[_Gap, ...]
    asked: tuple[_Gap, ...]


NOTHING_STATED = (NO_CHARGES, NO_PAYMENT)


class _OfferReader:
    """Reads the lines of one file, each distinct cell once; a bad one raises at its first line."""

    def __init__(self, file: str, header: Sequence[str], resolve_name: Callable[[str], str] | None) -> None:
        self._file = file
        self._header = tuple(header)
        self._resolve_name = resolve_name
        places = {column: place for place, column in enumerate(header)}
        # an absent column is a blank one: the cell behind the last
        absent = len(header)
        self._columns = itemgetter(*(places.get(column, absent) for column in _CELL_COLUMNS))
        self._conditions_of = itemgetter(*(places.get(column, absent) for column in _TERM_COLUMNS))
        has_charges = any(column in places for column in CHARGE_COLUMNS)
        self._charges_of = (
            itemgetter(*(places.get(column, absent) for column in _CHARGE_COLUMNS)) if has_charges else None
        )
        self._charges: dict[tuple[str, ...], tuple[Charges, Payment]] = {}
        self._names: dict[str, str] = {}
        self._prices: dict[tuple[str, str], Money] = {}
        self._counts: dict[str, int] = {}
        self._dates: dict[str, date | None] = {}
        self._conditions: dict[tuple[str, ...], _Conditions] = {}
        self._said: dict[tuple[str, tuple[_Gap, ...]], tuple[Message, ...]] = {}

    def read(self, line: int, cells: list[str]) -> Offer:
        """Check one line and note what it leaves open."""
        cells = [*cells, ""]
        provider, gpu, price, currency, count, day, region, source, note = self._columns(cells)
        wording = self._conditions_of(cells)
        amount = self._prices.get((price, currency))
        try:
            terms, name = self._conditions[wording], self._names[gpu]
            on_hand, date_quoted = self._counts[count], self._dates[day]
            charges, payment = NOTHING_STATED if self._charges_of is None else self._charges[self._charges_of(cells)]
        except KeyError:
            self._learn(self._row(line, cells), wording)
            return self.read(line, cells[:-1])
        if amount is None:
            amount = PriceCells(row=self._row(line, cells)).money("price_per_hour")
            self._prices[price, currency] = amount
        if not provider:
            self._row(line, cells).required("provider")
        return Offer(
            provider=provider,
            accelerator_name=name,
            tier=terms.tier,
            price=amount,
            count=on_hand,
            term=terms.term,
            unit_gpus=terms.unit_gpus,
            region=region,
            tax=terms.tax,
            links=terms.links,
            date=date_quoted,
            source=source or f"{self._file}:{line}",
            note=note,
            charges=charges,
            payment=payment,
            assumptions=self._say(provider, terms.assumed) if terms.assumed else (),
            questions=self._say(provider, terms.asked) if terms.asked else (),
        )

    def _row(self, line: int, cells: list[str]) -> Row:
        return Row(file=self._file, line=line, cells=dict(zip(self._header, cells, strict=False)))

    def _learn(self, row: Row, wording: tuple[str, ...]) -> None:
        """Read the cells of a line that holds a new one."""
        cells, text = PriceCells(row=row), row.text
        if (name := text("gpu")) not in self._names:
            self._names[name] = self._read_name(row)
        if (count := text("count")) not in self._counts:
            self._counts[count] = cells.count("count")
        if (day := text("date")) not in self._dates:
            self._dates[day] = cells.day("date")
        if wording not in self._conditions:
            self._conditions[wording] = _read_conditions(cells)
        charges = tuple(map(text, _CHARGE_COLUMNS))
        if charges not in self._charges:
            self._charges[charges] = (read_charges(cells), read_payment(cells))

    def _read_name(self, row: Row) -> str:
        name = row.required("gpu")
        if self._resolve_name is None:
            return name
        try:
            return self._resolve_name(name)
        except InputError as error:
            raise _at(row, "gpu", error) from error

    def _say(self, provider: str, gaps: tuple[_Gap, ...]) -> tuple[Message, ...]:
        key = (provider, gaps)
        if key not in self._said:
            self._said[key] = tuple(_say(gap, provider) for gap in gaps)
        return self._said[key]


def _read_conditions(cells: PriceCells) -> _Conditions:
    """Read tier, term, unit, tax and links, and what has to be assumed and asked."""
    assumed: list[_Gap] = []
    unit_sold, links, tax = cells.unit_sold(), cells.links("links"), read_tax(cells.text("tax"))
    term = _read_term(cells, assumed)
    tier = _read_tier(cells, term, assumed)
    is_unit_unsaid = not cells.text("node_or_card")
    if is_unit_unsaid and tier != "server":
        assumed.append("card")
    gaps: tuple[tuple[_Gap, bool], ...] = (
        ("links", not links),
        ("usual", bool(term.usual_hours)),
    )
    return _Conditions(
        tier=tier,
        term=term,
        unit_gpus=USUAL_NODE_GPUS if unit_sold == "node8" or (tier == "server" and is_unit_unsaid) else 1,
        tax=tax,
        links=links,
        assumed=tuple(assumed),
        asked=tuple(gap for gap, is_open in gaps if is_open),
    )


def _read_term(cells: PriceCells, assumed: list[_Gap]) -> Term:
    """Read the term; one that nothing states is read as by the hour, and said."""
    if cells.text("term", "pricing"):
        return cells.term()
    monthly = parse_term("monthly", "")
    if cells.text("tier") == "server" and monthly is not None:
        assumed.append("month")
        return monthly
    assumed.append("hour")
    return Term(billing_hours=1.0)


def _read_tier(cells: PriceCells, term: Term, assumed: list[_Gap]) -> Tier:
    """Read the tier; a blank one follows from the term."""
    if cells.text("tier"):
        tier = cells.tier()
        if tier == "none":
            raise cells.bad(
                column="tier",
                given=tier,
                wanted=Message("a tier that can be rented: {tiers}", tiers=", ".join(TIERS[:-1])),
            )
        return tier
    assumed.append("tier")
    return "server" if term.is_month_billed and cells.text("node_or_card") == "node8" else "platform"


def _say(gap: _Gap, provider: str) -> Message:
    """State what was assumed for a gap, or ask the seller to fill it."""
    return {
        "month": Message("the offer of {provider} names no term and is read as paid by the month", provider=provider),
        "hour": Message("the offer of {provider} names no term and is read as paid by the hour", provider=provider),
        "tier": Message("the offer of {provider} names no tier: it is read from the term", provider=provider),
        "card": Message("the offer of {provider} is taken as sold by the card", provider=provider),
        "links": Message(
            "the offer of {provider} names no links and is planned at its worst reading: ask what joins the cards, "
            "in the node and between nodes",
            provider=provider,
        ),
        "usual": Message("ask {provider} whether single months are sold", provider=provider),
    }[gap]


def _at(row: Row, column: str, error: InputError) -> InputError:
    """Put file, line and column before an error."""
    return InputError(
        Message(
            "{file}, line {line}, column {column}: {error}",
            file=row.file,
            line=row.line,
            column=column,
            error=error.message,
        )
    )

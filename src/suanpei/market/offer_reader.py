"""One line of a file of offers in our own columns, read into an offer: each distinct cell once.

Tens of thousands of lines repeat few wordings: each distinct cell is read where it first stands, and offers share what
it was read into. What is blank is unknown, and becomes an assumption or a question on the offer.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

from suanpei.errors import InputError
from suanpei.machine.table import Row
from suanpei.market.charge_cells import CHARGE_COLUMNS, read_charges, read_payment
from suanpei.market.offer import TIERS, USUAL_NODE_GPUS, Offer, Tier
from suanpei.market.offer_notes import ask_links, say_by_card, say_term
from suanpei.market.price_rows import PriceCells
from suanpei.market.terms import HOURLY, MONTHLY, NO_CHARGES, NO_PAYMENT, Term, read_tax
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from suanpei.market.terms import Charges, Payment, Tax
    from suanpei.money import Money

_Gap = Literal["month", "hour", "tier", "card", "links", "usual"]
"""What an offer leaves open."""

_TERM_COLUMNS = ("tier", "term", "pricing", "node_or_card", "gpu_count", "tax", "links")
"""Columns that are read together, because one fills what another leaves blank."""

_CHARGE_COLUMNS = ("currency", *CHARGE_COLUMNS)
"""Columns of what is billed beside the price and paid ahead, read together with the currency."""

_CELL_COLUMNS = ("provider", "gpu", "price_per_hour", "currency", "count", "date", "region", "source", "note")
"""Columns that are read alone, but for the price, which needs its currency."""


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


class OfferReader:
    """Reads the lines of one file, each distinct cell once; a bad one raises at its first line."""

    def __init__(self, file: str, header: Sequence[str], resolve_name: Callable[[str], str]) -> None:
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
    """Read the term; one that nothing states is that of whole servers or by the hour, and said."""
    if cells.text("term", "pricing"):
        return cells.term()
    if cells.text("tier") == "server":
        assumed.append("month")
        return MONTHLY
    assumed.append("hour")
    return HOURLY


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
        "month": say_term(MONTHLY, provider),
        "hour": say_term(HOURLY, provider),
        "tier": Message("the offer of {provider} names no tier: it is read from the term", provider=provider),
        "card": say_by_card(provider),
        "links": ask_links(provider),
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

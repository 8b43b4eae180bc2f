"""What a seller wrote into a cell of a form, as a value of the field's kind; nothing is guessed."""

from __future__ import annotations

import contextlib
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import Unread
from suanpei.market.quotes.form.numbers import POINT_CURRENCY, read_amount, read_counted, read_decimal
from suanpei.market.quotes.quoted import Question
from suanpei.market.rfq.fields import FIELDS_BY_KEY, LINE_FIELDS
from suanpei.messages import Message, excerpt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.market.quotes.form.cells import Cell, FilledLine
    from suanpei.market.rfq.words import FormLanguage, FormWords

_MOST = Decimal(10**12)
_DATE = re.compile(r"(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})\s*日?(?:[T ]00:00(?::00(?:\.0+)?)?)?")
_MOST_COUNT = 10**7
_TERM_KEY = "minimum_term"
"""The number whose unit is picked beside it."""
_BLANK = frozenset({"", "-", "–", "—", "/", "n/a"})


@dataclass(kw_only=True)
class ValueReader:
    """Reads the cells of one seller, and collects what cannot be read."""

    file: str
    seller: str
    words: FormWords
    language: FormLanguage
    """Of the form: the seller is asked in the words of its lists."""
    currency: str = ""
    """Code of the line; empty is not settled. Decides whether a lone comma parts thousands."""
    period: str = ""
    """Code of the unit of time that the line names for its shortest rental; empty is not settled."""
    unread: list[Unread] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def choice(self, key: str, cell: Cell) -> str | None:
        """Give the code of a choice; None where the cell is blank or no choice."""
        if is_blank(cell.text):
            return None
        choices = FIELDS_BY_KEY[key].choices
        code = self.words.read_choice(choices, cell.text)
        if code is None:
            words = list(self.words.choices(choices, self.language).values())
            self._refuse(key, cell, Message("one of the list: {words}", words=words))
        return code

    def number(self, key: str, cell: Cell) -> Decimal | None:
        """Give a number of at least 0; None where the cell is blank or no such number."""
        if is_blank(cell.text):
            return None
        units = self.words.units(key)
        if FIELDS_BY_KEY[key].kind == "money":
            value = read_amount(cell.text, self.currency, units)
        else:
            if key == _TERM_KEY and self.period:
                units = self.words.period_units(self.period)
            value = read_counted(cell.text, units)
        if value is None or not 0 <= value <= _MOST:
            self._refuse(key, cell, Message("a number of at least 0, with a decimal point and no unit"))
            return None
        return value

    def count(self, key: str, cell: Cell) -> int | None:
        """Give a whole number of at least 1; None where the cell is blank or no such number."""
        if is_blank(cell.text):
            return None
        value = read_counted(cell.text, self.words.units(key))
        if value is None or value != value.to_integral_value() or not 1 <= value <= _MOST_COUNT:
            self._refuse(key, cell, Message("a whole number of at least 1, without unit"))
            return None
        return int(value)

    def fraction(self, key: str, cell: Cell) -> Decimal | None:
        """Give a percentage as a fraction, ``6`` or ``6%`` as 0.06; None where the cell is blank or none.

        A bare number between 0 and 1 may be a percentage that a spreadsheet turned into a fraction: it is asked about.
        """
        if is_blank(cell.text):
            return None
        plain = unicodedata.normalize("NFKC", cell.text).strip()
        value = read_decimal(plain.removesuffix("%").strip(), POINT_CURRENCY)
        if value is None or not 0 <= value <= 100 or (0 < value < 1 and not plain.endswith("%")):
            self._refuse(key, cell, Message("a percentage from 0 to 100, written as 6 or 6%"))
            return None
        return value / 100

    def day(self, key: str, cell: Cell) -> date | None:
        """Give a date, year first; None where the cell is blank or none."""
        if is_blank(cell.text):
            return None
        found = _DATE.fullmatch(unicodedata.normalize("NFKC", cell.text).strip())
        if found is not None:
            with contextlib.suppress(ValueError):
                return date(*map(int, found.groups()))
        self._refuse(key, cell, Message("a date such as 2026-12-15"))
        return None

    def ask(self, cell: str, problem: Message, question: Message) -> None:
        """Add a question to the seller."""
        self.questions.append(
            Question(seller=self.seller, cell=cell, problem=problem, question=question, file=self.file)
        )

    def _refuse(self, key: str, cell: Cell, takes: Message) -> None:
        label = FIELDS_BY_KEY[key].label
        problem = Message("{label}: '{given}' cannot be read", label=label, given=excerpt(cell.text))
        self.unread.append(Unread(file=self.file, cell=cell.place, reason=problem))
        self.ask(
            cell.place,
            problem,
            Message(
                "{label} reads '{given}'; please give {takes}.", label=label, given=excerpt(cell.text), takes=takes
            ),
        )


def is_blank(text: str) -> bool:
    """Tell whether a cell says nothing: empty, or a dash."""
    return unicodedata.normalize("NFKC", text).strip().casefold() in _BLANK


@dataclass(frozen=True, kw_only=True)
class LineValues:
    """The cells of a line as values of their kinds; None is blank or unreadable."""

    choices: Mapping[str, str | None]
    numbers: Mapping[str, Decimal | None]
    counts: Mapping[str, int | None]
    fractions: Mapping[str, Decimal | None]
    days: Mapping[str, date | None]
    texts: Mapping[str, str]


def read_values(line: FilledLine, reader: ValueReader) -> LineValues:
    """Read all cells of a line."""
    reader.currency = reader.choice("currency", line.cell("currency")) or ""
    by_kind = {
        kind: {field.key: line.cell(field.key) for field in LINE_FIELDS if field.kind in kinds}
        for kind, kinds in (
            ("choice", ("choice",)),
            ("number", ("number", "money")),
            ("count", ("count",)),
            ("percent", ("percent",)),
            ("date", ("date",)),
            ("text", ("text",)),
        )
    }
    choices = {key: reader.choice(key, cell) for key, cell in by_kind["choice"].items() if key != "currency"}
    reader.period = choices["minimum_term_unit"] or ""
    return LineValues(
        choices={**choices, "currency": reader.currency or None},
        numbers={key: reader.number(key, cell) for key, cell in by_kind["number"].items()},
        counts={key: reader.count(key, cell) for key, cell in by_kind["count"].items()},
        fractions={key: reader.fraction(key, cell) for key, cell in by_kind["percent"].items()},
        days={key: reader.day(key, cell) for key, cell in by_kind["date"].items()},
        texts={key: "" if is_blank(cell.text) else cell.text for key, cell in by_kind["text"].items()},
    )


def ask_for_blanks(line: FilledLine, values: LineValues, reader: ValueReader) -> None:
    """Ask for the cells that must be filled, in one question per line."""
    needed = [field for field in LINE_FIELDS if field.is_mandatory]
    if values.choices["network"] in ("infiniband", "roce", "ethernet"):
        needed += [field for field in LINE_FIELDS if field.key in ("ports_per_node", "port_gbit")]
    blank = [field for field in needed if is_blank(line.cell(field.key).text)]
    if blank:
        labels = [field.label for field in blank]
        reader.ask(
            line.cell(blank[0].key).place,
            Message("the line leaves blank: {labels}", labels=labels),
            Message("Please fill in row {row}: {labels}.", row=line.row, labels=labels),
        )

"""The time in a cell of a demand: a date, a calendar month, a duration from the start, or a number of units."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from suanpei.errors import InputError
from suanpei.market.mix.demand import MONTH_S
from suanpei.messages import Message
from suanpei.quantities import parse_duration_s

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.machine.table import Row

UNITS_S: dict[str, int] = {"hour": 3_600, "day": 86_400, "week": 7 * 86_400, "month": MONTH_S}
"""Columns whose numbers count steps, with the length of one. [s]"""

_UNIT_WORDS = {"hour": "个?小时|时", "day": "天|日", "week": "周|个?星期", "month": "个?月"}
"""What may stand behind a number in such a column; another unit makes a duration of it."""

FIRST_YEAR, LAST_YEAR = 2000, 2199
"""Another year is a slip of the pen, or a zero that a workbook shows as a date."""

_DATE = re.compile(
    r"(?P<year>\d{4})\s*[-/.年]\s*(?P<month>\d{1,2})\s*(?:[-/.月]\s*(?P<day>\d{1,2})\s*日?)?\s*月?"
    r"(?:[T\s]*(?P<hour>\d{1,2})[:时](?P<minute>\d{1,2})?(?::(?P<second>\d{1,2}))?分?)?"
)
_ZERO = re.compile(r"0+(?:\.0*)?\s*(?:s|min|h|d|秒|分钟?|小时|天|日|周)?", re.IGNORECASE)

_Kind = Literal["date", "month", "elapsed", "hour", "day", "week", "number_of_months"]


@dataclass(frozen=True, kw_only=True)
class Moment:
    """The time of one row."""

    kind: _Kind
    at_s: int
    """From an origin that all times of a kind share. [s]"""
    calendar: datetime | None = None

    @property
    def is_first_of_month(self) -> bool:
        """Whether it is a first day of a month at midnight, or a month."""
        when = self.calendar
        return when is not None and (when.day, when.hour, when.minute, when.second) == (1, 0, 0, 0)


def read_moment(row: Row, column: str) -> Moment:
    """Read the time of a row."""
    row.required(column)
    text = to_plain(row, column)
    if calendar := _DATE.fullmatch(text):
        return _read_date(row, text, calendar)
    if column in UNITS_S and (number := re.fullmatch(rf"(?:第\s*)?(\d{{1,9}})\s*(?:{_UNIT_WORDS[column]})?", text)):
        kind: _Kind = "number_of_months" if column == "month" else column  # type: ignore[assignment]
        return Moment(kind=kind, at_s=int(number.group(1)) * UNITS_S[column])
    if re.fullmatch(r"[-−]\s*[\d.]+.*", text):
        raise refuse_cell(row, Message("the time cannot be negative, got '{given}'", given=text))
    if re.fullmatch(r"\d{1,2}[-/.]\d{1,2}[-/.]\d{4}.*", text):
        raise refuse_cell(
            row, Message("'{given}' leaves open which is the day and which the month; write 2026-08-01", given=text)
        )
    if re.fullmatch(r"\d+(?:\.\d+)?", text) and not _ZERO.fullmatch(text):
        raise refuse_cell(
            row,
            Message(
                "'{given}' names no unit of time; head the column hour, day, week or month, or write 36h or a date such"
                " as 2026-08-01",
                given=text,
            ),
        )
    at_s = 0 if _ZERO.fullmatch(text) else round(parse_duration_s(text, f"{row.file}:{row.line} {column}"))
    return Moment(kind="elapsed", at_s=at_s)


def _read_date(row: Row, text: str, found: re.Match[str]) -> Moment:
    """Read a date with or without a time, or a calendar month."""
    part = {name: int(value) for name, value in found.groupdict().items() if value is not None}
    is_month = "day" not in part
    try:
        when = datetime(  # noqa: DTZ001  # demand is written in one local time; only differences are taken
            part["year"], part["month"], part.get("day", 1),
            part.get("hour", 0), part.get("minute", 0), part.get("second", 0),
        )  # fmt: skip
    except ValueError:
        raise refuse_cell(row, Message("'{given}' is no date of the calendar", given=text)) from None
    if not FIRST_YEAR <= when.year <= LAST_YEAR:
        raise refuse_cell(
            row,
            Message("'{given}' lies outside the years {first} to {last}", given=text, first=FIRST_YEAR, last=LAST_YEAR),
        )
    if is_month:
        return Moment(kind="month", at_s=(part["year"] * 12 + part["month"]) * MONTH_S, calendar=when)
    return Moment(kind="date", at_s=(when - datetime(1970, 1, 1)) // timedelta(seconds=1), calendar=when)  # noqa: DTZ001


def are_months(moments: Sequence[Moment], ends: Sequence[Moment | None], lengths_s: Sequence[int | None]) -> bool:
    """Tell whether dates stand for calendar months: several first days at midnight, and every end and length so too."""
    times = [*moments, *(end for end in ends if end is not None)]
    return (
        len({moment.at_s for moment in times}) > 1
        and len(moments) > 1
        and all(moment.is_first_of_month for moment in times)
        and all(length_s is None or length_s % MONTH_S == 0 for length_s in lengths_s)
    )


def as_month(moment: Moment) -> Moment:
    """Read a first day as its calendar month."""
    when = moment.calendar
    return moment if when is None else replace(moment, kind="month", at_s=(when.year * 12 + when.month) * MONTH_S)


def to_plain(row: Row, column: str) -> str:
    """Give a cell in half width."""
    return unicodedata.normalize("NFKC", row.text(column)).strip()


def refuse_cell(row: Row, problem: Message) -> InputError:
    """Put file and line before a problem."""
    return InputError(Message("{file}, line {line}: {problem}", file=row.file, line=row.line, problem=problem))

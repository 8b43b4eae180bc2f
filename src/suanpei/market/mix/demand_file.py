"""Demand from a CSV file: a time, and how many accelerators are needed from then on.

The time is a date, a date and time, a calendar month, a duration from the start (``36h``), or a number under a heading
that names its unit (``hour``, ``day``, ``week``, ``month``). A step lasts until its ``end``, for its ``duration``, or
for the one unit that the times step by. What no row speaks of is an error: it may be zero, but nobody said so.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from suanpei.errors import InputError
from suanpei.machine.table import read_rows, read_text
from suanpei.market.mix.demand import MONTH_S, MOST_STEPS, Demand, join_steps
from suanpei.messages import Message, name_duration
from suanpei.quantities import MOST_GPUS, parse_count, parse_duration_s

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from suanpei.machine.table import Row

UNITS_S: dict[str, int] = {"hour": 3_600, "day": 86_400, "week": 7 * 86_400, "month": MONTH_S}
"""Columns whose numbers count steps, with the length of one. [s]"""

_NAMES = {
    "time": "time start date datetime from 时间 日期 开始 开始时间 开始日期 起始时间 起",
    "hour": "hour hours 小时 时",
    "day": "day days 天 日 第几天",
    "week": "week weeks 周 星期",
    "month": "month months 月 月份",
    "end": "end until to 结束 结束时间 结束日期 止",
    "duration": "duration length lasts 时长 持续 持续时间",
    "gpus": "gpus gpu cards card 卡数 卡 数量 gpu数 gpu卡数 需求 需求卡数 所需卡数",
    "name": "name phase task job note 阶段 任务 名称 备注 说明",
}
_ALIASES = MappingProxyType({word: column for column, words in _NAMES.items() for word in words.split()})
_TIME_COLUMNS = ("time", *UNITS_S)

_DATE = re.compile(
    r"(?P<year>\d{4})\s*[-/.年]\s*(?P<month>\d{1,2})\s*(?:[-/.月]\s*(?P<day>\d{1,2})\s*日?)?\s*月?"
    r"(?:[T\s]*(?P<hour>\d{1,2})[:时](?P<minute>\d{1,2})?(?::(?P<second>\d{1,2}))?分?)?"
)
_ZERO = re.compile(r"0+(?:\.0*)?\s*(?:s|min|h|d|秒|分钟?|小时|天|日|周)?", re.IGNORECASE)

_Kind = Literal["date", "month", "elapsed", "hour", "day", "week", "number_of_months"]


@dataclass(frozen=True, kw_only=True)
class _Moment:
    """The time of one row."""

    kind: _Kind
    at_s: int
    """From an origin that all times of a kind share. [s]"""
    calendar: datetime | None = None


def load_demand(path: Path) -> Demand:
    """Read a demand.

    UTF-8 with or without a mark, or GBK; commas, semicolons or tabs; English or Chinese headings.

    Args:
        path: The CSV file. [-]

    Returns:
        The demand, its first row at zero.

    Raises:
        InputError: The file cannot be read, lacks a column, or has a cell, an order, a gap or an overlap that leaves
            open what is needed; file and lines are named.
    """
    rows = read_rows(read_text(path), str(path), known=tuple(_NAMES), aliases=_ALIASES)
    if not rows:
        raise InputError(Message("{file} holds no demand: a header and at least one line are needed", file=str(path)))
    if len(rows) > MOST_STEPS:
        raise InputError(
            Message("{file}: {given:,} rows are more than {most:,}", file=str(path), given=len(rows), most=MOST_STEPS)
        )
    column = _time_column(rows[0])
    moments = [_read_moment(row, column) for row in rows]
    moments = _as_months(moments)
    _check_order(rows, moments, column)
    durations_s, notes = _measure_durations(rows, moments, column)
    parts = [(duration_s, _read_gpus(row), row.text("name")) for row, duration_s in zip(rows, durations_s, strict=True)]
    by_month = moments[0].kind in ("month", "number_of_months")
    if by_month:
        notes.append(Message("demand: a month is taken as 730 h, as sellers bill it"))
    return Demand(
        steps=join_steps(parts), starts_at=moments[0].calendar, is_by_month=by_month, assumptions=tuple(notes)
    )


def _time_column(row: Row) -> str:
    """Find the column of the time."""
    present = [column for column in _TIME_COLUMNS if column in row.cells]
    if len(present) != 1 or "gpus" not in row.cells:
        raise InputError(
            Message(
                "{file}: the header needs one column of time (time, date, hour, day, week, month; 时间) and one of"
                " cards (gpus; 卡数)",
                file=row.file,
            )
        )
    return present[0]


def _read_gpus(row: Row) -> int:
    """Read how many accelerators are needed; a blank is unknown and no zero."""
    text = _plain(row, "gpus")
    if not text:
        raise _bad(row, Message("cards are blank, which is unknown and not zero; write 0 where none is needed"))
    if re.match(r"[-−]\s*\d", text):
        raise _bad(row, Message("cards cannot be negative, got '{given}'", given=text))
    if re.fullmatch(r"0+(?:\.0*)?\s*(?:张|卡|张卡)?", text):
        return 0
    return parse_count(re.sub(r"\.0+$", "", text), f"{row.file}:{row.line} gpus", most=int(MOST_GPUS))


def _read_moment(row: Row, column: str) -> _Moment:
    """Read the time of a row."""
    row.required(column)
    text = _plain(row, column)
    if calendar := _DATE.fullmatch(text):
        return _read_date(row, text, calendar)
    if column in UNITS_S and re.fullmatch(r"(?:第\s*)?\d+\s*(?:个?[小时天日周月]+)?", text):
        number = int(re.sub(r"\D", "", text))
        kind: _Kind = "number_of_months" if column == "month" else column  # type: ignore[assignment]
        return _Moment(kind=kind, at_s=number * UNITS_S[column])
    if re.fullmatch(r"[-−]\s*[\d.]+.*", text):
        raise _bad(row, Message("the time cannot be negative, got '{given}'", given=text))
    if re.fullmatch(r"\d{1,2}[-/.]\d{1,2}[-/.]\d{4}.*", text):
        raise _bad(
            row, Message("'{given}' leaves open which is the day and which the month; write 2026-08-01", given=text)
        )
    if re.fullmatch(r"\d+(?:\.\d+)?", text) and not _ZERO.fullmatch(text):
        raise _bad(
            row,
            Message(
                "'{given}' names no unit of time; head the column hour, day, week or month, or write 36h or a date such"
                " as 2026-08-01",
                given=text,
            ),
        )
    at_s = 0 if _ZERO.fullmatch(text) else round(parse_duration_s(text, f"{row.file}:{row.line} {column}"))
    return _Moment(kind="elapsed", at_s=at_s)


def _read_date(row: Row, text: str, found: re.Match[str]) -> _Moment:
    """Read a date with or without a time, or a calendar month."""
    part = {name: int(value) for name, value in found.groupdict().items() if value is not None}
    is_month = "day" not in part
    try:
        when = datetime(  # noqa: DTZ001  # demand is written in one local time; only differences are taken
            part["year"], part["month"], part.get("day", 1),
            part.get("hour", 0), part.get("minute", 0), part.get("second", 0),
        )  # fmt: skip
    except ValueError:
        raise _bad(row, Message("'{given}' is no date of the calendar", given=text)) from None
    if is_month:
        return _Moment(kind="month", at_s=(part["year"] * 12 + part["month"]) * MONTH_S, calendar=when)
    return _Moment(kind="date", at_s=(when - datetime(1970, 1, 1)) // timedelta(seconds=1), calendar=when)  # noqa: DTZ001


def _as_months(moments: Sequence[_Moment]) -> list[_Moment]:
    """Read dates that are all first days of different months, midnight, as calendar months."""
    days = [moment.calendar for moment in moments if moment.kind == "date" and moment.calendar is not None]
    if len(days) < 2 or len(days) < len(moments):
        return list(moments)
    if any((day.day, day.hour, day.minute, day.second) != (1, 0, 0, 0) for day in days):
        return list(moments)
    return [_Moment(kind="month", at_s=(day.year * 12 + day.month) * MONTH_S, calendar=day) for day in days]


def _check_order(rows: Sequence[Row], moments: Sequence[_Moment], column: str) -> None:
    """Refuse times of different kinds, out of order, or twice."""
    for (row, before), (later, after) in pairwise(zip(rows, moments, strict=True)):
        places = {"first": row.line, "file": row.file, "line": later.line}
        if before.kind != after.kind:
            raise InputError(
                Message(
                    "{file}, line {line}: '{given}' is another kind of time than '{expected}' of line {first}",
                    given=later.text(column),
                    expected=row.text(column),
                    **places,
                )
            )
        if after.at_s < before.at_s:
            raise InputError(
                Message(
                    "{file}, line {line}: '{given}' lies before '{expected}' of line {first}; put the rows in order",
                    given=later.text(column),
                    expected=row.text(column),
                    **places,
                )
            )
        if after.at_s == before.at_s:
            raise InputError(
                Message(
                    "{file}, line {line}: '{given}' stands on line {first} already", given=later.text(column), **places
                )
            )


def _measure_durations(rows: Sequence[Row], moments: Sequence[_Moment], column: str) -> tuple[list[int], list[Message]]:
    """Find how long each step lasts [s], and what was assumed for it; refuse gaps and overlaps."""
    stated = [_stated_duration(row, moment) for row, moment in zip(rows, moments, strict=True)]
    differences_s = [after.at_s - before.at_s for before, after in pairwise(moments)]
    unit_s = MONTH_S if moments[0].kind in ("month", "number_of_months") else UNITS_S.get(column)
    notes: list[Message] = []
    if unit_s is None and differences_s and not all(stated):
        unit_s = min(differences_s)
        notes.append(
            Message(
                "demand: a step lasts {amount}, the smallest distance between two times of {file}",
                amount=name_duration(unit_s),
                file=rows[0].file,
            )
        )
    durations_s: list[int] = []
    for index, row in enumerate(rows):
        duration_s = stated[index] or unit_s
        if duration_s is None:
            raise _bad(row, Message("nothing says how long it lasts; give a column end or duration"))
        if index < len(differences_s):
            _check_neighbours(row, rows[index + 1], column, differences_s[index] - duration_s)
        durations_s.append(duration_s)
    return durations_s, notes


def _check_neighbours(row: Row, following: Row, column: str, missing_s: int) -> None:
    """Refuse a gap between two rows, or an overlap. [s]"""
    values = {
        "file": row.file,
        "first": row.line,
        "line": following.line,
        "amount": name_duration(abs(missing_s)),
        "given": following.text(column),
    }
    if missing_s < 0:
        raise InputError(Message("{file}: line {first} overlaps line {line} ('{given}') by {amount}", **values))
    if missing_s > 0:
        raise InputError(
            Message(
                "{file}: nothing says what is needed for {amount} between line {first} and line {line} ('{given}');"
                " write a row with 0 where nothing is",
                **values,
            )
        )


def _stated_duration(row: Row, moment: _Moment) -> int | None:
    """Read the duration that a row states, or its end. [s]"""
    if row.text("duration"):
        return round(parse_duration_s(row.text("duration"), f"{row.file}:{row.line} duration"))
    if not row.text("end"):
        return None
    end = _read_moment(row, "end")
    if moment.kind == "month" and end.kind == "date" and end.calendar is not None and end.calendar.day == 1:
        end = _as_months([end, end])[0]
    if end.kind != moment.kind:
        raise _bad(row, Message("the end '{given}' is another kind of time than the start", given=row.text("end")))
    if end.at_s <= moment.at_s:
        raise _bad(row, Message("the end '{given}' does not lie after the start", given=row.text("end")))
    return end.at_s - moment.at_s


def _plain(row: Row, column: str) -> str:
    """Give a cell in half width."""
    return unicodedata.normalize("NFKC", row.text(column)).strip()


def _bad(row: Row, problem: Message) -> InputError:
    """Put file and line before a problem."""
    return InputError(Message("{file}, line {line}: {problem}", file=row.file, line=row.line, problem=problem))

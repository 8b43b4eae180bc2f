"""Demand from a CSV file: a time, and how many accelerators are needed from then on.

The time is a date, a date and time, a calendar month, a duration from the start (``36h``), or a number under a heading
that names its unit (``hour``, ``day``, ``week``, ``month``). A step lasts until its ``end``, for its ``duration``, or
for the one unit that the times step by. What no row speaks of is an error: it may be zero, but nobody said so.
"""

from __future__ import annotations

import re
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.table import read_rows, read_text
from suanpei.market.mix.demand import MONTH_S, MOST_STEPS, Demand, join_steps
from suanpei.market.mix.moments import UNITS_S, Moment, are_months, as_month, read_moment, refuse_cell, to_plain
from suanpei.messages import Message, name_duration
from suanpei.quantities import MOST_GPUS, parse_count, parse_duration_s

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from suanpei.machine.table import Row

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
    moments = [read_moment(row, column) for row in rows]
    ends = [read_moment(row, "end") if row.text("end") else None for row in rows]
    lengths_s = [_read_duration(row) for row in rows]
    if are_months(moments, ends, lengths_s):
        moments = [as_month(moment) for moment in moments]
        ends = [None if end is None else as_month(end) for end in ends]
    _check_order(rows, moments, column)
    stated = [
        _stated_duration(row, moment, end, length_s)
        for row, moment, end, length_s in zip(rows, moments, ends, lengths_s, strict=True)
    ]
    durations_s, notes = _measure_durations(rows, moments, column, stated)
    parts = [(duration_s, _read_gpus(row), row.text("name")) for row, duration_s in zip(rows, durations_s, strict=True)]
    by_month = moments[0].kind in ("month", "number_of_months")
    if by_month:
        notes.append(Message("demand: a month is taken as 730 h, as sellers bill it"))
    return Demand(
        steps=join_steps(parts),
        starts_at=moments[0].calendar,
        is_by_month=by_month,
        assumptions=tuple(notes),
        field=str(path),
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
    text = to_plain(row, "gpus")
    if not text:
        raise refuse_cell(row, Message("cards are blank, which is unknown and not zero; write 0 where none is needed"))
    if re.match(r"[-−]\s*\d", text):
        raise refuse_cell(row, Message("cards cannot be negative, got '{given}'", given=text))
    if re.fullmatch(r"0+(?:\.0*)?\s*(?:张|卡|张卡)?", text):
        return 0
    return parse_count(re.sub(r"\.0+$", "", text), f"{row.file}:{row.line} gpus", most=int(MOST_GPUS))


def _check_order(rows: Sequence[Row], moments: Sequence[Moment], column: str) -> None:
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


def _measure_durations(
    rows: Sequence[Row], moments: Sequence[Moment], column: str, stated: Sequence[int | None]
) -> tuple[list[int], list[Message]]:
    """Find how long each step lasts [s], and what was assumed for it; refuse gaps and overlaps."""
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
            raise refuse_cell(row, Message("nothing says how long it lasts; give a column end or duration"))
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


def _read_duration(row: Row) -> int | None:
    """Read the duration that a row states; None is not stated. [s]"""
    if not row.text("duration"):
        return None
    return round(parse_duration_s(row.text("duration"), f"{row.file}:{row.line} duration"))


def _stated_duration(row: Row, moment: Moment, end: Moment | None, length_s: int | None) -> int | None:
    """Give how long a row says that it lasts, by its duration or its end, which must agree. [s]"""
    if end is None:
        return length_s
    if moment.kind == "month" and end.is_first_of_month:
        end = as_month(end)
    if end.kind != moment.kind:
        raise refuse_cell(
            row, Message("the end '{given}' is another kind of time than the start", given=row.text("end"))
        )
    if end.at_s <= moment.at_s:
        raise refuse_cell(row, Message("the end '{given}' does not lie after the start", given=row.text("end")))
    if length_s not in (None, end.at_s - moment.at_s):
        raise refuse_cell(
            row,
            Message(
                "the duration '{given}' and the end '{end}' contradict each other; keep one",
                given=row.text("duration"),
                end=row.text("end"),
            ),
        )
    return end.at_s - moment.at_s

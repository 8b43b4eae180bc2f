from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.market.mix.demand import parse_phases
from suanpei.market.mix.demand_file import load_demand
from tests.market.mix.samples import hours_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from suanpei.market.mix.demand import DemandStep

DAY = 86_400
MONTH = 730 * 3_600


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("train:64x20d, tune:8x60d", [(0, 20 * DAY, 64, "train"), (20 * DAY, 60 * DAY, 8, "tune")]),
        ("训练：64卡×20天；微调：8 张卡 × 2个月", [(0, 20 * DAY, 64, "训练"), (20 * DAY, 2 * MONTH, 8, "微调")]),
        ("0x3d、８x1周", [(0, 3 * DAY, 0, ""), (3 * DAY, 7 * DAY, 8, "")]),
    ],
)
def test_phases_follow_each_other(text: str, steps: list[tuple[int, int, int, str]]) -> None:
    demand = parse_phases(text, "phases")

    assert [(step.start_s, step.duration_s, step.gpus, step.name) for step in demand.steps] == steps


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("64x", "phases: cannot read '64x'; it takes phases such as"),
        ("64x20", "'20' has no unit"),
        ("x20d", "phases: cannot read 'x20d'"),
        ("-8x20d", "must be above zero, got '-8'"),
        ("2.5x20d", "it takes a positive whole number"),
        ("8x-1d", "must be above zero"),
        ("8x11y", "11.0 years are more than ten"),
        ("0x20d", "phases: every step needs 0 cards"),
        ("8x1ms", "shorter than a second"),
        ("", "phases is empty"),
        (" ; ", "phases: there is no step"),
    ],
)
def test_bad_phases_are_refused_by_name(text: str, error: str) -> None:
    with pytest.raises(InputError, match=error):
        parse_phases(text, "phases")


def test_a_phase_without_duration_takes_the_default_where_there_is_one() -> None:
    assert parse_phases("8卡", "trial", default_s=7 * DAY).steps[0].duration_s == 7 * DAY


def load(folder: Path, text: str, encoding: str = "utf-8") -> list[tuple[int, int, int]]:
    file = folder / "demand.csv"
    file.write_bytes(text.encode(encoding))
    return [(step.start_s, step.duration_s, step.gpus) for step in load_demand(file).steps]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("month,gpus\n2026-07,8\n2026-08,0\n2026年9月,9\n", [(0, MONTH, 8), (MONTH, MONTH, 0), (2 * MONTH, MONTH, 9)]),
        ("时间;卡数\n2026-07-01;8卡\n2026/8/1;1,024\n", [(0, MONTH, 8), (MONTH, MONTH, 1024)]),
        ("date,gpus\n2026-02-28,8\n2026-03-01,16\n", [(0, DAY, 8), (DAY, DAY, 16)]),
        ("time,gpus\n2026-07-01 23:00,1\n2026-07-02T00:00,2\n", [(0, 3600, 1), (3600, 3600, 2)]),
        ("小时\t卡数\n０\t１\n1\t2\n", [(0, 3600, 1), (3600, 3600, 2)]),
        ("week,cards\n3,1\n4,2\n", [(0, 7 * DAY, 1), (7 * DAY, 7 * DAY, 2)]),
        ("month,gpus,phase\n1,8,train\n2,4,tune\n", [(0, MONTH, 8), (MONTH, MONTH, 4)]),
        ("day,gpus\n2026-07-05,3\n", [(0, DAY, 3)]),
        ("time,gpus,duration\n0h,8,36h\n36h,4,1周\n", [(0, 36 * 3600, 8), (36 * 3600, 7 * DAY, 4)]),
        ("开始,结束,卡数\n2026-07-01,2026-07-11,8\n2026-07-11,2026-07-12,0\n", [(0, 10 * DAY, 8), (10 * DAY, DAY, 0)]),
        ("start,end,gpus\n2026-07-01,2026-08-01,8\n2026-08-01,2026-09-01,4\n", [(0, MONTH, 8), (MONTH, MONTH, 4)]),
        ("start,end,gpus\n2026-07-01,2026-08-01,8\n2026-08-01,2026-08-02,4\n", [(0, 31 * DAY, 8), (31 * DAY, DAY, 4)]),
        ("date,duration,gpus\n2026-07-01,31d,8\n2026-08-01,31d,4\n", [(0, 31 * DAY, 8), (31 * DAY, 31 * DAY, 4)]),
        ("月份,时长,卡数\n2026-07,1个月,8\n2026-08,2个月,4\n", [(0, MONTH, 8), (MONTH, 2 * MONTH, 4)]),
        ("start,end,duration,gpus\n2026-07-01,2026-07-03,48h,8\n", [(0, 2 * DAY, 8)]),
        ("月,卡数\n第1个月,8\n第2个月,4\n", [(0, MONTH, 8), (MONTH, MONTH, 4)]),
    ],
)  # fmt: skip
def test_files_are_read_as_people_write_them(tmp_path: Path, text: str, steps: list[tuple[int, int, int]]) -> None:
    assert load(tmp_path, text) == steps
    assert load(tmp_path, text, "gb18030") == steps
    assert load(tmp_path, text, "utf-8-sig") == steps


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("day,gpus\n1,8\n3,8\n", "nothing says what is needed for 24 h between line 2 and line 3 \\('3'\\)"),
        ("date,gpus\n2026-07-01,1\n2026-07-02,1\n2026-07-06,1\n", "for 3 days between line 3 and line 4"),
        ("month,gpus\n2026-07,1\n2026-09,1\n", "for 30.4 days between line 2 and line 3"),
        ("day,gpus\n1,8\n2,\n", "line 3: cards are blank, which is unknown and not zero"),
        ("day,gpus\n1,-8\n", "line 2: cards cannot be negative, got '-8'"),
        ("day,gpus\n1,8-16\n", "demand.csv:2 gpus: cannot read '8-16'"),
        ("day,gpus\n1,2.5\n", "it takes a positive whole number"),
        ("time,gpus\n1,8\n2,8\n", "line 2: '1' names no unit of time"),
        ("time,gpus\n3m,8\n", "cannot read '3m'"),
        ("day,gpus\n2,8\n1,8\n", "line 3: '1' lies before '2' of line 2"),
        ("date,gpus\n2026-07-01,8\n2026-07-01,9\n", "line 3: '2026-07-01' stands on line 2 already"),
        ("date,gpus\n2026-07-01,8\n36h,9\n", "another kind of time than '2026-07-01' of line 2"),
        ("date,gpus\n2026-07-32,8\n", "line 2: '2026-07-32' is no date of the calendar"),
        ("date,gpus\n2026-07-03,8\n", "line 2: nothing says how long it lasts"),
        ("time,end,gpus\n0h,48h,8\n24h,72h,9\n", "line 2 overlaps line 3 \\('24h'\\) by 24 h"),
        ("time,end,gpus\n24h,12h,8\n", "the end '12h' does not lie after the start"),
        ("time,gpus\n-3h,8\n", "the time cannot be negative"),
        ("hour,gpus\n0,8\n3天,8\n", "line 3: '3天' is another kind of time than '0' of line 2"),
        ("start,end,duration,gpus\n2026-07-01,2026-07-03,9d,8\n", "'9d' and the end '2026-07-03' contradict"),
        ("date,gpus\n1899-12-30,8\n1899-12-31,8\n", "line 2: '1899-12-30' lies outside the years 2000 to 2199"),
        ("month,gpus\n9999-11,8\n9999-12,8\n", "line 2: '9999-11' lies outside the years"),
        ("hour,gpus\n" + "9" * 5000 + ",8\n", "names no unit of time"),
        ("gpus\n8\n", "needs one column of time"),
        ("day,week,gpus\n1,1,8\n", "needs one column of time"),
        ("day,gpus,colour\n1,8,red\n", "unknown or repeated column colour"),
        ("day,gpus\n", "holds no demand"),
        ("day,gpus\n1,0\n2,0\n", "every step needs 0 cards"),
        ("day,gpus\n1,9999999\n", "must be at most"),
        ("month,gpus\n" + "".join(f"{month},8\n" for month in range(1, 130)), "years are more than ten"),
    ],
)  # fmt: skip
def test_what_a_file_leaves_open_is_named(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(InputError, match=error):
        load(tmp_path, text)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv cannot be read"):
        load_demand(tmp_path / "none.csv")


@given(data=st.binary(max_size=200))
def test_any_bytes_give_a_demand_or_one_clear_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.csv"
    file.write_bytes(b"day,gpus\n" + data)
    try:
        assert load_demand(file).peak_gpus > 0
    except InputError as error:
        assert str(error)


@given(gpus=st.lists(st.integers(0, 40), min_size=1, max_size=30).filter(any), unit=st.integers(1, 8))
def test_merged_steps_need_the_same_units_at_every_time(gpus: list[int], unit: int) -> None:
    demand = hours_of(*gpus)
    merged = demand.merged(unit)

    def units_by_hour(steps: Iterable[DemandStep]) -> list[int]:
        return [-(-step.gpus // unit) for step in steps for _ in range(step.duration_s // 3600)]

    assert units_by_hour(merged.steps) == units_by_hour(demand.steps)
    assert all(before.gpus != after.gpus for before, after in zip(merged.steps, merged.steps[1:], strict=False))


def test_runs_of_different_cards_stay_apart_though_they_need_the_same_units() -> None:
    """7 and 8 cards are one unit of 8 each, but two runs: each may stand with another seller."""
    runs = replace(hours_of(7, 8, 8), needs_one_seller=True).merged(8)

    assert [(step.gpus, step.duration_s) for step in runs.steps] == [(8, 3600), (8, 2 * 3600)]
    assert len(hours_of(7, 8, 8).merged(8).steps) == 1


def test_busy_hours_are_those_of_each_card() -> None:
    assert hours_of(1, 3, 3, 0).busy_hours() == ((1, 3.0), (3, 2.0))

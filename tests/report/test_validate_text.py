"""What fit and validate print: whole words at 80 columns in both languages, targets beside figures."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len
from rich.console import Console

from suanpei.report.text.scorecard import count_met, head_table, tabulate_scores
from suanpei.report.text.validate import render_fit
from suanpei.validation.scorecard import Score
from tests.golden.fit_sample import fit_sample

if TYPE_CHECKING:
    from suanpei.report.locale import Language
    from suanpei.validation.targets import Statistic, Table


def _score(table: Table, statistic: Statistic, value: float, least: float | None, most: float | None) -> Score:
    is_met = None if (least, most) == (None, None) else (least or 0) <= value <= (most or 9)
    return Score(
        table=table, file="throughput", split="grouped", figure="step_time", group="A", statistic=statistic, n=1234,
        value=value, least=least, most=most, is_met=is_met,
    )  # fmt: skip


def test_a_row_has_its_targets_in_brackets_and_one_verdict() -> None:
    scores = [
        _score("step_time", "median", 0.0294, None, 0.03),
        _score("step_time", "p90", 0.125, None, 0.10),
        _score("step_time", "mean", 0.051, None, None),
    ]
    (row,) = tabulate_scores(scores, "step_time", "en")
    assert (row.label, row.n, row.verdict) == ("A", 1234, "missed")
    assert row.cells == ("2.9% (≤3%)", "12.5% (≤10%)", "5.1%")
    assert len(head_table("step_time", "en")) == 2 + len(row.cells) + 1
    assert str(count_met(scores)) == "1 of 2 targets met"
    assert tabulate_scores(scores[:1], "step_time", "zh")[0].verdict == "达到"


def test_ranges_and_widths_are_written_in_their_units() -> None:
    scores = [
        _score("intervals", "share", 0.9, 0.87, 0.93),
        _score("intervals", "width", 1.2449, None, 1.25),
    ]
    (row,) = tabulate_scores(scores, "intervals", "en")
    assert row.cells == ("90.0% (87–93%)", "–", "1.24 (≤1.25)")
    assert row.label == "step time A"
    assert str(count_met([])) == "no target applies to these files"


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_is_cut_off(lang: Language, width: int) -> None:
    recorder = Console(width=width, record=True, file=io.StringIO())
    recorder.print(render_fit(fit_sample(), lang))
    lines = recorder.export_text().splitlines()
    assert [line for line in lines if "…" in line] == []
    assert max(cell_len(line.rstrip()) for line in lines) <= width

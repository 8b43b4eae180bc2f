from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

from suanpei.market.rfq.fields import LINE_GROUPS
from suanpei.market.rfq.words import FORM_LANGUAGES
from suanpei.report.workbook.page import count_lines, fit_pages
from suanpei.report.workbook.rfq_form import write_form
from tests.market.rfq.samples import EIGHT_MACHINES, WORDS, specify


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 10, 1),
        ("A800", 10, 1),
        ("one two", 5, 2),  # four characters of room: a word each
        ("整机月价", 9, 1),  # four of two, in eight
        ("整机月价格", 9, 2),
        ("a\nb", 10, 2),
        ("x" * 20, 6, 4),  # a word is cut only where it is longer than the column
    ],
)
def test_lines_of_a_wrapped_cell(text: str, width: float, lines: int) -> None:
    assert count_lines(text, width) == lines


@given(st.text("甲乙 ab-，。\n", max_size=80), st.floats(4, 60), st.floats(0, 20))
def test_a_wider_column_never_takes_more_lines(text: str, width: float, more: float) -> None:
    assert count_lines(text, width + more) <= count_lines(text, width)


@given(st.lists(st.lists(st.floats(3, 40), min_size=1, max_size=10), min_size=1, max_size=8))
def test_pages_hold_whole_groups_in_their_order(groups: list[list[float]]) -> None:
    ends, scale_percent = fit_pages([width for group in groups for width in group], [len(group) for group in groups], 1)
    borders = [sum(len(group) for group in groups[: number + 1]) for number in range(len(groups))]
    assert set(ends) <= set(borders)
    assert ends == sorted(set(ends))
    assert ends[-1] == borders[-1]
    assert 0 < scale_percent <= 100


@pytest.mark.parametrize("language", FORM_LANGUAGES)
def test_the_pages_of_the_offers_break_between_groups(language: str) -> None:
    book = load_workbook(io.BytesIO(write_form(specify(EIGHT_MACHINES), language, WORDS)))  # type: ignore[arg-type]
    sheet = book.worksheets[1]
    sizes = [len(group.fields) for group in LINE_GROUPS]
    borders = {2 + sum(sizes[: number + 1]) for number in range(len(sizes))}  # behind the hidden column and the number
    breaks = [found.id for found in sheet.col_breaks.brk]
    assert breaks
    assert set(breaks) <= borders
    assert not sheet.sheet_properties.pageSetUpPr.fitToPage  # spreadsheets ignore breaks where they fit to pages
    assert sheet.page_setup.scale >= 70
    assert book.worksheets[0].page_setup.fitToWidth == 1

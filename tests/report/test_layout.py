"""Paragraphs that wrap as Chinese does, and what stands side by side."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from suanpei.report.text.layout import Bar, Beside, ByWidth, Paragraph, make_table, wrap_text

CHINESE = "建议租用 8 张 A800-SXM4-80GB（1 台机器）：7.4 天，费用 ¥9,220；有 99% 的把握在 20 天内完成。"


def lines_at(content: object, width: int, encoding: str = "utf-8") -> list[str]:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=file, width=width, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(content)
    return capture.get().splitlines()


def test_chinese_breaks_anywhere_but_not_before_closing_punctuation() -> None:
    assert wrap_text("一二三四五，六七", 10) == ["一二三四", "五，六七"]
    assert wrap_text("一二三（四五）", 8) == ["一二三", "（四五）"]


def test_words_of_letters_stay_whole_and_too_long_ones_are_cut() -> None:
    assert wrap_text("用 A800-SXM4-80GB 训练", 14) == ["用", "A800-SXM4-80GB", "训练"]
    assert wrap_text("abcdefghij", 4) == ["abcd", "efgh", "ij"]


def test_a_number_stays_with_its_unit() -> None:
    assert wrap_text("it needs 80 GiB here", 11) == ["it needs", "80 GiB here"]
    assert wrap_text("it falls below 60 % at 8", 17) == ["it falls below", "60 % at 8"]


@given(st.text(alphabet="ab 1，。（）中文×%-", max_size=60), st.integers(min_value=2, max_value=40))
def test_no_line_is_too_wide_and_nothing_is_lost(text: str, width: int) -> None:
    lines = wrap_text(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(st.integers(min_value=12, max_value=120))
def test_no_line_starts_with_closing_punctuation(width: int) -> None:
    assert all(line[0] not in "，。；：）%" for line in wrap_text(CHINESE, width))


def test_a_paragraph_hangs_under_its_bullet() -> None:
    assert [line.rstrip() for line in lines_at(Paragraph("一二三四五六", bullet="  - "), 12)] == [
        "  - 一二三四",
        "    五六",
    ]


@pytest.mark.parametrize(
    ("share", "blocks", "plain"),
    [(0.0, "", ""), (0.5, "█████", "#####"), (1.0, "█" * 10, "#" * 10), (1.7, "█" * 10, "#" * 10)],
)
def test_a_bar_is_as_long_as_its_share(share: float, blocks: str, plain: str) -> None:
    assert lines_at(Bar(share), 40)[0].rstrip() == blocks
    assert lines_at(Bar(share), 40, "ascii")[0].rstrip() == plain


def test_tables_stand_side_by_side_only_where_both_fit_whole() -> None:
    def table(heading: str) -> object:
        one = make_table([(heading, "left")])
        one.add_row("x" * 30)
        return one

    both = Beside(table("left"), table("right"))  # type: ignore[arg-type]  # tables
    wide, narrow = lines_at(both, 80), lines_at(both, 60)
    assert "left" in wide[0]
    assert "right" in wide[0]
    assert "right" not in narrow[0]
    assert any(line.startswith("right") for line in narrow)
    assert not any("…" in line for line in (*wide, *narrow))


def test_what_is_shown_depends_on_the_width() -> None:
    either = ByWidth("wide", "narrow", least=50)
    assert lines_at(either, 50) == ["wide"]
    assert lines_at(either, 49) == ["narrow"]

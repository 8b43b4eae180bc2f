from __future__ import annotations

import io
import sys
import time
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from openpyxl import load_workbook

from suanpei.errors import MissingExtraError
from suanpei.market.rfq.fields import LINE_FIELDS
from suanpei.market.rfq.marker import FORM_SHEET, read_marker
from suanpei.market.rfq.words import FORM_LANGUAGES
from suanpei.report.locale import load_templates
from suanpei.report.workbook.rfq_form import LINES, write_form
from tests.market.rfq.samples import EIGHT_MACHINES, ONE_MACHINE, WORDS, specify

if TYPE_CHECKING:
    from suanpei.market.rfq.words import FormLanguage


def opened(language: FormLanguage, seller: str = "") -> Any:
    return load_workbook(io.BytesIO(write_form(specify(EIGHT_MACHINES), language, WORDS, seller=seller)))


def test_equal_requests_give_equal_bytes_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    first = write_form(specify(ONE_MACHINE), "zh", WORDS, seller="甲云")
    monkeypatch.setattr(time, "time", lambda: 4_000_000_000.0)
    assert write_form(specify(ONE_MACHINE), "zh", WORDS, seller="甲云") == first
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert b"2026-11-30T00:00:00Z" in archive.read("docProps/core.xml")
        assert not [name for name in archive.namelist() if "vba" in name.lower() or "external" in name.lower()]


@pytest.mark.parametrize("language", FORM_LANGUAGES)
def test_two_sheets_are_seen_and_the_form_is_marked_in_each(language: FormLanguage) -> None:
    book = opened(language)
    states = {sheet.title: sheet.sheet_state for sheet in book}
    assert states == {
        WORDS.sheet_title("requirements", language): "visible",
        WORDS.sheet_title("offers", language): "visible",
        FORM_SHEET: "hidden",
    }
    markers = [read_marker(str(sheet["A1"].value)) for sheet in book]
    assert [marker.sheet for marker in markers if marker] == ["requirements", "offers", "form"]
    assert {marker.language for marker in markers if marker} == {language}


def test_a_name_that_looks_like_a_formula_stays_text() -> None:
    sheet = opened("en", seller="=1+1")["Offer"]
    cell = next(row[4] for row in sheet.iter_rows() if row[0].value == "head.seller")
    assert (cell.value, cell.data_type) == ("=1+1", "s")


@pytest.mark.parametrize("language", FORM_LANGUAGES)
def test_each_choice_has_its_list_over_all_lines(language: FormLanguage) -> None:
    sheet = opened(language)[WORDS.sheet_title("offers", language)]
    keys = {cell.value: cell.column_letter for row in sheet.iter_rows() if row[0].value == "keys" for cell in row}
    first = next(row[0].row for row in sheet.iter_rows() if row[0].value == "example") + 1
    lists = {str(rule.sqref): rule.formula1 for rule in sheet.data_validations.dataValidation if rule.type == "list"}
    for field in LINE_FIELDS:
        if field.kind == "choice":
            letter = keys[field.key]
            words = ",".join(WORDS.choices(field.choices, language).values())
            assert lists[f"{letter}{first}:{letter}{first + LINES - 1}"] == f'"{words}"'


@pytest.mark.parametrize("language", FORM_LANGUAGES)
def test_it_prints_on_a4_and_keeps_its_header_in_sight(language: FormLanguage) -> None:
    book = opened(language)
    for name in ("requirements", "offers"):
        sheet = book[WORDS.sheet_title(name, language)]
        header = next(row[0].row for row in sheet.iter_rows() if row[0].value == "labels")
        assert (sheet.page_setup.orientation, int(sheet.page_setup.paperSize)) == ("landscape", 9)
        assert sheet.freeze_panes == f"D{header + 1}"
        assert f"${header}:${header}" in sheet.print_title_rows
        assert sheet.column_dimensions["A"].hidden
        assert not sheet.merged_cells.ranges
        assert {cell.font.name for cell in sheet[header][1:]} == {"微软雅黑" if language == "zh" else "Arial"}


def test_only_answers_can_be_changed_among_the_requirements() -> None:
    sheet = opened("en")["Requirements"]
    assert sheet.protection.sheet
    assert sheet.protection.password is None
    for row in sheet.iter_rows():
        role = str(row[0].value).split(".")[0]
        opened_columns = {"need": {5, 6}, "buyer": {3}}.get(role, set())
        assert {number for number in range(1, 7) if not row[number].protection.locked} == opened_columns


def test_the_chinese_form_speaks_chinese() -> None:
    book = opened("zh")
    english = {key for key in load_templates("zh") if "{" not in key and len(key) > 3}
    for name in ("requirements", "offers"):
        for row in book[WORDS.sheet_title(name, "zh")].iter_rows(min_col=2):
            assert not [cell.value for cell in row if cell.value in english and cell.row not in hidden_rows(book)]


def hidden_rows(book: Any) -> set[int]:
    return {row for sheet in book for row, found in sheet.row_dimensions.items() if found.hidden}


def test_without_openpyxl_the_install_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'suanpei\[report\]'"):
        write_form(specify(ONE_MACHINE), "en", WORDS)

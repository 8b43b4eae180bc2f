"""Forms as sellers really fill them, saved and read through the reader of files as ``suanpei quotes`` reads them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from suanpei.market.quotes.document import Line
from suanpei.market.quotes.files.read import read_document
from suanpei.market.quotes.form.cells import take_apart
from suanpei.market.quotes.form.numbers import read_amount, read_counted
from suanpei.market.quotes.form.read import is_form, read_form
from suanpei.market.rfq.fields import BUYER_FIELDS
from suanpei.market.rfq.requirement import REQUIREMENT_ITEMS
from suanpei.market.rfq.words import FORM_LANGUAGES
from suanpei.report.locale import translate
from tests.market.quotes.form_samples import HEAD, LINE, fill, fill_text, to_document
from tests.market.rfq.samples import CATALOGUE, WORDS

if TYPE_CHECKING:
    from pathlib import Path

    from suanpei.market.quotes.quoted import QuotedOffer, Quotes
    from suanpei.market.rfq.words import FormLanguage


def through_file(book: Any, folder: Path) -> Quotes:
    """Save a workbook and read it as the command does."""
    file = folder / "filled.xlsx"
    book.save(file)
    document = read_document(file)
    assert is_form(document)
    return read_form(document, CATALOGUE)


def one(changes: dict[str, Any]) -> tuple[QuotedOffer, Quotes]:
    quotes = read_form(fill_text("zh", [{**LINE, **changes}]), CATALOGUE)
    (offer,) = quotes.offers
    return offer, quotes


def offers_sheet(book: Any) -> Any:
    return book.worksheets[1]


def row_of(sheet: Any, role: str) -> int:
    return next(int(row[0].row) for row in sheet.iter_rows() if row[0].value == role)


def column_of(sheet: Any, key: str) -> int:
    (row,) = [row for row in sheet.iter_rows() if row[0].value == "keys"]
    return next(int(cell.column) for cell in row if cell.value == key)


def copy_cells(source: Any, target: Any, *, down: int = 0, right: int = 0, seen_only: bool = False) -> None:
    """Paste a sheet; of what is seen alone, without gaps."""
    rows = [row for row in source.iter_rows() if not (seen_only and source.row_dimensions[row[0].row].hidden)]
    for number, row in enumerate(rows, start=1):
        for cell in row[seen_only:]:
            if cell.value is not None:
                target.cell(number + down, cell.column - seen_only + right).value = cell.value


def test_two_forms_in_one_workbook_keep_their_sellers(tmp_path: Path) -> None:
    book = fill("zh", [LINE], answers={})
    other = fill(
        "zh", [{**LINE, "count": 64}], head={**HEAD, "seller": "乙算力"}, answers={"image": ("deviates", "无 root")}
    )
    for sheet in other.worksheets[:2]:
        copy_cells(sheet, book.create_sheet(f"{sheet.title} (2)"))
    quotes = through_file(book, tmp_path)
    assert [(offer.seller, offer.count, offer.source.sheet) for offer in quotes.offers] == [
        ("甲云", 128, "报价"),
        ("乙算力", 64, "报价 (2)"),
    ]
    deviations = [[str(remark) for remark in offer.remarks if "deviates" in str(remark)] for offer in quotes.offers]
    assert deviations == [[], ["Image, deviates: 无 root"]]


def test_a_second_sheet_of_offers_shares_the_only_answers(tmp_path: Path) -> None:
    book = fill("zh", [LINE], answers={})
    copy_cells(offers_sheet(book), book.create_sheet("报价 (2)"))
    quotes = through_file(book, tmp_path)
    assert (len(quotes.offers), quotes.questions) == (2, ())


@pytest.mark.parametrize(("down", "right"), [(0, 2), (3, 0), (5, 4)])
def test_a_form_pasted_beside_something_is_read_the_same(down: int, right: int, tmp_path: Path) -> None:
    book, whole = fill("zh", [LINE], answers={}), Workbook()
    whole.active.title = "技术要求"
    copy_cells(book.worksheets[0], whole.active, down=down, right=right)
    copy_cells(offers_sheet(book), whole.create_sheet("报价"), down=down, right=right)
    quotes = through_file(whole, tmp_path)
    (offer,) = quotes.offers
    assert (offer.seller, offer.count, quotes.questions) == ("甲云", 128, ())
    place = offers_sheet(book).cell(14 + down, column_of(offers_sheet(book), "price_node_month") + right).coordinate
    assert offer.source.cell == f"报价!{place}"


@pytest.mark.parametrize("language", FORM_LANGUAGES)
def test_a_copy_of_what_is_seen_alone_is_refused_in_one_line(language: FormLanguage, tmp_path: Path) -> None:
    book, copied = fill(language, [LINE], answers={}), Workbook()
    copied.active.title = "H800"
    copy_cells(offers_sheet(book), copied.active, seen_only=True)
    quotes = through_file(copied, tmp_path)
    assert quotes.offers == ()
    assert [str(unread.reason).split(":")[0] for unread in quotes.unread] == [
        "the hidden row or column of keys is gone"
    ]


def test_a_copy_beside_the_form_is_named_and_not_read(tmp_path: Path) -> None:
    book = fill("zh", [LINE], answers={})
    copy_cells(offers_sheet(book), book.create_sheet("给领导看"), seen_only=True)
    quotes = through_file(book, tmp_path)
    assert len(quotes.offers) == 1
    assert [(unread.cell, str(unread.reason)) for unread in quotes.unread] == [
        ("给领导看", "shows a form without its hidden row and column of keys and is not read")
    ]


def test_without_its_first_column_a_form_says_what_is_missing(tmp_path: Path) -> None:
    book = fill("zh", [LINE], answers={})
    offers_sheet(book).delete_cols(1)
    reasons = [str(unread.reason) for unread in through_file(book, tmp_path).unread if not unread.is_read]
    assert [reason.split(":")[0] for reason in reasons] == [
        "the hidden row or column of keys on the sheet 报价 is gone"
    ]


def test_words_and_a_signature_below_the_table_are_no_offers(tmp_path: Path) -> None:
    book = fill("zh", [LINE], answers={})
    sheet = offers_sheet(book)
    sheet.cell(40, 3).value = "以上报价含三年质保"
    sheet.cell(42, 3).value, sheet.cell(42, 5).value = "盖章：", "2026-11-30"
    quotes = through_file(book, tmp_path)
    assert len(quotes.offers) == 1
    assert [str(unread.reason).partition(": ")[2] for unread in quotes.unread] == [
        "以上报价含三年质保",
        "盖章： 2026-11-30",
    ]


def test_lines_beyond_the_numbered_ones_and_gaps_are_read(tmp_path: Path) -> None:
    book = fill("zh", [{**LINE, "count": 8 * (number + 1)} for number in range(25)], answers={})
    sheet = offers_sheet(book)
    sheet.delete_rows(row_of(sheet, "example"))
    sheet.insert_rows(16, amount=3)
    assert [offer.count for offer in through_file(book, tmp_path).offers] == [8 * (number + 1) for number in range(25)]


def test_what_spreadsheets_make_of_a_cell_is_read(tmp_path: Path) -> None:
    book = fill("zh", [LINE, LINE], answers={})
    sheet = offers_sheet(book)
    first = row_of(sheet, "example") + 1
    sheet.cell(first, column_of(sheet, "tax_rate")).value = 0.06  # a percentage, shown as 6%
    sheet.cell(first, column_of(sheet, "tax_rate")).number_format = "0%"
    sheet.cell(first, column_of(sheet, "delivery")).value = date(2026, 12, 24)
    sheet.cell(first, column_of(sheet, "price_node_month")).value = "78000"  # a number stored as text
    sheet.cell(first, column_of(sheet, "comment")).value = "很长的备注，" * 400
    sheet.cell(first + 1, column_of(sheet, "price_card_hour")).value = "=78000/8/730"  # no value is stored with it
    quotes = through_file(book, tmp_path)
    (offer, formula) = quotes.offers
    assert offer.price_per_accelerator_hour.tax_rate == Decimal("0.06")
    assert offer.price_per_accelerator_hour.amount == Fraction(78000, 5840)
    assert "Delivery date (YYYY-MM-DD): 2026-12-24" in map(str, offer.remarks)
    assert offer.note == "很长的备注，" * 400
    assert formula.price_per_accelerator_hour.amount == Fraction(78000, 5840)
    assert ["formula" in str(unread.reason) for unread in quotes.unread] == [True]


@pytest.mark.parametrize(
    ("text", "currency", "amount"),
    [
        ("4.2万/台/月", "CNY", 42000),
        ("4.2万元/台·月", "CNY", 42000),
        ("¥42,000.00 每台每月", "CNY", 42000),
        ("￥42,000", "CNY", 42000),
        ("４.２万", "CNY", 42000),
        ("4万2", "CNY", 42000),
        ("42000 元/月", "CNY", 42000),
        ("5,800 USD / node / month", "USD", 5800),
        ("4.2万美元/台/月", "CNY", None),
        ("¥42000", "USD", None),
        ("42000/8", "CNY", None),
        ("13.4元/卡/时", "CNY", None),
        ("42000（包年40000）", "CNY", None),
        ("42000-45000", "CNY", None),
        ("约42000", "CNY", None),
        ("42000起", "CNY", None),
        ("1,234€", "EUR", None),
        ("面议", "CNY", None),
    ],
)
def test_a_price_may_repeat_what_its_column_says_and_nothing_else(text: str, currency: str, amount: int | None) -> None:
    assert read_amount(text, currency, WORDS.units("price_node_month")) == amount


@pytest.mark.parametrize(
    ("key", "text", "number"),
    [
        ("memory_gb", "80GB", 80),
        ("memory_gb", "80 G", 80),
        ("memory_gb", "80GB×8", None),
        ("count", "128张", 128),
        ("count", "１２８ 卡", 128),
        ("count", "16台", None),
        ("port_gbit", "400G", 400),
        ("port_gbit", "8×400G", None),
        ("deposit_months", "1个月", 1),
        ("deposit_months", "押一付三", None),
    ],
)
def test_a_number_may_repeat_its_unit(key: str, text: str, number: int | None) -> None:
    assert read_counted(text, WORDS.units(key)) == number


def test_the_unit_behind_the_shortest_rental_must_be_the_one_picked() -> None:
    assert one({"minimum_term": "3个月"})[1].unread == ()
    offer, quotes = one({"minimum_term": "3个月", "minimum_term_unit": "year"})
    assert offer.term is None
    assert len(quotes.unread) == 1


@pytest.mark.parametrize(
    ("key", "text", "code"),
    [("tax", "是", "in"), ("tax", "未税", "out"), ("invoice", "专票", "special"), ("network", "IB", "infiniband")],
)
def test_other_words_for_the_same_are_read(key: str, text: str, code: str) -> None:
    offer, quotes = one({key: text})
    assert (offer, quotes.unread) == (one({key: code})[0], ())


def test_answers_in_other_words_are_taken_and_kept_where_they_say_more() -> None:
    given_answers = {"cards": ("√", ""), "image": ("部分满足", "无 root"), "driver": ("满足，见附件", "")}
    quotes = read_form(to_document(fill("zh", [LINE], answers=given_answers)), CATALOGUE)
    assert [str(remark) for remark in quotes.offers[0].remarks][-2:] == [
        "Image, deviates: 部分满足: 无 root",
        "Driver: 满足，见附件",
    ]
    assert [str(question.problem) for question in quotes.questions] == ["requirements without a clear answer: Driver"]


def with_buyer(book: Any, said: dict[str, str], language: FormLanguage) -> Any:
    sheet = book.worksheets[0]
    for key, value in said.items():
        text = WORDS.choices("invoice", language).get(value, value) if key == "wanted_invoice" else value
        sheet.cell(row_of(sheet, f"buyer.{key}"), 4).value = text
    return book


@pytest.mark.parametrize("language", FORM_LANGUAGES)
def test_what_the_buyer_wants_is_kept_and_held_against_the_offers(language: FormLanguage) -> None:
    said = {"buyer": "丙科技", "reply_by": "2026-12-05", "valid_at_least": "2026-12-31", "wanted_invoice": "special"}
    lines = [LINE, {**LINE, "invoice": "ordinary"}]
    quotes = read_form(to_document(with_buyer(fill(language, lines, answers={}), said, language)), CATALOGUE)
    assert str(quotes.assumptions[1]) == (
        "the form was sent with: Buyer: 丙科技, Reply by (YYYY-MM-DD): 2026-12-05,"
        " Quote valid at least until (YYYY-MM-DD): 2026-12-31, Invoice wanted: special VAT invoice"
    )
    assert translate(quotes.assumptions[1], "zh").endswith("所需发票类型：增值税专用发票")
    assert [str(question.problem) for question in quotes.questions] == [
        "the quote is valid until 2026-12-15, asked for was 2026-12-31 at least",
        "row 15 is offered with ordinary invoice, wanted is special VAT invoice",
    ]


def test_an_unreadable_cell_of_the_buyer_is_named_and_no_seller_is_asked() -> None:
    book = with_buyer(fill("en", [LINE], answers={}), {"reply_by": "soon", "valid_at_least": "2026-12-01"}, "en")
    quotes = read_form(to_document(book), CATALOGUE)
    assert quotes.questions == ()
    assert [str(unread.reason) for unread in quotes.unread] == ["Reply by (YYYY-MM-DD): 'soon' cannot be read"]


@given(
    st.dictionaries(
        st.sampled_from(sorted(REQUIREMENT_ITEMS)),
        st.tuples(st.sampled_from(["meets", "deviates", ""]), st.text("甲乙ab %，１", max_size=30).map(str.strip)),
    ),
    st.dictionaries(
        st.sampled_from([field.key for field in BUYER_FIELDS]), st.text("甲乙ab１2-", min_size=1, max_size=20)
    ),
    st.sampled_from(FORM_LANGUAGES),
)
@settings(max_examples=25, deadline=None)
def test_answers_and_the_buyers_part_are_found_as_written(
    answers: dict[str, tuple[str, str]], said: dict[str, str], language: FormLanguage
) -> None:
    book = with_buyer(fill(language, [LINE], answers=answers), said, language)
    file = take_apart(to_document(book), WORDS)
    assert file is not None
    (form,) = file.forms
    assert form.answers is not None
    words = WORDS.choices("answer", language)
    found = {answer.key: (answer.answer.text, answer.comment.text) for answer in form.answers}
    for key, pair in found.items():
        code, comment = answers.get(key, ("meets", ""))
        assert pair == (words.get(code, code), comment)
    assert {key: cell.text for key, cell in form.buyer.items() if cell.text} == said


@given(st.lists(st.lists(st.text("甲1.万/月 suanpei-rfq=", max_size=12), max_size=6), max_size=8))
@settings(max_examples=60, deadline=None)
def test_rows_of_any_text_below_the_lines_are_never_lost_silently(rows: list[list[str]]) -> None:
    document = fill_text("zh", [LINE])
    (sheet,) = [sheet for sheet in document.sheets if sheet.name == "报价"]
    last = sheet.lines[-1].row
    added = tuple(
        Line(row=last + 1 + number, cells=("", *(cell.strip() for cell in row))) for number, row in enumerate(rows)
    )
    sheets = tuple(replace(item, lines=(*item.lines, *added)) if item is sheet else item for item in document.sheets)
    quotes = read_form(replace(document, sheets=sheets), CATALOGUE)
    kept = {offer.source.row for offer in quotes.offers} | {int(found) for found in _rows(quotes)}
    for line in added:
        number, *others = (*line.cells[1:], "")
        if any(others) or (number and not number.replace(".", "").isdecimal()):
            assert line.row in kept


def _rows(quotes: Quotes) -> list[str]:
    return ["".join(filter(str.isdecimal, unread.cell.rpartition("!")[2])) for unread in quotes.unread]

"""Filled forms: a form is written, its cells filled by key as a seller would, saved and read as a document of text."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from openpyxl import load_workbook

from suanpei.market.quotes.document import Document, Line, Sheet
from suanpei.market.rfq.fields import FIELDS_BY_KEY
from suanpei.report.workbook.rfq_form import write_form
from tests.market.rfq.samples import EIGHT_MACHINES, WORDS, specify

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suanpei.market.rfq.words import FormLanguage

HEAD = {"seller": "甲云", "contact": "Wang", "quote_date": "2026-11-30", "valid_until": "2026-12-15"}
LINE: dict[str, Any] = {
    "accelerator": "H800-SXM5-80GB",
    "memory_gb": 80,
    "condition": "new",
    "modified": "no",
    "sold_by": "node",
    "gpus_per_node": 8,
    "count": 128,
    "region": "Ulanqab",
    "in_node": "nvlink_switch",
    "network": "infiniband",
    "ports_per_node": 8,
    "port_gbit": 400,
    "pricing": "monthly",
    "currency": "CNY",
    "price_card_hour": 13.36,
    "price_node_month": 78000,
    "tax": "out",
    "tax_rate": "6",
    "invoice": "special",
    "billing": "month",
    "minimum_term": 3,
    "minimum_term_unit": "month",
    "deposit_months": 1,
    "prepaid_months": 3,
    "early_exit": "30",
    "bills_outages": "no",
    "delivery": "2026-12-20",
    "power": "in",
    "storage_price": 0.12,
    "ingress_price": 0,
    "egress_price": 0.5,
    "set_up_price": 0,
    "fabric_price": 0,
    "comment": "carefully made",
}
"""A line with every cell filled; choices by code. 78,000 / 8 / 730 is 13.3562 per card-hour."""


@cache
def sent(language: FormLanguage, seller: str) -> bytes:
    return write_form(specify(EIGHT_MACHINES), language, WORDS, seller=seller)


def blank_form(language: FormLanguage = "en", seller: str = "") -> Any:
    """A workbook as it is sent."""
    return load_workbook(io.BytesIO(sent(language, seller)))


def fill(
    language: FormLanguage,
    lines: Sequence[Mapping[str, Any]],
    head: Mapping[str, str] = HEAD,
    answers: Mapping[str, tuple[str, str]] | None = None,
) -> Any:
    """Fill a form: lines and head by the keys of fields, answers by the keys of requirements; all others are met."""
    book = blank_form(language)
    offers = book[WORDS.sheet_title("offers", language)]
    columns = {cell.value: cell.column for row in offers.iter_rows() if row[0].value == "keys" for cell in row}
    roles = {row[0].value: row[0].row for row in offers.iter_rows() if row[0].value}
    for key, value in head.items():
        offers.cell(roles[f"head.{key}"], 5).value = value
    for number, line in enumerate(lines):
        for key, value in line.items():
            offers.cell(roles["example"] + 1 + number, columns[key]).value = say(key, value, language)
    needs = book[WORDS.sheet_title("requirements", language)]
    for row in needs.iter_rows():
        role = str(row[0].value or "")
        if role.startswith("need.") and answers is not None:
            code, comment = answers.get(role.removeprefix("need."), ("meets", ""))
            row[5].value = WORDS.choices("answer", language).get(code, code) or None
            row[6].value = comment or None
    return book


def fill_text(language: FormLanguage, lines: Sequence[Mapping[str, Any]]) -> Document:
    """Fill the text of a form, as a saved workbook would hold it, with all requirements met: no file, so it is fast."""
    document = _answered(language)
    title = WORDS.sheet_title("offers", language)
    (sheet,) = [sheet for sheet in document.sheets if sheet.name == title]
    keys = next(line.cells for line in sheet.lines if line.cells[0] == "keys")
    first = next(line.row for line in sheet.lines if line.cells[0] == "example") + 1
    filled = [
        Line(
            row=first + number,
            cells=("", str(number + 1), *(to_text(say(key, line.get(key), language)) for key in keys[2:])),
        )
        for number, line in enumerate(lines)
    ]
    kept = [line for line in sheet.lines if line.row < first]
    changed = replace(sheet, lines=(*kept, *filled))
    return replace(document, sheets=tuple(changed if item is sheet else item for item in document.sheets))


@cache
def _answered(language: FormLanguage) -> Document:
    """A form with its head filled and all requirements met, without lines."""
    return to_document(fill(language, [], answers={}))


def say(key: str, value: Any, language: FormLanguage) -> Any:
    """Write a value as the form's list has it, and a number as a spreadsheet stores it."""
    if isinstance(value, Decimal):
        return float(value)
    choices = FIELDS_BY_KEY[key].choices
    return WORDS.choices(choices, language).get(value, value) if choices else value


def to_document(book: Any, file: str = "form.xlsx") -> Document:
    """Save a workbook and read its cells as text."""
    buffer = io.BytesIO()
    book.save(buffer)
    saved = load_workbook(buffer, data_only=True)
    return Document(file=file, sheets=tuple(to_sheet(sheet) for sheet in saved))


def to_sheet(sheet: Any) -> Sheet:
    rows = [
        Line(row=number, cells=tuple(to_text(value) for value in row))
        for number, row in enumerate(sheet.iter_rows(values_only=True), start=1)
    ]
    return Sheet(kind="table", name=sheet.title, lines=tuple(line for line in rows if any(line.cells)))


def to_text(value: Any) -> str:
    if isinstance(value, datetime | date):
        return value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()
    return "" if value is None else str(value).strip()


def to_csv_document(book: Any, title: str) -> Document:
    """Save one sheet as CSV, hidden rows and columns with it as spreadsheets do, and read that."""
    stream = io.StringIO()
    csv.writer(stream).writerows(book[title].iter_rows(values_only=True))
    lines = [
        Line(row=number, cells=tuple(cell.strip() for cell in row))
        for number, row in enumerate(csv.reader(io.StringIO(stream.getvalue())), start=1)
    ]
    sheet = Sheet(kind="table", name=None, lines=tuple(line for line in lines if any(line.cells)))
    return Document(file="offer.csv", sheets=(sheet,))

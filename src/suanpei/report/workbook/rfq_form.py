"""The form of a request for quotation as an XLSX workbook: what is needed, and the lines that a seller fills.

Two sheets are seen, one is hidden. Column A and the rows of markers and keys are hidden too: by them
`market.quotes.form` reads the form back, from the workbook or from its sheets saved as CSV. No cell is merged, nothing
is computed, there are no macros: Excel, WPS and LibreOffice show and keep it alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError, MissingExtraError
from suanpei.market.rfq.fields import BUYER_FIELDS, HEAD_FIELDS, LINE_FIELDS, LINE_GROUPS, NUMBER_KEY
from suanpei.market.rfq.marker import (
    ANSWER_COLUMNS,
    BUYER_PREFIX,
    EXAMPLE_ROLE,
    FORM_SHEET,
    HEAD_PREFIX,
    KEYS_ROLE,
    LABELS_ROLE,
    NEED_PREFIX,
    TEXT_ROLE,
    write_marker,
    write_sign,
)
from suanpei.market.rfq.requirements import list_requirements
from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.workbook.sheet import SheetWriter, save_reproducibly, start_book

if TYPE_CHECKING:
    from suanpei.market.rfq.fields import Field
    from suanpei.market.rfq.specification import Specification
    from suanpei.market.rfq.words import FormWords
    from suanpei.report.locale import Language
    from suanpei.verbs.rfq import RfqResult

LINES = 20
"""Numbered lines for offers; a seller may add more."""
_NUMBER_WIDTH = 9
_HEAD_COLUMN = 3
"""Of the value of the head: its label runs over the cell before it."""
_HEAD_INPUTS = 4
"""Narrow cells side by side in which one value of the head is written."""
_BUYER_COLUMN = 2
"""Of what the buyer fills in above the requirements."""
_ANSWER_WIDTHS = {"group": 18, "item": 21, "need": 54, "basis": 40, "answer": 10, "comment": 38}


def save_forms(result: RfqResult) -> None:
    """Write the forms that a request asks for.

    Args:
        result: The request, read: what is asked for, in which language, and the file of each seller. [-]

    Raises:
        MissingExtraError: openpyxl is not installed.
        InputError: A file cannot be written.
    """
    for form in result.forms:
        content = write_form(result.specification, result.language, result.words, seller=form.seller)
        try:
            form.path.write_bytes(content)
        except OSError as error:
            raise InputError(
                Message("out: {path} cannot be written: {reason}", path=str(form.path), reason=error.strerror)
            ) from error


def write_form(specification: Specification, lang: Language, words: FormWords, *, seller: str = "") -> bytes:
    """Make one form.

    Args:
        specification: What is asked for. [-]
        lang: Language of the form. [-]
        words: What stands in its lists. [-]
        seller: Whom it is for; empty leaves the cell to the seller. [-]

    Returns:
        The workbook; equal arguments give equal bytes.

    Raises:
        MissingExtraError: openpyxl is not installed.
    """
    try:
        book = start_book()
    except ImportError as error:
        package, extra = "openpyxl", "report"
        raise MissingExtraError(package, extra) from error
    _write_requirements(book, specification, lang, words)
    _write_offers(book, specification, lang, words, seller)
    hidden = book.create_sheet(FORM_SHEET)
    for row in _describe(specification, lang, words):
        hidden.append(row)
    hidden.sheet_state = "hidden"
    book.active = 0
    return save_reproducibly(book, specification.as_of)


def _describe(specification: Specification, lang: Language, words: FormWords) -> list[tuple[str, str]]:
    """List what the hidden sheet holds."""
    return [
        (write_marker(words, lang, specification, sheet="form"), ""),
        ("accelerator", specification.accelerator),
        ("gpus", str(specification.gpus)),
        ("nodes", str(specification.nodes)),
        ("as_of", specification.as_of.isoformat()),
    ]


def _write_requirements(book: Any, specification: Specification, lang: Language, words: FormWords) -> None:
    sheet = SheetWriter(book.create_sheet(words.sheet_title("requirements", lang)), lang, words)
    sheet.hidden_row(write_marker(words, lang, specification, sheet="requirements"))
    sheet.text_row(TEXT_ROLE, translate("What we need", lang), style="title")
    sheet.text_row(
        TEXT_ROLE,
        translate(
            "Green cells are filled by the buyer before this is sent. Sellers: please mark each row as met or not, and"
            " write figures and deviations into the last column.",
            lang,
        ),
    )
    for field in BUYER_FIELDS:
        row = sheet.row(
            f"{BUYER_PREFIX}{field.key}",
            [translate(field.label, lang), "", ""],
            style="head",
            inputs=(_BUYER_COLUMN,),
            filler="buyer",
        )
        sheet.field(field, lang, column=_BUYER_COLUMN, first_row=row, last_row=row)
    sheet.hidden_row(KEYS_ROLE, *ANSWER_COLUMNS)
    labels = (
        translate("Section", lang),
        translate("Item", lang),
        translate("What we need", lang),
        translate("Why, or source", lang),
        translate("Met?", lang),
        translate("Your figures and deviations", lang),
    )
    header = sheet.row(LABELS_ROLE, labels, style="header")
    first = header + 1
    last = header
    for group in list_requirements(specification):
        for requirement in group.requirements:
            said = (group.heading, requirement.item, requirement.need, requirement.basis)
            cells = [translate(message, lang) for message in said]
            last = sheet.row(f"{NEED_PREFIX}{requirement.key}", [*cells, "", ""], style="cell", inputs=(4, 5))
    sheet.widths(list(_ANSWER_WIDTHS.values()))
    sheet.fit_heights(first, last)
    sheet.choice(words.choices("answer", lang).values(), column=4, first_row=first, last_row=last)
    sheet.freeze(header + 1, 2)
    sheet.print_on_a4(
        last_row=last, title_row=header, footer=_footer(specification, lang), groups=[len(ANSWER_COLUMNS)]
    )
    sheet.protect()


def _write_offers(book: Any, specification: Specification, lang: Language, words: FormWords, seller: str) -> None:
    sheet = SheetWriter(book.create_sheet(words.sheet_title("offers", lang)), lang, words)
    sheet.hidden_row(write_marker(words, lang, specification, sheet="offers"))
    sheet.text_row(
        TEXT_ROLE,
        translate(
            Message("Offer for {gpus} × {accelerator}", gpus=specification.gpus, accelerator=specification.accelerator),
            lang,
        ),
        style="title",
        column=1,
    )
    for sentence in _instructions(specification, lang):
        sheet.text_row(TEXT_ROLE, sentence, column=1)
    inputs = range(_HEAD_COLUMN, _HEAD_COLUMN + _HEAD_INPUTS)
    for field in HEAD_FIELDS:
        value = seller if field.key == "seller" else ""
        cells = ["", _label(field, lang), "", value, *[""] * (_HEAD_INPUTS - 1)]
        row = sheet.row(f"{HEAD_PREFIX}{field.key}", cells, style="head", inputs=inputs)
        if field.kind == "date":
            sheet.field(field, lang, column=_HEAD_COLUMN, first_row=row, last_row=row)
    headings = [""]
    for group in LINE_GROUPS:
        headings += [translate(group.heading, lang), *[""] * (len(group.fields) - 1)]
    sheet.row(TEXT_ROLE, headings, style="band")
    sheet.hidden_row(KEYS_ROLE, NUMBER_KEY, *(field.key for field in LINE_FIELDS))
    labels = [translate("No.", lang), *(_label(field, lang) for field in LINE_FIELDS)]
    header = sheet.row(LABELS_ROLE, labels, style="header")
    examples = [translate("Example, not an offer", lang), *(words.example(field, lang) for field in LINE_FIELDS)]
    first = sheet.row(EXAMPLE_ROLE, examples, style="example") + 1
    columns = range(1, len(LINE_FIELDS) + 1)
    last = header
    for number in range(1, LINES + 1):
        last = sheet.row("", [number, *[""] * len(LINE_FIELDS)], style="cell", inputs=columns)
    for column, field in zip(columns, LINE_FIELDS, strict=True):
        sheet.field(field, lang, column=column, first_row=first, last_row=last)
    sheet.widths([_NUMBER_WIDTH, *(field.width for field in LINE_FIELDS)])
    sheet.fit_heights(header, header + 1)
    sheet.freeze(header + 1, 2)
    groups = [len(group.fields) for group in LINE_GROUPS]
    sheet.print_on_a4(
        last_row=last,
        title_row=header,
        footer=_footer(specification, lang),
        groups=[1 + groups[0], *groups[1:]],
        repeated=1,
    )


def _footer(specification: Specification, lang: Language) -> str:
    """Name the form on every printed page."""
    return translate(
        Message(
            "Offer for {gpus} × {accelerator}, request {request}",
            gpus=specification.gpus,
            accelerator=specification.accelerator,
            request=specification.request_hash,
        ),
        lang,
    )


def _instructions(specification: Specification, lang: Language) -> tuple[str, ...]:
    return (
        translate(
            "One line per configuration that you offer. Cells with * must be filled; 0 where nothing is billed.", lang
        ),
        translate(
            "Both prices of a line are one price in two units: machine-month = card-hour × cards per machine × 730 h."
            " Another price is another line.",
            lang,
        ),
        translate(
            Message(
                "The grey line is an example with invented figures and is not read. Please leave hidden rows and"
                " columns as they are, and send the whole workbook ({sign}).",
                sign=write_sign(specification),
            ),
            lang,
        ),
    )


def _label(field: Field, lang: Language) -> str:
    return translate(field.label, lang) + (" *" if field.is_mandatory else "")

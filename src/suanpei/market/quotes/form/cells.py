"""The cells of a filled form, found by their keys: from a workbook, or from its sheets saved as CSV."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import Line, Unread, name_cell
from suanpei.market.rfq.fields import BUYER_FIELDS, FIELDS_BY_KEY, HEAD_FIELDS, LINE_FIELDS, NUMBER_KEY
from suanpei.market.rfq.marker import (
    BUYER_PREFIX,
    COPY_SHEET,
    EXAMPLE_ROLE,
    FORM_SHEET,
    HEAD_PREFIX,
    KEYS_ROLE,
    LABELS_ROLE,
    MARKER,
    NEED_PREFIX,
    TEXT_ROLE,
    Marker,
    read_marker,
    read_sign,
)
from suanpei.market.rfq.words import FORM_LANGUAGES, fold
from suanpei.messages import Message, excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from suanpei.market.quotes.document import Document, Sheet
    from suanpei.market.rfq.words import FormWords

_LINE_KEYS = frozenset(item.key for item in LINE_FIELDS)
_HEAD_KEYS = frozenset(item.key for item in HEAD_FIELDS)
_BUYER_KEYS = frozenset(item.key for item in BUYER_FIELDS)
_VALUE_COLUMN = 2
"""Of a line with a label: behind the role two columns for the label, then the value in whichever cell it stands."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What stands in one cell, and where."""

    text: str
    place: str
    """As `name_cell` writes it."""


@dataclass(frozen=True, kw_only=True)
class FilledLine:
    """One line that a seller filled."""

    sheet: str | None
    row: int
    cells: Mapping[str, Cell]
    """By key of the field; every column of the form that the sheet still has, blank ones too."""
    extra: tuple[str, ...] = ()
    """What stands in columns that the form does not have, with their headings."""

    def cell(self, key: str) -> Cell:
        """Give the cell of a field; an empty one at the row where its column is gone."""
        return self.cells.get(key) or Cell(text="", place=name_cell(self.sheet, self.row))


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a seller answered to one requirement."""

    key: str
    answer: Cell
    comment: Cell


@dataclass(frozen=True, kw_only=True)
class FormCells:
    """One seller's form taken apart: a sheet of offers, with the answers that belong to it."""

    marker: Marker
    sheet: str | None
    """Of the offers; None where the file names none."""
    head: Mapping[str, Cell]
    lines: tuple[FilledLine, ...]
    has_keys: bool
    """Whether the keys of the columns are still there, without which nothing can be found."""
    unread: tuple[Unread, ...]
    answers: tuple[Answer, ...] | None = None
    """None where the file holds none to these offers."""
    buyer: Mapping[str, Cell] = field(default_factory=dict)
    """What the buyer wrote before the form was sent."""


@dataclass(frozen=True, kw_only=True)
class FormFile:
    """What a file holds of our forms."""

    marker: Marker
    """Of its first sheet."""
    forms: tuple[FormCells, ...]
    """One per sheet of offers."""
    copies: tuple[str | None, ...]
    """Sheets that show a form, but without what is hidden in it."""
    own_places: frozenset[str]
    """Cells and sheets that the form itself hides: that they are hidden is nothing to say."""


@dataclass(kw_only=True)
class _Found:
    words: FormWords
    head: dict[str, Cell] = field(default_factory=dict)
    lines: list[FilledLine] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    has_keys: bool = False


@dataclass(frozen=True, kw_only=True)
class _Answers:
    answers: tuple[Answer, ...] | None
    buyer: Mapping[str, Cell]


def find_markers(document: Document) -> Iterator[tuple[Sheet, Marker]]:
    """Give the sheets of a document that are of a form, each from its marker on: as if this stood in the first cell."""
    for sheet in document.sheets:
        for position, line in enumerate(sheet.lines):
            column, marker = _find_marker(line)
            if marker is not None:
                behind = (Line(row=other.row, cells=other.cells[column:]) for other in sheet.lines[position:])
                yield replace(sheet, lines=tuple(behind)), replace(marker, column=column)
                break


def _find_marker(line: Line) -> tuple[int, Marker | None]:
    """Find the first cell with a marker; most lines of most files hold none, so the name is looked for first."""
    named = (column for column, text in enumerate(line.cells) if MARKER in text)
    found = ((column, read_marker(line.cells[column]) or read_sign(line.cells[column])) for column in named)
    return next(((column, marker) for column, marker in found if marker is not None), (0, None))


def take_apart(document: Document, words: FormWords) -> FormFile | None:
    """Find the cells of the forms in a document; None where there is none.

    Args:
        document: A file as text. [-]
        words: What the form was sent with. [-]
    """
    sheets = list(find_markers(document))
    if not sheets:
        return None
    own_places = {FORM_SHEET}
    forms: list[FormCells] = []
    answered: list[_Answers] = []
    for sheet, marker in sheets:
        if marker.sheet != COPY_SHEET:
            keys = (line.row for line in sheet.lines if line.cells[:1] == (KEYS_ROLE,))
            own_places |= {name_cell(sheet.name, row, marker.column) for row in (1, sheet.lines[0].row, *keys)}
        if marker.sheet == "offers":
            forms.append(_read_offers(document.file, sheet, marker, words))
        elif marker.sheet == "requirements":
            answered.append(_read_answers(sheet, marker.column))
    if len(answered) == 1:
        answered *= len(forms)
    paired = zip(forms, answered, strict=False)
    joined = [replace(form, answers=found.answers, buyer=found.buyer) for form, found in paired]
    return FormFile(
        marker=sheets[0][1],
        forms=(*joined, *forms[len(joined) :]),
        copies=tuple(sheet.name for sheet, marker in sheets if marker.sheet == COPY_SHEET),
        own_places=frozenset(own_places),
    )


def _read_offers(file: str, sheet: Sheet, marker: Marker, words: FormWords) -> FormCells:
    found = _Found(words=words)
    columns: dict[str, int] = {}
    labels: tuple[str, ...] = ()
    for line in sheet.lines[1:]:
        role, cells = line.cells[0] if line.cells else "", line.cells[1:]
        if role.startswith(HEAD_PREFIX):
            key = role.removeprefix(HEAD_PREFIX)
            if key in _HEAD_KEYS and key not in found.head:
                found.head[key] = _beside_label(sheet, line, marker.column)
        elif role == KEYS_ROLE:
            columns = {key: column for column, key in enumerate(cells) if key in _LINE_KEYS or key == NUMBER_KEY}
            found.has_keys = True
        elif role == LABELS_ROLE:
            labels = cells
        elif role == EXAMPLE_ROLE:
            if _is_changed_example(cells, columns, words):
                found.unread.append(_changed_example(file, sheet, line))
        elif role != TEXT_ROLE and any(cells):
            _read_line(file, _Table(sheet=sheet, columns=columns, labels=labels, shift=marker.column), line, found)
    return FormCells(
        marker=marker,
        sheet=sheet.name,
        head=found.head,
        lines=tuple(found.lines),
        has_keys=found.has_keys,
        unread=tuple(found.unread),
    )


def _beside_label(sheet: Sheet, line: Line, shift: int) -> Cell:
    """Give what stands behind the label of a line, in whichever cell it was written."""
    values = [(column, text) for column, text in enumerate(line.cells[1:]) if column >= _VALUE_COLUMN and text]
    column = values[0][0] if values else _VALUE_COLUMN
    text = " ".join(text for _, text in values)
    return Cell(text=text, place=name_cell(sheet.name, line.row, shift + column + 1))


@dataclass(frozen=True, kw_only=True)
class _Table:
    sheet: Sheet
    columns: Mapping[str, int]
    labels: tuple[str, ...]
    shift: int
    """Columns before the one of the roles. [-]"""


def _read_line(file: str, table: _Table, line: Line, found: _Found) -> None:
    """Take one line of the seller: an offer, the number of an empty line, or words beside the table."""
    cells, columns, labels = line.cells[1:], table.columns, table.labels

    def at(column: int) -> str:
        return cells[column] if column < len(cells) else ""

    taken = {
        key: Cell(text=at(column), place=name_cell(table.sheet.name, line.row, table.shift + column + 1))
        for key, column in columns.items()
        if key != NUMBER_KEY
    }
    extra = tuple(
        f"{labels[column]}: {text}" if column < len(labels) and labels[column] else text
        for column, text in enumerate(cells)
        if text and column not in columns.values()
    )
    if any(_says_term(key, cell.text, found.words) for key, cell in taken.items()):
        found.lines.append(FilledLine(sheet=table.sheet.name, row=line.row, cells=taken, extra=extra))
        return
    filled = [cell.text for cell in taken.values() if cell.text]
    number = at(columns[NUMBER_KEY]) if NUMBER_KEY in columns else ""
    lone = [] if number.replace(".", "").isdecimal() else [number]
    words = " ".join(filter(None, (line.cells[0], *lone, *filled, *extra)))
    if words:
        found.unread.append(
            Unread(
                file=file,
                cell=name_cell(table.sheet.name, line.row),
                reason=Message("stands beside the table of the form and is no offer: {text}", text=excerpt(words)),
            )
        )


def _says_term(key: str, text: str, words: FormWords) -> bool:
    """Tell whether a cell holds something of its kind, as a line of an offer does and a signature does not."""
    item = FIELDS_BY_KEY[key]
    if item.kind == "choice":
        return words.read_choice(item.choices, text) is not None
    return item.kind not in ("text", "date") and any(character.isdecimal() for character in text)


def _read_answers(sheet: Sheet, shift: int) -> _Answers:
    answer_column = comment_column = -1
    buyer: dict[str, Cell] = {}
    answers: list[Answer] = []
    for line in sheet.lines[1:]:
        role, cells = line.cells[0] if line.cells else "", line.cells[1:]
        if role == KEYS_ROLE and {"answer", "comment"} <= set(cells):
            answer_column, comment_column = cells.index("answer"), cells.index("comment")
        elif role.startswith(BUYER_PREFIX):
            key = role.removeprefix(BUYER_PREFIX)
            if key in _BUYER_KEYS and key not in buyer:
                buyer[key] = _beside_label(sheet, line, shift)
        elif role.startswith(NEED_PREFIX) and answer_column >= 0:
            answer, comment = (
                Cell(
                    text=cells[column] if column < len(cells) else "",
                    place=name_cell(sheet.name, line.row, shift + column + 1),
                )
                for column in (answer_column, comment_column)
            )
            answers.append(Answer(key=role.removeprefix(NEED_PREFIX), answer=answer, comment=comment))
    return _Answers(answers=tuple(answers) if answer_column >= 0 else None, buyer=buyer)


def _is_changed_example(cells: tuple[str, ...], columns: Mapping[str, int], words: FormWords) -> bool:
    """Whether the line marked as example holds something else than the form was sent with."""
    for item in LINE_FIELDS:
        column = columns.get(item.key)
        text = cells[column] if column is not None and column < len(cells) else ""
        sent = {fold(str(words.example(item, language))) for language in FORM_LANGUAGES}
        if text and fold(text) not in sent and not _is_same_number(text, item.example):
            return True
    return False


def _is_same_number(text: str, example: str) -> bool:
    try:
        return float(text.rstrip("%")) == float(example)
    except ValueError:
        return False


def _changed_example(file: str, sheet: Sheet, line: Line) -> Unread:
    return Unread(
        file=file,
        cell=name_cell(sheet.name, line.row),
        reason=Message(
            "the line marked as example was changed; it is not read: move it to a line of its own if it is an offer"
        ),
    )

"""The cells of a filled form, found by their keys: from a workbook, or from its sheets saved as CSV."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import Unread, name_cell
from suanpei.market.rfq.fields import HEAD_FIELDS, LINE_FIELDS, NUMBER_KEY
from suanpei.market.rfq.marker import (
    EXAMPLE_ROLE,
    FORM_SHEET,
    HEAD_PREFIX,
    KEYS_ROLE,
    LABELS_ROLE,
    NEED_PREFIX,
    TEXT_ROLE,
    Marker,
    read_marker,
)
from suanpei.market.rfq.words import FORM_LANGUAGES, fold
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from suanpei.market.quotes.document import Document, Line, Sheet
    from suanpei.market.rfq.words import FormWords

_LINE_KEYS = frozenset(item.key for item in LINE_FIELDS)
_HEAD_KEYS = frozenset(item.key for item in HEAD_FIELDS)
_HEAD_VALUE_COLUMN = 2
"""Behind the first column: a blank one, the label, and then the value in whichever cell it was written."""


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
    """A form taken apart."""

    marker: Marker
    head: Mapping[str, Cell]
    lines: tuple[FilledLine, ...]
    answers: tuple[Answer, ...]
    marked: frozenset[str]
    """The sheets that the file has, by their markers."""
    keyed: frozenset[str]
    """Those of them whose keys are still there, without which nothing in them can be found."""
    unread: tuple[Unread, ...]
    own_places: frozenset[str]
    """Cells and sheets that the form itself hides: that they are hidden is nothing to say."""


@dataclass(kw_only=True)
class _Found:
    words: FormWords
    head: dict[str, Cell] = field(default_factory=dict)
    lines: list[FilledLine] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    keyed: set[str] = field(default_factory=set)
    own_places: set[str] = field(default_factory=lambda: {FORM_SHEET})


def find_markers(document: Document) -> Iterator[tuple[Sheet, int, Marker]]:
    """Give the sheets of a document that are of a form: the sheet, the position of its first line, its marker."""
    for sheet in document.sheets:
        for position, line in enumerate(sheet.lines):
            marker = next(filter(None, map(read_marker, line.cells[:1])), None)
            if marker is not None:
                yield sheet, position, marker
                break


def take_apart(document: Document, words: FormWords) -> FormCells | None:
    """Find the cells of a form; None where the document is no form.

    Args:
        document: A file as text. [-]
        words: What the form was sent with. [-]
    """
    sheets = list(find_markers(document))
    if not sheets:
        return None
    found = _Found(words=words)
    for sheet, position, marker in sheets:
        rows = [1, sheet.lines[position].row, *(line.row for line in sheet.lines if line.cells[:1] == (KEYS_ROLE,))]
        found.own_places |= {name_cell(sheet.name, row, 0) for row in rows}
        if marker.sheet == "offers":
            _read_offers(document.file, sheet, sheet.lines[position + 1 :], found)
        elif marker.sheet == "requirements":
            _read_answers(sheet, sheet.lines[position + 1 :], found)
    return FormCells(
        marker=sheets[0][2],
        head=found.head,
        lines=tuple(found.lines),
        answers=tuple(found.answers),
        marked=frozenset(marker.sheet for _, _, marker in sheets),
        keyed=frozenset(found.keyed),
        unread=tuple(found.unread),
        own_places=frozenset(found.own_places),
    )


def _read_offers(file: str, sheet: Sheet, lines: tuple[Line, ...], found: _Found) -> None:
    columns: dict[str, int] = {}
    labels: tuple[str, ...] = ()
    for line in lines:
        role, cells = line.cells[0] if line.cells else "", line.cells[1:]
        if role.startswith(HEAD_PREFIX):
            key = role.removeprefix(HEAD_PREFIX)
            values = [(column, text) for column, text in enumerate(cells) if column >= _HEAD_VALUE_COLUMN and text]
            if key in _HEAD_KEYS and key not in found.head:
                column = values[0][0] if values else _HEAD_VALUE_COLUMN
                text = " ".join(text for _, text in values)
                found.head[key] = Cell(text=text, place=name_cell(sheet.name, line.row, column + 1))
        elif role == KEYS_ROLE:
            columns = {key: column for column, key in enumerate(cells) if key in _LINE_KEYS or key == NUMBER_KEY}
            found.keyed.add("offers")
        elif role == LABELS_ROLE:
            labels = cells
        elif role == EXAMPLE_ROLE:
            if _is_changed_example(cells, columns, found.words):
                found.unread.append(_changed_example(file, sheet, line))
        elif role != TEXT_ROLE and any(cells):
            _read_line(file, sheet, line, columns, labels, found)


def _read_line(
    file: str, sheet: Sheet, line: Line, columns: Mapping[str, int], labels: tuple[str, ...], found: _Found
) -> None:
    """Take one line of the seller: an offer, the number of an empty line, or, in a single cell, words beside it."""
    cells = line.cells[1:]

    def at(column: int) -> str:
        return cells[column] if column < len(cells) else ""

    taken = {
        key: Cell(text=at(column), place=name_cell(sheet.name, line.row, column + 1))
        for key, column in columns.items()
        if key != NUMBER_KEY
    }
    extra = tuple(
        f"{labels[column]}: {text}" if column < len(labels) and labels[column] else text
        for column, text in enumerate(cells)
        if text and column not in columns.values()
    )
    filled = [cell for cell in taken.values() if cell.text]
    if len(filled) > 1:
        found.lines.append(FilledLine(sheet=sheet.name, row=line.row, cells=taken, extra=extra))
        return
    number = at(columns[NUMBER_KEY]) if NUMBER_KEY in columns else ""
    lone = [] if number.replace(".", "").isdecimal() else [number]
    words = " ".join(filter(None, (line.cells[0], *lone, *(cell.text for cell in filled), *extra)))
    if words:
        found.unread.append(
            Unread(
                file=file,
                cell=name_cell(sheet.name, line.row),
                reason=Message("stands beside the table of the form and is no offer: {text}", text=words[:200]),
            )
        )


def _read_answers(sheet: Sheet, lines: tuple[Line, ...], found: _Found) -> None:
    answer_column = comment_column = -1
    for line in lines:
        role, cells = line.cells[0] if line.cells else "", line.cells[1:]
        if role == KEYS_ROLE and {"answer", "comment"} <= set(cells):
            answer_column, comment_column = cells.index("answer"), cells.index("comment")
            found.keyed.add("requirements")
        elif role.startswith(NEED_PREFIX) and answer_column >= 0:
            answer, comment = (
                Cell(
                    text=cells[column] if column < len(cells) else "",
                    place=name_cell(sheet.name, line.row, column + 1),
                )
                for column in (answer_column, comment_column)
            )
            found.answers.append(Answer(key=role.removeprefix(NEED_PREFIX), answer=answer, comment=comment))


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

"""DOCX documents: paragraphs and tables in the order of the body, nested tables after the table that holds them.

Rows of a table are numbered within it, paragraphs through the document, blank ones left out, headers first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suanpei.market.quotes.files.archive import Package
from suanpei.market.quotes.files.gathered import tidy
from suanpei.market.quotes.files.limits import MOST_COLUMNS
from suanpei.market.quotes.files.plain import find_tables
from suanpei.market.quotes.files.spread import Cell, spread_cells
from suanpei.market.quotes.files.workbook_parts import is_true, local_name
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suanpei.market.quotes.files.gathered import Gathered
    from suanpei.market.quotes.files.plain import Numbered

_WRAPPERS = frozenset(
    (*("sdt", "sdtContent", "ins", "moveTo", "hyperlink", "smartTag", "customXml"), *("AlternateContent", "Choice"))
)
"""Elements that stand around paragraphs, rows, cells or runs without being any."""
_SPACES = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_SIDE_PARTS = {"footnotes": Message("footnotes are not read"), "comments": Message("comments are not read")}
_MOST_DEPTH = 40
"""Of tables and wrappers within each other. [-]"""


def read_word(data: bytes, gathered: Gathered) -> None:
    """Read a document.

    Args:
        data: The file. [B]
        gathered: Takes its text and tables. [-]

    Raises:
        InputError: It is damaged, encrypted or too large.
        MissingExtraError: lxml is not installed.
    """
    package = Package(data, gathered.file)
    main = package.main_part("word/document.xml")
    related = [(kind, part) for kind, part in package.related(main).values() if package.has(part)]
    reader = _Reader(gathered)
    for part in _find_sides(related, "header"):
        reader.read(package.tree(part))
    body = package.tree(main).find("{*}body")
    if body is None:
        raise package.lacks(main)
    reader.read(body)
    for part in _find_sides(related, "footer"):
        reader.read(package.tree(part))
    reader.close()
    for kind, part in related:
        if kind in _SIDE_PARTS and any(tidy(text.text or "") for text in package.tree(part).iter("{*}t")):
            gathered.leave("", _SIDE_PARTS[kind])


def _find_sides(related: list[tuple[str, str]], kind: str) -> list[str]:
    return sorted({part for given, part in related if given == kind})


class _Reader:
    """Turns elements of a document into sheets."""

    def __init__(self, gathered: Gathered) -> None:
        self._gathered = gathered
        self._waiting: list[Numbered] = []
        self._struck: list[str] = []
        self._boxes: list[Any] = []
        self._pictures = 0
        self._hidden = 0

    def close(self) -> None:
        """Write the last lines and name what was left out."""
        self._flush()
        if self._struck:
            self._gathered.leave("", Message("struck out, so left out: {words}", words=tuple(self._struck)))
        if self._pictures:
            self._gathered.leave("", Message("pictures are not read: {count}", count=self._pictures))
        if self._hidden:
            self._gathered.leave("", Message("hidden pieces of text are not read: {count}", count=self._hidden))

    def read(self, parent: Any, depth: int = 0) -> None:
        """Read the paragraphs and tables of a body, header or text box."""
        for child in parent:
            name = local_name(child)
            if name == "p":
                self._read_paragraph(child, depth)
            elif name == "tbl" and depth < _MOST_DEPTH:
                self._flush()
                self._read_table(child, depth)
            elif name in _WRAPPERS and depth < _MOST_DEPTH:
                self.read(child, depth + 1)

    def _read_paragraph(self, paragraph: Any, depth: int) -> None:
        for line in self._text_of(paragraph).split("\n"):
            if tidy(line):
                self._waiting.append((self._gathered.next_text_row(), line))
        self._read_boxes(depth)

    def _read_boxes(self, depth: int) -> None:
        """Read text boxes after the paragraph or table that they are anchored in."""
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            if depth < _MOST_DEPTH:
                self.read(box, depth + 1)

    def _flush(self) -> None:
        self._gathered.add(find_tables(self._waiting, self._gathered))
        self._waiting = []

    def _read_table(self, table: Any, depth: int) -> None:
        nested: list[Any] = []
        rows: list[list[Cell]] = []
        above: dict[int, tuple[int, int]] = {}  # column: row and place of the cell that continues downwards
        for row in _children(table, "tr"):
            if row.find("{*}trPr/{*}del") is not None:  # deleted while changes were tracked
                continue
            cells: list[Cell] = []
            column = _read_count(row, "trPr", "gridBefore", 0)
            cells.extend([Cell("")] * column)
            for cell in _children(row, "tc"):
                width = _read_count(cell, "tcPr", "gridSpan", 1)
                merge = cell.find("{*}tcPr/{*}vMerge")
                text = self._read_cell(cell, nested)
                if merge is not None and _value(merge) in (None, "continue") and column in above:
                    start, place = above[column]
                    upper = rows[start][place]
                    rows[start][place] = upper._replace(rows=len(rows) - start + 1)
                else:
                    above.pop(column, None)
                    if merge is not None:
                        above[column] = (len(rows), len(cells))
                    cells.append(Cell(text, width))
                column += width
            rows.append(cells)
        self._gathered.add_numbered_table(spread_cells(rows, self._gathered))
        for inner in nested:
            if depth < _MOST_DEPTH:
                self._read_table(inner, depth + 1)
        self._read_boxes(depth)

    def _read_cell(self, cell: Any, nested: list[Any]) -> str:
        paragraphs: list[str] = []
        for child in _children(cell, "p", "tbl"):
            if local_name(child) == "tbl":
                nested.append(child)
            else:
                paragraphs.append(tidy(self._text_of(child)))
        return tidy("\n".join(paragraphs))

    def _text_of(self, paragraph: Any) -> str:
        words: list[str] = []
        self._read_runs(paragraph, words, 0)
        return "".join(words)

    def _read_runs(self, parent: Any, words: list[str], depth: int) -> None:
        for child in parent:
            name = local_name(child)
            if name == "r":
                self._read_run(child, words)
            elif depth < _MOST_DEPTH and (name in _WRAPPERS or name == "fldSimple"):
                self._read_runs(child, words, depth + 1)

    def _read_run(self, run: Any, words: list[str]) -> None:
        pieces: list[str] = []
        for child in run.iterchildren():
            name = local_name(child)
            if name == "t":
                pieces.append(child.text or "")
            elif name in _SPACES:
                pieces.append(_SPACES[name])
            elif name in ("drawing", "pict", "object", "AlternateContent"):
                self._look_into_drawing(child)
        text = "".join(pieces)
        properties = run.find("{*}rPr")
        if properties is not None and (_is_on(properties, "strike") or _is_on(properties, "dstrike")):
            if tidy(text):
                self._struck.append(tidy(text))
        elif properties is not None and _is_on(properties, "vanish"):
            self._hidden += bool(tidy(text))
        else:
            words.append(text)

    def _look_into_drawing(self, drawing: Any) -> None:
        boxes = list(drawing.iter("{*}txbxContent"))
        # a box stands twice: as drawn today, and as older programs drew it
        self._boxes += boxes[:1] if local_name(drawing) == "AlternateContent" else boxes
        self._pictures += not boxes and any(True for _ in drawing.iter("{*}blip", "{*}imagedata"))


def _children(parent: Any, *names: str) -> Iterator[Any]:
    """Give the children of some names, those within wrappers too."""
    waiting = list(parent)
    while waiting:
        child = waiting.pop(0)
        name = local_name(child)
        if name in names:
            yield child
        elif name in _WRAPPERS:
            waiting[:0] = list(child)


def _value(element: Any) -> str | None:
    return next((value for name, value in element.items() if name.endswith("}val")), None)


def _is_on(properties: Any, name: str) -> bool:
    mark = properties.find(f"{{*}}{name}")
    return mark is not None and (_value(mark) is None or is_true(_value(mark)))


def _read_count(element: Any, properties: str, name: str, usual: int) -> int:
    """Read a number of columns, at most as many as are read."""
    mark = element.find(f"{{*}}{properties}/{{*}}{name}")
    given = "" if mark is None else _value(mark) or ""
    return min(int(given), MOST_COLUMNS) if given.isdecimal() and len(given) < 9 else usual

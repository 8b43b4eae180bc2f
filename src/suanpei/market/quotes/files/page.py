"""Web pages and HTML mails: tables on their grid, nested ones after the cell that holds them, and the text between.

Rows of a table are numbered within it, lines of text through the page, as a reader of the page counts them.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError, MissingExtraError
from suanpei.machine.table import decode_text
from suanpei.market.quotes.document import Line, Sheet
from suanpei.market.quotes.files.gathered import tidy
from suanpei.market.quotes.files.limits import MOST_COLUMNS, MOST_TREE_BYTES
from suanpei.market.quotes.files.page_styles import find_struck_classes, is_invisible, is_removed, is_struck
from suanpei.market.quotes.files.plain import find_tables
from suanpei.market.quotes.files.spread import Cell, spread_cells
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suanpei.market.quotes.files.gathered import Gathered

_LOOKS_LIKE_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|table|div|meta|title|style|center|font)\b",
    re.IGNORECASE | re.DOTALL,
)
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_CHARSET_BYTES = 4096
"""Within which a page says its encoding; the standard asks for the first 1,024. [B]"""
_SPACE = re.compile(r"[ \t\r\n\f]+")
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details", "div", "dl"),
        *("dt", "fieldset", "figure", "figcaption", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6"),
        *("header", "hr"),
        *("legend", "li", "main", "nav", "ol", "option", "p", "pre", "section", "summary", "td", "th", "tr", "ul"),
    )
)
_SILENT = frozenset(("script", "style", "template", "head", "noscript", "svg", "math", "select", "datalist"))
_MOST_DEPTH = 200
"""Of elements within each other; deeper ones are read without their structure. [-]"""
_MOST_TABLES = 20
"""Within each other; the words of deeper ones are read as text. [-]"""
_MOST_ROWS = 65_534
"""That a cell may span, as browsers limit it. [-]"""


def looks_like_html(text: str) -> bool:
    """Whether a text begins as a page, or a table copied from one, does."""
    return _LOOKS_LIKE_HTML.match(text[:_CHARSET_BYTES]) is not None


def decode_html(data: bytes, file: str) -> str:
    """Decode a page by the encoding that it names; where that is wrong or absent, as any text.

    Raises:
        InputError: It is not decoded by any of them.
    """
    named = _CHARSET.search(data[:_CHARSET_BYTES])
    if named is not None:
        encoding = named.group(1).decode("ascii", errors="replace").lower()
        try:
            return data.decode("gb18030" if encoding.startswith("gb") else encoding)
        except (LookupError, UnicodeError):
            pass
    return decode_text(data, file)


def read_html(text: str, gathered: Gathered, first_line: int | None = None) -> None:
    """Read a page.

    Args:
        text: The page. [-]
        gathered: Takes its sheets. [-]
        first_line: Where it stands in a text file; its rows are then numbered by their lines there. [-]

    Raises:
        InputError: It is larger than a tree of it should be.
        MissingExtraError: lxml is not installed.
    """
    try:
        from lxml import etree, html
    except ImportError as error:
        raise MissingExtraError(package="lxml", extra="report") from error
    data = text.encode("utf-8", errors="replace")
    if len(data) > MOST_TREE_BYTES:
        raise InputError(
            Message(
                "{file}: a page of more than {most} MiB is not read; save its table as CSV",
                file=gathered.file,
                most=MOST_TREE_BYTES // 2**20,
            )
        )
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True)
    try:
        root = html.document_fromstring(data, parser=parser)
    except (etree.LxmlError, ValueError):  # a page of nothing but comments, or of no element at all
        return
    page = _Page(gathered, first_line, find_struck_classes(root))
    page.read_flow(root)
    page.close()
    if any(entry.level_name == "FATAL" for entry in parser.error_log):
        gathered.leave("", Message("the end of the page is not read: its elements are nested too deeply"))


class _Page:
    """Turns elements into sheets."""

    def __init__(self, gathered: Gathered, first_line: int | None, struck_classes: frozenset[str]) -> None:
        self._gathered = gathered
        self._first_line = first_line
        self._struck_classes = struck_classes
        self._words: list[str] = []
        self._struck: list[str] = []
        self._pictures = 0
        self._hidden = 0
        self._tables = 0

    def close(self) -> None:
        """Write the last lines and name what was left out."""
        self._flush()
        if self._struck:
            self._gathered.leave("", Message("struck out, so left out: {words}", words=tuple(self._struck)))
        if self._pictures:
            self._gathered.leave("", Message("pictures are not read: {count}", count=self._pictures))
        if self._hidden:
            self._gathered.leave("", Message("hidden parts of the page are not read: {count}", count=self._hidden))

    def read_flow(self, element: Any) -> None:
        """Read an element's text and tables in their order."""
        for piece in self._pieces(element, 0):
            if isinstance(piece, str):
                self._words.append(piece)
            else:
                self._read_table(piece)

    def _flush(self) -> None:
        lines = [line for line in map(tidy, "".join(self._words).split("\n")) if line]
        self._words = []
        numbered = [(self._first_line or self._gathered.next_text_row(), line) for line in lines]
        self._gathered.add(find_tables(numbered, self._gathered))

    def _read_table(self, table: Any) -> None:
        """Read one table, those in it after it."""
        if self._tables >= _MOST_TABLES:
            self._words.append(_SPACE.sub(" ", table.text_content()))
            return
        self._tables += 1
        self._read_rows(table)
        self._tables -= 1

    def _read_rows(self, table: Any) -> None:
        """Read the rows of a table; one that only lays out the page is read as if it were not there."""
        nested: list[Any] = []
        elements = [row for row in self._find_rows(table) if not self._is_hidden(row)]
        marks = (len(self._struck), self._pictures, self._hidden)
        rows = (self._read_row(row, nested) for row in elements)
        single: list[list[Cell]] = []
        first = None
        for row in rows:
            if sum(bool(cell.text) for cell in row) > 1:
                first = row
                break
            single.append(row)
        if first is None:
            del self._struck[marks[0] :]
            self._pictures, self._hidden = marks[1:]
            for element in elements:
                self._words.append("\n")
                for cell in () if self._is_struck(element) else element:
                    self._read_visible(cell)
                    self._words.append("\n")
            return
        for caption in table.iterchildren("caption"):
            self._read_visible(caption)
        self._flush()
        self._add_table(spread_cells(itertools.chain(single, [first], rows), self._gathered), elements)
        for inner in nested:
            self._read_table(inner)

    def _add_table(self, lines: tuple[Line, ...], elements: list[Any]) -> None:
        if self._first_line is None:
            self._gathered.add_numbered_table(lines)
            return
        before = self._first_line - 1
        numbered = (Line(row=before + elements[line.row - 1].sourceline, cells=line.cells) for line in lines)
        self._gathered.add([Sheet(kind="table", name=None, lines=tuple(numbered))])

    def _read_visible(self, element: Any) -> None:
        """Read an element's text and tables, unless it is hidden or struck out itself."""
        if not self._is_hidden(element) and not self._is_struck(element):
            self.read_flow(element)

    def _read_row(self, row: Any, nested: list[Any]) -> list[Cell]:
        """Read the cells of a row; a cell struck out or invisible keeps its place, blank, and a removed one has none.

        A row struck out keeps its place too: cells that span several rows count it.
        """
        is_row_struck = self._is_struck(row)
        cells: list[Cell] = []
        for cell in row.iterchildren("td", "th"):
            is_hidden = self._is_hidden(cell)
            if is_hidden and is_removed(cell):
                continue
            is_blank = is_row_struck or is_hidden or self._is_struck(cell)
            cells.append(_span("", cell) if is_blank else self._read_cell(cell, nested))
        return cells

    def _read_cell(self, cell: Any, nested: list[Any]) -> Cell:
        words: list[str] = []
        if not len(cell):
            words.append(_SPACE.sub(" ", cell.text or ""))
        for piece in self._pieces(cell, 0) if len(cell) else ():
            if isinstance(piece, str):
                words.append(piece)
            else:
                nested.append(piece)
        lines = [line for line in map(tidy, "".join(words).split("\n")) if line]
        return _span("\n".join(lines), cell)

    def _pieces(self, element: Any, depth: int) -> Iterator[Any]:
        """Give the words of an element and the tables in it, in their order; a block begins a line."""
        if depth > _MOST_DEPTH:
            yield _SPACE.sub(" ", element.text_content())
            return
        is_block = element.tag in _BLOCKS
        if is_block:
            yield "\n"
        if element.text:
            yield element.text if element.tag == "pre" else _SPACE.sub(" ", element.text)
        for child in element:
            yield from self._child_pieces(child, depth)
            if child.tail:
                yield _SPACE.sub(" ", child.tail)
        if is_block:
            yield "\n"

    def _child_pieces(self, child: Any, depth: int) -> Iterator[Any]:
        if not isinstance(child.tag, str) or child.tag in _SILENT:
            return
        if self._is_hidden(child) or self._is_struck(child):
            return
        if child.tag == "img":
            self._pictures += 1
        elif child.tag == "table":
            yield child
        else:
            yield from self._pieces(child, depth + 1)

    def _is_hidden(self, element: Any) -> bool:
        """Whether a reader of the page does not see an element; one with words is counted."""
        is_hidden = is_removed(element) or is_invisible(element)
        self._hidden += is_hidden and bool(tidy(element.text_content()))
        return is_hidden

    def _is_struck(self, element: Any) -> bool:
        """Whether an element is struck out; its words are kept, to be named."""
        if not is_struck(element, self._struck_classes):
            return False
        parts = element.iterchildren("td", "th") if element.tag == "tr" else (element,)
        words = " ".join(filter(None, (tidy(_SPACE.sub(" ", part.text_content())) for part in parts)))
        if words:
            self._struck.append(words)
        return True

    def _find_rows(self, table: Any) -> Iterator[Any]:
        """Give the rows of a table, not those of tables within it."""
        for child in table:
            if child.tag == "tr":
                yield child
            elif child.tag in ("thead", "tbody", "tfoot") and not self._is_hidden(child):
                yield from child.iterchildren("tr")


def _span(text: str, cell: Any) -> Cell:
    """Give a text the place of a cell."""
    return Cell(text, _read_span(cell.get("colspan"), MOST_COLUMNS), _read_span(cell.get("rowspan"), _MOST_ROWS))


def _read_span(given: str | None, most: int) -> int:
    digits = re.match(r"\s*\d{1,9}", given or "")
    if digits is None:
        return 1
    span = int(digits.group())
    return most if span == 0 else min(span, most)

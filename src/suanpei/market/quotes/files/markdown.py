"""Markdown: tables by their rows, everything else as text, each with its line in the file.

The parser finds tables, code and HTML; the cells are taken from the lines themselves, because Markdown drops those
beyond the header and takes ``2*8468/4*7.68T`` for emphasis.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import Line, Sheet, name_cell
from suanpei.market.quotes.files.delimited import split_lines
from suanpei.market.quotes.files.gathered import tidy
from suanpei.market.quotes.files.page import read_html
from suanpei.market.quotes.files.plain import find_tables, split_bars
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.files.gathered import Gathered
    from suanpei.market.quotes.files.plain import Numbered

_MARKED = re.compile(r"[\\`&]|\*\*|__|\]\(|<br", re.IGNORECASE)
_STRONG = re.compile(r"\*\*(?=\S)([^*]+)(?<=\S)\*\*|__(?=\S)([^_]+)(?<=\S)__")
_STRUCK = re.compile(r"(?<![\d~])~~(?=[^\s~])([^~]+)(?<=\S)~~(?!~)")
"""Behind a digit it is a range (7~~8)."""
_LINK = re.compile(r"!?\[([^\[\]]*)\]\(([^()\s]*)\)")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_LEAD = re.compile(r"\s*(?:#{1,6}\s+|>\s?|[-*+]\s+)*")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_DELIMITER_ROW = re.compile(r"\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?)?")
_CHARACTERS_SEARCHED = 200_000
"""Of a text of no known ending, for a table of Markdown. [-]"""


def looks_like_markdown(text: str) -> bool:
    """Whether a Markdown table stands in a text: a row of dashes and bars below a row with bars."""
    lines = split_lines(text[:_CHARACTERS_SEARCHED])
    return _find_table(lines, 0, len(lines)) is not None


def _find_table(lines: Sequence[str], first: int, end: int) -> int | None:
    """Find the header of the first table among some lines."""
    for row in range(first, end - 1):
        if "|" in lines[row] and _DELIMITER_ROW.fullmatch(tidy(lines[row + 1].lstrip("> \t"))):
            return row
    return None


def _leave_out_rows(lines: Sequence[str]) -> list[str]:
    """Blank the rows of tables below their dashes: the parser finds the table without, in a tenth of the time."""
    outline = list(lines)
    header = _find_table(lines, 0, len(lines))
    while header is not None:
        row = header + 2
        while row < len(lines) and "|" in lines[row]:
            outline[row] = ""
            row += 1
        header = _find_table(lines, row, len(lines))
    return outline


def read_markdown(text: str, gathered: Gathered) -> None:
    """Read a Markdown file.

    Args:
        text: The file. [-]
        gathered: Takes its sheets. [-]
    """
    from markdown_it import MarkdownIt

    lines = split_lines(text)
    outline = _leave_out_rows(lines)
    waiting: list[Numbered] = []
    done = 0
    # indented text is text here, a reference is kept as written, and a table is a paragraph whose second line is dashes
    parser = MarkdownIt("commonmark").disable(["code", "reference", "inline"])
    for token in parser.parse("\n".join(outline).replace("\0", " ")):
        if token.map is None or token.map[0] < done:
            continue
        first, end = token.map
        header = _find_table(lines, first, end) if token.type == "paragraph_open" else None
        is_page = token.type == "html_block" and "<table" in token.content.lower()
        if header is not None:
            first = header
            end = next((row for row in range(header + 2, len(lines)) if outline[row] or not lines[row]), len(lines))
        elif not is_page and token.type != "fence":
            continue
        waiting += _as_text(lines, done, first, gathered)
        if token.type == "fence":
            waiting += [(row + 1, lines[row]) for row in range(first + 1, end) if not _FENCE.match(lines[row])]
        else:
            gathered.add(find_tables(waiting, gathered))
            waiting = []
            if is_page:
                end = _page_end(lines, first, end)
                read_html("\n".join(lines[first:end]), gathered, first_line=first + 1)
            else:
                gathered.add([_read_table(lines, first, end, gathered)])
        done = end
    waiting += _as_text(lines, done, len(lines), gathered)
    gathered.add(find_tables(waiting, gathered))


def _page_end(lines: Sequence[str], first: int, end: int) -> int:
    """Find where a table of HTML ends, which Markdown takes to end at a blank line."""
    if any("</table" in line.lower() for line in lines[first:end]):
        return end
    return next((row + 1 for row in range(end, len(lines)) if "</table" in lines[row].lower()), end)


def _as_text(lines: Sequence[str], first: int, end: int, gathered: Gathered) -> list[Numbered]:
    numbered: list[Numbered] = []
    for row in range(first, end):
        line = lines[row]
        said = line[_LEAD.match(line).end() :]  # type: ignore[union-attr]  # it matches anything
        words = clean_inline(_leave_struck(said, name_cell(None, row + 1), gathered))
        numbered.append((row + 1, f"{line[: len(line) - len(line.lstrip())]}{words}"))
    return numbered


def _read_table(lines: Sequence[str], first: int, end: int, gathered: Gathered) -> Sheet:
    rows: list[Line] = []
    for row in range(first, end):
        if row == first + 1:
            continue  # the dashes below the header
        cells = tuple(
            clean_inline(_leave_struck(cell, name_cell(None, row + 1, column), gathered))
            for column, cell in enumerate(split_bars(lines[row].lstrip("> \t")))
        )
        gathered.count_cells(len(cells))
        if any(cells):
            rows.append(Line(row=row + 1, cells=cells))
    return Sheet(kind="table", name=None, lines=tuple(rows))


def _leave_struck(text: str, place: str, gathered: Gathered) -> str:
    """Take out of a cell or line what is struck out, and name it."""
    struck = tuple(clean_inline(words) for words in _STRUCK.findall(text))
    if not struck:
        return text
    gathered.leave(place, Message("struck out, so left out: {words}", words=struck))
    return _STRUCK.sub("", text)


def clean_inline(text: str) -> str:
    r"""Give the words of a cell or line: no marks of strong type, links by their text, entities and escapes resolved.

    Example:
        >>> clean_inline("**H800** [官网](https://example.com) &yen;7.8万<br>2*8468 4*7.68T 1\\*2")
        'H800 官网 ¥7.8万\n2*8468 4*7.68T 1*2'
    """
    if _MARKED.search(text) is None:
        return tidy(text)
    words = _LINK.sub(r"\1", _BREAK.sub("\n", text))
    words = _STRONG.sub(lambda match: match.group(1) or match.group(2), _CODE.sub(r"\1", words))
    return tidy(html.unescape(_ESCAPED.sub(r"\1", words)))

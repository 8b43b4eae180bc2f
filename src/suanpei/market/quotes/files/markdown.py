"""Markdown: tables by their rows, everything else as text, each with its line in the file.

The parser finds tables, code and HTML; the cells are taken from the lines themselves, because Markdown drops those
beyond the header and takes ``2*8468/4*7.68T`` for emphasis.
"""

from __future__ import annotations

import html
import itertools
import re
from typing import TYPE_CHECKING

from suanpei.market.quotes.document import Line, Sheet
from suanpei.market.quotes.files.delimited import split_lines
from suanpei.market.quotes.files.gathered import tidy
from suanpei.market.quotes.files.page import read_html
from suanpei.market.quotes.files.plain import find_tables, split_bars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.files.gathered import Gathered
    from suanpei.market.quotes.files.plain import Numbered

_STRONG = re.compile(r"\*\*(?=\S)([^*]+)(?<=\S)\*\*|__(?=\S)([^_]+)(?<=\S)__")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\(([^()\s]*)\)")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_LEAD = re.compile(r"\s*(?:#{1,6}\s+|>\s?|[-*+]\s+)*")
_DELIMITER_ROW = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?")
_LINES_SEARCHED = 2000


def looks_like_markdown(text: str) -> bool:
    """Whether a Markdown table stands in a text: a row of dashes and bars below a row with bars."""
    lines = split_lines(text)[:_LINES_SEARCHED]
    return any("|" in above and _DELIMITER_ROW.fullmatch(line) for above, line in itertools.pairwise(lines))


def read_markdown(text: str, gathered: Gathered) -> None:
    """Read a Markdown file.

    Args:
        text: The file. [-]
        gathered: Takes its sheets. [-]
    """
    from markdown_it import MarkdownIt

    lines = split_lines(text)
    waiting: list[Numbered] = []
    done = 0
    # indented text is text here, and a reference is kept as written
    parser = MarkdownIt("commonmark").enable("table").disable(["code", "reference", "inline"])
    for token in parser.parse("\n".join(lines).replace("\0", " ")):
        is_page = token.type == "html_block" and "<table" in token.content.lower()
        if token.map is None or token.map[0] < done or not (is_page or token.type in ("table_open", "fence")):
            continue
        first, end = token.map
        waiting += _as_text(lines, done, first)
        if token.type == "fence":
            waiting += [
                (row + 1, lines[row]) for row in range(first + 1, end) if not lines[row].lstrip().startswith("```")
            ]
        else:
            gathered.add(find_tables(waiting, gathered))
            waiting = []
            if is_page:
                end = _page_end(lines, first, end)
                read_html("\n".join(lines[first:end]), gathered, first_line=first + 1)
            else:
                gathered.add([_read_table(lines, first, end, gathered)])
        done = end
    waiting += _as_text(lines, done, len(lines))
    gathered.add(find_tables(waiting, gathered))


def _page_end(lines: Sequence[str], first: int, end: int) -> int:
    """Find where a table of HTML ends, which Markdown takes to end at a blank line."""
    if any("</table" in line.lower() for line in lines[first:end]):
        return end
    return next((row + 1 for row in range(end, len(lines)) if "</table" in lines[row].lower()), end)


def _as_text(lines: Sequence[str], first: int, end: int) -> list[Numbered]:
    return [(row + 1, clean_inline(lines[row][_LEAD.match(lines[row]).end() :])) for row in range(first, end)]  # type: ignore[union-attr]  # it matches anything


def _read_table(lines: Sequence[str], first: int, end: int, gathered: Gathered) -> Sheet:
    rows: list[Line] = []
    for row in range(first, end):
        if row == first + 1:
            continue  # the dashes below the header
        cells = tuple(clean_inline(cell) for cell in split_bars(lines[row].lstrip("> \t")))
        gathered.count_cells(len(cells))
        if any(cells):
            rows.append(Line(row=row + 1, cells=cells))
    return Sheet(kind="table", name=None, lines=tuple(rows))


def clean_inline(text: str) -> str:
    r"""Give the words of a cell or line: no marks of strong type, links by their text, entities and escapes resolved.

    Example:
        >>> clean_inline("**H800** [官网](https://example.com) &yen;7.8万<br>2*8468 4*7.68T 1\\*2")
        'H800 官网 ¥7.8万\n2*8468 4*7.68T 1*2'
    """
    words = _LINK.sub(r"\1", _BREAK.sub("\n", text))
    words = _STRONG.sub(lambda match: match.group(1) or match.group(2), _CODE.sub(r"\1", words))
    return tidy(html.unescape(_ESCAPED.sub(r"\1", words)))

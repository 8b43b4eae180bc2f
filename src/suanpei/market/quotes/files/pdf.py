"""PDF files with text: ruled tables by their rules, others by columns of white space, page by page.

Rows are numbered from the top of their page. A table that goes on over several pages is one sheet, named after its
pages (``P3``, ``P1-3``) and numbered on; a header that is repeated on them is read once.
"""

from __future__ import annotations

import io
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError, MissingExtraError
from suanpei.market.quotes.document import Line, Sheet
from suanpei.market.quotes.files.gathered import tidy
from suanpei.market.quotes.files.limits import MOST_PAGES
from suanpei.market.quotes.files.pdf_grid import find_grids, read_grid
from suanpei.market.quotes.files.pdf_lines import Block, read_lines
from suanpei.market.quotes.files.pdf_marks import Marks, read_marks
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from suanpei.market.quotes.files.gathered import Gathered

_EDGE_POINTS = 6.0
"""Columns of two pages that begin closer than this are the same. [pt]"""
_FOOTER_LINES = 2
_FOOTER_CHARACTERS = 60
"""What may stand between the parts of a table on two pages: page numbers, a company's name. [-]"""


def read_pdf(data: bytes, gathered: Gathered) -> None:
    """Read a PDF.

    Args:
        data: The file. [B]
        gathered: Takes its tables and text; pages without text, and those that cannot be read, are named. [-]

    Raises:
        InputError: It is encrypted, damaged, or has more than `MOST_PAGES` pages.
        MissingExtraError: pypdf is not installed.
    """
    try:
        import pypdf
    except ImportError as error:
        raise MissingExtraError(package="pypdf", extra="report") from error
    with _quiet("pypdf"):
        reader = _open(pypdf, data, gathered.file)
        count = _count_pages(reader, gathered.file)
        pages = [_read_page(reader, number, gathered) for number in range(count)]
    for sheet in _assemble(pages, has_names=count > 1):
        gathered.count_cells(sum(len(line.cells) for line in sheet.lines))
        gathered.add([sheet])


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Keep a library's remarks on files that it can read all the same to itself."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _open(pypdf: Any, data: bytes, file: str) -> Any:
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        is_locked = reader.is_encrypted and not reader.decrypt("")
    except pypdf.errors.DependencyError:
        is_locked = True  # a cipher that needs a package of its own
    except Exception as error:  # the border of pypdf, which raises whatever a damaged file leads it to
        raise _damaged(error, file) from error
    if is_locked:
        raise InputError(Message("{file} is encrypted; save it without a password", file=file))
    return reader


def _count_pages(reader: Any, file: str) -> int:
    try:
        count = len(reader.pages)
    except Exception as error:  # as above
        raise _damaged(error, file) from error
    if count > MOST_PAGES:
        raise InputError(
            Message(
                "{file} has {count} pages, and at most {most} are read; give those with prices in a file of their own",
                file=file,
                count=count,
                most=MOST_PAGES,
            )
        )
    if not count:
        raise InputError(Message("{file} has no page", file=file))
    return count


def _damaged(error: Exception, file: str) -> InputError:
    why = " ".join(str(error).split()) or type(error).__name__
    return InputError(Message("{file} is damaged ({why}); open it, save it again and retry", file=file, why=why))


def _read_page(reader: Any, number: int, gathered: Gathered) -> list[Block]:
    """Read one page; what it does not give is named."""
    place = f"P{number + 1}"
    try:
        marks = read_marks(reader.pages[number])
    except Exception as error:  # noqa: BLE001  # as above; the other pages are still read
        why = " ".join(str(error).split()) or type(error).__name__
        gathered.leave(place, Message("the page cannot be read ({why})", why=why))
        return []
    if not marks.pieces:
        if marks.has_picture:
            gathered.leave(
                place, Message("the page is a picture without text, such as a scan; ask for a file with text")
            )
        elif not marks.slanted:
            gathered.leave(place, Message("the page has no text"))
    if marks.slanted:
        gathered.leave(place, Message("slanted text is not read: {words}", words=tuple(marks.slanted)))
    return _find_blocks(marks)


def _find_blocks(marks: Marks) -> list[Block]:
    blocks: list[Block] = []
    rest = marks.pieces
    for grid in find_grids(marks.rules):
        block, used = read_grid(grid, rest)
        rest = [piece for number, piece in enumerate(rest) if number not in used]
        if block is not None:
            blocks.append(block)
    return sorted([*blocks, *read_lines(rest)], key=lambda block: -block.top)


def _assemble(pages: Sequence[Sequence[Block]], *, has_names: bool) -> list[Sheet]:
    """Number the rows of each page and join tables that go on over several."""
    sheets: list[Sheet] = []
    open_table: tuple[int, int, Block] | None = None  # its sheet, its first page, its last part
    for number, blocks in enumerate(pages, start=1):
        row = 0
        tables = [place for place, block in enumerate(blocks) if block.edges]
        for place, block in enumerate(blocks):
            goes_on = (
                open_table is not None
                and tables[:1] == [place]
                and _is_footer(blocks[:place])
                and _has_same_columns(open_table[2], block)
            )
            if goes_on and open_table is not None:
                index, first, _ = open_table
                sheets[index] = _extend(sheets[index], block, f"P{first}-{number}")
                open_table = (index, first, block)
            else:
                name = f"P{number}" if has_names else None
                sheets.append(_make_sheet(block, row, name))
                if block.edges:
                    open_table = (len(sheets) - 1, number, block)
            row += len(block.rows)
        if not tables or not _is_footer(blocks[tables[-1] + 1 :]):
            open_table = None
    return sheets


def _make_sheet(block: Block, rows_before: int, name: str | None) -> Sheet:
    numbered = enumerate(block.rows, start=rows_before + 1)
    lines = tuple(Line(row=row, cells=tuple(map(tidy, cells))) for row, cells in numbered if any(map(tidy, cells)))
    return Sheet(kind="table" if block.edges else "text", name=name, lines=lines)


def _extend(sheet: Sheet, block: Block, name: str) -> Sheet:
    """Let a table go on, without the header that its next page repeats."""
    header = sheet.lines[0].cells if sheet.lines else ()
    more = _make_sheet(block, sheet.lines[-1].row if sheet.lines else 0, name).lines
    kept = tuple(line for line in more if line.cells != header)
    return Sheet(kind="table", name=name, lines=sheet.lines + kept)


def _is_footer(blocks: Sequence[Block]) -> bool:
    lines = [row for block in blocks for row in block.rows]
    return len(lines) <= _FOOTER_LINES and all(len("".join(row)) <= _FOOTER_CHARACTERS for row in lines)


def _has_same_columns(one: Block, other: Block) -> bool:
    return len(one.edges) == len(other.edges) and all(
        abs(first - second) <= _EDGE_POINTS for first, second in zip(one.edges, other.edges, strict=True)
    )

"""How text stands on the console: paragraphs that wrap as Chinese does, bars, and tables that fit the width.

Rich breaks lines at spaces only; Chinese has none, so a line with both would break in odd places. `Paragraph` breaks
between any two Chinese characters, never before closing punctuation or after opening punctuation, and inside a word of
letters only where it is longer than the line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType, RenderResult

WIDE_COLUMNS = 100
"""From this width on tables have all their columns."""

_ATOMS = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]|\s+|[^\s\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]+")
_CLOSING = "，。；：、！？）】》」』”’％),.;:!?%"
_OPENING = "（【《「『“‘("
_GAP = 2
"""Cells between things side by side. [-]"""
_EIGHTHS = " ▏▎▍▌▋▊▉"
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|[GTM]iB|days|min|ms|[dhs])(?![A-Za-z]))|(?<=\d) (?=×)|(?<=×) ")
_HELD = "\ue000"
"""Stands for a space at which no line is broken: between a number and its unit."""


def wrap_text(text: str, width: int) -> list[str]:
    """Break a text into lines of at most `width` cells.

    Args:
        text: One paragraph.
        width: Cells of a line, at least 2; a Chinese character takes two. [-]

    Returns:
        The lines, without trailing spaces.
    """
    lines: list[str] = []
    line = ""
    for atom in _atoms(text):
        if cell_len((line + atom).rstrip()) <= width:
            line = line + atom if line or not atom.isspace() else line
            continue
        if line.strip():
            lines.append(line.rstrip())
        pieces = chop_cells(atom.strip(), width)
        lines += pieces[:-1]
        line = pieces[-1] if pieces else ""
    lines = [*lines, line.rstrip()] if line.strip() or not lines else lines
    return [line.replace(_HELD, " ") for line in lines]


def _atoms(text: str) -> list[str]:
    """Split a text where lines may be broken."""
    return _glue(_ATOMS.findall(_BEFORE_UNIT.sub(_HELD, text)))


def _glue(atoms: Sequence[str]) -> list[str]:
    """Join closing punctuation to what stands before it and opening punctuation to what follows."""
    glued: list[str] = []
    for atom in atoms:
        joins = glued and not glued[-1].isspace() and (atom[0] in _CLOSING or glued[-1][-1] in _OPENING)
        if joins and not atom.isspace():
            glued[-1] += atom
        else:
            glued.append(atom)
    return glued


@dataclass(frozen=True)
class Paragraph:
    """A text with an indent, wrapped at the width that it is given."""

    text: str
    indent: int = 0
    """Cells before every line. [-]"""
    bullet: str = ""
    """Stands before the first line, the others are set in by as much."""
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Wrap and print."""
        lead = cell_len(self.bullet)
        lines = wrap_text(self.text, max(options.max_width - self.indent - lead, 2))
        for number, line in enumerate(lines):
            start = self.bullet if number == 0 else " " * lead
            yield Text(" " * self.indent + start + line, style=self.style, no_wrap=True, overflow="ignore")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Take the longest unbreakable piece as the least width, the whole text as the most."""
        lead = self.indent + cell_len(self.bullet)
        longest = max((cell_len(atom) for atom in _atoms(self.text)), default=0)
        return Measurement(lead + longest, lead + cell_len(self.text))


@dataclass(frozen=True)
class Bar:
    """A share drawn as a bar of fixed width; plain characters where the console has no blocks."""

    share: float
    """0 to 1; more is drawn as 1. [-]"""
    width: int = 10

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw."""
        eighths = round(min(max(self.share, 0.0), 1.0) * self.width * 8)
        if options.ascii_only:
            yield Text("#" * round(eighths / 8), no_wrap=True)
        else:
            yield Text("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip(), no_wrap=True)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Always take the same width."""
        return Measurement(self.width, self.width)


@dataclass(frozen=True)
class ByWidth:
    """One thing on a wide console, another on a narrow one."""

    wide: RenderableType
    narrow: RenderableType
    least: int = WIDE_COLUMNS
    """Columns from which on the console is wide. [-]"""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Choose."""
        yield self.wide if options.max_width >= self.least else self.narrow


def make_table(columns: Iterable[tuple[str, JustifyMethod]], *, title: str | None = None) -> Table:
    """Start a plain table: bold headings, two cells between columns, nothing that wraps.

    Args:
        columns: Heading and justification of each.
        title: Above the table, at the left.
    """
    table = Table(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", title=title, title_justify="left"
    )
    table.title_style = "bold"
    for heading, justify in columns:
        table.add_column(heading, justify=justify, no_wrap=True)
    return table


@dataclass(frozen=True)
class Beside:
    """Two tables side by side where both fit whole, else one below the other."""

    left: RenderableType
    right: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Measure and choose."""
        unlimited = options.update(width=10_000)
        needed = sum(Measurement.get(console, unlimited, item).maximum for item in (self.left, self.right))
        if needed + _GAP > options.max_width:
            yield from (self.left, Text(), self.right)
            return
        grid = Table.grid(padding=(0, _GAP, 0, 0), pad_edge=False)
        grid.add_row(self.left, self.right)
        yield grid


def heading(text: str) -> Text:
    """Make the heading of a section, an empty line above it."""
    return Text("\n" + text, style="bold")

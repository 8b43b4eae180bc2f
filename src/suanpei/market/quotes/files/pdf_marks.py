"""What a page of a PDF draws: pieces of text with their places, and straight rules.

Lengths are in points (1/72 inch) from the lower left corner of the page as it is shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from suanpei.market.quotes.files.pdf_widths import Widths

if TYPE_CHECKING:
    from collections.abc import Sequence

Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_SHOWS = (b"Tj", b"TJ", b"'", b'"')
_STROKES = (b"S", b"s", b"B", b"B*", b"b", b"b*")
_FILLS = (b"f", b"F", b"f*")
_HAIR_POINTS = 2.5
"""A filled box thinner than this is a rule. [pt]"""
_SHORTEST_POINTS = 3.0
"""Shorter marks are parts of drawn letters. [pt]"""
_MOST_SLOPE = 0.02
"""Of text that counts as level. [-]"""
_MOST_RULES = 20_000
"""On one page; drawings have more, tables do not. [-]"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """Text that is shown at once."""

    text: str
    left: float
    """[pt]"""
    right: float
    """[pt]"""
    base: float
    """Height of its baseline. [pt]"""
    size: float
    """Of its type. [pt]"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """A straight line along the page's sides."""

    is_level: bool
    place: float
    """Its height where it is level, else its distance from the left. [pt]"""
    start: float
    end: float
    """[pt]"""


@dataclass(kw_only=True)
class Marks:
    """Everything that a page draws."""

    pieces: list[Piece] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    slanted: list[str] = field(default_factory=list)
    """Words that are turned against the page: watermarks, stamps."""
    has_picture: bool = False


def read_marks(page: Any) -> Marks:
    """Collect what a page draws.

    Args:
        page: Of pypdf. [-]

    Returns:
        Its marks; none for an empty page.
    """
    from pypdf.generic import ArrayObject, ContentStream, NameObject, StreamObject

    contents = page.get("/Contents")
    contents = None if contents is None else contents.get_object()
    if not isinstance(contents, ArrayObject | StreamObject):
        return Marks()
    content = ContentStream(contents, page.pdf, "bytes")
    # pypdf joins what is shown on one line of one text object; a text object of its own for each keeps the places
    operations: list[Any] = []
    for operands, operator in content.operations:
        operations.append((operands, operator))
        if operator in _SHOWS:
            operations.append(([], b"ET"))
    content.operations = operations
    page[NameObject("/Contents")] = content
    collector = _Collector(_turn(int(page.get("/Rotate") or 0), page))
    page.extract_text(visitor_operand_before=collector.take_operation, visitor_text=collector.take_text)
    return collector.marks


def _turn(degrees: int, page: Any) -> Matrix:
    """Give the matrix by which a page is turned before it is shown."""
    width, height = float(page.mediabox.width), float(page.mediabox.height)
    turns: dict[int, Matrix] = {
        90: (0.0, -1.0, 1.0, 0.0, 0.0, width),
        180: (-1.0, 0.0, 0.0, -1.0, width, height),
        270: (0.0, 1.0, -1.0, 0.0, height, 0.0),
    }
    return turns.get(degrees % 360, IDENTITY)


def multiply(first: Sequence[float], second: Sequence[float]) -> Matrix:
    """Give the matrix that does first the one, then the other (ISO 32000-1, 8.3.4)."""
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


class _Collector:
    """Takes what pypdf reports while it goes through a page."""

    def __init__(self, turn: Matrix) -> None:
        self.marks = Marks()
        self._turn = turn
        self._widths = Widths()
        self._path: list[tuple[float, float, float, float]] = []
        self._boxes: list[tuple[float, float, float, float]] = []
        self._point = (0.0, 0.0)
        self._start = (0.0, 0.0)
        self._last: tuple[Matrix, float] | None = None

    def take_operation(self, operator: bytes, operands: Any, matrix: Any, _text_matrix: Any) -> None:
        """Follow the path that is drawn, and note pictures."""
        if operator in (b"m", b"l", b"re"):
            numbers = [float(operand) for operand in operands if isinstance(operand, int | float)]
            if len(numbers) == (4 if operator == b"re" else 2):
                self._extend(operator, numbers, multiply(matrix, self._turn))
        elif operator == b"h":
            self._path.append((*self._point, *self._start))
            self._point = self._start
        elif operator in _STROKES or operator in _FILLS:
            self._paint(is_stroked=operator in _STROKES)
        elif operator == b"n":
            self._path, self._boxes = [], []
        elif operator in (b"Do", b"BI", b"INLINE IMAGE"):
            self.marks.has_picture = True

    def _extend(self, operator: bytes, numbers: list[float], matrix: Matrix) -> None:
        x, y = _apply(matrix, numbers[0], numbers[1])
        if operator == b"re":
            opposite = _apply(matrix, numbers[0] + numbers[2], numbers[1] + numbers[3])
            self._boxes.append((x, y, *opposite))
        elif operator == b"m":
            self._point = self._start = (x, y)
        else:
            self._path.append((*self._point, x, y))
            self._point = (x, y)

    def _paint(self, *, is_stroked: bool) -> None:
        for left, low, right, high in self._boxes:
            thin = min(abs(right - left), abs(high - low))
            if thin <= _HAIR_POINTS:
                x, y = (left + right) / 2, (low + high) / 2
                if abs(high - low) <= abs(right - left):
                    self._add_rule(left, y, right, y)
                else:
                    self._add_rule(x, low, x, high)
            elif is_stroked:
                self._add_rule(left, low, right, low)
                self._add_rule(left, high, right, high)
                self._add_rule(left, low, left, high)
                self._add_rule(right, low, right, high)
        if is_stroked:
            for segment in self._path:
                self._add_rule(*segment)
        self._path, self._boxes = [], []

    def _add_rule(self, x: float, y: float, to_x: float, to_y: float) -> None:
        width, height = abs(to_x - x), abs(to_y - y)
        if max(width, height) < _SHORTEST_POINTS or min(width, height) > 0.5 or len(self.marks.rules) >= _MOST_RULES:
            return
        if width >= height:
            rule = Rule(is_level=True, place=(y + to_y) / 2, start=min(x, to_x), end=max(x, to_x))
        else:
            rule = Rule(is_level=False, place=(x + to_x) / 2, start=min(y, to_y), end=max(y, to_y))
        self.marks.rules.append(rule)

    def take_text(self, text: str, matrix: Any, text_matrix: Any, font: Any, size: float) -> None:
        """Note a piece of text; one at the place of the last continues it: pypdf does not move on between them."""
        words = text.replace("\0", "").strip("\n\r")  # the first byte of a letter where pypdf reads them one by one
        if not words.strip():
            return
        placed = multiply(multiply(text_matrix, matrix), self._turn)
        across, up = math.hypot(placed[0], placed[1]), math.hypot(placed[2], placed[3])
        if not (across and up and size) or not all(map(math.isfinite, (*placed, size))):
            return
        if abs(placed[1]) > _MOST_SLOPE * across or placed[0] < 0:
            self.marks.slanted.append(words.strip())
            return
        scale, before, left, right = abs(size) * across, "", placed[4], placed[4]
        if self._last == (placed, size) and self.marks.pieces:
            last = self.marks.pieces.pop()
            before, left, right = last.text, last.left, last.right
        else:
            words = words.lstrip(" ")  # pypdf writes a space for a move, which takes no room
        right += self._widths.measure(words, font) * scale
        self._last = (placed, size)
        piece = Piece(text=before + words, left=left, right=right, base=placed[5], size=abs(size) * up)
        self.marks.pieces.append(piece)


def _apply(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f

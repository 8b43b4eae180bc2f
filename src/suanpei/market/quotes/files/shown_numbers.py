"""Numbers of a workbook as its reader sees them: number formats, which alone say currency, unit, percent and date.

The language of formats is that of ECMA-376-1:2016, 18.8.30 and 18.8.31. Currency signs and other literal text go into
the cell, scaling commas are applied. A display that hides more than half a percent of the value is not followed: the
digits are shown. Dates are written in ISO form, whatever their format, since ``3/4/25`` is two days.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_STORED = Context(prec=15)
"""Digits that a spreadsheet keeps; what follows is noise of binary fractions (2.3500000000000001)."""
_MOST_HIDDEN_FRACTION = Decimal("0.005")
_LARGEST = Decimal(10) ** 15
_SMALLEST = Decimal(10) ** -15
"""Magnitudes beyond these are no prices and stay as they are stored. [-]"""
_MOST_DECIMALS = 10
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|[\\!](?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<exponent>E[+-])|(?P<part>AM/PM|A/P|[ymdhsegb]+)|(?P<digit>[0#?])|(?P<sign>[.,%@/])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)")
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_FIRST_DAY = datetime(1899, 12, 31)  # noqa: DTZ001  # dates of a workbook have no zone
_FIRST_DAY_1904 = datetime(1904, 1, 1)  # noqa: DTZ001
_DAY_S = 86_400
_LEAP_DAY = 60
"""29 February 1900, which spreadsheets have and the calendar has not."""
_LAST_DAY = 2_958_465
"""31 December 9999."""
_HALF_SECOND = Decimal("0.5") / _DAY_S


class _Token(NamedTuple):
    kind: str
    text: str


class _Section(NamedTuple):
    tokens: tuple[_Token, ...]
    condition: tuple[str, Decimal] | None
    is_date: bool
    is_plain: bool
    """Of fractions or powers, whose numbers are written plainly here."""


class NumberFormat:
    """One number format, read once and used for many cells."""

    def __init__(self, code: str) -> None:
        sections = [_read_section(section) for section in _split_sections(code.replace("G/通用格式", "General"))]
        self._sections: Sequence[_Section] = sections
        self.is_date = any(section.is_date for section in sections[:1])

    def show(self, value: Decimal) -> str:
        """Write a number as a reader of the workbook sees it."""
        section, has_sign = self._choose(value)
        if ("sign", "@") in section.tokens:
            # a number in a cell of text shows as it is stored
            return self.show_text(write_plain(value))
        if section.is_plain:
            return write_plain(value)
        return _fill(section, value if has_sign else abs(value))

    def show_text(self, text: str) -> str:
        """Write a text, to which a format may add words."""
        if len(self._sections) < 4:
            tokens = self._sections[0].tokens if len(self._sections) == 1 else ()
        else:
            tokens = self._sections[3].tokens
        if not any(token == ("sign", "@") for token in tokens):
            return text
        pieces = (text if token == ("sign", "@") else token.text if _is_shown(token) else "" for token in tokens)
        return "".join(pieces)

    def _choose(self, value: Decimal) -> tuple[_Section, bool]:
        """Choose the section that a number falls under, and whether its sign is still to be written."""
        sections = self._sections[:3]
        if any(section.condition for section in sections):
            for section in sections:
                if section.condition is None or _holds(value, section.condition):
                    return section, value < 0
            return sections[-1], value < 0
        if value < 0 and len(sections) > 1:
            return sections[1], False
        if value == 0 and len(sections) > 2:
            return sections[2], False
        return sections[0], True


def read_number(text: str) -> Decimal | None:
    """Read a stored number at the precision of a spreadsheet; None where it is none, or beyond use."""
    try:
        value = _STORED.create_decimal(text.strip())
    except InvalidOperation:
        return None
    is_usual = value == 0 or (value.is_finite() and _SMALLEST < abs(value) < _LARGEST)
    return value if is_usual else None


def write_plain(value: Decimal) -> str:
    """Write a number without exponent and without zeros at its end.

    Example:
        >>> write_plain(Decimal("7.8E+4")), write_plain(Decimal("2.350"))
        ('78000', '2.35')
    """
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def write_date(serial: Decimal, *, is_1904: bool) -> str:
    """Write a stored date in ISO form, with the time of day where there is one; a time alone stays one.

    Example:
        >>> write_date(Decimal("45717"), is_1904=False), write_date(Decimal("45717.4375"), is_1904=False)
        ('2025-03-01', '2025-03-01 10:30')
    """
    if not 0 <= serial < _LAST_DAY + 1 - _HALF_SECOND:
        return write_plain(serial)
    days, seconds = divmod(round(serial * _DAY_S), _DAY_S)
    if not is_1904 and days > _LEAP_DAY:
        days -= 1
    moment = (_FIRST_DAY_1904 if is_1904 else _FIRST_DAY) + timedelta(days=days, seconds=seconds)
    time = f"{moment:%H:%M:%S}".removesuffix(":00")
    if not days:
        return time
    return f"{moment:%Y-%m-%d} {time}" if seconds else f"{moment:%Y-%m-%d}"


def _split_sections(code: str) -> list[str]:
    sections = [""]
    for match in _TOKEN.finditer(code):
        if match.group() == ";":
            sections.append("")
        else:
            sections[-1] += match.group()
    return sections


def _read_section(code: str) -> _Section:
    tokens: list[_Token] = []
    condition: tuple[str, Decimal] | None = None
    is_date = False
    for match in _TOKEN.finditer(code):
        kind, text = match.lastgroup or "blank", match.group()
        if kind == "bracket":
            given = _CONDITION.fullmatch(match.group("bracket"))
            condition = (given.group(1), Decimal(given.group(2))) if given else condition
            is_date = is_date or _ELAPSED.fullmatch(match.group("bracket")) is not None
        elif kind in ("quoted", "escaped", "currency"):
            tokens.append(_Token("literal", match.group(kind) or ""))
        elif kind == "other":
            tokens.append(_Token("literal", text))
        elif kind == "part":
            is_date = is_date or bool(set(text.lower()) & set("ymdhs"))
            tokens.append(_Token("literal", ""))
        elif kind != "blank":
            tokens.append(_Token(kind, text))
    signs = {token.text for token in tokens if token.kind == "sign"}
    kinds = {token.kind for token in tokens}
    is_plain = "exponent" in kinds or "/" in signs
    return _Section(tuple(tokens), condition, is_date, is_plain)


def _holds(value: Decimal, condition: tuple[str, Decimal]) -> bool:
    sign, bound = condition
    return {
        "<": value < bound,
        ">": value > bound,
        "=": value == bound,
        "<=": value <= bound,
        ">=": value >= bound,
        "<>": value != bound,
    }[sign]


def _is_shown(token: _Token) -> bool:
    return token.kind == "literal"


def _fill(section: _Section, value: Decimal) -> str:
    """Put a number between the literal text of its section."""
    tokens = section.tokens
    places = [place for place, token in enumerate(tokens) if token.kind in ("digit", "general")]
    if not places:
        sign = "-" if value < 0 else ""
        return sign + "".join(token.text for token in tokens if _is_shown(token)) if tokens else ""
    point = next((place for place, token in enumerate(tokens) if token == ("sign", ".")), len(tokens))
    whole = [place for place in places if place < point]
    decimals = [place for place in places if place > point]
    commas = [place for place, token in enumerate(tokens) if token == ("sign", ",")]
    last = whole[-1] if whole else -1
    scale = sum(place > last for place in commas)
    shown = value.scaleb(-3 * scale) * Decimal(100) ** sum(token == ("sign", "%") for token in tokens)
    is_drawn = any(_is_shown(token) for token in tokens[whole[0] : last]) if whole else False
    text = write_plain(abs(shown))
    if all(tokens[place].kind == "digit" for place in whole):
        text = _round(abs(shown), [tokens[place].text for place in decimals], is_drawn=is_drawn)
    digits, _, fraction = text.partition(".")
    groups = any(whole and whole[0] < place < last for place in commas)
    marks = ["0" if tokens[place].kind == "general" else tokens[place].text for place in whole]
    placed = _place_digits(digits, marks, is_grouped=groups)
    written = dict(zip(whole, placed, strict=True))
    end = decimals[-1] if decimals else (point if point < len(tokens) else last)
    pieces = ["-"] if value < 0 and Decimal(text) != 0 else []
    for place, token in enumerate(tokens):
        if place in written:
            pieces.append(written[place])
        elif token == ("sign", "%"):
            pieces.append("%")
        elif _is_shown(token):
            pieces.append(token.text)
        if place == end and fraction:
            pieces.append(f".{fraction}")
    return "".join(pieces)


def _round(value: Decimal, decimals: Sequence[str], *, is_drawn: bool) -> str:
    """Round as the format shows, unless that hides too much of the value.

    Where text is drawn among the digits (``0"."0,`` shows 58000 as 5.8), no digit can be added.
    """
    rounded = value.quantize(Decimal(1).scaleb(-min(len(decimals), _MOST_DECIMALS)), rounding=ROUND_HALF_UP)
    if abs(rounded - value) > _MOST_HIDDEN_FRACTION * value and not is_drawn:
        return write_plain(value)
    text = f"{rounded:f}"
    optional = len(decimals) - len("".join(decimals).rstrip("#?"))
    for _ in range(optional):
        text = text.removesuffix("0")
    return text.removesuffix(".")


def _place_digits(digits: str, places: Sequence[str], *, is_grouped: bool) -> list[str]:
    """Give each place its digit from the right; the first takes all that are left."""
    digits = digits.lstrip("0")
    least = len("".join(places).lstrip("#?"))
    digits = digits.zfill(least)
    filled = [""] * len(places)
    for place in range(len(places) - 1, 0, -1):
        filled[place] = digits[-1:]
        digits = digits[:-1]
    if places:
        filled[0] = digits
    if is_grouped:
        total = "".join(filled)
        return [f"{int(total):,}" if total else "", *[""] * (len(places) - 1)]
    return filled

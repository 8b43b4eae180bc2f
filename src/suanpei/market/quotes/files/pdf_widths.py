"""How wide text is in a PDF: from the widths that its font states, else from what letters usually take."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

_UNITS = 1000
"""Of a font's widths per size of its type (ISO 32000-1, 9.2.4)."""
_WIDE = ("W", "F")
_NARROW_LETTERS = frozenset("iljtfrI.,:;'|!()[]/\\- ")
_BROAD_LETTERS = frozenset("mwMW@%")
_NARROW, _USUAL, _CAPITAL, _BROAD, _FULL = 0.30, 0.54, 0.68, 0.86, 1.0
"""Of the size of the type: averages of Helvetica and Times for letters whose font says nothing. [-]"""
_SINGLE = re.compile(rb"<([0-9A-Fa-f]{2,8})>\s*<([0-9A-Fa-f]{4,16})>")
_RANGE = re.compile(rb"<([0-9A-Fa-f]{2,8})>\s*<([0-9A-Fa-f]{2,8})>\s*(?:<([0-9A-Fa-f]{4,16})>|\[([^\]]*)\])")
_IN_RANGE = re.compile(rb"<([0-9A-Fa-f]{4,16})>")
_BLOCK = re.compile(rb"begin(bfchar|bfrange)(.*?)endbf", re.DOTALL)
_LONGEST_RANGE = 65_536


class Widths:
    """Widths of the fonts of a page, each read once."""

    def __init__(self) -> None:
        self._fonts: dict[int, tuple[Any, dict[str, float]]] = {}

    def measure(self, text: str, font: Any) -> float:
        """Give the width of a text. [sizes of its type]

        Args:
            text: In one line. [-]
            font: Its dictionary, as pypdf gives it; None where the page names none. [-]
        """
        known = self._known(font)
        return sum(known.get(letter) or usual_width(letter) for letter in text)

    def _known(self, font: Any) -> dict[str, float]:
        if font is None:
            return {}
        found = self._fonts.get(id(font))
        if found is None:
            try:
                widths = _read_widths(font)
            except (
                KeyError,
                IndexError,
                TypeError,
                ValueError,
                AttributeError,
            ):  # a damaged font: its text still reads
                widths = {}
            found = self._fonts[id(font)] = (font, widths)
        return found[1]


def usual_width(letter: str) -> float:
    """Give what a letter usually takes. [sizes of its type]"""
    if unicodedata.east_asian_width(letter) in _WIDE:
        return _FULL
    if letter in _NARROW_LETTERS:
        return _NARROW
    if letter in _BROAD_LETTERS:
        return _BROAD
    return _CAPITAL if letter.isupper() else _USUAL


def _read_widths(font: Any) -> dict[str, float]:
    letters = _read_letters(font.get("/ToUnicode"))
    if font.get("/Subtype") == "/Type0":
        by_code = _read_composite(font["/DescendantFonts"][0].get_object())
    else:
        first = int(font.get("/FirstChar", 0))
        by_code = {first + place: float(width) for place, width in enumerate(font.get("/Widths") or ())}
        if not letters:
            letters = {code: chr(code) for code in by_code if 32 <= code < 127}
    return {letters[code]: width / _UNITS for code, width in by_code.items() if code in letters and width > 0}


def _read_composite(descendant: Any) -> dict[int, float]:
    """Read the widths by character number: ``c [w w …]`` or ``first last w`` (ISO 32000-1, 9.7.4.3)."""
    widths: dict[int, float] = {}
    entries = [entry.get_object() for entry in descendant.get("/W") or ()]
    place = 0
    while place + 1 < len(entries):
        first, second = int(entries[place]), entries[place + 1]
        if isinstance(second, list):
            widths.update({first + offset: float(width) for offset, width in enumerate(second)})
            place += 2
        else:
            last = min(int(second), first + _LONGEST_RANGE)
            widths.update(dict.fromkeys(range(first, last + 1), float(entries[place + 2])))
            place += 3
    return widths


def _read_letters(to_unicode: Any) -> dict[int, str]:
    """Read which letter each code stands for; ligatures are left out."""
    if to_unicode is None:
        return {}
    letters: dict[int, str] = {}
    for kind, block in _BLOCK.findall(to_unicode.get_object().get_data()):
        if kind == b"bfchar":
            for code, letter in _SINGLE.findall(block):
                _put(letters, int(code, 16), letter, 0)
            continue
        for first, last, start, listed in _RANGE.findall(block):
            if listed:
                for offset, letter in enumerate(_IN_RANGE.findall(listed)):
                    _put(letters, int(first, 16) + offset, letter, 0)
            else:
                for offset in range(min(int(last, 16) - int(first, 16) + 1, _LONGEST_RANGE)):
                    _put(letters, int(first, 16) + offset, start, offset)
    return letters


def _put(letters: dict[int, str], code: int, letter: bytes, offset: int) -> None:
    if len(letter) == 4 and int(letter, 16) + offset < 0xD800:
        letters[code] = chr(int(letter, 16) + offset)

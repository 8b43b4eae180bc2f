"""Numbers as quotes write them: ``78,000``, ``1.450,00``, ``152 000``, ``5万8``, ``6块8``; exact fractions."""

from __future__ import annotations

import re
from fractions import Fraction

from suanpei.quantities.number import read_number

NUMBER = (
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)|\d{1,3}(?:\.\d{3}){2,}(?![\d.])"
    r"|\d{1,3}(?:['’ ]\d{3})+(?:[.,]\d{1,2})?(?![\d.,'’])|\d+,\d{1,2}(?![\d,])|\d+(?:\.\d+)?|\.\d+)"
)
"""As the inside of a pattern."""
SCALES = {"亿": 100_000_000, "万": 10_000, "w": 10_000, "千": 1_000, "k": 1_000, "百": 100}
LONGEST_NUMBER = 20
"""A longer number is no price. [characters]"""


def read_value(match: re.Match[str], name: str) -> tuple[Fraction | None, bool]:
    """Give a number as a fraction, and whether its decimals stand behind a comma."""
    written, scale, tail = match[f"number{name}"], match[f"scale{name}"], match[f"tail{name}"]
    if len(written) > LONGEST_NUMBER:
        return None, False
    digits, has_comma = _arabic(written)
    whole, _, decimals = digits.partition(".")
    value = Fraction(int(whole + decimals), 10 ** len(decimals)) if decimals else Fraction(int(whole))
    if scale and tail:
        spelled = read_number(f"{digits}{'万' if scale == 'w' else '千' if scale == 'k' else scale}{tail}")
        value = Fraction(spelled.value) if spelled is not None else value * SCALES[scale]
    elif scale:
        value *= SCALES[scale]
    tenths = match[f"tenths{name}"]
    if tenths:
        value += Fraction(int(tenths), 10)
    return value, has_comma


def _arabic(written: str) -> tuple[str, bool]:
    """Bring separators into one form; a comma before one or two last digits is a decimal comma."""
    if written.isdecimal():
        return written, False
    bare = re.sub(r"['’ ]", "", written)
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d{1,2}|\d+,\d{1,2}", bare):
        return bare.replace(".", "").replace(",", "."), True
    if re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", bare):
        return bare.replace(".", ""), True
    return bare.replace(",", ""), False

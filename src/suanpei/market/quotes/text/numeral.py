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
_TAIL = r"(?:\d{4}|\d(?:千|百)?)(?!,\d{3}(?!\d)|\.\d|-\s*[a-z]|[\d万亿卡台张块节个x×折%gt])"
"""What follows a scale: 5万8 and 5万8千 are 58,000, 5万8500 is 58,500."""
LONGEST_NUMBER = 20
"""A longer number is no price. [characters]"""


def spell_money(currency: str, before: str, name: str = "") -> str:
    """Write a sum of money as the inside of a pattern, with the groups that `read_value` needs.

    Args:
        currency: The words for currencies. [-]
        before: What must hold before a number without a currency before it. [-]
        name: Of the sum, where a pattern has several; its groups end so. [-]
    """
    return (
        rf"(?:(?P<before{name}>{currency})\s*|{before})(?P<number{name}>{NUMBER})"
        rf"(?:\s*(?P<scale{name}>亿|万|千|百|[kw](?![a-z]))(?P<tail{name}>{_TAIL})?)?"
        rf"(?:\s*(?P<after{name}>{currency})(?P<tenths{name}>\d(?!\d))?)?"
    )


def read_value(match: re.Match[str], name: str = "") -> tuple[Fraction | None, bool]:
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

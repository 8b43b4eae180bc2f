"""Numbers as people write them: ``20``, ``1,024``, ``1e12``, ``２万亿``, ``1亿2000万``, ``5万8``, ``五十万``."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from suanpei.errors import InputError
from suanpei.messages import Message, excerpt

_ARABIC = re.compile(r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d[\d_]*|(?=\.\d))(?:\.\d+)?(?:[eE][+-]?\d{1,3}(?!\d))?")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]")
"""Half width, 10⁹ would become 109."""
_SIGN = re.compile(r"[+\-−]\s*")
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_SMALL = {"十": Decimal(10), "百": Decimal(100), "千": Decimal(1000)}
_LARGE = {"万": Decimal(10**4), "亿": Decimal(10**8)}
_LATIN = {
    "k": Decimal(10**3),
    "thousand": Decimal(10**3),
    "m": Decimal(10**6),
    "million": Decimal(10**6),
    "b": Decimal(10**9),
    "bn": Decimal(10**9),
    "billion": Decimal(10**9),
    "t": Decimal(10**12),
    "trillion": Decimal(10**12),
}
_LONGEST_TEXT = 120
"""Longer than any quantity; also bounds the text that an error repeats."""


@dataclass(frozen=True, kw_only=True)
class WrittenNumber:
    """A number at the start of a text, and what follows it."""

    value: Decimal
    scaled: bool
    """Whether a Chinese or Latin word of scale (万, B) was part of it."""
    rest: str
    """The text behind it, stripped."""


def normalise(text: str, field: str) -> str:
    """Bring full-width characters to half width and strip.

    Args:
        text: What the user wrote.
        field: Name of the option or column, for the error.

    Returns:
        The same text in half width, without outer spaces.

    Raises:
        InputError: Nothing is left, the text is far too long for a quantity, or a power is written with raised digits.
    """
    if _RAISED.search(text):
        raise InputError(
            Message(
                "{field}: raised digits in '{given}' are not read; write a power as 1e9",
                field=field,
                given=excerpt(text),
            )
        )
    plain = unicodedata.normalize("NFKC", text).strip()
    if not plain:
        raise InputError(Message("{field} is empty", field=field))
    if len(plain) > _LONGEST_TEXT:
        raise InputError(
            Message("{field}: '{given}…' is too long for a quantity", field=field, given=plain[: _LONGEST_TEXT // 3])
        )
    return plain


def read_number(text: str) -> WrittenNumber | None:
    """Read the number that a text starts with, Chinese scales included, Latin ones not.

    Args:
        text: Normalised text.

    Returns:
        The number and the rest, or None where the text does not start with a number.
    """
    sign = _SIGN.match(text)
    start = position = sign.end() if sign else 0
    number = _Accumulator()
    while position < len(text):
        arabic = _ARABIC.match(text, position)
        length = number.take(text[position], arabic.group(0) if arabic else "", is_first=position == start)
        if not length:
            break
        position += length
    if position == start:
        return None
    value = -number.total() if sign and sign.group(0)[0] != "+" else number.total()
    return WrittenNumber(value=value, scaled=number.last_scale is not None, rest=text[position:].strip())


class _Accumulator:
    """Adds up a number digit group by digit group and scale by scale, as it is read aloud."""

    def __init__(self) -> None:
        self.last_scale: Decimal | None = None
        self._sum = self._section = Decimal(0)
        self._pending: Decimal | None = None
        self._after_zero = False
        self._is_single_digit = False

    def take(self, character: str, arabic: str, *, is_first: bool) -> int:
        """Take what comes next; returns how many characters it was, 0 at the end of the number."""
        expects_digits = self._pending is None or (self._after_zero and self._pending == 0)
        if arabic and expects_digits:
            self._pending, self._is_single_digit = _decimal(arabic), len(arabic) == 1
            return len(arabic)
        if character in _DIGITS and expects_digits:
            self._pending, self._is_single_digit = Decimal(_DIGITS[character]), True
            self._after_zero = self._after_zero or self._pending == 0
            return 1
        if character in _SMALL and (self._pending is not None or is_first or character == "十"):
            self._section += (self._pending or Decimal(1)) * _SMALL[character]
            self._close(_SMALL[character])
            return 1
        if character in _LARGE and not is_first:
            scale = _LARGE[character]
            section = self._section + (self._pending or Decimal(0))
            joins = character == "亿" or self._sum == 0
            self._sum = (self._sum + section) * scale if joins else self._sum + section * scale
            self._section = Decimal(0)
            self._close(scale)
            return 1
        return 0

    def total(self) -> Decimal:
        """Give the number; a single last digit means tenths of the last scale (5万8 is 58,000, 5万零8 is 50,008)."""
        last = self._pending or Decimal(0)
        if self.last_scale is not None and self._is_single_digit and not self._after_zero:
            last *= self.last_scale / 10
        return self._sum + self._section + last

    def _close(self, scale: Decimal) -> None:
        self._pending, self.last_scale, self._after_zero, self._is_single_digit = None, scale, False, False


def read_scaled(text: str) -> WrittenNumber | None:
    """Read a number with its scale, Chinese (万亿) or Latin (K, M, B, T, million …).

    Args:
        text: Normalised text.

    Returns:
        The scaled number and the rest, or None where the text does not start with a number.
    """
    number = read_number(text)
    if number is None:
        return None
    word = re.match(r"[A-Za-z]+", number.rest)
    scale = _LATIN.get(word.group(0).lower()) if word else None
    if word is None or scale is None or number.scaled:
        return number
    return WrittenNumber(value=number.value * scale, scaled=True, rest=number.rest[word.end() :].strip())


def refuse(field: str, given: str, takes: Message) -> InputError:
    """Build the error for a text that cannot be read."""
    return InputError(
        Message("{field}: cannot read '{given}'; it takes {takes}", field=field, given=given, takes=takes)
    )


def refuse_unitless(field: str, given: str, takes: Message) -> InputError:
    """Build the error for a number whose unit is missing."""
    return InputError(
        Message("{field}: '{given}' has no unit; it takes {takes}", field=field, given=given, takes=takes)
    )


def check_range(value: Decimal, most: Decimal, field: str, given: str, most_text: str) -> None:
    """Check that a quantity is above zero and not absurd.

    Args:
        value: The quantity, in the unit of `most`.
        most: The largest that makes sense.
        field: Name of the option or column.
        given: What the user wrote.
        most_text: `most` as a person writes it.

    Raises:
        InputError: The value is zero, negative or larger than `most`.
    """
    if value <= 0:
        raise InputError(Message("{field} must be above zero, got '{given}'", field=field, given=given))
    if value > most:
        raise InputError(
            Message("{field} must be at most {most}, got '{given}'", field=field, given=given, most=most_text)
        )


def _decimal(digits: str) -> Decimal:
    try:
        return Decimal(digits.replace(",", "").replace("_", ""))
    except InvalidOperation:  # only an exponent beyond what Decimal holds
        return Decimal("Infinity")

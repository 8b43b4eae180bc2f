"""Numbers of a form: plain ones, and those with a unit behind them that is the unit of their column."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.market.rfq.words import fold
from suanpei.quantities import parse_currency
from suanpei.quantities.number import read_scaled

if TYPE_CHECKING:
    from collections.abc import Collection

POINT_CURRENCY = "CNY"
"""A currency in whose countries commas part thousands."""
_COMMA_CURRENCIES = ("EUR", "")
"""Where these are billed, ``1,234`` may be a decimal comma."""
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_PER = re.compile(r"[/每]|\bper\b")
_JOINS = re.compile(r"[·*-]|每")
"""Written where others write a slash."""


def read_decimal(text: str, currency: str) -> Decimal | None:
    """Read a number exactly, full-width digits too; None where it is none, or might be two.

    Commas part thousands, but in a currency that is often written with decimal commas, a single one with three digits
    behind it may be either.

    Example:
        >>> read_decimal("78,000.50", "CNY"), read_decimal("1,234", "EUR"), read_decimal("６.８", "CNY")
        (Decimal('78000.50'), None, Decimal('6.8'))
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    if _GROUPED.fullmatch(plain):
        if currency in _COMMA_CURRENCIES and plain.count(",") == 1 and "." not in plain:
            return None
        plain = plain.replace(",", "")
    if not _PLAIN.fullmatch(plain):
        return None
    try:
        return Decimal(plain)
    except InvalidOperation:
        return None


def read_amount(text: str, currency: str, units: Collection[str]) -> Decimal | None:
    """Read an amount of money whose text may name what its column names already: currency, scale and unit.

    Args:
        text: Of the cell. [-]
        currency: Of the line; empty is not settled, then none may be named. [ISO 4217]
        units: Behind the slash, folded. [-]

    Returns:
        The amount; None where the text says anything else, such as another unit, another currency or a second price.

    Example:
        >>> read_amount("4.2万/台/月", "CNY", {"台/月"}), read_amount("¥42,000", "CNY", ())
        (Decimal('4.2E+4'), Decimal('42000'))
        >>> read_amount("$5", "CNY", ()) is None
        True
    """
    plain = read_decimal(text, currency)
    if plain is not None:
        return plain
    written = unicodedata.normalize("NFKC", text).strip()
    amount, unit = _part(written)
    if unit and unit not in units:
        return None
    before = re.match(r"[^\d.+-]*", amount)
    sign = before.group(0).strip() if before else ""
    digits = amount[before.end() :] if before else amount
    grouped = re.match(r"[\d.,]*", digits)
    if grouped and "," in grouped.group(0):
        number = read_decimal(grouped.group(0), currency)
        if number is None:
            return None
        digits = f"{number}{digits[grouped.end() :]}"
    found = read_scaled(digits)
    if found is None or not all(_is_currency(word, currency) for word in (sign, found.rest)):
        return None
    return found.value.normalize() if found.scaled else found.value


def read_counted(text: str, units: Collection[str]) -> Decimal | None:
    """Read a number behind which its own unit may stand; None where anything else does.

    Example:
        >>> read_counted("80 GB", {"gb"}), read_counted("64/128", {"卡"})
        (Decimal('80'), None)
    """
    plain = read_decimal(text, POINT_CURRENCY)
    if plain is not None:
        return plain
    written = unicodedata.normalize("NFKC", text).strip()
    number = re.match(r"[\d.,]+", written)
    if number is None or fold(written[number.end() :]) not in units:
        return None
    return read_decimal(number.group(0), POINT_CURRENCY)


def _part(written: str) -> tuple[str, str]:
    """Part an amount from what it is per, folded."""
    per = _PER.search(written)
    if per is None:
        return written, ""
    unit = _JOINS.sub("/", fold(written[per.end() :]))
    return written[: per.start()].strip(), unit.strip("/()")


def _is_currency(word: str, currency: str) -> bool:
    if not word:
        return True
    try:
        return parse_currency(word, "currency") == currency
    except InputError:
        return False

"""Values of the Python interface: what a caller may give for an option, brought to what the request's field holds."""

from __future__ import annotations

import math
import os
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from suanpei.errors import InputError
from suanpei.messages import Message


def read_value(field: str, kind: str, value: Any) -> Any:
    """Turn a convenient value into what a field of this type holds.

    Args:
        field: Name of the option. [-]
        kind: The field's annotation, such as ``int | None`` or ``tuple[Path, ...]``. [-]
        value: What the caller gave; not None. [-]

    Raises:
        InputError: the value is of a kind that the field does not take.
    """
    if kind.startswith(("tuple[", "Sequence[")):
        one = to_path if "Path" in kind else to_text
        several = value if isinstance(value, list | tuple | set | frozenset) else [value]
        return tuple(one(field, item) for item in several)
    base = kind.partition(" |")[0]
    readers = {
        "date": _to_date,
        "Path": to_path,
        "str": to_text,
        "bool": _to_bool,
        "int": _to_whole_number,
        "float": _to_number,
    }
    return readers[base](field, value)


def to_text(field: str, value: Any) -> str:
    """Write a number, a path or a list of numbers as the command line would take it.

    Raises:
        InputError: it is none of them.
    """
    if isinstance(value, str | os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, list | tuple) and value and all(type(item) is int for item in value):
        return ",".join(map(str, value))
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)
    raise InputError(Message("{field} takes a text or a number, got '{given}'", field=field, given=repr(value)))


def to_path(field: str, value: Any) -> Path:
    """Read a path.

    Raises:
        InputError: it is neither a text nor a path.
    """
    if isinstance(value, str) or (isinstance(value, os.PathLike) and isinstance(os.fspath(value), str)):
        return Path(value)
    raise InputError(Message("{field} takes a path, got '{given}'", field=field, given=repr(value)))


def _to_date(field: str, value: Any) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise InputError(
            Message("{field} takes a date such as 2026-07-15, got '{given}'", field=field, given=value)
        ) from None


def _to_bool(field: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise InputError(Message("{field} must be true or false, got {given}", field=field, given=repr(value)))


def _to_whole_number(field: str, value: Any) -> int:
    number = _parse(value)
    if number is None or number != int(number):
        raise InputError(Message("{field} takes a whole number, got '{given}'", field=field, given=value))
    return int(value) if isinstance(value, str) and value.strip().lstrip("+-").isdecimal() else int(number)


def _to_number(field: str, value: Any) -> float:
    number = _parse(value)
    if number is None:
        raise InputError(Message("{field} takes a number, got '{given}'", field=field, given=value))
    return float(number)


def _parse(value: Any) -> int | float | None:
    """Read a finite number, or a text that is one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return None
    if isinstance(value, int):
        return value
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None

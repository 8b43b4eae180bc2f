"""What every verb returns beside its answer, and the JSON form of any result.

One set of rules serves values (`to_jsonable`) and types (``verbs.json_schema``): a dataclass is an object of its
fields, a `Message` is ``{key, values, text}``, a `Decimal` or `Fraction` a number, an integer enumeration its names in
lower case, any other enumeration its values. A `Money` is a number where the object that holds it states its
``currency``, else ``{amount, currency}``. A field's JSON name is its own unless its metadata say ``{"json": "class"}``;
``{"json": None}`` leaves it out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, is_dataclass
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from suanpei import __version__
from suanpei.messages import Message
from suanpei.money import Money

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCHEMA_VERSION = 2
"""Raised when a key of any result changes its meaning or goes away."""

LONG_LIST = 1000
"""Items of a list beyond which each is written on one line: several times as fast, and a third of the text."""

_UNCHANGED = frozenset({type(None), bool, str, int})
_NUMBERS = frozenset({float, Fraction, Decimal})
"""Types that most values of a large result have, told first."""


@dataclass(frozen=True, kw_only=True)
class VerbResult:
    """What every verb returns beside its own answer; result types are made from it."""

    catalog_date: str
    """Date of the newest catalogue row behind the answer. [ISO date]"""
    calibration_id: str | None
    """The calibration that was used; None where none was."""
    request: Mapping[str, Any]
    """The full request, defaults filled: running it again repeats the result."""
    assumptions: tuple[Message, ...]
    """Everything that the user did not say and that was taken to be so."""


def to_envelope(result: VerbResult, say: Callable[[Message], str] = str) -> dict[str, Any]:
    """Turn a verb's result into its JSON object.

    Args:
        result: What a verb returned.
        say: Gives the text of a message in the reader's language.

    Returns:
        ``suanpei_version``, ``schema_version``, then the fields of the result, those of `VerbResult` first.
    """
    return {"suanpei_version": __version__, "schema_version": SCHEMA_VERSION, **to_jsonable(result, say)}


def write_envelope(
    result: VerbResult, say: Callable[[Message], str] = str, *, ascii_only: bool = False
) -> Iterator[str]:
    """Write a verb's result as JSON, piece by piece: lists are never held as a whole.

    Args:
        result: What a verb returned.
        say: Gives the text of a message in the reader's language.
        ascii_only: Whether other characters are escaped.

    Returns:
        Pieces of the text of `to_envelope` at an indent of two, a line break at the end; a list of more than
        `LONG_LIST` items has each on one line.
    """
    wide, flat = (
        json.JSONEncoder(ensure_ascii=ascii_only, indent=indent, allow_nan=False).encode for indent in (2, None)
    )

    def dump(value: Any, depth: int) -> str:
        return wide(to_jsonable(value, say)).replace("\n", "\n" + "  " * depth)

    head = {"suanpei_version": __version__, "schema_version": SCHEMA_VERSION}
    entries = [*head.items(), *((json_name(item), getattr(result, item.name)) for item in fields(result))]
    opening = "{\n"
    for name, value in ((name, value) for name, value in entries if name is not None):
        if isinstance(value, tuple) and value:
            yield f"{opening}  {json.dumps(name)}: ["
            for place, item in enumerate(value):
                text = flat(to_jsonable(item, say)) if len(value) > LONG_LIST else dump(item, 2)
                yield f"{',' if place else ''}\n    {text}"
            yield "\n  ]"
        else:
            bare = value.amount if isinstance(value, Money) and states_currency(type(result)) else value
            yield f"{opening}  {json.dumps(name)}: {dump(bare, 1)}"
        opening = ",\n"
    yield "\n}\n"


def to_jsonable(value: Any, say: Callable[[Message], str] = str) -> Any:
    """Turn any value of a result into what JSON can hold.

    Args:
        value: A dataclass, message, number, array, enumeration, date, path, mapping or sequence, nested at will.
        say: Gives the text of a message in the reader's language.

    Returns:
        Dicts, lists, strings, numbers, booleans and None; a number that is not finite becomes None.

    Raises:
        TypeError: A type that has no JSON form.
    """
    kind: Any = type(value)
    if kind in _UNCHANGED:
        return value
    if kind in _NUMBERS:
        number = float(value)
        return number if math.isfinite(number) else None
    if kind is tuple:
        return [item if type(item) in _UNCHANGED else to_jsonable(item, say) for item in value]
    if kind is Message:
        values = {name: to_jsonable(item, say) for name, item in value.values.items()}
        return {"key": value.key, "values": values, "text": say(value)}
    if (members := _members(kind)) is not None:
        names, bare = members
        document = {}
        for attribute, name in names:
            item = getattr(value, attribute)
            if type(item) not in _UNCHANGED:
                item = to_jsonable(item.amount if bare and isinstance(item, Money) else item, say)
            document[name] = item
        return document
    if isinstance(value, Enum):
        return value.name.lower() if isinstance(value, IntEnum) else to_jsonable(value.value, say)
    if isinstance(value, Mapping):
        return {_to_key(name): to_jsonable(item, say) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_jsonable(item, say) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((to_jsonable(item, say) for item in value), key=str)
    if isinstance(value, str):
        return value
    return _to_scalar(value, say)


def states_currency(kind: type) -> bool:
    """Tell whether a dataclass names the currency of the amounts in it: they are then plain numbers in JSON."""
    return kind is not Money and any(item.name == "currency" for item in fields(kind))


def json_name(item: Field[Any]) -> str | None:
    """Name a dataclass field in JSON; None leaves it out."""
    name: str | None = item.metadata.get("json", item.name)
    return name


@cache
def _members(kind: type) -> tuple[tuple[tuple[str, str], ...], bool] | None:
    """Give attribute and JSON name of each field of a dataclass, and whether it states the currency of its amounts.

    None for a type that is no dataclass.
    """
    if not is_dataclass(kind):
        return None
    named = ((item.name, json_name(item)) for item in fields(kind))
    return tuple((attribute, name) for attribute, name in named if name is not None), states_currency(kind)


def _to_scalar(value: Any, say: Callable[[Message], str]) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return to_jsonable(value.tolist(), say)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(type(value).__qualname__)


def _to_key(name: Any) -> str:
    return name if type(name) is str else str(to_jsonable(name))

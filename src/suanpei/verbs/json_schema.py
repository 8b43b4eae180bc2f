"""JSON schema of result types, by the same rules by which ``verbs.envelope`` writes their values.

The annotations are those of the dataclasses themselves, also where the named types are imported for type checking only;
the descriptions are the docstrings under the fields.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from functools import cache
from pathlib import PurePath
from typing import Any, Literal, get_args, get_origin

import numpy as np

from suanpei.messages import Message
from suanpei.money import Money
from suanpei.verbs.envelope import SCHEMA_VERSION, VerbResult, json_name, states_currency

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_MESSAGE: dict[str, Any] = {
    "type": "object",
    "description": "A sentence: its English template, the values in it, and its text in the language asked for.",
    "properties": {"key": {"type": "string"}, "values": {"type": "object"}, "text": {"type": "string"}},
    "required": ["key", "values", "text"],
    "additionalProperties": False,
}
_SCALARS: tuple[tuple[type, dict[str, Any]], ...] = (
    (bool, {"type": "boolean"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (Decimal, {"type": "number"}),
    (Fraction, {"type": "number"}),
    (str, {"type": "string"}),
    (datetime, {"type": "string", "format": "date-time"}),
    (date, {"type": "string", "format": "date"}),
    (PurePath, {"type": "string"}),
    (np.integer, {"type": "integer"}),
    (np.floating, {"type": "number"}),
)
_SEQUENCES = (list, tuple, set, frozenset, Sequence)


def build_schema(result_type: type, name: str) -> dict[str, Any]:
    """Build the JSON schema of one result type.

    Args:
        result_type: A dataclass; where it is a `VerbResult`, the keys that its envelope adds are described too.
        name: Title of the schema.

    Returns:
        A schema of the 2020-12 dialect; dataclasses that it mentions stand once each, under ``$defs``.

    Raises:
        TypeError: A field has a type without a JSON form.
    """
    definitions: dict[str, Any] = {}
    body = _object_schema(result_type, definitions)
    if issubclass(result_type, VerbResult):
        body["properties"] = {
            "suanpei_version": {"type": "string"},
            "schema_version": {"const": SCHEMA_VERSION},
            **body["properties"],
        }
        body["required"] = ["suanpei_version", "schema_version", *body["required"]]
    schema = {"$schema": DIALECT, **body, "title": name}
    if definitions:
        schema["$defs"] = definitions
    return schema


def _object_schema(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = _resolve_hints(kind)
    descriptions = _field_descriptions(kind)
    properties: dict[str, Any] = {}
    bare = states_currency(kind)
    for item in fields(kind):
        name = json_name(item)
        if name is not None:
            hint = _without_currency(hints[item.name]) if bare else hints[item.name]
            properties[name] = dict(_type_schema(hint, definitions))
            if item.name in descriptions:
                properties[name]["description"] = descriptions[item.name]
    return {
        "title": kind.__name__,
        "type": "object",
        "description": inspect.getdoc(kind) or "",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _without_currency(hint: Any) -> Any:
    """Put a number in place of money whose currency stands beside it."""
    if hint is Money:
        return Decimal
    if get_origin(hint) in (typing.Union, types.UnionType):
        return typing.Union[tuple(_without_currency(argument) for argument in get_args(hint))]  # noqa: UP007  # of a tuple
    return hint


def _type_schema(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Translate one annotation."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in (Any, object):
        return {}
    if hint in (None, type(None)):
        return {"type": "null"}
    if origin is typing.Annotated:
        return _type_schema(arguments[0], definitions)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_type_schema(argument, definitions) for argument in arguments]}
    if origin is np.ndarray or hint is np.ndarray:
        return {"type": "array"}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _type_schema(arguments[1], definitions)}
    if origin in _SEQUENCES:
        return _sequence_schema(arguments, definitions)
    if isinstance(hint, type):
        return _class_schema(hint, definitions)
    raise TypeError(hint)


def _sequence_schema(arguments: tuple[Any, ...], definitions: dict[str, Any]) -> dict[str, Any]:
    if len(arguments) == 1 or arguments[1:] == (...,):
        return {"type": "array", "items": _type_schema(arguments[0], definitions)}
    items = [_type_schema(argument, definitions) for argument in arguments]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def _class_schema(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    if issubclass(kind, Enum):
        is_integer = issubclass(kind, IntEnum)
        return {"enum": [member.name.lower() if is_integer else member.value for member in kind]}
    if kind is Message or is_dataclass(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = _MESSAGE
            if kind is not Message:
                definitions[kind.__name__] = _object_schema(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    for scalar, schema in _SCALARS:
        if issubclass(kind, scalar):
            return schema
    raise TypeError(kind)


def _resolve_hints(kind: type) -> dict[str, Any]:
    """Evaluate the annotations of a dataclass and its bases, each in its own module."""
    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if is_dataclass(base):
            module = sys.modules[base.__module__]
            names = {**vars(module), **_type_checking_names(module)}
            for name, annotation in inspect.get_annotations(base).items():
                hints[name] = eval(annotation, names) if isinstance(annotation, str) else annotation  # noqa: S307  # our own source
    return hints


@cache
def _type_checking_names(module: types.ModuleType) -> dict[str, Any]:
    """Run the blocks of a module that stand under ``if TYPE_CHECKING``, and give the names they make."""
    names: dict[str, Any] = dict(vars(module))
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            exec(compile(ast.Module(body=node.body, type_ignores=[]), module.__name__, "exec"), names)  # noqa: S102  # our own source
    return names


@cache
def _field_descriptions(kind: type) -> dict[str, str]:
    """Read the docstrings that stand under the fields of a class and its bases."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if not is_dataclass(base):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        if not isinstance(body, ast.ClassDef):
            continue
        for node, after in zip(body.body, body.body[1:], strict=False):
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
                and isinstance(after.value.value, str)
            ):
                found[node.target.id] = inspect.cleandoc(after.value.value)
    return found

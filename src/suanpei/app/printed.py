"""Results that print themselves: in a console as the command line prints them, in a notebook as HTML.

A result of a verb knows no language and no layout. Here it becomes an object of the same type that also knows how it is
rendered: a subclass without fields of its own, equal in everything else.
"""

from __future__ import annotations

import importlib
import io
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from suanpei.report.locale import resolve_language

if TYPE_CHECKING:
    from collections.abc import Callable

    from suanpei.verbs.envelope import VerbResult

ResultT = TypeVar("ResultT", bound="VerbResult")

WIDTH = 120
"""Columns of a printed result."""

_HTML = '<pre style="white-space:pre;overflow-x:auto;line-height:1.3;font-family:monospace">{code}</pre>'


def print_well(result: ResultT, module: str, function: str) -> ResultT:
    """Give a verb's result the text of its command line.

    Args:
        result: What the verb returned. [-]
        module: Module of ``report.text`` that renders it. [-]
        function: The function in it. [-]

    Returns:
        The same result, of a subclass that prints itself in the reader's language.
    """
    kind: Any = type(result)
    printed = object.__new__(_printed_type(kind, module, function))
    printed.__dict__.update(vars(result))
    return cast("ResultT", printed)


@cache
def _printed_type(kind: type[Any], module: str, function: str) -> type[Any]:
    def render(result: VerbResult) -> Any:
        text: Callable[..., Any] = getattr(importlib.import_module(f"suanpei.report.text.{module}"), function)
        return text(result, resolve_language(None))

    body = {
        "__doc__": kind.__doc__,
        "__module__": kind.__module__,
        "__repr__": lambda result: _to_text(render(result)),
        "__str__": lambda result: _to_text(render(result)),
        "_repr_html_": lambda result: _to_html(render(result)),
    }
    return type(kind.__name__, (kind,), body)


def _to_text(content: Any) -> str:
    from rich.console import Console

    stream = io.StringIO()
    Console(file=stream, width=WIDTH, highlight=False, color_system=None).print(content)
    return stream.getvalue().rstrip("\n")


def _to_html(content: Any) -> str:
    from rich.console import Console

    console = Console(file=io.StringIO(), width=WIDTH, highlight=False, record=True, color_system="truecolor")
    console.print(content)
    return console.export_html(inline_styles=True, code_format=_HTML)

"""Suanpei (算配): rent exactly the GPU compute that a training job needs.

The verbs of the command line are functions here, with the same options as keyword arguments and the same text as
values; what they return prints itself, in a notebook too::

    import suanpei

    suanpei.plan("llama-3-8b", tokens="20B", deadline="20d")
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_VERBS = (
    "compare",
    "count",
    "estimate",
    "fit",
    "gpus",
    "mix",
    "models",
    "plan",
    "quotes",
    "rfq",
    "sizes",
    "tokens",
    "validate",
)
"""Functions of the Python interface, loaded when one is asked for."""

__all__ = ["__version__", *_VERBS]  # noqa: PLE0604  # literals


def __getattr__(name: str) -> Any:
    if name in _VERBS:
        return getattr(importlib.import_module("suanpei.app.python"), name)
    message = f"module 'suanpei' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *_VERBS})

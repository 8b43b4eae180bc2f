"""How elements of a page are shown: struck out, invisible, or taken off it."""

from __future__ import annotations

import re
from typing import Any

_STRUCK = frozenset(("del", "s", "strike"))
_STRUCK_STYLE = re.compile(r"line-through", re.IGNORECASE)
_REMOVED = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_INVISIBLE = re.compile(r"visibility\s*:\s*hidden", re.IGNORECASE)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_CLASS = re.compile(r"\s*\w*\.([\w-]+)\s*")
"""A selector of one class alone, as spreadsheets write it for a saved cell: ``.xl65``."""


def is_removed(element: Any) -> bool:
    """Whether an element takes no place on the page."""
    return element.get("hidden") is not None or _REMOVED.search(element.get("style") or "") is not None


def is_invisible(element: Any) -> bool:
    """Whether an element takes its place on the page and is not seen."""
    return _INVISIBLE.search(element.get("style") or "") is not None


def is_struck(element: Any, classes: frozenset[str]) -> bool:
    """Whether an element is struck out, by its kind, its style or one of some classes."""
    if element.tag in _STRUCK or _STRUCK_STYLE.search(element.get("style") or ""):
        return True
    return not classes.isdisjoint((element.get("class") or "").split())


def find_struck_classes(root: Any) -> frozenset[str]:
    """Find the classes that the style sheets in a page strike out."""
    rules = (rule for sheet in root.iter("style") for rule in _RULE.findall(sheet.text or ""))
    selectors = (one for names, style in rules if _STRUCK_STYLE.search(style) for one in names.split(","))
    return frozenset(found[1] for found in map(_CLASS.fullmatch, selectors) if found is not None)

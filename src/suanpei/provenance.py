"""Where a number comes from: source, date, confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The origin of one catalogue row."""

    source: str
    """Document, repository or page that printed the number."""
    as_of: str | None = None
    """ISO date of the row, else of its table; None is unknown."""
    as_of_is_table: bool = False
    """Whether `as_of` is the table's date because the row has none."""
    confidence: Confidence | None = None
    """As the catalogue rates it; None is unknown."""
    note: str = ""

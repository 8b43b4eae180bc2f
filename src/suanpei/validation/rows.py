"""Rows of a measurement file: cells as text, numbers and counts, a blank being unknown."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


LARGEST_NUMBER = 1e15
"""Above anything that a measurement file holds."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measured configuration as its source published it."""

    cells: Mapping[str, str]
    """Text by column; a blank is unknown, never zero."""

    @property
    def case_id(self) -> str:
        """Identifier of the row, unique in its file."""
        return self.cells["case_id"]

    @property
    def source(self) -> str:
        """What the row's number was published by: the prefix of its identifier; vTrain's two files are one source."""
        prefix = self.case_id.rsplit("-", 1)[0]
        return "vtrain" if prefix == "vtrainsingle" else prefix

    def text(self, column: str) -> str:
        """Give a cell's text; blank where the column is absent or unknown."""
        return (self.cells.get(column) or "").strip()

    def number(self, column: str) -> float | None:
        """Give a cell as a number; None is unknown.

        Raises:
            InputError: The cell holds something else, or what no measurement gives.
        """
        text = self.text(column)
        if not text:
            return None
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not 0 <= number <= LARGEST_NUMBER:
            raise InputError(
                Message("{column} must be a number of at least 0 or blank, got {given}", column=column, given=text)
            )
        return number

    def count(self, column: str) -> int | None:
        """Give a cell as a whole number; None is unknown.

        Raises:
            InputError: The cell holds something else.
        """
        number = self.number(column)
        if number is None:
            return None
        if number != int(number):
            raise InputError(Message("{column} must be a whole number, got {given}", column=column, given=number))
        return int(number)

    def need_count(self, column: str) -> int:
        """Give a cell as a whole number of at least one.

        Raises:
            InputError: The cell is blank, not a whole number or below one.
        """
        count = self.count(column)
        if count is None:
            raise InputError(Message("not published: {column}", column=column))
        if count < 1:
            raise InputError(
                Message("{column} must be at least {least}, got {given}", column=column, least=1, given=count)
            )
        return count


def read_rows(path: Path) -> tuple[Row, ...]:
    """Read all rows of a CSV file in UTF-8, with or without a byte order mark.

    Raises:
        InputError: The file cannot be read, is empty, or has no column ``case_id``.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            rows = [Row(cells={name: cell or "" for name, cell in cells.items() if name}) for cells in reader]
            header = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            Message("{path} cannot be read as CSV: {reason}", path=str(path), reason=str(error))
        ) from error
    if "case_id" not in header:
        raise InputError(
            Message("{path} is no measurement file: it has no column {column}", path=str(path), column="case_id")
        )
    seen: set[str] = set()
    for row in rows:
        if not row.case_id or row.case_id in seen:
            raise InputError(
                Message("{path}: case_id must be present and unique, got {given!r}", path=str(path), given=row.case_id)
            )
        seen.add(row.case_id)
    return tuple(rows)

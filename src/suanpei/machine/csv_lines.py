"""Lines of a CSV file, those that are no CSV told apart."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def iterate_lines(
    reader: Any,  # csv names no type
    file: str,
    leave: Callable[[int, InputError], None] | None,
) -> Iterator[tuple[int, list[str]]]:
    """Give the lines that hold a cell; one that is no CSV is left only where it swallows no other."""
    while True:
        before = reader.line_num
        try:
            cells = next(reader, None)
        except csv.Error as error:
            bad = InputError(
                Message("{file}, line {line}: not valid CSV: {why}", file=file, line=reader.line_num, why=str(error))
            )
            if leave is None or not before or reader.line_num > before + 1:
                raise bad from error
            leave(reader.line_num, bad)
            continue
        if cells is None:
            return
        stripped = list(map(str.strip, cells))
        if any(stripped):
            yield reader.line_num, stripped

"""Offers from a user's CSV file: the columns of ``offers_cn.csv`` and ``count``, the cards on hand in one fabric.

Must be given: ``provider``, ``gpu``, ``price_per_hour`` (per card), ``currency`` and ``count``. What else is blank is
unknown, and becomes an assumption or a question on the offer. Charges beside the price and payments ahead have columns
of their own (`market.charge_cells`).
"""

from __future__ import annotations

import codecs
import csv
from typing import TYPE_CHECKING, NamedTuple

from suanpei.errors import InputError
from suanpei.machine.table import DELIMITERS, read_text, refuse_unreadable, split_cells
from suanpei.market.charge_cells import CHARGE_COLUMNS
from suanpei.market.offer_reader import OfferReader
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from suanpei.market.offer import Offer

REQUIRED_COLUMNS = ("provider", "gpu", "price_per_hour", "currency", "count")
COLUMNS = (
    *("provider", "region", "gpu", "gpu_name_as_listed", "gpu_count", "price_per_hour", "currency", "pricing", "date"),
    *("source", "confidence", "note", "term", "node_or_card", "tax", "links", "tier", "count"),
    *CHARGE_COLUMNS,
)

_HEAD_BYTES = 65_536
"""Enough of a file to hold its header. [B]"""


def is_own_format(path: Path) -> bool:
    """Tell whether a file is a CSV with every column that this module needs.

    Raises:
        InputError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise refuse_unreadable(path, error) from error
    is_utf16 = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = head.decode("utf-16" if is_utf16 else "utf-8-sig", errors="ignore")  # the names looked for are ASCII
    line = text.lstrip().partition("\n")[0].strip()
    try:
        headers = [next(csv.reader([line], delimiter=delimiter), []) for delimiter in DELIMITERS]
    except csv.Error:  # no text at all
        return False
    return any({cell.strip().casefold() for cell in cells} >= set(REQUIRED_COLUMNS) for cells in headers)


class OfferLine(NamedTuple):
    """One line of a file of offers."""

    number: int
    """As a person counts, from 1. [-]"""
    cells: list[str]
    offer: Offer


def read_offer_lines(
    path: Path,
    resolve_name: Callable[[str], str],
    leave: Callable[[int, InputError], None] | None = None,
) -> tuple[list[str], list[OfferLine]]:
    """Read a file of offers with the place of each.

    UTF-8 with or without a mark, or GBK; commas, semicolons or tabs. An offer that names no links is to be planned at
    its worst reading: the question stands in its `questions`.

    Args:
        path: The CSV file. [-]
        resolve_name: Turns a seller's name of a card into the catalogue's, or raises `InputError`. [-]
        leave: Takes the number of a bad line and what is wrong with it, and the others are read; None raises it. [-]

    Returns:
        The header, and the lines in file order.

    Raises:
        InputError: The file cannot be read, has no header or no offer, or lacks a column; without `leave` also a bad
            cell (file, line and column are named).
    """
    header, lines = split_cells(read_text(path), str(path), known=COLUMNS, required=REQUIRED_COLUMNS, leave=leave)
    read = OfferReader(str(path), header, resolve_name).read
    is_empty = True
    found: list[OfferLine] = []
    for number, cells in lines:
        is_empty = False
        try:
            found.append(OfferLine(number, cells, read(number, cells)))
        except InputError as error:
            if leave is None:
                raise
            leave(number, error)
    if is_empty:
        raise InputError(Message("{file} holds no offer: a header and at least one line are needed", file=str(path)))
    return header, found

"""SkyPilot's catalogue of cloud instances: a CSV file per cloud, known by its header.

A row is an instance type in one zone, its price per hour and the price of the same as spot. Rows without an accelerator
(hosts) and with a part of one are counted as not read; rows of an accelerator without an instance (Google's) price the
card without its machine. Rows that differ only in the zone are one offer.

References:
    Columns as of the files ``catalogs/v5`` to ``v8`` of the repository skypilot-org/skypilot-catalog.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import PurePath
from typing import TYPE_CHECKING

from suanpei.market.quotes.clouds.instances import MOST_INSTANCE_GPUS, Instance, InstanceReader
from suanpei.market.quotes.document import Unread, name_cell
from suanpei.market.quotes.quoted import Place, Quotes
from suanpei.messages import Message
from suanpei.units import GIB_BYTES, MIB_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.market.quotes.context import QuoteContext
    from suanpei.market.quotes.document import Document, Line, Sheet

REQUIRED = frozenset({"InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region"})
PRICE_COLUMNS = (("Price", False), ("SpotPrice", True))
"""Column, and whether its machines may be taken back."""
FILES_OF_A_FOLDER = frozenset({"vms", "instances", "catalog"})
"""File names that say nothing of the cloud, whose folder does."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE]-?\d+)?")
_MEMORY = re.compile(r"SizeInMiB'?\"?\s*:\s*(\d+(?:\.\d+)?)")
_NAME = re.compile(r"'Name'\s*:\s*'([^']*)'")
_LEAST_MIB = 1000.0
"""Below this a size "in MiB" is one in GiB: RunPod's rows write 80 for 80 GiB."""


def is_skypilot(document: Document) -> bool:
    """Tell whether a file is a catalogue of SkyPilot, by its header."""
    return len(document.sheets) == 1 and _header(document.sheets[0]) is not None


def read_skypilot(document: Document, context: QuoteContext) -> Quotes:
    """Read a catalogue of SkyPilot.

    Args:
        document: A file for which `is_skypilot` holds. [-]
        context: Catalogue, exchange rates and currency of the result. [-]

    Returns:
        An offer per instance type, region, price and way of paying; nobody is to be asked, the prices are a list.
    """
    (sheet,) = document.sheets
    header = _header(sheet) or {}
    table = _Table(document.file, sheet.name, header, name_cloud(document.file))
    for line in sheet.lines[1:]:
        table.add(line)
    reader = InstanceReader(context)
    offers = tuple(reader.read(instance) for instance in table.instances())
    said = Message(
        "{file} is read as a catalogue of SkyPilot: list prices of whole instances in dollars; the seller, {seller}, "
        "is taken from the name of the file or its folder; zones of one region at one price are one offer",
        file=document.file,
        seller=table.seller,
    )
    return Quotes(
        offers=offers,
        questions=(),
        unread=(*document.unread, *table.unread()),
        assumptions=(said, *reader.assumptions),
    )


def name_cloud(file: str) -> str:
    """Name the cloud of a catalogue file: ``aws`` of ``catalogs/v8/aws/vms.csv`` and of ``aws.csv``."""
    path = PurePath(file.replace("\\", "/"))
    return path.parent.name if path.stem.casefold() in FILES_OF_A_FOLDER and path.parent.name else path.stem


def _header(sheet: Sheet) -> Mapping[str, int] | None:
    """Give the place of each column; None where the first line is no header of SkyPilot."""
    if not sheet.lines:
        return None
    header = {cell: place for place, cell in enumerate(sheet.lines[0].cells)}
    return header if header.keys() >= REQUIRED else None


@dataclass(frozen=True, kw_only=True)
class _Row:
    """The first row of some that differ in the zone."""

    line: Line
    price: Fraction
    column: str
    is_spot: bool
    gpus: int


class _Table:
    """Collects the rows of one file."""

    def __init__(self, file: str, sheet: str | None, header: Mapping[str, int], seller: str) -> None:
        self.file = file
        self.sheet = sheet
        self.header = header
        self.seller = seller
        self.rows: dict[tuple[str, ...], _Row] = {}
        self.zones: dict[tuple[str, ...], list[str]] = {}
        self.skipped: dict[Message, list[int]] = {}

    def add(self, line: Line) -> None:
        """Take a row: an offer on demand, one as spot, or the reason why it is neither."""
        card, counted = self._cell(line, "AcceleratorName"), self._cell(line, "AcceleratorCount")
        if not card:
            self._skip(Message("no accelerator: a machine without cards"), line)
            return
        gpus = _number(counted)
        if gpus is None or gpus.denominator != 1 or not 1 <= gpus <= MOST_INSTANCE_GPUS:
            self._skip(Message("no whole number of cards from 1 to {most}", most=MOST_INSTANCE_GPUS), line)
            return
        priced = False
        for column, is_spot in PRICE_COLUMNS:
            price = _number(self._cell(line, column))
            if price:
                priced = True
                row = _Row(line=line, price=price, column=column, is_spot=is_spot, gpus=int(gpus))
                instance, region = self._cell(line, "InstanceType"), self._cell(line, "Region")
                key = (instance, card, counted, region, column, str(price))
                self.rows.setdefault(key, row)
                if zone := self._cell(line, "AvailabilityZone"):
                    self.zones.setdefault(key, []).append(zone)
        if not priced:
            self._skip(Message("no price"), line)

    def instances(self) -> list[Instance]:
        """Give what was collected, in the order of the file."""
        return [self._instance(row, tuple(self.zones.get(key, ()))) for key, row in self.rows.items()]

    def unread(self) -> tuple[Unread, ...]:
        """Give the rows that were left out, one entry per reason, at the first of them."""
        return tuple(
            Unread(
                file=self.file,
                cell=name_cell(self.sheet, rows[0]),
                reason=Message("{reason} ({count} rows, this the first)", count=f"{len(rows):,}", reason=reason),
            )
            for reason, rows in self.skipped.items()
        )

    def _instance(self, row: _Row, zones: tuple[str, ...]) -> Instance:
        line, info = row.line, self._cell(row.line, "GpuInfo")
        name = self._cell(line, "InstanceType")
        described = _NAME.search(info)
        return Instance(
            source=Place(
                file=self.file,
                sheet=self.sheet,
                row=line.row,
                cell=name_cell(self.sheet, line.row, self.header[row.column]),
            ),
            seller=self.seller,
            name=name,
            zones=zones,
            card=self._cell(line, "AcceleratorName"),
            hints=f"{name} {described[1] if described else ''}".replace("_", " "),
            memory_bytes=_memory_bytes(info, row.gpus),
            gpus=row.gpus,
            price=row.price,
            price_as_written=self._cell(line, row.column),
            is_spot=row.is_spot,
            region=self._cell(line, "Region").strip(" ,"),
        )

    def _skip(self, reason: Message, line: Line) -> None:
        self.skipped.setdefault(reason, []).append(line.row)

    def _cell(self, line: Line, column: str) -> str:
        place = self.header.get(column)
        return line.cells[place].strip() if place is not None and place < len(line.cells) else ""


def _memory_bytes(info: str, gpus: int) -> tuple[float, ...]:
    """Read what one card may hold: some clouds' rows state the memory of one card, others that of all."""
    stated = _MEMORY.search(info)
    if stated is None:
        return ()
    size = float(stated[1])
    size_bytes = size * (GIB_BYTES if size < _LEAST_MIB else MIB_BYTES)
    return tuple(dict.fromkeys((size_bytes, size_bytes / gpus)))


def _number(text: str) -> Fraction | None:
    return Fraction(text) if _NUMBER.fullmatch(text) else None

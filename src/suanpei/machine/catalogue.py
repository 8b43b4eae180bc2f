"""The facts catalogue: bundled tables, overlaid by the user's own files of the same names.

A table is read when it is asked for and kept. Cells stay text until a reader names the type it wants, so that a
malformed cell is reported with its file, line and column. Bandwidth columns are in gigabytes per second
(1 GB = 1e9 B), which their names say as ``gb_per_s``; files that spell them ``gbps`` are read the same.
"""

from __future__ import annotations

import csv
import io
import math
import tomllib
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any, cast

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.provenance import Provenance

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from suanpei.provenance import Confidence

ENCODINGS = ("utf-8-sig", "gb18030")
"""Tried in this order: UTF-8 with or without a mark, then what Chinese Windows writes."""
UNDATED = ("", "undated")


@dataclass(frozen=True, kw_only=True, eq=False)
class Row:
    """One row of a table, with the place it was read from."""

    file: str
    line: int
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        """Give a cell as written, without surrounding space; a blank or absent one is the empty string."""
        return self.cells.get(column, "")

    def required(self, column: str) -> str:
        """Give a cell that must not be blank.

        Raises:
            InputError: The cell is blank or its column absent.
        """
        if text := self.text(column):
            return text
        raise InputError(
            Message("{file}, line {line}: column {column} is blank and must be given", **self._place(column))
        )

    def number(self, column: str) -> float | None:
        """Give a cell as a finite number of at least zero; None where it is blank.

        Raises:
            InputError: The cell is no such number.
        """
        text = self.text(column)
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value) and value >= 0:
            return value
        raise InputError(
            Message(
                "{file}, line {line}: column {column} must be a number of at least 0, got {given}",
                **self._place(column),
                given=text,
            )
        )

    def one_of(self, column: str, allowed: tuple[str, ...]) -> str:
        """Give a cell that must be one of `allowed` or blank.

        Raises:
            InputError: It is neither.
        """
        text = self.text(column)
        if text and text not in allowed:
            raise InputError(
                Message(
                    "{file}, line {line}: column {column} takes {allowed}, got {given}",
                    **self._place(column),
                    allowed=", ".join(allowed),
                    given=text,
                )
            )
        return text

    def provenance(self, as_of: str | None, date_column: str = "") -> Provenance:
        """Give the origin of the row; `as_of` is the date of its table, used where the row has none."""
        confidence = self.one_of("confidence", ("high", "medium", "low", "unstated"))
        date = self.text(date_column) if date_column else ""
        known = cast("Confidence", confidence) if confidence in ("high", "medium", "low") else None
        return Provenance(
            source=self.text("source"),
            as_of=as_of if date in UNDATED else date,
            as_of_is_table=date in UNDATED,
            confidence=known,
            note=self.text("note"),
        )

    def _place(self, column: str) -> dict[str, Any]:
        return {"file": self.file, "line": self.line, "column": column}


@dataclass(frozen=True, kw_only=True, eq=False)
class Catalogue:
    """The bundled facts under a user's own; tables are read on first use."""

    overlay: Path | None = None
    """Folder of the user's own tables; None is the bundled catalogue alone."""

    @cached_property
    def index(self) -> Mapping[str, Any]:
        """What is known of the tables themselves: dates, key columns, column spellings."""
        return _parse_toml(_bundled("tables.toml"), "tables.toml")

    @property
    def catalog_date(self) -> str:
        """ISO date of the latest price reading."""
        return str(self.index["catalog_date"])

    def as_of(self, name: str) -> str:
        """Give the ISO date of a table, for rows without their own."""
        return str(self.index["tables"][name]["as_of"])

    def table(self, name: str) -> tuple[Row, ...]:
        """Give the rows of a table, the overlay's applied.

        A row of the overlay with the key of a bundled row overrides the cells that it fills; others are added.

        Args:
            name: File name without ``.csv``. [-]

        Raises:
            InputError: A file of the overlay cannot be read, has an unknown column, a row of wrong length or no key.
        """
        if name not in self._tables:
            rows = _read_csv(_bundled(f"{name}.csv"), f"{name}.csv", {})
            path = self.overlay / f"{name}.csv" if self.overlay else None
            if path is not None and path.is_file():
                columns = tuple(rows[0].cells) if rows else ()
                own = _read_csv(_read_file(path), str(path), self.index["column_aliases"], columns)
                rows = _overlaid(rows, own, tuple(self.index["tables"][name]["key"]))
            self._tables[name] = tuple(rows)
        return self._tables[name]

    def toml(self, name: str) -> Mapping[str, Any]:
        """Give a nested data file; the overlay's file of that name stands for the whole bundled one.

        Args:
            name: File name without ``.toml``. [-]

        Raises:
            InputError: The overlay's file cannot be read or is not TOML.
        """
        path = self.overlay / f"{name}.toml" if self.overlay else None
        if path is not None and path.is_file():
            return _parse_toml(_read_file(path), str(path))
        return _parse_toml(_bundled(f"{name}.toml"), f"{name}.toml")

    @cached_property
    def generations(self) -> Mapping[str, Any]:
        """What follows from an architecture: ``generations.toml``."""
        return self.toml("generations")

    @cached_property
    def links(self) -> Mapping[str, Any]:
        """How fabrics behave in collectives: ``links.toml``."""
        return self.toml("links")

    @cached_property
    def _tables(self) -> dict[str, tuple[Row, ...]]:
        return {}


def load_catalogue(overlay: Path | None = None) -> Catalogue:
    """Open the bundled catalogue, with a folder of the user's own tables over it.

    Args:
        overlay: Folder with any of the bundled files' names; None for none. [-]

    Raises:
        InputError: The folder does not exist, or holds no file that the catalogue knows.
    """
    catalogue = Catalogue(overlay=overlay)
    if overlay is None:
        return catalogue
    if not overlay.is_dir():
        raise InputError(Message("--catalog takes a folder, and {given} is none", given=str(overlay)))
    known = {f"{name}.csv" for name in catalogue.index["tables"]} | {
        "calibration.toml",
        "generations.toml",
        "links.toml",
        "recipes.toml",
    }
    if not any((overlay / name).is_file() for name in known):
        raise InputError(
            Message(
                "--catalog {given} holds none of the files that can be overlaid: {known}",
                given=str(overlay),
                known=", ".join(sorted(known)),
            )
        )
    return catalogue


def decode_text(data: bytes, file: str) -> str:
    """Decode a user's text file: UTF-8, with a byte-order mark or without, else GBK.

    Raises:
        InputError: It is neither.
    """
    for encoding in ENCODINGS:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InputError(Message("{file} is neither UTF-8 nor GBK text", file=file))


def _bundled(name: str) -> str:
    return resources.files("suanpei").joinpath("catalog", name).read_text(encoding="utf-8")


def _read_file(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(Message("{file} cannot be read: {why}", file=str(path), why=str(error.strerror))) from error
    return decode_text(data, str(path))


def _parse_toml(text: str, file: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(Message("{file} is not valid TOML: {why}", file=file, why=str(error))) from error


def _read_csv(text: str, file: str, aliases: Mapping[str, str], known: tuple[str, ...] = ()) -> list[Row]:
    reader = csv.reader(io.StringIO(text), strict=True)
    rows: list[Row] = []
    header: list[str] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = _checked_header([aliases.get(cell.strip(), cell.strip()) for cell in cells], file, known)
                continue
            if len(cells) != len(header):
                raise InputError(
                    Message(
                        "{file}, line {line}: {given} cells where the header has {expected}",
                        file=file,
                        line=reader.line_num,
                        given=len(cells),
                        expected=len(header),
                    )
                )
            values = {column: cell.strip() for column, cell in zip(header, cells, strict=True)}
            rows.append(Row(file=file, line=reader.line_num, cells=values))
    except csv.Error as error:
        raise InputError(
            Message("{file}, line {line}: not valid CSV: {why}", file=file, line=reader.line_num, why=str(error))
        ) from error
    return rows


def _checked_header(header: list[str], file: str, known: tuple[str, ...]) -> list[str]:
    for column in header:
        if (known and column not in known) or header.count(column) > 1:
            raise InputError(
                Message(
                    "{file}: the header has an unknown or repeated column {column}; it takes {known}",
                    file=file,
                    column=column,
                    known=", ".join(known or header),
                )
            )
    return header


def _overlaid(bundled: list[Row], own: list[Row], key: tuple[str, ...]) -> list[Row]:
    """Put a user's rows over the bundled ones, by key; blank cells of theirs leave the bundled value."""
    if not key:
        return [*bundled, *own]
    merged = {tuple(row.text(column) for column in key): row for row in bundled}
    for row in own:
        name = tuple(row.required(column) for column in key)
        if name in merged:
            filled = {column: cell for column, cell in row.cells.items() if cell}
            row = Row(file=row.file, line=row.line, cells={**merged[name].cells, **filled})
        merged[name] = row
    return list(merged.values())

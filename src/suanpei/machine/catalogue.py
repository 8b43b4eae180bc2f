"""The facts catalogue: bundled tables, overlaid by the user's own files of the same names.

A table is read when it is asked for and kept. Bandwidth columns are in gigabytes per second (1 GB = 1e9 B), which
their names say as ``gb_per_s``; files that spell them ``gbps`` are read the same.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.machine.table import Row, read_rows, read_text
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

WHOLE_FILES = ("generations", "links", "quote_words")
"""Nested files whose every first key is read; the others are checked where they are read."""
DEEP_FILES = ("acceptance", "rfq_form")
"""Nested files whose every key, however deep, is read."""
MOST_DEPTH = 10
"""Of nested files. [levels]"""


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
            rows = read_rows(_bundled(f"{name}.csv"), f"{name}.csv")
            path = self.overlay / f"{name}.csv" if self.overlay else None
            if path is not None and path.is_file():
                columns = tuple(rows[0].cells) if rows else ()
                own = read_rows(read_text(path), str(path), known=columns, aliases=self.index["column_aliases"])
                rows = _overlaid(rows, own, tuple(self.index["tables"][name]["key"]))
            self._tables[name] = tuple(rows)
        return self._tables[name]

    def toml(self, name: str) -> Mapping[str, Any]:
        """Give a nested data file; the overlay's file of that name stands for the whole bundled one.

        Args:
            name: File name without ``.toml``. [-]

        Raises:
            InputError: The overlay's file cannot be read, is not TOML, or lacks what the bundled one has.
        """
        path = self.overlay / f"{name}.toml" if self.overlay else None
        bundled = _parse_toml(_bundled(f"{name}.toml"), f"{name}.toml")
        if path is None or not path.is_file():
            return bundled
        own = _parse_toml(read_text(path), str(path))
        depth = 1 if name in WHOLE_FILES else MOST_DEPTH if name in DEEP_FILES else 0
        missing = next(_list_missing(own, bundled, depth), None)
        if missing is not None:
            raise InputError(
                Message(
                    "{file}: {key} is missing or of another kind; the file stands for the whole bundled one",
                    file=str(path),
                    key=missing,
                )
            )
        return own

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


def _list_missing(own: Mapping[str, Any], bundled: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Give the keys of a bundled file, to a depth, that a user's own lacks or has of another kind."""
    if depth == 0:
        return
    for key, value in bundled.items():
        kind = (int, float) if isinstance(value, int | float) else type(value)
        if not isinstance(own.get(key), kind):
            yield key
        elif isinstance(value, dict):
            yield from (f"{key}.{inner}" for inner in _list_missing(own[key], value, depth - 1))


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
        "acceptance.toml",
        "calibration.toml",
        "generations.toml",
        "links.toml",
        "quote_words.toml",
        "recipes.toml",
        "rfq_form.toml",
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


def _bundled(name: str) -> str:
    return resources.files("suanpei").joinpath("catalog", name).read_text(encoding="utf-8")


def _parse_toml(text: str, file: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(Message("{file} is not valid TOML: {why}", file=file, why=str(error))) from error


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

"""Workbooks and documents as what they are: zip archives of XML parts that refer to each other.

They are read here part by part rather than through a library of objects: a sheet of 50,000 rows takes a fifth of the
time, and values, formulas, formats, merged ranges and hidden rows come out of one pass.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from suanpei.errors import InputError, MissingExtraError
from suanpei.market.quotes.files.limits import MOST_TREE_BYTES, MOST_UNPACKED_BYTES
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

OFFICE_DOCUMENT = "officeDocument"


class Package:
    """The parts of a workbook or document, by name."""

    def __init__(self, data: bytes, file: str) -> None:
        """Open the archive.

        Raises:
            InputError: It is damaged, encrypted, or would unpack to more than is read.
            MissingExtraError: lxml is not installed.
        """
        try:
            import lxml.etree
        except ImportError as error:
            raise MissingExtraError(package="lxml", extra="report") from error
        self._etree: Any = lxml.etree
        self.file = file
        with self._translated():
            self._archive = zipfile.ZipFile(io.BytesIO(data))
            entries = self._archive.infolist()
        if any(entry.flag_bits & 1 for entry in entries):
            raise InputError(Message("{file} is encrypted; save it without a password", file=file))
        if sum(entry.file_size for entry in entries) > MOST_UNPACKED_BYTES:
            raise InputError(
                Message(
                    "{file} unpacks to more than {most} MiB, which no price list does; it is not read",
                    file=file,
                    most=MOST_UNPACKED_BYTES // 2**20,
                )
            )
        self._entries = {entry.filename.replace("\\", "/").lstrip("/"): entry for entry in entries}

    @property
    def names(self) -> tuple[str, ...]:
        """Of the parts, in the order of the archive."""
        return tuple(self._entries)

    def has(self, name: str) -> bool:
        """Whether there is such a part."""
        return name in self._entries

    def rows(self, name: str, tags: tuple[str, ...]) -> Iterator[Any]:
        """Give the elements of some names, of any namespace, as they end; each is emptied after use."""
        with self._translated(), self._open(name) as stream:
            options = {"resolve_entities": False, "no_network": True, "remove_comments": True, "remove_pis": True}
            for _, element in self._etree.iterparse(stream, tag=tuple(f"{{*}}{tag}" for tag in tags), **options):
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]

    def tree(self, name: str) -> Any:
        """Give a part as a tree.

        Raises:
            InputError: It is absent, damaged, or larger than a tree should be.
        """
        with self._translated(), self._open(name) as stream:
            if self._entries[name].file_size > MOST_TREE_BYTES:
                raise InputError(
                    Message(
                        "{file}: a text of more than {most} MiB is not read; save its table as CSV",
                        file=self.file,
                        most=MOST_TREE_BYTES // 2**20,
                    )
                )
            parser = self._etree.XMLParser(
                resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
            )
            return self._etree.parse(stream, parser).getroot()

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """Give the parts that a part refers to: kind and name by the key of the reference."""
        folder, base = posixpath.split(name)
        relations = posixpath.join(folder, "_rels", f"{base}.rels")
        if not self.has(relations):
            return {}
        found: dict[str, tuple[str, str]] = {}
        for element in self.tree(relations).iter("{*}Relationship"):
            if element.get("TargetMode") == "External":
                continue
            target = element.get("Target") or ""
            path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            kind = (element.get("Type") or "").rpartition("/")[2]
            found[element.get("Id") or ""] = (kind, path)
        return found

    def main_part(self, usual: str) -> str:
        """Name the part that the archive is about.

        Raises:
            InputError: There is none.
        """
        named = [path for kind, path in self.related("").values() if kind == OFFICE_DOCUMENT and self.has(path)]
        if named:
            return named[0]
        if self.has(usual):
            return usual
        raise self.lacks(usual)

    def damaged(self, why: str) -> InputError:
        """Make the error of an archive that cannot be read."""
        return InputError(
            Message("{file} is damaged ({why}); open it, save it again and retry", file=self.file, why=why)
        )

    def lacks(self, part: str) -> InputError:
        """Make the error of an archive without a part, or without what that must hold."""
        return InputError(
            Message(
                "{file} is damaged (nothing in {part}); open it, save it again and retry", file=self.file, part=part
            )
        )

    def _open(self, name: str) -> IO[bytes]:
        if name not in self._entries:
            raise self.lacks(name)
        return self._archive.open(self._entries[name])

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what a damaged archive raises into one error."""
        try:
            yield
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, self._etree.LxmlError) as error:
            raise self.damaged(" ".join(str(error).split()) or type(error).__name__) from error

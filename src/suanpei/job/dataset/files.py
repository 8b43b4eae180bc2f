"""Finding a user's data files and reading their bytes: globs, folders, encodings, formats."""

from __future__ import annotations

import glob
import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, cast

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

DataFormat = Literal["jsonl", "json", "csv", "tsv", "parquet", "text"]

FORMATS: dict[str, DataFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".txt": "text",
    ".text": "text",
    ".md": "text",
}
"""Formats by the end of a file's name; each but parquet may end in ``.gz`` too."""

_GZIP_RATIO = 4.0
"""Guess of how much text a compressed byte holds; it sets the sampling rate only. [-]"""
_PROBE_BYTES = 65_536
_UTF8 = "utf-8"
_GBK = "gb18030"
_NOT_UTF8_TEXT = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-16."""


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file of a data set."""

    path: Path
    format: DataFormat
    is_gzip: bool
    size_bytes: float
    """Bytes of text, estimated where the file is compressed. [B]"""

    @property
    def name(self) -> str:
        """The path as messages show it."""
        return str(self.path)

    def open(self) -> IO[bytes]:
        """Open the content, decompressed."""
        if self.is_gzip:
            return cast("IO[bytes]", gzip.GzipFile(self.path, "rb"))
        return self.path.open("rb")


def find_files(patterns: Sequence[str | Path]) -> tuple[DataFile, ...]:
    """Find the data files that paths, folders and globs stand for, each once, in order of their names.

    Args:
        patterns: Files, folders (searched to any depth for known endings) and globs. [-]

    Returns:
        The files. [-]

    Raises:
        InputError: Nothing matches, a file is empty or absent, or its kind is not known.
    """
    found: dict[Path, DataFile] = {}
    for pattern in patterns:
        for path in _match(Path(pattern)):
            found.setdefault(path.resolve(), _describe(path))
    if not found:
        raise InputError(Message("no file given; it takes {formats} files, folders or globs", formats=_known()))
    return tuple(found.values())


def _known() -> str:
    return ", ".join(FORMATS)


def _match(pattern: Path) -> list[Path]:
    if pattern.is_dir():
        paths = sorted(path for path in pattern.rglob("*") if path.is_file() and _format_of(path) is not None)
        if not paths:
            raise InputError(
                Message("{path}: no data file in this folder; it takes {formats}", path=str(pattern), formats=_known())
            )
        return paths
    if pattern.exists():
        return [pattern]
    paths = sorted(Path(name) for name in glob.glob(str(pattern), recursive=True))  # noqa: PTH207  # absolute too
    paths = [path for path in paths if path.is_file()]
    if not paths:
        raise InputError(Message("{path}: no such file, and no file matches it", path=str(pattern)))
    return paths


def _format_of(path: Path) -> DataFormat | None:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        kind = FORMATS.get(suffixes[-2]) if len(suffixes) > 1 else None
        return None if kind == "parquet" else kind
    return FORMATS.get(suffixes[-1]) if suffixes else None


def _describe(path: Path) -> DataFile:
    kind = _format_of(path)
    if kind is None:
        raise InputError(Message("{file}: unknown kind of file; it takes {formats}", file=str(path), formats=_known()))
    try:
        size_bytes = path.stat().st_size
    except OSError as error:
        raise InputError(
            Message("{file} cannot be read: {reason}", file=str(path), reason=error.strerror or str(error))
        ) from error
    if size_bytes == 0:
        raise InputError(Message("{file}: the file is empty", file=str(path)))
    is_gzip = path.suffix.lower() == ".gz"
    return DataFile(path=path, format=kind, is_gzip=is_gzip, size_bytes=size_bytes * (_GZIP_RATIO if is_gzip else 1.0))


def detect_encoding(file: DataFile) -> str:
    """Tell UTF-8 (with or without a mark) from GBK by the file's beginning. [-]

    GB18030 contains GBK and GB2312, so one decoder reads all three.

    Raises:
        InputError: The file is binary, UTF-16 or neither of the two.
    """
    try:
        with file.open() as stream:
            probe = stream.read(_PROBE_BYTES)
    except (OSError, EOFError) as error:
        raise InputError(Message("{file} cannot be read: {reason}", file=file.name, reason=str(error))) from error
    if probe.startswith(_NOT_UTF8_TEXT):
        raise InputError(Message("{file}: UTF-16 text; save it as UTF-8", file=file.name))
    if b"\x00" in probe:
        raise InputError(Message("{file}: a binary file, not {format} text", file=file.name, format=file.format))
    if _decodes(probe, _UTF8):
        return _UTF8
    if _decodes(probe, _GBK):
        return _GBK
    raise InputError(Message("{file}: neither UTF-8 nor GBK text; save it as UTF-8", file=file.name))


def _decodes(probe: bytes, encoding: str) -> bool:
    """Whether the bytes decode, a character cut at the end aside."""
    for cut in range(4):
        try:
            probe[: len(probe) - cut].decode(encoding)
        except UnicodeDecodeError:
            continue
        return True
    return False


def decode(content: bytes, encoding: str, file: DataFile, line: int) -> str:
    """Decode one line, without a byte order mark. [-]

    Raises:
        InputError: It is no text in the file's encoding.
    """
    try:
        return content.decode(encoding).lstrip("\ufeff")
    except UnicodeDecodeError as error:
        raise InputError(
            Message("{file}, line {line}: not valid {encoding} text", file=file.name, line=line, encoding=encoding)
        ) from error

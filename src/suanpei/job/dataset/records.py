"""Records of data files, in one pass and bounded memory, all of them or a random sample.

A record is kept when a hash of the seed and its number falls below the rate (Bernoulli sampling), so a sample is
reproducible, needs no second pass and cannot fall into step with a pattern in the data. Sizes of all records are summed
exactly on the way; they carry the estimate from the sample to the whole.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from suanpei.errors import InputError
from suanpei.job.dataset.files import DataFile, decode, detect_encoding
from suanpei.job.dataset.layouts import Layout, Turns, detect_layout, read_turns
from suanpei.job.dataset.readers import is_json_lines, read_csv, read_json, read_parquet
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from suanpei.job.dataset.readers import Item

_CHUNK_BYTES = 8 << 20
_WHITE = np.frombuffer(b" \t\r\n\v\f", dtype=np.uint8)
_LARGEST_RECORD_BYTES = 1 << 30


@dataclass(frozen=True, kw_only=True)
class Record:
    """One record that was kept."""

    number: int
    """Its place in the file as a person counts: the line, row or item, from 1."""
    size_bytes: float
    turns: Turns


@dataclass
class FileScan:
    """One pass over one file; the totals are complete when `kept` is exhausted."""

    file: DataFile
    rate: float
    """Share of the records that are kept. [-]"""
    seed: int
    field: str | None
    records: int = 0
    """Records seen, empty lines aside. [-]"""
    size_bytes: float = 0.0
    """Summed size of all records. [B]"""
    read_bytes: int = 0
    """Position in the file, for progress. [B]"""
    encoding: str = "utf-8"
    layout: Layout | None = None
    longest: Record | None = None
    """The largest record by size, kept or not; None where lines are all kept."""
    _longest_bytes: float = 0.0

    def kept(self) -> Iterator[Record]:
        """Yield the records of the sample.

        Raises:
            InputError: The file is malformed; the message names the file and the line.
        """
        kind = self.file.format
        if kind == "parquet":
            yield from self._scan_items(read_parquet(self.file))
            return
        self.encoding = detect_encoding(self.file)
        if kind == "json" and not is_json_lines(self.file):
            yield from self._scan_items(read_json(self.file, self.encoding))
        elif kind in ("csv", "tsv"):
            yield from self._scan_items(read_csv(self.file, self.encoding))
        else:
            yield from self._scan_lines()

    def _scan_items(self, items: Iterator[Item]) -> Iterator[Record]:
        """Keep items whose text must be looked at to know its size."""
        for number, item, self.read_bytes in items:
            record = self._record(number, item, None)
            self.records += 1
            self.size_bytes += record.size_bytes
            if record.size_bytes > self._longest_bytes:
                self._longest_bytes = record.size_bytes
                self.longest = record
            if self.rate >= 1.0 or bool(self._is_kept(np.array([number]))[0]):
                yield record

    def _scan_lines(self) -> Iterator[Record]:
        """Keep lines, whose sizes are known from the line ends alone."""
        longest: tuple[int, bytes] | None = None
        for first_number, block in _read_blocks(self):
            starts, ends = _find_lines(block)
            sizes = ends - starts
            is_record = _find_records(block, starts, ends)
            numbers = first_number + np.arange(len(ends))
            self.records += int(is_record.sum())
            self.size_bytes += float(sizes[is_record].sum())
            record_sizes = np.where(is_record, sizes, 0)
            top = int(np.argmax(record_sizes))
            if self.rate < 1.0 and record_sizes[top] > self._longest_bytes:
                self._longest_bytes = float(record_sizes[top])
                longest = (int(numbers[top]), block[starts[top] : ends[top]])
            is_taken = is_record if self.rate >= 1.0 else is_record & self._is_kept(numbers)
            if self.layout is None and is_record.any():
                first = int(np.flatnonzero(is_record)[0])
                self._record(
                    int(numbers[first]), self._parse(int(numbers[first]), block[starts[first] : ends[first]]), 1
                )
            for index in np.flatnonzero(is_taken):
                line, number = block[starts[index] : ends[index]], int(numbers[index])
                yield self._record(number, self._parse(number, line), float(sizes[index]))
        if longest is not None:
            number, line = longest
            self.longest = self._record(number, self._parse(number, line), float(len(line)))

    def _parse(self, number: int, line: bytes) -> Any:
        text = decode(line, self.encoding, self.file, number)
        if self.file.format == "text":
            return text.rstrip("\r\n")
        try:
            return json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InputError(
                Message(
                    "{file}, line {line}: not valid JSON: {reason}",
                    file=self.file.name,
                    line=number,
                    reason=getattr(error, "msg", "nested too deeply"),
                )
            ) from error

    def _record(self, number: int, item: Any, size_bytes: float | None) -> Record:
        if self.layout is None:
            self.layout = detect_layout(item, self.file.name, None if isinstance(item, str) else self.field)
        if not isinstance(item, str | dict):
            raise InputError(
                Message(
                    "{file}, record {number}: a record must be text or have named fields",
                    file=self.file.name,
                    number=number,
                )
            )
        turns = read_turns(item, self.layout, self.file.name, number)
        if size_bytes is None:
            size_bytes = float(sum(len(text.encode("utf-8", "surrogatepass")) for _, text in turns))
        return Record(number=number, size_bytes=size_bytes, turns=turns)

    def _is_kept(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say which record numbers are in the sample: a hash below the rate."""
        return _hash_fraction(numbers, self.seed, PurePath(self.file.name).name) < self.rate


def _find_lines(block: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the start of each line and the place behind its end. [B]"""
    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")) + 1
    return np.concatenate(([0], ends[:-1])), ends


def _find_records(block: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say which lines hold more than white space."""
    is_record = np.ones(len(starts), dtype=np.bool_)
    suspects = np.flatnonzero(np.isin(np.frombuffer(block, dtype=np.uint8)[starts], _WHITE))
    for index in suspects:
        is_record[index] = bool(block[starts[index] : ends[index]].strip())
    return is_record


def _hash_fraction(numbers: NDArray[np.int64], seed: int, name: str) -> NDArray[np.float64]:
    """Map numbers to [0, 1) evenly: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). [-]"""
    salt = int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    with np.errstate(over="ignore"):
        state = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        state += np.uint64((seed * 0xD1342543DE82EF95 + salt) & 0xFFFFFFFFFFFFFFFF)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((state ^ (state >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) / 2.0**53


def _read_blocks(scan: FileScan) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each ending in a line end, with the number of their first line."""
    number, rest = 1, b""
    try:
        with scan.file.open() as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                scan.read_bytes += len(chunk)
                cut = chunk.rfind(b"\n") + 1
                if cut == 0:
                    rest += chunk
                    if len(rest) > _LARGEST_RECORD_BYTES:
                        raise InputError(
                            Message("{file}, line {line}: longer than 1 GiB", file=scan.file.name, line=number)
                        )
                    continue
                block = rest + chunk[:cut]
                yield number, block
                number += block.count(b"\n")
                rest = chunk[cut:]
    except (OSError, EOFError) as error:
        raise InputError(Message("{file} cannot be read: {reason}", file=scan.file.name, reason=str(error))) from error
    if rest:
        yield number, rest + b"\n"

"""Readers of formats that must be parsed to be divided into records: JSON, CSV, parquet."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError, MissingExtraError
from suanpei.job.dataset.files import DataFile, decode
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator

Item = tuple[int, Any, int]
"""Number of the record from 1, the record, and how far into the file it is. [-, -, B]"""

_LARGEST_JSON_BYTES = 2 << 30
"""A JSON array is read whole; above this it must be JSON lines. [B]"""
_PROBE_BYTES = 8 << 20
_PARQUET_ROWS = 1024
_PARQUET_PACKAGE = "pyarrow"


def is_json_lines(file: DataFile) -> bool:
    """Whether a ``.json`` file really holds one object per line."""
    with file.open() as stream:
        head = stream.read(_PROBE_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n")
    lines = [line for line in head.split(b"\n", 2) if line.strip()]
    if not head.startswith(b"{") or len(lines) < 2 or not lines[1].lstrip().startswith(b"{"):
        return False
    try:
        json.loads(lines[0])
    except ValueError:
        return False
    return True


def read_json(file: DataFile, encoding: str) -> Iterator[Item]:
    """Yield the records of a JSON file: a list, an object that holds one list of records, or a single record.

    Raises:
        InputError: The JSON is malformed, too large to hold, or no list of records.
    """
    if file.size_bytes > _LARGEST_JSON_BYTES:
        raise InputError(
            Message("{file}: a JSON file above 2 GiB must be JSON lines, one record per line", file=file.name)
        )
    with file.open() as stream:
        content = stream.read()
    try:
        parsed = json.loads(decode(content, encoding, file, 1))
    except json.JSONDecodeError as error:
        raise InputError(
            Message(
                "{file}, line {line}: not valid JSON: {reason}", file=file.name, line=error.lineno, reason=error.msg
            )
        ) from error
    except RecursionError as error:
        raise InputError(
            Message("{file}, line {line}: not valid JSON: {reason}", file=file.name, line=1, reason="nested too deeply")
        ) from error
    if isinstance(parsed, dict):
        lists = [value for value in parsed.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
        is_wrapper = len(lists) == 1 and not any(
            isinstance(turn, dict) and ("role" in turn or "from" in turn) for turn in lists[0]
        )
        parsed = lists[0] if is_wrapper else [parsed]
    if not isinstance(parsed, list):
        raise InputError(Message("{file}: expected a list of records", file=file.name))
    for number, item in enumerate(parsed, start=1):
        yield number, item, len(content)


def read_csv(file: DataFile, encoding: str) -> Iterator[Item]:
    """Yield the rows of a CSV or TSV file with a header.

    Raises:
        InputError: A row has not the header's columns, or a quote is never closed.
    """
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    delimiter = "\t" if file.format == "tsv" else ","
    with file.open() as stream, io.TextIOWrapper(stream, encoding=encoding, newline="") as text:
        rows = csv.reader(text, delimiter=delimiter, strict=True)
        header: list[str] | None = None
        try:
            for row in rows:
                position = stream.tell()
                if not any(row):
                    continue
                if header is None:
                    header = [name.lstrip("\ufeff").strip() for name in row]
                    continue
                if len(row) != len(header):
                    raise InputError(
                        Message(
                            "{file}, line {line}: {got} columns where the header has {expected}",
                            file=file.name,
                            line=rows.line_num,
                            got=len(row),
                            expected=len(header),
                        )
                    )
                yield rows.line_num, dict(zip(header, row, strict=True)), position
        except (csv.Error, UnicodeDecodeError) as error:
            raise InputError(
                Message(
                    "{file}, line {line}: not valid CSV: {reason}",
                    file=file.name,
                    line=rows.line_num + 1,
                    reason=str(error),
                )
            ) from error


def read_parquet(file: DataFile) -> Iterator[Item]:
    """Yield the rows of a parquet file.

    Raises:
        InputError: It is no parquet file.
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError(_PARQUET_PACKAGE, "data") from error
    number = 0
    try:
        with pq.ParquetFile(file.path) as parquet:
            total = max(1, parquet.metadata.num_rows)
            for batch in parquet.iter_batches(batch_size=_PARQUET_ROWS):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row, int(file.size_bytes * number / total)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            Message("{file}: not a valid parquet file: {reason}", file=file.name, reason=str(error).split("\n")[0])
        ) from error

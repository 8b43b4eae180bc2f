"""Counting a user's own data: tokens, lengths, packing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suanpei.errors import InputError
from suanpei.job.dataset.files import DataFile, find_files
from suanpei.job.dataset.packing import (
    count_joined_sequences,
    estimate_packed_sequences,
    estimate_padding_fraction,
)
from suanpei.job.dataset.records import FileScan, Record
from suanpei.job.dataset.sampling import Stratum, estimate_total, find_weights, weighted_quantile
from suanpei.job.dataset.stats import DatasetStats, FileCount, HistogramBin, LongestSample, Packing
from suanpei.job.dataset.tokenizing import TokenCounter, load_tokenizer
from suanpei.job.job import TUNING_BATCH_SEQS, TUNING_SEQ_LEN
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

SAMPLE_BYTES = 16e6
"""Text that is tokenized at most unless everything is asked for: some seconds on two cores. [B]"""
_BATCH_RECORDS = 512
_BATCH_BYTES = 4e6


@dataclass(frozen=True, kw_only=True)
class CountRequest:
    """How to count."""

    field: str | None = None
    """Fields that are the text, separated by commas; None detects."""
    exact: bool = False
    """Tokenize everything, however large."""
    sample_bytes: float = SAMPLE_BYTES
    """Text to tokenize where not everything is. [B]"""
    seed: int = 0
    seq_len: int = TUNING_SEQ_LEN
    """Tokens of a training sequence. [tokens]"""
    global_batch_seqs: int = TUNING_BATCH_SEQS
    """Sequences per optimizer step. [-]"""
    micro_batch: int = 4
    """Records padded together where they are not packed. [-]"""


def count_dataset(
    files: Sequence[str | Path],
    tokenizer: Path,
    request: CountRequest | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> DatasetStats:
    """Count the tokens of a data set, all of it or a random sample.

    Args:
        files: Files, folders and globs. [-]
        tokenizer: A ``tokenizer.json``, or its folder. [-]
        request: How to count; None takes the defaults. [-]
        progress: Called with the bytes read and their total. [B]

    Returns:
        Tokens with their error, lengths, packing. [-]

    Raises:
        InputError: No file, a malformed or empty one, no clear text field, no tokenizer.
        MissingExtraError: A parquet file without pyarrow.

    Valid for: records that are independent of each other; a file sorted by length is sampled as well as any other.
    """
    request = request or CountRequest()
    counter = load_tokenizer(tokenizer)
    found = find_files(files)
    total_bytes = sum(file.size_bytes for file in found)
    rate = 1.0 if request.exact or total_bytes <= request.sample_bytes else request.sample_bytes / total_bytes
    counted: list[_Counted] = []
    done_bytes = 0.0
    for file in found:
        before = done_bytes

        def advance(read_bytes: int, start: float = before) -> None:
            if progress is not None:
                progress(int(start + read_bytes), int(total_bytes))

        counted.append(_count_file(file, counter, request, rate, advance))
        done_bytes += file.size_bytes
    return _summarise(counted, counter, request)


@dataclass(frozen=True, kw_only=True)
class _Counted:
    scan: FileScan
    stratum: Stratum
    longest: LongestSample


def _count_file(
    file: DataFile, counter: TokenCounter, request: CountRequest, rate: float, advance: Callable[[int], None]
) -> _Counted:
    scan = FileScan(file=file, rate=rate, seed=request.seed, field=request.field)
    tokens: list[int] = []
    sizes: list[float] = []
    longest = LongestSample(file=file.name, record=0, tokens=-1)
    for batch in _batches(scan.kept()):
        counts = counter.count([counter.write(record.turns) for record in batch])
        tokens += counts
        sizes += [record.size_bytes for record in batch]
        top = int(np.argmax(counts))
        if counts[top] > longest.tokens:
            longest = LongestSample(file=file.name, record=batch[top].number, tokens=counts[top])
        advance(scan.read_bytes)
    if scan.records == 0:
        raise InputError(Message("{file}: no record in it, only empty lines", file=file.name))
    if scan.longest is not None and rate < 1.0:
        count = counter.count([counter.write(scan.longest.turns)])[0]
        if count > longest.tokens:
            longest = LongestSample(file=file.name, record=scan.longest.number, tokens=count)
    stratum = Stratum(
        records=scan.records,
        size_bytes=scan.size_bytes,
        tokens=np.array(tokens, dtype=np.float64),
        sizes_bytes=np.array(sizes, dtype=np.float64),
    )
    return _Counted(scan=scan, stratum=stratum, longest=longest)


def _batches(records: Iterator[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size = 0.0
    for record in records:
        batch.append(record)
        size += record.size_bytes
        if len(batch) >= _BATCH_RECORDS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0.0
    if batch:
        yield batch


def _summarise(counted: Sequence[_Counted], counter: TokenCounter, request: CountRequest) -> DatasetStats:
    strata = [each.stratum for each in counted]
    total = estimate_total(strata)
    lengths = np.concatenate([stratum.tokens for stratum in strata])
    weights = find_weights(strata)
    records = sum(stratum.records for stratum in strata)
    return DatasetStats(
        tokens=total.value,
        low_tokens=total.low,
        high_tokens=total.high,
        is_exact=all(stratum.is_exact for stratum in strata),
        records=records,
        sampled_records=len(lengths),
        text_bytes=sum(stratum.size_bytes for stratum in strata),
        mean_tokens=total.value / records,
        median_tokens=weighted_quantile(lengths, weights, 0.5),
        p90_tokens=weighted_quantile(lengths, weights, 0.9),
        p99_tokens=weighted_quantile(lengths, weights, 0.99),
        longest=max((each.longest for each in counted), key=lambda longest: longest.tokens),
        histogram=build_histogram(lengths, weights),
        packing=_pack(lengths, weights, total.value, records, request),
        files=tuple(_describe_file(each, counted) for each in counted),
        vocab=counter.vocab,
        notes=_collect_notes(counted, counter),
    )


def build_histogram(lengths: FloatArray, weights: FloatArray) -> tuple[HistogramBin, ...]:
    """Count records by length, in bins that double: 0, 1, 2-3, 4-7, … [-]"""
    exponents = np.where(lengths < 1, -1, np.floor(np.log2(np.maximum(lengths, 1)))).astype(int)
    bins = []
    for exponent in range(int(exponents.min(initial=0)), int(exponents.max(initial=0)) + 1):
        low, high = (0, 1) if exponent < 0 else (2**exponent, 2 ** (exponent + 1))
        bins.append(HistogramBin(low_tokens=low, high_tokens=high, records=float(weights[exponents == exponent].sum())))
    while bins and bins[0].records == 0:
        bins.pop(0)
    return tuple(bins)


def _pack(lengths: FloatArray, weights: FloatArray, tokens: float, records: int, request: CountRequest) -> Packing:
    seq_len, batch = request.seq_len, request.global_batch_seqs
    with_separator = lengths + 1
    joined = count_joined_sequences(tokens, records, seq_len)
    cut_tokens = float((np.minimum(lengths, seq_len) * weights).sum())
    weighted = float((lengths * weights).sum())
    kept_share = cut_tokens / weighted if weighted else 1.0
    # the ratio estimate of all tokens is better than the sum over the sample's weights
    scaled = weights * (tokens / weighted if weighted else 1.0)
    packed = estimate_packed_sequences(with_separator, scaled, seq_len) if len(lengths) else joined
    padding = estimate_padding_fraction(lengths, weights, request.micro_batch, seq_len)
    return Packing(
        seq_len=seq_len,
        global_batch_seqs=batch,
        micro_batch=request.micro_batch,
        truncated_records_fraction=float(weights[lengths > seq_len].sum() / weights.sum()) if len(lengths) else 0.0,
        truncated_tokens_fraction=1 - kept_share,
        joined_sequences=joined,
        packed_sequences=packed,
        packed_fill_fraction=min(1.0, (tokens * kept_share + records) / (packed * seq_len)) if packed else 0.0,
        joined_steps=math.ceil(joined / batch),
        packed_steps=math.ceil(packed / batch),
        unpacked_steps=math.ceil(records / batch),
        padding_fraction=padding,
        padding_tokens=tokens * kept_share * padding / (1 - padding),
    )


def _describe_file(counted: _Counted, everything: Sequence[_Counted]) -> FileCount:
    scan, stratum = counted.scan, counted.stratum
    sampled_bytes = float(stratum.sizes_bytes.sum())
    if sampled_bytes:
        ratio = float(stratum.tokens.sum()) / sampled_bytes
    else:
        # nothing of this file was drawn: the ratio of all files stands in
        sampled = sum(float(each.stratum.sizes_bytes.sum()) for each in everything)
        ratio = sum(float(each.stratum.tokens.sum()) for each in everything) / sampled if sampled else 0.0
    return FileCount(
        file=scan.file.name,
        format=scan.file.format,
        encoding="" if scan.file.format == "parquet" else scan.encoding,
        fields=scan.layout.label if scan.layout is not None else "",
        records=scan.records,
        sampled_records=len(stratum.tokens),
        tokens=float(stratum.tokens.sum()) if stratum.is_exact else ratio * stratum.size_bytes,
    )


def _collect_notes(counted: Sequence[_Counted], counter: TokenCounter) -> tuple[Message, ...]:
    notes: list[Message] = []
    layouts = {each.scan.layout for each in counted if each.scan.layout is not None}
    for layout in sorted(layouts, key=lambda each: each.label):
        if layout.label:
            notes.append(Message("counted as text: {fields}", fields=layout.label))
        if layout.left_out:
            notes.append(Message("not counted: {fields}", fields=", ".join(layout.left_out)))
    if any(layout.kind in ("chat", "turns") for layout in layouts):
        notes.append(
            {
                "chatml": Message("turns are written in ChatML, whose marks the tokenizer has"),
                "llama3": Message("turns are written as Llama 3 does, whose marks the tokenizer has"),
                "plain": Message(
                    "the tokenizer has no marks for turns that are known: they are written as plain lines"
                ),
            }[counter.markup]
        )
    if any(each.scan.file.format == "text" for each in counted):
        notes.append(Message("text files: each line is one record"))
    notes += [
        Message("{file} is read as GBK", file=each.scan.file.name)
        for each in counted
        if each.scan.encoding == "gb18030"
    ]
    return tuple(dict.fromkeys(notes))

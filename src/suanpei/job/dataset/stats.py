"""What a data set holds: the result of counting it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suanpei.messages import Message


@dataclass(frozen=True, kw_only=True)
class HistogramBin:
    """One bar of the histogram of lengths."""

    low_tokens: int
    high_tokens: int
    """Exclusive. [tokens]"""
    records: float


@dataclass(frozen=True, kw_only=True)
class FileCount:
    """What one file holds."""

    file: str
    format: str
    encoding: str
    fields: str
    """Fields counted, joined by ``+``; empty for plain text."""
    records: int
    sampled_records: int
    tokens: float


@dataclass(frozen=True, kw_only=True)
class LongestSample:
    """The longest record found."""

    file: str
    record: int
    """Line, row or item, from 1."""
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Packing:
    """What the records become at one sequence length and batch."""

    seq_len: int
    global_batch_seqs: int
    micro_batch: int
    truncated_records_fraction: float
    """Records longer than a sequence. [-]"""
    truncated_tokens_fraction: float
    """Tokens cut off where records are not joined. [-]"""
    joined_sequences: int
    """Records joined with one separator each and cut: the least possible. [-]"""
    packed_sequences: int
    """Records kept whole, best-fit decreasing. [-]"""
    packed_fill_fraction: float
    """Tokens over places in packed sequences. [-]"""
    joined_steps: int
    packed_steps: int
    unpacked_steps: int
    """One record per sequence. [-]"""
    padding_fraction: float
    """Unpacked: padding over all tokens computed, padded to the longest of each micro-batch. [-]"""
    padding_tokens: float
    """The same in tokens per epoch. [tokens]"""


@dataclass(frozen=True, kw_only=True)
class DatasetStats:
    """A data set in tokens."""

    tokens: float
    """All tokens, separators not included. [tokens]"""
    low_tokens: float
    high_tokens: float
    """90 % interval; equal to `tokens` where everything was counted. [tokens]"""
    is_exact: bool
    records: int
    sampled_records: int
    text_bytes: float
    mean_tokens: float
    median_tokens: float
    p90_tokens: float
    p99_tokens: float
    longest: LongestSample
    histogram: tuple[HistogramBin, ...]
    packing: Packing
    files: tuple[FileCount, ...]
    vocab: int
    """Entries of the tokenizer. [-]"""
    notes: tuple[Message, ...]
    """What was assumed while reading."""

    @property
    def error_fraction(self) -> float:
        """Half the interval over the tokens. [-]"""
        return (self.high_tokens - self.low_tokens) / 2 / self.tokens if self.tokens else 0.0

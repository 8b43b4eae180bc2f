"""How many sequences a set of records fills: joined and cut, packed whole, or padded."""

from __future__ import annotations

import bisect
import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

LARGEST_PACKING = 50_000
"""Records that are really packed; more are represented by an evenly spaced choice. [-]"""


def count_joined_sequences(tokens: float, records: float, seq_len: int) -> int:
    """Count the sequences when all records are joined, one separator after each, and cut to length.

    ``ceil((tokens + records) / seq_len)``: the least that is possible.

    Args:
        tokens: All tokens, separators not included. [tokens]
        records: All records. [-]
        seq_len: Tokens of a sequence. [tokens]
    """
    return math.ceil((tokens + records) / seq_len)


def pack_sequences(lengths: FloatArray, seq_len: int) -> int:
    """Count the sequences when records stay whole: best-fit decreasing.

    Each record, the longest first, goes into the fullest sequence that still has room (D. S. Johnson et al.,
    "Worst-case performance bounds for simple one-dimensional packing algorithms", SIAM J. Comput. 3(4), 1974: at most
    11/9 of the optimum plus 4).

    Args:
        lengths: Tokens of each record, separator included; what exceeds `seq_len` is cut off. [tokens]
        seq_len: Tokens of a sequence. [tokens]

    Returns:
        Sequences. [-]
    """
    rooms: list[int] = []
    sequences = 0
    for length in sorted((min(seq_len, int(length)) for length in lengths), reverse=True):
        place = bisect.bisect_left(rooms, length)
        if place < len(rooms):
            room = rooms.pop(place)
        else:
            room = seq_len
            sequences += 1
        if room > length:
            bisect.insort(rooms, room - length)
    return sequences


def estimate_packed_sequences(lengths: FloatArray, weights: FloatArray, seq_len: int) -> int:
    """Estimate the sequences of best-fit decreasing from records that stand for others.

    Args:
        lengths: Tokens of the records, separator included, shape (n,). [tokens]
        weights: Records that each stands for, shape (n,). [-]
        seq_len: Tokens of a sequence. [tokens]

    Returns:
        Sequences; exact where all weights are one and at most `LARGEST_PACKING` records are given. [-]
    """
    cut = np.minimum(lengths, seq_len)
    if len(cut) <= LARGEST_PACKING and bool(np.all(weights == 1.0)):
        return pack_sequences(cut, seq_len)
    # draw records evenly along the cumulated weight, so that each stands for the same number
    reached = np.cumsum(weights)
    count = min(LARGEST_PACKING, len(cut))
    points = (np.arange(count) + 0.5) / count * reached[-1]
    order = np.argsort(cut, kind="stable")
    chosen = cut[order][np.searchsorted(np.cumsum(weights[order]), points).clip(max=len(cut) - 1)]
    packed = pack_sequences(chosen, seq_len)
    whole = float((cut * weights).sum())
    return max(1, math.ceil(packed * whole / float(chosen.sum())))


def estimate_padding_fraction(lengths: FloatArray, weights: FloatArray, group: int, seq_len: int) -> float:
    """Estimate the share of padding when records are grouped at random and padded to the longest of the group.

    ``1 - E[length] / E[max of group]``; with F the distribution of lengths, ``P(max <= x) = F(x)^group``.

    Args:
        lengths: Tokens of the records, shape (n,). [tokens]
        weights: Records that each stands for, shape (n,). [-]
        group: Records padded together (the micro-batch). [-]
        seq_len: Tokens at which records are cut off. [tokens]

    Returns:
        Padding over all tokens computed, 0 to 1. [-]
    """
    cut = np.minimum(lengths, seq_len)
    if not len(cut) or not float(cut.max()):
        return 0.0
    order = np.argsort(cut, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    below = np.concatenate(([0.0], reached[:-1]))
    longest = float((cut[order] * (reached**group - below**group)).sum())
    mean = float((cut * weights).sum() / weights.sum())
    return max(0.0, 1 - mean / longest)

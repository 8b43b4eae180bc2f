"""Layers over pipeline stages.

Three stage classes stand for all: the first (embedding, most micro-batches in flight), the fullest middle one, and the
last (head and loss). With one stage all three are the whole model; with two, the middle is the second stage without
its head and so never the largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suanpei.job.operators import ModelOperators
    from suanpei.physics.estimate import Stage

    FloatArray = NDArray[np.float64]

STAGES: tuple[Stage, ...] = ("first", "middle", "last")
"""Stage classes, in the order of every leading stage axis."""


@dataclass(frozen=True, kw_only=True)
class StageLayers:
    """Layers of each kind on each stage class."""

    counts: FloatArray
    """Layers by stage class and kind, shape (3, kinds, *broadcast). [-]"""
    index: NDArray[np.int64]
    """Position of each stage class in the pipeline, shape (3, *broadcast). [-]"""
    is_first: NDArray[np.bool_]
    """Whether the stage class holds the embedding, shape (3, *broadcast)."""
    is_last: NDArray[np.bool_]
    """Whether it holds the head and the loss, shape (3, *broadcast)."""

    @property
    def first(self) -> FloatArray:
        """Layers of each kind on the first stage, shape (kinds, *broadcast). [-]"""
        counts: FloatArray = self.counts[0]
        return counts

    @property
    def middle(self) -> FloatArray:
        """Layers of each kind on the second stage, the fullest between the ends, shape (kinds, *broadcast). [-]"""
        counts: FloatArray = self.counts[1]
        return counts

    @property
    def last(self) -> FloatArray:
        """Layers of each kind on the last stage, shape (kinds, *broadcast). [-]"""
        counts: FloatArray = self.counts[2]
        return counts


def split_layers(operators: ModelOperators, pp: ArrayLike, vpp: ArrayLike) -> StageLayers:
    """Split the layers over pipeline stages.

    The layers are cut into ``pp · vpp`` chunks of consecutive layers, chunk c holding ``⌊L / chunks⌋`` layers and one
    more where ``c < L mod chunks``; stage s runs chunks s, s + pp, s + 2 pp, … Earlier chunks take the layers that do
    not divide, because the last stage already has the head.

    Args:
        operators: The model. [-]
        pp: Pipeline stages, at least 1. [-]
        vpp: Chunks per stage, at least 1. [-]

    Returns:
        Layers by stage class and kind.

    Valid for: contiguous chunks; a stage may be empty when there are fewer layers than chunks.

    References:
        Narayanan et al., arXiv 2104.04473, section 2.2 (interleaved chunks).
    """
    stages, chunks_each = np.broadcast_arrays(np.asarray(pp, dtype=np.int64), np.asarray(vpp, dtype=np.int64))
    width = int(chunks_each.max(initial=0)) + 1
    pairs, place = np.unique(stages * width + chunks_each, return_inverse=True)
    split = _split_pairs(
        operators.order.tobytes(), operators.order.dtype.str, len(operators.kinds), tuple(pairs), width
    )
    place = place.reshape(stages.shape)
    return StageLayers(
        counts=split.counts[..., place],
        index=split.index[..., place],
        is_first=split.is_first[..., place],
        is_last=split.is_last[..., place],
    )


@lru_cache(maxsize=256)
def _split_pairs(order_bytes: bytes, dtype: str, kinds: int, pairs: tuple[int, ...], width: int) -> StageLayers:
    """Split the layers for each pair of stages and chunks, ``stages · width + chunks``; arrays end in (pairs,)."""
    order = np.frombuffer(order_bytes, dtype=dtype)
    stages, chunks_each = np.divmod(np.array(pairs, dtype=np.int64), width)
    layers = len(order)
    before = np.zeros((kinds, layers + 1))
    for kind in range(kinds):
        before[kind, 1:] = np.cumsum(order == kind)
    least, extra = np.divmod(layers, stages * chunks_each)
    index = np.stack([np.zeros_like(stages), np.minimum(1, stages - 1), stages - 1])
    counts = np.zeros((3, kinds, len(stages)))
    for round_ in range(int(chunks_each.max(initial=1))):
        chunk = index + round_ * stages
        start = chunk * least + np.minimum(chunk, extra)
        end = start + least + (chunk < extra)
        runs = round_ < chunks_each
        start, end = np.where(runs, start, 0), np.where(runs, end, 0)
        counts += np.moveaxis(before[:, end] - before[:, start], 0, 1)
    is_first = np.stack([np.ones_like(stages, dtype=np.bool_), stages == 1, stages == 1])
    is_last = np.stack([stages == 1, stages == 1, np.ones_like(stages, dtype=np.bool_)])
    return StageLayers(counts=counts, index=index, is_first=is_first, is_last=is_last)

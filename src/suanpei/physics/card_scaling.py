"""Carrying a measured time from one card to another by their data sheets, and why that is unsafe.

A job bound by products scales with the dense peaks, one bound by memory with the bandwidths; most lie between, so the
two give a bracket, not an answer. Peaks with sparsity must not be mixed in, and neither road knows the fabric.
"""

from __future__ import annotations

from dataclasses import dataclass

from suanpei.messages import Message
from suanpei.physics.rule_of_thumb import require_positive

LARGEST_SAFE_RATIO = 1.25
"""Longer over shorter road, within which either will do for a first look. [-]"""


@dataclass(frozen=True, kw_only=True)
class CardSet:
    """Cards of one kind, by what their data sheet says."""

    gpus: int
    peak_flops_per_s: float
    """Dense peak in the precision of the job. [FLOP/s]"""
    memory_bytes_per_s: float | None = None
    """Memory bandwidth; None is unknown. [B/s]"""


@dataclass(frozen=True, kw_only=True)
class ScaledTime:
    """A time on other cards."""

    at_equal_mfu_s: float
    """If products bind: by the dense peaks. [s]"""
    at_equal_bandwidth_use_s: float | None
    """If memory binds: by the bandwidths; None where one is unknown. [s]"""
    caution: Message
    """Why the result is a bracket."""

    @property
    def is_unsafe(self) -> bool:
        """Whether peaks alone must not be trusted: the bandwidths are unknown, or say something else."""
        return self.at_equal_bandwidth_use_s is None or self.high_s > LARGEST_SAFE_RATIO * self.low_s

    @property
    def low_s(self) -> float:
        """The shorter of the two. [s]"""
        return min(self.at_equal_mfu_s, self.at_equal_bandwidth_use_s or self.at_equal_mfu_s)

    @property
    def high_s(self) -> float:
        """The longer of the two. [s]"""
        return max(self.at_equal_mfu_s, self.at_equal_bandwidth_use_s or self.at_equal_mfu_s)


def scale_time(seconds: float, source: CardSet, target: CardSet) -> ScaledTime:
    """Scale a measured time to other cards by dense peaks and by memory bandwidths.

    ``t · n₁ r₁ / (n₂ r₂)``, with r the peak or the bandwidth of one card.

    Args:
        seconds: Time on the first cards. [s]
        source: The first cards. [-]
        target: The others. [-]

    Returns:
        Both times, with a caution.

    Raises:
        InputError: a count or a peak is not above 0.

    Valid for: the same job, data parallel on both, fabrics that do not bind. Peaks alone were off by a factor of 1.9
    for a small model between H800 and A800 (126 h measured, 238 h by peaks, 123 h by bandwidths).

    Example:
        >>> h800 = CardSet(gpus=6, peak_flops_per_s=989.4e12, memory_bytes_per_s=3.35e12)
        >>> a800 = CardSet(gpus=2, peak_flops_per_s=312e12, memory_bytes_per_s=2.04e12)
        >>> scaled = scale_time(25.0, h800, a800)
        >>> round(scaled.low_s), round(scaled.high_s)
        (123, 238)
    """
    for cards in (source, target):
        require_positive(gpus=cards.gpus, peak_flops_per_s=cards.peak_flops_per_s)
    by_peak = seconds * source.gpus * source.peak_flops_per_s / (target.gpus * target.peak_flops_per_s)
    by_bandwidth = None
    if source.memory_bytes_per_s and target.memory_bytes_per_s:
        by_bandwidth = seconds * source.gpus * source.memory_bytes_per_s / (target.gpus * target.memory_bytes_per_s)
    return ScaledTime(
        at_equal_mfu_s=by_peak,
        at_equal_bandwidth_use_s=by_bandwidth,
        caution=Message(
            "scaled by data sheets: by peaks alone it holds only at equal MFU, and cards differ in bandwidth and links;"
            " estimate the job on both"
        ),
    )


def card_hour_ratio(source: CardSet, source_s: float, target: CardSet, target_s: float) -> float:
    """Give the card-hours of the second cards over those of the first, for two measured times. [-]"""
    return target.gpus * target_s / (source.gpus * source_s)

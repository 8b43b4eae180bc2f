"""Why candidates fell out: counted by reason, each with the example that came nearest."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from suanpei.messages import Message
from suanpei.units import format_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suanpei.machine.cluster import Cluster
    from suanpei.physics.strategy import Strategies

    FloatArray = NDArray[np.float64]


class Reason(Enum):
    """Why a candidate is not listed."""

    MEMORY = Message("does not fit in accelerator memory")
    AT_RISK = Message("may not fit: accelerator memory is within the margin of error")
    HOST_MEMORY = Message("does not fit in host memory")
    SLOWER = Message("another strategy is faster on the same accelerators")
    LIMIT = Message("cannot keep deadline and budget even at its best")
    UNSUPPORTED = Message("the accelerator or its software stack does not run the job")
    ILLEGAL = Message("no legal strategy on this number of accelerators")
    UNPRICED = Message("no price is known, so nothing shows that the budget is kept")
    PROBABILITY = Message("keeps deadline and budget with less than the confidence asked for")


@dataclass(frozen=True, kw_only=True)
class Rejection:
    """One reason, with how many fell to it."""

    reason: Message
    count: int
    """Candidates; for whole accelerators and numbers of them, how many of those. [-]"""
    example: Message
    """The one that came nearest, or the first."""


@dataclass(kw_only=True)
class _Tally:
    count: int = 0
    example: Message | None = None
    distance: float = np.inf


@dataclass(kw_only=True)
class Tallies:
    """Counts while a search runs."""

    candidates: int = 0
    """Legal strategies whose full memory and time were evaluated."""
    pruned: int = 0
    """Legal strategies that a bound dropped."""
    reasons: dict[Reason, _Tally] = field(default_factory=dict)

    def add(self, reason: Reason, count: int, example: Message, distance: float = np.inf) -> None:
        """Count rejections, keeping the example of the least distance. [-]"""
        if not count:
            return
        tally = self.reasons.setdefault(reason, _Tally())
        tally.count += count
        if tally.example is None or distance < tally.distance:
            tally.example, tally.distance = example, distance

    def add_memory(
        self,
        reason: Reason,
        cluster: Cluster,
        strategies: Strategies,
        needed_bytes: FloatArray,
        mask: NDArray[np.bool_],
    ) -> None:
        """Count candidates that memory rejects; the example needs the least. [B]"""
        count = int(np.count_nonzero(mask))
        if not count:
            return
        nearest = int(np.argmin(np.where(mask, needed_bytes, np.inf)))
        needed, capacity = float(needed_bytes[nearest]), cluster.accelerator.memory_bytes
        if reason is Reason.HOST_MEMORY and cluster.host_memory_bytes is not None:
            capacity = cluster.host_memory_bytes
        gpus = int(strategies.gpus[nearest])
        ratio = needed / capacity
        if reason in self.reasons and self.reasons[reason].distance <= ratio:
            self.reasons[reason].count += count
            return
        example = Message(
            "{gpus} × {accelerator} needs {needed} of {capacity}",
            gpus=gpus,
            accelerator=cluster.accelerator.name,
            needed=format_bytes(needed),
            capacity=format_bytes(capacity),
        )
        self.add(reason, count, example, ratio)

    def rejections(self) -> tuple[Rejection, ...]:
        """Give all reasons, most frequent first."""
        listed = [
            Rejection(reason=reason.value, count=tally.count, example=tally.example)
            for reason, tally in self.reasons.items()
            if tally.example is not None
        ]
        return tuple(sorted(listed, key=lambda rejection: -rejection.count))

"""How elastic units are switched on and off in a window, and what is paid for it.

A unit is on whenever demand is at its level or above. Between two runs it stays on where that is cheaper than
starting again. A lease is paid for its length and its start-up, in whole periods. Where all lengths are whole periods
anyway (`is_plain`) that is ``length + start-up rounded up to whole periods``, and staying on over a gap is cheaper
exactly where the gap is no longer than that start-up.

Spot under interruptions is paid for its expected hours, start-up rounded up apart; an expected value of many leases
is not rounded up itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suanpei.market.mix.start_up import HOPELESS_FACTOR, Interruptions
from suanpei.units import HOUR_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suanpei.market.mix.capacity import Capacity, Conditions
    from suanpei.market.mix.windows import Runs


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A unit that is on from start to end."""

    start_s: int
    """When it begins to work. [s]"""
    end_s: int
    """[s]"""
    useful_s: int
    """Of it, when demand needs the unit. [s]"""
    paid_s: int
    """What the bill counts. [s]"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Switching:
    """The rules by which units of one offer are switched."""

    capacity: Capacity
    conditions: Conditions
    grid_s: int
    """Divides every moment of the program. [s]"""
    full_stretch_s: Callable[[int, int], int]
    """Gives the length of the whole run of demand at a level around a moment, for spot without checkpoints. [s]"""
    is_loose: bool = False
    """Whether a lease that the end of a window may cut is paid for its length alone, which no bill is below."""

    @cached_property
    def start_up_s(self) -> float:
        """Paid before each start works. [s]"""
        return self.conditions.start_up_hours * HOUR_S

    @cached_property
    def restart_s(self) -> int:
        """What a start adds to the bill where a lease costs its length and a fixed start. [s]"""
        return self.capacity.paid_s(self.start_up_s)

    @cached_property
    def is_interrupted(self) -> bool:
        """Whether hours are expected values."""
        return self.capacity.kind == "spot" and self.conditions.interruptions is not None

    @cached_property
    def is_plain(self) -> bool:
        """Whether a lease costs its length and a fixed start, to the second."""
        capacity = self.capacity
        is_whole = self.grid_s % capacity.period_s == 0 and capacity.term_s <= capacity.period_s
        return is_whole and not self.is_interrupted

    @cached_property
    def can_join(self) -> bool:
        """Whether a lease that goes on in the next window costs one start less than two leases."""
        return self.is_plain or self.is_interrupted

    def list_leases(self, runs: Runs, level: int) -> tuple[Lease, ...] | None:
        """Give the leases of a unit that is on in some runs.

        Args:
            runs: When it is needed. [-]
            level: The level of demand that they belong to. [-]

        Returns:
            The leases, in order; None where interruptions let the work never finish.
        """
        bounds = [*zip(runs.starts_s.tolist(), runs.ends_s.tolist(), strict=True)]
        if self.is_interrupted:
            return self._list_interrupted(bounds, level)
        joined: list[list[int]] = []
        for start_s, end_s in bounds:
            if joined and self._stays_on(joined[-1], start_s, end_s):
                joined[-1][1] = end_s
                joined[-1][2] += end_s - start_s
            else:
                joined.append([start_s, end_s, end_s - start_s])
        return tuple(self._bill(start_s, end_s, useful_s) for start_s, end_s, useful_s in joined)

    def paid_s(self, runs: Runs, level: int) -> int | None:
        """Count what is paid for a unit that is on in some runs; None where the work never finishes. [s]"""
        if self.is_plain:
            lengths_s = int((runs.ends_s - runs.starts_s).sum())
            gaps_s = runs.starts_s[1:] - runs.ends_s[:-1]
            return lengths_s + int(np.minimum(gaps_s, self.restart_s).sum()) + self.restart_s
        if self.is_loose and not self.can_join:
            return int((runs.ends_s - runs.starts_s).sum())
        leases = self.list_leases(runs, level)
        return None if leases is None else sum(lease.paid_s for lease in leases)

    def join(self, before: Lease, after: Lease) -> Lease:
        """Join a lease with one that begins when it ends."""
        useful_s = before.useful_s + after.useful_s
        if self.is_interrupted:
            paid_s = before.paid_s + after.paid_s - self.restart_s
            return Lease(start_s=before.start_s, end_s=after.end_s, useful_s=useful_s, paid_s=paid_s)
        return self._bill(before.start_s, after.end_s, useful_s)

    @cached_property
    def _known_paid_s(self) -> dict[float, int]:
        """What was counted before: few lengths occur in many leases. [s] → [s]"""
        return {}

    def _count_paid_s(self, used_s: float) -> int:
        """Count what is paid for a lease of so long. [s] → [s]"""
        if used_s not in self._known_paid_s:
            self._known_paid_s[used_s] = self.capacity.paid_s(used_s)
        return self._known_paid_s[used_s]

    def _bill(self, start_s: int, end_s: int, useful_s: int) -> Lease:
        paid_s = self._count_paid_s(end_s - start_s + self.start_up_s)
        return Lease(start_s=start_s, end_s=end_s, useful_s=useful_s, paid_s=paid_s)

    def _stays_on(self, before: list[int], start_s: int, end_s: int) -> bool:
        """Whether staying on over a gap is no dearer than stopping and starting again."""
        if self.is_plain:
            return start_s - before[1] <= self.restart_s
        paid_s, more_s = self._count_paid_s, self.start_up_s
        apart = paid_s(before[1] - before[0] + more_s) + paid_s(end_s - start_s + more_s)
        return paid_s(end_s - before[0] + more_s) <= apart

    def _list_interrupted(self, bounds: list[tuple[int, int]], level: int) -> tuple[Lease, ...] | None:
        """Give leases with their expected hours."""
        interruptions = self.conditions.interruptions or Interruptions(rate_per_hour=0.0)
        leases = []
        for start_s, end_s in bounds:
            whole_s = self.full_stretch_s(level, start_s)
            factor = interruptions.spot_factor(whole_s / HOUR_S, self.conditions.start_up_hours)
            if factor > HOPELESS_FACTOR:
                return None
            useful_s = end_s - start_s
            paid_s = self.restart_s + round(factor * useful_s)
            leases.append(Lease(start_s=start_s, end_s=end_s, useful_s=useful_s, paid_s=paid_s))
        return tuple(leases)


def make_full_stretch(edges_s: NDArray[np.int64], gpus: NDArray[np.int64]) -> Callable[[int, int], int]:
    """Make the function that finds the whole run of a demand around a moment.

    Args:
        edges_s: Starts of all steps and the horizon. [s]
        gpus: Accelerators needed in each step. [-]
    """
    known: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def find(level: int, moment_s: int) -> int:
        if level not in known:
            padded = np.concatenate([[False], gpus >= level, [False]])
            changes = np.flatnonzero(padded[1:] != padded[:-1])
            known[level] = edges_s[changes[::2]], edges_s[changes[1::2]]
        starts_s, ends_s = known[level]
        index = int(np.searchsorted(starts_s, moment_s, side="right")) - 1
        return int(ends_s[index] - starts_s[index])

    return find

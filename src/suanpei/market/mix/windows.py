"""When contracts may start, and the windows between their starts and ends.

Inside a window no contract begins or ends, so the reserved cards are constant and each elastic unit only asks for how
long demand stands at its level or above. The window therefore keeps, for each level of demand that occurs in it, the
runs of time in which demand reaches it: exact, and far fewer than the steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from suanpei.market.mix.demand import MONTH_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from suanpei.market.mix.capacity import Capacity
    from suanpei.market.mix.demand import Demand

MOST_CHANGES = 48
"""With more starts of months and changes of demand together, contracts are signed at the starts of months alone. [-]"""
MOST_ENDINGS = 24
"""Up to so many of them, contracts may also be signed so that they end with one. [-]"""


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Stretches of time in which demand is at a level or above (or just at it), in order."""

    starts_s: NDArray[np.int64]
    ends_s: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Window:
    """A stretch of time in which the reserved cards do not change."""

    start_s: int
    end_s: int
    levels: tuple[int, ...]
    """Numbers of accelerators that are needed at some time in it, above zero, rising. [-]"""
    at_least: tuple[Runs, ...]
    """By level: when demand is at it or above."""
    just_at: tuple[Runs, ...]
    """By level: when demand is at it."""
    first_gpus: int
    """Needed when it begins. [-]"""
    last_gpus: int
    """Needed when it ends. [-]"""


def choose_starts(demand: Demand, capacities: Iterable[Capacity]) -> tuple[int, ...]:
    """Choose when contracts may be signed.

    At the starts of months; where these and the changes of demand are few (`MOST_CHANGES`), at each change; where they
    are fewer (`MOST_ENDINGS`), also where a term would end just when demand changes or is over. What is few is counted
    on the demand alone, so another offer never takes a moment away.

    Args:
        demand: Merged steps. [-]
        capacities: Offers, for their terms. [-]

    Returns:
        Moments from zero on, before the horizon. [s]
    """
    months = set(range(0, demand.horizon_s, MONTH_S))
    changes = {step.start_s for step in demand.steps}
    terms_s = {capacity.term_s for capacity in capacities if capacity.kind == "reserved"}
    if not terms_s:
        return (0,)
    chosen = months | changes
    if len(chosen) > MOST_CHANGES:
        return tuple(sorted(months))
    if len(chosen) <= MOST_ENDINGS:
        chosen |= {edge_s - term_s for edge_s in (*changes, demand.horizon_s) for term_s in terms_s}
    return tuple(sorted(start_s for start_s in chosen if 0 <= start_s < demand.horizon_s))


def chain_nodes(starts_s: Sequence[int], capacity: Capacity, horizon_s: int) -> tuple[int, ...]:
    """List when contracts of an offer may begin, end or be lengthened, before the horizon.

    Args:
        starts_s: When they may be signed. [s]
        capacity: The offer. [-]
        horizon_s: End of the demand. [s]

    Returns:
        Moments, rising. [s]
    """
    nodes = set(starts_s)
    for start_s in starts_s:
        nodes.update(range(start_s + capacity.term_s, horizon_s, capacity.period_s))
    return tuple(sorted(nodes))


def cut_windows(demand: Demand, edges_s: Iterable[int]) -> tuple[Window, ...]:
    """Cut a demand where contracts may begin or end.

    Args:
        demand: Merged steps. [-]
        edges_s: Moments; those at or beyond the horizon are left out. [s]

    Returns:
        Windows that follow each other from zero to the horizon.
    """
    horizon_s = demand.horizon_s
    cuts = sorted({0, horizon_s, *(edge_s for edge_s in edges_s if 0 < edge_s < horizon_s)})
    steps_s, gpus = demand.edges_s, demand.gpus
    windows = []
    for start_s, end_s in pairwise(cuts):
        first = int(np.searchsorted(steps_s, start_s, side="right")) - 1
        last = int(np.searchsorted(steps_s, end_s, side="left"))
        inside = gpus[first:last]
        edges = np.clip(steps_s[first : last + 1], start_s, end_s)
        levels = np.unique(inside[inside > 0])
        windows.append(
            Window(
                start_s=start_s,
                end_s=end_s,
                levels=tuple(int(level) for level in levels),
                at_least=tuple(_find_runs(inside >= level, edges) for level in levels),
                just_at=tuple(_find_runs(inside == level, edges) for level in levels),
                first_gpus=int(inside[0]),
                last_gpus=int(inside[-1]),
            )
        )
    return tuple(windows)


def find_grid(demand: Demand, edges_s: Iterable[int]) -> int:
    """Find the longest time that divides every moment at which anything can change. [s]"""
    return gcd(*(int(edge_s) for edge_s in demand.edges_s), *edges_s)


def _find_runs(mask: NDArray[np.bool_], edges_s: NDArray[np.int64]) -> Runs:
    """Join neighbouring steps that a mask marks."""
    padded = np.concatenate([[False], mask, [False]])
    changes = np.flatnonzero(padded[1:] != padded[:-1])
    return Runs(starts_s=edges_s[changes[::2]], ends_s=edges_s[changes[1::2]])

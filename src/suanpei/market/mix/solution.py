"""What the program is asked, and what it says: pieces of contracts, units switched on, units that stay on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suanpei.market.mix.capacity import Capacity, Conditions
    from suanpei.market.mix.demand import Demand
    from suanpei.market.mix.linear import SolverAnswer
    from suanpei.market.mix.switching import Switching
    from suanpei.market.mix.windows import Runs, Window


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A demand, what can cover it, and when contracts may start."""

    demand: Demand
    """Merged."""
    capacities: tuple[Capacity, ...]
    starts_s: tuple[int, ...]
    """[s]"""
    conditions: Conditions
    is_loose: bool = False
    """Whether leases that windows may cut are paid for their length alone: a bound, and no mix."""


@dataclass(frozen=True, kw_only=True)
class Signed:
    """Units of a reserved offer from one moment to another: a term, or a lengthening by one period."""

    capacity: Capacity
    start_s: int
    end_s: int
    units: int


@dataclass(frozen=True, kw_only=True)
class SwitchedOn:
    """Units of an elastic offer that are on in some runs of a window."""

    switching: Switching
    window: int
    """Number of the window."""
    level: int
    """Of demand, at which they are switched on. [card]"""
    runs: Runs
    units: int


@dataclass(frozen=True, kw_only=True)
class KeptOn:
    """Units of an elastic offer that stay on from a window into the next."""

    switching: Switching
    window: int
    """The earlier one."""
    units: int


@dataclass(frozen=True, kw_only=True)
class Solution:
    """What the program says."""

    answer: SolverAnswer
    windows: tuple[Window, ...]
    cuts_leases: bool = False
    """Whether the end of a window may cut leases that are then counted dearer than one lease over both."""
    signed: tuple[Signed, ...] = ()
    switched: tuple[SwitchedOn, ...] = ()
    kept: tuple[KeptOn, ...] = ()

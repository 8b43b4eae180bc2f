"""What is signed and switched on when, and its bill in Decimal.

The solver works in floats and in pieces; here the pieces become contracts and leases, and each is billed for what
`planner.billing.count_paid_hours` says. The total must be the solver's objective but for rounding.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from suanpei.market.cost import CostPart
from suanpei.messages import Message
from suanpei.money import Money
from suanpei.units import HOUR_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from suanpei.market.mix.capacity import Capacity, Kind
    from suanpei.market.mix.demand import Demand
    from suanpei.market.mix.solution import KeptOn, Signed, Solution, SwitchedOn
    from suanpei.market.mix.switching import Lease, Switching


@dataclass(frozen=True, kw_only=True)
class Contract:
    """Reserved units from signing to end."""

    capacity: Capacity
    start_s: int
    end_s: int
    units: int

    @property
    def gpus(self) -> int:
        """Accelerators. [-]"""
        return self.units * self.capacity.unit_gpus

    @property
    def paid_gpu_hours(self) -> Decimal:
        """What is paid. [card-hour]"""
        return _to_hours(self.capacity.paid_s(self.end_s - self.start_s)) * self.gpus


@dataclass(frozen=True, kw_only=True)
class Usage:
    """All that is rented elastically from one offer."""

    capacity: Capacity
    leases: tuple[tuple[Lease, int], ...]
    """Each with the number of units that it stands for. [-]"""

    @property
    def starts(self) -> int:
        """How often a unit is started. [-]"""
        return sum(units for _, units in self.leases)

    @property
    def useful_gpu_hours(self) -> Decimal:
        """Hours in which demand needs them. [card-hour]"""
        return _to_hours(sum(lease.useful_s * units for lease, units in self.leases)) * self.capacity.unit_gpus

    @property
    def paid_gpu_hours(self) -> Decimal:
        """Hours that are paid. [card-hour]"""
        paid_s = sum(lease.paid_s * units for lease, units in self.leases)
        return _to_hours(paid_s) * self.capacity.unit_gpus


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A mix: its contracts, its elastic use, its bill."""

    contracts: tuple[Contract, ...]
    usages: tuple[Usage, ...]
    parts: tuple[CostPart, ...]
    """One line per offer and kind of use."""
    total: Money
    low: Money
    """At the low ends of the sellers' ranges."""
    high: Money

    def held_gpus(self, kind: Kind, edges_s: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the accelerators of a kind that are held in each step.

        Args:
            kind: Reserved, elastic or spot. [-]
            edges_s: Starts of the steps, and the end of the last; nothing changes inside a step. [s]

        Returns:
            One number per step. [-]
        """
        return self._count_held(lambda capacity: capacity.kind == kind, edges_s)

    def held_by_seller(self, edges_s: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """Count the accelerators that are held from each seller in each step, as `held_gpus` does. [s] → [-]"""
        capacities = [*(item.capacity for item in self.contracts), *(item.capacity for item in self.usages)]
        sellers = dict.fromkeys(capacity.offer.provider for capacity in capacities)

        def count(seller: str) -> NDArray[np.int64]:
            return self._count_held(lambda capacity: capacity.offer.provider == seller, edges_s)

        return {seller: count(seller) for seller in sellers}

    def _count_held(self, is_counted: Callable[[Capacity], bool], edges_s: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the accelerators of some offers that are held in each step. [s] → [-]"""
        changes = np.zeros(len(edges_s), dtype=np.int64)

        def add(start_s: int, end_s: int, gpus: int) -> None:
            changes[np.searchsorted(edges_s, start_s)] += gpus
            changes[min(int(np.searchsorted(edges_s, end_s)), len(edges_s) - 1)] -= gpus

        for contract in self.contracts:
            if is_counted(contract.capacity):
                add(contract.start_s, contract.end_s, contract.gpus)
        for usage in self.usages:
            if is_counted(usage.capacity):
                for lease, units in usage.leases:
                    add(lease.start_s, lease.end_s, units * usage.capacity.unit_gpus)
        return np.cumsum(changes)[:-1]

    def list_edges(self, demand: Demand) -> NDArray[np.int64]:
        """List every moment of the demand at which a number of accelerators changes. [s]"""
        moments = {int(edge_s) for edge_s in demand.edges_s}
        for contract in self.contracts:
            moments |= {contract.start_s, contract.end_s}
        for usage in self.usages:
            for lease, _ in usage.leases:
                moments |= {lease.start_s, lease.end_s}
        return np.array(sorted(moment for moment in moments if moment <= demand.horizon_s), dtype=np.int64)

    def find_shortage(self, demand: Demand) -> int:
        """Find by how many accelerators the mix falls short at worst; 0 where it covers the demand. [-]"""
        edges_s = self.list_edges(demand)
        held = sum(self.held_gpus(kind, edges_s) for kind in ("reserved", "elastic", "spot"))
        needed = demand.gpus[np.searchsorted(demand.edges_s, edges_s[:-1], side="right") - 1]
        return int(max((needed - held).max(), 0))


def build_schedule(solution: Solution, currency: str) -> Schedule:
    """Turn a solution into contracts and leases, and bill them.

    Args:
        solution: What the program says. [-]
        currency: Of all prices. [ISO 4217]
    """
    contracts = tuple(_join_contracts(solution.signed))
    usages = tuple(_gather_usages(solution.switched, solution.kept, [window.end_s for window in solution.windows]))
    parts = [_rent_part(capacity, hours) for capacity, hours in _sum_contracts(contracts)]
    parts += [_use_part(usage) for usage in usages]
    zero = Money(amount=Decimal(0), currency=currency)
    return Schedule(
        contracts=contracts,
        usages=usages,
        parts=tuple(parts),
        total=sum((part.amount for part in parts), zero),
        low=sum((part.low for part in parts), zero),
        high=sum((part.high for part in parts), zero),
    )


def _join_contracts(signed: Iterable[Signed]) -> list[Contract]:
    """Join terms and lengthenings of the same units, those that run longest first."""
    by_capacity: defaultdict[Capacity, list[Signed]] = defaultdict(list)
    for piece in signed:
        by_capacity[piece.capacity].append(piece)
    contracts: list[Contract] = []
    for capacity, pieces in by_capacity.items():
        open_pieces: list[tuple[int, int, int]] = []
        for piece in sorted(pieces, key=lambda item: (item.start_s, item.end_s)):
            length_s, left = piece.end_s - piece.start_s, piece.units
            may_join = length_s == capacity.period_s
            for index, (start_s, end_s, units) in enumerate(open_pieces):
                joined = min(left, units) if may_join and end_s == piece.start_s else 0
                if joined:
                    open_pieces[index] = (start_s, end_s, units - joined)
                    open_pieces.append((start_s, piece.end_s, joined))
                    left -= joined
            if left:
                open_pieces.append((piece.start_s, piece.end_s, left))
        contracts += [
            Contract(capacity=capacity, start_s=start_s, end_s=end_s, units=units)
            for start_s, end_s, units in open_pieces
            if units
        ]
    return sorted(contracts, key=lambda item: (item.start_s, -item.end_s, item.capacity.price.amount))


def _gather_usages(switched: Iterable[SwitchedOn], kept: Iterable[KeptOn], ends_s: Sequence[int]) -> list[Usage]:
    """List the leases of each elastic offer, those joined that stay on from one window into the next."""
    by_switching: defaultdict[Switching, defaultdict[int, list[tuple[Lease, int]]]]
    by_switching = defaultdict(lambda: defaultdict(list))
    for item in switched:
        for lease in item.switching.list_leases(item.runs, item.level) or ():
            by_switching[item.switching][item.window].append((lease, item.units))
    joins = {(item.switching, item.window): item.units for item in kept}
    usages = []
    for switching, windows in by_switching.items():
        is_free = switching.restart_s == 0 or not switching.can_join  # the bill of one lease is never above that of two
        closed: list[tuple[Lease, int]] = []
        waiting: list[tuple[Lease, int]] = []
        for number in sorted(windows):
            leases = windows[number]
            if waiting:
                leases, unjoined = _join_leases(waiting, leases, switching)
                closed += unjoined
            wanted = sum(units for _, units in leases) if is_free else joins.get((switching, number), 0)
            waiting, done = _take(leases, ends_s[number], wanted)
            closed += done
        closed += waiting
        closed.sort(key=lambda item: (item[0].start_s, item[0].end_s))
        usages.append(Usage(capacity=switching.capacity, leases=tuple(closed)))
    return usages


def _take(
    leases: Iterable[tuple[Lease, int]], end_s: int, wanted: int
) -> tuple[list[tuple[Lease, int]], list[tuple[Lease, int]]]:
    """Split off so many units of leases that end at a moment."""
    taken: list[tuple[Lease, int]] = []
    rest: list[tuple[Lease, int]] = []
    for lease, units in leases:
        share = min(units, wanted) if lease.end_s == end_s else 0
        wanted -= share
        taken += [(lease, share)] if share else []
        rest += [(lease, units - share)] if units > share else []
    return taken, rest


def _join_leases(
    waiting: Iterable[tuple[Lease, int]],
    leases: Iterable[tuple[Lease, int]],
    switching: Switching,
) -> tuple[list[tuple[Lease, int]], list[tuple[Lease, int]]]:
    """Lengthen leases that stay on by those that begin when they end; gives all, and what found no partner."""
    pool = [*leases]
    joined: list[tuple[Lease, int]] = []
    unjoined: list[tuple[Lease, int]] = []
    for before, left in waiting:
        for index, (after, units) in enumerate(pool):
            share = min(left, units) if after.start_s == before.end_s else 0
            if share:
                joined.append((switching.join(before, after), share))
                pool[index] = (after, units - share)
                left -= share
        if left:
            unjoined.append((before, left))
    joined += [(lease, units) for lease, units in pool if units]
    return joined, unjoined


def _sum_contracts(contracts: Iterable[Contract]) -> list[tuple[Capacity, Decimal]]:
    """Sum what is paid for reserved offers. [card-hour]"""
    hours: defaultdict[Capacity, Decimal] = defaultdict(Decimal)
    for contract in contracts:
        hours[contract.capacity] += contract.paid_gpu_hours
    return list(hours.items())


def _rent_part(capacity: Capacity, paid_gpu_hours: Decimal) -> CostPart:
    return _bill(capacity, paid_gpu_hours, Message("reserved from {provider}", provider=capacity.offer.provider))


def _use_part(usage: Usage) -> CostPart:
    provider, starts = usage.capacity.offer.provider, usage.starts
    name = (
        Message("spot from {provider} (starts: {starts})", provider=provider, starts=starts)
        if usage.capacity.kind == "spot"
        else Message("elastic from {provider} (starts: {starts})", provider=provider, starts=starts)
    )
    return _bill(usage.capacity, usage.paid_gpu_hours, name)


def _bill(capacity: Capacity, paid_gpu_hours: Decimal, name: Message) -> CostPart:
    """Bill so many hours; the interval is that of the seller's range of prices."""
    return CostPart(
        name=name,
        currency=capacity.price.currency,
        quantity=paid_gpu_hours,
        unit="gpu_hour",
        price=capacity.price,
        amount=(capacity.price * paid_gpu_hours).rounded(),
        low=(capacity.low * paid_gpu_hours).rounded(),
        high=(capacity.high * paid_gpu_hours).rounded(),
    )


def _to_hours(duration_s: int) -> Decimal:
    return Decimal(duration_s) / Decimal(int(HOUR_S))

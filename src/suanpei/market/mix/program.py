"""The cheapest mix as a mixed-integer program.

Whole units of offers, all quantities in units unless they say cards. For a reserved offer c with term L and period p::

    start[c, t]   contracts signed at t, paid for L
    longer[c, t]  contracts that end at t and are lengthened by p        longer[c, t] <= Σ ending at t
    active[c, t]  units held from t on                                   0 <= active <= units on hand

For a window w between moments at which contracts begin or end, the levels v₁ < v₂ < … of demand in it, and an elastic
offer j::

    on[w, j, i]    units that are on whenever demand is vᵢ or more       Σᵢ on <= units on hand
    kept[w, j]     units that stay on over the end of the window         <= on at its end, <= on at the next start

Demand is covered at each level of each window, in cards::

    Σ_c unit_c · active[c, w] + Σ_j unit_j · Σ_{k <= i} on[w, j, k] >= vᵢ

and the cost is minimised::

    Σ price · L · start + Σ price · p · longer + Σ price · paid(w, j, i) · on - Σ price · start-up · kept

with `paid` of ``switching``: leases in whole periods, start-ups, and for spot what interruptions are expected to add.
Where elastic units differ in size, smaller units may also be on at one level alone (`just_at`), as above it a larger
unit may replace them. The number of largest units only rises with demand, where sizes divide one another: small units
are taken cheapest first, so what one more large unit saves in small ones only grows. Without such units, and where any
seller will do, the units of a size that are switched on at a level are a whole column of their own, and the offers that
they come from follow at a vertex.

What is exact: steps merge where demand is equal, and windows where demand reaches a level for equal time. What is a
choice: contracts start at the moments of ``windows.choose_starts``; elastic units are switched last on, first off.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING

from suanpei.market.mix.covering import add_cover, add_sellers
from suanpei.market.mix.linear import LinearProgram
from suanpei.market.mix.solution import KeptOn, Signed, Solution, SwitchedOn
from suanpei.market.mix.switching import Switching, make_full_stretch
from suanpei.market.mix.turns import Stage, solve_in_turns
from suanpei.market.mix.windows import chain_nodes, cut_windows, find_grid
from suanpei.units import HOUR_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from suanpei.market.mix.capacity import Capacity
    from suanpei.market.mix.linear import Limits
    from suanpei.market.mix.solution import Problem
    from suanpei.market.mix.windows import Runs, Window

LEAST_SHARE = 0.5
"""Share of the time that is left to the solver, however long it takes to put the program together. [-]"""


def solve(problem: Problem, limits: Limits) -> Solution:
    """Find the cheapest mix.

    Args:
        problem: What is needed and on offer; the offers together must cover the peak. [-]
        limits: Time, that of putting the program together counted in, and gap at which the solver stops. [-]

    Returns:
        The mix, with the solver's own word on how good it is.
    """
    started_s = perf_counter()
    model = _Model(problem)
    left_s = max(limits.time_s - (perf_counter() - started_s), limits.time_s * LEAST_SHARE)
    elastic = [*model.list_columns(SwitchedOn, KeptOn), *model.list_rises()]
    answer = solve_in_turns(model.program, replace(limits, time_s=left_s), elastic=elastic, stages=model.stages)
    solution = Solution(answer=answer, windows=model.windows, cuts_leases=model.cuts_leases)
    if not answer.values.size:
        return solution
    count = {column: round(answer.values[column]) for column in model.meanings if answer.values[column] > 0.5}
    found: dict[type, list[Signed | SwitchedOn | KeptOn]] = {Signed: [], SwitchedOn: [], KeptOn: []}
    for column, units in count.items():
        kind, values = model.meanings[column]
        found[kind].append(kind(units=units, **values))
    return replace(
        solution,
        signed=tuple(found[Signed]),  # type: ignore[arg-type]
        switched=tuple(found[SwitchedOn]),  # type: ignore[arg-type]
        kept=tuple(found[KeptOn]),  # type: ignore[arg-type]
    )


class _Model:
    """Builds the program and remembers what its columns mean."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.program = LinearProgram()
        self.meanings: dict[int, tuple[type, Mapping[str, object]]] = {}
        self.reserved = [capacity for capacity in problem.capacities if capacity.kind == "reserved"]
        horizon_s = problem.demand.horizon_s
        self.nodes = {capacity: chain_nodes(problem.starts_s, capacity, horizon_s) for capacity in self.reserved}
        edges_s = {node_s for nodes in self.nodes.values() for node_s in nodes}
        if problem.demand.needs_one_seller:
            edges_s |= set(problem.demand.edges_s.tolist())
        self.windows = cut_windows(problem.demand, edges_s)
        self.active = {capacity: self._add_contracts(capacity) for capacity in self.reserved}
        self.switchings = self._make_switchings(edges_s)
        self.largest_gpus = max((switching.capacity.unit_gpus for switching in self.switchings), default=0)
        has_bands = any(map(self._may_be_replaced, self.switchings))
        self.is_each_whole = has_bands or problem.demand.needs_one_seller
        self.paid_s: dict[tuple[object, ...], int | None] = {}
        self.stages = tuple(Stage() for _ in self.windows)
        self.elastic = [self._add_window(number, window) for number, window in enumerate(self.windows)]
        self._add_kept()
        if problem.demand.needs_one_seller:
            add_sellers(self.program, problem, self.windows, self._list_held)

    @property
    def cuts_leases(self) -> bool:
        """Whether leases may be counted dearer than they are, as the end of a window cuts them."""
        return len(self.windows) > 1 and not all(switching.can_join for switching in self.switchings)

    def list_columns(self, *kinds: type) -> list[int]:
        """List the columns that mean one of some kinds."""
        return [column for column, (kind, _) in self.meanings.items() if kind in kinds]

    def list_rises(self) -> list[int]:
        """List the columns of units that are switched on at a level."""
        return [column for stage in self.stages for columns in stage.rises.values() for column in columns]

    def _make_switchings(self, edges_s: Iterable[int]) -> list[Switching]:
        problem = self.problem
        grid_s = find_grid(problem.demand, edges_s)
        full_stretch_s = make_full_stretch(problem.demand.edges_s, problem.demand.gpus)
        return [
            Switching(
                capacity=capacity,
                conditions=problem.conditions,
                grid_s=grid_s,
                full_stretch_s=full_stretch_s,
                is_loose=problem.is_loose,
            )
            for capacity in problem.capacities
            if capacity.kind != "reserved"
        ]

    def _add_contracts(self, capacity: Capacity) -> dict[int, int]:
        """Add the contracts of an offer; gives the column of its active units by moment."""
        program, nodes = self.program, self.nodes[capacity]
        term_s, period_s = capacity.term_s, capacity.period_s
        starts = set(self.problem.starts_s)
        begin: dict[int, list[int]] = {node_s: [] for node_s in nodes}
        finish: dict[int, list[int]] = {node_s: [] for node_s in nodes}
        for node_s in nodes:
            arcs = [term_s] if node_s in starts else []
            if finish[node_s] and not (arcs and term_s == period_s):
                arcs.append(period_s)
            for index, length_s in enumerate(arcs):
                cost = capacity.hour_price * length_s / HOUR_S
                column = program.add_column(cost=cost, most=capacity.units, is_whole=True)
                self.meanings[column] = (
                    Signed,
                    {"capacity": capacity, "start_s": node_s, "end_s": node_s + length_s},
                )
                is_longer = index > 0 or node_s not in starts
                if is_longer:
                    program.add_row([(column, 1.0), *((ended, -1.0) for ended in finish[node_s])], most=0.0)
                begin[node_s].append(column)
                if node_s + length_s in finish:
                    finish[node_s + length_s].append(column)
        active: dict[int, int] = {}
        before: int | None = None
        for node_s in nodes:
            column = program.add_column(most=capacity.units)
            terms = [(column, 1.0), *((other, -1.0) for other in begin[node_s])]
            terms += [(other, 1.0) for other in finish[node_s]]
            if before is not None:
                terms.append((before, -1.0))
            program.add_row(terms, least=0.0, most=0.0)
            active[node_s] = before = column
        return active

    def _add_window(self, number: int, window: Window) -> dict[Switching, list[tuple[int, int]]]:
        """Add a window; gives, by elastic offer, the level and column of the units that are on from a level on."""
        program = self.program
        held = self._add_held(window)
        first = len(program.costs)
        on: dict[Switching, list[tuple[int, int]]] = {switching: [] for switching in self.switchings}
        sums: dict[Switching, int] = {}
        totals: dict[int, int] = {}
        for index, level in enumerate(window.levels):
            rising: dict[int, list[int]] = {}
            cover = {size: [(column, 1.0)] for size, column in held.items()}
            for switching in self.switchings:
                size = switching.capacity.unit_gpus
                column = self._add_switched(switching, number, level, window.at_least[index])
                if column is None:
                    continue
                on[switching].append((level, column))
                rising.setdefault(size, []).append(column)
                if self._may_be_replaced(switching):
                    band = self._add_switched(switching, number, level, window.just_at[index])
                    if band is not None:
                        cover.setdefault(size, []).append((band, float(size)))
                        sums[switching] = self._add_limit(switching, column, band, sums.get(switching))
            for size, columns in rising.items():
                totals[size], rise = self._add_total(columns, totals.get(size))
                self.stages[number].rises.setdefault(size, []).append(rise)
            for size, total in totals.items():
                cover.setdefault(size, []).append((total, float(size)))
            add_cover(program, level, cover)
        for switching, pairs in on.items():
            if pairs and not self._may_be_replaced(switching):
                program.add_row([(column, 1.0) for _, column in pairs], most=float(switching.capacity.units))
        self.stages[number].columns.extend(range(first, len(program.costs)))
        return on

    def _add_held(self, window: Window) -> dict[int, int]:
        """Add the cards that are reserved in a window; gives a column for each size of unit. [card]"""
        terms: dict[int, list[tuple[int, float]]] = {}
        for capacity in self.reserved:
            node_s = max(node_s for node_s in self.nodes[capacity] if node_s <= window.start_s)
            size = capacity.unit_gpus
            terms.setdefault(size, []).append((self.active[capacity][node_s], -float(size)))
        columns = {}
        for size, active in terms.items():
            columns[size] = self.program.add_column()
            self.program.add_row([(columns[size], 1.0), *active], least=0.0, most=0.0)
        return columns

    def _add_total(self, columns: Iterable[int], below: int | None) -> tuple[int, int]:
        """Add the units of a size that are on at a level: those of the level below, and those switched on at it.

        Gives the columns of both.
        """
        program = self.program
        total, rise = program.add_column(), program.add_column(is_whole=not self.is_each_whole)
        program.add_row([(rise, 1.0), *((column, -1.0) for column in columns)], least=0.0, most=0.0)
        before = [] if below is None else [(below, -1.0)]
        program.add_row([(total, 1.0), (rise, -1.0), *before], least=0.0, most=0.0)
        return total, rise

    def _may_be_replaced(self, switching: Switching) -> bool:
        """Whether units may be on at one level alone: smaller ones, where starting costs nothing."""
        is_free = switching.is_plain and not switching.restart_s
        return is_free and switching.capacity.unit_gpus < self.largest_gpus

    def _add_limit(self, switching: Switching, column: int, band: int, below: int | None) -> int:
        """Limit the units that are on at a level to those on hand; gives the column of those on from it or below on."""
        total = self.program.add_column()
        terms = [(total, 1.0), (column, -1.0)]
        if below is not None:
            terms.append((below, -1.0))
        self.program.add_row(terms, least=0.0, most=0.0)
        self.program.add_row([(total, 1.0), (band, 1.0)], most=float(switching.capacity.units))
        return total

    def _add_switched(self, switching: Switching, number: int, level: int, runs: Runs) -> int | None:
        """Add a column of units that are on in some runs; None where their work would never finish."""
        capacity = switching.capacity
        key = (capacity.kind, capacity.period_s, capacity.term_s, id(runs))
        if key not in self.paid_s:
            self.paid_s[key] = switching.paid_s(runs, level)
        paid_s = self.paid_s[key]
        if paid_s is None:
            return None
        column = self.program.add_column(
            cost=capacity.hour_price * paid_s / HOUR_S, most=capacity.units, is_whole=self.is_each_whole
        )
        self.meanings[column] = (
            SwitchedOn,
            {"switching": switching, "window": number, "level": level, "runs": runs},
        )
        return column

    def _list_held(self, capacity: Capacity, number: int) -> list[tuple[int, float]]:
        """List the cards of an offer that are held throughout a window of one level."""
        gpus = float(capacity.unit_gpus)
        if capacity in self.active:
            nodes = [node_s for node_s in self.nodes[capacity] if node_s <= self.windows[number].start_s]
            return [(self.active[capacity][nodes[-1]], gpus)]
        on = next(pairs for switching, pairs in self.elastic[number].items() if switching.capacity is capacity)
        return [(column, gpus) for _, column in on]

    def _add_kept(self) -> None:
        """Let units stay on from one window into the next, which saves a start."""
        for number, (before, after) in enumerate(pairwise(self.windows)):
            for switching in self.switchings:
                if not switching.can_join or not switching.restart_s:
                    continue
                saved = switching.capacity.hour_price * switching.restart_s / HOUR_S
                column = self.program.add_column(cost=-saved, most=switching.capacity.units, is_whole=True)
                for columns, gpus in (
                    (self.elastic[number][switching], before.last_gpus),
                    (self.elastic[number + 1][switching], after.first_gpus),
                ):
                    busy = [(other, -1.0) for level, other in columns if level <= gpus]
                    self.program.add_row([(column, 1.0), *busy], most=0.0)
                self.stages[number + 1].columns.append(column)
                self.meanings[column] = (KeptOn, {"switching": switching, "window": number})

"""Rows that cover a demand: at each level, and by one seller where a step is one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from suanpei.market.mix.capacity import Capacity
    from suanpei.market.mix.linear import LinearProgram
    from suanpei.market.mix.solution import Problem
    from suanpei.market.mix.windows import Window

    Terms = Sequence[tuple[int, float]]


def add_cover(program: LinearProgram, level: int, cover: Mapping[int, Terms]) -> None:
    """Cover a level, and for each larger size say what its whole units leave to the smaller ones.

    With N units of g cards and s cards in smaller ones, s + g N >= v; the rest r = v mod g lies in s or in one more
    unit, so ``s + r N >= r ceil(v/g)`` (mixed-integer rounding [1]_). Units of sizes that g does not divide count as s.

    Args:
        program: What the rows are added to. [-]
        level: Cards needed, v. [-]
        cover: By cards of a unit: columns, and the cards that one of each stands for. [-]

    References:
        .. [1] G. L. Nemhauser, L. A. Wolsey, "A recursive procedure to generate all cuts for 0-1 mixed integer
               programs", Mathematical Programming 46, 1990. doi:10.1007/BF01585752
    """
    program.add_row([term for terms in cover.values() for term in terms], least=float(level))
    for size in sorted(cover)[1:]:
        rest = level % size
        if rest:
            factors = {other: rest / size if other % size == 0 else 1.0 for other in cover}
            terms = [(column, cards * factors[other]) for other, held in cover.items() for column, cards in held]
            program.add_row(terms, least=float(rest * (level // size + 1)))


def add_sellers(
    program: LinearProgram, problem: Problem, windows: Sequence[Window], list_held: Callable[[Capacity, int], Terms]
) -> None:
    """Let each step be covered by one seller alone: ``Σ_p y = 1`` and ``cards of p >= v y`` in each window of the step.

    Args:
        program: What columns and rows are added to. [-]
        problem: The steps, and the offers with their sellers. [-]
        windows: Each inside one step. [-]
        list_held: Gives the columns of an offer's cards in a window of some number. [-]
    """
    demand = problem.demand
    sellers: dict[str, list[Capacity]] = {}
    for capacity in problem.capacities:
        sellers.setdefault(capacity.offer.provider, []).append(capacity)
    chosen: dict[int, dict[str, int]] = {}
    for number, window in enumerate(windows):
        step = int(np.searchsorted(demand.edges_s, window.start_s, side="right")) - 1
        needed = demand.steps[step].gpus
        if not needed:
            continue
        if step not in chosen:
            chosen[step] = {seller: program.add_column(most=1.0, is_whole=True) for seller in sellers}
            program.add_row([(column, 1.0) for column in chosen[step].values()], least=1.0, most=1.0)
        for seller, capacities in sellers.items():
            terms = [term for capacity in capacities for term in list_held(capacity, number)]
            program.add_row([*terms, (chosen[step][seller], -float(needed))], least=0.0)

"""Which choices are listed, and in which order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Literal

from suanpei.units import DAY_S, HOUR_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suanpei.planner.options import Choice, Constraints, Objective

Role = Literal["cheapest", "knee", "fastest", "ranked"]

PER_ACCELERATOR = 2
"""Listed choices of one accelerator beside those with a role of their own, so that the list compares accelerators; more
only where nothing else is left to list."""


@dataclass(frozen=True, kw_only=True)
class Listed:
    """One row of the answer."""

    choice: Choice
    roles: tuple[Role, ...] = ()
    """Why it stands first; empty for a row that stands where the objective puts it."""

    @property
    def role(self) -> Role:
        """The first of `roles`; ``ranked`` for a row without one."""
        return self.roles[0] if self.roles else "ranked"


def price_ties(choices: Sequence[Choice]) -> tuple[Choice, ...]:
    """Give choices without a price what an accelerator-hour may cost at most to tie with the cheapest priced one."""
    cheapest = min((choice.cost for choice in choices if choice.cost is not None), default=None)
    if cheapest is None:
        return tuple(choices)
    return tuple(
        choice if choice.cost is not None else replace(choice, ties_at_price_per_gpu_hour=cheapest / _gpu_hours(choice))
        for choice in choices
    )


def list_choices(
    choices: Sequence[Choice],
    at_knee: Choice | None,
    constraints: Constraints,
    objective: Objective,
    top: int,
) -> tuple[Listed, ...]:
    """Rank the choices that keep the constraints with the confidence asked for.

    Under a deadline or a budget the list follows the objective. Without either it opens with the cheapest within 90
    days, the knee of its accelerator and the fastest. Choices without a price follow the priced ones, those first that
    could cost most and still tie. More cards of one kind that are dearer and no sooner than a row are left out.

    Args:
        choices: All of them, with ties. [-]
        at_knee: The one at the knee; None where there is none. [-]
        constraints: Deadline, budget, confidence. [-]
        objective: What ranks. [-]
        top: Rows at most. [-]

    Returns:
        Rows in order.
    """
    kept = [choice for choice in choices if choice.probability >= constraints.confidence]
    ranked = sorted(kept, key=_key(objective))
    listed: list[Listed] = []
    if constraints.is_open:
        listed = _open_with(ranked, choices, at_knee)[:top]
    count = Counter[str]()
    for most in (PER_ACCELERATOR, top):
        for choice in ranked:
            if len(listed) >= top:
                break
            if count[choice.accelerator] < most and not any(_makes_idle(row.choice, choice) for row in listed):
                count[choice.accelerator] += 1
                listed.append(Listed(choice=choice))
    opening = sum(1 for row in listed if row.roles)
    order = {id(choice): place for place, choice in enumerate(ranked)}
    return (*listed[:opening], *sorted(listed[opening:], key=lambda row: order[id(row.choice)]))


def best_choice(choices: Sequence[Choice], constraints: Constraints, objective: Objective) -> Choice | None:
    """Give the first of the ranking; where nothing keeps the constraints, the fastest."""
    kept = [choice for choice in choices if choice.probability >= constraints.confidence]
    if kept:
        return min(kept, key=_key(objective))
    return min(choices, key=lambda choice: choice.days, default=None)


def _open_with(ranked: Sequence[Choice], choices: Sequence[Choice], at_knee: Choice | None) -> list[Listed]:
    """Give the rows that stand first without deadline and budget."""
    rows: list[Listed] = []

    def add(choice: Choice | None, role: Role) -> None:
        if choice is None:
            return
        for position, row in enumerate(rows):
            if _is_same(row.choice, choice):
                rows[position] = replace(row, roles=(*row.roles, role))
                return
        rows.append(Listed(choice=choice, roles=(role,)))

    priced = [choice for choice in ranked if choice.cost is not None] or list(ranked)
    add(min(priced, key=_key("cost"), default=None), "cheapest")
    add(at_knee, "knee")
    everything = [choice for choice in choices if choice.cost is not None] or list(choices)
    add(min(everything, key=_key("time"), default=None), "fastest")
    return rows


def _makes_idle(listed: Choice, choice: Choice) -> bool:
    """Tell whether a listed choice leaves nothing to another one: the same, or the same card, dearer and no sooner."""
    if _is_same(listed, choice):
        return True
    if listed.option.cluster is not choice.option.cluster or listed.cost is None or choice.cost is None:
        return False
    return choice.cost >= listed.cost and choice.days >= listed.days


def _is_same(one: Choice, other: Choice) -> bool:
    """Tell whether two choices are one machine and number at two prices: the cheaper is listed."""
    return one.option.cluster is other.option.cluster and one.gpus == other.gpus


def _gpu_hours(choice: Choice) -> float:
    """Give the accelerator-hours that a run without a price holds. [h]"""
    return choice.rented_gpus * choice.days * DAY_S / HOUR_S


def _key(objective: Objective) -> Callable[[Choice], tuple[float, ...]]:
    if objective == "time":
        return lambda choice: (choice.days, inf if choice.cost is None else choice.cost)

    def by_cost(choice: Choice) -> tuple[float, ...]:
        if choice.cost is not None:
            return (0.0, choice.cost, choice.days)
        if choice.ties_at_price_per_gpu_hour is not None:
            return (1.0, -choice.ties_at_price_per_gpu_hour, choice.days)
        # nothing has a price: fewest accelerator-hours
        return (1.0, _gpu_hours(choice), choice.days)

    return by_cost

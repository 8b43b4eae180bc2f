"""Why nothing satisfies the constraints, and the nearest change that would."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal
from math import ceil, inf
from typing import TYPE_CHECKING

from suanpei.messages import Message
from suanpei.planner.rejections import Reason
from suanpei.units import DAY_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.planner.options import Choice, Constraints
    from suanpei.planner.rejections import Tallies

CENTS_BELOW = 1000.0
"""Amounts below this are written to the hundredth."""


def explain_failure(choices: Sequence[Choice], constraints: Constraints, tallies: Tallies) -> Message:
    """Name the binding constraint and what would relax it.

    Args:
        choices: Every option and number on which the job fits, constraints set aside. [-]
        constraints: What none of them keeps. [-]
        tallies: Why candidates fell out. [-]

    Returns:
        One sentence with the nearest change.
    """
    if not choices:
        return _explain_memory(tallies)
    confidence = constraints.confidence
    durations = [choice.duration_at_s(confidence) for choice in choices]
    if constraints.deadline_s is not None and (constraints.budget is None or min(durations) > constraints.deadline_s):
        return _explain_deadline(choices, durations, constraints, constraints.deadline_s)
    budget = inf if constraints.budget is None else constraints.budget
    costs = {
        index: cost
        for index, choice in enumerate(choices)
        if (cost := choice.cost_of(durations[index])) is not None
        and (constraints.deadline_s is None or durations[index] <= constraints.deadline_s)
    }
    if not costs:
        return _explain_unpriced(choices, durations, constraints, budget)
    cheapest = min(costs, key=costs.__getitem__)
    values = {
        "budget": _amount(budget),
        "confidence": confidence,
        "gpus": choices[cheapest].gpus,
        "accelerator": choices[cheapest].accelerator,
        "cost": _amount(costs[cheapest]),
        "relaxed": _up_amount(costs[cheapest]),
    }
    if constraints.deadline_s is None:
        return Message(
            "no plan stays within the budget of {budget} with probability {confidence}: the cheapest, {gpus} ×"
            " {accelerator}, needs {cost} to be that sure; a budget of {relaxed} would do",
            **values,
        )
    later_s = [
        duration_s
        for choice, duration_s in zip(choices, durations, strict=True)
        if (cost := choice.cost_of(duration_s)) is not None and cost <= budget
    ]
    if not later_s:
        return Message(
            "no plan keeps both deadline and budget of {budget} with probability {confidence}: the cheapest within the"
            " deadline, {gpus} × {accelerator}, needs {cost} to be that sure; a budget of {relaxed} would do",
            **values,
        )
    return Message(
        "no plan keeps both deadline and budget of {budget} with probability {confidence}: the cheapest within the"
        " deadline, {gpus} × {accelerator}, needs {cost} to be that sure; a budget of {relaxed} would do, or a"
        " deadline of {later} d",
        later=_up(min(later_s) / DAY_S),
        **values,
    )


def _explain_deadline(
    choices: Sequence[Choice], durations_s: Sequence[float], constraints: Constraints, deadline_s: float
) -> Message:
    """Say how far the soonest end lies beyond the deadline, and which later one would do, the budget kept."""
    soonest = min(range(len(choices)), key=durations_s.__getitem__)
    values = {
        "deadline": f"{deadline_s / DAY_S:.3g}",
        "confidence": constraints.confidence,
        "gpus": choices[soonest].gpus,
        "accelerator": choices[soonest].accelerator,
        "days": f"{durations_s[soonest] / DAY_S:,.1f}",
    }
    budget = inf if constraints.budget is None else constraints.budget
    costs = {index: choice.cost_of(durations_s[index]) for index, choice in enumerate(choices)}
    kept = [index for index, cost in costs.items() if budget == inf or (cost is not None and cost <= budget)]
    if kept:
        return Message(
            "no plan meets the deadline of {deadline} d with probability {confidence}: the soonest, {gpus} ×"
            " {accelerator}, needs {days} d to be that sure; a deadline of {relaxed} d would do",
            relaxed=_up(min(durations_s[index] for index in kept) / DAY_S),
            **values,
        )
    dear = {index: cost for index, cost in costs.items() if cost is not None}
    if dear:
        first = min(dear, key=durations_s.__getitem__)
        return Message(
            "no plan meets the deadline of {deadline} d with probability {confidence}: the soonest, {gpus} ×"
            " {accelerator}, needs {days} d to be that sure; a deadline of {relaxed} d and a budget of {amount} would"
            " do",
            relaxed=_up(durations_s[first] / DAY_S),
            amount=_up_amount(dear[first]),
            **values,
        )
    return Message(
        "no plan meets the deadline of {deadline} d with probability {confidence}: the soonest, {gpus} ×"
        " {accelerator}, needs {days} d to be that sure; a deadline of {relaxed} d and a --price of up to {most} per"
        " card-hour would do",
        relaxed=_up(durations_s[soonest] / DAY_S),
        most=_down(_affordable(choices[soonest], durations_s[soonest], budget)),
        **values,
    )


def _explain_unpriced(
    choices: Sequence[Choice], durations_s: Sequence[float], constraints: Constraints, budget: float
) -> Message:
    """Say which price would have to be known, and the dearest that would keep the budget."""
    limit_s = inf if constraints.deadline_s is None else constraints.deadline_s
    affordable = {
        index: _affordable(choice, durations_s[index], budget)
        for index, choice in enumerate(choices)
        if choice.option.price_per_gpu_hour is None and durations_s[index] <= limit_s
    }
    dearest = max(affordable, key=affordable.__getitem__)
    return Message(
        "no price of {accelerator} is known, so nothing shows that the budget of {budget} is kept; give one with"
        " --price: up to {most} per card-hour would do, on {gpus} cards",
        accelerator=choices[dearest].accelerator,
        budget=_amount(budget),
        most=_down(affordable[dearest]),
        gpus=choices[dearest].gpus,
    )


def _explain_memory(tallies: Tallies) -> Message:
    for reason in (Reason.AT_RISK, Reason.MEMORY, Reason.HOST_MEMORY):
        tally = tallies.reasons.get(reason)
        if tally is not None and tally.example is not None:
            return Message("nothing fits: {reason}; the nearest, {example}", reason=reason.value, example=tally.example)
    for reason in (Reason.UNSUPPORTED, Reason.ILLEGAL):
        tally = tallies.reasons.get(reason)
        if tally is not None and tally.example is not None:
            return Message("nothing can be planned: {reason}: {example}", reason=reason.value, example=tally.example)
    return Message("nothing is on offer: no accelerator and number of them to plan with")


def _affordable(choice: Choice, duration_s: float, budget: float) -> float:
    """Give the dearest card-hour with which a run of this length stays within the budget."""
    return budget / (choice.rented_gpus * choice.option.billed_hours(duration_s))


def _amount(amount: float) -> str:
    """Write an amount of money as bills do."""
    return f"{amount:,.2f}" if amount < CENTS_BELOW else f"{amount:,.0f}"


def _up_amount(amount: float) -> str:
    """Round an amount up to three figures, at least to a whole unit."""
    unit = 10 ** max(len(str(ceil(amount))) - 3, 0)
    return f"{ceil(amount / unit) * unit:,}"


def _down(price: float) -> str:
    """Round a price down to three figures, so that it still serves."""
    rounded = Decimal(price).quantize(Decimal(1).scaleb(Decimal(price).adjusted() - 2), rounding=ROUND_DOWN)
    return f"{rounded:f}"


def _up(days: float) -> str:
    """Round up to a number of days that a person would write."""
    return f"{ceil(days)}" if days >= 10 else f"{ceil(days * 10) / 10:g}"

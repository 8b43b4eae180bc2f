"""Why nothing satisfies the constraints, and the nearest change that would."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from suanpei.messages import Message
from suanpei.planner.rejections import Reason
from suanpei.units import DAY_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.planner.options import Choice, Constraints
    from suanpei.planner.rejections import Tallies


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
    soonest = min(range(len(choices)), key=durations.__getitem__)
    if constraints.deadline_s is not None and durations[soonest] > constraints.deadline_s:
        return Message(
            "no plan meets the deadline of {deadline} d with probability {confidence}: the soonest, {gpus} ×"
            " {accelerator}, takes {days} d; a deadline of {relaxed} d would do, or more accelerators",
            deadline=f"{constraints.deadline_s / DAY_S:.3g}",
            confidence=confidence,
            gpus=choices[soonest].gpus,
            accelerator=choices[soonest].accelerator,
            days=f"{durations[soonest] / DAY_S:.1f}",
            relaxed=_up(durations[soonest] / DAY_S),
        )
    costs = {
        index: cost
        for index, choice in enumerate(choices)
        if (cost := choice.cost_of(durations[index])) is not None
        and (constraints.deadline_s is None or durations[index] <= constraints.deadline_s)
    }
    if not costs or constraints.budget is None:
        return Message("no plan satisfies the constraints; relax the confidence of {confidence}", confidence=confidence)
    cheapest = min(costs, key=costs.__getitem__)
    values = {
        "budget": f"{constraints.budget:,.0f}",
        "confidence": confidence,
        "gpus": choices[cheapest].gpus,
        "accelerator": choices[cheapest].accelerator,
        "cost": f"{costs[cheapest]:,.0f}",
        "relaxed": f"{ceil(costs[cheapest]):,}",
    }
    if constraints.deadline_s is None:
        return Message(
            "no plan stays within the budget of {budget} with probability {confidence}: the cheapest, {gpus} ×"
            " {accelerator}, costs {cost}; a budget of {relaxed} would do",
            **values,
        )
    return Message(
        "no plan keeps both deadline and budget of {budget} with probability {confidence}: the cheapest within the"
        " deadline, {gpus} × {accelerator}, costs {cost}; a budget of {relaxed} would do, or a later deadline",
        **values,
    )


def _explain_memory(tallies: Tallies) -> Message:
    for reason in (Reason.AT_RISK, Reason.MEMORY, Reason.HOST_MEMORY):
        tally = tallies.reasons.get(reason)
        if tally is not None and tally.example is not None:
            return Message(
                "nothing fits: {reason}; the nearest, {example}. More accelerators, adapters instead of full tuning, or"
                " a shorter sequence would need less",
                reason=reason.value,
                example=tally.example,
            )
    for reason in (Reason.UNSUPPORTED, Reason.ILLEGAL):
        tally = tallies.reasons.get(reason)
        if tally is not None and tally.example is not None:
            return Message("nothing can be planned: {reason}: {example}", reason=reason.value, example=tally.example)
    return Message("nothing is on offer: no accelerator and number of them to plan with")


def _up(days: float) -> str:
    """Round up to a number of days that a person would write."""
    return f"{ceil(days)}" if days >= 10 else f"{ceil(days * 10) / 10:g}"

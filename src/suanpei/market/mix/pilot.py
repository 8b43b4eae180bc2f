"""What is rented before the large contract: a trial, or a small cluster first, and what it teaches.

A pilot on the plan's own cards and count replaces the prediction by a measured step, whose interval is the noise
between repeated measurements (``physics.step_uncertainty``). On fewer cards it measures the work of a card, not what
larger groups wait for each other: the interval of the large cluster is then left as it was predicted.
"""

from __future__ import annotations

from dataclasses import dataclass

from suanpei.messages import Message
from suanpei.physics.step_uncertainty import spread_measured_step


@dataclass(frozen=True, kw_only=True)
class PlannedStep:
    """What a plan promises, as far as a pilot can check it."""

    accelerator: str
    gpus: int
    """Accelerators of the plan. [-]"""
    seconds: float
    low_seconds: float
    high_seconds: float
    """Ends of the 90 % interval. [s]"""
    goodput_fraction: float | None
    """Share of the time that is useful; None where the plan holds no run. [-]"""


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """When a pilot is passed and what it leaves known."""

    criteria: tuple[Message, ...]
    """All must hold before the large contract is signed."""
    lessons: tuple[Message, ...]
    low_seconds_after: float | None
    """Low end of the 90 % interval of the step after the pilot, if it measures what the plan says; None where the pilot
    cannot say or no plan is given. [s]"""
    high_seconds_after: float | None
    """The high end. [s]"""


def judge_pilot(gpus: int, plan: PlannedStep | None) -> Lesson:
    """Say when a pilot is passed and what it teaches.

    Args:
        gpus: Most accelerators of the pilot. [-]
        plan: What the plan promises; None is no plan at hand. [-]
    """
    if plan is None:
        return Lesson(
            criteria=(
                Message("exit: the measured step lies in the 90 % interval of a plan; give one with --plan plan.json"),
                Message("exit: checkpoints are written and read back, and a stopped run goes on from the last one"),
            ),
            lessons=(
                Message("the real step time on these machines; without --plan nothing says how much surer that makes"),
            ),
            low_seconds_after=None,
            high_seconds_after=None,
        )
    criteria = _list_criteria(gpus, plan)
    if gpus < plan.gpus:
        lesson = Message(
            "{gpus} cards measure the work of a card, not what {planned} wait for each other: for those the interval"
            " stays {low:.3g} to {high:.3g} s until a step is measured on {planned}",
            gpus=gpus,
            planned=plan.gpus,
            low=plan.low_seconds,
            high=plan.high_seconds,
        )
        return Lesson(criteria=criteria, lessons=(lesson,), low_seconds_after=None, high_seconds_after=None)
    low, high = spread_measured_step().interval(plan.seconds)
    return Lesson(
        criteria=criteria,
        lessons=(
            Message(
                "how long a step really takes: if it is {seconds:.3g} s, its 90 % interval narrows from"
                " {low:.3g}–{high:.3g} s to {after_low:.3g}–{after_high:.3g} s, the noise between repeated"
                " measurements; suanpei estimate --measured-step plans the rest with it",
                seconds=plan.seconds,
                after_low=low,
                after_high=high,
                low=plan.low_seconds,
                high=plan.high_seconds,
            ),
        ),
        low_seconds_after=low,
        high_seconds_after=high,
    )


def _list_criteria(gpus: int, plan: PlannedStep) -> tuple[Message, ...]:
    """List what must hold before the large contract is signed."""
    if gpus < plan.gpus:
        criteria = [
            Message(
                "exit: the measured step lies in the 90 % interval that suanpei estimate gives for {gpus} ×"
                " {accelerator}; the plan speaks of {planned}",
                gpus=gpus,
                accelerator=plan.accelerator,
                planned=plan.gpus,
            )
        ]
    else:
        criteria = [
            Message(
                "exit: the measured step takes at most {high:.3g} s ({gpus} × {accelerator}; predicted {seconds:.3g} s,"
                " 90 % interval {low:.3g} to {high:.3g} s)",
                low=plan.low_seconds,
                high=plan.high_seconds,
                seconds=plan.seconds,
                gpus=plan.gpus,
                accelerator=plan.accelerator,
            )
        ]
    if plan.goodput_fraction is not None:
        criteria.append(
            Message(
                "exit: at least {goodput:.1%} of the time after set-up is useful, as the plan counts on",
                goodput=plan.goodput_fraction,
            )
        )
    criteria.append(Message("exit: checkpoints are written and read back, and a stopped run goes on from the last one"))
    return tuple(criteria)

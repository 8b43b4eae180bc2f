"""The knee: where more accelerators stop paying.

Three signs, any of which ends it: the model FLOP/s of one accelerator, over the whole run with its set-up and stops,
fall below 0.6 of those on the smallest number that holds the job; communication that nothing hides exceeds 30 % of
compute; a saved day costs more than it is worth to the user. Each point shows MFU and the share of the achievable rate,
because a utilisation alone says nothing of what.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.planner.options import Choice

LEAST_RATE_FRACTION = 0.6
"""Of the smallest number's model FLOP/s per accelerator. The product's rule, stated with every knee."""

MOST_EXPOSED_FRACTION = 0.3
"""Of compute that may be communication which nothing hides. The product's rule, stated with every knee."""


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """One number of accelerators."""

    gpus: int
    days: float
    cost: float | None
    mfu: float
    of_achievable: float
    exposed_comm_to_compute: float
    model_flops_per_s_per_gpu: float
    """Over the whole run, set-up and stops included: hours that are paid for and do nothing count. [FLOP/s]"""


@dataclass(frozen=True, kw_only=True)
class Knee:
    """The curve and where it bends."""

    curve: tuple[CurvePoint, ...]
    recommended_gpus: int
    """The largest number before more stop paying."""
    rule: Message
    """Which sign ended it, with its figures."""


def build_curve(choices: Sequence[Choice]) -> tuple[CurvePoint, ...]:
    """Lay out the choices of one option by number of accelerators."""
    points = [
        CurvePoint(
            gpus=choice.gpus,
            days=choice.days,
            cost=choice.cost,
            mfu=choice.found.mfu,
            of_achievable=choice.found.of_achievable,
            exposed_comm_to_compute=choice.found.exposed_comm_to_compute,
            model_flops_per_s_per_gpu=choice.model_flops_per_s_per_gpu,
        )
        for choice in choices
    ]
    return tuple(sorted(points, key=lambda point: point.gpus))


def find_knee(curve: Sequence[CurvePoint], day_value: float | None = None) -> Knee | None:
    """Find the largest number of accelerators before more stop paying.

    Numbers that are no faster than a smaller one are passed over: they only divide badly.

    Args:
        curve: Points, ascending by number. [-]
        day_value: What one day saved is worth, in the currency of the costs; None leaves that sign out.

    Returns:
        The knee, or None for an empty curve.
    """
    if not curve:
        return None
    base = curve[0]
    good = base
    rule: Message | None = None
    for point in curve[1:]:
        if point.days >= good.days:
            continue
        sign = _check(point, base, good, day_value)
        if sign is None:
            good, rule = point, None
        elif rule is None:
            rule = sign
    if rule is None:
        rule = Message("more accelerators still pay at {gpus}, the largest number considered", gpus=curve[-1].gpus)
        if good.gpus != curve[-1].gpus:
            rule = Message("no larger number than {gpus} is faster", gpus=good.gpus)
    return Knee(curve=tuple(curve), recommended_gpus=good.gpus, rule=rule)


def _check(point: CurvePoint, base: CurvePoint, before: CurvePoint, day_value: float | None) -> Message | None:
    """Name the sign that a point shows, if any."""
    fraction = point.model_flops_per_s_per_gpu / base.model_flops_per_s_per_gpu
    if fraction < LEAST_RATE_FRACTION:
        return Message(
            "at {gpus} accelerators each does {percent} % of the model FLOP/s that it does at {base}, over the whole"
            " run, below {least} %",
            gpus=point.gpus,
            percent=f"{100 * fraction:.1f}",
            base=base.gpus,
            least=f"{100 * LEAST_RATE_FRACTION:.0f}",
        )
    if point.exposed_comm_to_compute > MOST_EXPOSED_FRACTION:
        return Message(
            "at {gpus} accelerators communication that nothing hides is {percent} % of compute, above {most} %",
            gpus=point.gpus,
            percent=f"{100 * point.exposed_comm_to_compute:.0f}",
            most=f"{100 * MOST_EXPOSED_FRACTION:.0f}",
        )
    if day_value is not None and point.cost is not None and before.cost is not None:
        per_day = (point.cost - before.cost) / (before.days - point.days)
        if per_day > day_value:
            return Message(
                "from {before} to {gpus} accelerators a saved day costs {cost}, above the {value} that it is worth",
                before=before.gpus,
                gpus=point.gpus,
                cost=f"{per_day:,.0f}",
                value=f"{day_value:,.0f}",
            )
    return None

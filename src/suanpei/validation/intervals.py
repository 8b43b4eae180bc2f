"""Intervals of held-out predictions, each made from the residuals of the other groups of the same split."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.physics.uncertainty import PRIOR_MEMORY_SIGMA, PRIOR_STEP_SIGMA, Spread
from suanpei.validation.case import MEMORY_METRICS, SPEED_METRICS
from suanpei.validation.residuals import collect_log_residuals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suanpei.validation.residuals import Prediction


def remake_intervals(predictions: Sequence[Prediction], label: Callable[[Prediction], str]) -> tuple[Prediction, ...]:
    """Give every speed and memory figure the 90 % interval that the other groups' residuals make.

    Conformal by groups: the residuals of a figure's own group never enter its interval, so that coverage is measured on
    what the interval did not see. Source of the method: Vovk, Gammerman and Shafer, Algorithmic Learning in a Random
    World, Springer, 2005, section 2.2.

    Args:
        predictions: Of one split, each by a fit that did not see its group.
        label: Names the group.

    Returns:
        The same predictions in the same order; fit verdicts and whole runs are left as they are.
    """
    members: dict[str, list[Prediction]] = defaultdict(list)
    for prediction in predictions:
        members[label(prediction)].append(prediction)
    spreads: dict[str, dict[str, tuple[float, ...]]] = {
        name: collect_log_residuals([other for key, others in members.items() if key != name for other in others])
        for name in members
    }
    return tuple(_with_interval(prediction, spreads[label(prediction)]) for prediction in predictions)


def _with_interval(prediction: Prediction, residuals: dict[str, tuple[float, ...]]) -> Prediction:
    if prediction.metric in SPEED_METRICS:
        spread = Spread(residuals=residuals.get(prediction.error_class, ()), prior_sigma=PRIOR_STEP_SIGMA)
        low, high = spread.interval(1.0)
        if prediction.metric != "step_s":
            low, high = 1 / high, 1 / low
    elif prediction.metric in MEMORY_METRICS:
        measured_before = residuals.get(prediction.counter, ())
        low, high = Spread(residuals=measured_before, prior_sigma=PRIOR_MEMORY_SIGMA).interval(1.0)
    else:
        return prediction
    return replace(prediction, low=prediction.predicted * low, high=prediction.predicted * high)

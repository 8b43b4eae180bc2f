"""What it costs to follow the ranking: the measured speed of the strategy ranked first against the best measured.

Regret is best measured speed over measured speed of the choice, less one; a choice within `NO_REGRET` of the best is
none. The choice is made among what was measured, by predicted speed alone.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import exp
from statistics import median
from typing import TYPE_CHECKING

from suanpei.validation.case import SPEED_METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from suanpei.validation.case import Case
    from suanpei.validation.residuals import Prediction

LEAST_STRATEGIES = 3
"""Fewer leave hardly a choice."""

NO_REGRET = 0.02
"""A choice this near to the best is as good as the best: repeats differ by as much. [-]"""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The strategy ranked first of one job on one cluster."""

    file: str
    source: str
    model: str
    gpus: int
    strategies: int
    """Measured. [-]"""
    case_id: str
    """A row of the strategy chosen."""
    best_case_id: str
    """A row of the fastest measured."""
    regret: float
    """Zero or above. [-]"""


def measure_regrets(cases: Iterable[Case], predictions: Iterable[Prediction]) -> tuple[Choice, ...]:
    """Choose a strategy in every group that has at least `LEAST_STRATEGIES`, and measure the regret.

    A group is one source's job (model, method, batch, length, precision) on its cards, everything but the strategy and
    the software version; strategies measured several times count once, by their medians.

    Args:
        cases: Hold jobs, clusters and strategies.
        predictions: Of those cases; only speeds matter.

    Returns:
        One choice per group, in the order of the cases.
    """
    speeds = {
        (one.file, one.case_id): one
        for one in predictions
        if one.metric in SPEED_METRICS and one.bound == "exact" and one.step_s is not None
    }
    groups: dict[object, dict[object, list[tuple[Case, Prediction]]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        speed = speeds.get((case.file, case.case_id))
        if speed is not None:
            same = (case.file, case.source, case.job, case.cluster, case.strategies[0].gpus)
            strategy = (case.strategies, case.recipe, case.overlaps)
            groups[same][strategy].append((case, speed))
    return tuple(_choose(list(group.values())) for group in groups.values() if len(group) >= LEAST_STRATEGIES)


def _choose(strategies: list[list[tuple[Case, Prediction]]]) -> Choice:
    """Take the least predicted step time of one group."""
    predicted_s = [median(speed.step_s or 0.0 for _, speed in members) for members in strategies]
    measured_s = [median(_measured_step_s(speed) for _, speed in members) for members in strategies]
    chosen = predicted_s.index(min(predicted_s))
    best = measured_s.index(min(measured_s))
    regret = measured_s[chosen] / measured_s[best] - 1
    case, speed = strategies[chosen][0]
    return Choice(
        file=speed.file,
        source=speed.source,
        model=case.job.architecture.name,
        gpus=case.strategies[0].gpus,
        strategies=len(strategies),
        case_id=speed.case_id,
        best_case_id=strategies[best][0][1].case_id,
        regret=regret if regret > NO_REGRET else 0.0,
    )


def _measured_step_s(speed: Prediction) -> float:
    return (speed.step_s or 0.0) * exp(speed.log_residual)

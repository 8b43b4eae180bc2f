"""Errors of predictions against measurements, and the residuals that intervals are made of."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.messages import Message
    from suanpei.physics.setting import Setting
    from suanpei.validation.case import Bound, Kind, Metric

Split = Literal["as_fitted", "grouped", "source_left_out", "hidden_size_left_out"]
"""What the fit behind a prediction did not see: perhaps nothing; a fold of configurations; the row's source; the rows
of its hidden size in its file."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """One figure, measured and predicted blind."""

    case_id: str
    file: str
    kind: Kind
    source: str
    error_class: str
    set_name: str
    generation: str
    """Accelerator generation of the card."""
    recipe: str
    counter: str
    """Memory residuals that a memory figure or a verdict reads (`MEMORY_COUNTERS`); blank for other figures."""
    group: str
    """Configuration: repeats share it."""
    metric: Metric
    bound: Bound
    measured: float
    predicted: float
    """In the metric's unit; for ``fits`` 1 is fits, 0.5 at risk, 0 does not fit."""
    low: float
    high: float
    """5th and 95th percentile of what is expected to be measured."""
    step_s: float | None = None
    """Predicted step time, whatever the metric that it was published in; None for memory and verdicts. [s]"""
    assumptions: tuple[Message, ...] = ()
    setting: Setting | None = None
    """What decides how sure a speed is; None for figures of memory."""
    load: float | None = None
    """Predicted memory need over capacity, for ``fits``. [-]"""

    @property
    def error(self) -> float:
        """Predicted over measured less one; for ``fits`` 0 is a right call and 1 a wrong one.

        An at-risk call is right for either outcome, as its interval holds the limit.
        """
        if self.metric == "fits":
            return 0.0 if abs(self.predicted - self.measured) <= 0.5 else 1.0
        return self.predicted / self.measured - 1

    @property
    def log_residual(self) -> float:
        """Logarithm of measured over predicted; of the step time where the metric is a speed. [-]"""
        ratio = log(self.measured / self.predicted)
        return -ratio if self.metric in ("tokens_per_s_per_gpu", "tflops_per_gpu") else ratio

    @property
    def holds(self) -> bool:
        """Whether the interval holds the measurement."""
        return self.low <= self.measured <= self.high


def weighted_quantile(
    values: Sequence[float] | np.ndarray, weights: Sequence[float] | np.ndarray, share: float
) -> float:
    """Give the smallest value at or below which at least this share of the weight lies.

    Args:
        values: Any order, at least one. [any]
        weights: Of the same length, positive. [-]
        share: Between 0 and 1. [-]

    Example:
        >>> weighted_quantile([3.0, 1.0, 2.0], [1, 1, 1], 0.5)
        2.0
    """
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(np.asarray(weights, dtype=np.float64)[order])
    position = int(np.searchsorted(cumulative, share * cumulative[-1] * (1 - 1e-12)))
    return float(np.asarray(values)[order][position])

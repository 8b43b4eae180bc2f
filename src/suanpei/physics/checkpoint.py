"""Checkpoints: how large, and how often.

References:
    .. [1] J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS 22(3), 2006,
           doi:10.1016/j.future.2004.11.016, equation 37.
    .. [2] J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.memory.formats import state_bytes_per_parameter
from suanpei.physics.memory.parameters import hold_trained
from suanpei.physics.strategy import Sharding

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suanpei.physics.recipe import Recipe
    from suanpei.physics.workload import Workload

    FloatArray = NDArray[np.float64]


def estimate_checkpoint_bytes(work: Workload, recipe: Recipe) -> float:
    """Estimate the size of one checkpoint: weights, master copy and optimizer states of what is trained.

    14 B per parameter with 16-bit weights, their fp32 copy and AdamW (BLOOM-176B wrote 2.3 TB for 176.2 B parameters),
    12 B where the weights themselves are fp32 (torchtitan wrote 96.4 GB for 8.03 B). Adapters save adapters alone.

    Args:
        work: The job and its operators. [-]
        recipe: What the framework keeps per parameter. [-]

    Returns:
        Size. [B]

    Valid for: Adafactor and Muon without the part of their states that depends on shapes.
    """
    trained = hold_trained(work.job, work.operators)
    by_kind = trained.tensor + trained.whole + trained.expert
    parameters = float(by_kind[work.operators.order].sum()) + trained.first + trained.last + trained.final
    per_parameter = state_bytes_per_parameter(
        recipe, Sharding.NONE, 1, precision=work.job.precision, optimizer=work.job.optimizer
    )
    return parameters * float(per_parameter.weights + per_parameter.optimizer)


def estimate_checkpoint_interval_s(blocking_s: ArrayLike, mean_time_between_stops_s: ArrayLike) -> FloatArray:
    """Estimate the useful time between checkpoints that wastes least.

    ``T = √(2 C M) · (1 + ⅓ √(C / 2M) + C / 18M) - C`` for ``C < 2M``, else ``T = M`` [1]_; its first term is Young's
    [2]_. The curve is flat about the optimum: ± 20 % of T costs little.

    Args:
        blocking_s: Time that one checkpoint blocks training, C, any shape. [s]
        mean_time_between_stops_s: M, broadcastable. [s]

    Returns:
        Interval, broadcast shape. [s]

    Valid for: exponential stops.

    Example:
        >>> round(float(estimate_checkpoint_interval_s(60.0, 10_800.0)), 1)
        1098.8
    """
    cost = np.asarray(blocking_s, dtype=np.float64)
    mean = np.asarray(mean_time_between_stops_s, dtype=np.float64)
    ratio = cost / (2.0 * mean)
    interval = np.sqrt(2.0 * cost * mean) * (1.0 + np.sqrt(ratio) / 3.0 + ratio / 9.0) - cost
    return np.where(ratio < 1.0, interval, mean)

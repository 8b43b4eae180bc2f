"""Time of the pipeline: stages in step, the bubble, activations passed on.

Sources:
    1F1B and interleaving: D. Narayanan et al., arXiv 2104.04473, section 2.2: the bubble is (p - 1) / v of one
    micro-batch's forward and backward time, beside m micro-batches of work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.collectives import estimate_all_gather_s, estimate_send_s, span_group

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suanpei.physics.rates import Rates

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]


def estimate_bubble_s(all_stages_s: ArrayLike, slowest_stage_s: ArrayLike, vpp: ArrayLike) -> FloatArray:
    """Estimate the idle time of the slowest stage over one step.

    The first micro-batch must pass every other stage before the last one ends; interleaving cuts what it waits for into
    `vpp` pieces: ``(sum over stages - slowest) / vpp``. With equal stages this is ``(p - 1) / v · (t_f + t_b)``.

    Args:
        all_stages_s: Forward and backward time of one micro-batch, summed over the stages, any shape. [s]
        slowest_stage_s: The same of the slowest stage. [s]
        vpp: Virtual stages per rank. [-]

    Returns:
        Idle time per step. [s]
    """
    idle = np.asarray(all_stages_s, dtype=np.float64) - np.asarray(slowest_stage_s, dtype=np.float64)
    return np.asarray(idle / np.asarray(vpp), dtype=np.float64)


def bubble_fraction(pp: int, vpp: int, micro_batches: int) -> float:
    """Give the bubble over the ideal time of equal stages, ``(p - 1) / (v m)``.

    Args:
        pp: Pipeline stages. [-]
        vpp: Virtual stages per rank. [-]
        micro_batches: Micro-batches per step and rank. [-]

    Returns:
        Idle time over ideal time. [-]

    Example:
        >>> bubble_fraction(8, 1, 32)
        0.21875
    """
    return (pp - 1) / (vpp * micro_batches)


def bubble_share_of_total(pp: int, vpp: int, micro_batches: int) -> float:
    """Give the bubble over the whole time of the step, ``b / (1 + b)`` with b over the ideal time.

    Args:
        pp: Pipeline stages. [-]
        vpp: Virtual stages per rank. [-]
        micro_batches: Micro-batches per step and rank. [-]

    Returns:
        Idle time over all time. [-]

    Example:
        >>> round(bubble_share_of_total(8, 1, 32), 4)
        0.1795
    """
    bubble = bubble_fraction(pp, vpp, micro_batches)
    return bubble / (1.0 + bubble)


def estimate_send_per_micro_batch_s(
    hidden: int,
    seq_len: int,
    rates: Rates,
    *,
    tp: IntArray,
    sp: IntArray,
    cp: IntArray,
    pp: IntArray,
    dp: IntArray,
    micro_batch: IntArray,
) -> FloatArray:
    """Estimate the transfer of one micro-batch's activations to the next stage, one way.

    Each tensor-parallel rank sends its share of the tensor over its own card; without sequence parallelism, which
    leaves the tensor divided, the receivers gather it again inside the node (scatter-gather, arXiv 2104.04473, section
    4.1).

    Args:
        hidden: Width of the residual stream. [-]
        seq_len: Tokens of a sequence. [tokens]
        rates: Rates of the job on the cluster. [-]
        tp: Tensor-parallel degree. [-]
        sp: Whether sequence parallelism leaves the tensor divided. [-]
        cp: Context-parallel degree. [-]
        pp: Pipeline stages. [-]
        dp: Data-parallel degree. [-]
        micro_batch: Sequences per micro-batch. [-]

    Returns:
        Time, 0 without a pipeline, broadcast shape. [s]
    """
    tensor_bytes = micro_batch * float(seq_len) / cp * hidden * rates.compute_bytes
    crosses = tp * cp * dp * pp > rates.domain_gpus
    gathered = np.where(sp > 0, 0.0, estimate_all_gather_s(tensor_bytes, span_group(tp, 1, rates.domain_gpus), rates))
    return np.where(pp > 1, estimate_send_s(tensor_bytes / tp, crosses, rates) + gathered, 0.0)

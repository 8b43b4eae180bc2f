"""A bound that drops a candidate before its time is evaluated, and never one that the evaluation would keep.

Products at the rate of the largest shapes, attention and element-wise passes, with the pipeline's bubble and, under
full recomputation, the forward pass once more; tile and wave effects, launches, communication, uneven stages and the
optimizer left out: below the full estimate term by term. A property test compares them. Memory needs no bound: it
depends on no accelerator and is evaluated once for all (``pool``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from suanpei.physics.compute import estimate_attention_s, estimate_pass_s
from suanpei.physics.layer import count_loss_bytes
from suanpei.physics.strategy import Recompute

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suanpei.physics.rates import Rates
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.strategy import Strategies
    from suanpei.physics.workload import Workload

    FloatArray = NDArray[np.float64]


def bound_step_s(work: Workload, rates: Rates, recipe: Recipe, strategies: Strategies) -> FloatArray:
    """Give a lower bound of the time of one step.

    Of the work of one micro-batch on one tensor- and context-parallel rank, ``w``, the slowest stage has at least
    ``w / pp``, and waits for the others through the bubble::

        t ≥ w / pp · (m + (pp - 1) / vpp)

    Args:
        work: The job and its operators. [-]
        rates: Achievable rates of the job on the cluster. [-]
        recipe: Where its recomputation stops. [-]
        strategies: Candidates, shape (n,). [-]

    Returns:
        Bound, shape (n,). [s]
    """
    forward_s, backward_s = _layers_per_token_s(work, rates)
    once_s = forward_s + backward_s + _head_per_token_s(work, rates, recipe)
    again_s = forward_s - (_last_per_token_s(work, rates) if recipe.recompute_stops_early else 0.0)
    per_token_s = np.where(strategies.recompute == Recompute.FULL, once_s + again_s, once_s)
    tokens = strategies.micro_batch * float(work.job.seq_len)
    per_stage_s = per_token_s * tokens / (strategies.tp * strategies.cp * strategies.pp)
    return np.asarray(per_stage_s * (strategies.grad_accum + (strategies.pp - 1) / strategies.vpp))


def _layers_per_token_s(work: Workload, rates: Rates) -> tuple[float, float]:
    """Sum all layers' forward and backward work of one token at the rates of large shapes, divided by nothing. [s]"""
    job, head = work.job, work.operators.head
    # a capacity below one lets experts drop tokens
    kept = min(job.capacity_factor or 1.0, 1.0)
    flops = work.forward_product_flops_per_token - (0.0 if head is None else head.flops_per_token)
    products_s = flops * kept / rates.product_flops_per_s
    forward_s, backward_s = products_s, products_s * (2.0 if job.trains_all else 1.0)
    for kind, layers in zip(work.operators.kinds, np.bincount(work.operators.order), strict=True):
        # the fixed start of a kernel cancels between one and two sequences
        attention = estimate_attention_s(
            kind.attention, job.seq_len, np.array([1.0, 2.0]), rates, flash=job.flash_attention
        )
        passes_s = [float(estimate_pass_s(item.elements * rates.pass_traffic * kept, rates)) for item in kind.passes]
        ratios = [item.backward_ratio for item in kind.passes]
        forward_s += layers * (float(np.diff(attention[0])[0]) / job.seq_len + sum(passes_s))
        backward_s += layers * (
            float(np.diff(attention[1])[0]) / job.seq_len
            + sum(time * ratio for time, ratio in zip(passes_s, ratios, strict=True))
        )
    return float(forward_s), float(backward_s)


def _last_per_token_s(work: Workload, rates: Rates) -> float:
    """Give the forward work of one token in the products that end the layers. [s]"""
    flops = 0.0
    for index in work.operators.order:
        flops += sum(item.flops_per_token for item in work.operators.kinds[index].products if item.target == "down")
    return flops / rates.product_flops_per_s


def _head_per_token_s(work: Workload, rates: Rates, recipe: Recipe) -> float:
    """Give the output layer's and the loss's work of one token, forward and backward. [s]"""
    head = work.operators.head
    if head is None:
        return 0.0
    products_s = (3.0 if work.job.trains_all else 2.0) * head.flops_per_token / rates.head_flops_per_s
    return products_s + work.operators.vocab * count_loss_bytes(work, recipe) / rates.memory_bytes_per_s

"""The arithmetic of batches: ``global = micro x accumulation x data-parallel ranks``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from suanpei.messages import Message
from suanpei.physics.strategy import divisors


@dataclass(frozen=True, kw_only=True)
class BatchCheck:
    """Whether the sizes of a batch belong together, and what would make them."""

    consistent: bool
    product: int
    """micro_batch x grad_accum x dp. [sequences]"""
    cause: Literal["world_size_not_initialised"] | None
    """A known reason why a framework reports such sizes as wrong though they are right."""
    fixed_grad_accum: int | None
    """Accumulation that makes them consistent at this dp; None where the batch is no multiple. [-]"""
    possible_dp: tuple[int, ...]
    """Data-parallel degrees that can reach the batch with this micro-batch. [-]"""
    message: Message | None
    """The contradiction in words; None where there is none."""


def find_grad_accum(global_batch_seqs: int, micro_batch: int, dp: int) -> int | None:
    """Give the accumulation steps that reach the batch exactly; None where it is no multiple. [-]

    Example:
        >>> find_grad_accum(256, 2, 8)
        16
    """
    steps, rest = divmod(global_batch_seqs, micro_batch * dp)
    return steps if rest == 0 and steps > 0 else None


def check_batch(
    *, global_batch_seqs: int, micro_batch: int, grad_accum: int, dp: int, launched_dp: int | None = None
) -> BatchCheck:
    """Check that a batch is the product of its parts, as DeepSpeed does at start-up.

    ``global_batch_seqs = micro_batch x grad_accum x dp`` (deepspeed.ai/docs/config-json,
    "Batch Size Related Parameters").

    Args:
        global_batch_seqs: Sequences per optimizer step. [-]
        micro_batch: Sequences per rank and forward pass. [-]
        grad_accum: Forward passes per optimizer step. [-]
        dp: Data-parallel ranks that the framework saw. [-]
        launched_dp: Data-parallel ranks that were really launched, where that is known to differ. [-]

    Returns:
        The verdict with remedies. With `launched_dp`, a check that saw one rank and would pass for those launched
        ran before the process group was initialised: the sizes are right. [-]
    """
    product = micro_batch * grad_accum * dp
    fixed = find_grad_accum(global_batch_seqs, micro_batch, dp)
    whole = global_batch_seqs // micro_batch if global_batch_seqs % micro_batch == 0 else 0
    possible = tuple(divisors(whole)) if whole else ()
    if product == global_batch_seqs:
        return BatchCheck(
            consistent=True, product=product, cause=None, fixed_grad_accum=fixed, possible_dp=possible, message=None
        )
    if launched_dp is not None and micro_batch * grad_accum * launched_dp == global_batch_seqs:
        return BatchCheck(
            consistent=True,
            product=micro_batch * grad_accum * launched_dp,
            cause="world_size_not_initialised",
            fixed_grad_accum=grad_accum,
            possible_dp=possible,
            message=Message(
                "the sizes are right for the {launched} ranks launched; the check saw {seen}, because it ran before "
                "the process group was initialised",
                launched=launched_dp,
                seen=dp,
            ),
        )
    return BatchCheck(
        consistent=False,
        product=product,
        cause=None,
        fixed_grad_accum=fixed,
        possible_dp=possible,
        message=_explain(global_batch_seqs, micro_batch, grad_accum, dp, fixed, possible),
    )


def _explain(
    global_batch_seqs: int, micro_batch: int, grad_accum: int, dp: int, fixed: int | None, possible: tuple[int, ...]
) -> Message:
    if fixed is not None:
        remedy = Message("gradient accumulation {steps} would fit", steps=fixed)
    elif possible:
        nearest = min(possible, key=lambda degree: (abs(degree - dp), -degree))
        remedy = Message(
            "with {dp} data-parallel ranks gradient accumulation {steps} would fit",
            dp=nearest,
            steps=global_batch_seqs // (micro_batch * nearest),
        )
    else:
        remedy = Message("take a global batch that is a multiple of the micro-batch of {micro}", micro=micro_batch)
    return Message(
        "global batch {batch} is not micro-batch {micro} x accumulation {accum} x data-parallel {dp} = {product}: "
        "{remedy}",
        batch=global_batch_seqs,
        micro=micro_batch,
        accum=grad_accum,
        dp=dp,
        product=micro_batch * grad_accum * dp,
        remedy=remedy,
    )

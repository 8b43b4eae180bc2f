"""Advice: the single changes to a configuration that help, ranked by their effect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suanpei.messages import Message
from suanpei.physics.evaluate import evaluate
from suanpei.physics.strategy import Recompute, Sharding, Strategies, Strategy, check_strategy
from suanpei.physics.uncertainty import Fit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suanpei.job.job import Job
    from suanpei.machine.calibration import Calibration
    from suanpei.machine.cluster import Cluster
    from suanpei.physics.estimate import Verdict
    from suanpei.physics.recipe import Recipe

LEAST_GAIN_FRACTION = 0.01
"""Smaller gains in time are not worth a line: repeats of one configuration differ by 1 to 1.5 %."""


@dataclass(frozen=True, kw_only=True)
class Advice:
    """One change and what it does."""

    change: Message
    why: Message
    step_change_fraction: float
    """Change of the time per token over the present one; below 0 is faster. [-]"""
    device_change_bytes: float
    """Change of the memory need of the fullest accelerator. [B]"""
    verdict: Verdict
    """Whether the changed configuration fits."""


@dataclass(frozen=True, kw_only=True)
class _Change:
    job: Job
    strategy: Strategy
    change: Message
    why: Message


def advise(
    job: Job, cluster: Cluster, recipe: Recipe, calibration: Calibration, strategy: Strategy, *, most: int = 6
) -> tuple[Advice, ...]:
    """List the single changes that help, best first.

    A configuration that fits is improved in time by changes that still fit; one that does not is helped by whatever
    needs less memory, what makes it fit first.

    Args:
        job: What is trained.
        cluster: On what.
        recipe: With which framework's habits.
        calibration: Achievable rates and overheads.
        strategy: The present configuration.
        most: Longest list. [-]

    Returns:
        At most `most` changes.
    """
    present = evaluate(job, cluster, recipe, calibration, Strategies.of([strategy]))
    fits_now = int(present.fit[0]) == Fit.FITS
    time_now, device_now = float(present.step_s[0] / present.tokens_per_step[0]), float(present.device_bytes[0])
    scored: list[tuple[tuple[int, float], Advice]] = []
    for item in _changes(job, recipe, strategy):
        if check_strategy(item.job, recipe, item.strategy):
            continue
        changed = evaluate(item.job, cluster, recipe, calibration, Strategies.of([item.strategy]))
        fit, device = int(changed.fit[0]), float(changed.device_bytes[0])
        gain = float(changed.step_s[0] / changed.tokens_per_step[0]) / time_now - 1.0
        helps = gain < -LEAST_GAIN_FRACTION and fit == Fit.FITS if fits_now else device < device_now
        if helps and np.isfinite(gain):
            advice = Advice(
                change=item.change,
                why=item.why,
                step_change_fraction=gain,
                device_change_bytes=device - device_now,
                verdict=Fit(fit).verdict,
            )
            scored.append(((fit, gain if fits_now or fit == Fit.FITS else device), advice))
    return tuple(advice for _, advice in sorted(scored, key=lambda pair: pair[0])[:most])


def _changes(job: Job, recipe: Recipe, strategy: Strategy) -> Iterator[_Change]:
    yield from _strategy_changes(job, strategy)
    yield from _sharding_changes(job, recipe, strategy)
    yield from _kernel_changes(job, strategy)


def _strategy_changes(job: Job, strategy: Strategy) -> Iterator[_Change]:
    for level, why in (
        (Recompute.NONE, Message("nothing is computed twice")),
        (Recompute.SELECTIVE, Message("only cheap work is computed twice")),
        (Recompute.FULL, Message("one tensor per layer is kept instead of all")),
    ):
        if level != strategy.recompute:
            change = Message("recompute {level}", level=level.name.lower())
            yield _Change(job=job, strategy=replace(strategy, recompute=level), change=change, why=why)
    micro, accumulated = strategy.micro_batch, strategy.grad_accum
    if accumulated % 2 == 0:
        yield _Change(
            job=job,
            strategy=replace(strategy, micro_batch=micro * 2, grad_accum=accumulated // 2),
            change=Message("micro-batch {size}", size=micro * 2),
            why=Message("larger products, fewer launches and gathers"),
        )
    if micro % 2 == 0:
        yield _Change(
            job=job,
            strategy=replace(strategy, micro_batch=micro // 2, grad_accum=accumulated * 2),
            change=Message("micro-batch {size}", size=micro // 2),
            why=Message("half the activations and logits at a time"),
        )
    yield from _degree_changes(job, strategy)


def _degree_changes(job: Job, strategy: Strategy) -> Iterator[_Change]:
    reasons = {
        "tp": Message("weights, activations and logits are divided among more accelerators"),
        "pp": Message("layers are divided among more accelerators"),
        "cp": Message("each sequence is divided among more accelerators"),
    }
    for axis, why in reasons.items():
        degree = getattr(strategy, axis)
        if strategy.dp % 2 == 0:
            more = replace(strategy, **{axis: degree * 2}, dp=strategy.dp // 2, grad_accum=strategy.grad_accum * 2)
            more = replace(more, sp=more.tp > 1)
            change = Message("{axis} {degree}, dp {dp}", axis=axis, degree=degree * 2, dp=more.dp)
            yield _Change(job=job, strategy=more, change=change, why=why)
        if degree % 2 == 0 and strategy.grad_accum % 2 == 0:
            fewer = replace(strategy, **{axis: degree // 2}, dp=strategy.dp * 2, grad_accum=strategy.grad_accum // 2)
            fewer = replace(fewer, sp=fewer.tp > 1, vpp=fewer.vpp if fewer.pp > 1 else 1)
            change = Message("{axis} {degree}, dp {dp}", axis=axis, degree=degree // 2, dp=fewer.dp)
            yield _Change(job=job, strategy=fewer, change=change, why=Message("less communication or a shorter bubble"))


def _sharding_changes(job: Job, recipe: Recipe, strategy: Strategy) -> Iterator[_Change]:
    if strategy.dp * strategy.cp == 1:
        return
    for sharding in recipe.shardings:
        if sharding != strategy.sharding:
            why = (
                Message("more of the states is divided among data-parallel ranks")
                if sharding > strategy.sharding
                else Message("fewer gathers")
            )
            change = Message("sharding {sharding}", sharding=Sharding(sharding).name.lower())
            yield _Change(job=job, strategy=replace(strategy, sharding=sharding), change=change, why=why)


def _kernel_changes(job: Job, strategy: Strategy) -> Iterator[_Change]:
    if not job.flash_attention:
        yield _Change(
            job=replace(job, flash_attention=True),
            strategy=strategy,
            change=Message("flash attention"),
            why=Message("the square of the sequence length is never kept"),
        )
    if job.loss != "fused":
        yield _Change(
            job=replace(job, loss="fused"),
            strategy=strategy,
            change=Message("a fused loss"),
            why=Message("the logits are never held whole"),
        )
    if job.trains_all and "optimizer" not in job.offload:
        yield _Change(
            job=replace(job, offload=job.offload | {"optimizer"}),
            strategy=strategy,
            change=Message("optimizer states in host memory"),
            why=Message("its states and the gradients leave the accelerator, at the price of the host link"),
        )

"""From the strategy options that a user gave to the strategies that they leave open."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import product
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from suanpei.errors import InputError, NoAnswerError
from suanpei.messages import Message
from suanpei.physics.evaluate import evaluate
from suanpei.physics.strategy import (
    Recompute,
    Sharding,
    Strategies,
    Strategy,
    check_strategy,
    divisors,
    legal_mask,
)
from suanpei.physics.uncertainty import Fit
from suanpei.planner.enumerate import PRACTICAL, enumerate_strategies
from suanpei.quantities import parse_choice

if TYPE_CHECKING:
    from suanpei.job.job import Job
    from suanpei.machine.cluster import Cluster
    from suanpei.physics.evaluate import Estimates
    from suanpei.physics.recipe import Recipe
    from suanpei.verbs.inputs import Inputs

LevelT = TypeVar("LevelT", Sharding, Recompute)

MOST_DEGREE = 10_000_000
"""Largest degree, micro-batch or accumulation that is read at all."""
MOST_MICRO_BATCH = 64
"""Largest micro-batch tried where none is given. [sequences]"""


@dataclass(frozen=True, kw_only=True)
class StrategyRequest:
    """The strategy options; None is not given."""

    tp: int | None = None
    sp: bool | None = None
    pp: int | None = None
    vpp: int | None = None
    cp: int | None = None
    ep: int | None = None
    etp: int | None = None
    sharding: str | None = None
    recompute: str | None = None
    micro_batch: int | None = None
    grad_accum: int | None = None
    recipe: str | None = None

    @property
    def says_layout(self) -> bool:
        """Whether any option fixes how the job is split (the recipe alone does not)."""
        return any(getattr(self, item.name) is not None for item in fields(self) if item.name != "recipe")


@dataclass(frozen=True, kw_only=True)
class ChosenStrategy:
    """The candidate that answers a request, with what was left to choose."""

    estimates: Estimates
    """All candidates of the chosen recipe that the request leaves open."""
    row: int
    assumptions: tuple[Message, ...]


def choose_strategy(request: StrategyRequest, job: Job, cluster: Cluster, gpus: int, inputs: Inputs) -> ChosenStrategy:
    """Choose the fastest strategy that fits among those that the request leaves open.

    With no option of the layout given, every practical strategy is open; with some given, the parallel degrees that are
    not are 1 and data parallelism takes the rest, while sharding, recomputation and micro-batch stay open.

    Args:
        request: What the user said.
        job: What is trained.
        cluster: On what.
        gpus: Accelerators. [-]
        inputs: Recipes and calibration.

    Returns:
        The choice; where nothing fits, the candidate that needs least memory.

    Raises:
        InputError: what was given breaks a rule, naming it.
        NoAnswerError: no strategy is legal on this many accelerators.
    """
    if gpus < 1:
        raise InputError(Message("gpus must be at least 1, got {given}", given=gpus))
    recipes = _recipes(request, job, cluster, inputs)
    pools: list[tuple[Recipe, Strategies]] = []
    reasons: list[Message] = []
    for recipe in recipes:
        if request.says_layout:
            listed = _list_strategies(request, job, recipe, gpus)
            rows = Strategies.of(listed)
            legal = np.broadcast_to(legal_mask(job, recipe, rows), (len(rows),))
            if not legal.any():
                reasons += check_strategy(job, recipe, listed[0])
            rows = rows.take(legal)
        else:
            rows = enumerate_strategies(job, cluster, recipe, gpus, PRACTICAL)
        if len(rows):
            pools.append((recipe, rows))
    if not pools and reasons:
        raise InputError(reasons[0])
    if not pools:
        raise NoAnswerError(
            Message(
                "no strategy splits {model} and a global batch of {batch} sequences over {gpus} accelerators; try"
                " another number of accelerators or another --global-batch",
                model=job.architecture.name,
                batch=job.global_batch_seqs,
                gpus=gpus,
            )
        )
    evaluated = [evaluate(job, cluster, recipe, inputs.calibration, rows) for recipe, rows in pools]
    best = min(evaluated, key=_rank)
    notes = [Message("recipe: {recipe} (chosen, not given)", recipe=best.recipe.name)] if not request.recipe else []
    if not request.says_layout:
        notes.append(Message("strategy: the fastest that fits of {count} legal ones", count=sum(map(len, evaluated))))
    else:
        open_knobs = [name for name in ("sharding", "recompute", "micro_batch") if getattr(request, name) is None]
        if open_knobs:
            notes.append(Message("{knobs}: not given, the fastest that fits was chosen", knobs=", ".join(open_knobs)))
    return ChosenStrategy(estimates=best, row=_best_row(best), assumptions=tuple(notes))


def _recipes(request: StrategyRequest, job: Job, cluster: Cluster, inputs: Inputs) -> list[Recipe]:
    stack = cluster.accelerator.stack
    if request.recipe is not None:
        recipe = inputs.recipe(request.recipe)
        if stack not in recipe.stacks:
            raise InputError(
                Message(
                    "recipe {recipe} runs on {stacks}; {accelerator} needs {stack}",
                    recipe=recipe.name,
                    stacks=", ".join(recipe.stacks),
                    accelerator=cluster.accelerator.name,
                    stack=stack,
                )
            )
        return [recipe]
    fitting = [
        recipe for recipe in inputs.current_recipes if stack in recipe.stacks and (job.trains_all or recipe.adapters)
    ]
    if not fitting:
        raise InputError(
            Message(
                "no recipe runs on the {stack} stack of {accelerator}",
                stack=stack,
                accelerator=cluster.accelerator.name,
            )
        )
    return fitting


def _list_strategies(request: StrategyRequest, job: Job, recipe: Recipe, gpus: int) -> list[Strategy]:
    """List what sharding, recomputation and micro-batch leave open around the degrees given."""
    degrees = {name: getattr(request, name) or 1 for name in ("tp", "pp", "vpp", "cp", "ep")}
    for name in ("tp", "pp", "vpp", "cp", "ep", "etp", "micro_batch", "grad_accum"):
        given = getattr(request, name)
        if given is not None and given < 1:
            raise InputError(Message("{field} must be at least 1, got {given}", field=name, given=given))
        if given is not None and given > MOST_DEGREE:
            raise InputError(
                Message(
                    "{field} must be at most {most}, got '{given}'", field=name, most=f"{MOST_DEGREE:,}", given=given
                )
            )
    used = degrees["tp"] * degrees["pp"] * degrees["cp"]
    if gpus % used:
        raise InputError(
            Message("tp · pp · cp = {used} does not divide {gpus} gpus; gpus = tp · cp · pp · dp", used=used, gpus=gpus)
        )
    dp = gpus // used
    shardings = recipe.shardings if request.sharding is None else (_named(Sharding, "sharding", request.sharding),)
    levels = tuple(Recompute) if request.recompute is None else (_named(Recompute, "recompute", request.recompute),)
    sp = "sp" in recipe.axes and degrees["tp"] > 1 if request.sp is None else request.sp
    base = Strategy(
        tp=degrees["tp"],
        sp=sp,
        pp=degrees["pp"],
        vpp=degrees["vpp"],
        cp=degrees["cp"],
        ep=degrees["ep"],
        etp=request.etp or 1,
        dp=dp,
    )
    return [
        replace(base, sharding=sharding, recompute=level, micro_batch=micro, grad_accum=accumulated)
        for sharding, level, (micro, accumulated) in product(shardings, levels, _batches(request, job, dp))
    ]


def _batches(request: StrategyRequest, job: Job, dp: int) -> list[tuple[int, int]]:
    """Pair micro-batches with accumulation so that they make the global batch."""
    per_rank = max(round(job.global_batch_seqs / dp), 1)
    if request.micro_batch is not None:
        accumulated = request.grad_accum or max(round(job.global_batch_seqs / (dp * request.micro_batch)), 1)
        return [(request.micro_batch, accumulated)]
    if request.grad_accum is not None:
        return [(max(round(per_rank / request.grad_accum), 1), request.grad_accum)]
    return [(micro, per_rank // micro) for micro in divisors(per_rank) if micro <= MOST_MICRO_BATCH]


def _named(kind: type[LevelT], field: str, given: str) -> LevelT:
    return kind[parse_choice(given, field, [item.name.lower() for item in kind]).upper()]


def _best_row(estimates: Estimates) -> int:
    """Give the fastest row that fits, else the fastest at risk, else the one that needs least memory."""
    for verdict in (Fit.FITS, Fit.AT_RISK):
        rows = np.flatnonzero(estimates.fit == verdict)
        if len(rows):
            return int(rows[np.argmin(_seconds_per_token(estimates)[rows])])
    return int(np.argmin(estimates.device_bytes))


def _rank(estimates: Estimates) -> tuple[int, float]:
    row = _best_row(estimates)
    fit = int(estimates.fit[row])
    return fit, float(_seconds_per_token(estimates)[row] if fit < Fit.DOES_NOT_FIT else estimates.device_bytes[row])


def _seconds_per_token(estimates: Estimates) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return estimates.step_s / estimates.tokens_per_step

"""What makes a strategy legal: each rule once, as an array test and as the sentence that explains it.

A rule sees the knobs as arrays that broadcast against each other, so the same test serves one strategy, a million rows,
or an open mesh of axes (``planner.enumerate``), where it is evaluated only on the axes that it names.

Sources: the frameworks' own checks. Megatron-LM (``arguments.py``, ``transformer_config.py``): heads and feed-forward
width over tensor parallelism, layers over virtual stages, micro-batches over stages when interleaving, zigzag halves of
context parallelism, sequence parallelism without tensor parallelism. Query groups may be fewer than the tensor-parallel
ranks if they divide them: each rank then holds a whole copy of its group. The vocabulary is padded, so nothing has to
divide it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from suanpei.job.job import Job
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.strategy import Strategies, Strategy

    BoolArray = NDArray[np.bool_]

BATCH_TOLERANCE_FRACTION = 0.1
"""How far a candidate's batch may be from a batch given in tokens, which is a target. Stated with every plan."""

AXES = ("tp", "sp", "pp", "vpp", "cp", "ep")
"""The axes that a recipe offers or not; dp is always there."""


DEGREES = ("tp", "pp", "vpp", "cp", "ep", "etp", "dp", "micro_batch", "grad_accum")
"""The knobs that count something."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The numbers of a job and a recipe that legality depends on."""

    job: Job
    recipe: Recipe

    @cached_property
    def heads(self) -> tuple[int, ...]:
        """Attention heads of each kind of layer, distinct."""
        return tuple({kind.attention.heads for kind in self.job.architecture.kinds})

    @cached_property
    def kv_heads(self) -> tuple[int, ...]:
        """Key-value heads of each kind of layer; latent attention expands to every head, so none are listed for it."""
        kinds = self.job.architecture.kinds
        return tuple({kind.attention.kv_heads for kind in kinds if not kind.attention.is_latent})

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Inner widths that tensor parallelism cuts: dense blocks and shared experts."""
        kinds = self.job.architecture.kinds
        dense = {kind.mlp.ffn for kind in kinds if kind.mlp is not None}
        shared = {kind.experts.shared_ffn for kind in kinds if kind.experts is not None and kind.experts.shared_ffn}
        return tuple(dense | shared)

    @cached_property
    def experts(self) -> int:
        """Greatest common divisor of the routed experts of all expert layers; 1 without any."""
        return gcd(*(kind.experts.count for kind in self.job.architecture.kinds if kind.experts is not None)) or 1

    @cached_property
    def expert_widths(self) -> tuple[int, ...]:
        """Inner widths of the routed experts."""
        return tuple({kind.experts.ffn for kind in self.job.architecture.kinds if kind.experts is not None})

    @property
    def layers(self) -> int:
        """Number of layers."""
        return self.job.architecture.layer_count


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule: where it is broken, and what to say there."""

    name: str
    broken: Callable[[Strategies, Shape], BoolArray]
    """Truth per candidate, broadcast over the knobs that the rule names."""
    explain: Callable[[Strategy, Shape], Message]


def _not_multiples(numbers: tuple[int, ...], degree: NDArray[np.int64]) -> BoolArray:
    """Tell where some of the numbers is not a multiple of the degree."""
    return np.asarray(gcd(*numbers) % degree != 0) if numbers else np.zeros_like(degree, dtype=np.bool_)


def _shown(numbers: tuple[int, ...]) -> str:
    return ", ".join(str(number) for number in sorted(numbers))


def _positive(strategies: Strategies, _: Shape) -> BoolArray:
    low = np.zeros((), dtype=np.bool_)
    for knob in DEGREES:
        low = low | (getattr(strategies, knob) < 1)
    return np.asarray(low)


def _explain_positive(strategy: Strategy, _: Shape) -> Message:
    low = [f"{knob} = {getattr(strategy, knob)}" for knob in DEGREES if getattr(strategy, knob) < 1]
    return Message("every degree must be at least 1, got {degrees}", degrees=", ".join(low))


def _missing_axis(strategies: Strategies, shape: Shape) -> BoolArray:
    missing = np.zeros((), dtype=np.bool_)
    for axis in AXES:
        if axis not in shape.recipe.axes:
            missing = missing | (getattr(strategies, axis) > (0 if axis == "sp" else 1))
    return np.asarray(missing)


def _explain_axis(strategy: Strategy, shape: Shape) -> Message:
    used = [axis for axis in AXES if int(getattr(strategy, axis)) > (0 if axis == "sp" else 1)]
    return Message(
        "recipe {recipe} does not offer {axes}; it offers {offered}",
        recipe=shape.recipe.name,
        axes=", ".join(axis for axis in used if axis not in shape.recipe.axes),
        offered=", ".join((*shape.recipe.axes, "dp")),
    )


def _kv_heads(strategies: Strategies, shape: Shape) -> BoolArray:
    broken = np.zeros_like(strategies.tp, dtype=np.bool_)
    for kv_heads in shape.kv_heads:
        broken |= (kv_heads % strategies.tp != 0) & (strategies.tp % kv_heads != 0)
    return broken


def _interleaving(strategies: Strategies, shape: Shape) -> BoolArray:
    pp, vpp = strategies.pp, strategies.vpp
    uneven = (shape.layers % (pp * vpp) != 0) | (strategies.grad_accum % pp != 0)
    return np.asarray((vpp > 1) & ((pp == 1) | uneven))


def _sequence(strategies: Strategies, shape: Shape) -> BoolArray:
    length = shape.job.seq_len
    by_context = (strategies.cp > 1) & (length % (2 * strategies.cp) != 0)
    by_tensor = (strategies.sp > 0) & (length % (strategies.cp * strategies.tp) != 0)
    return np.asarray(by_context | by_tensor)


def _experts(strategies: Strategies, shape: Shape) -> BoolArray:
    ranks = strategies.tp * strategies.cp * strategies.dp
    spread = ranks % (strategies.ep * strategies.etp) != 0
    degree = (strategies.etp != 1) & (strategies.etp != strategies.tp)
    if not shape.expert_widths:
        return np.asarray((strategies.ep > 1) | (strategies.etp > 1))
    return np.asarray(
        spread | degree | (shape.experts % strategies.ep != 0) | _not_multiples(shape.expert_widths, strategies.etp)
    )


def _explain_experts(strategy: Strategy, shape: Shape) -> Message:
    if not shape.expert_widths:
        return Message("ep = {ep}, etp = {etp}: the model has no experts to spread", ep=strategy.ep, etp=strategy.etp)
    return Message(
        "ep = {ep}, etp = {etp}: ep must divide {experts} experts, etp be 1 or tp ({tp}) and divide the expert width"
        " {widths}, and ep·etp divide tp·cp·dp = {ranks}",
        ep=strategy.ep,
        etp=strategy.etp,
        experts=shape.experts,
        tp=strategy.tp,
        widths=_shown(shape.expert_widths),
        ranks=strategy.tp * strategy.cp * strategy.dp,
    )


def _batch(strategies: Strategies, shape: Shape) -> BoolArray:
    target = shape.job.global_batch_seqs
    batch = strategies.micro_batch * strategies.grad_accum * strategies.dp
    if shape.job.batch_is_exact:
        return np.asarray(batch != target)
    # in whole numbers, so that the very edge does not depend on rounding
    return np.asarray(np.abs(batch - target) * round(1 / BATCH_TOLERANCE_FRACTION) > target)


def _explain_batch(strategy: Strategy, shape: Shape) -> Message:
    given = {
        "micro_batch": strategy.micro_batch,
        "grad_accum": strategy.grad_accum,
        "dp": strategy.dp,
        "batch": strategy.global_batch_seqs,
        "target": shape.job.global_batch_seqs,
    }
    if shape.job.batch_is_exact:
        return Message(
            "micro_batch {micro_batch} × grad_accum {grad_accum} × dp {dp} = {batch} sequences, the global batch is"
            " {target}",
            **given,
        )
    return Message(
        "micro_batch {micro_batch} × grad_accum {grad_accum} × dp {dp} = {batch} sequences, more than 10 % from the"
        " global batch of {target}",
        **given,
    )


def _cut_base(strategies: Strategies, shape: Shape) -> BoolArray:
    cut = (strategies.tp > 1) | (strategies.pp > 1) | (strategies.ep > 1)
    return np.asarray(cut & (shape.job.method == "qlora"))


RULES: tuple[Rule, ...] = (
    Rule(name="positive", broken=_positive, explain=_explain_positive),
    Rule(
        name="adapters",
        broken=lambda _, shape: np.array(not shape.job.trains_all and not shape.recipe.adapters),
        explain=lambda _, shape: Message(
            "recipe {recipe} does not train adapters, method {method} needs them",
            recipe=shape.recipe.name,
            method=shape.job.method,
        ),
    ),
    Rule(name="axes", broken=_missing_axis, explain=_explain_axis),
    Rule(
        name="sharding",
        broken=lambda strategies, shape: ~np.isin(strategies.sharding, [int(item) for item in shape.recipe.shardings]),
        explain=lambda strategy, shape: Message(
            "recipe {recipe} does not offer sharding {sharding}; it offers {offered}",
            recipe=shape.recipe.name,
            sharding=strategy.sharding.name.lower(),
            offered=", ".join(item.name.lower() for item in shape.recipe.shardings),
        ),
    ),
    Rule(
        name="selective",
        broken=lambda strategies, shape: (strategies.recompute == 1) & (not shape.recipe.selective),
        explain=lambda _, shape: Message(
            "recipe {recipe} has no selective recomputation; it takes none or full", recipe=shape.recipe.name
        ),
    ),
    Rule(
        name="heads",
        broken=lambda strategies, shape: _not_multiples(shape.heads, strategies.tp),
        explain=lambda strategy, shape: Message(
            "tp = {tp} does not divide {heads} attention heads", tp=strategy.tp, heads=_shown(shape.heads)
        ),
    ),
    Rule(
        name="kv_heads",
        broken=_kv_heads,
        explain=lambda strategy, shape: Message(
            "tp = {tp} neither divides {kv_heads} key-value heads nor is a multiple of them",
            tp=strategy.tp,
            kv_heads=_shown(shape.kv_heads),
        ),
    ),
    Rule(
        name="widths",
        broken=lambda strategies, shape: _not_multiples(shape.widths, strategies.tp),
        explain=lambda strategy, shape: Message(
            "tp = {tp} does not divide the feed-forward width {widths}", tp=strategy.tp, widths=_shown(shape.widths)
        ),
    ),
    Rule(
        name="sequence_parallel",
        broken=lambda strategies, _: (strategies.sp > 0) & (strategies.tp == 1),
        explain=lambda strategy, _: Message("sequence parallelism needs tp above 1, got tp = {tp}", tp=strategy.tp),
    ),
    Rule(
        name="sequence",
        broken=_sequence,
        explain=lambda strategy, shape: Message(
            "seq_len = {seq_len} must be a multiple of 2·cp = {context} and, under sequence parallelism, of"
            " cp·tp = {tensor}",
            seq_len=shape.job.seq_len,
            context=2 * strategy.cp,
            tensor=strategy.cp * strategy.tp,
        ),
    ),
    Rule(
        name="stages",
        broken=lambda strategies, shape: strategies.pp > shape.layers,
        explain=lambda strategy, shape: Message(
            "pp = {pp} is more than the {layers} layers", pp=strategy.pp, layers=shape.layers
        ),
    ),
    Rule(
        name="interleaving",
        broken=_interleaving,
        explain=lambda strategy, shape: Message(
            "vpp = {vpp} needs pp above 1, layers ({layers}) a multiple of pp·vpp = {chunks} and grad_accum"
            " ({grad_accum}) a multiple of pp = {pp}",
            vpp=strategy.vpp,
            layers=shape.layers,
            chunks=strategy.pp * strategy.vpp,
            grad_accum=strategy.grad_accum,
            pp=strategy.pp,
        ),
    ),
    Rule(name="experts", broken=_experts, explain=_explain_experts),
    Rule(
        name="quantised_base",
        broken=_cut_base,
        explain=lambda _, __: Message("a quantised base is not cut by tp, pp or ep: qlora takes dp and cp only"),
    ),
    Rule(name="batch", broken=_batch, explain=_explain_batch),
)
"""All rules. ``gpus = tp · cp · pp · dp`` holds by construction of `Strategy`."""

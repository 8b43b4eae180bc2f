"""The rule of thumb that people reckon with: training takes 6ND FLOPs, and cards reach 40 % of their peak.

Six FLOPs per parameter and token: a multiply and an add in the forward pass, twice as many in the backward pass [1]_.
The rule leaves out attention, recomputation, communication, and whatever interrupts a run; `explain_difference` says by
how much that moves one estimate. What a stated time or speed means as a utilisation is in ``utilisation``.

References:
    .. [1] J. Kaplan et al., "Scaling laws for neural language models", arXiv 2001.08361, section 2.1.
    .. [2] V. Korthikanti et al., "Reducing activation recomputation in large transformer models", arXiv 2205.05198,
           appendix A: full recomputation adds one forward pass, 2ND.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isclose
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message, name_duration
from suanpei.units import DAY_S, HOUR_S, PETA, format_count

if TYPE_CHECKING:
    from suanpei.physics.estimate import Estimate
    from suanpei.physics.run import RunEstimate
    from suanpei.physics.workload import Workload

FLOPS_PER_PARAMETER_TOKEN = 6.0
"""Forward 2, backward 4 [1]_. [FLOP]"""

RECOMPUTED_FLOPS_PER_PARAMETER_TOKEN = 8.0
"""The same with the forward pass done twice [2]_. [FLOP]"""

USUAL_UTILISATION = 0.4
"""The utilisation that the rule assumes; whole runs are published at 0.15 to 0.48 of the dense peak. [-]"""

FULL_RECOMPUTE_FACTOR = RECOMPUTED_FLOPS_PER_PARAMETER_TOKEN / FLOPS_PER_PARAMETER_TOKEN
"""Most that full recomputation lengthens a compute-bound step. [-]"""

NOTICEABLE = 0.01
"""A reason that moves the time by less than this share is not told. [-]"""


def flops_6nd(parameters: float, tokens: float, *, recompute: bool = False) -> float:
    """Count training FLOPs by the rule: ``6 N D``, or ``8 N D`` with full recomputation.

    Args:
        parameters: Parameters that each token passes (the active ones of a mixture of experts), N. [-]
        tokens: Tokens trained, D. [tokens]
        recompute: Whether the forward pass is done twice; such FLOPs go with hardware utilisation, not MFU. [-]

    Returns:
        FLOPs of the whole run. [FLOP]

    Valid for: full training of a dense decoder whose sequences are short against its width.

    Example:
        >>> f"{flops_6nd(7e9, 20e9):.2e}"
        '8.40e+20'
    """
    each = RECOMPUTED_FLOPS_PER_PARAMETER_TOKEN if recompute else FLOPS_PER_PARAMETER_TOKEN
    return each * parameters * tokens


def flops_of_petaflop_days(petaflop_per_s_days: float) -> float:
    """Convert PFLOP/s-days, the unit of many papers, to FLOPs. [FLOP]

    Example:
        >>> f"{flops_of_petaflop_days(3640):.4g}"
        '3.145e+23'
    """
    return petaflop_per_s_days * PETA * DAY_S


def training_time_s(
    flops: float, gpus: float, peak_flops_per_s: float, utilisation: float = USUAL_UTILISATION
) -> float:
    """Give the time of a run by the rule: ``FLOPs / (cards · peak · utilisation)``.

    Args:
        flops: FLOPs of the run. [FLOP]
        gpus: Accelerators. [-]
        peak_flops_per_s: Dense peak of one, in the precision of the products. [FLOP/s]
        utilisation: Share of the peak that counts; 1 gives the time that no machine can go below. [-]

    Returns:
        Time without set-up, checkpoints and stops. [s]

    Raises:
        InputError: cards, peak or utilisation are not above 0.

    Example:
        >>> round(training_time_s(8.4e20, 8, 312e12) / 86400, 2)
        9.74
    """
    require_positive(gpus=gpus, peak_flops_per_s=peak_flops_per_s, utilisation=utilisation)
    return flops / (gpus * peak_flops_per_s * utilisation)


def days_at_40_percent(flops: float, gpus: float, peak_flops_per_s: float) -> float:
    """Give the days of a run by the rule, at 40 % of the dense peak. [d]

    Args:
        flops: FLOPs of the run. [FLOP]
        gpus: Accelerators. [-]
        peak_flops_per_s: Dense peak of one. [FLOP/s]
    """
    return training_time_s(flops, gpus, peak_flops_per_s) / DAY_S


def time_at_rate_s(tokens: float, gpus: float, tokens_per_s_per_gpu: float) -> float:
    """Give the time of a run from a measured speed: ``D / (cards · rate)``. [s]

    Args:
        tokens: Tokens trained. [tokens]
        gpus: Accelerators, scaling perfectly. [-]
        tokens_per_s_per_gpu: Speed of one. [tokens/s]
    """
    require_positive(gpus=gpus, tokens_per_s_per_gpu=tokens_per_s_per_gpu)
    return tokens / (gpus * tokens_per_s_per_gpu)


def time_of_gpu_hours_s(gpu_hours: float, gpus: float) -> float:
    """Give how long so many cards take for so many card-hours. [s]

    Args:
        gpu_hours: Card-hours. [h]
        gpus: Accelerators, all at work from beginning to end. [-]

    Example:
        >>> round(time_of_gpu_hours_s(1.3e6, 24_576) / 3600, 1)
        52.9
    """
    require_positive(gpus=gpus)
    return gpu_hours * HOUR_S / gpus


def rate_for_time(tokens: float, gpus: float, seconds: float) -> float:
    """Give the speed that a deadline asks of each card: ``D / (cards · time)``. [tokens/s]

    Args:
        tokens: Tokens trained. [tokens]
        gpus: Accelerators. [-]
        seconds: Time for the run. [s]
    """
    require_positive(gpus=gpus, seconds=seconds)
    return tokens / (gpus * seconds)


def gpus_for_time(
    flops: float,
    seconds: float,
    peak_flops_per_s: float,
    utilisation: float = USUAL_UTILISATION,
    *,
    gpus_per_node: int = 1,
) -> int:
    """Count the cards that finish in time, rounded up to whole cards, then to whole nodes.

    Args:
        flops: FLOPs of the run. [FLOP]
        seconds: Time for the run. [s]
        peak_flops_per_s: Dense peak of one. [FLOP/s]
        utilisation: Share of the peak that counts. [-]
        gpus_per_node: Cards rented together. [-]

    Raises:
        InputError: time, peak, utilisation or node size are not above 0.

    Example:
        >>> gpus_for_time(8.4e22, 432e3, 180e12, 1.0), gpus_for_time(8.4e22, 432e3, 180e12, 1.0, gpus_per_node=8)
        (1081, 1088)
    """
    require_positive(seconds=seconds, gpus_per_node=gpus_per_node)
    cards = max(_round_up(training_time_s(flops, 1, peak_flops_per_s, utilisation) / seconds), 1)
    return -(-cards // gpus_per_node) * gpus_per_node


def gpus_for_state(state_bytes: float, memory_bytes: float) -> int:
    """Count the cards whose memory holds the weights, gradients and optimizer states, evenly divided. [-]

    A floor: activations, gathered weights and the driver's context come on top.

    Args:
        state_bytes: States of the whole model. [B]
        memory_bytes: Memory of one card. [B]

    Raises:
        InputError: the memory is not above 0.

    Example:
        >>> gpus_for_state(16 * 70e9, 80e9)
        14
    """
    require_positive(memory_bytes=memory_bytes)
    return max(_round_up(state_bytes / memory_bytes), 1)


def tokens_in_time(
    parameters: float, gpus: float, seconds: float, peak_flops_per_s: float, utilisation: float = USUAL_UTILISATION
) -> float:
    """Give the tokens that a run can train in a time: ``cards · time · peak · utilisation / 6N``. [tokens]

    Args:
        parameters: Parameters that each token passes. [-]
        gpus: Accelerators. [-]
        seconds: Time for the run. [s]
        peak_flops_per_s: Dense peak of one. [FLOP/s]
        utilisation: Share of the peak that counts. [-]
    """
    require_positive(parameters=parameters)
    return gpus * seconds * peak_flops_per_s * utilisation / flops_6nd(parameters, 1.0)


@dataclass(frozen=True, kw_only=True)
class RuleOfThumb:
    """The rule's answer, to stand beside an estimate."""

    flops_6nd: float
    """FLOPs by 6ND. [FLOP]"""
    days_at_40_percent: float
    """Days at 40 % of the dense peak. [d]"""


def apply_rule(work: Workload, tokens: float, gpus: int, peak_flops_per_s: float) -> RuleOfThumb:
    """Give the rule's answer for a job.

    Args:
        work: The job; the rule takes its active parameters, whatever the method trains. [-]
        tokens: Tokens trained. [tokens]
        gpus: Accelerators. [-]
        peak_flops_per_s: Dense peak of one. [FLOP/s]
    """
    flops = flops_6nd(work.job.architecture.active_parameters, tokens)
    return RuleOfThumb(flops_6nd=flops, days_at_40_percent=days_at_40_percent(flops, gpus, peak_flops_per_s))


def explain_difference(
    work: Workload, estimate: Estimate, run: RunEstimate | None, peak_flops_per_s: float
) -> tuple[Message, ...]:
    """Say why an estimate differs from 6ND at 40 %, reason by reason.

    The days of the run over those of the rule are the product of three factors::

        (model FLOPs per token / 6N) · (0.4 / MFU) · (calendar time / time of the steps)

    The first is split into what the rule leaves out (attention) and what it counts too much (embeddings are looked up,
    a frozen base has no weight gradients). A reason below 1 % is left out.

    Args:
        work: The job. [-]
        estimate: One configuration. [-]
        run: All steps of it; None where only a step was asked for. [-]
        peak_flops_per_s: Dense peak that the estimate's MFU refers to. [FLOP/s]

    Returns:
        The total first, then the reasons.
    """
    reasons = [*_explain_flops(work), *_explain_utilisation(estimate), *(_explain_calendar(run) if run else ())]
    if run is None or work.job.tokens is None:
        return tuple(reasons)
    rule = apply_rule(work, work.job.tokens, estimate.gpus, peak_flops_per_s)
    total = Message(
        "6ND at 40 % says {rule}, this estimate {ours}: {factor} times as long",
        rule=name_duration(rule.days_at_40_percent * DAY_S),
        ours=name_duration(run.days * DAY_S),
        factor=f"{run.days / rule.days_at_40_percent:.2f}",
    )
    return (total, *reasons)


def _explain_flops(work: Workload) -> list[Message]:
    architecture = work.job.architecture
    total, active = architecture.total_parameters, architecture.active_parameters
    rule = flops_6nd(active, 1.0)
    reasons = []
    if active < total:
        reasons.append(
            Message(
                "each token passes {active} of {total} parameters: 6ND is taken with those, all of them would make it"
                " {factor} times as much",
                active=format_count(active),
                total=format_count(total),
                factor=f"{total / active:.1f}",
            )
        )
    products = 3.0 * work.forward_product_flops_per_token
    attention = 3.0 * work.forward_attention_flops_per_token(full=False)
    if attention > NOTICEABLE * rule:
        reasons.append(
            Message(
                "attention over {seq_len} tokens adds {share} % to the FLOPs, which 6ND leaves out",
                seq_len=f"{work.job.seq_len:,}",
                share=f"{100 * attention / rule:.0f}",
            )
        )
    if rule - products > NOTICEABLE * rule:
        reasons.append(
            Message(
                "embeddings and norms are looked up or cheap, not multiplied: 6ND counts {share} % too much",
                share=f"{100 * (rule - products) / rule:.0f}",
            )
        )
    if not work.job.trains_all:
        factor = work.model_flops_per_token() / (products + attention)
        reasons.append(
            Message(
                "the base is frozen: no gradients of its weights, {factor} of the FLOPs of full training",
                factor=f"{factor:.2f}",
            )
        )
    return reasons


def _explain_utilisation(estimate: Estimate) -> list[Message]:
    reasons = []
    factor = USUAL_UTILISATION / estimate.mfu
    if abs(factor - 1.0) > NOTICEABLE:
        reasons.append(
            Message(
                "this configuration reaches {mfu} % of the dense peak, not 40 %: {factor} times the time",
                mfu=f"{100 * estimate.mfu:.0f}",
                factor=f"{factor:.2f}",
            )
        )
    repeated = estimate.hfu / estimate.mfu - 1.0
    if repeated > NOTICEABLE:
        reasons.append(
            Message(
                "recomputation in the backward pass makes the cards do {share} % more FLOPs than count",
                share=f"{100 * repeated:.0f}",
            )
        )
    return reasons


def _explain_calendar(run: RunEstimate) -> list[Message]:
    steps = run.parts["run_steps"]
    others = run.days * DAY_S - steps
    if others <= NOTICEABLE * steps:
        return []
    return [
        Message(
            "set-up takes {setup}, checkpoints {checkpoints}, stops {stops} beside {steps} of steps: {share} % on top",
            setup=name_duration(run.parts["run_setup"]),
            checkpoints=name_duration(run.parts["run_checkpoints"]),
            stops=name_duration(run.parts["run_lost_work"] + run.parts["run_recovery"]),
            steps=name_duration(steps),
            share=f"{100 * others / steps:.0f}",
        )
    ]


def require_positive(**values: float) -> None:
    """Refuse what must be above 0, by name.

    Raises:
        InputError: a value is not above 0.
    """
    for name, value in values.items():
        if not value > 0:
            raise InputError(Message("{field} must be above {least}, got {given}", field=name, least=0, given=value))


def _round_up(number: float) -> int:
    """Round up, but not for the last bits of a division that comes out whole."""
    nearest = round(number)
    return nearest if isclose(number, nearest, rel_tol=1e-12) else ceil(number)

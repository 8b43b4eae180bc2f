"""How figures are written for a person: durations, money, intervals, strategies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.messages import Message, name_duration, scale_duration_s, write_duration
from suanpei.money import SYMBOLS
from suanpei.report.locale import translate
from suanpei.units import GIB_BYTES

if TYPE_CHECKING:
    from suanpei.job.job import Method
    from suanpei.market.terms import TaxState
    from suanpei.money import Money
    from suanpei.physics.estimate import MemoryEstimate, Phase, Verdict
    from suanpei.physics.strategy import Strategy
    from suanpei.report.locale import Language

UNKNOWN = "–"

_DEGREES = ("tp", "pp", "vpp", "cp", "ep", "etp", "dp")


def say_duration(duration_s: float, lang: Language) -> str:
    """Write a duration with its unit: ``7.4 days``, ``5.2 小时``. [s]"""
    return translate(name_duration(duration_s), lang)


def say_span(low_s: float, high_s: float, like_s: float) -> str:
    """Write an interval of durations without its unit, which is that of another duration. [s]"""
    scale_s = scale_duration_s(like_s)
    return f"{write_duration(low_s, scale_s)}–{write_duration(high_s, scale_s)}"


def say_seconds(duration_s: float) -> str:
    """Write a step time in seconds, or in milliseconds where it is short: ``4.31 s``. [s]"""
    if duration_s < 1.0:
        return f"{duration_s * 1e3:.3g} ms"
    return f"{duration_s:.3g} s" if duration_s < 1000 else f"{duration_s:,.0f} s"


def say_money_span(low: Money, high: Money) -> str:
    """Write an interval of money, the currency once, both ends to the same digit: ``¥464–3,318``, ``¥4.86–8.09``."""
    return SYMBOLS.get(high.currency, f"{high.currency} ") + say_bare_span(low, high)


def say_seconds_span(low_s: float, high_s: float) -> str:
    """Write an interval of step times, the unit once: ``7.78–34.2 s``. [s]"""
    if high_s < 1.0:
        return f"{low_s * 1e3:.3g}–{high_s * 1e3:.3g} ms"
    return f"{low_s:.3g}–{high_s:.3g} s" if high_s < 1000 else f"{low_s:,.0f}–{high_s:,.0f} s"


def say_nodes(nodes: int) -> Message:
    """Say a number of machines."""
    return Message("{count} machines", count=f"{nodes:,}") if nodes > 1 else Message("one machine")


def say_bare_span(low: Money, high: Money) -> str:
    """Write an interval of money without its currency, below an amount that names it: ``464–3,318``."""
    return "–".join(_write_ends(low, high))


def is_one_amount(low: Money, high: Money) -> bool:
    """Tell whether an interval of money is written with the same amount at both ends, and so says nothing."""
    first, last = _write_ends(low, high)
    return first == last


def _write_ends(low: Money, high: Money) -> tuple[str, str]:
    digits = 0 if abs(high.amount) >= 1000 else 2
    return f"{low.rounded(digits).amount:,}", f"{high.rounded(digits).amount:,}"


def say_at_most(amount: Money, *, is_open: bool) -> str:
    """Write an amount with tax, ``≤`` before one that is the worst reading of a tax left open."""
    return f"≤ {amount}" if is_open else str(amount)


def name_tax_side(state: TaxState) -> Message:
    """Say on which tax side a price is quoted."""
    return {"in": Message("tax in"), "out": Message("plus tax"), "unknown": Message("tax?")}[state]


def say_gib(size_bytes: float) -> str:
    """Write a size in GiB without the unit. [B]"""
    return f"{size_bytes / GIB_BYTES:.1f}"


def say_share(share: float) -> str:
    """Write a share as a percentage; what is certain only to rounding is not called certain. [-]"""
    if 0.995 < share < 1.0:
        return ">99%"
    return f"{share:.0%}" if share >= 0.095 or share <= 0 else f"{share:.1%}"


def say_probability(probability: float) -> str:
    """Write a probability; none is called certain. [-]"""
    if probability > 0.99:
        return ">99%"
    return "<1%" if probability < 0.01 else f"{probability:.0%}"


def say_strategy(strategy: Strategy) -> str:
    """Write a strategy in short: ``tp2 pp4 dp8 zero1 full mb1``; degrees of 1 are left out, dp is not."""
    words = [f"{name}{getattr(strategy, name)}" for name in _DEGREES if getattr(strategy, name) > 1 or name == "dp"]
    if strategy.sharding:
        words.append(strategy.sharding.name.lower())
    if strategy.recompute:
        words.append(strategy.recompute.name.lower())
    return " ".join([*words, f"mb{strategy.micro_batch}"])


def explain_strategy(recipe: str, strategy: Strategy) -> Message:
    """Write a strategy in full, as it is set in a launch script."""
    return Message(
        "{recipe}: tp {tp}{sp}, pp {pp}, vpp {vpp}, cp {cp}, ep {ep}, dp {dp}; sharding {sharding}, recomputation"
        " {recompute}; micro-batch {micro}, {accumulated} micro-batches per step and rank",
        recipe=recipe,
        tp=strategy.tp,
        sp=Message(" with sequence parallelism") if strategy.sp else "",
        pp=strategy.pp,
        vpp=strategy.vpp,
        cp=strategy.cp,
        ep=strategy.ep,
        dp=strategy.dp,
        sharding=strategy.sharding.name.lower(),
        recompute=strategy.recompute.name.lower(),
        micro=strategy.micro_batch,
        accumulated=strategy.grad_accum,
    )


def name_method(method: Method) -> Message | str:
    """Name a training method for a person."""
    names: dict[str, Message | str] = {
        "pretrain": Message("pretraining"),
        "full": Message("full tuning"),
        "lora": "LoRA",
        "qlora": "QLoRA",
    }
    return names[method]


def name_verdict(verdict: Verdict) -> Message:
    """Name a memory verdict for a person."""
    return {
        "fits": Message("fits"),
        "at_risk": Message("at risk"),
        "does_not_fit": Message("does not fit"),
    }[verdict]


def name_phase(phase: Phase) -> Message:
    """Name the phase of a memory peak for a person."""
    return {
        "initialisation": Message("during initialisation"),
        "forward": Message("at the end of the forward pass"),
        "backward": Message("in the backward pass"),
        "optimizer_step": Message("in the optimizer step"),
    }[phase]


def name_place(memory: MemoryEstimate, stages: int) -> Message:
    """Name phase and pipeline stage of a memory peak for a person."""
    phase = name_phase(memory.phase)
    if stages == 1:
        return phase
    return {
        "first": Message("{phase} on the first pipeline stage", phase=phase),
        "middle": Message("{phase} on a middle pipeline stage", phase=phase),
        "last": Message("{phase} on the last pipeline stage", phase=phase),
    }[memory.stage]

"""What a plan says first: what to rent, for how long, at what total; what to beware of; what is nearly as good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.messages import Message
from suanpei.quantities import parse_duration_s
from suanpei.report.locale import translate
from suanpei.report.text.figures import (
    UNKNOWN,
    is_one_amount,
    name_method,
    say_at_most,
    say_bare_span,
    say_duration,
    say_nodes,
    say_probability,
    say_span,
)
from suanpei.report.text.layout import Paragraph
from suanpei.report.text.plan_cost import name_tier, with_span
from suanpei.report.text.spot import say_spot
from suanpei.units import DAY_S, format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from suanpei.money import Money
    from suanpei.report.locale import Language
    from suanpei.verbs.job_summary import JobSummary
    from suanpei.verbs.plan import PlanResult
    from suanpei.verbs.plan_rows import PlanRow


def render_headline(result: PlanResult, lang: Language) -> list[RenderableType]:
    """Render what to rent, and the job."""
    beside = (*_say_spot(result.plans), *_say_near_tie(result.plans, lang))
    return [
        Paragraph(translate(_headline(result, lang), lang), style="bold"),
        *(Paragraph(translate(said, lang)) for said in (*beside, say_job(result.job))),
    ]


NEAR_TIE_COST = 1.1
"""Cost over the first plan's up to which a much sooner plan is named beside it. A judgement."""
NEAR_TIE_DAYS = 0.75
"""Days over the first plan's that count as much sooner. A judgement."""


def is_limited(result: PlanResult) -> bool:
    """Tell whether a deadline or a budget was given."""
    return result.request.get("deadline") is not None or result.request.get("budget") is not None


def _headline(result: PlanResult, lang: Language) -> Message:
    first = result.plans[0]
    days = first.run.days * DAY_S
    values = {
        "gpus": first.gpus,
        "accelerator": first.accelerator,
        "nodes": say_nodes(first.nodes),
        "time": say_duration(days, lang),
        "span": say_span(first.run.low_days * DAY_S, first.run.high_days * DAY_S, days),
        "cost": _say_cost(first),
    }
    what = (
        Message("Rent {gpus} × {accelerator} ({nodes}): {time} (90%: {span}), {cost}", **values)
        if first.offer is None
        else Message(
            "Rent {gpus} × {accelerator} ({nodes}) from {provider}: {time} (90%: {span}), {cost}",
            provider=first.offer.provider,
            **values,
        )
    )
    if not is_limited(result):
        return Message("{what}.", what=what)
    return Message(
        "{what}; {probability} likely to keep {limits}.",
        what=what,
        probability=say_probability(first.constraint_probability),
        limits=_say_limits(result, lang),
    )


def _say_near_tie(plans: Sequence[PlanRow], lang: Language) -> list[Message]:
    """Name the cheapest plan that costs little more than the first and is much sooner."""
    first = plans[0]
    if first.cost is None:
        return []
    sooner = [
        (row.cost.ranked_total.amount / first.cost.ranked_total.amount, row)
        for row in plans[1:]
        if row.cost is not None and row.run.days <= NEAR_TIE_DAYS * first.run.days
    ]
    ratio, row = min(sooner, key=lambda pair: pair[0], default=(None, first))
    if ratio is None or ratio > NEAR_TIE_COST:
        return []
    return [
        Message(
            "Nearly as cheap and much sooner, plan {rank}: {gpus} × {accelerator}, {time}, {percent} more.",
            rank=row.rank,
            gpus=row.gpus,
            accelerator=row.accelerator,
            time=say_duration(row.run.days * DAY_S, lang),
            percent=f"{float(ratio) - 1.0:.1%}",
        )
    ]


def _say_spot(plans: Sequence[PlanRow]) -> list[Message]:
    """Warn where the first plan is on machines that may be taken back, and name the cheapest that is not."""
    first = plans[0]
    if _tier(first) != "spot":
        return []
    others: list[tuple[Money, bool, Message | str]] = [
        (bill.ranked_total, bill.total_tax_in is None, bill.provider or name_tier(bill.tier))
        for bill in first.other_bills
        if bill.tier != "spot"
    ]
    others += [
        (row.cost.ranked_total, row.cost.total_tax_in is None, row.offer.provider)
        for row in plans[1:]
        if row.cost is not None and row.offer is not None and row.offer.tier != "spot"
    ]
    if not others:
        return [say_spot(None)]
    total, is_open, name = min(others, key=lambda other: other[0].amount)
    return [say_spot((name, say_at_most(total, is_open=is_open)))]


def _tier(row: PlanRow) -> str | None:
    if row.offer is not None:
        return row.offer.tier
    return None if row.indicative_price is None else row.indicative_price.tier


def _say_cost(row: PlanRow) -> Message:
    if row.cost is not None:
        total, _ = cost_cells(row)
        return with_span(Message("{total} with tax", total=total), row.cost.low_tax_in, row.cost.high_tax_in)
    if row.ties_at_price_per_gpu_hour is not None:
        return Message("no price known, worth up to {price} per card-hour", price=row.ties_at_price_per_gpu_hour)
    return Message("no price known")


def _say_limits(result: PlanResult, lang: Language) -> Message:
    deadline, budget = result.request.get("deadline"), result.request.get("budget")
    if deadline is None:
        return Message("the budget of {budget}", budget=budget)
    time = say_duration(parse_duration_s(deadline, "deadline"), lang)
    if budget is None:
        return Message("the deadline of {time}", time=time)
    return Message("the deadline of {time} and the budget of {budget}", time=time, budget=budget)


def say_job(job: JobSummary) -> Message:
    """Say what is trained, on how much data, and how, in one sentence."""
    return Message(
        "{model} ({parameters} parameters), {method}, {tokens} tokens; sequences of {seq_len}, {batch} per step"
        " ({batch_tokens} tokens); {precision}, {optimizer}",
        model=job.model,
        parameters=format_count(job.total_parameters),
        method=name_method(job.method),
        tokens=format_count(job.tokens or 0.0),
        seq_len=f"{job.seq_len:,}",
        batch=job.global_batch_seqs,
        batch_tokens=format_count(job.global_batch_seqs * job.seq_len),
        precision=job.precision,
        optimizer=job.optimizer,
    )


def cost_cells(row: PlanRow) -> tuple[str, str]:
    """Give the total with tax, and the range that it may come to."""
    if row.cost is None:
        return UNKNOWN, ""
    total = say_at_most(row.cost.ranked_total, is_open=row.cost.total_tax_in is None)
    is_certain = is_one_amount(row.cost.low_tax_in, row.cost.high_tax_in)
    return total, "" if is_certain else say_bare_span(row.cost.low_tax_in, row.cost.high_tax_in)

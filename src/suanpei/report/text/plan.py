"""What ``suanpei plan`` prints: what to rent in one sentence, the plans, the first in full, what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from suanpei.messages import Message
from suanpei.quantities import parse_duration_s
from suanpei.report.locale import translate
from suanpei.report.text.figures import (
    UNKNOWN,
    name_method,
    name_tax_side,
    say_at_most,
    say_bare_span,
    say_duration,
    say_gib,
    say_money_span,
    say_nodes,
    say_probability,
    say_seconds,
    say_span,
    say_strategy,
)
from suanpei.report.text.layout import ByWidth, Paragraph, heading, make_table
from suanpei.report.text.plan_choices import render_choices
from suanpei.report.text.plan_first import render_first
from suanpei.report.text.plan_rest import render_rest
from suanpei.units import DAY_S, format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import JustifyMethod, RenderableType

    from suanpei.report.locale import Language
    from suanpei.verbs.job_summary import JobSummary
    from suanpei.verbs.plan import PlanResult
    from suanpei.verbs.plan_rows import PlanRow


def render_plan(result: PlanResult, lang: Language) -> RenderableType:
    """Render plans: the headline first, then what a buyer checks, then what a doubter checks."""
    parts: list[RenderableType] = [
        Paragraph(translate(_headline(result, lang), lang), style="bold"),
        *(Paragraph(translate(said, lang)) for said in _say_near_tie(result.plans, lang)),
        Paragraph(translate(say_job(result.job), lang)),
        heading(translate("Plans", lang)),
        _render_rows(result.plans, lang, with_probability=_is_limited(result)),
        Paragraph(translate(_LEGEND, lang), style="dim"),
        Paragraph(translate(_TAX, lang), style="dim"),
    ]
    if any(row.indicative_price is not None and row.indicative_price.tier != "stated" for row in result.plans):
        parts.append(Paragraph(translate(_INDICATIVE, lang), style="dim"))
    parts += render_first(result.plans[0], lang)
    parts += render_choices(result, lang)
    if result.other_stacks:
        parts += [
            heading(translate("Cheaper only if your code runs there", lang)),
            Paragraph(translate(_OTHER_STACKS, lang)),
            _render_rows(result.other_stacks, lang, with_probability=_is_limited(result)),
        ]
    parts += render_rest(result, lang)
    return Group(*parts)


NEAR_TIE_COST = 1.1
"""Cost over the first plan's up to which a much sooner plan is named beside it. A judgement."""
NEAR_TIE_DAYS = 0.75
"""Days over the first plan's that count as much sooner. A judgement."""

_LEGEND = Message(
    "tp, pp, vpp, cp, ep, dp: tensor, pipeline, virtual-pipeline, context, expert, data parallel; zero1–3: sharding;"
    " full, selective: recomputation; mb: micro-batch. Ranges are 90% intervals."
)
_TAX = Message(
    "Costs are with tax, ≤ where the price leaves tax open: at its worst reading, which ranks. A card-hour is as"
    " quoted."
)
_INDICATIVE = Message("Prices are indicative, not offers.")
_OTHER_STACKS = Message(
    "Other software stacks, and card generations that no measurement of ours covers: wider intervals, and porting is"
    " work that no price here contains."
)


def _is_limited(result: PlanResult) -> bool:
    return result.request.get("deadline") is not None or result.request.get("budget") is not None


def _headline(result: PlanResult, lang: Language) -> Message:
    first = result.plans[0]
    days = first.run.days * DAY_S
    what = Message(
        "Rent {gpus} × {accelerator} ({nodes}): {time} (90%: {span}), {cost}",
        gpus=first.gpus,
        accelerator=first.accelerator,
        nodes=say_nodes(first.nodes),
        time=say_duration(days, lang),
        span=say_span(first.run.low_days * DAY_S, first.run.high_days * DAY_S, days),
        cost=_say_cost(first),
    )
    if not _is_limited(result):
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


def _say_cost(row: PlanRow) -> Message:
    if row.cost is not None:
        total, _ = _cost_cells(row)
        span = say_money_span(row.cost.low_tax_in, row.cost.high_tax_in)
        return Message("{total} with tax ({span})", total=total, span=span)
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


def _render_rows(rows: Sequence[PlanRow], lang: Language, *, with_probability: bool) -> RenderableType:
    return ByWidth(
        _rows_as_table(rows, lang, with_probability=with_probability),
        _rows_as_blocks(rows, lang, with_probability=with_probability),
        least=116,
    )


def _rows_as_table(rows: Sequence[PlanRow], lang: Language, *, with_probability: bool) -> RenderableType:
    """Show two lines a plan: the figures, and below them strategy and intervals."""
    columns: list[tuple[str, JustifyMethod]] = [
        ("", "right"),
        (translate("Cards and strategy", lang), "left"),
        (translate("GiB of usable", lang), "right"),
        (translate("Step", lang), "right"),
        ("MFU", "right"),
        (translate("Time", lang), "right"),
    ]
    if with_probability:
        columns.append((translate("Prob.", lang), "right"))
    columns += [(translate("With tax", lang), "right"), (translate("Card-hour", lang), "right")]
    table = make_table(columns)
    for row in rows:
        seconds = row.run.days * DAY_S
        memory = row.estimate.memory
        table.add_row(
            str(row.rank),
            _two(_say_cards(row, lang), f"{row.recipe} {say_strategy(row.strategy)}"),
            _two(say_gib(memory.device_bytes), f"/ {say_gib(memory.capacity_bytes)}"),
            say_seconds(row.estimate.step.seconds),
            f"{row.estimate.mfu:.0%}",
            _two(say_duration(seconds, lang), say_span(row.run.low_days * DAY_S, row.run.high_days * DAY_S, seconds)),
            *([say_probability(row.constraint_probability)] if with_probability else []),
            _two(*_cost_cells(row)),
            _two(*_price_cells(row, lang)),
        )
    return table


def _rows_as_blocks(rows: Sequence[PlanRow], lang: Language, *, with_probability: bool) -> RenderableType:
    """Show three lines a plan, for narrow consoles."""
    lines: list[RenderableType] = []
    for row in rows:
        seconds = row.run.days * DAY_S
        memory = row.estimate.memory
        span = say_span(row.run.low_days * DAY_S, row.run.high_days * DAY_S, seconds)
        time = f"{say_duration(seconds, lang)} ({span})"
        total, interval = _cost_cells(row)
        price, beside = _price_cells(row, lang)
        sure = translate(Message("probability {share}", share=say_probability(row.constraint_probability)), lang)
        spanned = translate(Message("with tax {total}", total=f"{total} ({interval})" if interval else total), lang)
        money = translate(Message("{price} per card-hour", price=price), lang) + (f" ({beside})" if beside else "")
        machine = Message(
            "{used} of {usable} GiB, step {step}, MFU {mfu}",
            used=say_gib(memory.device_bytes),
            usable=say_gib(memory.capacity_bytes),
            step=say_seconds(row.estimate.step.seconds),
            mfu=f"{row.estimate.mfu:.0%}",
        )
        lines += [
            Paragraph(_say_cards(row, lang), bullet=f"{row.rank}  ", style="bold"),
            Paragraph("  ".join([time, *([sure] if with_probability else []), spanned, money]), indent=3),
            Paragraph(f"{row.recipe} {say_strategy(row.strategy)}; {translate(machine, lang)}", indent=3),
        ]
    return Group(*lines)


def _two(first: str, second: str) -> Text:
    return Text(first + "\n").append(second, style="dim")


def _say_cards(row: PlanRow, lang: Language) -> str:
    cards = Message(
        "{gpus} × {accelerator}, {nodes}", gpus=row.gpus, accelerator=row.accelerator, nodes=say_nodes(row.nodes)
    )
    role = translate(_role(row), lang)
    return translate(cards, lang) + (f"  [{role}]" if role else "")


def _role(row: PlanRow) -> Message | str:
    roles: dict[str, Message | str] = {
        "cheapest": Message("cheapest"),
        "knee": Message("at the knee"),
        "fastest": Message("fastest"),
        "ranked": "",
    }
    return roles[row.role]


def _cost_cells(row: PlanRow) -> tuple[str, str]:
    if row.cost is None:
        return UNKNOWN, ""
    total = say_at_most(row.cost.ranked_total, is_open=row.cost.total_tax_in is None)
    return total, say_bare_span(row.cost.low_tax_in, row.cost.high_tax_in)


def _price_cells(row: PlanRow, lang: Language) -> tuple[str, str]:
    """Give the price of a card-hour, and what stands beside it: its seller or band, and its tax side."""
    band = row.indicative_price
    if band is not None:
        side = translate(name_tax_side(band.tax), lang)
        span = [say_bare_span(band.low, band.high)] if band.low != band.high else []
        return str(band.median), ", ".join([*span, side])
    if row.offer is not None:
        return str(row.offer.price), f"{row.offer.provider}, {translate(name_tax_side(row.offer.tax.state), lang)}"
    if row.ties_at_price_per_gpu_hour is not None:
        return f"≤ {row.ties_at_price_per_gpu_hour}", ""
    return UNKNOWN, ""

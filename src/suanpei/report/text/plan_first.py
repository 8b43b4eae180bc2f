"""The first plan in full: memory, step, run, cost, price, data path, placement, and the rule of thumb beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from suanpei.market.offer import tier_name
from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.figures import (
    UNKNOWN,
    explain_strategy,
    name_place,
    say_gib,
    say_money_span,
)
from suanpei.report.text.layout import Beside, Paragraph, heading
from suanpei.report.text.parts_table import memory_table, run_table, say_run, step_table
from suanpei.report.text.plan_cost import render_cost
from suanpei.report.text.plan_site import render_site

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suanpei.market.offer import Offer
    from suanpei.report.locale import Language
    from suanpei.verbs.plan_rows import PlanRow, PriceBand, RuleOfThumb


def render_first(row: PlanRow, lang: Language) -> list[RenderableType]:
    """Render everything that is known of the plan that is recommended."""
    title = Message("Plan 1 in full: {gpus} × {accelerator}", gpus=row.gpus, accelerator=row.accelerator)
    memory, step = memory_table(row.estimate.memory, lang), step_table(row.estimate.step, lang)
    return [
        heading(translate(title, lang)),
        Paragraph(translate(explain_strategy(row.recipe, row.strategy), lang)),
        Text(),
        Beside(memory, step),
        Text(),
        Paragraph(_say_memory(row, lang)),
        Paragraph(_say_speed(row, lang)),
        Text(),
        run_table(row.run, lang),
        Paragraph(say_run(row.run, lang)),
        *render_cost(row, lang),
        *_render_price(row, lang),
        *render_site(row, lang),
        *_render_rule(row.rule_of_thumb, lang),
    ]


def _say_memory(row: PlanRow, lang: Language) -> str:
    memory = row.estimate.memory
    return translate(
        Message(
            "Memory peaks {place}: {device} GiB (90%: {low}–{high}) of {capacity} GiB usable; {margin} GiB stay free"
            " even at the high end.",
            place=name_place(memory, row.strategy.pp),
            device=say_gib(memory.device_bytes),
            low=say_gib(memory.low_bytes),
            high=say_gib(memory.high_bytes),
            capacity=say_gib(memory.capacity_bytes),
            margin=say_gib(memory.capacity_bytes - memory.high_bytes),
        ),
        lang,
    )


def _say_speed(row: PlanRow, lang: Language) -> str:
    estimate = row.estimate
    return translate(
        Message(
            "Speed: {tokens} tokens/s per card, MFU {mfu} of the dense peak, {achievable} of what large matrix"
            " products reach; communication that nothing hides is {exposed} of compute.",
            tokens=f"{estimate.tokens_per_second_per_gpu:,.0f}",
            mfu=f"{estimate.mfu:.1%}",
            achievable=f"{estimate.of_achievable:.0%}",
            exposed=f"{estimate.exposed_comm_to_compute:.1%}",
        ),
        lang,
    )


def _render_price(row: PlanRow, lang: Language) -> list[RenderableType]:
    if row.offer is not None:
        return _render_offer(row.offer, lang)
    band = row.indicative_price
    if band is None:
        return []
    lines: list[RenderableType] = [Paragraph(translate(_say_band(band), lang))]
    lines += [Paragraph(translate(note, lang), bullet="  - ") for note in band.substitute]
    if band.questions:
        lines.append(Text(translate("Ask before signing:", lang)))
        lines += [Paragraph(translate(question, lang), bullet="  - ") for question in band.questions]
    return lines


def _say_band(band: PriceBand) -> Message:
    if band.tier == "stated":
        return Message("Price: {median} per card-hour, as you state it.", median=band.median)
    return Message(
        "Price: {median} per card-hour ({span}), indicative, not an offer: {tier}, sellers read: {rows}, oldest"
        " reading: {oldest}.",
        median=band.median,
        span=say_money_span(band.low, band.high),
        tier=tier_name(band.tier),
        rows=band.rows,
        oldest=band.oldest.isoformat() if band.oldest else UNKNOWN,
    )


def _render_offer(offer: Offer, lang: Language) -> list[RenderableType]:
    said = Message(
        "Offer of {provider}: {price} per card-hour, {tier}, {count} cards on hand, {links}; dated {date}.",
        provider=offer.provider,
        price=offer.price,
        tier=tier_name(offer.tier),
        count=UNKNOWN if offer.is_count_open else offer.count,
        links=offer.links or Message("links not named"),
        date=offer.date.isoformat() if offer.date else UNKNOWN,
    )
    lines: list[RenderableType] = [Paragraph(translate(said, lang))]
    if offer.questions:
        lines.append(Text(translate("Ask before signing:", lang)))
        lines += [Paragraph(translate(question, lang), bullet="  - ") for question in offer.questions]
    return lines


def _render_rule(rule: RuleOfThumb, lang: Language) -> list[RenderableType]:
    total, *reasons = rule.differences
    said = Message("The run is {flops} FLOP by 6ND. {total}, because:", flops=f"{rule.flops_6nd:.3g}", total=total)
    return [
        heading(translate("Beside the rule of thumb", lang)),
        Paragraph(translate(said, lang)),
        *(Paragraph(translate(reason, lang), bullet="  - ") for reason in reasons),
    ]

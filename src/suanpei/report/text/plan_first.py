"""The first plan in full: memory, step, run, cost, price, and the rule of thumb beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

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
from suanpei.report.text.layout import Beside, Paragraph, heading, make_table
from suanpei.report.text.parts_table import memory_table, run_table, say_run, step_table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from suanpei.market.cost import Cost, CostPart
    from suanpei.market.offer import Offer, Tier
    from suanpei.report.locale import Language
    from suanpei.verbs.plan_rows import OtherBill, PlanRow, PriceBand, RuleOfThumb


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
        *_render_cost(row, lang),
        *_render_price(row, lang),
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


def _render_cost(row: PlanRow, lang: Language) -> list[RenderableType]:
    lines: list[RenderableType] = [heading(translate("Cost", lang))]
    if row.cost is None:
        lines.append(Paragraph(translate(_say_no_price(row), lang)))
        return lines
    lines.append(_cost_table(row.cost, lang))
    interval = Message(
        "90%: {span}, from the short run at the low price to the long run at the high one",
        span=say_money_span(row.cost.low, row.cost.high),
    )
    lines.append(Paragraph(translate(interval, lang)))
    lines += [Paragraph(translate(_say_other_bill(bill), lang)) for bill in row.other_bills]
    if row.cost.missing:
        lines.append(Text(translate("Not in it, because nothing states it (unknown, not zero):", lang)))
        lines += [Paragraph(translate(part, lang), bullet="  - ") for part in row.cost.missing]
    return lines


def _say_other_bill(bill: OtherBill) -> Message:
    values = {"total": bill.total, "span": say_money_span(bill.low, bill.high)}
    if bill.provider is not None:
        return Message("the same run from {provider}: {total} ({span})", provider=bill.provider, **values)
    return Message("the same run from {tier}: {total} ({span})", tier=name_tier(bill.tier), **values)


def _say_no_price(row: PlanRow) -> Message:
    if row.ties_at_price_per_gpu_hour is None:
        return Message(
            "No price of this card is known: give one with --price {accelerator}=…", accelerator=row.accelerator
        )
    return Message(
        "No price of this card is known; up to {price} per card-hour it ties with the cheapest priced plan: give one"
        " with --price {accelerator}=…",
        price=row.ties_at_price_per_gpu_hour,
        accelerator=row.accelerator,
    )


def _cost_table(cost: Cost, lang: Language) -> Table:
    table = make_table(
        [
            (translate("Part", lang), "left"),
            (translate("Card-hours", lang), "right"),
            (translate("Price", lang), "right"),
            (translate("Amount", lang), "right"),
        ]
    )
    # the names break, so that no amount is cut on a narrow console
    table.columns[0].no_wrap = False
    for part in cost.parts:
        for line in part.parts or (part,):
            _add_part(table, line, lang)
    paid = Message("total: {gpus} cards for {hours} h", gpus=cost.paid_gpus, hours=f"{cost.paid_hours:,.4g}")
    table.add_row(Text(translate(paid, lang), style="bold"), "", "", Text(str(cost.total), style="bold"))
    return table


def _add_part(table: Table, part: CostPart, lang: Language) -> None:
    table.add_row(translate(part.name, lang), f"{part.quantity:,.1f}", f"× {part.price}", str(part.amount))


def name_tier(tier: Tier | Literal["stated"]) -> Message:
    """Name a tier for a person, the user's own price among them."""
    return Message("your own price") if tier == "stated" else tier_name(tier)


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
        count=offer.count,
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

"""What ``suanpei plan`` prints: what to rent in one sentence, the plans, the first in full, what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.figures import (
    UNKNOWN,
    name_tax_side,
    say_bare_span,
    say_duration,
    say_gib,
    say_nodes,
    say_probability,
    say_seconds,
    say_span,
    say_strategy,
)
from suanpei.report.text.layout import ByWidth, Paragraph, heading, make_table
from suanpei.report.text.plan_choices import render_choices
from suanpei.report.text.plan_first import render_first
from suanpei.report.text.plan_headline import cost_cells, is_limited, render_headline
from suanpei.report.text.plan_rest import render_rest
from suanpei.units import DAY_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import JustifyMethod, RenderableType

    from suanpei.report.locale import Language
    from suanpei.verbs.plan import PlanResult
    from suanpei.verbs.plan_rows import PlanRow


def render_plan(result: PlanResult, lang: Language) -> RenderableType:
    """Render plans: the headline first, then what a buyer checks, then what a doubter checks."""
    parts: list[RenderableType] = [
        *render_headline(result, lang),
        heading(translate("Plans", lang)),
        _render_rows(result.plans, lang, with_probability=is_limited(result)),
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
            _render_rows(result.other_stacks, lang, with_probability=is_limited(result)),
        ]
    parts += render_rest(result, lang)
    return Group(*parts)


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
    # a long name of a seller breaks, so that no figure is cut
    table.columns[-1].no_wrap, table.columns[-1].overflow = False, "fold"
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
            _two(*cost_cells(row)),
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
        total, interval = cost_cells(row)
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


def _price_cells(row: PlanRow, lang: Language) -> tuple[str, str]:
    """Give the price of a card-hour, and what stands beside it: its seller or band, and its tax side."""
    band = row.indicative_price
    if band is not None:
        side = translate(name_tax_side(band.tax), lang)
        span = say_bare_span(band.low, band.high)
        return str(band.median), side if band.low == band.high else _join(span, side, lang)
    if row.offer is not None:
        side = translate(name_tax_side(row.offer.tax.state), lang)
        return str(row.offer.price), _join(row.offer.provider, side, lang)
    if row.ties_at_price_per_gpu_hour is not None:
        return f"≤ {row.ties_at_price_per_gpu_hour}", ""
    return UNKNOWN, ""


def _join(what: str, tax_side: str, lang: Language) -> str:
    return translate(Message("{what}, {tax_side}", what=what, tax_side=tax_side), lang)

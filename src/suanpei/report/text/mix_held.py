"""What a mix holds: contracts to sign, what is rented by the hour, and phases that no seller holds alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suanpei.messages import Message, name_duration
from suanpei.report.locale import translate
from suanpei.report.text.layout import Paragraph, heading, make_table
from suanpei.report.text.quote_notes import say_length
from suanpei.units import DAY_S, HOUR_S

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from rich.console import RenderableType

    from suanpei.report.locale import Language
    from suanpei.verbs.mix import MixResult
    from suanpei.verbs.mix_phases import SplitPhase
    from suanpei.verbs.mix_rows import ContractRow, UsageRow, WayRow

MOST_ROWS = 24
"""Contracts and offers that are listed; the others are summed in one line."""
MOST_PHASES = 8
"""Phases that are listed; the others are counted in one line."""


def say_day(hours: float, date: datetime | None, lang: Language) -> str:
    """Name the day of a moment: its date, else its number, the first being 1. [h] from the start of the demand"""
    if date is not None:
        return date.date().isoformat()
    return translate(Message("day {number}", number=int(hours * HOUR_S // DAY_S) + 1), lang)


def render_split_phases(result: MixResult, lang: Language) -> list[RenderableType]:
    """List the phases whose cards come from several sellers and from none of them alone."""
    phases = result.split_phases
    if not phases:
        return []
    lines = [translate(_say_phase(phase, lang), lang) for phase in phases[:MOST_PHASES]]
    if len(phases) > MOST_PHASES:
        rest = Message("and {count} more phases (--json lists all)", count=len(phases) - MOST_PHASES)
        lines.append(translate(rest, lang))
    advice = Message(
        "Cards of several sellers are no one cluster. Where such a phase is one run over several machines, this mix"
        " cannot serve it: --one-seller plans each phase with one seller."
    )
    return [
        heading(translate("Phases spread over several sellers", lang)),
        *(Paragraph(line, bullet="  - ") for line in lines),
        Paragraph(translate(advice, lang)),
    ]


def _say_phase(phase: SplitPhase, lang: Language) -> Message:
    """Say what a phase needs and from whom its cards come."""
    values = {
        "start": say_day(phase.start_hours, phase.starts_at, lang),
        "time": name_duration(phase.hours * HOUR_S),
        "gpus": f"{phase.gpus:,}",
        "sellers": [f"{share.provider} {share.gpus:,}" for share in phase.sellers],
    }
    if phase.name:
        return Message("{name} ({start}, {time}): {gpus} cards from {sellers}", name=phase.name, **values)
    return Message("{start}, {time}: {gpus} cards from {sellers}", **values)


def render_contracts(way: WayRow, lang: Language) -> list[RenderableType]:
    """List what to sign."""
    if not way.contracts:
        return []
    table = make_table(
        [
            (translate("Sign on", lang), "left"),
            (translate("Paid for", lang), "right"),
            (translate("Cards", lang), "right"),
            (translate("Seller", lang), "left"),
            (translate("Per card-hour", lang), "right"),
            (translate("Cost", lang), "right"),
        ]
    )
    table.columns[3].no_wrap = False  # a name may be broken, an amount never
    for row in way.contracts[:MOST_ROWS]:
        table.add_row(
            say_day(row.start_hours, row.starts_at, lang),
            translate(say_length(row.paid_hours) or name_duration(row.paid_hours * HOUR_S), lang),
            f"{row.gpus:,}",
            row.provider,
            str(row.price_per_gpu_hour),
            str(row.cost),
        )
    parts: list[RenderableType] = [heading(translate("Contracts to sign", lang)), table]
    rest = way.contracts[MOST_ROWS:]
    if rest:
        more = Message("and {count} more contracts, {cost} together (--json lists all)", **_sum_up(rest))
        parts.append(Paragraph(translate(more, lang)))
    beyond = sum(row.hours_beyond_demand * row.gpus for row in way.contracts)
    if beyond:
        note = Message("Of it, {hours} card-hours are paid after the demand is over.", hours=f"{beyond:,.0f}")
        parts.append(Paragraph(translate(note, lang), style="dim"))
    return parts


def _sum_up(rows: Sequence[ContractRow | UsageRow]) -> dict[str, Any]:
    """Count the rows that are not listed, and add up what they cost."""
    first, *others = rows
    return {"count": len(rows), "cost": sum((row.cost for row in others), first.cost)}


def render_usage(result: MixResult, lang: Language) -> list[RenderableType]:
    """List what is rented by the hour."""
    way = result.mix
    if not way.usage:
        return []
    table = make_table(
        [
            (translate("Kind", lang), "left"),
            (translate("Seller", lang), "left"),
            (translate("Card-hours used", lang), "right"),
            (translate("paid", lang), "right"),
            (translate("Starts", lang), "right"),
            (translate("Per card-hour", lang), "right"),
            (translate("Cost", lang), "right"),
        ]
    )
    table.columns[1].no_wrap = False
    kinds = {"elastic": translate("Elastic", lang), "spot": translate("Spot", lang)}
    for row in way.usage[:MOST_ROWS]:
        table.add_row(
            kinds[row.kind],
            row.provider,
            f"{row.useful_gpu_hours:,.0f}",
            f"{row.paid_gpu_hours:,.0f}",
            f"{row.starts:,}",
            str(row.price_per_gpu_hour),
            str(row.cost),
        )
    parts: list[RenderableType] = [heading(translate("Rented by the hour", lang)), table]
    rest = way.usage[MOST_ROWS:]
    if rest:
        more = Message("and {count} more offers, {cost} together (--json lists all)", **_sum_up(rest))
        parts.append(Paragraph(translate(more, lang)))
    if result.start_up_hours:
        note = Message(
            "Each start is paid for {time} before it works, rounded up to the seller's billing period.",
            time=name_duration(result.start_up_hours * HOUR_S),
        )
        parts.append(Paragraph(translate(note, lang), style="dim"))
    return parts

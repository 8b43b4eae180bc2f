"""What ``suanpei mix`` prints: three ways side by side, the timeline, what to sign, and the arithmetic beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from suanpei.messages import Message, name_duration
from suanpei.report.locale import translate
from suanpei.report.text.assumptions import render_assumptions
from suanpei.report.text.figures import UNKNOWN, say_money_span, say_share
from suanpei.report.text.layout import Bar, ByWidth, Paragraph, heading, make_table
from suanpei.report.text.mix_beside import render_owning, render_pilots
from suanpei.report.text.mix_held import render_contracts, render_split_phases, render_usage, say_day
from suanpei.report.text.mix_rest import render_arithmetic, say_missing
from suanpei.units import HOUR_S, MONTH_HOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import JustifyMethod, RenderableType
    from rich.table import Table

    from suanpei.report.locale import Language
    from suanpei.verbs.mix import Baseline, MixResult
    from suanpei.verbs.mix_rows import WayRow
    from suanpei.verbs.mix_timeline import TimelineRow


def render_mix(result: MixResult, lang: Language) -> RenderableType:
    """Render the mix, what it is measured against, and what was assumed."""
    parts: list[RenderableType] = [*_render_head(result, lang)]
    parts += [Text(), _ways_table(result, lang), *_say_range(result.mix, lang)]
    parts += [Paragraph(translate(_say_baselines(result), lang), style="dim"), *_list_reasons(result.baselines, lang)]
    parts += _render_timeline(result, lang)
    parts += render_split_phases(result, lang)
    parts += render_contracts(result.mix, lang)
    parts += render_usage(result, lang)
    parts += render_arithmetic(result, lang)
    parts += render_pilots(result, lang)
    parts += render_owning(result, lang)
    for title, messages in (
        (translate("Not in these totals", lang), tuple(map(say_missing, result.missing))),
        (translate("Ask before you sign", lang), result.questions),
    ):
        if messages:
            parts.append(heading(title))
            parts += [Paragraph(translate(message, lang), bullet="  - ") for message in messages]
    parts += render_assumptions(result.assumptions, lang)
    return Group(*parts)


def _render_head(result: MixResult, lang: Language) -> list[RenderableType]:
    """Say the answer in a sentence."""
    demand = result.demand
    needed = Message(
        "Needed: {peak} cards at most, {mean} on average, for {time} ({accelerators}).",
        peak=f"{demand.peak_gpus:,}",
        mean=f"{demand.mean_gpus:,.1f}",
        time=name_duration(demand.horizon_hours * HOUR_S),
        accelerators=list(result.accelerators),
    )
    return [Paragraph(translate(needed, lang)), Paragraph(translate(_say_answer(result), lang), style="bold")]


def _say_answer(result: MixResult) -> Message:
    saved = {
        item.kind: say_saving(item.saving_fraction) for item in result.baselines if item.saving_fraction is not None
    }
    total, reserved, on_demand = result.mix.total, saved.get("reserved_at_peak"), saved.get("on_demand")
    if reserved is not None and on_demand is not None:
        return Message(
            "The cheapest mix costs {total}: {reserved} less than all reserved at the peak, {on_demand} less than all"
            " on demand.",
            total=total,
            reserved=reserved,
            on_demand=on_demand,
        )
    if reserved is not None:
        return Message(
            "The cheapest mix costs {total}: {reserved} less than all reserved at the peak.",
            total=total,
            reserved=reserved,
        )
    if on_demand is not None:
        return Message(
            "The cheapest mix costs {total}: {on_demand} less than all on demand.", total=total, on_demand=on_demand
        )
    return Message("The cheapest mix costs {total}.", total=total)


def say_saving(fraction: float) -> str:
    """Write a saving as a percentage, nothing as 0 %. [-]"""
    return f"{max(fraction, 0.0):.1%}"


def _ways_table(result: MixResult, lang: Language) -> Table:
    """Set the three totals side by side."""
    table = make_table(
        [
            (translate("Way", lang), "left"),
            (translate("Total", lang), "right"),
            (translate("Mix saves", lang), "right"),
            (translate("Reserved", lang), "right"),
            (translate("Elastic", lang), "right"),
            (translate("Spot", lang), "right"),
        ]
    )
    names = {"reserved_at_peak": translate("all reserved", lang), "on_demand": translate("all on demand", lang)}
    ways: list[tuple[str, WayRow | None, float | None]] = [(translate("mix", lang), result.mix, None)]
    ways += [(names[item.kind], item.way, item.saving_fraction) for item in result.baselines]
    for name, way, saving in ways:
        if way is None:
            table.add_row(name, *[UNKNOWN] * 5)
        else:
            table.add_row(name, str(way.total), "" if saving is None else say_saving(saving), *_sum_kinds(way))
    return table


def _say_baselines(result: MixResult) -> Message:
    """Say what the mix is measured against."""
    return Message(
        "all reserved: contracts for {peak} cards from start to end, at the least cost; all on demand: only elastic"
        " offers, no contract and no spot.",
        peak=f"{result.demand.peak_gpus:,}",
    )


def _sum_kinds(way: WayRow) -> list[str]:
    """Sum the cost by kind."""
    zero = way.total - way.total
    sums = [sum((row.cost for row in way.contracts), zero)]
    sums += [sum((row.cost for row in way.usage if row.kind == kind), zero) for kind in ("elastic", "spot")]
    return [f"{amount.rounded(0).amount:,}" if amount > zero else UNKNOWN for amount in sums]


def _list_reasons(baselines: Sequence[Baseline], lang: Language) -> list[RenderableType]:
    """Say why a baseline is missing, or that it is not proved the cheapest of its kind."""
    names = {"reserved_at_peak": Message("all reserved at the peak"), "on_demand": Message("all on demand")}
    said = []
    for item in baselines:
        if item.way is None:
            said.append(Message("No figure for {way}: {reason}.", way=names[item.kind], reason=item.reason))
        elif item.way.solver.status != "optimal":
            said.append(
                Message(
                    "The figure for {way} is the best found, at most {gap} above the cheapest of its kind.",
                    way=names[item.kind],
                    gap=f"{item.way.solver.gap_fraction:.2%}",
                )
            )
    return [Paragraph(translate(message, lang)) for message in said]


def _say_range(way: WayRow, lang: Language) -> list[RenderableType]:
    """Say what the mix costs at the ends of the sellers' ranges, where they quote any."""
    if way.low == way.high:
        return []
    said = Message(
        "At the ends of the prices that sellers quote as ranges: {span}.", span=say_money_span(way.low, way.high)
    )
    return [Paragraph(translate(said, lang))]


def _render_timeline(result: MixResult, lang: Language) -> list[RenderableType]:
    """Draw what is needed and held, period by period."""
    wide, narrow = (_timeline_table(result, lang, is_wide=is_wide) for is_wide in (True, False))
    note = Message("Cards held on average in each period; idle: share of the reserved card-hours without work.")
    return [
        heading(translate("What is needed and what is held", lang)),
        ByWidth(wide, narrow),
        Paragraph(translate(note, lang), style="dim"),
    ]


def _timeline_table(result: MixResult, lang: Language, *, is_wide: bool) -> Table:
    columns: list[tuple[str, JustifyMethod]] = [
        (translate("From", lang), "left"),
        (translate("Peak", lang), "right"),
        (translate("Mean", lang), "right"),
        (translate("Reserved", lang), "right"),
        (translate("Elastic", lang), "right"),
        (translate("Spot", lang), "right"),
        (translate("Idle", lang), "right"),
    ]
    if is_wide:
        columns.append((translate("Reserved of the peak", lang), "left"))
    table = make_table(columns)
    for row in result.timeline:
        idle = UNKNOWN if row.idle_reserved_fraction is None else say_share(row.idle_reserved_fraction)
        cells: list[RenderableType] = [
            say_start(row, lang),
            f"{row.peak_gpus:,}",
            say_cards(row.mean_gpus),
            say_cards(row.reserved_gpus),
            say_cards(row.elastic_gpus),
            say_cards(row.spot_gpus),
            idle,
        ]
        if is_wide:
            cells.append(Bar(row.reserved_gpus / result.demand.peak_gpus, width=16))
        table.add_row(*cells)
    return table


def say_start(row: TimelineRow, lang: Language) -> str:
    """Name the beginning of a period: its date, else its day or month."""
    if row.starts_at is None and (row.hours >= MONTH_HOURS or row.start_hours % MONTH_HOURS == 0 < row.start_hours):
        return translate(Message("month {number}", number=round(row.start_hours / MONTH_HOURS) + 1), lang)
    return say_day(row.start_hours, row.starts_at, lang)


def say_cards(gpus: float) -> str:
    """Write an average number of cards; none is a dash. [-]"""
    if gpus == 0:
        return UNKNOWN
    return f"{gpus:,.0f}" if abs(gpus - round(gpus)) < 0.05 else f"{gpus:,.1f}"

"""What stands beside the first plan: the knee as a curve, the biggest package, the other tuning methods."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from rich.text import Text

from suanpei.messages import Message
from suanpei.money import Money
from suanpei.report.locale import translate
from suanpei.report.text.figures import UNKNOWN, name_method, say_at_most, say_duration, say_strategy
from suanpei.report.text.layout import Bar, ByWidth, Paragraph, heading, make_table
from suanpei.units import DAY_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import JustifyMethod, RenderableType
    from rich.table import Table

    from suanpei.market.cost import Cost
    from suanpei.planner.knee import CurvePoint
    from suanpei.report.locale import Language
    from suanpei.verbs.plan import Alternative, KneeResult, PlanResult

MOST_POINTS = 12
"""Longest curve that is printed whole; a longer one keeps its ends, the knee and even steps between."""


def render_choices(result: PlanResult, lang: Language) -> list[RenderableType]:
    """Render knee, biggest package and other methods, as far as there are any."""
    parts: list[RenderableType] = []
    if result.knee is not None and len(result.knee.curve) > 1:
        parts += _render_knee(result.knee, result.currency, result.plans[0].gpus, lang)
    for package in (item for item in result.alternatives if item.kind == "biggest_package"):
        parts += [
            heading(translate("The biggest package beside it", lang)),
            Paragraph(translate(_say_package(package, lang), lang)),
        ]
    methods = [item for item in result.alternatives if item.kind == "method"]
    if methods:
        parts += [
            heading(translate("Other methods, the data being small", lang)),
            _methods_table(result, methods, lang),
        ]
        parts.append(Paragraph(translate(_ADAPTERS, lang), style="dim"))
    return parts


_ADAPTERS = Message(
    "Adapters train a small part of the model: cheaper, and for style and format often as good; what they learn of new"
    " facts is less."
)


def _render_knee(knee: KneeResult, currency: str, chosen: int, lang: Language) -> list[RenderableType]:
    title = Message("Where more cards stop paying: {accelerator}", accelerator=knee.accelerator)
    rule = Message("Knee at {gpus} cards: {rule}.", gpus=knee.recommended_gpus, rule=knee.rule)
    wide, narrow = (_curve_table(knee, currency, chosen, lang, is_wide=is_wide) for is_wide in (True, False))
    return [
        heading(translate(title, lang)),
        ByWidth(wide, narrow),
        Paragraph(translate(rule, lang)),
        Paragraph(translate(_CURVE_LEGEND, lang), style="dim"),
    ]


def _curve_table(knee: KneeResult, currency: str, chosen: int, lang: Language, *, is_wide: bool) -> Table:
    """Draw the curve; a narrow one leaves out the columns that the bar stands for."""
    columns: list[tuple[str, JustifyMethod]] = [
        (translate("Cards", lang), "right"),
        (translate("Time", lang), "right"),
        (translate("With tax", lang), "right"),
        ("MFU", "right"),
        (translate("of achievable", lang), "right"),
    ]
    if is_wide:
        columns += [(translate("Bare comm.", lang), "right"), ("", "right")]
    table = make_table([*columns, (translate("Work per card", lang), "left"), ("", "left")])
    base = knee.curve[0].model_flops_per_s_per_gpu
    for point in _thin(knee.curve, (knee.recommended_gpus, chosen)):
        share = point.model_flops_per_s_per_gpu / base
        named = (("plan 1", point.gpus == chosen), ("knee", point.gpus == knee.recommended_gpus))
        labels = {"plan 1": translate("plan 1", lang), "knee": translate("knee", lang)}
        marks = [labels[name] for name, is_there in named if is_there]
        table.add_row(
            str(point.gpus),
            say_duration(point.days * DAY_S, lang),
            UNKNOWN if point.cost is None else str(Money(amount=Decimal(f"{point.cost:.2f}"), currency=currency)),
            f"{point.mfu:.0%}",
            f"{point.of_achievable:.0%}",
            *([f"{point.exposed_comm_to_compute:.0%}", f"{share:.0%}"] if is_wide else []),
            Bar(share),
            Text("< " + ", ".join(marks) if marks else "", style="bold"),
        )
    return table


_CURVE_LEGEND = Message(
    "MFU: of the dense peak; of achievable: of the rate that large matrix products reach on this card; bare comm.:"
    " communication that nothing hides, over compute; work per card: model FLOP/s over the whole run, against the"
    " smallest number of cards."
)


def _thin(curve: Sequence[CurvePoint], keep: tuple[int, ...]) -> list[CurvePoint]:
    """Keep the ends, the numbers named, and even steps between."""
    if len(curve) <= MOST_POINTS:
        return list(curve)
    last = len(curve) - 1
    wanted = {round(step * last / (MOST_POINTS - 1)) for step in range(MOST_POINTS)}
    return [point for index, point in enumerate(curve) if index in wanted or point.gpus in keep]


def _say_package(package: Alternative, lang: Language) -> Message:
    values = {"gpus": package.gpus, "accelerator": package.accelerator}
    what = (
        Message("{gpus} × {accelerator} for a whole month", **values)
        if package.months is not None
        else Message("{gpus} × {accelerator}", **values)
    )
    done = _say_difference(package, lang)
    if package.cost is None or package.cost_ratio is None:
        return Message("{package}: cost unknown, {done}.", package=what, done=done)
    return Message(
        "{package}: {cost} with tax, {ratio} times the cost of plan 1, {done}.",
        package=what,
        cost=_say_total(package.cost),
        ratio=f"{package.cost_ratio:.1f}" if package.cost_ratio < 100 else f"{package.cost_ratio:,.0f}",
        done=done,
    )


def _say_total(cost: Cost) -> str:
    return say_at_most(cost.ranked_total, is_open=cost.total_tax_in is None)


def _say_difference(package: Alternative, lang: Language) -> Message:
    """Say when a package is done, against the first plan."""
    time = say_duration(package.days * DAY_S, lang)
    saved_s = package.days_saved * DAY_S
    if abs(saved_s) < 0.01 * package.days * DAY_S:
        return Message("done no sooner ({time})", time=time)
    if saved_s > 0:
        return Message("done {difference} sooner ({time})", difference=say_duration(saved_s, lang), time=time)
    return Message("done {difference} later ({time})", difference=say_duration(-saved_s, lang), time=time)


def _methods_table(result: PlanResult, methods: Sequence[Alternative], lang: Language) -> Table:
    table = make_table(
        [
            (translate("Method", lang), "left"),
            (translate("Cards and strategy", lang), "left"),
            (translate("Time", lang), "right"),
            (translate("With tax", lang), "right"),
            (translate("vs. plan 1", lang), "right"),
        ]
    )
    first = result.plans[0]
    for method, row, ratio in (
        (result.job.method, first, 1.0),
        *((item.method, item.row, item.cost_ratio) for item in methods if item.row is not None),
    ):
        cards = Text(f"{row.gpus} × {row.accelerator}\n")
        table.add_row(
            translate(name_method(method), lang),
            cards.append(f"{row.recipe} {say_strategy(row.strategy)}", style="dim"),
            say_duration(row.run.days * DAY_S, lang),
            UNKNOWN if row.cost is None else _say_total(row.cost),
            UNKNOWN if ratio is None else f"{ratio:.2f}×",
        )
    return table

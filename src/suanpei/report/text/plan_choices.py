"""What stands beside the first plan: the knee as a curve, the biggest package, the other tuning methods."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from rich.text import Text

from suanpei.messages import Message
from suanpei.money import Money
from suanpei.report.locale import translate
from suanpei.report.text.figures import UNKNOWN, say_duration, say_strategy
from suanpei.report.text.layout import Bar, Paragraph, heading, make_table
from suanpei.units import DAY_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

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
        parts += [heading(translate("Other methods, the data being small", lang)), _methods_table(result, methods, lang)]
        parts.append(Paragraph(translate(_ADAPTERS, lang), style="dim"))
    return parts


_ADAPTERS = Message(
    "Adapters train a small part of the model: cheaper, and for style and format often as good; what they learn of new facts"
    " is less."
)


def _render_knee(knee: KneeResult, currency: str, chosen: int, lang: Language) -> list[RenderableType]:
    title = Message("Where more cards stop paying: {accelerator}", accelerator=knee.accelerator)
    table = make_table(
        [
            (translate("Cards", lang), "right"),
            (translate("Time", lang), "right"),
            (translate("Cost", lang), "right"),
            (translate("MFU", lang), "right"),
            (translate("of achievable", lang), "right"),
            (translate("Bare comm.", lang), "right"),
            (translate("Work per card", lang), "right"),
            ("", "left"),
            ("", "left"),
        ]
    )
    base = knee.curve[0].model_flops_per_s_per_gpu
    for point in _thin(knee.curve, (knee.recommended_gpus, chosen)):
        share = point.model_flops_per_s_per_gpu / base
        marks = []
        if point.gpus == chosen:
            marks.append(translate("plan 1", lang))
        if point.gpus == knee.recommended_gpus:
            marks.append(translate("knee", lang))
        table.add_row(
            str(point.gpus),
            say_duration(point.days * DAY_S, lang),
            UNKNOWN if point.cost is None else str(Money(amount=Decimal(f"{point.cost:.2f}"), currency=currency)),
            f"{point.mfu:.0%}",
            f"{point.of_achievable:.0%}",
            f"{point.exposed_comm_to_compute:.0%}",
            f"{share:.0%}",
            Bar(share),
            Text("< " + ", ".join(marks) if marks else "", style="bold"),
        )
    rule = Message("Knee at {gpus} cards: {rule}.", gpus=knee.recommended_gpus, rule=knee.rule)
    return [
        heading(translate(title, lang)),
        table,
        Paragraph(translate(rule, lang)),
        Paragraph(translate(_CURVE_LEGEND, lang), style="dim"),
    ]


_CURVE_LEGEND = Message(
    "MFU: of the dense peak; of achievable: of the rate that large matrix products reach on this card; bare comm.:"
    " communication that nothing hides, over compute; work per card: model FLOP/s over the whole run, against the smallest"
    " number of cards."
)


def _thin(curve: Sequence[CurvePoint], keep: tuple[int, ...]) -> list[CurvePoint]:
    """Keep the ends, the numbers named, and even steps between."""
    if len(curve) <= MOST_POINTS:
        return list(curve)
    last = len(curve) - 1
    wanted = {round(step * last / (MOST_POINTS - 1)) for step in range(MOST_POINTS)}
    return [point for index, point in enumerate(curve) if index in wanted or point.gpus in keep]


def _say_package(package: Alternative, lang: Language) -> Message:
    values = {
        "gpus": package.gpus,
        "accelerator": package.accelerator,
        "time": say_duration(package.days * DAY_S, lang),
        "difference": say_duration(abs(package.days_saved) * DAY_S, lang),
    }
    if package.cost is None or package.cost_ratio is None:
        if package.days_saved > 0:
            return Message("{gpus} × {accelerator}: {time}, {difference} sooner than plan 1; cost unknown", **values)
        return Message("{gpus} × {accelerator}: {time}, {difference} later than plan 1; cost unknown", **values)
    values |= {"cost": package.cost.total, "ratio": f"{package.cost_ratio:.1f}"}
    if package.days_saved > 0:
        return Message(
            "{gpus} × {accelerator}: {cost}, {ratio} times the cost of plan 1, and done in {time}, {difference} sooner", **values
        )
    return Message(
        "{gpus} × {accelerator}: {cost}, {ratio} times the cost of plan 1, and done in {time}, {difference} later", **values
    )


def _methods_table(result: PlanResult, methods: Sequence[Alternative], lang: Language) -> RenderableType:
    table = make_table(
        [
            (translate("Method", lang), "left"),
            (translate("Cards", lang), "left"),
            (translate("Strategy", lang), "left"),
            (translate("Time", lang), "right"),
            (translate("Cost", lang), "right"),
            (translate("against plan 1", lang), "right"),
        ]
    )
    first = result.plans[0]
    for method, row, ratio in (
        (result.job.method, first, 1.0),
        *((item.method, item.row, item.cost_ratio) for item in methods if item.row is not None),
    ):
        table.add_row(
            method,
            f"{row.gpus} × {row.accelerator}",
            say_strategy(row.strategy),
            say_duration(row.run.days * DAY_S, lang),
            UNKNOWN if row.cost is None else str(row.cost.total),
            UNKNOWN if ratio is None else f"{ratio:.2f}×",
        )
    return table

"""What ``suanpei compare --plans`` prints: why two plans differ, as factors, sums and words."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from suanpei.messages import Message
from suanpei.money import Money
from suanpei.report.locale import translate
from suanpei.report.text.figures import UNKNOWN, say_duration
from suanpei.report.text.layout import ByWidth, Paragraph, heading, make_table
from suanpei.units import DAY_S, TERA, format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import JustifyMethod, RenderableType
    from rich.table import Table

    from suanpei.report.locale import Language
    from suanpei.verbs.compare_plans import Change, ComparedPlan, ComparePlansResult
    from suanpei.verbs.plan_factors import Decomposition, Factor, PartDifference

PARTS_SHOWN = 6
"""Parts of a sum that are printed, those of the largest differences. [-]"""
FIELDS_FROM_COLUMNS = 140
"""Columns from which on the fields of the JSON stand beside each factor. [-]"""
_SAME = 5e-4
"""A factor this near to 1 is left out of the headline. [-]"""
_ONE = "1.000"
"""A ratio that rounds to it is no difference to speak of."""


def render_compare_plans(result: ComparePlansResult, lang: Language) -> RenderableType:
    """Render the difference of two plans: the ratios, what they are made of, what was asked otherwise."""
    parts: list[RenderableType] = [Paragraph(translate(said, lang), style="bold") for said in _headlines(result, lang)]
    parts += [
        Paragraph(translate(_say_plan(plan), lang), bullet=bullet)
        for bullet, plan in (("A  ", result.a), ("B  ", result.b))
    ]
    parts += [heading(translate("Time", lang)), _factors_table(result.days, lang)]
    if result.cost is not None:
        parts += [heading(translate("Cost", lang)), _factors_table(result.cost, lang)]
    parts.append(Paragraph(translate(_LEGEND, lang), style="dim"))
    parts += _render_list(translate("What differs", lang), [translate(said, lang) for said in result.words])
    parts += _render_sums(result, lang)
    parts += _render_changes(translate("Asked otherwise", lang), result.request_changes, lang)
    parts += _render_changes(translate("Made with other versions", lang), result.version_changes, lang)
    parts += _render_list(translate("Assumed in A only", lang), result.assumptions_only_in_a)
    parts += _render_list(translate("Assumed in B only", lang), result.assumptions_only_in_b)
    return Group(*parts)


_LEGEND = Message(
    "Each factor is B's doing: above 1 it makes B longer or dearer. Together they are the ratio exactly; the JSON names"
    " the fields behind each."
)


def _headlines(result: ComparePlansResult, lang: Language) -> list[Message]:
    times = {
        "ratio": _say_ratio(result.days.ratio),
        "a": say_duration(float(result.a.days) * DAY_S, lang),
        "b": say_duration(float(result.b.days) * DAY_S, lang),
    }
    days = (
        Message("B takes as long as A ({a} → {b})", **times)
        if times["ratio"] == _ONE
        else Message("B takes {ratio} times as long as A ({a} → {b})", **times)
    )
    said = [_with_reason(days, result.days)]
    if result.cost is None:
        said.append(Message("The costs are not compared: there are not two prices in one currency."))
        return said
    values = {
        "ratio": _say_ratio(result.cost.ratio),
        "a": _money(result.cost.a, result.cost.unit),
        "b": _money(result.cost.b, result.cost.unit),
    }
    cost = (
        Message("With tax B costs {ratio} times as much as A ({a} → {b})", **values)
        if result.costs_have_tax
        else Message("As quoted B costs {ratio} times as much as A ({a} → {b})", **values)
    )
    return [*said, _with_reason(cost, result.cost)]


def _with_reason(said: Message, whole: Decomposition) -> Message:
    """Name the factor that moves the ratio most."""
    strongest = max(whole.factors, key=lambda factor: max(factor.ratio, 1 / factor.ratio))
    if abs(strongest.ratio - 1) < _SAME:
        return Message("{what}.", what=said)
    return Message(
        "{what}; the strongest factor is {name}: × {ratio}.",
        what=said,
        name=strongest.name,
        ratio=_say_ratio(strongest.ratio),
    )


def _say_plan(plan: ComparedPlan) -> Message:
    values = {
        "file": plan.file,
        "rank": plan.rank,
        "gpus": plan.gpus,
        "accelerator": plan.accelerator,
        "recipe": plan.recipe,
        "fabric": plan.fabric,
    }
    if plan.nodes == 1:
        return Message("{file}, plan {rank}: {gpus} × {accelerator}, {recipe}", **values)
    return Message("{file}, plan {rank}: {gpus} × {accelerator}, {recipe}, between machines {fabric}", **values)


def _factors_table(whole: Decomposition, lang: Language) -> RenderableType:
    return ByWidth(
        _factor_rows(whole, lang, with_fields=True),
        _factor_rows(whole, lang, with_fields=False),
        least=FIELDS_FROM_COLUMNS,
    )


def _factor_rows(whole: Decomposition, lang: Language, *, with_fields: bool) -> Table:
    columns: list[tuple[str, JustifyMethod]] = [
        (translate("Factor", lang), "left"),
        ("A", "right"),
        ("B", "right"),
        ("×", "right"),
    ]
    if with_fields:
        columns.append((translate("Fields", lang), "left"))
    table = make_table(columns)
    table.columns[-1 if with_fields else 0].no_wrap = False
    for factor in whole.factors:
        fields = [Text(", ".join(factor.fields), style="dim")] if with_fields else []
        table.add_row(translate(factor.name, lang), *_say_sides(factor), _say_ratio(factor.ratio), *fields)
    total = Text(translate("together", lang), style="bold")
    table.add_row(total, *_say_wholes(whole, lang), Text(_say_ratio(whole.ratio), style="bold"))
    return table


def _say_sides(factor: Factor) -> tuple[str, str]:
    """Write both sides of a factor with their unit."""
    writers: dict[str, Callable[[Fraction], str]] = {
        "gpus": lambda value: f"{int(value):,}",
        "tokens": lambda value: format_count(float(value)),
        "FLOP/token": lambda value: f"{float(value) / 1e9:.3g} GFLOP",
        "FLOP/s": lambda value: f"{float(value) / TERA:.4g} TFLOP/s",
        "h": lambda value: f"{float(value):,.4g} h",
        "1": lambda value: f"{float(value):.3g}",
    }
    if factor.unit in writers:
        write = writers[factor.unit]
        return write(factor.a), write(factor.b)
    currency = factor.unit.partition("/card-hour")[0]
    return str(_money(factor.a, currency)), str(_money(factor.b, currency))


def _say_wholes(whole: Decomposition, lang: Language) -> tuple[str, str]:
    if whole.unit == "d":
        return say_duration(float(whole.a) * DAY_S, lang), say_duration(float(whole.b) * DAY_S, lang)
    return str(_money(whole.a, whole.unit)), str(_money(whole.b, whole.unit))


def _render_sums(result: ComparePlansResult, lang: Language) -> list[RenderableType]:
    """Show the parts that differ most, of the run, of one step, and of the bill."""
    parts: list[RenderableType] = []

    def seconds(value: Fraction) -> str:
        return say_duration(float(value), lang) if value else "0"

    sums: list[tuple[str, Sequence[PartDifference], Callable[[Fraction], str]]] = [
        (translate("Whole run", lang), result.run_parts, seconds),
        (translate("Step time", lang), result.step_parts, lambda value: f"{float(value):,.3f} s"),
    ]
    if result.cost is not None:
        currency = result.cost.unit
        sums.append((translate("Cost", lang), result.cost_parts, lambda value: str(_money(value, currency))))
    for title, rows, write in sums:
        differing = [row for row in rows if write(row.a) != write(row.b)]
        if differing:
            parts += [Text(), _sum_rows(title, differing[:PARTS_SHOWN], write, lang)]
    return parts


def _sum_rows(title: str, rows: Sequence[PartDifference], write: Callable[[Fraction], str], lang: Language) -> Table:
    table = make_table([(title, "left"), ("A", "right"), ("B", "right")])
    table.columns[0].no_wrap = False
    for row in rows:
        name = row.name if isinstance(row.name, str) else translate(row.name, lang)
        table.add_row(name, write(row.a), write(row.b))
    return table


def _render_changes(title: str, changes: Sequence[Change], lang: Language) -> list[RenderableType]:
    lines = [
        translate(Message("{field}: {a} → {b}", field=change.field, a=_write(change.a), b=_write(change.b)), lang)
        for change in changes
    ]
    return _render_list(title, lines)


def _render_list(title: str, lines: Sequence[str]) -> list[RenderableType]:
    if not lines:
        return []
    return [heading(title), *(Paragraph(line, bullet="  - ") for line in lines)]


def _write(value: Any) -> str:
    """Write a value of a request as JSON does; what was not given as a dash."""
    if value is None or value == []:
        return UNKNOWN
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=float)


def _say_ratio(ratio: Fraction) -> str:
    if ratio >= 100:
        return f"{float(ratio):,.0f}"
    return f"{float(ratio):.3f}" if ratio >= Fraction(1, 100) else f"{float(ratio):.3g}"


def _money(amount: Fraction, currency: str) -> Money:
    return Money(amount=Decimal(amount.numerator) / Decimal(amount.denominator), currency=currency)

"""What ``suanpei validate`` and ``suanpei fit`` print."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.figures import UNKNOWN
from suanpei.report.text.layout import ByWidth, Paragraph, make_table
from suanpei.report.text.scorecard import count_met, name_split, render_scores
from suanpei.units import GIB_BYTES
from suanpei.verbs.fit import FAR_SPREADS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import JustifyMethod, RenderableType
    from rich.table import Table

    from suanpei.report.locale import Language
    from suanpei.validation.case import Metric, SkippedCase
    from suanpei.validation.summary import Summary
    from suanpei.verbs.fit import FittedCoefficient, RefitResult
    from suanpei.verbs.validate import ValidatedCase, ValidateResult

WORST_ROWS = 15
"""Rows of the table of the largest errors."""
SKIP_ROWS = 12
"""Commonest reasons for skipped rows that are spelled out."""


def render_validate(result: ValidateResult, lang: Language) -> RenderableType:
    """Render the scores beside their targets, errors by source and more, the largest, and why rows were skipped."""
    parts: list[RenderableType] = [Paragraph(translate(_SEEN, lang)), Text(), *render_scores(result.scores, lang)]
    parts += [Paragraph(translate(_LEGEND, lang)), Text()]
    for by, title in (
        ("source", translate("By source", lang)),
        ("set", translate("By published table", lang)),
        ("generation", translate("By accelerator generation", lang)),
    ):
        parts += _render_groups([summary for summary in result.summary if summary.by == by], title, lang)
    return Group(*parts, _render_worst(result.cases, lang), Text(), *_render_skipped(result.skipped, lang))


_SEEN = Message(
    "The bundled calibration was fitted to the rows of data/validation: errors on those flatter it. Targets are for"
    " rows that a fit did not see: suanpei fit prints those, docs/accuracy.md holds them."
)

_LEGEND = Message(
    "Below: half of the errors and 90 % of them are less, their mean, the share held by 90 % intervals and the median"
    " width of those. For fits, fits_at_risk, oom and bounds: the share that was called does_not_fit, at_risk, fits, or"
    " that broke the bound."
)


def render_fit(result: RefitResult, lang: Language) -> RenderableType:
    """Render the coefficients with their standard errors, and the scores on what the fit did not see."""
    known = [one for one in result.coefficients if one.standard_error is not None]
    parts: list[RenderableType] = [
        ByWidth(
            _render_coefficients(known, lang, with_bounds=True), _render_coefficients(known, lang, with_bounds=False)
        ),
        Text(),
        *_render_unidentified(result.coefficients, lang),
        Text(),
    ]
    meanings = {one.name: one.meaning for one in result.coefficients}
    parts += [Paragraph(translate(meaning, lang), bullet=f"{name}: ") for name, meaning in meanings.items()]
    parts += [Text(), Paragraph(translate(count_coefficients(result.coefficients), lang))]
    parts += [Text(), *render_scores(result.scores, lang)]
    parts += [Paragraph(translate(count_met(result.scores), lang)), Text(), Paragraph(translate(_LEGEND, lang)), Text()]
    for split in dict.fromkeys(one.split for one in result.held_out):
        rows = [one.summary for one in result.held_out if one.split == split and one.summary.by == "source"]
        title = Message("By source, {split}", split=name_split(split))
        parts += _render_groups(rows, translate(title, lang), lang)
    parts += [*_render_skipped(result.skipped, lang), Text()]
    said = Message(
        "Calibration {identity}, fitted to {figures} published figures.",
        identity=result.calibration_id,
        figures=result.figures,
    )
    parts.append(Text(translate(said, lang)))
    if result.output is not None:
        parts.append(Text(translate(Message("Written to {path}.", path=str(result.output)), lang)))
    return Group(*parts)


def _render_coefficients(coefficients: Iterable[FittedCoefficient], lang: Language, *, with_bounds: bool) -> Table:
    headings: list[tuple[str, JustifyMethod]] = [
        (translate("Of", lang), "left"),
        (translate("Coefficient", lang), "left"),
        (translate("Value", lang), "right"),
        (translate("± s.e.", lang), "right"),
        (translate("Prior", lang), "right"),
        (translate("Away", lang), "right"),
        (translate("Bounds", lang), "right"),
    ]
    table = make_table(headings if with_bounds else headings[:-1])
    for one in coefficients:
        table.add_row(
            one.key,
            one.name,
            f"{one.value:.3g}",
            f"{one.standard_error:.2g}",
            f"{one.prior:.3g}",
            f"{one.prior_spreads:+.1f}",
            *([f"{one.low:g}–{one.high:g}"] if with_bounds else []),
        )
    return table


def _render_unidentified(coefficients: Iterable[FittedCoefficient], lang: Language) -> list[Paragraph]:
    """List what the data do not identify, by generation, recipe or fabric."""
    kept: dict[str, list[str]] = {}
    for one in coefficients:
        if one.standard_error is None:
            kept.setdefault(one.key, []).append(f"{one.name} {one.prior:.3g}")
    if not kept:
        return []
    said = Paragraph(translate("Not identified by these data, so at their priors:", lang))
    return [said, *(Paragraph(", ".join(values), bullet=f"{key}: ") for key, values in kept.items())]


def count_coefficients(coefficients: Sequence[FittedCoefficient]) -> Message:
    """Say how many coefficients each generation, recipe and fabric has, and how many are far from their priors."""
    per_key = Counter((one.level, one.key) for one in coefficients)
    most = {level: max((n for (own, _), n in per_key.items() if own == level), default=0) for level, _ in per_key}
    return Message(
        "{known} of {count} coefficients are identified; at most {generation} of one card generation, {recipe} of one"
        " recipe, {fabric} of one fabric. {far} lie more than {spreads:g} prior spreads away from their"
        " prior.",
        known=sum(one.standard_error is not None for one in coefficients),
        count=len(coefficients),
        generation=most.get("generations", 0),
        recipe=most.get("recipes", 0),
        fabric=most.get("fabrics", 0),
        far=sum(abs(one.prior_spreads) > FAR_SPREADS for one in coefficients),
        spreads=FAR_SPREADS,
    )


def _render_groups(summaries: Sequence[Summary], title: str, lang: Language) -> list[RenderableType]:
    """Render one table per file."""
    parts: list[RenderableType] = []
    for file in dict.fromkeys(summary.file for summary in summaries):
        rows = [summary for summary in summaries if summary.file == file]
        said = translate(Message("{title}: {file}", title=title, file=file), lang)
        parts += [Paragraph(said, style="bold"), _render_summary(rows, lang), Text()]
    return parts


def _render_summary(rows: Iterable[Summary], lang: Language) -> Table:
    table = make_table(
        (
            (translate("Figure", lang), "left"),
            (translate("Group", lang), "left"),
            (translate("n", lang), "right"),
            (translate("Median", lang), "right"),
            (translate("90 %", lang), "right"),
            (translate("Mean", lang), "right"),
            (translate("Held", lang), "right"),
            (translate("Width", lang), "right"),
        )
    )
    for row in rows:
        table.add_row(
            row.metric.replace("_bytes", ""),
            row.value,
            str(row.n),
            f"{row.median_abs_error:.1%}",
            UNKNOWN if row.p90_abs_error is None else f"{row.p90_abs_error:.1%}",
            f"{row.mean_abs_error:.1%}",
            UNKNOWN if row.coverage_90 is None else f"{row.coverage_90:.0%}",
            UNKNOWN if row.median_width is None else f"{row.median_width:.2f}",
        )
    return table


def _render_worst(cases: Iterable[ValidatedCase], lang: Language) -> RenderableType:
    exact = (case for case in cases if case.bound == "exact" and case.metric != "fits")
    worst = sorted(exact, key=lambda case: -max(case.predicted / case.measured, case.measured / case.predicted))
    shown = worst[:WORST_ROWS]
    return ByWidth(_render_cases(shown, lang, with_interval=True), _render_cases(shown, lang, with_interval=False))


def _render_cases(cases: Iterable[ValidatedCase], lang: Language, *, with_interval: bool) -> Table:
    headings: list[tuple[str, JustifyMethod]] = [
        (translate("Case", lang), "left"),
        (translate("Class", lang), "left"),
        (translate("Figure", lang), "left"),
        (translate("Measured", lang), "right"),
        (translate("Predicted", lang), "right"),
        (translate("Interval", lang), "right"),
        (translate("Error", lang), "right"),
    ]
    if not with_interval:
        del headings[-2]
    table = make_table(headings, title=translate("Largest errors", lang))
    for case in cases:
        figure, unit = _UNITS[case.metric]
        measured, predicted, low, high = (
            _write_figure(value / unit) for value in (case.measured, case.predicted, case.low, case.high)
        )
        span = [f"{low}–{high}"] if with_interval else []
        table.add_row(case.case_id, case.error_class, figure, measured, predicted, *span, f"{case.error:+.1%}")
    return table


def _write_figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


_UNITS: Mapping[Metric, tuple[str, float]] = {
    "step_s": ("step s", 1.0),
    "tokens_per_s_per_gpu": ("tokens/s/GPU", 1.0),
    "tflops_per_gpu": ("TFLOPS", 1.0),
    "gpu_hours": ("GPU-h", 1.0),
    "allocated_bytes": ("allocated GiB", GIB_BYTES),
    "reserved_bytes": ("reserved GiB", GIB_BYTES),
    "device_bytes": ("device GiB", GIB_BYTES),
}
"""How a figure is written, and its unit in that of the metric."""


def _render_skipped(rows: Sequence[SkippedCase], lang: Language) -> list[Paragraph]:
    said = Message("{count} rows skipped:", count=len(rows)) if rows else Message("no row skipped")
    lines = [Paragraph(translate(said, lang))]
    reasons = Counter(translate(skipped.reason, lang) for skipped in rows)
    lines += [Paragraph(reason, bullet=f"{count:6d}  ") for reason, count in reasons.most_common(SKIP_ROWS)]
    rest = sum(count for _, count in reasons.most_common()[SKIP_ROWS:])
    if rest:
        said = Message(
            "{count} rows for {reasons} other reasons: --json lists all", count=rest, reasons=len(reasons) - SKIP_ROWS
        )
        lines.append(Paragraph(translate(said, lang), indent=2))
    return lines

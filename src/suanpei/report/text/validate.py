"""What ``suanpei validate`` and ``suanpei fit`` print."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.figures import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from suanpei.report.locale import Language
    from suanpei.validation.residuals import Summary
    from suanpei.verbs.fit import RefitResult
    from suanpei.verbs.validate import ValidatedCase, ValidateResult

WORST_ROWS = 15
"""Rows of the table of the largest errors."""
SKIP_ROWS = 12
"""Commonest reasons for skipped rows that are spelled out."""


def render_validate(result: ValidateResult, lang: Language) -> RenderableType:
    """Render the summary by class, source and named set, the largest errors, and why rows were skipped."""
    parts: list[RenderableType] = []
    for by, title in (
        ("class", translate("By class", lang)),
        ("source", translate("By source", lang)),
        ("set", translate("By published table", lang)),
        ("generation", translate("By accelerator generation", lang)),
    ):
        parts += _render_groups([summary for summary in result.summary if summary.by == by], title, lang)
    parts.append(Text(translate(_LEGEND, lang)))
    parts += [Text(), _render_worst(result.cases, lang), Text(), *_render_skipped(result, lang)]
    return Group(*parts)


_LEGEND = Message(
    "Error: predicted over measured less one; repeats of one configuration count once, sources weigh equally. For "
    "fits, oom and bounds it is the share of wrong calls."
)


def render_fit(result: RefitResult, lang: Language) -> RenderableType:
    """Render the coefficients with their standard errors, and the errors on what the fit did not see."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in (
        translate("Of", lang),
        translate("Coefficient", lang),
        translate("Value", lang),
        translate("± one s.e.", lang),
        translate("Prior", lang),
        translate("Unit", lang),
        translate("Meaning", lang),
    ):
        table.add_column(heading)
    for one in result.coefficients:
        error = translate("not identified", lang) if one.standard_error is None else f"{one.standard_error:.2g}"
        table.add_row(
            one.key, one.name, f"{one.value:.3g}", error, f"{one.prior:.3g}", one.unit, translate(one.meaning, lang)
        )
    parts: list[RenderableType] = [table, Text()]
    for split, title in (
        ("grouped", translate("Grouped cross-validation", lang)),
        ("source_left_out", translate("Each source left out", lang)),
    ):
        parts += _render_groups(
            [one.summary for one in result.held_out if one.split == split and one.summary.by == "class"], title, lang
        )
    said = Message(
        "Calibration {identity}, fitted to {figures} published figures.",
        identity=result.calibration_id,
        figures=result.figures,
    )
    parts.append(Text(translate(said, lang)))
    if result.output is not None:
        parts.append(Text(translate(Message("Written to {path}.", path=str(result.output)), lang)))
    return Group(*parts)


def _render_groups(summaries: Sequence[Summary], title: str, lang: Language) -> list[RenderableType]:
    """Render one table per file."""
    parts: list[RenderableType] = []
    for file in dict.fromkeys(summary.file for summary in summaries):
        rows = [summary for summary in summaries if summary.file == file]
        parts += [
            _render_summary(rows, translate(Message("{title}: {file}", title=title, file=file), lang), lang),
            Text(),
        ]
    return parts


def _render_summary(rows: Iterable[Summary], title: str, lang: Language) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", title=title, title_justify="left")
    for heading, is_number in (
        (translate("Figure", lang), False),
        (translate("Group", lang), False),
        (translate("n", lang), True),
        (translate("Median error", lang), True),
        (translate("90 % below", lang), True),
        (translate("Mean", lang), True),
        (translate("In interval", lang), True),
        (translate("Width", lang), True),
    ):
        table.add_column(heading, justify="right" if is_number else "left", no_wrap=True)
    for row in rows:
        table.add_row(
            row.metric,
            row.value,
            str(row.n),
            f"{row.median_abs_error:.1%}",
            UNKNOWN if row.p90_abs_error is None else f"{row.p90_abs_error:.1%}",
            f"{row.mean_abs_error:.1%}",
            UNKNOWN if row.coverage_90 is None else f"{row.coverage_90:.0%}",
            UNKNOWN if row.median_width is None else f"{row.median_width:.2f}×",
        )
    return table


def _render_worst(cases: Iterable[ValidatedCase], lang: Language) -> Table:
    table = Table(
        box=None, pad_edge=False, header_style="bold", title=translate("Largest errors", lang), title_justify="left"
    )
    for heading in (
        translate("Case", lang),
        translate("Class", lang),
        translate("Figure", lang),
        translate("Measured", lang),
        translate("Predicted", lang),
        translate("Interval", lang),
        translate("Error", lang),
    ):
        table.add_column(heading, no_wrap=True)
    exact = (case for case in cases if case.bound == "exact" and case.metric != "fits")
    worst = sorted(exact, key=lambda case: -max(case.predicted / case.measured, case.measured / case.predicted))
    for case in worst[:WORST_ROWS]:
        table.add_row(
            case.case_id,
            case.error_class,
            case.metric,
            f"{case.measured:.4g}",
            f"{case.predicted:.4g}",
            f"{case.low:.4g} – {case.high:.4g}",
            f"{case.error:+.1%}",
        )
    return table


def _render_skipped(result: ValidateResult, lang: Language) -> list[Text]:
    said = Message("{count} rows skipped:", count=len(result.skipped)) if result.skipped else Message("no row skipped")
    lines = [Text(translate(said, lang))]
    reasons = Counter(translate(skipped.reason, lang) for skipped in result.skipped)
    lines += [Text(f"  {count:4d}  {reason}") for reason, count in reasons.most_common(SKIP_ROWS)]
    rest = sum(count for _, count in reasons.most_common()[SKIP_ROWS:])
    if rest:
        said = Message(
            "{count} rows for {reasons} other reasons: --json lists all", count=rest, reasons=len(reasons) - SKIP_ROWS
        )
        lines.append(Text(f"  {translate(said, lang)}"))
    return lines

"""The end of a plan: why the rest fell out, what was assumed, how much was looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.assumptions import render_assumptions, render_evidence
from suanpei.report.text.layout import Paragraph, heading

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suanpei.report.locale import Language
    from suanpei.verbs.plan import PlanResult


def render_rest(result: PlanResult, lang: Language) -> list[RenderableType]:
    """Render rejections, the evidence of the intervals, assumptions and the extent of the search."""
    parts: list[RenderableType] = []
    if result.rejected:
        parts.append(heading(translate("Why the rest fell out", lang)))
        for rejection in result.rejected:
            said = Message(
                "{count}: {reason} ({example})",
                count=f"{rejection.count:,}",
                reason=rejection.reason,
                example=rejection.example,
            )
            parts.append(Paragraph(translate(said, lang), bullet="  - "))
    parts += render_evidence(result.plans[0].estimate, lang)
    parts += render_assumptions(result.assumptions, lang)
    said = Message(
        "{candidates} strategies evaluated in full, {pruned} dropped by bounds, {seconds} s. Catalogue of {date},"
        " calibration {calibration}.",
        candidates=f"{result.search.candidates:,}",
        pruned=f"{result.search.pruned:,}",
        seconds=f"{result.search.seconds:.1f}",
        date=result.catalog_date,
        calibration=result.calibration_id,
    )
    parts += [Text(), Paragraph(translate(said, lang), style="dim")]
    return parts

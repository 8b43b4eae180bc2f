"""What stands under every result: what its intervals rest on, and what was assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.layout import Paragraph, heading

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suanpei.physics.estimate import Estimate
    from suanpei.report.locale import Language


def render_evidence(estimate: Estimate, lang: Language) -> list[RenderableType]:
    """List what the intervals rest on, and what would narrow that of the step time, the most effective first."""
    lines = [Message("class {name} of the validation", name=estimate.error_class), *estimate.evidence]
    parts: list[RenderableType] = [
        heading(translate("What the intervals rest on", lang)),
        *(Paragraph(translate(line, lang), bullet="  - ") for line in lines),
    ]
    if not estimate.remedies:
        return parts
    present = estimate.step.high_seconds / estimate.step.low_seconds
    said = Message(
        "What narrows the step time's interval most (its high end is {width} times its low end)", width=f"{present:.2f}"
    )
    return [
        *parts,
        heading(translate(said, lang)),
        *(
            Paragraph(
                translate(Message("{action}: {width} times", action=remedy.action, width=f"{remedy.width:.2f}"), lang),
                bullet="  - ",
            )
            for remedy in estimate.remedies
        ),
    ]


def render_assumptions(assumptions: tuple[Message, ...], lang: Language) -> list[RenderableType]:
    """List what the user did not say and was taken to be so."""
    if not assumptions:
        return []
    return [
        heading(translate("Assumed, because you did not say", lang)),
        *(Paragraph(translate(note, lang), bullet="  - ") for note in assumptions),
    ]

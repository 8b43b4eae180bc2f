"""The assumptions under every result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.report.locale import translate
from suanpei.report.text.layout import Paragraph, heading

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suanpei.messages import Message
    from suanpei.report.locale import Language


def render_assumptions(assumptions: tuple[Message, ...], lang: Language) -> list[RenderableType]:
    """List what the user did not say and was taken to be so."""
    if not assumptions:
        return []
    return [
        heading(translate("Assumed, because you did not say", lang)),
        *(Paragraph(translate(note, lang), bullet="  - ") for note in assumptions),
    ]

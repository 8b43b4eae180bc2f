"""What ``suanpei rfq`` prints: the files written, and what they ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from suanpei.market.rfq.fields import BUYER_FIELDS
from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.assumptions import render_assumptions
from suanpei.report.text.layout import Paragraph, heading

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suanpei.report.locale import Language
    from suanpei.verbs.rfq import RfqResult


def render_rfq(result: RfqResult, lang: Language) -> RenderableType:
    """Render the files written, the requirements in them and what was assumed."""
    parts: list[RenderableType] = [Text(translate("Written", lang), style="bold")]
    for form in result.forms:
        said = (
            Message("{path} for {seller}", path=str(form.path), seller=form.seller) if form.seller else str(form.path)
        )
        parts.append(Paragraph(said if isinstance(said, str) else translate(said, lang), bullet="  - "))
    fill = Message(
        "Fill in the green cells before you send it: {labels}.", labels=[item.label for item in BUYER_FIELDS]
    )
    parts.append(Paragraph(translate(fill, lang)))
    for group in result.requirements:
        parts.append(heading(translate(group.heading, lang)))
        for requirement in group.requirements:
            line = Message("{item}: {need}", item=requirement.item, need=requirement.need)
            parts.append(Paragraph(translate(line, lang), bullet="  - "))
    parts += render_assumptions(result.assumptions, lang)
    tail = Message(
        "Neither your prices nor the name of the model stand in the form. Read filled forms with suanpei quotes; forms"
        " of this request are marked {request}.",
        request=result.specification.request_hash,
    )
    parts += [Text(), Paragraph(translate(tail, lang), style="dim")]
    return Group(*parts)

"""What a seller answered to the requirements, as remarks on every offer of the form, and what stays open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.quotes.form.values import is_blank
from suanpei.market.rfq.requirement import REQUIREMENT_ITEMS
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.market.quotes.form.cells import Answer, FormCells
    from suanpei.market.quotes.form.values import ValueReader


def read_answers(form: FormCells, reader: ValueReader) -> tuple[Message, ...]:
    """Give what is kept of the answers to the requirements, and ask about what is open.

    Args:
        form: The form. [-]
        reader: Collects questions. [-]
    """
    if form.answers is None:
        reader.ask(
            "",
            Message("the file holds no answers to the requirements"),
            Message(
                "Please send the whole workbook, with the sheet {titles} filled.",
                titles=[reader.words.sheet_title("requirements", reader.language)],
            ),
        )
        return ()
    remarks = [_remark(answer, reader) for answer in form.answers]
    open_answers = [answer for answer in form.answers if _said(answer, reader) is None]
    if open_answers:
        items = [_item(answer) for answer in open_answers]
        reader.ask(
            open_answers[0].answer.place,
            Message("requirements without a clear answer: {items}", items=items),
            Message("Please mark as met or not: {items}.", items=items),
        )
    return tuple(remark for remark in remarks if remark is not None)


def _remark(answer: Answer, reader: ValueReader) -> Message | None:
    """Keep a deviation, a comment, and an answer in words of the seller's own; None where nothing is to be kept."""
    item, said = _item(answer), _said(answer, reader)
    comment = "" if is_blank(answer.comment.text) else answer.comment.text
    own = (
        ""
        if is_blank(answer.answer.text) or reader.words.is_own_word("answer", answer.answer.text)
        else answer.answer.text
    )
    words = ": ".join(filter(None, (own if said != "meets" else "", comment)))
    if said == "deviates":
        if not comment:
            reader.ask(
                answer.comment.place,
                Message("{item} deviates, without saying how", item=item),
                Message("{item}: in what does your offer deviate?", item=item),
            )
        return (
            Message("{item}, deviates: {words}", item=item, words=words)
            if words
            else Message("{item}, deviates", item=item)
        )
    return Message("{label}: {value}", label=item, value=words) if words else None


def _said(answer: Answer, reader: ValueReader) -> str | None:
    return None if is_blank(answer.answer.text) else reader.words.read_choice("answer", answer.answer.text)


def _item(answer: Answer) -> Message:
    return REQUIREMENT_ITEMS.get(answer.key, Message("requirement {key}", key=answer.key))

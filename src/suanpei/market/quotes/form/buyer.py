"""What the buyer wrote into a form before it was sent, and whether the offers keep to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from suanpei.market.quotes.form.values import is_blank
from suanpei.market.rfq.fields import BUYER_FIELDS
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from suanpei.market.quotes.document import Unread
    from suanpei.market.quotes.form.cells import Cell, FilledLine, FormCells
    from suanpei.market.quotes.form.line import Head
    from suanpei.market.quotes.form.values import ValueReader
    from suanpei.market.rfq.fields import Field
    from suanpei.market.rfq.words import FormWords
    from suanpei.messages import Wording

_INVOICES = "invoice"
"""The list of invoices, and the field of a line in which one is picked."""


@dataclass(frozen=True, kw_only=True)
class Buyer:
    """What the buyer asked for beside the requirements; None is left blank, or cannot be read."""

    valid_at_least: date | None
    invoice: str | None
    """Code of the choice."""
    said: tuple[Message, ...]
    """All that was filled in, in one message; none where nothing was."""


def read_buyer(form: FormCells, reader: ValueReader) -> tuple[Buyer, tuple[Unread, ...]]:
    """Read what the buyer filled in; what cannot be read there is nothing to ask a seller.

    Args:
        form: The form. [-]
        reader: Reads cells; nothing is added to it. [-]

    Returns:
        The buyer's part, and its cells that cannot be read.
    """
    own = replace(reader, unread=[], questions=[])
    filled = [(field, form.buyer[field.key]) for field in BUYER_FIELDS if field.key in form.buyer]
    filled = [(field, cell) for field, cell in filled if not is_blank(cell.text)]
    days = {field.key: own.day(field.key, cell) for field, cell in filled if field.kind == "date"}
    choices = {field.key: own.choice(field.key, cell) for field, cell in filled if field.kind == "choice"}
    said = [
        Message("{label}: {value}", label=field.label, value=_say(field, cell, choices, own.words))
        for field, cell in filled
    ]
    buyer = Buyer(
        valid_at_least=days.get("valid_at_least"),
        invoice=choices.get("wanted_invoice"),
        said=(Message("the form was sent with: {said}", said=said),) if said else (),
    )
    return buyer, tuple(own.unread)


def _say(field: Field, cell: Cell, choices: Mapping[str, str | None], words: FormWords) -> Wording | str:
    """Say what stands in a cell: a choice in the reader's language, anything else as written."""
    code = choices.get(field.key)
    return cell.text if code is None else words.wording(field.choices, code)


def ask_for_validity(buyer: Buyer, head: Head, form: FormCells, reader: ValueReader) -> None:
    """Ask for a longer validity where the quote lapses before the buyer can decide.

    Args:
        buyer: The buyer's part. [-]
        head: What holds for every line. [-]
        form: The form. [-]
        reader: Collects questions. [-]
    """
    if head.valid_until is None or buyer.valid_at_least is None or head.valid_until >= buyer.valid_at_least:
        return
    days = {"until": str(head.valid_until), "wanted": str(buyer.valid_at_least)}
    reader.ask(
        form.head["valid_until"].place,
        Message("the quote is valid until {until}, asked for was {wanted} at least", **days),
        Message("Can the quote hold until {wanted}, instead of {until}?", **days),
    )


def ask_for_invoices(buyer: Buyer, lines: Iterable[FilledLine], reader: ValueReader) -> None:
    """Ask about each line that is offered with another invoice than the buyer wants.

    Args:
        buyer: The buyer's part. [-]
        lines: Of the form. [-]
        reader: Collects questions. [-]
    """
    if buyer.invoice is None:
        return
    for line in lines:
        cell = line.cell(_INVOICES)
        offered = reader.words.read_choice(_INVOICES, cell.text)
        if offered is not None and offered != buyer.invoice:
            named = {
                "offered": reader.words.wording(_INVOICES, offered),
                "wanted": reader.words.wording(_INVOICES, buyer.invoice),
                "row": line.row,
            }
            reader.ask(
                cell.place,
                Message("row {row} is offered with {offered}, wanted is {wanted}", **named),
                Message("Row {row}: can we have {wanted} instead of {offered}, and at which price?", **named),
            )

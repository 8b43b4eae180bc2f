"""A filled form of a request for quotation, read back without loss and without inference.

A form is known by its marker, its cells by their keys (`market.rfq`). What is written is taken as written; a blank cell
that must be filled, one that cannot be read and two that contradict each other become questions to the seller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.quotes.document import Unread
from suanpei.market.quotes.form.cells import Cell, FormCells, find_markers, take_apart
from suanpei.market.quotes.form.line import FormBasis, Head, read_line
from suanpei.market.quotes.form.values import ValueReader, is_blank
from suanpei.market.quotes.quoted import Quotes
from suanpei.market.rfq.fields import FIELDS_BY_KEY
from suanpei.market.rfq.requirement import REQUIREMENT_ITEMS
from suanpei.market.rfq.words import load_form_words
from suanpei.messages import Message
from suanpei.money import ExchangeRates
from suanpei.units import MONTH_HOURS

if TYPE_CHECKING:
    from datetime import date

    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.quotes.document import Document
    from suanpei.market.rfq.words import FormLanguage, FormWords

_NOWHERE = Cell(text="", place="")


def is_form(document: Document) -> bool:
    """Tell whether a document is a form of a request for quotation, or one of its sheets.

    Args:
        document: A file as text. [-]
    """
    return next(find_markers(document), None) is not None


def read_form(
    document: Document,
    catalogue: Catalogue,
    *,
    currency: str | None = None,
    rates: ExchangeRates | None = None,
    as_of: date | None = None,
) -> Quotes:
    """Read a filled form.

    Args:
        document: A file for which `is_form` holds. [-]
        catalogue: Holds the accelerators. [-]
        currency: Of the amounts per accelerator-hour; None leaves each in the seller's own. [ISO 4217]
        rates: Exchange rates, for another currency than the seller's. [-]
        as_of: The day that the quote's dates are held against; None holds them against none. [-]

    Returns:
        One offer per filled line, questions, and what could not be read.

    Raises:
        ValueError: The document is no form.
    """
    words = load_form_words(catalogue)
    form = take_apart(document, words)
    if form is None:
        raise ValueError(document.file)
    refusal = _refuse_whole(form, words)
    if refusal is not None:
        whole = Unread(file=document.file, cell="", reason=refusal)
        return Quotes(offers=(), questions=(), unread=(*_unread(document, form), whole), assumptions=())
    reader = ValueReader(
        file=document.file,
        seller=form.head.get("seller", _NOWHERE).text,
        words=words,
        language=_language(form),
    )
    head = _read_head(form, reader, as_of)
    remarks = _read_answers(form, reader)
    basis = FormBasis(file=document.file, catalogue=catalogue, currency=currency, rates=rates or ExchangeRates())
    offers = tuple(read_line(line, head, remarks, reader, basis) for line in form.lines)
    return Quotes(
        offers=offers,
        questions=tuple(reader.questions),
        unread=(*_unread(document, form), *reader.unread),
        assumptions=(
            Message(
                "{file} is a form of this program (version {version}, request {request}, plan {rank}): its cells are"
                " taken as filled",
                file=document.file,
                version=form.marker.version,
                request=form.marker.request_hash,
                rank=form.marker.rank,
            ),
            Message("a month of the form has {hours} h", hours=f"{MONTH_HOURS:g}"),
        ),
    )


def _language(form: FormCells) -> FormLanguage:
    """Give the language that a form was written in, in which its sheets and lists are named."""
    return "zh" if form.marker.language == "zh" else "en"


def _refuse_whole(form: FormCells, words: FormWords) -> Message | None:
    """Say why nothing can be read of a form: of a newer version, cut up, or blank; None where there are lines."""
    if form.marker.version > words.version:
        return Message(
            "the form has version {given}, this program reads up to {known}: use the one that wrote it",
            given=form.marker.version,
            known=words.version,
        )
    titles = [words.sheet_title("offers", _language(form))]
    if "offers" not in form.marked:
        return Message("the file holds no offers of the form: they stand on the sheet {titles}", titles=titles)
    if "offers" not in form.keyed:
        return Message(
            "the hidden row or column of keys on the sheet {titles} is gone: ask the seller to fill the form as sent",
            titles=titles,
        )
    if not form.lines:
        return Message("the form is blank: no line of the sheet {titles} is filled", titles=titles)
    return None


def _unread(document: Document, form: FormCells) -> tuple[Unread, ...]:
    """Give what was left of the file and its sheets, but that the form hides some of its own cells."""
    left = (item for item in document.unread if not (item.is_read and item.cell in form.own_places))
    return (*left, *form.unread)


def _read_head(form: FormCells, reader: ValueReader, as_of: date | None) -> Head:
    cells = {key: form.head.get(key, _NOWHERE) for key in ("seller", "contact", "quote_date", "valid_until")}
    blank = [
        FIELDS_BY_KEY[key].label
        for key, cell in cells.items()
        if FIELDS_BY_KEY[key].is_mandatory and is_blank(cell.text)
    ]
    if blank:
        place = next(
            cell.place for key, cell in cells.items() if is_blank(cell.text) and FIELDS_BY_KEY[key].is_mandatory
        )
        reader.ask(
            place,
            Message("the head of the form leaves blank: {labels}", labels=blank),
            Message("Please fill in: {labels}.", labels=blank),
        )
    quoted = reader.day("quote_date", cells["quote_date"])
    until = reader.day("valid_until", cells["valid_until"])
    if quoted is not None and until is not None and until < quoted:
        problem = Message(
            "the quote is valid until {until}, before its own date {quoted}", until=str(until), quoted=str(quoted)
        )
        reader.ask(
            cells["valid_until"].place,
            problem,
            Message("Until which day is the quote of {quoted} valid?", quoted=str(quoted)),
        )
    return Head(
        seller="" if is_blank(cells["seller"].text) else cells["seller"].text,
        contact="" if is_blank(cells["contact"].text) else cells["contact"].text,
        quote_date=quoted,
        valid_until=until,
        flags=_flag_dates(reader, cells["quote_date"].place, quoted, until, as_of),
    )


def _flag_dates(
    reader: ValueReader, place: str, quoted: date | None, until: date | None, as_of: date | None
) -> tuple[str, ...]:
    """Flag what is past its validity or dated to the future, and ask about the latter."""
    if as_of is None:
        return ()
    flags = []
    if until is not None and until < as_of:
        flags.append("price_expired")
    if quoted is not None and quoted > as_of:
        flags.append("date_in_future")
        reader.ask(
            place,
            Message("the quote is dated {quoted}, after {as_of}", quoted=str(quoted), as_of=str(as_of)),
            Message("From which day is the quote?"),
        )
    return tuple(flags)


def _read_answers(form: FormCells, reader: ValueReader) -> tuple[str, ...]:
    """Give what is kept of the answers to the requirements, and ask about what is open."""
    if "requirements" not in form.keyed:
        reader.ask(
            "",
            Message("the file holds no answers to the requirements"),
            Message(
                "Please send the whole workbook, with the sheet {titles} filled.",
                titles=[reader.words.sheet_title("requirements", reader.language)],
            ),
        )
        return ()
    remarks: list[str] = []
    unanswered: list[Message] = []
    for answer in form.answers:
        item = REQUIREMENT_ITEMS.get(answer.key, Message("requirement {key}", key=answer.key))
        said = None if is_blank(answer.answer.text) else reader.words.read_choice("answer", answer.answer.text)
        words = "" if is_blank(answer.comment.text) else answer.comment.text
        if said is None and not is_blank(answer.answer.text):
            words = f"{answer.answer.text}: {words}" if words else answer.answer.text
        if said == "deviates":
            remarks.append(f"deviates {answer.key}: {words}" if words else f"deviates {answer.key}")
            if not words:
                reader.ask(
                    answer.comment.place,
                    Message("{item} deviates, without saying how", item=item),
                    Message("{item}: in what does your offer deviate?", item=item),
                )
        elif words:
            remarks.append(f"{answer.key}: {words}")
        if said is None:
            unanswered.append(item)
    if unanswered:
        reader.ask(
            next(
                answer.answer.place
                for answer in form.answers
                if reader.words.read_choice("answer", answer.answer.text) is None
            ),
            Message("requirements without a clear answer: {items}", items=unanswered),
            Message("Please mark as met or not: {items}.", items=unanswered),
        )
    return tuple(remarks)

"""A filled form of a request for quotation, read back without loss and without inference.

A form is known by its marker, its cells by their keys (`market.rfq`). What is written is taken as written; a blank cell
that must be filled, one that cannot be read and two that contradict each other become questions to the seller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.quotes.document import Unread
from suanpei.market.quotes.form.answers import read_answers
from suanpei.market.quotes.form.buyer import ask_for_invoices, ask_for_validity, read_buyer
from suanpei.market.quotes.form.cells import Cell, FormCells, FormFile, find_markers, take_apart
from suanpei.market.quotes.form.line import FormBasis, Head, read_line
from suanpei.market.quotes.form.values import ValueReader, is_blank
from suanpei.market.quotes.quoted import Quotes
from suanpei.market.rfq.fields import FIELDS_BY_KEY
from suanpei.market.rfq.words import load_form_words
from suanpei.messages import Message
from suanpei.money import ExchangeRates
from suanpei.units import MONTH_HOURS

if TYPE_CHECKING:
    from datetime import date

    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.quotes.document import Document
    from suanpei.market.rfq.marker import Marker
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
    file = take_apart(document, words)
    if file is None:
        raise ValueError(document.file)
    basis = FormBasis(file=document.file, catalogue=catalogue, currency=currency, rates=rates or ExchangeRates())
    left = tuple(item for item in document.unread if not (item.is_read and item.cell in file.own_places))
    if not file.forms:
        whole = Unread(file=document.file, cell="", reason=_say_no_offers(file, words))
        return Quotes(offers=(), questions=(), unread=(*left, whole), assumptions=())
    parts = [_read_one(form, words, basis, as_of) for form in file.forms]
    copies = tuple(
        Unread(
            file=document.file,
            cell=name or "",
            reason=Message("shows a form without its hidden row and column of keys and is not read"),
        )
        for name in file.copies
    )
    return Quotes(
        offers=tuple(offer for part in parts for offer in part.offers),
        questions=tuple(question for part in parts for question in part.questions),
        unread=(*left, *copies, *(item for part in parts for item in part.unread)),
        assumptions=tuple(dict.fromkeys(note for part in parts for note in part.assumptions)),
    )


def _read_one(form: FormCells, words: FormWords, basis: FormBasis, as_of: date | None) -> Quotes:
    """Read the form of one seller."""
    refusal = _refuse_whole(form, words)
    if refusal is not None:
        cell = form.sheet or ""
        whole = Unread(file=basis.file, cell=cell, reason=refusal)
        return Quotes(offers=(), questions=(), unread=(*form.unread, whole), assumptions=())
    reader = ValueReader(
        file=basis.file,
        seller=form.head.get("seller", _NOWHERE).text,
        words=words,
        language=_language(form.marker),
    )
    buyer, unread_buyer = read_buyer(form, reader)
    head = _read_head(form, reader, as_of)
    ask_for_validity(buyer, head, form, reader)
    remarks = read_answers(form, reader)
    offers = tuple(read_line(line, head, remarks, reader, basis) for line in form.lines)
    ask_for_invoices(buyer, form.lines, reader)
    return Quotes(
        offers=offers,
        questions=tuple(reader.questions),
        unread=(*form.unread, *unread_buyer, *reader.unread),
        assumptions=(
            Message(
                "{file} is a form of this program (version {version}, request {request}, plan {rank}): its cells are"
                " taken as filled",
                file=basis.file,
                version=form.marker.version,
                request=form.marker.request_hash,
                rank=form.marker.rank,
            ),
            *buyer.said,
            Message("a month of the form has {hours} h", hours=f"{MONTH_HOURS:g}"),
        ),
    )


def _language(marker: Marker) -> FormLanguage:
    """Give the language that a form was written in, in which its sheets and lists are named."""
    return "zh" if marker.language == "zh" else "en"


def _say_no_offers(file: FormFile, words: FormWords) -> Message:
    """Say why a file of a form holds no offers."""
    copies = [name for name in file.copies if name]
    if file.copies:
        return (
            Message(
                "the hidden row or column of keys on the sheet {titles} is gone: ask the seller to fill the form as"
                " sent",
                titles=copies,
            )
            if copies
            else Message("the hidden row or column of keys is gone: ask the seller to fill the form as sent")
        )
    return Message(
        "the file holds no offers of the form: they stand on the sheet {titles}",
        titles=[words.sheet_title("offers", _language(file.marker))],
    )


def _refuse_whole(form: FormCells, words: FormWords) -> Message | None:
    """Say why nothing can be read of a form: of a newer version, cut up, or blank; None where there are lines."""
    if form.marker.version > words.version:
        return Message(
            "the form has version {given}, this program reads up to {known}: use the one that wrote it",
            given=form.marker.version,
            known=words.version,
        )
    titles = [form.sheet or words.sheet_title("offers", _language(form.marker))]
    if not form.has_keys:
        return Message(
            "the hidden row or column of keys on the sheet {titles} is gone: ask the seller to fill the form as sent",
            titles=titles,
        )
    if not form.lines:
        return Message("the form is blank: no line of the sheet {titles} is filled", titles=titles)
    return None


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

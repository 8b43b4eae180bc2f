"""Quote files of any kind read together: one bad file does not hold up the others."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.errors import InputError, SuanpeiError
from suanpei.market.offers_file import is_own_format
from suanpei.market.quotes.clouds.skypilot import is_skypilot, read_skypilot
from suanpei.market.quotes.document import Document, Unread
from suanpei.market.quotes.files import read_document, read_pasted
from suanpei.market.quotes.form.read import is_form, read_form
from suanpei.market.quotes.offers.band_check import hold_against_bands
from suanpei.market.quotes.offers.own_columns import read_own_columns
from suanpei.market.quotes.quoted import Quotes
from suanpei.market.quotes.read import read_quotes
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from suanpei.market.quotes.context import QuoteContext

PASTED_NAME = "-"
"""How a pasted text is named where a file would be."""


def gather_quotes(paths: Sequence[Path], pasted: str | None, context: QuoteContext) -> Quotes:
    """Read files of quotes, and a pasted text.

    Args:
        paths: Files of any kind that is read. [-]
        pasted: A message or table as copied; None is none. [-]
        context: Catalogue, prices, exchange rates, currency, day. [-]

    Returns:
        What was read, held against the price bands: files in our own columns and forms, then quotes of sellers, then
        catalogues of clouds; a file that cannot be read stands among the unread.

    Raises:
        SuanpeiError: None of them can be read; where there is only one, why it cannot.
    """
    documents: list[Document] = []
    parts: list[Quotes] = []
    unread: list[Unread] = []
    errors: list[SuanpeiError] = []
    distinct, said = drop_repeated(paths)
    for path in distinct:
        try:
            if path.is_file() and is_own_format(path):
                parts.append(read_own_columns(path, context))
            else:
                document = read_document(path)
                same = next((other for other in documents if other.sheets == document.sheets and document.sheets), None)
                if same is None:
                    documents.append(document)
                else:
                    said.append(_same_as(path, same.file))
        except SuanpeiError as error:
            errors.append(error)
            unread.append(Unread(file=str(path), cell="", reason=error.message))
    if pasted is not None:
        documents.append(read_pasted(pasted, PASTED_NAME))
    if not (documents or parts):
        if len(errors) == 1:
            raise errors[0]
        reasons = [error.message for error in errors]
        raise InputError(Message("none of the files can be read: {reasons}", reasons=reasons))
    forms, catalogues, written = _sort(documents)
    parts += [
        read_form(form, context.catalogue, currency=context.currency, rates=context.rates, as_of=context.as_of)
        for form in forms
    ]
    parts += [read_quotes(written, context)] if written else []
    parts += [read_skypilot(document, context) for document in catalogues]
    quotes = hold_against_bands(merge_quotes(parts, unread), context)
    return replace(quotes, assumptions=(*quotes.assumptions, *dict.fromkeys(said)))


def drop_repeated(paths: Iterable[Path]) -> tuple[list[Path], list[Message]]:
    """Keep each file once: its cards are on hand once, by whatever path or copy of it they are named.

    Args:
        paths: Files. [-]

    Returns:
        The first of those with the same bytes, in their order, and what was said of the others. What is no file is
        kept: its reader says why it cannot be read.
    """
    kept: list[Path] = []
    said: list[Message] = []
    first_of: dict[bytes, Path] = {}
    for path in paths:
        digest = _digest(path) if path.is_file() else None
        other = None if digest is None else first_of.get(digest)
        if other is None:
            kept.append(path)
            first_of |= {} if digest is None else {digest: path}
        elif other.samefile(path):
            said.append(Message("{file} is named more than once and read once", file=str(path)))
        else:
            said.append(_same_as(path, str(other)))
    return kept, said


def _digest(path: Path) -> bytes:
    """Give a digest of the bytes of a file; of one that cannot be read, its name."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return str(path).encode("utf-8", "surrogateescape")


def _same_as(path: Path, other: str) -> Message:
    return Message("{file} holds the same as {other} and is not read again", file=str(path), other=other)


def _sort(documents: Iterable[Document]) -> tuple[list[Document], list[Document], list[Document]]:
    """Tell forms of our own and catalogues of clouds from what sellers wrote in their own manner."""
    forms: list[Document] = []
    catalogues: list[Document] = []
    written: list[Document] = []
    for document in documents:
        group = forms if is_form(document) else catalogues if is_skypilot(document) else written
        group.append(document)
    return forms, catalogues, written


def merge_quotes(parts: Iterable[Quotes], unread: Iterable[Unread] = ()) -> Quotes:
    """Put what was read from several sources into one.

    Args:
        parts: In the order wanted. [-]
        unread: What was not read beside them. [-]
    """
    several = list(parts)
    return Quotes(
        offers=tuple(offer for part in several for offer in part.offers),
        questions=tuple(question for part in several for question in part.questions),
        unread=(*unread, *(item for part in several for item in part.unread)),
        assumptions=tuple(dict.fromkeys(note for part in several for note in part.assumptions)),
    )

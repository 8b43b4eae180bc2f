"""Offers to plan with, of any file that holds some: our own columns, a seller's quote, a cloud's catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.cluster import build_cluster
from suanpei.machine.names import resolve_accelerator
from suanpei.market.offer import explain_conversions
from suanpei.market.offers_file import is_own_format, read_offer_lines
from suanpei.market.price_rows import load_prices
from suanpei.market.quotes.context import QuoteContext
from suanpei.market.quotes.document import name_cell
from suanpei.market.quotes.offers.as_offers import LeftOut, make_offers, name_seller
from suanpei.market.quotes.offers.band_check import CheapOffers
from suanpei.market.quotes.quoted import Place
from suanpei.messages import Message
from suanpei.verbs.quote_files import drop_repeated, gather_quotes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date
    from pathlib import Path

    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.offer import Offer
    from suanpei.market.offers_file import OfferLine
    from suanpei.market.quotes.document import Unread
    from suanpei.market.quotes.quoted import Question
    from suanpei.money import ExchangeRates
    from suanpei.verbs.inputs import Inputs

_MOST_NAMED = 3
"""Offers named as examples of what was left out for one reason. [-]"""
_MOST_REASONS = 5
"""Reasons in one line of an error. [-]"""
_TOO_CHEAP = Message(
    "it is too cheap to be true as written: have its price confirmed; where it holds, give it with --price in place of"
    " --offers"
)
"""Why an offer of our own columns is left out; its unit is settled by the column."""


@dataclass(frozen=True, kw_only=True)
class OfferedList:
    """Offers of some files, and what was made of the rest."""

    offers: tuple[Offer, ...]
    """In the order of the files; those of quotes after those of files in our own columns."""
    assumptions: tuple[Message, ...]
    """How quotes were read."""
    not_planned: tuple[Message, ...]
    """Which offers of quotes cannot be planned, by reason, and what was not read."""
    left_out: tuple[LeftOut, ...]
    """The same one by one."""
    questions: tuple[Question, ...]
    unread: tuple[Unread, ...]


def read_offers(
    paths: Sequence[Path], inputs: Inputs, *, currency: str, rates: ExchangeRates, as_of: date
) -> OfferedList:
    """Read offers to plan with.

    A CSV file with the columns of ``market.offers_file`` is read strictly; anything else as ``suanpei quotes`` reads
    it.

    Args:
        paths: Files, at least one. [-]
        inputs: Holds the catalogue. [-]
        currency: Of quoted prices; those of our own columns keep theirs. [-]
        rates: Exchange rates. [-]
        as_of: The day on which a quote must still hold. [-]

    Returns:
        The offers, at least one.

    Raises:
        InputError: A file is missing, a cell of our own columns is bad, no quote can be read, or no offer can be
            planned.
    """
    for path in paths:
        if not path.is_file():
            raise InputError(Message("offers: {path} is not a file", path=str(path)))
    distinct, said = drop_repeated(paths)
    context = QuoteContext(
        catalogue=inputs.catalogue, prices=load_prices(inputs.catalogue), rates=rates, currency=currency, as_of=as_of
    )
    own = [path for path in distinct if is_own_format(path)]
    parts = [_read_own(own, context)] if own else []
    parts += [_read_quoted(quoted, context)] if (quoted := [path for path in distinct if path not in own]) else []
    offered = OfferedList(
        offers=tuple(offer for part in parts for offer in part.offers),
        assumptions=(*said, *(note for part in parts for note in part.assumptions)),
        not_planned=tuple(note for part in parts for note in part.not_planned),
        left_out=tuple(item for part in parts for item in part.left_out),
        questions=tuple(question for part in parts for question in part.questions),
        unread=tuple(item for part in parts for item in part.unread),
    )
    if not offered.offers:
        raise InputError(
            Message(
                "offers: nothing in {files} can be planned ({reasons}); 'suanpei quotes' shows what was read",
                files=", ".join(map(str, paths)),
                reasons=_shorten(offered.not_planned) or Message("no offer was found"),
            )
        )
    return offered


def _read_own(paths: Sequence[Path], context: QuoteContext) -> OfferedList:
    """Read files in our own columns strictly, and leave out what is too cheap to be true."""

    def name_of(text: str) -> str:
        return resolve_accelerator(context.catalogue, text).accelerator.name

    cheap = CheapOffers(context)
    offers: list[Offer] = []
    left_out: list[LeftOut] = []
    files = [(path, *read_offer_lines(path, name_of)) for path in paths]
    read = (line.offer for _, _, lines in files for line in lines)
    conversions = explain_conversions(read, context.currency, context.rates)  # a currency without a rate is an error
    for path, header, lines in files:
        _check_links(path, lines, context)
        column = header.index("price_per_hour")
        for line in lines:
            if cheap.holds(line.offer):
                cell = name_cell(None, line.number, column)
                place = Place(file=str(path), sheet=None, row=line.number, cell=cell)
                left_out.append(LeftOut(source=place, seller=line.offer.provider, reason=_TOO_CHEAP))
            else:
                offers.append(line.offer)
    return OfferedList(
        offers=tuple(offers),
        assumptions=conversions,
        not_planned=tuple(_say_left_out(left_out)),
        left_out=tuple(left_out),
        questions=(),
        unread=(),
    )


def _check_links(path: Path, lines: Sequence[OfferLine], context: QuoteContext) -> None:
    """Check that a cluster can be built of the links of each offer, whether the command at hand needs one or not.

    Raises:
        InputError: One of them names no network.
    """
    accelerators = load_accelerators(context.catalogue)
    first_of = {(line.offer.accelerator_name, line.offer.links): line for line in reversed(lines) if line.offer.links}
    for (name, links), line in sorted(first_of.items(), key=lambda item: item[1].number):
        try:
            build_cluster(context.catalogue, accelerators[name], links)
        except InputError as error:
            place = {"file": str(path), "line": line.number, "column": "links"}
            raise InputError(
                Message("{file}, line {line}, column {column}: {error}", **place, error=error.message)
            ) from error


def take_named_cards(
    offers: Sequence[Offer], names: Sequence[str], catalogue: Catalogue
) -> tuple[Sequence[Offer], tuple[Message, ...]]:
    """Give the offers of the cards asked for, and say which card nobody offers.

    Args:
        offers: Of any cards. [-]
        names: As the user names the cards; none takes all. [-]
        catalogue: Holds the accelerators. [-]

    Raises:
        InputError: A name is ambiguous or unknown.
    """
    if not names:
        return offers, ()
    resolved = [resolve_accelerator(catalogue, name) for name in names]
    wanted = dict.fromkeys(item.accelerator.name for item in resolved)
    kept = [offer for offer in offers if offer.accelerator_name in wanted]
    offered = {offer.accelerator_name for offer in kept}
    absent = [name for name in wanted if name not in offered]
    said = [note for item in resolved for note in item.assumptions]
    if absent:
        said.append(Message("gpu: no offer has {accelerators}", accelerators=absent))
    return kept, tuple(dict.fromkeys(said))


def _read_quoted(paths: Sequence[Path], context: QuoteContext) -> OfferedList:
    """Read quotes, and make offers of those that can be planned."""
    quotes = gather_quotes(paths, None, context)
    made = make_offers(quotes, context)
    return OfferedList(
        offers=made.offers,
        assumptions=quotes.assumptions,
        not_planned=(*_say_left_out(made.left_out), *_say_unread(quotes.unread)),
        left_out=made.left_out,
        questions=quotes.questions,
        unread=quotes.unread,
    )


def _say_left_out(left_out: Sequence[LeftOut]) -> list[Message]:
    """Say how many offers cannot be planned for each reason, with the first of them."""
    groups: dict[Message, list[LeftOut]] = {}
    for item in left_out:
        groups.setdefault(item.reason, []).append(item)
    return [
        Message(
            "{count} quoted offers are not planned: {reason} ({examples})",
            count=len(items),
            reason=reason,
            examples=", ".join(
                f"{name_seller(item.seller, item.source)} {item.source.cell}" for item in items[:_MOST_NAMED]
            ),
        )
        for reason, items in groups.items()
    ]


def _shorten(reasons: Sequence[Message]) -> list[Message]:
    """Give the first of many reasons, and how many there are beside."""
    more = len(reasons) - _MOST_REASONS
    rest = [Message("and {count} more", count=f"{more:,}")] if more > 0 else []
    return [*reasons[:_MOST_REASONS], *rest]


def _say_unread(unread: Sequence[Unread]) -> list[Message]:
    return [
        Message("not read: {place}: {reason}", place=" ".join(filter(None, (item.file, item.cell))), reason=item.reason)
        for item in unread
    ]

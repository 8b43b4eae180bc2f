"""The verb ``quotes``: quotes as sellers write them, on one basis, with what to ask and what stays unread."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date  # noqa: TC003  # the Python interface reads the annotations
from pathlib import Path  # noqa: TC003  # as above
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.machine.catalogue import load_catalogue
from suanpei.market.price_rows import load_exchange_rates, load_prices
from suanpei.market.quotes.clouds.live import load_gpuhunt, read_live
from suanpei.market.quotes.context import QuoteContext
from suanpei.market.quotes.offers.band_check import hold_against_bands
from suanpei.messages import Message
from suanpei.quantities import parse_currency
from suanpei.verbs.envelope import VerbResult
from suanpei.verbs.quote_files import gather_quotes, merge_quotes

if TYPE_CHECKING:
    from collections.abc import Callable

    from suanpei.market.quotes.document import Unread
    from suanpei.market.quotes.quoted import Question, QuotedOffer


@dataclass(frozen=True, kw_only=True)
class QuotesRequest:
    """What the user asks for."""

    files: tuple[Path, ...] = ()
    pasted: str | None = None
    """A message or table as copied from a chat; None is none."""
    as_of: date
    """The day on which an offer must still hold, and from which the age of a price counts."""
    currency: str
    """Of the result."""
    rate: tuple[str, ...] = ()
    """The user's own exchange rates, such as ``USD=7.2CNY``."""
    live: bool = False
    """Whether the prices of clouds are fetched too."""
    provider: tuple[str, ...] = ()
    """The clouds to fetch; none is all."""
    catalog: Path | None = None


@dataclass(frozen=True, kw_only=True)
class QuotesResult(VerbResult):
    """Offers on one basis, per accelerator-hour in one currency."""

    currency: str
    """Of every price that is not said to be as quoted."""
    offers: tuple[QuotedOffer, ...]
    """In the order of the files."""
    questions: tuple[Question, ...]
    unread: tuple[Unread, ...]


def read_quote_files(request: QuotesRequest, load_live: Callable[[], Any] = load_gpuhunt) -> QuotesResult:
    """Read quotes.

    Args:
        request: Files, currency, exchange rates, day. [-]
        load_live: Gives the package that fetches the prices of clouds. [-]

    Raises:
        InputError: Nothing is named, or none of it can be read; an option is wrong.
        MissingExtraError: A file or the prices of clouds need a package that is not installed.
    """
    if not (request.files or request.pasted is not None or request.live):
        raise InputError(Message("name a file of quotes, - for text on standard input, or --live"))
    if request.provider and not request.live:
        raise InputError(Message("provider goes with --live"))
    catalogue = load_catalogue(request.catalog)
    context = QuoteContext(
        catalogue=catalogue,
        prices=load_prices(catalogue),
        rates=load_exchange_rates(catalogue, request.rate),
        currency=parse_currency(request.currency, "currency"),
        as_of=request.as_of,
    )
    parts = []
    if request.files or request.pasted is not None:
        parts.append(gather_quotes(request.files, request.pasted, context))
    if request.live:
        parts.append(hold_against_bands(read_live(load_live(), request.provider, context), context))
    quotes = merge_quotes(parts)
    return QuotesResult(
        catalog_date=catalogue.catalog_date,
        calibration_id=None,
        request={
            "files": request.files,
            "pasted": request.pasted,
            "as_of": request.as_of,
            "currency": context.currency,
            "rate": request.rate,
            "live": request.live,
            "provider": request.provider,
            "catalog": request.catalog,
        },
        assumptions=quotes.assumptions,
        currency=context.currency,
        offers=quotes.offers,
        questions=quotes.questions,
        unread=quotes.unread,
    )

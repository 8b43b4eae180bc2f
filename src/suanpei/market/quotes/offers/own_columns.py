"""Offers in our own columns (`market.offers_file`) as quotes: each column fixes its unit, nothing is inferred.

A line that cannot be read is listed with its cell, and the others are read.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.names import resolve_accelerator
from suanpei.market.offer import explain_conversions
from suanpei.market.offers_file import OfferLine, read_offer_lines
from suanpei.market.quotes.document import Unread, name_cell
from suanpei.market.quotes.offers.questions import ask_beside_columns
from suanpei.market.quotes.quoted import Place, QuotedOffer, QuotedPrice, Quotes, Reading
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from suanpei.market.offer import Tier
    from suanpei.market.quotes.context import QuoteContext
    from suanpei.market.quotes.quoted import Pricing, Question

_HOUR = Fraction(1)
_PRICING: dict[Tier, Pricing] = {"spot": "spot", "marketplace": "marketplace"}
_WHY = Message("the column is per card and hour")


def read_own_columns(path: Path, context: QuoteContext) -> Quotes:
    """Read a file of offers in our own columns.

    Args:
        path: The CSV file. [-]
        context: Catalogue, exchange rates and currency of the result. [-]

    Returns:
        An offer per line, the questions it leaves, and each line that cannot be read, with its cell.

    Raises:
        InputError: The file as a whole cannot be read: no header that fits, no line, no text.
    """
    file = str(path)
    bad: list[tuple[int, InputError]] = []

    def name_of(text: str) -> str:
        return resolve_accelerator(context.catalogue, text).accelerator.name

    header, lines = read_offer_lines(path, name_of, lambda line, error: bad.append((line, error)))
    unread = [
        Unread(file=file, cell=_name_bad_cell(file, header, line, error), reason=error.message) for line, error in bad
    ]
    factors = _find_factors(lines, context)
    kept: list[OfferLine] = []
    offers: list[QuotedOffer] = []
    questions: list[Question] = []
    for line in lines:
        factor = factors[line.offer.price.currency]
        if factor is None:
            unread.append(_leave_currency(file, header, line, context))
            continue
        offer = _quote(line, factor, file, header, context)
        kept.append(line)
        offers.append(offer)
        questions += ask_beside_columns(offer, header, line.cells)
    own = [line.offer for line in kept]
    return Quotes(
        offers=tuple(offers),
        questions=tuple(questions),
        unread=tuple(unread),
        assumptions=(
            *explain_conversions(own, context.currency, context.rates),
            *dict.fromkeys(note for offer in own for note in offer.assumptions),
        ),
    )


def _name_bad_cell(file: str, header: Sequence[str], line: int, error: InputError) -> str:
    """Name the cell that an error is of; the line where it is of no one column."""
    values = error.message.values
    places = [str(value) for value in values.values() if str(value).startswith(f"{file}:{line} ")]
    column = values.get("column", places[0].rpartition(" ")[2] if places else None)
    return name_cell(None, line, header.index(column) if column in header else None)


def _find_factors(lines: Sequence[OfferLine], context: QuoteContext) -> dict[str, Fraction | None]:
    """Find what each currency is in that of the result; None where no rate joins them."""
    factors: dict[str, Fraction | None] = {}
    for code in dict.fromkeys(line.offer.price.currency for line in lines):
        try:
            factors[code] = context.rates.factor(code, context.currency)
        except InputError:
            factors[code] = None
    return factors


def _leave_currency(file: str, header: Sequence[str], line: OfferLine, context: QuoteContext) -> Unread:
    return Unread(
        file=file,
        cell=name_cell(None, line.number, header.index("currency")),
        reason=Message(
            "{price}: no exchange rate; give one with --rate {currency}=…{wanted}",
            price=line.cells[header.index("price_per_hour")],
            currency=line.offer.price.currency,
            wanted=context.currency,
        ),
    )


def _quote(line: OfferLine, factor: Fraction, file: str, header: Sequence[str], context: QuoteContext) -> QuotedOffer:
    offer, column = line.offer, header.index("price_per_hour")
    quoted = offer.price.currency
    amount = Fraction(offer.price.amount) * factor
    flags = (
        *((offer.tax.flag,) if offer.tax.flag is not None else ()),
        *((quoted.lower(),) if quoted != context.currency else ()),
        *(("spot",) if offer.tier == "spot" else ()),
    )
    return QuotedOffer(
        source=Place(file=file, sheet=None, row=line.number, cell=name_cell(None, line.number, column)),
        seller=offer.provider,
        accelerator=offer.accelerator_name,
        accelerator_as_written=line.cells[header.index("gpu")],
        accelerators_per_unit=offer.unit_gpus,
        price_as_written=line.cells[column],
        quoted_currency=quoted,
        price_per_accelerator_hour=QuotedPrice.of(amount, amount, context.currency, offer.tax),
        pricing=_PRICING.get(offer.tier, "monthly" if offer.term.is_month_billed else "on_demand"),
        term=offer.term,
        count=offer.count,
        links=offer.links,
        region=offer.region,
        quote_date=offer.date,
        valid_until=None,
        readings=(
            Reading(
                amount=amount, billed="card", period_hours=_HOUR, quoted_currency=quoted, is_plausible=None, why=_WHY
            ),
        ),
        flags=flags,
        confidence="high",
        note=offer.note,
        charges=offer.charges.priced_in(context.currency, context.rates),
        payment=offer.payment,
    )

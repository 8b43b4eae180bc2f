"""Offers in our own columns (`market.offers_file`) as quotes: each column fixes its unit, nothing is inferred."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.machine.names import resolve_accelerator
from suanpei.machine.table import read_text, split_cells
from suanpei.market.offer import explain_conversions
from suanpei.market.offers_file import COLUMNS, REQUIRED_COLUMNS, load_offers
from suanpei.market.quotes.document import name_cell
from suanpei.market.quotes.quoted import Place, QuotedOffer, QuotedPrice, Quotes, Reading
from suanpei.messages import Message

if TYPE_CHECKING:
    from pathlib import Path

    from suanpei.market.offer import Offer, Tier
    from suanpei.market.quotes.quoted import Pricing
    from suanpei.market.quotes.read import QuoteContext

_HOUR = Fraction(1)
_PRICING: dict[Tier, Pricing] = {"spot": "spot", "marketplace": "marketplace"}


def read_own_columns(path: Path, context: QuoteContext) -> Quotes:
    """Read a file of offers in our own columns.

    Args:
        path: The CSV file. [-]
        context: Catalogue, exchange rates and currency of the result. [-]

    Returns:
        An offer per line; the plan's questions stand with `plan` and `compare`.

    Raises:
        InputError: A bad cell, named with file, line and column.
    """

    def name_of(text: str) -> str:
        return resolve_accelerator(context.catalogue, text).accelerator.name

    header, lines = split_cells(read_text(path), str(path), known=COLUMNS, required=REQUIRED_COLUMNS)
    places = {column: header.index(column) for column in ("gpu", "price_per_hour")}
    offers = load_offers(path, name_of)
    return Quotes(
        offers=tuple(
            _quote(
                offer,
                Place(file=str(path), sheet=None, row=line, cell=name_cell(None, line, places["price_per_hour"])),
                cells[places["gpu"]],
                cells[places["price_per_hour"]],
                context,
            )
            for offer, (line, cells) in zip(offers, lines, strict=True)
        ),
        questions=(),
        unread=(),
        assumptions=(
            *explain_conversions(offers, context.currency, context.rates),
            *dict.fromkeys(note for offer in offers for note in offer.assumptions),
        ),
    )


def _quote(offer: Offer, place: Place, card: str, price: str, context: QuoteContext) -> QuotedOffer:
    quoted = offer.price.currency
    amount = Fraction(offer.price.amount) * context.rates.factor(quoted, context.currency)
    flags = (
        *((offer.tax.flag,) if offer.tax.flag is not None else ()),
        *((quoted.lower(),) if quoted != context.currency else ()),
        *(("spot",) if offer.tier == "spot" else ()),
    )
    return QuotedOffer(
        source=place,
        seller=offer.provider,
        accelerator=offer.accelerator_name,
        accelerator_as_written=card,
        accelerators_per_unit=offer.unit_gpus,
        price_as_written=price,
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
                amount=amount,
                billed="card",
                period_hours=_HOUR,
                quoted_currency=quoted,
                is_plausible=None,
                why=Message("the column is per card and hour"),
            ),
        ),
        flags=flags,
        confidence="high",
        note=offer.note,
        charges=offer.charges.priced_in(context.currency, context.rates),
        payment=offer.payment,
    )

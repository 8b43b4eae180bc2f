"""The price of a filled line: one price in two units, which must agree within their rounding."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.market.quotes.quoted import QuotedPrice, Reading
from suanpei.messages import Message
from suanpei.units import MONTH_HOURS

if TYPE_CHECKING:
    from suanpei.market.quotes.form.cells import FilledLine
    from suanpei.market.quotes.form.values import ValueReader
    from suanpei.market.terms import Tax
    from suanpei.money import ExchangeRates

_MONTH_HOURS = Fraction(MONTH_HOURS)
_CENT, _UNIT = Decimal("0.01"), Decimal(1)
"""A price per card-hour is rounded to the cent at the coarsest, one per machine-month to the whole unit."""


@dataclass(frozen=True, kw_only=True)
class StatedPrice:
    """What the cells of a line say; None is blank or unreadable."""

    per_card_hour: Decimal | None
    per_node_month: Decimal | None
    gpus_per_node: int | None
    currency: str | None
    is_month_billed: bool
    """Whether whole months are paid: then the price per month is the one that is billed."""
    tax: Tax


@dataclass(frozen=True, kw_only=True)
class FormPrice:
    """What a line says of its price."""

    price: QuotedPrice
    readings: tuple[Reading, ...]
    """The one taken first."""
    flags: tuple[str, ...]
    as_written: str
    place: str
    """Cell that the price was taken from."""


def read_price(
    stated: StatedPrice, line: FilledLine, reader: ValueReader, *, currency: str | None, rates: ExchangeRates
) -> FormPrice:
    """Read the price of a line.

    Args:
        stated: What its cells say. [-]
        line: The cells themselves. [-]
        reader: Collects questions. [-]
        currency: Of the result; None is the seller's own. [ISO 4217]
        rates: Exchange rates. [-]

    Returns:
        The price per accelerator-hour. Where the two prices disagree the amount stays open and both are readings.

    Raises:
        InputError: No rate joins the seller's currency and that of the result.
    """
    given = _given_prices(stated, line, reader)
    result_currency = currency or stated.currency or ""
    factor = Fraction(0) if stated.currency is None else rates.factor(stated.currency, result_currency)
    agree = _agree(stated) if len(given) > 1 else True
    taken = {key: amount * factor for key, amount in given.items()} if stated.currency else {}
    amount = next(iter(taken.values()), None) if agree else None
    if not agree:
        _ask_which(stated, line, reader)
    shown = list(given)[:1] if agree else list(given)
    return FormPrice(
        price=QuotedPrice.of(amount, amount, result_currency, stated.tax),
        readings=tuple(
            Reading(
                amount=taken[key],
                billed="card" if key == "price_card_hour" else "node",
                period_hours=Fraction(1) if key == "price_card_hour" else _MONTH_HOURS,
                quoted_currency=stated.currency or "",
                is_plausible=None,
                why=Message("the cell of the form says so"),
            )
            for key in shown
            if key in taken
        ),
        flags=_flags(stated, has_price=bool(given), agree=agree),
        as_written=" / ".join(line.cell(key).text for key in shown),
        place=line.cell(shown[0] if shown else "price_card_hour").place,
    )


def _given_prices(stated: StatedPrice, line: FilledLine, reader: ValueReader) -> dict[str, Fraction]:
    """Give the prices that stand there per card-hour, the billed one first."""
    given: dict[str, Fraction] = {}
    for key, amount in (("price_card_hour", stated.per_card_hour), ("price_node_month", stated.per_node_month)):
        if amount is None:
            continue
        if amount == 0:
            reader.ask(
                line.cell(key).place,
                Message("a price of zero"),
                Message("Row {row} is priced at zero: what is its price?", row=line.row),
            )
        elif key == "price_card_hour":
            given[key] = Fraction(amount)
        elif stated.gpus_per_node is not None:
            given[key] = Fraction(amount) / (stated.gpus_per_node * _MONTH_HOURS)
    return dict(sorted(given.items(), reverse=True)) if stated.is_month_billed else given


def _agree(stated: StatedPrice) -> bool:
    """Tell whether the two prices are one price, each rounded as it is written.

    ``|card-hour · cards · 730 - machine-month| ≤ half a last digit of each``
    """
    if stated.per_card_hour is None or stated.per_node_month is None or stated.gpus_per_node is None:
        return True
    hours = stated.gpus_per_node * _MONTH_HOURS
    difference = abs(Fraction(stated.per_card_hour) * hours - Fraction(stated.per_node_month))
    slack = _last_digit(stated.per_card_hour, _CENT) * hours + _last_digit(stated.per_node_month, _UNIT)
    return difference <= slack / 2


def _last_digit(amount: Decimal, coarsest: Decimal) -> Fraction:
    """Give the worth of the last digit of an amount as written, at most `coarsest`."""
    exponent = amount.as_tuple().exponent
    return Fraction(min(coarsest, Decimal(1).scaleb(exponent)) if isinstance(exponent, int) else coarsest)


def _ask_which(stated: StatedPrice, line: FilledLine, reader: ValueReader) -> None:
    reader.ask(
        line.cell("price_node_month").place,
        Message(
            "{card} per card-hour on {gpus} cards makes {month} a month of 730 h, not {given}",
            card=str(stated.per_card_hour),
            gpus=stated.gpus_per_node,
            month=f"{Decimal(stated.per_card_hour or 0) * (stated.gpus_per_node or 0) * int(_MONTH_HOURS):,.2f}",
            given=f"{stated.per_node_month:,}",
        ),
        Message(
            "Row {row} has two prices, {card} per card-hour and {given} per machine-month: which holds?",
            row=line.row,
            card=str(stated.per_card_hour),
            given=f"{stated.per_node_month:,}",
        ),
    )


def _flags(stated: StatedPrice, *, has_price: bool, agree: bool) -> tuple[str, ...]:
    found = (
        ("price_missing", not has_price),
        ("prices_disagree", not agree),
        ("currency_missing", stated.currency is None),
    )
    excluded = stated.tax.flag
    return (*(flag for flag, holds in found if holds), *(() if excluded is None else (excluded,)))

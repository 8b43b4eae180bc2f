"""Value-added tax: an amount as quoted, with tax in and with tax out.

::

    in = out · (1 + rate)

Exact in fractions, rounded once to the cent. A price whose state or rate nobody states has no counterpart: which one it
is can move a bill by 13 %.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.money import Money

if TYPE_CHECKING:
    from suanpei.market.terms import Tax


def split_tax(amount: Decimal, tax: Tax) -> tuple[Fraction | None, Fraction | None]:
    """Give an amount with tax in and with tax out, exactly.

    Args:
        amount: As quoted. [currency]
        tax: What the seller says of tax. [-]

    Returns:
        With tax in, with tax out; None where that is not known. [currency]

    Example:
        >>> from suanpei.market.terms import read_tax
        >>> [float(side) for side in split_tax(Decimal(106), read_tax("含税6%"))]
        [106.0, 100.0]
    """
    factor, divisor = tax.factor_in, tax.divisor_out
    return (
        None if factor is None else Fraction(amount) * Fraction(factor),
        None if divisor is None else Fraction(amount) / Fraction(divisor),
    )


def total_with_tax(total: Money, tax: Tax) -> tuple[Money | None, Money | None]:
    """Give a total with tax in and with tax out, to the cent; None where that is not known."""
    with_tax, without = split_tax(total.amount, tax)
    return _to_cents(with_tax, total.currency), _to_cents(without, total.currency)


def _to_cents(amount: Fraction | None, currency: str) -> Money | None:
    if amount is None:
        return None
    cents = (Decimal((amount * 100).numerator) / Decimal((amount * 100).denominator)).quantize(
        Decimal(1), rounding=ROUND_HALF_UP
    )
    return Money(amount=cents.scaleb(-2), currency=currency)

"""Value-added tax: an amount as quoted, with tax in and with tax out, and the ends between which an open one lies.

::

    in = out · (1 + rate)

Exact in fractions, rounded once to the cent. A price whose state or rate nobody states has no counterpart. A
seller who leaves tax open may have it in the price or add it; one who adds it at no stated rate adds one of the rates
of value-added tax for such contracts (``catalog/tax_rates.csv``). The worst reading is never better than the truth, so
nobody gains in a ranking by leaving tax unsaid.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.market.price_rows import PriceCells
from suanpei.messages import Message
from suanpei.money import Money

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.terms import Tax


@dataclass(frozen=True, kw_only=True)
class TaxReadings:
    """An amount as quoted, read on both tax sides; cents."""

    tax_in: Money | None
    """With tax; None where the seller does not settle it."""
    tax_out: Money | None
    """Without tax; None where the seller does not settle it."""
    least_tax_in: Money
    """With tax at the reading that suits the buyer; `tax_in` where that is known."""
    most_tax_in: Money
    """With tax at the worst reading; `tax_in` where that is known."""


@dataclass(frozen=True, kw_only=True)
class TaxRates:
    """Rates of value-added tax that a rental may carry, by the currency that its seller bills in."""

    by_currency: Mapping[str, tuple[Decimal, ...]]
    """Ascending. [-]"""

    def of(self, currency: str) -> tuple[Decimal, ...]:
        """Give the rates of a currency, ascending; all there are where it has none of its own. [-]"""
        own = self.by_currency.get(currency)
        return own or tuple(sorted({rate for rates in self.by_currency.values() for rate in rates}))


NO_TAX_RATES = TaxRates(by_currency={})


def total_with_tax(total: Money, tax: Tax) -> tuple[Money | None, Money | None]:
    """Give a total with tax in and with tax out, to the cent; None where that is not known."""
    with_tax, without = tax.split(Fraction(total.amount))
    return _to_cents(with_tax, total.currency), _to_cents(without, total.currency)


def read_tax_sides(amount: Money, tax: Tax, rates: Sequence[Decimal]) -> TaxReadings:
    """Read an amount with tax in and tax out.

    Args:
        amount: As quoted. [-]
        tax: What the seller says of tax. [-]
        rates: Rates that such contracts may carry; 0.06 is 6 %. Without any, only a stated rate is added. [-]

    Returns:
        Both sides where they are known, and the ends between which the amount with tax lies.

    Example:
        >>> from suanpei.market.terms import read_tax
        >>> from suanpei.money import Money
        >>> rates = (Decimal("0.06"), Decimal("0.13"))
        >>> str(read_tax_sides(Money(amount=Decimal(100), currency="CNY"), read_tax(""), rates).most_tax_in)
        '¥113.00'
    """
    least, most = tax_factors(tax, rates)
    tax_in, tax_out = total_with_tax(amount, tax)
    return TaxReadings(
        tax_in=tax_in,
        tax_out=tax_out,
        least_tax_in=(amount * least).rounded(),
        most_tax_in=(amount * most).rounded(),
    )


def worst_tax_factor(tax: Tax, rates: Sequence[Decimal]) -> Decimal:
    """Give what an amount as quoted is multiplied by at most to have tax in it. [-]"""
    return tax_factors(tax, rates)[1]


def load_tax_rates(catalogue: Catalogue) -> TaxRates:
    """Load the rates of value-added tax that rentals may carry.

    Args:
        catalogue: Holds ``tax_rates.csv``. [-]

    Raises:
        InputError: The user's own table has a rate that is missing or no share of 1.
    """
    rates: dict[str, set[Decimal]] = {}
    for row in catalogue.table("tax_rates"):
        rate = row.number("rate_fraction")
        if rate is None or not 0 <= rate < 1:
            wanted = Message("a share between 0 and 1, such as 0.06")
            raise PriceCells(row=row).bad(column="rate_fraction", given=row.text("rate_fraction"), wanted=wanted)
        rates.setdefault(row.text("currency"), set()).add(Decimal(repr(rate)))
    return TaxRates(by_currency={currency: tuple(sorted(found)) for currency, found in rates.items()})


def tax_factors(tax: Tax, rates: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    """Give least and most that an amount as quoted is multiplied by to have tax in it. [-]

    Args:
        tax: What the seller says of tax. [-]
        rates: As for `read_tax_sides`. [-]
    """
    if tax.factor_in is not None:
        return tax.factor_in, tax.factor_in
    least, most = min(rates, default=Decimal(0)), max(rates, default=Decimal(0))
    if tax.state == "out":
        return 1 + least, 1 + most
    return Decimal(1), 1 + (most if tax.rate_fraction is None else tax.rate_fraction)


def _to_cents(amount: Fraction | None, currency: str) -> Money | None:
    if amount is None:
        return None
    cents = (Decimal((amount * 100).numerator) / Decimal((amount * 100).denominator)).quantize(
        Decimal(1), rounding=ROUND_HALF_UP
    )
    return Money(amount=cents.scaleb(-2), currency=currency)

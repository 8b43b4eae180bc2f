"""Money: exact decimal amounts with a currency, and the exchange rates between them.

A bill is never a float. A conversion always names the rate that it used, with its source and date.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.provenance import Provenance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SYMBOLS: dict[str, str] = {"CNY": "¥", "USD": "US$", "EUR": "€", "HKD": "HK$"}
"""What stands before an amount; any other currency is written by its code."""

_LEAST_RATE = Decimal("1e-6")
"""No two currencies are further apart than a million to one."""
_SMALL_AMOUNT = Decimal(1000)
"""Below this an amount is shown to the hundredth, from here on to the whole unit."""


@dataclass(frozen=True, kw_only=True)
class Money:
    """An exact amount of one currency.

    Example:
        >>> str(Money(amount=Decimal("6.5"), currency="CNY") * 8)
        '¥52.00'
    """

    amount: Decimal
    currency: str
    """ISO 4217 code: ``CNY``, ``USD``, …"""

    def __add__(self, other: Money) -> Money:
        return Money(amount=self.amount + self._same(other).amount, currency=self.currency)

    def __sub__(self, other: Money) -> Money:
        return Money(amount=self.amount - self._same(other).amount, currency=self.currency)

    def __mul__(self, factor: Decimal | float) -> Money:
        return Money(amount=self.amount * _exact(factor), currency=self.currency)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Decimal | float) -> Money:
        return Money(amount=self.amount / _exact(divisor), currency=self.currency)

    def __neg__(self) -> Money:
        return Money(amount=-self.amount, currency=self.currency)

    def __lt__(self, other: Money) -> bool:
        return self.amount < self._same(other).amount

    def __le__(self, other: Money) -> bool:
        return self.amount <= self._same(other).amount

    def __gt__(self, other: Money) -> bool:
        return self.amount > self._same(other).amount

    def __ge__(self, other: Money) -> bool:
        return self.amount >= self._same(other).amount

    def __str__(self) -> str:
        digits = 2 if abs(self.amount) < _SMALL_AMOUNT else 0
        rounded = self.rounded(digits).amount
        sign = "-" if rounded < 0 else ""
        symbol = SYMBOLS.get(self.currency, f"{self.currency} ")
        return f"{sign}{symbol}{abs(rounded):,}"

    def rounded(self, digits: int = 2) -> Money:
        """Round half up, as bills do.

        Args:
            digits: Decimals kept. [-]

        Returns:
            The rounded amount.
        """
        return Money(
            amount=self.amount.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP), currency=self.currency
        )

    def ratio(self, other: Money) -> float:
        """Divide by another amount of the same currency. [-]"""
        return float(self.amount / self._same(other).amount)

    def _same(self, other: Money) -> Money:
        if self.currency != other.currency:
            raise InputError(
                Message(
                    "cannot combine {given} with {expected}: convert one with an exchange rate first",
                    given=other.currency,
                    expected=self.currency,
                )
            )
        return other


@dataclass(frozen=True, kw_only=True)
class ExchangeRate:
    """One unit of `base` costs `rate` units of `quote`."""

    base: str
    quote: str
    rate: Decimal
    """Units of `quote` per unit of `base`. [-]"""
    provenance: Provenance

    def __str__(self) -> str:
        return f"1 {self.base} = {self.rate} {self.quote}"


@dataclass(frozen=True, kw_only=True)
class ExchangeRates:
    """Known rates; each serves both directions, and two of them chain through a common currency."""

    rates: tuple[ExchangeRate, ...] = ()
    """Earlier ones win, so a user's own stand first."""

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, str]]) -> ExchangeRates:
        """Build rates from catalogue rows (columns ``from to rate as_of confidence source note``).

        Args:
            rows: One mapping per rate, as a CSV reader gives them.

        Returns:
            The rates in the order of the rows.

        Raises:
            InputError: A rate is no number above zero.
        """
        return cls(
            rates=tuple(
                ExchangeRate(
                    base=row["from"],
                    quote=row["to"],
                    rate=_read_rate(row),
                    provenance=Provenance(
                        source=row["source"],
                        as_of=row["as_of"] or None,
                        confidence=row["confidence"] or None,  # type: ignore[arg-type]  # the catalogue tests check it
                        note=row.get("note", ""),
                    ),
                )
                for row in rows
            )
        )

    def overridden(self, rate: ExchangeRate) -> ExchangeRates:
        """Put a user's own rate before all others, dropping those of the same pair."""
        kept = tuple(other for other in self.rates if {other.base, other.quote} != {rate.base, rate.quote})
        return ExchangeRates(rates=(rate, *kept))

    def route(self, source: str, target: str) -> tuple[ExchangeRate, ...]:
        """Find the rates that a conversion uses: none, one, or two through a common currency.

        Args:
            source: Currency to convert from.
            target: Currency to convert to.

        Returns:
            The rates in order of use.

        Raises:
            InputError: No rate or pair of rates joins the two.
        """
        if source == target:
            return ()
        for rate in self.rates:
            if {rate.base, rate.quote} == {source, target}:
                return (rate,)
        for first in self.rates:
            if source in (first.base, first.quote):
                middle = first.quote if first.base == source else first.base
                for second in self.rates:
                    if {second.base, second.quote} == {middle, target}:
                        return (first, second)
        raise InputError(
            Message(
                "no exchange rate between {source} and {target}: give one with --rate {source}=…{target}",
                source=source,
                target=target,
            )
        )

    def factor(self, source: str, target: str) -> Fraction:
        """Give what one unit of a currency is worth in another, exactly.

        Raises:
            InputError: No rate or pair of rates joins the two currencies.
        """
        factor, currency = Fraction(1), source
        for rate in self.route(source, target):
            if rate.base == currency:
                factor, currency = factor * Fraction(rate.rate), rate.quote
            else:
                factor, currency = factor / Fraction(rate.rate), rate.base
        return factor

    def convert(self, money: Money, target: str) -> Money:
        """Convert an amount; rounded once, to the 28 digits of a decimal.

        Args:
            money: The amount.
            target: Currency to convert to.

        Returns:
            The amount in `target`.

        Raises:
            InputError: No rate or pair of rates joins the two currencies.
        """
        if money.currency == target:
            return money
        exact = Fraction(money.amount) * self.factor(money.currency, target)
        return Money(amount=Decimal(exact.numerator) / Decimal(exact.denominator), currency=target)


def _read_rate(row: Mapping[str, str]) -> Decimal:
    try:
        rate = Decimal(row["rate"])
    except InvalidOperation:
        rate = Decimal("NaN")
    if rate.is_finite() and _LEAST_RATE <= rate <= 1 / _LEAST_RATE:
        return rate
    raise InputError(
        Message(
            "exchange rates: one {base} in {quote} must be a number above zero, such as 7.2, got {given}",
            base=row["from"],
            quote=row["to"],
            given=row["rate"],
        )
    )


def _exact(number: Decimal | float) -> Decimal:
    """Take a number as it is written: 0.1 is one tenth."""
    return number if isinstance(number, Decimal) else Decimal(str(number))

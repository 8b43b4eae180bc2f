"""What a bill knows beside the price, to read what is missing at its worst: list prices and tax rates.

The dearest list price of a service stands for what a seller does not state, whoever publishes it; a service without a
list price has no worst reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from suanpei.machine.table import UNDATED
from suanpei.market.cost.tax import NO_TAX_RATES, TaxRates, load_tax_rates
from suanpei.market.price_rows import PriceCells
from suanpei.messages import Message
from suanpei.money import Money
from suanpei.quantities import parse_currency

if TYPE_CHECKING:
    from suanpei.machine.catalogue import Catalogue
    from suanpei.machine.table import Row
    from suanpei.money import ExchangeRates

STORAGE_SERVICE, STORAGE_UNIT = "object storage standard", "GB-month"
INGRESS_SERVICE, EGRESS_SERVICE, TRAFFIC_UNIT = "internet ingress", "internet egress", "GB"
"""Services and units of ``services.csv``."""
_PRICE_DIGITS = 6


@dataclass(frozen=True, kw_only=True)
class ListPrice:
    """The dearest published price of a service."""

    provider: str
    price: Money
    """Per unit of the service, in the currency of the bill."""
    as_of: str | None
    """Day of the reading; None is undated."""

    @property
    def basis(self) -> Message:
        """Say where the price is from."""
        return Message(
            "dearest list price on record: {price} ({provider}, {as_of})",
            price=f"{self.price.amount.normalize():f} {self.price.currency}",
            provider=self.provider,
            as_of=Message("undated") if self.as_of is None else self.as_of,
        )


@dataclass(frozen=True, kw_only=True)
class CostFacts:
    """List prices and tax rates in one currency; None is not on record."""

    storage_per_gb_month: ListPrice | None = None
    ingress_per_gb: ListPrice | None = None
    egress_per_gb: ListPrice | None = None
    tax_rates: TaxRates = NO_TAX_RATES
    """Rates of value-added tax that a bill may carry."""


NO_FACTS = CostFacts()


def load_cost_facts(catalogue: Catalogue, currency: str, rates: ExchangeRates) -> CostFacts:
    """Read the list prices of services and the tax rates of a catalogue.

    Args:
        catalogue: Holds ``services.csv`` and ``tax_rates.csv``. [-]
        currency: Of the bill. [-]
        rates: Exchange rates. [-]

    Raises:
        InputError: A bad line of the user's own tables, named with file, line and column, or no rate to the currency.
    """
    return CostFacts(
        storage_per_gb_month=_find_dearest(catalogue, STORAGE_SERVICE, STORAGE_UNIT, currency, rates),
        ingress_per_gb=_find_dearest(catalogue, INGRESS_SERVICE, TRAFFIC_UNIT, currency, rates),
        egress_per_gb=_find_dearest(catalogue, EGRESS_SERVICE, TRAFFIC_UNIT, currency, rates),
        tax_rates=load_tax_rates(catalogue),
    )


def _find_dearest(
    catalogue: Catalogue, service: str, unit: str, currency: str, rates: ExchangeRates
) -> ListPrice | None:
    """Find the dearest list price of a service; rows without a price say that it is quoted per project.

    Raises:
        InputError: A price that is no number, or is not per `unit`.
    """
    found = [
        ListPrice(
            provider=row.required("provider"),
            price=rates.convert(
                Money(
                    amount=_price_per(unit, row),
                    currency=parse_currency(row.required("currency"), f"{row.file}:{row.line} currency"),
                ),
                currency,
            ).rounded(_PRICE_DIGITS),
            as_of=None if row.text("as_of") in UNDATED else row.text("as_of"),
        )
        for row in catalogue.table("services")
        if row.text("service") == service and row.text("price")
    ]
    return max(found, key=lambda item: item.price.amount, default=None)


def _price_per(unit: str, row: Row) -> Decimal:
    row.required("unit")
    row.one_of("unit", (unit,))
    given = row.required("price")
    try:
        number = Decimal(given)
    except InvalidOperation:
        number = Decimal("NaN")
    if number.is_finite() and number >= 0:
        return number
    raise PriceCells(row=row).bad(column="price", given=given, wanted=Message("a number"))

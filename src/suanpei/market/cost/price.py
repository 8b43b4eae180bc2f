"""The cost of a run at a price, at each of several prices, of a package; and the price that ties with a cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.market.cost.cash_flow import Dues, find_peak, schedule_cash
from suanpei.market.cost.charges import price_charges
from suanpei.market.cost.facts import NO_FACTS, CostFacts
from suanpei.market.cost.lines import COURSES, LIKELY, exact, sum_course
from suanpei.market.cost.missing import list_missing
from suanpei.market.cost.needs import RunHours, RunNeeds
from suanpei.market.cost.rent import Rental, price_rent
from suanpei.market.cost.result import Bill, Cost, EarlyExit
from suanpei.market.cost.tax import read_tax_sides
from suanpei.market.terms import NO_CHARGES, NO_PAYMENT, UNKNOWN_TAX, Charges, Payment, Tax
from suanpei.market.tie import PRICE_STEP
from suanpei.messages import Message
from suanpei.money import Money
from suanpei.units import MONTH_HOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.cost.lines import Due, Line
    from suanpei.market.indicative import IndicativePrice
    from suanpei.market.offer import Offer, UnitPrice


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What is agreed beside the price: tax, charges, payment."""

    tax: Tax = UNKNOWN_TAX
    tax_rates: tuple[Decimal, ...] = ()
    """Rates at which tax that the price leaves open may come on top; without any it is read as in the price. [-]"""
    charges: Charges = NO_CHARGES
    payment: Payment = NO_PAYMENT

    @classmethod
    def of(cls, price: IndicativePrice | Offer, facts: CostFacts) -> Conditions:
        """Give those of an offer or an indicative price."""
        rates = facts.tax_rates.of(price.billing_currency)
        return cls(tax=price.tax, tax_rates=rates, charges=price.charges, payment=price.payment)


NO_CONDITIONS = Conditions()


def price_run(
    price: UnitPrice,
    *,
    gpus: int,
    gpus_per_node: int,
    hours: RunHours,
    needs: RunNeeds | None = None,
    conditions: Conditions = NO_CONDITIONS,
) -> Cost:
    """Make the bill of a run from what is stated; what is missing is the business of `make_bills`.

    Args:
        price: The price and its terms. [-]
        gpus: Cards rented for the run, spares included. [-]
        gpus_per_node: Cards of one node. [-]
        hours: How long they are held. [h]
        needs: What is stored and moved, set-up, stops; None leaves out what depends on them. [-]
        conditions: Tax, charges, payment. [-]

    Returns:
        Total at the median price and the likely hours; low and high at the ends of both.

    Raises:
        InputError: No card, or no card in a node.
    """
    rental = Rental(price=price, gpus=gpus, gpus_per_node=gpus_per_node, hours=hours)
    rent = price_rent(rental, needs)
    charges = price_charges(rental, conditions.charges, needs)
    zero = price.median * 0
    low, total, high = (sum_course((rent, *charges), course, zero).rounded() for course in range(COURSES))
    at_low, taxed, at_high = (
        read_tax_sides(amount, conditions.tax, conditions.tax_rates) for amount in (low, total, high)
    )
    cash = schedule_cash(_list_dues(rental, rent, charges), conditions.payment)
    return Cost(
        currency=total.currency,
        total=total,
        low=low,
        high=high,
        total_tax_in=taxed.tax_in,
        total_tax_out=taxed.tax_out,
        tax_rate_fraction=conditions.tax.rate_fraction,
        least_total_tax_in=taxed.least_tax_in,
        ranked_total=taxed.most_tax_in,
        low_tax_in=at_low.least_tax_in,
        high_tax_in=at_high.most_tax_in,
        parts=tuple(line.as_part() for line in (rent, *charges)),
        missing=(),
        worst_total=total if taxed.tax_in is None else taxed.tax_in,
        cash_flow=cash,
        peak_cash_out=find_peak(cash, zero),
        early_exit=_price_exit(rental, total, conditions.charges),
        paid_hours=rental.paid_hours[LIKELY],
        paid_gpus=rental.paid_gpus,
    )


def make_bills(
    prices: Sequence[IndicativePrice | Offer],
    *,
    gpus: int,
    gpus_per_node: int,
    hours: RunHours,
    needs: RunNeeds | None = None,
    facts: CostFacts = NO_FACTS,
) -> tuple[Bill, ...]:
    """Make the bill of a run at each price, the cheapest with tax first: it is shown, the others stand beside it.

    Args:
        prices: Prices in one currency that can serve the run (`quote_indicative`, offers). [-]
        gpus: Cards rented. [-]
        gpus_per_node: Cards of one node. [-]
        hours: How long they are held. [h]
        needs: What is stored and moved, set-up, stops; None leaves out what depends on them. [-]
        facts: List prices and tax rates, for the worst reading of what nobody states. [-]

    Returns:
        One bill per price, by what ranks, then by the high end.
    """
    bills = []
    for price in prices:
        cost = price_run(
            price.unit_price,
            gpus=gpus,
            gpus_per_node=gpus_per_node,
            hours=hours,
            needs=needs,
            conditions=Conditions.of(price, facts),
        )
        rental = Rental(price=price.unit_price, gpus=gpus, gpus_per_node=gpus_per_node, hours=hours)
        missing = list_missing(price, rental, cost.total, needs, facts)
        worst = sum((part.worst for part in missing if part.worst is not None), start=cost.worst_total)
        bills.append(Bill(price=price, cost=replace(cost, missing=missing, worst_total=worst)))
    return tuple(sorted(bills, key=lambda bill: (bill.cost.ranked_total.amount, bill.cost.high_tax_in.amount)))


def price_package(
    price: UnitPrice, *, gpus_per_node: int, nodes: int = 1, months: int = 1, conditions: Conditions = NO_CONDITIONS
) -> Cost:
    """Price a package as sellers offer it: whole nodes for whole months of 730 h, used or not.

    Args:
        price: The price per accelerator-hour. [-]
        gpus_per_node: Cards of one node. [-]
        nodes: Nodes in the package. [-]
        months: Months in the package. [-]
        conditions: Tax, charges, payment; storage and transfer are not in a package. [-]
    """
    held = months * MONTH_HOURS
    hours = RunHours(likely_hours=held, low_hours=held, high_hours=held)
    return price_run(price, gpus=nodes * gpus_per_node, gpus_per_node=gpus_per_node, hours=hours, conditions=conditions)


def find_tie_price(best_total: Money, *, gpus: int, hours: float) -> Money:
    """Find what a card without a price may cost per card-hour at most to tie with the best plan.

    ``best total / (cards · hours)``, rounded down, for the hours that the run uses.

    Args:
        best_total: Cost of the best plan that has a price. [-]
        gpus: Cards of the plan without a price. [-]
        hours: Hours that they are held. [h]

    Raises:
        InputError: No card or no time.
    """
    if gpus < 1 or hours <= 0:
        raise InputError(Message("{field} must be above {least}, got {given}", field="hours", least=0, given=hours))
    amount = best_total.amount / (gpus * exact(hours))
    return Money(amount=amount.quantize(PRICE_STEP, rounding=ROUND_FLOOR), currency=best_total.currency)


def _price_exit(rental: Rental, total: Money, charges: Charges) -> EarlyExit | None:
    """Price ending at the end of the billing period that the run ends in, instead of at the end of the minimum term."""
    unused_hours = rental.paid_hours[LIKELY] - rental.period_hours[LIKELY]
    if charges.early_exit_fraction is None or unused_hours <= 0:
        return None
    by_hour = rental.price.median
    if charges.fabric_per_gpu_hour is not None and rental.nodes > 1:
        by_hour = by_hour + charges.fabric_per_gpu_hour
    unused_rent = (by_hour * (rental.paid_gpus * exact(unused_hours))).rounded()
    fee = (unused_rent * charges.early_exit_fraction).rounded()
    return EarlyExit(
        currency=total.currency,
        unused_hours=unused_hours,
        unused_rent=unused_rent,
        fee=fee,
        total=total - unused_rent + fee,
    )


def _list_dues(rental: Rental, rent: Line, charges: Sequence[Line]) -> Dues:
    """Sort the lines of a bill by the way in which they are paid."""

    def due(when: Due) -> list[tuple[Message, Money]]:
        return [(line.name, line.amount) for line in charges if line.due == when]

    return Dues(
        by_time=sum((amount for _, amount in due("with_rent")), start=rent.amount),
        paid_hours=rental.paid_hours[LIKELY],
        monthly_rent=rental.price.median * (rental.paid_gpus * exact(MONTH_HOURS)),
        is_month_billed=rental.price.term.is_month_billed,
        at_start=due("start"),
        at_month_ends=due("month_ends"),
        held_hours=rental.used_hours[LIKELY],
        at_end=due("end"),
    )

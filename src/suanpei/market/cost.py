"""What a run costs on given terms, in Decimal, with its parts, its band and what is not in it.

A price per accelerator-hour is paid for whole billing periods (a started month of 730 h, a started hour) and, where
whole nodes are sold, for all cards of a started node::

    rent = billed cards · ceil(hours / period) · period · price

The bill and the search's ranking count periods with the same function. Cost parts that nothing states are listed as
missing, never as zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.money import Money
from suanpei.planner.billing import count_paid_hours
from suanpei.units import MONTH_HOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.indicative import IndicativePrice
    from suanpei.market.offer import Offer, UnitPrice


@dataclass(frozen=True, kw_only=True)
class RunHours:
    """How long the machines are held."""

    likely_hours: float
    low_hours: float
    high_hours: float

    def __post_init__(self) -> None:
        """Check the order.

        Raises:
            InputError: Not 0 <= low <= likely <= high, or not finite.
        """
        if not 0 <= self.low_hours <= self.likely_hours <= self.high_hours < float("inf"):
            raise InputError(
                Message(
                    "hours must rise from low to high, got {low}, {likely}, {high}",
                    low=self.low_hours,
                    likely=self.likely_hours,
                    high=self.high_hours,
                )
            )


@dataclass(frozen=True, kw_only=True)
class CostPart:
    """One line of a bill: ``amount = quantity · price`` to the cent; a part with parts below it is their sum."""

    name: Message
    currency: str
    quantity: Decimal
    unit: str
    """``gpu_hour``: what `quantity` counts and `price` is for."""
    price: Money
    amount: Money
    parts: tuple[CostPart, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a run costs."""

    currency: str
    total: Money
    low: Money
    """Low end of the price for the short end of the run."""
    high: Money
    """High end of the price for the long end of the run."""
    parts: tuple[CostPart, ...]
    """They sum to `total`."""
    missing: tuple[Message, ...]
    """Cost parts that nothing states: not in `total`, and not zero."""
    paid_hours: float
    """Hours paid per card. [h]"""
    paid_gpus: int
    """Cards paid. [-]"""


@dataclass(frozen=True, kw_only=True)
class Bill:
    """A cost and the price that it rests on."""

    price: IndicativePrice | Offer
    cost: Cost


def price_run(
    price: UnitPrice, *, gpus: int, gpus_per_node: int, hours: RunHours, missing: Sequence[Message] = ()
) -> Cost:
    """Make the bill of a run.

    Args:
        price: The price and its terms. [-]
        gpus: Cards rented for the run, spares included. [-]
        gpus_per_node: Cards of one node. [-]
        hours: How long they are held. [h]
        missing: Cost parts that nothing states (`list_missing`). [-]

    Returns:
        Total at the median price and the likely hours; low and high at the ends of both.

    Raises:
        InputError: No card, or no card in a node.
    """
    for field, given in (("gpus", gpus), ("gpus_per_node", gpus_per_node)):
        if given < 1:
            raise InputError(
                Message("{field} must be at least {least}, got {given}", field=field, least=1, given=given)
            )
    paid_gpus = price.billed_gpus(gpus, gpus_per_node)
    paid_hours, low_hours, high_hours = (
        count_paid_hours(held, price.term.billing_hours, price.term.minimum_hours)
        for held in (hours.likely_hours, hours.low_hours, hours.high_hours)
    )
    rent = _rent_part(price, gpus=gpus, paid_gpus=paid_gpus, hours=hours.likely_hours, paid_hours=paid_hours)
    return Cost(
        currency=price.median.currency,
        total=rent.amount,
        low=(price.low * (paid_gpus * Decimal(repr(low_hours)))).rounded(),
        high=(price.high * (paid_gpus * Decimal(repr(high_hours)))).rounded(),
        parts=(rent,),
        missing=tuple(missing),
        paid_hours=paid_hours,
        paid_gpus=paid_gpus,
    )


def make_bills(
    prices: Sequence[IndicativePrice | Offer], *, gpus: int, gpus_per_node: int, hours: RunHours
) -> tuple[Bill, ...]:
    """Make the bill of a run at each price, the cheapest first: it is shown, the others stand beside it.

    Args:
        prices: Prices in one currency that can serve the run (`quote_indicative`). [-]
        gpus: Cards rented. [-]
        gpus_per_node: Cards of one node. [-]
        hours: How long they are held. [h]

    Returns:
        One bill per price, by total, then by the high end.
    """
    nodes = -(-gpus // gpus_per_node)
    bills = [
        Bill(
            price=price,
            cost=price_run(
                price.unit_price,
                gpus=gpus,
                gpus_per_node=gpus_per_node,
                hours=hours,
                missing=list_missing(price, nodes=nodes),
            ),
        )
        for price in prices
    ]
    return tuple(sorted(bills, key=lambda bill: (bill.cost.total.amount, bill.cost.high.amount)))


def price_package(price: UnitPrice, *, gpus_per_node: int, nodes: int = 1, months: int = 1) -> Cost:
    """Price a package as sellers offer it: whole nodes for whole months of 730 h, used or not.

    Args:
        price: The price per accelerator-hour. [-]
        gpus_per_node: Cards of one node. [-]
        nodes: Nodes in the package. [-]
        months: Months in the package. [-]
    """
    held = months * MONTH_HOURS
    hours = RunHours(likely_hours=held, low_hours=held, high_hours=held)
    return price_run(price, gpus=nodes * gpus_per_node, gpus_per_node=gpus_per_node, hours=hours)


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
    amount = best_total.amount / (gpus * Decimal(repr(float(hours))))
    return Money(amount=amount.quantize(Decimal("0.0001"), rounding=ROUND_FLOOR), currency=best_total.currency)


def list_missing(price: IndicativePrice | Offer, *, nodes: int) -> tuple[Message, ...]:
    """List the cost parts that a price per accelerator-hour does not state.

    Args:
        price: The price. [-]
        nodes: Nodes rented. [-]
    """
    missing = [
        Message("storage of data and checkpoints"),
        Message("traffic in and out (egress)"),
        Message("labour to set up and watch the run"),
    ]
    if price.tier == "server":
        missing.append(Message("power and cabinet, where the server price leaves them out"))
    if price.term.is_month_billed:
        missing.append(Message("deposit and prepayment (tied up, not spent)"))
    if nodes > 1 and price.tier != "server":
        missing.append(Message("the network between nodes, where it is billed apart"))
    if price.is_tax_open:
        missing.append(Message("tax, not stated: ask whether VAT is in the price (6 or 13 % by contract type)"))
    if price.is_tax_left_out:
        missing.append(Message("VAT on top of a price that leaves it out (6 or 13 % by contract type)"))
    return tuple(missing)


def _rent_part(price: UnitPrice, *, gpus: int, paid_gpus: int, hours: float, paid_hours: float) -> CostPart:
    """Split the rent into what the run uses and what is paid beside it; the first line takes the rounding."""
    paid = paid_gpus * Decimal(repr(paid_hours))
    used = min(gpus * Decimal(repr(float(hours))), paid)
    idle = (paid_gpus - gpus) * Decimal(repr(paid_hours))
    beyond = max(paid - used - idle, Decimal(0))
    total, idle_rent, beyond_rent = ((price.median * gpu_hours).rounded() for gpu_hours in (paid, idle, beyond))
    lines = [(Message("cards at work"), used, total - idle_rent - beyond_rent)]
    if beyond:
        lines.append((Message("hours paid beyond the run, whole billing periods"), beyond, beyond_rent))
    if idle:
        lines.append((Message("cards of the node that the run leaves idle"), idle, idle_rent))
    return CostPart(
        name=Message(
            "rent: {gpus} cards for {hours} h each at {price} {currency} per card-hour",
            gpus=paid_gpus,
            hours=f"{paid_hours:,.10g}",
            price=price.median.amount,
            currency=total.currency,
        ),
        currency=total.currency,
        quantity=paid,
        unit="gpu_hour",
        price=price.median,
        amount=total,
        parts=tuple(
            CostPart(
                name=name,
                currency=total.currency,
                quantity=quantity,
                unit="gpu_hour",
                price=price.median,
                amount=amount,
            )
            for name, quantity, amount in lines
        ),
    )

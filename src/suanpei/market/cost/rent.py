"""The rent: cards times hours times price, and what of it the run uses.

::

    rent = billed cards · max(ceil(hours / period), ceil(minimum / period)) · period · price

Billed cards are all cards of a started node where whole nodes are sold. The rent is split into what trains, what set-up
takes, what stops cost, what is paid beyond the run to the end of the billing period, what is paid beyond that to the
end of the minimum term, and the cards of the node that the run leaves idle. The search's ranking and the bill count
periods with the same function.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.market.cost.lines import COURSES, LIKELY, Line, exact
from suanpei.messages import Message
from suanpei.planner.billing import count_paid_hours

if TYPE_CHECKING:
    from suanpei.market.cost.lines import Three, ThreePrices
    from suanpei.market.cost.needs import RunHours, RunNeeds
    from suanpei.market.offer import UnitPrice
    from suanpei.money import Money


HOUR_DIGITS = 9
"""Decimals of an hour that a split counts: 3.6 µs, so that its parts sum exactly in 28 digits. [-]"""


@dataclass(frozen=True, kw_only=True)
class Rental:
    """Cards held for a run at a price: what is used and what is paid."""

    price: UnitPrice
    gpus: int
    """Cards rented for the run, spares included. [-]"""
    gpus_per_node: int
    hours: RunHours

    def __post_init__(self) -> None:
        """Check the counts.

        Raises:
            InputError: No card, or no card in a node.
        """
        for field, given in (("gpus", self.gpus), ("gpus_per_node", self.gpus_per_node)):
            if given < 1:
                raise InputError(
                    Message("{field} must be at least {least}, got {given}", field=field, least=1, given=given)
                )

    @property
    def paid_gpus(self) -> int:
        """Cards paid. [-]"""
        return self.price.billed_gpus(self.gpus, self.gpus_per_node)

    @property
    def nodes(self) -> int:
        """Nodes rented. [-]"""
        return -(-self.gpus // self.gpus_per_node)

    @property
    def used_hours(self) -> tuple[float, float, float]:
        """Hours held in the three courses. [h]"""
        return self.hours.low_hours, self.hours.likely_hours, self.hours.high_hours

    @property
    def period_hours(self) -> tuple[float, float, float]:
        """Hours up to the end of the billing period that the run ends in. [h]"""
        short, likely, long = (count_paid_hours(hours, self.price.term.billing_hours) for hours in self.used_hours)
        return short, likely, long

    @property
    def paid_hours(self) -> tuple[float, float, float]:
        """Hours paid, the minimum term included. [h]"""
        term = self.price.term
        short, likely, long = (
            count_paid_hours(hours, term.billing_hours, term.minimum_hours) for hours in self.used_hours
        )
        return short, likely, long

    @property
    def prices(self) -> ThreePrices:
        """Price per card-hour in the three courses."""
        return self.price.low, self.price.median, self.price.high

    @property
    def paid_gpu_hours(self) -> Three:
        """Card-hours paid. [h]"""
        short, likely, long = (self.paid_gpus * exact(hours) for hours in self.paid_hours)
        return short, likely, long


def price_rent(rental: Rental, needs: RunNeeds | None) -> Line:
    """Make the rent with its split.

    The lines of the split are differences of rounded running sums, so none is below zero and they sum to the rent.

    Args:
        rental: Cards, hours, price. [-]
        needs: Set-up and what stops cost; None leaves them in the hours at work. [-]
    """
    splits = [_split_hours(rental, course, needs) for course in range(COURSES)]
    by_course = [_round_running(split, price) for split, price in zip(splits, rental.prices, strict=True)]
    price, paid = rental.price.median, rental.paid_gpu_hours[LIKELY]
    name = Message(
        "rent: {gpus} cards for {hours} h each at {price} {currency} per card-hour",
        gpus=rental.paid_gpus,
        hours=f"{rental.paid_hours[LIKELY]:,.10g}",
        price=price.amount,
        currency=price.currency,
    )
    lines = [
        _line(name, quantity, price, [amounts[place] for amounts in by_course])
        for place, (name, quantity) in enumerate(zip(_SPLIT_NAMES, splits[LIKELY], strict=True))
        if place == 0 or any(split[place] for split in splits)
    ]
    totals = [
        (price * quantity).rounded() for price, quantity in zip(rental.prices, rental.paid_gpu_hours, strict=True)
    ]
    return replace(_line(name, paid, price, totals), parts=tuple(lines))


_SPLIT_NAMES = (
    Message("cards at work"),
    Message("set-up and debugging, before the first step"),
    Message("work lost to stops, and recovery"),
    Message("hours paid beyond the run, whole billing periods"),
    Message("unused rest of the minimum term"),
    Message("cards of the node that the run leaves idle"),
)


def _round_running(quantities: tuple[Decimal, ...], price: Money) -> list[Money]:
    """Price quantities so that their rounded amounts sum to the rounded amount of their sum."""
    sums = [(price * total).rounded() for total in accumulate(quantities)]
    return [sums[0], *(later - earlier for earlier, later in pairwise(sums))]


def _split_hours(rental: Rental, course: int, needs: RunNeeds | None) -> tuple[Decimal, ...]:
    """Split the paid card-hours of one course in the order of `_SPLIT_NAMES`. [h]"""
    paid, period, used = (exact(hours[course]) for hours in (rental.paid_hours, rental.period_hours, rental.used_hours))
    used = min(used, period)
    setup = min(exact(round(needs.setup_hours, HOUR_DIGITS)), used) if needs else Decimal(0)
    waste = min(exact(round(needs.waste_hours, HOUR_DIGITS)), used - setup) if needs else Decimal(0)
    idle_gpus = rental.paid_gpus - rental.gpus
    return (
        rental.gpus * (used - setup - waste),
        rental.gpus * setup,
        rental.gpus * waste,
        rental.gpus * (period - used),
        rental.gpus * (paid - period),
        idle_gpus * paid,
    )


def _line(name: Message, quantity: Decimal, price: Money, amounts: list[Money]) -> Line:
    short, likely, long = amounts
    return Line(name=name, unit="gpu_hour", quantity=quantity, price=price, amounts=(short, likely, long))

"""What a seller bills beside the rent, where the offer states it: network, storage, transfer, set-up, credit.

::

    network   = billed cards · paid hours · price        several nodes only
    storage   = GB (data set + checkpoints kept) · hours held / 730 · price
    in        = GB (data set + image + weights) · price
    out       = GB (weights + last checkpoint) · price
    set-up    = once per rental
    credit    = cards of one node · hours of recovery · rent price, taken off

A seller who does not bill outages credits the machine that failed while it is down, not the work that was lost with it
nor the other machines that waited: more than that has to be in the contract.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from suanpei.market.cost.lines import LIKELY, Line, exact
from suanpei.messages import Message
from suanpei.units import GB_BYTES, MONTH_HOURS

if TYPE_CHECKING:
    from suanpei.market.cost.lines import Due, Three
    from suanpei.market.cost.needs import RunNeeds
    from suanpei.market.cost.rent import Rental
    from suanpei.market.cost.result import CostUnit
    from suanpei.market.terms import Charges
    from suanpei.money import Money


def price_charges(rental: Rental, charges: Charges, needs: RunNeeds | None) -> tuple[Line, ...]:
    """Make the lines of the charges that an offer states.

    Args:
        rental: Cards, hours, price. [-]
        charges: What the seller states; what is None is missing, not zero. [-]
        needs: Bytes and stops; None leaves out what depends on them. [-]
    """
    lines: list[Line] = []
    if charges.fabric_per_gpu_hour is not None and rental.nodes > 1:
        lines.append(_at_one_price(NETWORK_NAME, "gpu_hour", rental.paid_gpu_hours, charges.fabric_per_gpu_hour))
    if charges.set_up is not None:
        lines.append(_at_one_price(SET_UP_NAME, "rental", _always(Decimal(1)), charges.set_up, due="start"))
    if needs is None:
        return tuple(lines)
    if charges.storage_per_gb_month is not None:
        held = count_gb_months(rental, needs)
        lines.append(_at_one_price(STORAGE_NAME, "gb_month", held, charges.storage_per_gb_month, due="month_ends"))
    if charges.ingress_per_gb is not None:
        moved = _always(to_gb(needs.sizes.moved_in_bytes))
        lines.append(_at_one_price(INGRESS_NAME, "gb", moved, charges.ingress_per_gb, due="start"))
    if charges.egress_per_gb is not None:
        moved = _always(to_gb(needs.moved_out_bytes))
        lines.append(_at_one_price(EGRESS_NAME, "gb", moved, charges.egress_per_gb, due="end"))
    if charges.bills_outages is False and needs.recovery_hours > 0:
        lines.append(_credit_outages(rental, needs))
    return tuple(lines)


NETWORK_NAME = Message("the network between nodes")
SET_UP_NAME = Message("set-up fee of the seller")
STORAGE_NAME = Message("storage of data and checkpoints")
INGRESS_NAME = Message("transfer in: data set, image, weights")
EGRESS_NAME = Message("transfer out: weights and the last checkpoint")
CREDIT_NAME = Message("credit for the failed machine while it is down")


def count_gb_months(rental: Rental, needs: RunNeeds) -> Three:
    """Count what storage bills while the cards are held, in the three courses. [GB · month]"""
    stored = to_gb(needs.stored_bytes)
    short, likely, long = (stored * exact(hours) / exact(MONTH_HOURS) for hours in rental.used_hours)
    return short, likely, long


def to_gb(size_bytes: float) -> Decimal:
    """Give a size in GB of 1e9 bytes. [GB]"""
    return exact(size_bytes) / exact(GB_BYTES)


def _credit_outages(rental: Rental, needs: RunNeeds) -> Line:
    """Take the failed machine off while it is down; the rent less the credit is rounded, the credit is the rest."""
    cards = min(rental.paid_gpus, rental.gpus_per_node)
    hours = [min(exact(needs.recovery_hours), exact(paid)) for paid in rental.paid_hours]
    short, likely, long = (
        (price * (paid - cards * down)).rounded() - (price * paid).rounded()
        for price, paid, down in zip(rental.prices, rental.paid_gpu_hours, hours, strict=True)
    )
    return Line(
        name=CREDIT_NAME,
        unit="gpu_hour",
        quantity=-cards * hours[LIKELY],
        price=rental.price.median,
        amounts=(short, likely, long),
        due="end",
    )


def _always(quantity: Decimal) -> Three:
    return quantity, quantity, quantity


def _at_one_price(name: Message, unit: CostUnit, quantities: Three, price: Money, *, due: Due = "with_rent") -> Line:
    short, likely, long = ((price * quantity).rounded() for quantity in quantities)
    return Line(name=name, unit=unit, quantity=quantities[LIKELY], price=price, amounts=(short, likely, long), due=due)

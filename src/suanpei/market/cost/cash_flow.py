"""When a cost is paid: deposit, payments ahead, bills, what comes back; the days count from signing.

Rent that a seller wants ahead is paid so: a share of the whole term on signing (`Payment.prepaid_fraction`), and the
rest every so many months ahead (`Payment.prepaid_months`; 0 is at the end of each month). Where the seller does not
say, months are paid as they start and hours as each month ends. The machines are taken as delivered on signing.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from suanpei.market.cost.lines import exact
from suanpei.market.cost.result import CashItem
from suanpei.messages import Message
from suanpei.units import DAY_HOURS, MONTH_HOURS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from suanpei.market.terms import Payment
    from suanpei.money import Money


@dataclass(frozen=True, kw_only=True)
class Dues:
    """What is due, by the way in which it is paid."""

    by_time: Money
    """Rent and network for all hours paid."""
    paid_hours: float
    """Hours that it pays. [h]"""
    monthly_rent: Money
    """Rent of one month of 730 h, in which deposits are counted."""
    is_month_billed: bool
    at_start: Sequence[tuple[Message, Money]] = ()
    at_month_ends: Sequence[tuple[Message, Money]] = ()
    """Spread evenly over the hours held."""
    held_hours: float = 0.0
    """Hours that they are for. [h]"""
    at_end: Sequence[tuple[Message, Money]] = ()


def schedule_cash(dues: Dues, payment: Payment) -> tuple[CashItem, ...]:
    """Give the payments in order of days; deposits come back, so all of them sum to what is due.

    Args:
        dues: What is paid. [-]
        payment: What the seller wants ahead; None is not stated. [-]
    """
    items = [_item(0.0, amount, what) for what, amount in dues.at_start]
    end_hours = max(dues.paid_hours, dues.held_hours)
    if payment.deposit_months:
        deposit = (dues.monthly_rent * payment.deposit_months).rounded()
        items.append(_item(0.0, deposit, Message("deposit")))
        items.append(_item(end_hours, -deposit, Message("deposit given back")))
    items += _pay_rent(dues, payment)
    for what, amount in dues.at_month_ends:
        items += [_item(end, part, what) for _, end, part in _spread(amount, dues.held_hours, MONTH_HOURS)]
    items += [_item(end_hours, amount, what) for what, amount in dues.at_end]
    # what is paid on a day goes before what comes back on it
    return tuple(
        sorted((item for item in items if item.amount.amount), key=lambda item: (item.day, item.amount.amount < 0))
    )


def find_peak(items: Sequence[CashItem], zero: Money) -> Money:
    """Find the most that is paid in at any time."""
    paid, peak = zero, zero
    for item in items:
        paid = paid + item.amount
        peak = max(peak, paid, key=lambda money: money.amount)
    return peak


def _pay_rent(dues: Dues, payment: Payment) -> Iterator[CashItem]:
    """Pay a share on signing and the rest month by month, ahead or in arrears."""
    on_signing = dues.by_time * 0
    if payment.prepaid_fraction:
        on_signing = (dues.by_time * payment.prepaid_fraction).rounded()
        yield _item(0.0, on_signing, Message("rent, share paid on signing"))
    rest = dues.by_time - on_signing
    months = payment.prepaid_months
    if months is None and dues.is_month_billed:
        months = Decimal(1)
    if months:
        for start, _, amount in _spread(rest, dues.paid_hours, float(months) * MONTH_HOURS):
            yield _item(start, amount, Message("rent, paid ahead"))
        return
    for _, end, amount in _spread(rest, dues.paid_hours, MONTH_HOURS):
        yield _item(end, amount, Message("rent, paid afterwards"))


def _spread(amount: Money, hours: float, step_hours: float) -> Iterator[tuple[float, float, Money]]:
    """Cut an amount for some hours into steps: start, end, share; rounded running sums, so that they sum to it."""
    start, paid = 0.0, amount * 0
    while start < hours:
        end = min(start + step_hours, hours)
        upto = amount if end >= hours else (amount * (exact(end) / exact(hours))).rounded()
        yield start, end, upto - paid
        start, paid = end, upto
    if hours <= 0 and amount.amount:
        yield 0.0, 0.0, amount


def _item(hours: float, amount: Money, what: Message) -> CashItem:
    return CashItem(day=round(hours / DAY_HOURS, 2), currency=amount.currency, amount=amount, what=what)

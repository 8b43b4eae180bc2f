"""The cost parts that an offer or a price row leaves open, each with its worst reading and the question to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.market.cost.charges import (
    EGRESS_NAME,
    INGRESS_NAME,
    SET_UP_NAME,
    STORAGE_NAME,
    count_gb_months,
    to_gb,
)
from suanpei.market.cost.lines import LIKELY
from suanpei.market.cost.result import MissingPart
from suanpei.market.cost.tax import worst_tax_factor
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from suanpei.market.cost.facts import CostFacts, ListPrice
    from suanpei.market.cost.needs import RunNeeds
    from suanpei.market.cost.rent import Rental
    from suanpei.market.indicative import IndicativePrice
    from suanpei.market.offer import Offer
    from suanpei.market.terms import Charges, Tax
    from suanpei.money import Money


def list_missing(
    price: IndicativePrice | Offer, rental: Rental, total: Money, needs: RunNeeds | None, facts: CostFacts
) -> tuple[MissingPart, ...]:
    """List the cost parts that a price and its terms do not state.

    Args:
        price: The price and its terms. [-]
        rental: Cards and hours. [-]
        total: What the terms do state, on which a tax would be. [-]
        needs: Bytes and stops of the run; None leaves storage and transfer without a worst reading. [-]
        facts: List prices and tax rates. [-]
    """
    currency = total.currency
    missing = _services(price.charges, rental, currency, needs, facts)
    missing.append(_unpriced(LABOUR_NAME, currency, LABOUR_QUESTION))
    if price.tier == "server":
        if not price.charges.includes_power:
            question = POWER_QUESTION if price.charges.includes_power is None else POWER_PRICE_QUESTION
            missing.append(_unpriced(POWER_NAME, currency, question))
        if price.charges.set_up is None:
            missing.append(_unpriced(SET_UP_NAME, currency, SET_UP_QUESTION))
    if rental.nodes > 1 and price.tier != "server" and price.charges.fabric_per_gpu_hour is None:
        missing.append(_unpriced(NETWORK_NAME, currency, NETWORK_QUESTION))
    payment = price.payment
    if price.term.is_month_billed and payment.deposit_months is None:
        missing.append(_in_total(DEPOSIT_NAME, total, DEPOSIT_BASIS, DEPOSIT_QUESTION))
    if needs is not None and needs.waste_hours > 0 and price.charges.bills_outages is None:
        missing.append(_in_total(OUTAGE_NAME, total, OUTAGE_BASIS, OUTAGE_QUESTION))
    unused = rental.paid_hours[LIKELY] - rental.period_hours[LIKELY]
    if unused > 0 and price.charges.early_exit_fraction is None:
        missing.append(_in_total(EXIT_NAME, total, EXIT_BASIS, EXIT_QUESTION))
    tax = _missing_tax(price.tax, total, facts.tax_rates.of(price.billing_currency))
    return (*missing, tax) if tax is not None else tuple(missing)


NETWORK_NAME = Message("the network between nodes, where it is billed apart")
NETWORK_QUESTION = Message("ask whether the network between nodes is in the price, and what it costs per card-hour")
LABOUR_NAME = Message("labour to set up and watch the run")
LABOUR_QUESTION = Message("count your own engineers' days")
POWER_NAME = Message("power and cabinet, where the server price leaves them out")
POWER_QUESTION = Message("ask whether power, cabinet and bandwidth are in the price")
POWER_PRICE_QUESTION = Message("ask what power and cabinet cost, per kWh or per machine and month")
SET_UP_QUESTION = Message("ask what delivery and set-up cost, once per rental")
DEPOSIT_NAME = Message("deposit and prepayment (tied up, not spent)")
DEPOSIT_BASIS = Message("tied up, not spent")
DEPOSIT_QUESTION = Message("ask for the months of deposit and of rent paid ahead")
OUTAGE_NAME = Message("who pays the hours lost to failures")
OUTAGE_BASIS = Message("in the total: the renter pays them")
OUTAGE_QUESTION = Message("ask whether hours without a working machine are billed, and how a credit is claimed")
EXIT_NAME = Message("ending before the minimum term")
EXIT_BASIS = Message("in the total: the whole minimum term is paid")
EXIT_QUESTION = Message("ask what an early exit costs")
STORAGE_QUESTION = Message("ask for the price per GB and month; fast shared file systems are quoted per project")
INGRESS_QUESTION = Message("ask whether traffic in is free, and at which rate")
EGRESS_QUESTION = Message("ask for the price per GB of traffic out")


def _services(
    charges: Charges, rental: Rental, currency: str, needs: RunNeeds | None, facts: CostFacts
) -> list[MissingPart]:
    """List storage and transfer, at the dearest list price where there is one."""
    stored = moved_in = moved_out = None
    if needs is not None:
        stored = count_gb_months(rental, needs)[LIKELY]
        moved_in, moved_out = to_gb(needs.sizes.moved_in_bytes), to_gb(needs.moved_out_bytes)
    services = (
        (STORAGE_NAME, charges.storage_per_gb_month, stored, facts.storage_per_gb_month, STORAGE_QUESTION),
        (INGRESS_NAME, charges.ingress_per_gb, moved_in, facts.ingress_per_gb, INGRESS_QUESTION),
        (EGRESS_NAME, charges.egress_per_gb, moved_out, facts.egress_per_gb, EGRESS_QUESTION),
    )
    return [
        _at_list_price(name, currency, quantity, listed, question)
        for name, stated, quantity, listed, question in services
        if stated is None
    ]


def _at_list_price(
    name: Message, currency: str, quantity: Decimal | None, listed: ListPrice | None, question: Message
) -> MissingPart:
    if quantity is None or listed is None:
        return _unpriced(name, currency, question)
    worst = (listed.price * quantity).rounded()
    return MissingPart(name=name, currency=currency, worst=worst, basis=listed.basis, question=question)


def _missing_tax(tax: Tax, total: Money, rates: Sequence[Decimal]) -> MissingPart | None:
    """List a tax that is not in the price, or not said to be, at its rate or the highest there is."""
    if tax.factor_in is not None:
        return None
    rate = worst_tax_factor(tax, rates) - 1 if rates else tax.rate_fraction
    is_open = tax.state == "unknown"
    return MissingPart(
        name=Message("VAT, not stated whether in the price") if is_open else Message("VAT on top of the price"),
        currency=total.currency,
        worst=None if rate is None else (total * rate).rounded(),
        basis=None if rate is None else Message("{rate} of the total", rate=f"{float(rate):.0%}"),
        question=Message("ask whether VAT is in the price, at which rate, and for the invoice type")
        if is_open
        else Message("ask for the rate of VAT and the invoice type"),
    )


def _unpriced(name: Message, currency: str, question: Message) -> MissingPart:
    return MissingPart(name=name, currency=currency, worst=None, basis=None, question=question)


def _in_total(name: Message, total: Money, basis: Message, question: Message) -> MissingPart:
    return MissingPart(
        name=name, currency=total.currency, worst=total * 0, basis=basis, question=question, is_in_total=True
    )

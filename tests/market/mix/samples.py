"""Offers and solutions that the tests of the mix share."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from suanpei.market.mix.capacity import Capacity, Conditions, build_capacity
from suanpei.market.mix.demand import MONTH_S, Demand, join_steps
from suanpei.market.mix.linear import Limits
from suanpei.market.mix.optimise import Optimum, optimise
from suanpei.market.offer import Offer
from suanpei.market.terms import Tax, Term
from suanpei.money import Money

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.mix.start_up import Interruptions
    from suanpei.market.offer import Tier

MONTH_HOURS = 730.0
LIMITS = Limits(time_s=20.0, gap_fraction=0.0)


def yuan(amount: float | str) -> Money:
    return Money(amount=Decimal(str(amount)), currency="CNY")


def make_offer(
    price: float | str,
    *,
    count: int = 64,
    billing_hours: float = 1.0,
    minimum_hours: float = 0.0,
    unit_gpus: int = 1,
    tier: Tier = "platform",
    tax: Tax | None = None,
    provider: str = "甲云",
) -> Offer:
    return Offer(
        provider=provider,
        accelerator_name="H800-SXM5-80GB",
        tier=tier,
        price=yuan(price),
        count=count,
        term=Term(billing_hours=billing_hours, minimum_hours=minimum_hours),
        unit_gpus=unit_gpus,
        region="",
        links="",
        date=None,
        source="offers.csv:2",
        note="",
        tax=tax or Tax(state="in"),
    )


def hourly(price: float | str, *, count: int = 64, unit_gpus: int = 1, tier: Tier = "platform") -> Capacity:
    return build_capacity(make_offer(price, count=count, unit_gpus=unit_gpus, tier=tier), "quoted")[0]


def monthly(price: float | str, *, count: int = 64, months: int = 1, unit_gpus: int = 1) -> Capacity:
    offer = make_offer(
        price,
        count=count,
        billing_hours=MONTH_HOURS,
        minimum_hours=months * MONTH_HOURS,
        unit_gpus=unit_gpus,
        tier="server",
    )
    return build_capacity(offer, "quoted")[0]


def months_of(*gpus: int) -> Demand:
    return Demand(steps=join_steps([(MONTH_S, count, "") for count in gpus]))


def hours_of(*gpus: int) -> Demand:
    return Demand(steps=join_steps([(3_600, count, "") for count in gpus]))


def find(
    demand: Demand,
    capacities: Sequence[Capacity],
    *,
    start_up_hours: float = 0.0,
    interruptions: Interruptions | None = None,
) -> Optimum:
    conditions = Conditions(start_up_hours=start_up_hours, interruptions=interruptions)
    return optimise(demand, capacities, conditions=conditions, limits=LIMITS, currency="CNY")


def cost_of(optimum: Optimum) -> float:
    return float(optimum.schedule.total.amount)

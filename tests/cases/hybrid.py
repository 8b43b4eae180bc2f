"""Reserved against elastic capacity: each field by the function that answers it."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from suanpei.market.mix.closed_form import break_even_hours, choose_for_one_run, mix_two_levels
from suanpei.market.mix.start_up import HOPELESS_FACTOR, Interruptions, clean_run_probability, expected_hours
from suanpei.money import Money
from suanpei.units import DAY_HOURS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.cases.case import Answer

    Fields = Mapping[str, Any]


def two_levels(given: Fields) -> Fields:
    form = mix_two_levels(price_ratio=given["r"], base_share=given["base"], burst_share=given["burst_share"])
    return {
        "save_vs_reserved": form.save_vs_reserved,
        "save_vs_on_demand": form.save_vs_on_demand,
        "reserve_level": form.reserve_level,
    }


def one_run(given: Fields) -> Fields:
    prices = {
        "period_hours": given["month_hours"],
        "reserved_price": given["reserved"],
        "on_demand_price": given["on_demand"],
    }
    return {
        "cheaper": choose_for_one_run(given["days"] * DAY_HOURS, **prices),
        "break_even_days": break_even_hours(**prices) / DAY_HOURS,
    }


def spot_run(given: Fields) -> Fields:
    hours, rate = given["hours"], given["rate"]
    assert not given["checkpoint"]
    expected = expected_hours(hours, rate)
    spot_price = Money(amount=1 - Decimal(str(given["discount"])), currency="USD")
    factor = Interruptions(rate_per_hour=rate).spot_factor(hours, 0.0)
    return {
        "p_clean": clean_run_probability(hours, rate),
        "expected_hours": expected,
        "billed_equiv_hours": (spot_price * expected).ratio(Money(amount=Decimal(1), currency="USD")),
        "verdict": "refuse" if factor > HOPELESS_FACTOR else "accept",
    }


ANSWERS: dict[str, Answer] = {
    **dict.fromkeys(("QUO-HY1", "QUO-HY2", "QUO-HY3", "QUO-HY4"), two_levels),
    "QUO-HY8": one_run,
    "SLA-20": spot_run,
}

"""Sources that fix their unit are held against the same bands as the words of sellers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.market.offer import Offer
from suanpei.market.quotes.offers.band_check import CheapOffers, find_band, hold_against_bands, make_bands
from suanpei.market.terms import Term
from suanpei.money import Money
from tests.market.quotes.quoted_samples import context, price, quoted, quotes, reading
from tests.market.quotes.samples import offer_of

if TYPE_CHECKING:
    from decimal import Decimal

    from suanpei.market.quotes.quoted import Quotes

HOURLY: dict[str, Any] = {
    "pricing": "on_demand",
    "term": Term(billing_hours=1.0),
    "accelerators_per_unit": 1,
    "count": 8,
}
CHEAP = CheapOffers(context())


def held(amount: str, **changes: Any) -> Quotes:
    """One offer at an amount per card-hour, held against its band."""
    offer = quoted(
        **{
            **HOURLY,
            "price_per_accelerator_hour": price(amount),
            "readings": (reading(amount, is_plausible=None),),
            **changes,
        }
    )
    return hold_against_bands(quotes(offer), context())


def test_a_plausible_amount_is_said_to_be_so_and_stays() -> None:
    found = held("12.5")
    (offer,) = found.offers
    assert offer.readings[0].is_plausible is True
    assert (offer.flags, offer.confidence, found.questions) == ((), "high", ())


@pytest.mark.parametrize(
    ("amount", "flag"),
    [
        ("0.02", "price_far_from_band"),
        ("100", "too_dear_unit_suspect"),  # 100 / 8 = 12.5: a node's price in the column of a card's
        ("9125", "too_dear_unit_suspect"),  # 9125 / 730 = 12.5: a month's
        ("1000000000", "price_far_from_band"),
    ],
)
def test_an_amount_far_from_its_band_is_flagged_and_asked(amount: str, flag: str) -> None:
    found = held(amount)
    (offer,) = found.offers
    assert (offer.flags, offer.confidence) == ((flag,), "low")
    assert offer.readings[0].is_plausible is False
    assert all(other.is_plausible for other in offer.readings[1:])
    assert (len(offer.readings) > 1) == (flag != "price_far_from_band")
    (question,) = found.questions
    assert (question.seller, question.file, question.cell) == (offer.seller, offer.source.file, offer.source.cell)


def test_a_node_month_written_as_a_price_far_too_low_may_be_of_a_card() -> None:
    # 12.5 · 730 = 9,125 a card and month, written as the price of the machine: 9,125 / (8 · 730) = 1.5625
    found = held("1.5625", accelerators_per_unit=8, readings=(reading("1.5625", "node", 730, is_plausible=None),))
    (offer,) = found.offers
    assert offer.flags == ("too_cheap_unit_suspect",)
    assert Fraction("12.5") in {other.amount for other in offer.readings[1:]}


@pytest.mark.parametrize(
    "changes",
    [
        {"accelerator": None},
        {"flags": ("component_price",)},
        {"readings": ()},
        {"readings": (reading("0.02", is_plausible=False),)},
    ],
)
def test_what_has_no_band_or_is_held_already_stays_as_it_is(changes: dict[str, object]) -> None:
    found = held("0.02", **changes)
    assert (found.offers[0].confidence, found.questions) == ("high", ())


def test_spot_is_held_against_spot_too() -> None:
    bands = make_bands(context("USD"))
    offer = quoted(**HOURLY, quoted_currency="USD", accelerator="H100-SXM5-80GB")
    on_demand, spot = (find_band(replace(offer, pricing=pricing), bands) for pricing in ("on_demand", "spot"))
    assert on_demand is not None
    assert spot is not None
    assert spot.least < on_demand.least


@given(st.decimals(min_value="0.01", max_value="40", places=2), st.sampled_from(["CNY", "USD"]))
def test_an_offer_and_its_quote_are_held_alike(amount: Decimal, currency: str) -> None:
    """The same price in our own columns, planned and read as a quote, falls on the same side of the band."""
    offer = Offer(
        provider="甲云",
        accelerator_name="H800-SXM5-80GB",
        tier="platform",
        price=Money(amount=amount, currency=currency),
        count=8,
        term=Term(billing_hours=1.0),
        unit_gpus=1,
        region="",
        links="",
        date=None,
        source="",
        note="",
    )
    in_yuan = Fraction(amount) * context().rates.factor(currency, "CNY")
    exact = replace(price("1"), amount=in_yuan, low=in_yuan, high=in_yuan)
    taken = replace(reading("1", is_plausible=None), amount=in_yuan)
    (quote,) = held("1", price_per_accelerator_hour=exact, readings=(taken,), quoted_currency=currency).offers
    band = find_band(quote, make_bands(context()))
    assert band is not None
    assert CHEAP.holds(offer) == (quote.readings[0].is_plausible is False and in_yuan < band.low)


def test_the_reader_of_words_flags_the_same_price_the_same_way() -> None:
    (column,) = held("0.02").offers
    words = offer_of({"型号": "H800 80G SXM5", "报价": "0.02", "单位": "元/卡/时", "计费方式": "按量"})
    assert set(column.flags) <= set(words.flags)

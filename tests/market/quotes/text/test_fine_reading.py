from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from suanpei.market.quotes.read import read_quotes
from tests.market.quotes.samples import context, text

if TYPE_CHECKING:
    from suanpei.market.quotes.quoted import QuotedOffer


def only(words: str) -> QuotedOffer:
    (offer,) = read_quotes([text(words)], context()).offers
    return offer


@pytest.mark.parametrize(
    ("words", "price", "billing_hours"),
    [
        ("H800 12元/卡/时 按分钟计费", 12, 1 / 60),
        ("H800 12元/卡/时 按秒计费", 12, 1 / 3600),
        ("H800 0.2元/卡/分钟", 12, 1 / 60),  # 0.2 × 60
    ],
)
def test_a_bill_by_the_minute_or_second_stays_one(words: str, price: int, billing_hours: float) -> None:
    offer = only(words)
    assert offer.price_per_accelerator_hour.amount == Fraction(price)
    assert offer.term is not None
    assert offer.term.billing_hours == billing_hours


def test_a_price_with_and_without_tax_is_one_offer_with_the_tax_of_its_sum() -> None:
    price = only("H800 8卡 含税6.8万/台/月 不含税6.4万/台/月").price_per_accelerator_hour
    assert (price.amount, price.tax) == (Fraction(68_000, 8 * 730), "in")


def test_a_highest_price_is_flagged() -> None:
    offer = only("H800 不到12元/卡/时")
    assert "up_to_price" in offer.flags
    assert offer.confidence != "high"

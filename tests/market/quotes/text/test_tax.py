from __future__ import annotations

from decimal import Decimal

import pytest

from tests.market.quotes.samples import read_one, text


@pytest.mark.parametrize(
    ("words", "state", "rate"),
    [
        ("tax excluded", "out", None),
        ("ex. tax", "out", None),
        ("ex VAT", "out", None),
        ("prices exclude VAT", "out", None),
        ("VAT not included", "out", None),
        ("plus 9% GST", "out", "0.09"),
        ("tax included", "in", None),
        ("6%税另付", "out", "0.06"),
        ("税另算", "out", None),
        ("税费自理", "out", None),
        ("票点另算", "out", None),
        ("开票加点", "out", None),
        ("含税13 专票", "in", "0.13"),
        ("可开13%专票", "unknown", "0.13"),
        ("不开票", "unknown", None),
    ],
)
def test_words_behind_and_before_tax_say_whether_it_is_in(words: str, state: str, rate: str | None) -> None:
    price = read_one(text(f"H100 8卡 6万/台/月 {words}")).price_per_accelerator_hour
    assert price.tax == state
    assert price.tax_rate == (None if rate is None else Decimal(rate))

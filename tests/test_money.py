from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.money import ExchangeRate, ExchangeRates, Money
from suanpei.provenance import Provenance

ROWS = [
    {"from": "USD", "to": "CNY", "rate": "7.2", "as_of": "2026-11-30", "confidence": "low", "source": "s", "note": ""},
    {"from": "HKD", "to": "CNY", "rate": "0.9", "as_of": "", "confidence": "", "source": "s", "note": ""},
]
amounts = st.decimals(min_value="-1e9", max_value="1e9", places=4)


def cny(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency="CNY")


@pytest.mark.parametrize(
    ("money", "text"),
    [
        (cny("52300"), "¥52,300"),
        (cny("6.5"), "¥6.50"),
        (cny("999.995"), "¥1,000.00"),
        (cny("-52300.4"), "-¥52,300"),
        (Money(amount=Decimal(7260), currency="USD"), "US$7,260"),
        (Money(amount=Decimal(1000), currency="JPY"), "JPY 1,000"),
    ],
)
def test_is_written_for_people(money: Money, text: str) -> None:
    assert str(money) == text


def test_arithmetic_is_exact() -> None:
    assert cny("0.1") + cny("0.2") == cny("0.3")
    assert (cny("6.5") * 8 * Decimal(730)).amount == Decimal("37960.0")
    assert cny("6.5") * 0.1 == cny("0.65")
    assert cny("10") / 4 == cny("2.5")
    assert cny("3") - cny("5") == -cny("2")
    assert cny("2") < cny("3") <= cny("3")
    assert cny("4") > cny("3") >= cny("3")
    assert cny("3").ratio(cny("4")) == 0.75


def test_half_a_unit_is_rounded_up_as_bills_do() -> None:
    assert cny("2.675").rounded() == cny("2.68")
    assert cny("2.5").rounded(0) == cny("3")


@pytest.mark.parametrize("rate", ["0", "-7", "nan", "inf", "abc", "", "1e12"])
def test_a_rate_that_is_no_number_above_zero_is_refused(rate: str) -> None:
    row = {"from": "USD", "to": "CNY", "rate": rate, "as_of": "", "confidence": "", "source": "", "note": ""}
    with pytest.raises(InputError, match="exchange rates: one USD in CNY must be a number above zero"):
        ExchangeRates.from_rows([row])


def test_two_currencies_do_not_mix() -> None:
    with pytest.raises(InputError, match="cannot combine USD with CNY"):
        cny("1") + Money(amount=Decimal(1), currency="USD")


def test_rates_convert_in_both_directions_and_through_a_common_currency() -> None:
    rates = ExchangeRates.from_rows(ROWS)
    assert rates.convert(Money(amount=Decimal(100), currency="USD"), "CNY") == cny("720")
    assert rates.convert(cny("720"), "USD") == Money(amount=Decimal(100), currency="USD")
    assert rates.convert(Money(amount=Decimal(80), currency="HKD"), "USD").amount == Decimal(10)  # 80 x 0.9 / 7.2
    assert [str(rate) for rate in rates.route("HKD", "USD")] == ["1 HKD = 0.9 CNY", "1 USD = 7.2 CNY"]
    assert rates.convert(cny("5"), "CNY") == cny("5")


def test_a_blank_date_and_confidence_stay_unknown() -> None:
    dated, undated = ExchangeRates.from_rows(ROWS).rates
    assert (dated.provenance.as_of, dated.provenance.confidence) == ("2026-11-30", "low")
    assert (undated.provenance.as_of, undated.provenance.confidence) == (None, None)


def test_a_users_rate_wins_in_either_spelling() -> None:
    own = ExchangeRate(base="CNY", quote="USD", rate=Decimal("0.125"), provenance=Provenance(source="--rate"))
    rates = ExchangeRates.from_rows(ROWS).overridden(own)
    assert rates.convert(Money(amount=Decimal(1), currency="USD"), "CNY") == cny("8")
    assert len(rates.rates) == 2


def test_a_missing_pair_is_named_with_its_remedy() -> None:
    with pytest.raises(InputError, match=r"between EUR and CNY: give one with --rate EUR=…CNY"):
        ExchangeRates.from_rows(ROWS).convert(Money(amount=Decimal(1), currency="EUR"), "CNY")


@given(amounts, amounts, amounts)
def test_addition_is_associative_and_commutes(first: Decimal, second: Decimal, third: Decimal) -> None:
    a, b, c = (Money(amount=amount, currency="CNY") for amount in (first, second, third))
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert (a - b) + b == a

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.quantities import parse_currency, parse_gpu_price, parse_money, parse_rate

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("500000CNY", "500000", "CNY"),
        ("50万元", "500000", "CNY"),
        ("五十万元", "500000", "CNY"),
        ("人民币50万", "500000", "CNY"),
        ("¥5万8", "58000", "CNY"),
        ("￥３０００", "3000", "CNY"),
        ("6.5CNY", "6.5", "CNY"),
        ("1,200.50元", "1200.50", "CNY"),
        ("$12k", "12000", "USD"),
        ("USD 3.2", "3.2", "USD"),
        ("1.2M USD", "1200000", "USD"),
        ("3美元", "3", "USD"),
        ("HK$300", "300", "HKD"),
        ("0.1EUR", "0.1", "EUR"),
    ],
)
def test_money(text: str, amount: str, currency: str) -> None:
    money = parse_money(text, "--budget")
    assert (money.amount, money.currency) == (Decimal(amount), currency)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("5000", "--budget: '5000' names no currency; it takes an amount with its currency, such as 500000CNY"),
        ("0元", "--budget must be above zero, got '0元'"),
        ("-5CNY", "--budget must be above zero, got '-5CNY'"),
        ("1e16CNY", "--budget must be at most 1e15, got '1e16CNY'"),
        ("$5 CNY", "--budget: cannot read '$5 CNY'"),
        ("3.5元/卡", "--budget: cannot read '3.5元/卡'"),
        ("much", "--budget: cannot read 'much'"),
        ("100JPY", "--budget: cannot read '100JPY'"),
    ],
)
def test_what_is_no_money_is_refused_by_name(text: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_money(text, "--budget")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "name", "amount", "currency"),
    [
        ("A800=6.5CNY", "A800", "6.5", "CNY"),
        ("H100 SXM = $2.5/GPU-hour", "H100 SXM", "2.5", "USD"),
        ("4090=1.8元/卡/时", "4090", "1.8", "CNY"),
        ("昇腾910B=¥6/卡时", "昇腾910B", "6", "CNY"),
        ("4090=1.8元每卡每小时", "4090", "1.8", "CNY"),
    ],
)
def test_gpu_prices(text: str, name: str, amount: str, currency: str) -> None:
    given_name, money = parse_gpu_price(text, "--price")
    assert (given_name, money.amount, money.currency) == (name, Decimal(amount), currency)


@pytest.mark.parametrize(
    "text", ["A800", "A800=6.5", "A800=", "=3CNY", "A800=5万元/台/月", "A800=-1CNY", "A800=6元/卡/月"]
)
def test_what_is_no_gpu_price_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--price"):
        parse_gpu_price(text, "--price")


@pytest.mark.parametrize("text", ["USD=7.2CNY", "usd=7.2元", "1USD=7.2CNY", "美元=7.2人民币", "＄=￥7.2"])
def test_rates(text: str) -> None:
    rate = parse_rate(text, "--rate")
    assert (rate.base, rate.quote, rate.rate, rate.provenance.source) == ("USD", "CNY", Decimal("7.2"), "--rate")


@pytest.mark.parametrize(
    "text", ["USD=7.2", "USD", "USD=USD", "USD=1USD", "USD=0CNY", "USD=-7CNY", "XXX=7CNY", "USD=1e9CNY"]
)
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--rate"):
        parse_rate(text, "--rate")


def test_currencies() -> None:
    assert [parse_currency(text, "--currency") for text in ("cny", "RMB", "元", "US$")] == ["CNY", "CNY", "CNY", "USD"]
    with pytest.raises(InputError, match="--currency: cannot read 'BTC'"):
        parse_currency("BTC", "--currency")


@given(st.decimals(min_value="0.01", max_value="1e9", places=2))
def test_an_amount_is_read_back_to_the_cent(amount: Decimal) -> None:
    assert parse_money(f"{amount}CNY", "--budget").amount == amount
    assert parse_money(f"${amount:,}", "--budget").amount == amount


@given(st.text(max_size=40))
@pytest.mark.parametrize("parse", [parse_money, parse_gpu_price, parse_rate, parse_currency])
def test_any_text_is_read_or_refused_with_the_field_named(parse: Callable[[str, str], object], text: str) -> None:
    try:
        parse(text, "--field")
    except InputError as error:
        assert "--field" in str(error)  # most texts raise, some do not

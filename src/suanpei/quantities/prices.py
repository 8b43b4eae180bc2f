"""Money, prices and exchange rates that people write."""

from __future__ import annotations

import re
from decimal import Decimal

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.money import ExchangeRate, Money
from suanpei.provenance import Provenance
from suanpei.quantities.number import check_range, normalise, read_number, read_scaled, refuse, refuse_unitless

_MOST_MONEY = Decimal(10**15)
_MOST_RATE = Decimal(10**6)

_CURRENCY_WORDS: dict[str, str] = {
    **dict.fromkeys(("cny", "rmb", "¥", "cn¥", "元", "块", "块钱", "人民币", "元人民币"), "CNY"),
    **dict.fromkeys(("usd", "$", "us$", "美元", "美金", "刀"), "USD"),
    **dict.fromkeys(("hkd", "hk$", "港元", "港币"), "HKD"),
    **dict.fromkeys(("eur", "€", "欧元"), "EUR"),
}
"""``¥`` is the yuan: no yen price is rented at here."""
RATED_CURRENCIES = (
    *("JPY", "GBP", "SGD", "TWD", "KRW", "AUD", "CAD"),
    *("CHF", "INR", "AED", "RUB", "THB", "MYR"),
)
"""Currencies of quotes that only the user's own exchange rate may name; no result is shown in them."""
_BEFORE = re.compile(r"(cny|rmb|cn¥|¥|usd|us\$|hkd|hk\$|\$|eur|€|人民币|美元|港币|港元|欧元)\s*", re.IGNORECASE)
_PER_CARD_HOUR = re.compile(
    r"/\s*(?:gpu|card|卡|张)?\s*(?:[-·/*]\s*)?(?:h|hr|hour|小时|时)|(?:每|一)(?:卡|张)(?:每)?(?:小时|时)", re.IGNORECASE
)


def parse_currency(text: str, field: str) -> str:
    """Read a currency: ``CNY``, ``rmb``, ``元``, ``US$``.

    Args:
        text: What the user wrote.
        field: Name of the option or column, for the error.

    Returns:
        The ISO 4217 code.

    Raises:
        InputError: Not one of the currencies that are known.
    """
    plain = normalise(text, field)
    code = _CURRENCY_WORDS.get(plain.lower())
    if code is None:
        raise refuse(field, plain, Message("one of the currencies CNY, USD, EUR, HKD"))
    return code


def parse_money(text: str, field: str) -> Money:
    """Read an amount with its currency: ``500000CNY``, ``50万元``, ``¥5万8``, ``$12k``, ``USD 3.2``.

    Args:
        text: What the user wrote.
        field: Name of the option or column, for the error.

    Returns:
        The exact amount.

    Raises:
        InputError: Not an amount, no currency or two, zero, negative, or above 1e15.
    """
    takes = Message("an amount with its currency, such as 500000CNY, 50万元 or $12k")
    plain = normalise(text, field)
    before = _BEFORE.match(plain)
    number = read_scaled(plain[before.end() :] if before else plain)
    if number is None:
        raise refuse(field, plain, takes)
    code = _CURRENCY_WORDS[before.group(1).lower()] if before else None
    if number.rest:
        code_after = _CURRENCY_WORDS.get(number.rest.lower())
        if code_after is None or (code is not None and code != code_after):
            raise refuse(field, plain, takes)
        code = code_after
    check_range(number.value, _MOST_MONEY, field, plain, "1e15")
    if code is None:
        raise InputError(
            Message("{field}: '{given}' names no currency; it takes {takes}", field=field, given=plain, takes=takes)
        )
    return Money(amount=number.value, currency=code)


def parse_gpu_price(text: str, field: str) -> tuple[str, Money]:
    """Read a user's own price of one accelerator: ``A800=6.5CNY``, ``H100 SXM=$2.5/GPU-hour``, ``4090=1.8元/卡/时``.

    Args:
        text: What the user wrote.
        field: Name of the option or column, for the error.

    Returns:
        The accelerator as written, and its price. [currency/card-hour]

    Raises:
        InputError: No name, no price, or a price per something else than a card and hour.
    """
    takes = Message("an accelerator and its price per card-hour, such as A800=6.5CNY")
    plain = normalise(text, field)
    name, equals, price = (part.strip() for part in plain.partition("="))
    if not (name and equals and price):
        raise refuse(field, plain, takes)
    per = re.search(r"(?=[/每])|一[卡张]", price)
    if per:
        if not _PER_CARD_HOUR.fullmatch(price[per.start() :].strip()):
            raise refuse(field, plain, takes)
        price = price[: per.start()].strip()
    if not price:
        raise refuse(field, plain, takes)
    return name, parse_money(price, field)


def parse_rate(text: str, field: str) -> ExchangeRate:
    """Read a user's own exchange rate: ``USD=7.2CNY``, ``GBP=9.2CNY``.

    Args:
        text: What the user wrote: one unit of the first currency costs so much of the second.
        field: Name of the option or column, for the error and as the rate's source.

    Returns:
        The rate.

    Raises:
        InputError: Not two different currencies and a rate above zero.
    """
    takes = Message("an exchange rate such as USD=7.2CNY (one dollar costs 7.2 yuan)")
    plain = normalise(text, field)
    base_text, equals, amount_text = (part.strip() for part in plain.partition("="))
    if not (base_text and equals and amount_text):
        raise refuse(field, plain, takes)
    base_text = re.sub(r"^1\s*", "", base_text) or base_text
    code = base_text.upper()
    base = code if code in RATED_CURRENCIES else _CURRENCY_WORDS.get(base_text.lower())
    if base is None:
        known = ", ".join(dict.fromkeys((*_CURRENCY_WORDS.values(), *RATED_CURRENCIES)))
        raise refuse(field, base_text, Message("one of the currencies {known}", known=known))
    number = read_number(amount_text)
    if number is not None and not number.rest:
        raise refuse_unitless(field, plain, takes)
    quoted = parse_money(amount_text, field)
    check_range(quoted.amount, _MOST_RATE, field, plain, f"{_MOST_RATE:,}")
    if quoted.currency == base:
        raise refuse(field, plain, takes)
    return ExchangeRate(base=base, quote=quoted.currency, rate=quoted.amount, provenance=Provenance(source=field))

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from tests.market.quotes.samples import read, read_one, table, text


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


@pytest.mark.parametrize(
    ("words", "state", "rate", "inside", "outside"),
    [
        # 4.3 / 4.05 = 1.0617: no whole per cent, so no rate, but both sides as quoted
        ("A100SXM 8卡整机4.3w，这个是含税价，不含税4.05w", "in", None, 43_000, 40_500),
        ("H800 8卡整机 含税4.3w/台/月，不含税4.05w/台/月", "in", None, 43_000, 40_500),
        ("H800 8卡整机 4.3w/月含税 4.05w/月不含税", "in", None, 43_000, 40_500),
        # 50,880 / 48,000 = 1.06
        ("H800 8卡 不含税48000元/台/月，含税50880元/台/月", "out", "0.06", 50_880, 48_000),
        # 4.3 / 4.05 / 1.06 = 1.0016: the stated rate, rounded
        ("H800 8卡 含税6%4.3w/台/月，不含税4.05w/台/月", "in", "0.06", 43_000, 40_500),
    ],
)
def test_a_price_quoted_on_both_sides_of_tax_is_one_offer(
    words: str, state: str, rate: str | None, inside: int, outside: int
) -> None:
    quotes = read(text(words))
    (offer,) = quotes.offers
    price = offer.price_per_accelerator_hour
    assert (price.tax, price.tax_rate) == (state, None if rate is None else Decimal(rate))
    assert (price.amount_tax_in, price.amount_tax_out) == (Fraction(inside, 5840), Fraction(outside, 5840))
    assert "tax_sides_differ" not in offer.flags
    assert not quotes.unread


def test_sides_that_the_stated_rate_does_not_join_are_flagged() -> None:
    offer = read_one(text("H800 8卡 含税13%4.3w/台/月，不含税4.05w/台/月"))
    price = offer.price_per_accelerator_hour
    assert "tax_sides_differ" in offer.flags
    assert (price.amount_tax_in, price.amount_tax_out) == (Fraction(43_000, 5840), Fraction(40_500, 5840))


@pytest.mark.parametrize(
    "words",
    [
        "H800 8卡 月付4.3w/台/月 含税，年付4.05w/台/月 不含税",
        "H800 8卡 4.05w/台/月 含税，3台起4.3w/台/月 不含税",
    ],
)
def test_prices_for_other_terms_are_no_sides_of_one(words: str) -> None:
    for offer in read(text(words)).offers:
        price = offer.price_per_accelerator_hour
        assert None in (price.amount_tax_in, price.amount_tax_out)


@pytest.mark.parametrize(
    ("words", "note"),
    [
        ("不开票", "不开票"),
        ("，开13%专票", "开13%专票"),
        ("，可开6%增值税专用发票", "可开6%增值税专用发票"),
        (", no VAT invoice", "no vat invoice"),
        ("，签一年，不开票", "不开票"),
    ],
)
def test_words_on_invoices_are_kept(words: str, note: str) -> None:
    assert read_one(text(f"H800 8卡 7.8万/台/月{words}")).note == note


def test_a_line_on_invoices_that_closes_a_list_holds_for_all() -> None:
    offers = read(text("H800 8卡 7.8万/台/月\nA800 8卡 4.8万/台/月\n不开票，要票加6个点")).offers
    assert [(one.note, str(one.price_per_accelerator_hour.tax_rate)) for one in offers] == [("不开票", "0.06")] * 2


def test_a_note_that_says_it_already_does_not_say_it_twice() -> None:
    rows = [("型号", "报价(元/卡/时)", "备注"), ("H800", "12", "含6%专票")]
    assert read_one(table(rows)).note == "含6%专票"

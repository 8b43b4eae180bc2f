from __future__ import annotations

from fractions import Fraction

import pytest

from suanpei.market.quotes.prices.pflops import claim_factor, count_pflops, dense_pflops
from suanpei.market.quotes.text.claim import read_claim
from suanpei.market.quotes.text.words import plain
from tests.market.quotes.samples import CARDS, offer_of, read_one, table


def amounts(row: dict[str, str], currency: str = "CNY") -> list[Fraction]:
    return [reading.amount for reading in offer_of(row, currency).readings]


@pytest.mark.parametrize(
    ("price", "unit", "gpus", "expected"),
    [
        ("12", "元/卡/时", "8卡", Fraction(12)),
        ("78000", "元/台/月", "8卡", Fraction(78_000, 730 * 8)),
        ("9", "万元/台/月", "8卡", Fraction(90_000, 730 * 8)),
        ("70", "万元/台/年", "8卡", Fraction(700_000, 8_760 * 8)),
        ("260", "元/卡/天", "8卡", Fraction(260, 24)),
        ("1500", "元/台/天", "8卡", Fraction(1_500, 24 * 8)),
        ("0.2", "元/卡/分钟", "8卡", Fraction(12)),
        ("2.35", "USD/GPU/hr", "8卡", Fraction("2.35") * Fraction("7.2")),
        ("2.1", "EUR/GPU/hr", "8卡", Fraction("2.1") * Fraction("7.8")),
        ("18", "港币/卡/时", "8卡", Fraction(18) * Fraction("0.92")),
        ("3.2万", "元/台/月", "4卡", Fraction(32_000, 730 * 4)),
    ],
)
def test_a_written_unit_is_converted_exactly(price: str, unit: str, gpus: str, expected: Fraction) -> None:
    offer = offer_of({"型号": "H800", "配置": gpus, "价格": price, "单位": unit})
    assert offer.price_per_accelerator_hour.amount == expected
    assert offer.readings[0].amount == expected


def test_dollars_become_euros_through_the_yuan() -> None:
    offer = offer_of({"GPU": "H100 SXM 80GB", "Price per GPU-hour": "$2.60"}, "EUR")
    assert (
        offer.price_per_accelerator_hour.amount
        == Fraction("2.6") * Fraction("7.2") / Fraction("7.8")
        == Fraction("2.4")
    )


def test_thirty_days_make_another_month() -> None:
    row = {"型号": "H800", "配置": "8卡整机", "价格": "70000", "单位": "元/台/月", "备注": "按30天计"}
    assert offer_of(row).price_per_accelerator_hour.amount == Fraction(70_000, 720 * 8)


def test_a_missing_part_gives_every_reading_the_taken_one_first() -> None:
    offer = offer_of({"型号": "H200 141G", "配置": "8卡整机 月付", "价格": "8.2万"})
    readings = {(reading.billed, int(reading.period_hours)): reading.amount for reading in offer.readings}
    assert readings == {
        (billed, hours): Fraction(82_000, hours * gpus)
        for billed, gpus in (("node", 8), ("card", 1))
        for hours in (1, 24, 730, 8_760)
    }
    assert offer.readings[0].amount == offer.price_per_accelerator_hour.amount == Fraction(82_000, 5_840)
    assert "unit_missing_inferred" in offer.flags
    assert offer.confidence == "medium"


def test_the_band_settles_what_words_leave_open() -> None:
    # a card of H800 costs 8.9 to 31 yuan an hour; 96 an hour is a whole machine's price
    offer = offer_of({"型号": "H800", "配置": "8卡", "价格": "96", "单位": "元/时"})
    assert offer.price_per_accelerator_hour.amount == 12
    assert [(reading.billed, reading.is_plausible) for reading in offer.readings] == [("node", True), ("card", False)]


def test_what_neither_words_nor_band_settle_stays_open() -> None:
    offer = offer_of({"型号": "P40", "配置": "8卡", "价格": "96"})
    assert offer.price_per_accelerator_hour.amount is None
    assert len(offer.readings) == 8
    assert "unit_missing" in offer.flags
    assert offer.confidence == "low"


def test_words_that_the_band_contradicts_leave_it_open() -> None:
    # 2.3 yuan an hour is no price of a whole machine
    offer = offer_of({"型号": "H800", "配置": "8卡整机", "价格": "13", "单位": "元/时"})
    assert offer.price_per_accelerator_hour.amount is None
    assert {reading.amount for reading in offer.readings} == {Fraction(13), Fraction(13, 8)}


@pytest.mark.parametrize(
    ("price", "unit", "flag"),
    [
        ("5.5", "元/台/时", "too_cheap_unit_suspect"),
        ("78000", "元/卡/月", "too_dear_unit_suspect"),
        ("0.01", "元/卡/时", "price_far_from_band"),
    ],
)
def test_a_written_unit_far_from_the_band_is_kept_and_flagged(price: str, unit: str, flag: str) -> None:
    offer = offer_of({"型号": "A800 80G", "配置": "8卡", "价格": price, "单位": unit})
    assert flag in offer.flags
    assert offer.price_per_accelerator_hour.amount == offer.readings[0].amount
    assert offer.readings[0].is_plausible is False
    assert all(reading.is_plausible for reading in offer.readings[1:])


def test_a_node_of_unknown_size_takes_the_usual_one_and_says_so() -> None:
    offer = offer_of({"型号": "H800", "价格": "7.8万", "单位": "元/台/月"})
    assert offer.accelerators_per_unit == 8
    assert "node_size_inferred" in offer.flags


def test_ends_of_a_range_and_open_ends() -> None:
    ranged = offer_of({"型号": "H800", "价格": "12-15", "单位": "元/卡/时"}).price_per_accelerator_hour
    lowest = offer_of({"型号": "H800", "价格": "12元/卡/时起"}).price_per_accelerator_hour
    tiers = offer_of(
        {"GPU": "RTX 4090", "Price": "$0.34 / $0.69", "Unit": "per GPU-hr"}, "USD"
    ).price_per_accelerator_hour
    assert (ranged.low, ranged.high) == (Fraction(12), Fraction(15))
    assert (lowest.low, lowest.high) == (Fraction(12), None)
    assert (tiers.amount, tiers.high) == (Fraction("0.34"), Fraction("0.69"))


def test_the_host_is_the_high_end_of_a_component_price() -> None:
    row = {"GPU": "V100 16GB", "Kind": "gpu_only", "Price per GPU hour": "$2.48", "Host extra": "host $0.473"}
    price = offer_of(row, "USD").price_per_accelerator_hour
    assert (price.low, price.high) == (Fraction("2.48"), Fraction("2.953"))


@pytest.mark.parametrize(
    ("note", "expected", "flag"),
    [
        ("8折后另算", Fraction(10), "discount_20pct_not_applied"),
        ("8折，折前价", Fraction(8), "discount_20pct_applied"),
        ("8折后价", Fraction(10), None),
    ],
)
def test_a_discount_is_applied_only_where_words_say_so(note: str, expected: Fraction, flag: str | None) -> None:
    offer = offer_of({"型号": "H800", "价格": "10", "单位": "元/卡/时", "备注": note})
    assert offer.price_per_accelerator_hour.amount == expected
    assert [one for one in offer.flags if one.startswith("discount")] == ([flag] if flag else [])
    if flag:
        assert {reading.amount for reading in offer.readings} == {Fraction(10), Fraction(8)}


@pytest.mark.parametrize(
    ("note", "first", "second"),
    [
        ("P按FP16稠密", Fraction("0.9894"), None),
        ("", Fraction("0.9894"), None),
        ("P按稀疏", Fraction("1.9788"), Fraction("0.9894")),
        ("P按FP8计", Fraction("1.9789"), Fraction("0.9894")),
        ("单卡约0.2P", Fraction("0.9894"), Fraction("0.2")),
        ("单卡1P", Fraction("0.9894"), None),
    ],
)
def test_a_price_per_p_takes_the_rate_of_the_card(note: str, first: Fraction, second: Fraction | None) -> None:
    row = {"型号": "H800", "价格": "8.76", "单位": "万元/P/年", "备注": note}
    offer = offer_of(row)
    per_p = Fraction(87_600, 8_760)
    assert [reading.amount for reading in offer.readings] == [per_p * rate for rate in (first, second) if rate]
    assert ("p_per_card_wrong" in offer.flags) is (second is not None)
    assert "per_PFLOPS" in offer.flags


def test_a_price_per_p_of_several_cards_stays_open() -> None:
    offer = offer_of({"型号": "昇腾910B", "价格": "8", "单位": "万元/P/年"})
    assert offer.price_per_accelerator_hour.amount is None
    assert "pflops_of_card_unknown" in offer.flags
    assert len(offer.readings) == 4


def test_what_a_seller_counts_as_p() -> None:
    h100 = CARDS.read("H100 SXM").accelerator
    assert h100 is not None
    assert dense_pflops(h100) == Fraction("0.9894")
    assert read_claim(plain("一张H800约0.2P")) == Fraction("0.2")
    assert read_claim(plain("集群256P")) is None
    assert claim_factor(Fraction("0.25"), Fraction("1")) == 4
    assert count_pflops(h100, None, frozenset({"fp16", "dense"})) is None
    assert count_pflops(h100, None, frozenset({"fp4"})) is None  # Hopper has no such format


def test_a_cloud_instance_is_priced_whole() -> None:
    offer = offer_of({"SKU": "p5.48xlarge", "Price/hr": "$98.32"}, "USD")
    assert offer.accelerator == "H100-SXM5-80GB"
    assert offer.price_per_accelerator_hour.amount == Fraction("98.32") / 8
    assert offer.readings[0].billed == "instance"


def test_prepaid_for_a_term_is_for_all_of_it() -> None:
    offer = offer_of(
        {"GPU": "H100 80GB SXM", "Node": "8x", "Price": "$152,000", "Unit": "per node, 12 months prepaid"}, "USD"
    )
    assert amounts(
        {"GPU": "H100 80GB SXM", "Node": "8x", "Price": "$152,000", "Unit": "per node, 12 months prepaid"}, "USD"
    ) == [
        Fraction(152_000, 8_760 * 8),
        Fraction(152_000, 730 * 8),
    ]
    assert offer.payment.prepaid_months == 12


@pytest.mark.parametrize(
    ("tax", "state", "factor_in", "factor_out"),
    [
        ("不含税(6%)", "out", Fraction("1.06"), Fraction(1)),
        ("含税6%", "in", Fraction(1), 1 / Fraction("1.06")),
        ("含税", "in", Fraction(1), None),
        ("不含税", "out", None, Fraction(1)),
        ("", "unknown", None, None),
    ],
)
def test_tax_in_and_out(tax: str, state: str, factor_in: Fraction | None, factor_out: Fraction | None) -> None:
    price = offer_of({"型号": "H800", "价格": "10", "单位": "元/卡/时", "税": tax}).price_per_accelerator_hour
    assert price.tax == state
    assert price.amount_tax_in == (None if factor_in is None else 10 * factor_in)
    assert price.amount_tax_out == (None if factor_out is None else 10 * factor_out)


def test_readings_in_the_band_come_first() -> None:
    offer = read_one(table([("型号", "配置", "报价"), ("H100 80G", "8卡", "6万5元")]))
    assert offer.price_per_accelerator_hour.amount is None
    plausible = [reading.is_plausible is True for reading in offer.readings]
    assert plausible == sorted(plausible, reverse=True)
    assert plausible[0]
    assert len(plausible) == 8  # a card or a machine, an hour, a day, a month or a year

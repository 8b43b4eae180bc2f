from __future__ import annotations

from fractions import Fraction

import pytest

from suanpei.messages import Message
from tests.market.quotes.samples import read, read_one, text

MACHINE_MONTH = Fraction(1, 8) / 730


@pytest.mark.parametrize(
    ("line", "prices", "least"),
    [
        (
            "H800 8卡：10台以内5.3w，10-50台5.1w，50台以上4.9w，每月每台",
            [53_000 * MACHINE_MONTH, 51_000 * MACHINE_MONTH, 49_000 * MACHINE_MONTH],
            [8, 80, 400],
        ),
        (
            "H100 8卡 5.9万/台/月，20台打包价5.6万，100台以上5.3万",
            [59_000 * MACHINE_MONTH, 56_000 * MACHINE_MONTH, 53_000 * MACHINE_MONTH],
            [None, 160, 800],
        ),
        (
            "H100: 1-7 GPUs 18元/卡时, 8-63 GPUs 16元/卡时, 64+ GPUs 14元/卡时",
            [Fraction(18), Fraction(16), Fraction(14)],
            [1, 8, 64],
        ),
        (
            "H100: 18元/卡时 (1-7 GPUs), 16元/卡时 (8-63 GPUs), 14元/卡时 (64+ GPUs)",
            [Fraction(18), Fraction(16), Fraction(14)],
            [1, 8, 64],
        ),
    ],
)
def test_each_price_holds_for_its_own_quantity(line: str, prices: list[Fraction], least: list[int | None]) -> None:
    offers = read(text(line)).offers
    assert [offer.price_per_accelerator_hour.amount for offer in offers] == prices
    assert [offer.minimum_count for offer in offers] == least
    assert ["quantity_tier" in offer.flags for offer in offers] == [one is not None for one in least]
    assert {offer.count for offer in offers} == {None}


@pytest.mark.parametrize(
    ("words", "least"),
    [
        ("2台起租", 16),
        ("起租8台", 64),
        ("64卡起", 64),
        ("minimum 16 GPUs", 16),
        ("现货20台以上", None),
        ("1-8卡", None),
    ],
)
def test_the_least_that_is_rented_is_no_tier_and_nothing_on_hand(words: str, least: int | None) -> None:
    offer = read_one(text(f"H100 8卡 6万/台/月 {words}"))
    assert offer.minimum_count == least
    assert "quantity_tier" not in offer.flags
    assert offer.price_per_accelerator_hour.amount is not None


@pytest.mark.parametrize(("words", "count"), [("现货20台以上", 160), ("8卡 现货", None), ("8卡现货20台", 160)])
def test_the_cards_of_a_machine_before_a_word_for_stock_are_not_on_hand(words: str, count: int | None) -> None:
    offer = read_one(text(f"H100 8卡 {words} 6万/台/月"))
    assert (offer.count, offer.accelerators_per_unit) == (count, 8)


@pytest.mark.parametrize(
    ("line", "prices"),
    [
        ("H800 6.5万/台/月，长租6.0万", [65_000 * MACHINE_MONTH, 60_000 * MACHINE_MONTH]),
        ("H800 月付6.5万，年付5.8万/台/月", [65_000 * MACHINE_MONTH, 58_000 * MACHINE_MONTH]),
    ],
)
def test_a_price_without_a_unit_has_that_of_the_one_beside_it(line: str, prices: list[Fraction]) -> None:
    assert [offer.price_per_accelerator_hour.amount for offer in read(text(line)).offers] == prices


def test_a_sum_that_is_ten_times_another_has_not_its_unit() -> None:
    month, other = read(text("H800 8卡 5万/台/月，50万")).offers
    assert month.price_per_accelerator_hour.amount == 50_000 * MACHINE_MONTH
    assert other.price_per_accelerator_hour.amount != 500_000 * MACHINE_MONTH


@pytest.mark.parametrize(
    ("line", "words"), [("4090 1.9元/卡时 8卡1.7", "8卡1.7"), ("A6000 1300元/卡/月，一起拿9600", "拿9600")]
)
def test_a_number_that_may_be_a_price_is_named(line: str, words: str) -> None:
    quotes = read(text(line))
    assert len(quotes.offers) == 1
    assert [one.reason for one in quotes.unread] == [
        Message("a sum beside the price of an offer: {words}", words=words)
    ]


@pytest.mark.parametrize(
    ("line", "gpus", "count"),
    [
        ("16 x H200 SXM nodes (128 GPUs) @ $19.60/node-hr", 8, 128),
        ("20 nodes of 8x H200 $19.60/node/hr", 8, 160),
        ("8x H200 SXM | 2x Intel 8462Y+ | $19.60/node/hr", 8, None),
        ("2x Intel 8462Y+ 8卡 H200 $19.60/node/hr", 8, None),
        ("H200整机8卡 一台月租8万 有60台", 8, 480),
    ],
)
def test_counts_of_nodes_and_processors_are_not_the_cards_of_a_machine(line: str, gpus: int, count: int | None) -> None:
    offer = read_one(text(line))
    assert (offer.accelerators_per_unit, offer.count) == (gpus, count)


def test_the_machine_in_the_word_for_a_platform_is_none() -> None:
    offer = read_one(text("云平台A：4090 2.18元/h"))
    assert offer.price_per_accelerator_hour.amount == Fraction("2.18")
    assert offer.seller == "云平台A"


@pytest.mark.parametrize("links", ["200G×8 IB", "400G*8 RoCE", "8×400Gb RoCEv2"])
def test_the_rate_of_links_may_stand_before_their_count(links: str) -> None:
    assert read_one(text(f"H800 8卡 5.2万/台/月，{links}，现货2台")).links == links


@pytest.mark.parametrize("mark", ["• ", "- ", ""])
def test_the_lines_of_one_record_are_one_offer(mark: str) -> None:
    lines = ("GPU: NVIDIA H20 96GB × 8", "CPU: 2×Xeon 8480+", "内存: 2TB", "价格: 3.75万元/台/月", "数量: 24台")
    offer = read_one(text("\n".join(f"{mark}{line}" for line in lines)))
    assert offer.price_per_accelerator_hour.amount == 37_500 * MACHINE_MONTH
    assert (offer.count, offer.seller) == (192, "")


@pytest.mark.parametrize(
    "line",
    ["Could you do $2.20/GPU/hr for 64 H100?", "$2.60 is too high for us, H100 at $2?", "H100 5.8万/台/月太贵了"],
)
def test_a_counter_offer_is_no_offer(line: str) -> None:
    quotes = read(text(line))
    assert not quotes.offers
    assert len(quotes.unread) == 1


@pytest.mark.parametrize(
    "lines",
    [
        ("H100 8卡 6万/台/月 2台起租", "现货20台"),
        ("单位：元/台/月", "H100 8卡 2台起租 60000"),
        ("单位：元/台/月", "H100 8卡 2台起租，60000"),
    ],
)
def test_the_least_that_is_rented_stays_where_the_offer_goes_on(lines: tuple[str, ...]) -> None:
    """Stock on the next line, or a unit in a remark, takes nothing off what the offer's own line says."""
    offer = read_one(text("\n".join(lines)))
    assert offer.minimum_count == 16
    assert offer.price_per_accelerator_hour.amount == 60_000 * MACHINE_MONTH

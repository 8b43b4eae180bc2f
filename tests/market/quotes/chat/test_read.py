from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from suanpei.messages import Message
from tests.market.quotes.samples import read, read_one, text


def test_a_chat_line_is_read_whole() -> None:
    offer = read_one(text("H800 8卡整机 7.8万/月 不含税 现货16台 押一付三"))
    assert offer.accelerator == "H800-SXM5-80GB"
    assert offer.price_per_accelerator_hour.amount == Fraction(78_000) / 730 / 8
    assert offer.price_per_accelerator_hour.tax == "out"
    assert (offer.count, offer.accelerators_per_unit) == (128, 8)
    assert (offer.payment.deposit_months, offer.payment.prepaid_months) == (Decimal(1), Decimal(3))
    assert offer.price_as_written == "7.8万/月"
    assert (offer.source.cell, offer.source.row) == ("1", 1)


def test_an_english_line_is_read_whole() -> None:
    offer = read_one(text("H100 SXM 8x node $19.92/hr, min 1 month, 3.2T IB"), "USD")
    assert offer.price_per_accelerator_hour.amount == Fraction("2.49")
    assert offer.term is not None
    assert (offer.term.minimum_hours, offer.links) == (730, "3.2T IB")


@pytest.mark.parametrize(
    ("line", "amounts"),
    [
        ("我们这边A800 6.8一卡时，含税", ["6.8"]),
        ("H800 12元/卡时；A800 6.8元/卡时", ["12", "6.8"]),
        ("H100 2.3 H200 3.1 美元/卡时", [Fraction("2.3") * Fraction("7.2"), Fraction("3.1") * Fraction("7.2")]),
        ("H800/H100 8卡整机 7.3万/月", [Fraction(73_000) / 730 / 8] * 2),
        ("H800 8卡整机 月付7.8万/月 年付7.2万/月", [Fraction(78_000) / 5_840, Fraction(72_000) / 5_840]),
    ],
)
def test_a_line_may_offer_several_things(line: str, amounts: list[str | Fraction]) -> None:
    offers = read(text(line)).offers
    assert [offer.price_per_accelerator_hour.amount for offer in offers] == [Fraction(one) for one in amounts]


def test_ways_of_paying_before_prices_are_theirs() -> None:
    month, year = read(text("H800 8卡整机 月付7.8万/月 年付7.2万/月")).offers
    assert (month.pricing, year.pricing) == ("monthly", "yearly")


def test_who_speaks_sells() -> None:
    quotes = read(
        text(
            """
            张三 2026-11-01 10:22:
            H800 12元/卡时
            【甲云】A800 6.8元/卡时
            乙云：H20 7元/卡时
            [2026/11/20 10:22] 李四: A100 80G 4.5一卡时
            """
        )
    )
    assert [offer.seller for offer in quotes.offers] == ["张三", "甲云", "乙云", "李四"]
    assert [str(offer.quote_date) for offer in quotes.offers] == ["2026-11-01", "None", "None", "2026-11-20"]


def test_what_holds_for_all_is_a_remark() -> None:
    quotes = read(text("【甲云】H200 14元/卡时，A100 80G 4.5元/卡时；都含税6%"))
    assert {
        (offer.price_per_accelerator_hour.tax, str(offer.price_per_accelerator_hour.tax_rate))
        for offer in quotes.offers
    } == {("in", "0.06")}
    assert any("都含税6%" in str(message) for message in quotes.assumptions)


def test_prices_below_a_card_are_its_own() -> None:
    offers = read(text("H20 96G 8卡整机\n月付 5.2万/台\n年付 4.8万/台")).offers
    assert [offer.price_per_accelerator_hour.amount for offer in offers] == [
        Fraction(52_000) / 730 / 8,
        Fraction(48_000) / 730 / 8,
    ]
    assert {offer.accelerator for offer in offers} == {"H20-SXM5-96GB"}


def test_what_is_no_offer_is_listed() -> None:
    quotes = read(text("老板您好最近忙吗\nH800 12元/卡时\n合计：20台"))
    assert [one.cell for one in quotes.unread] == ["1", "3"]


def test_a_count_of_cards_is_no_node() -> None:
    offer = read_one(text("64x H100 SXM, $2.10/GPU/hr, 1-year commit, storage $0.06/GB/month, egress free"), "USD")
    assert (offer.count, offer.accelerators_per_unit) == (64, None)
    assert offer.charges.storage_per_gb_month is not None
    assert offer.term is not None
    assert offer.term.minimum_hours == 8_760


def test_who_asks_for_machines_offers_none() -> None:
    quotes = read(text("求租：4090 100台\nH800 12元/卡时"))
    assert [offer.accelerator for offer in quotes.offers] == ["H800-SXM5-80GB"]
    assert [one.cell for one in quotes.unread] == ["1"]


def test_cards_of_a_node_and_stock_stand_side_by_side() -> None:
    offer = read_one(text("H200 8卡IB组网 现货20台，8.6w/台/月，含13%税，押1付1，签1年"))
    assert (offer.accelerators_per_unit, offer.count) == (8, 160)
    assert "node_size_inferred" not in offer.flags


@pytest.mark.parametrize(
    "line",
    [
        "违约金 20元/卡/时",
        "CPU节点 5元/小时",
        "技术支持 3000元/月",
        "开机费 2000元/台",
        "公网IP 50元/个/月",
        "带宽 80元/Mbps/月",
        "服务费 3000元/月",
        "运维费 100元/台/月",
        "800元/月的专线",
        "3000元运维费",
        "1500元/月/IP",
        "$300/month support",
        "100M带宽 3000元/月",
        "100T存储 5000元/月",
    ],
)
@pytest.mark.parametrize("joint", ["\n", "，"])
def test_the_price_of_another_thing_is_no_offer_of_a_card(line: str, joint: str) -> None:
    quotes = read(text(f"H800 11.5元/卡/时{joint}{line}"))
    assert [offer.price_per_accelerator_hour.amount for offer in quotes.offers] == [Fraction("11.5")]
    assert [one.reason for one in quotes.unread] == [
        Message("the price of another thing than a card: {words}", words=line)
    ]


@pytest.mark.parametrize("fee", ["$500 setup fee", "500美元开通费", "500 USD set-up fee per node"])
def test_a_fee_before_its_name_is_a_charge(fee: str) -> None:
    offer = read_one(text(f"H100 2.1美元/卡时, {fee}"), "USD")
    assert offer.price_per_accelerator_hour.amount == Fraction("2.1")
    assert offer.charges.set_up is not None
    assert offer.charges.set_up.amount == 500


def test_a_sum_per_gigabyte_is_of_the_word_behind_it() -> None:
    offer = read_one(text("H100 $2.1/GPU/hr, $0.05/GB/mo storage, $0.09/GB egress"), "USD")
    assert offer.charges.storage_per_gb_month is not None
    assert offer.charges.egress_per_gb is not None
    assert (offer.charges.storage_per_gb_month.amount, offer.charges.egress_per_gb.amount) == (
        Decimal("0.05"),
        Decimal("0.09"),
    )


@pytest.mark.parametrize(
    "line", ["带宽100M独享 6.8万/台/月", "含电费 6.8万/台/月", "月付 6.8万/台/月", "100M带宽 6.8万/台/月"]
)
def test_a_price_behind_what_it_includes_is_the_cards(line: str) -> None:
    offer = read_one(text(f"H800 8卡整机\n{line}"))
    assert offer.price_per_accelerator_hour.amount == Fraction(68_000) / 730 / 8


def test_a_remark_behind_an_offer_is_its_own() -> None:
    offers = read(
        text("H800 8卡 6.8万/台/月\n不含税\nA800 8卡 4.9万/台/月\n含税6%，起租12个月\nH20 8卡 5万/台/月")
    ).offers
    assert [offer.price_per_accelerator_hour.tax for offer in offers] == ["out", "in", "unknown"]
    assert [offer.term and offer.term.minimum_hours for offer in offers] == [None, 8_760, None]


@pytest.mark.parametrize("words", ["以上含税6%", "均含税6%", "备注：含税6%", "all prices incl. 6% VAT"])
def test_a_remark_that_speaks_of_all_holds_for_all(words: str) -> None:
    offers = read(text(f"H800 8卡 6.8万/台/月\nA800 8卡 4.9万/台/月\n{words}")).offers
    assert [offer.price_per_accelerator_hour.tax for offer in offers] == ["in", "in"]


def test_a_remark_before_the_first_offer_holds_for_all() -> None:
    offers = read(text("含税6%，起租3个月\nH800 8卡 6.8万/台/月\nA800 8卡 4.9万/台/月")).offers
    assert [offer.price_per_accelerator_hour.tax for offer in offers] == ["in", "in"]


@pytest.mark.parametrize(
    "line",
    ["我: H800 6万/台/月能做吗", "租H800，预算6万/月/台", "求租H800 10台 6万/台/月", "乙: 求购H100 8万/台/月"],
)
def test_the_buyers_own_lines_are_no_offers(line: str) -> None:
    quotes = read(text(f"甲云: H800 12元/卡时\n{line}"))
    assert [offer.seller for offer in quotes.offers] == ["甲云"]
    assert [one.cell for one in quotes.unread] == ["2"]


def test_senders_of_one_character_and_in_brackets_sell() -> None:
    quotes = read(
        text(
            "王: A800 6.8元/卡时\n【张三-智算】11-20 09:15\nH800 12元/卡时\n"
            "我 11-20 09:16\nH800 10元/卡时\n李四 11-20 09:17\nH20 7元/卡时"
        )
    )
    assert [offer.seller for offer in quotes.offers] == ["王", "张三-智算", "李四"]


@pytest.mark.parametrize(
    "line", ["H800 8卡整机出售 215万/台", "H800 采购价 215万", "二手A100 80G 8万/张", "H100 for sale $250000"]
)
def test_machines_for_sale_are_no_offers(line: str) -> None:
    (unread,) = (quotes := read(text(line))).unread
    assert not quotes.offers
    assert unread.reason == Message("machines for sale, not for rent: {words}", words=line)


def test_a_rent_beside_the_word_sale_is_a_rent() -> None:
    assert len(read(text("二手A100 80G 4.5元/卡/时\nH800 8卡 出租出售 6.8万/台/月")).offers) == 2


def test_a_chat_is_read_as_its_buyer_reads_it() -> None:
    quotes = read(
        text(
            "张总 2026/11/28 10:21\n"
            "您要的A800机器，我这边 8卡A800 80G nvlink 4.2w一台一个月，含税13个点，最低租一个月，现货6台\n"
            "张总 2026/11/28 10:23\n"
            "要是短租的话 按天也行 1800/台/天\n"
            "H100的没现货，要等12月底，大概7万5左右一台\n"
            "你 2026/11/28 10:25\n"
            "带宽多少？\n"
            "张总 2026/11/28 10:26\n"
            "100M独享，超了50块/M/月"
        ),
        "USD",
    )
    monthly, daily, gone = quotes.offers
    assert monthly.price_per_accelerator_hour.amount == Fraction(42_000) / 730 / 8 / Fraction("7.2")
    assert (monthly.price_as_written, monthly.quoted_currency, monthly.flags) == (
        "4.2w一台一个月",
        "CNY",
        ("cny",),
    )
    assert (monthly.price_per_accelerator_hour.tax, monthly.price_per_accelerator_hour.tax_rate) == (
        "in",
        Decimal("0.13"),
    )
    assert monthly.term is not None
    assert (monthly.count, monthly.term.minimum_hours) == (48, 730)
    assert daily.accelerator == "A800-SXM4-80GB"
    assert daily.price_per_accelerator_hour.amount == Fraction(1800) / 24 / 8 / Fraction("7.2")
    assert (daily.count, daily.term is not None and daily.term.minimum_hours) == (None, 24)
    assert (gone.accelerator, gone.count) == ("H100-SXM5-80GB", 0)
    assert "none_on_hand" in gone.flags
    assert "usd" not in {flag for offer in quotes.offers for flag in offer.flags}
    assert ("2", "您要的A800机器") in {(one.cell, one.reason.values.get("words")) for one in quotes.unread}


@pytest.mark.parametrize(
    "line",
    [
        "A800 80G 8卡 4万一个月一台",
        "A800 80G 8卡 4万一台一个月",
        "A800 80G 8卡 一台一个月4万",
        "A800 80G 8卡 每台每月 4万",
    ],
)
def test_the_one_of_a_unit_is_no_stock(line: str) -> None:
    offer = read_one(text(line))
    assert offer.price_per_accelerator_hour.amount == Fraction(40_000) / 730 / 8
    assert (offer.count, "unit_missing_inferred" in offer.flags) == (None, False)


def test_one_machine_on_hand_stays_on_hand() -> None:
    offer = read_one(text("A800 80G 8卡 现货1台 4万/台/月"))
    assert (offer.count, offer.price_per_accelerator_hour.amount) == (8, Fraction(40_000) / 730 / 8)


def test_a_following_line_says_that_stock_is_gone() -> None:
    first, second = read(text("A800 80G 8卡 4万/台/月 现货4台\nH20 8卡 5万/台/月\n暂无现货，12月底到货")).offers
    assert (first.count, second.count) == (32, 0)


@pytest.mark.parametrize("term", ["起租1个月", "1年起租", "最短租期：3个月"])
def test_a_term_behind_an_offer_does_not_reach_the_next(term: str) -> None:
    offers = read(text(f"## H800\n- 8卡 6.8万/台/月\n- {term}\n## A800\n- 8卡 4.9万/台/月")).offers
    assert [offer.term is None for offer in offers] == [False, True]


@pytest.mark.parametrize("line", ["最短租期：3个月", "押金：1个月", "违约金：20元/卡/时", "带宽：80元/Mbps/月"])
def test_a_word_on_terms_before_a_colon_is_no_seller(line: str) -> None:
    offers = read(text(f"甲云：H800 12元/卡时\n{line}\nA800 6.8元/卡时")).offers
    assert [offer.seller for offer in offers] == ["甲云", "甲云"]

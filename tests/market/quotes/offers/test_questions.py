from __future__ import annotations

from collections import Counter

import pytest

from tests.market.quotes.samples import bundled, offer_of, read, table, text


def problems(row: dict[str, str], currency: str = "CNY") -> list[str]:
    return [question.problem.key for question in read(table([list(row), list(row.values())]), currency).questions]


COMPLETE = {
    "供应商": "甲云",
    "型号": "H800 80G SXM5",
    "配置": "8卡整机",
    "数量": "16台",
    "报价": "78000",
    "单位": "元/台/月",
    "起租期": "3个月",
    "网络": "8×400G IB",
    "税": "不含税(6%)",
    "存储": "云盘0.5元/GB/月，流量免费",
}


def test_a_complete_row_leaves_no_question() -> None:
    assert problems(COMPLETE) == []


@pytest.mark.parametrize(
    ("column", "cell", "problem"),
    [
        ("税", "", "it is not stated whether tax is in the price"),
        ("税", "含税", "the rate of the tax is not stated"),
        ("网络", "", "what joins the machines is not stated"),
        ("数量", "", "the count on hand is not stated"),
        ("数量", "10", "the quantity does not say whether machines or cards are counted"),
        ("数量", "售罄", "nothing is on hand"),
        ("起租期", "", "the shortest term is not stated"),
        ("存储", "", "the prices of storage and traffic are not stated"),
        ("存储", "云盘另计", "disk or traffic is billed beside the price, without its price"),
        ("存储", "云盘0.5元/GB/月", "the price of outbound traffic is not stated"),
        ("存储", "流量免费", "the price of storage is not stated"),
        ("存储", "流量另计，云盘0.5元/GB/月", "the price of outbound traffic is not stated"),
        ("存储", "云盘0.5元/GB/月，流量免费，不含电费", "power is billed beside the price, without its price"),
        ("报价", "面议", "no price is stated"),
        ("报价", "78000起", "{price} is a lowest price"),
        ("单位", "元/月", None),
        ("单位", "元/台/时", "{price} in this unit is far from the price band of the card"),
        ("型号", "H800 40G", "no card of this kind has that memory: {card}"),
        ("型号", "X9000", "the catalogue has no card {card}"),
        ("型号", "昇腾910B", "the name fits several cards: {candidates}"),
    ],
)
def test_one_question_for_what_is_missing_or_suspicious(column: str, cell: str, problem: str | None) -> None:
    asked = problems({**COMPLETE, column: cell})
    assert asked == ([] if problem is None else [problem])


def test_a_bare_number_asks_for_unit_and_currency() -> None:
    assert problems({**COMPLETE, "单位": ""}) == [
        "the unit of {price} is not written out, it was inferred",
        "the currency of {price} is not stated",
    ]


def test_a_question_names_seller_and_cell() -> None:
    (question,) = read(table([list(COMPLETE), list({**COMPLETE, "税": ""}.values())])).questions
    assert (question.seller, question.cell) == ("甲云", "I2")


def test_no_thing_is_asked_twice_of_an_offer() -> None:
    for quotes in (read(bundled("quotes_cn_messy.csv")), read(bundled("quotes_en.csv"), "USD")):
        asked = Counter((one.seller, one.problem) for one in quotes.questions)
        assert max(asked.values()) == 1
        assert {one.seller for one in quotes.questions} <= {offer.seller for offer in quotes.offers}


def test_a_price_per_p_asks_what_p_means() -> None:
    row = {"型号": "H800", "价格": "9.5", "单位": "万元/P/年"}
    assert "a price per P does not say how P is counted" in problems(row)
    assert "P is not counted as dense FP16 of the data sheet" in problems({**row, "备注": "P按稀疏"})


def test_a_modified_card_asks_for_its_warranty() -> None:
    asked = [one.problem.key for one in read(text("4090 48G(改) 8卡整机 12800元/月 无质保")).questions]
    assert "the card is modified or sold without warranty" in asked


@pytest.mark.parametrize(
    ("words", "is_in"),
    [
        ("不含电费", False),
        ("电费另计", False),
        ("电费按实结算", False),
        ("power not included", False),
        ("含电费", True),
        ("power included", True),
        ("含机柜，电费自理", False),
        ("", None),
    ],
)
def test_power_is_in_the_price_or_not_or_unsaid(words: str, is_in: bool | None) -> None:
    assert offer_of({**COMPLETE, "备注": words}).charges.includes_power is is_in

from __future__ import annotations

import pytest

from tests.market.quotes.samples import read_one, text


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        ("竞价实例除外", "spot"),
        ("不支持抢占式", "spot"),
        ("no spot", "spot"),
        ("不含电费", "includes_power"),
        ("not including power", "includes_power"),
        ("免押金", "deposit"),
        ("无押金", "deposit"),
        ("without deposit", "deposit"),
        ("无需预付", "prepay"),
        ("no prepayment", "prepay"),
    ],
)
def test_a_denied_word_raises_no_flag(words: str, flag: str) -> None:
    offer = read_one(text(f"H800 8卡整机 6.8万/台/月，{words}"))
    assert flag not in offer.flags
    assert offer.pricing != flag


@pytest.mark.parametrize("words", ["不支持按小时", "拒绝分时租赁", "按小时不支持"])
def test_a_denied_way_of_paying_is_not_the_offers(words: str) -> None:
    assert read_one(text(f"H800 8卡整机 月付6.8万/台/月，{words}")).pricing == "monthly"
    assert read_one(text(f"H800 8卡整机 6.8万/台/月，{words}")).pricing is None


@pytest.mark.parametrize("words", ["免押金", "无押金", "不收押金", "no deposit"])
def test_no_deposit_is_zero_months(words: str) -> None:
    assert read_one(text(f"H800 8卡整机 6.8万/台/月，{words}")).payment.deposit_months == 0


@pytest.mark.parametrize("words", ["无IB", "非IB，仅以太网", "不含IB"])
def test_what_is_not_joined_by_ib_says_so(words: str) -> None:
    offer = read_one(text(f"H800 8卡整机 6.8万/台/月，{words}"))
    assert "no_ib" in offer.flags
    assert offer.links.split(", ")[0] == words.split("，", maxsplit=1)[0]


@pytest.mark.parametrize(
    ("words", "flag"),
    [("无质保", "no_warranty"), ("不保修", "no_warranty"), ("含电费", "includes_power"), ("押金另付", "deposit")],
)
def test_a_word_with_its_own_negation_stays(words: str, flag: str) -> None:
    assert flag in read_one(text(f"H800 8卡整机 6.8万/台/月，{words}")).flags


def test_a_way_of_paying_before_a_denied_one_stays() -> None:
    offer = read_one(text("H800 8卡整机 6.8万/台 月付不支持按小时"))
    assert offer.pricing == "monthly"

"""Messages that a chat quotes, who answers them, and prices that are asked rather than offered."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from suanpei.messages import Message
from tests.market.quotes.samples import read, text

if TYPE_CHECKING:
    from suanpei.market.quotes.quoted import Quotes

RULE = "- - - - - - - - - -"
MONTH = Fraction(730 * 8)


def told(quotes: Quotes) -> list[tuple[str, Fraction | None]]:
    return [(offer.seller, offer.price_per_accelerator_hour.amount) for offer in quotes.offers]


@pytest.mark.parametrize(
    "line",
    [
        "MI300X 8卡 14万/月??",
        "A100 12.8万/P/年？…？？",
        "H800 8卡 6万/台/月吗",
        "H800 8卡 6万/台/月 真的？",
        "H100 $1.2/GPU/hr?!",
    ],
)
def test_a_price_that_is_asked_is_no_offer(line: str) -> None:
    quotes = read(text(line))
    assert not quotes.offers
    assert [one.reason.key for one in quotes.unread] == ["a price that is asked, not offered: {words}"]


def test_a_question_behind_an_offer_leaves_it_an_offer() -> None:
    assert len(read(text("H800 8卡 6万/台/月，要几台？\nA800 8卡 4万/台/月 需要吗？")).offers) == 2


def test_a_question_on_one_price_leaves_the_others() -> None:
    quotes = read(text("H800 8卡 6万/台/月，A800 8卡 4万/台/月??"))
    assert told(quotes) == [("", Fraction(60_000) / MONTH)]
    assert len(quotes.unread) == 1


@pytest.mark.parametrize(
    "quote", ["「我：A100 80G 什么价」\n" + RULE, "> A100 80G 什么价", "「我：A100 80G 什么价」\n————————"]
)
def test_an_answer_below_the_buyers_words_is_a_sellers(quote: str) -> None:
    quotes = read(text(f"我：A100 80G 什么价\n{quote}\n4.5元/卡时"))
    assert told(quotes) == [("", Fraction("4.5"))]
    assert quotes.offers[0].accelerator == "A100-SXM4-80GB"


def test_an_answer_below_a_name_and_a_quote_is_of_that_name() -> None:
    quotes = read(text(f"张总 10:21\n「我：A100 80G 什么价」\n{RULE}\n4.5元/卡时"))
    assert told(quotes) == [("张总", Fraction("4.5"))]


def test_what_was_said_before_is_not_offered_twice() -> None:
    quotes = read(text(f"甲云：H100 8卡 6.5万/台/月\n「甲云：H100 8卡 6.5万/台/月」\n{RULE}\n收到"))
    assert told(quotes) == [("甲云", Fraction(65_000) / MONTH)]
    assert Message("a message quoted, read where it was said: {words}", words="甲云：H100 8卡 6.5万/台/月") in [
        one.reason for one in quotes.unread
    ]


@pytest.mark.parametrize("answer", ["6.2万/台/月", "H100 8卡 6.2万/台/月"])
def test_nobody_knows_who_answers_an_offer(answer: str) -> None:
    quotes = read(text(f"甲云：H100 8卡 6.5万/台/月\n> H100 8卡 6.5万/台/月\n{answer}"))
    assert told(quotes) == [("甲云", Fraction(65_000) / MONTH)]
    assert [one.cell for one in quotes.unread] == ["2", "3"]


def test_an_offer_that_stands_only_in_a_quote_is_read() -> None:
    quotes = read(text(f"「星辰：4090 8卡 1.3万/台/月\nH20 8卡 5万/台/月」\n{RULE}\n好的收到"))
    assert told(quotes) == [("星辰", Fraction(13_000) / MONTH), ("星辰", Fraction(50_000) / MONTH)]


def test_marks_before_the_lines_of_a_message_quote_nothing() -> None:
    quotes = read(text("甲云：\n> H100 8卡 6.5万/台/月\n> A800 8卡 4.5万/台/月\n不含税"))
    assert {(offer.seller, offer.price_per_accelerator_hour.tax) for offer in quotes.offers} == {("甲云", "out")}


def test_a_name_in_brackets_heads_a_message() -> None:
    quotes = read(text("「甲云」\nH100 8卡 6.5万/台/月"))
    assert told(quotes) == [("甲云", Fraction(65_000) / MONTH)]

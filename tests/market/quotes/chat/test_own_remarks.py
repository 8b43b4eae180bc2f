"""Which offers a line of terms behind them holds for, and whose the offers are."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from suanpei.market.quotes.document import Document, Line, Sheet
from suanpei.messages import Message
from tests.market.quotes.samples import read, text

if TYPE_CHECKING:
    from suanpei.market.quotes.quoted import Quotes


def taxes(quotes: Quotes) -> list[str]:
    return [offer.price_per_accelerator_hour.tax for offer in quotes.offers]


def test_what_speaks_of_the_offers_above_is_of_none_below() -> None:
    quotes = read(text("H800 8卡 6.8万/台/月\n以上含税\nA800 8卡 4.9万/台/月\n以上不含税\nH20 8卡 5万/台/月"))
    assert taxes(quotes) == ["in", "out", "unknown"]


@pytest.mark.parametrize(
    "words",
    [
        "H800 8卡整机 7.8万/台/月\nA800 8卡整机 4.2万/台/月\n不含税，押一付一",
        "【星图云】\nH800 8卡整机 7.8万/台/月\nA800 8卡整机 4.2万/台/月\nH20 8卡 5万/台/月\n不含税，押一付一",
        "H800 8卡整机 7.8万/台/月\nA800 8卡整机 4.2万/台/月\n不含税\n押一付一",
        "王经理 10:22\nH800 8卡整机 7.8万/台/月\nA800 8卡整机 4.2万/台/月\n不含税\n押一付一\n李四 10:23\n好的",
    ],
)
def test_terms_that_close_a_list_hold_for_all_of_it(words: str) -> None:
    quotes = read(text(words))
    assert set(taxes(quotes)) == {"out"}
    assert {(one.payment.deposit_months, one.payment.prepaid_months) for one in quotes.offers} == {
        (Decimal(1), Decimal(1))
    }
    assert any("不含税" in str(message) for message in quotes.assumptions)


@pytest.mark.parametrize(
    "line", ["prices exclude VAT", "Currency: USD. VAT not included.", "excl. VAT, 1 month deposit"]
)
def test_terms_in_english_that_close_a_list_hold_for_all_of_it(line: str) -> None:
    quotes = read(text(f"H100 SXM 2.10 USD/GPU/hr\nH200 SXM 2.90 USD/GPU/hr\n{line}"), "USD")
    assert taxes(quotes) == ["out", "out"]


def test_what_an_offer_says_itself_counts_more_than_the_line_that_closes() -> None:
    quotes = read(
        text("H800 8卡 7.8万/台/月 含税6%\nA800 8卡 4.2万/台/月 押二付一\nH20 8卡 5万/台/月\n不含税，押一付三")
    )
    assert taxes(quotes) == ["in", "out", "out"]
    assert [offer.payment.deposit_months for offer in quotes.offers] == [Decimal(1), Decimal(2), Decimal(1)]


def test_a_line_below_each_offer_is_its_own() -> None:
    quotes = read(text("H800 8卡 6.8万/台/月\n不含税\nA800 8卡 4.9万/台/月\n含税6%"))
    assert taxes(quotes) == ["out", "in"]


def test_a_line_on_another_matter_than_those_before_closes_the_list() -> None:
    quotes = read(text("H800 8卡 6.8万/台/月\n起租12个月\nA800 8卡 4.9万/台/月\n含税6%"))
    assert taxes(quotes) == ["in", "in"]
    assert [offer.term and offer.term.minimum_hours for offer in quotes.offers] == [8_760, None]


def test_an_indented_line_is_of_the_offer_above_it() -> None:
    rows = (("H800 8卡 6.8万/台/月", 0), ("A800 8卡 4.9万/台/月", 0), ("不含税", 2))
    lines = tuple(Line(row=row, cells=(words,), indent=indent) for row, (words, indent) in enumerate(rows, start=1))
    quotes = read(Document(file="chat.txt", sheets=(Sheet(kind="text", name=None, lines=lines),)))
    assert taxes(quotes) == ["unknown", "out"]


def test_a_line_on_the_machine_is_of_the_offer_above_it() -> None:
    offers = read(text("H800 8卡 6.8万/台/月\nA800 8卡 4.9万/台/月\n8×400G IB，不含税")).offers
    assert [offer.links != "" for offer in offers] == [False, True]


def test_terms_of_one_seller_do_not_reach_another() -> None:
    quotes = read(
        text("甲云：H100 8卡 6.5万/台/月\n乙云：H800 8卡 5万/台/月\nA800 8卡 4万/台/月\n不含税\n甲云：\n6.2万/台/月")
    )
    assert [(offer.seller, offer.price_per_accelerator_hour.tax) for offer in quotes.offers] == [
        ("甲云", "unknown"),
        ("乙云", "out"),
        ("乙云", "out"),
        ("甲云", "unknown"),
    ]


def test_lines_taken_as_of_the_seller_named_before_are_said() -> None:
    quotes = read(
        text("星图云：A800 8卡整机 4.2万/台/月\nH100国际站 2.1刀/卡/时\n4090 24G 1.5元/卡时\n乙云：H20 7元/卡时")
    )
    assert [offer.seller for offer in quotes.offers] == ["星图云"] * 3 + ["乙云"]
    said = [one for one in quotes.assumptions if "seller" in one.values]
    assert said == [
        Message(
            "{file} {cells}: no seller is named; taken as of the one named at {cell}: {seller}",
            file="chat.txt",
            cells="2-3",
            cell="1",
            seller="星图云",
        )
    ]


@pytest.mark.parametrize("head", ["【星图云】", "王经理 2026-11-20 10:22", "供应商：星图云"])
def test_a_line_that_heads_a_message_needs_no_word(head: str) -> None:
    quotes = read(text(f"{head}\nA800 8卡整机 4.2万/台/月\nH20 7元/卡时"))
    assert len({offer.seller for offer in quotes.offers}) == 1
    assert not [one for one in quotes.assumptions if "seller" in one.values]


@pytest.mark.parametrize("name", ["周总", "季经理", "天穹智算", "时代云", "年华科技"])
def test_a_name_that_begins_as_a_time_does_is_a_name(name: str) -> None:
    quotes = read(text(f"{name}：H100 8卡 6万/台/月\n{name} 2026-11-20 10:22\nA800 8卡 4万/台/月"))
    assert [offer.seller for offer in quotes.offers] == [name, name]

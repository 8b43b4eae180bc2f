from __future__ import annotations

from fractions import Fraction

import pytest

from suanpei.market.quotes.text.unit import Unit, join_units
from suanpei.market.quotes.text.words import plain
from suanpei.market.terms import PERIOD_HOURS
from suanpei.messages import Message
from tests.market.quotes.samples import CLUES, read, read_one, text


@pytest.mark.parametrize(
    ("written", "billed", "period"),
    [
        ("元/台/月", "node", "month"),
        ("元/卡/时", "card", "hour"),
        ("/卡·时", "card", "hour"),
        ("卡时", "card", "hour"),
        ("元/时/卡", "card", "hour"),
        ("万元/P/年", "pflops", "year"),
        ("元/分钟", None, "minute"),
        ("每卡每小时", "card", "hour"),
        ("整机", "node", None),
        ("/GPU/hr", "card", "hour"),
        ("per GPU per hour, on-demand", "card", "hour"),
        ("node / month, 36-mo term", "node", "month"),
        ("per node, 12 months prepaid", "node", None),
        ("per instance per hour", "instance", "hour"),
        ("pro GPU/Monat zzgl. 19% USt", "card", "month"),
        ("gpu/h, may be reclaimed with 30 s notice", "card", "hour"),
        ("月付", None, None),
        ("12个月", None, None),
        ("reserved 1y", None, None),
        ("", None, None),
    ],
)
def test_a_unit_is_read(written: str, billed: str | None, period: str | None) -> None:
    unit = CLUES.amounts.units.find(plain(written))
    assert (unit.billed, unit.period) == (billed, period)


def test_eight_cards_priced_together_are_a_node() -> None:
    (amount,) = CLUES.amounts.read(plain("50000元/8卡/月"), is_price=True)
    assert (amount.unit.billed, amount.unit.billed_gpus, amount.unit.period) == ("node", 8, "month")


def test_the_hours_of_periods() -> None:
    assert PERIOD_HOURS["month"] * 12 == PERIOD_HOURS["quarter"] * 4 == PERIOD_HOURS["year"] == 8_760
    assert PERIOD_HOURS["minute"] * 60 == PERIOD_HOURS["second"] * 3_600 == Fraction(1)


def test_a_second_unit_fills_only_what_is_open() -> None:
    joined = join_units(Unit(billed="card"), Unit(billed="node", period="month"))
    assert (joined.billed, joined.period) == ("card", "month")


@pytest.mark.parametrize(
    "words",
    ["H100 5.8（万/台/月）", "H100 5.8（万元/台/月）", "H100 6.0→5.8（万/台/月）", "H100 原价6.0，现5.8(万/台/月)"],
)
def test_a_unit_in_brackets_is_of_the_number_before_it(words: str) -> None:
    offer = read_one(text(words))
    assert offer.price_per_accelerator_hour.amount == Fraction(58_000, 8 * 730)
    assert offer.price_as_written.endswith("月)")


def test_the_price_that_another_replaces_is_named() -> None:
    (unread,) = read(text("H100 6.0→5.8（万/台/月）")).unread
    assert unread.reason == Message("a sum beside the price of an offer: {words}", words="6.0")


@pytest.mark.parametrize("words", ["64张H100 每月总价48万", "H100 64卡 每月总价48万"])
def test_a_sum_for_many_cards_makes_no_machine_of_them(words: str) -> None:
    offer = read_one(text(words))
    assert offer.price_per_accelerator_hour.amount == Fraction(480_000, 64 * 730)
    assert "64_gpu_node" not in offer.flags


def test_a_sum_for_four_cards_is_of_a_machine_of_four() -> None:
    assert "4_gpu_node" in read_one(text("A800 2.4万/4卡/月")).flags

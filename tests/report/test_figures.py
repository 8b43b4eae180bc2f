"""How figures are written."""

from __future__ import annotations

from decimal import Decimal

import pytest

from suanpei.money import Money
from suanpei.physics.strategy import Recompute, Sharding, Strategy
from suanpei.report.text.figures import (
    is_one_amount,
    say_duration,
    say_money_span,
    say_probability,
    say_seconds,
    say_seconds_span,
    say_share,
    say_span,
    say_strategy,
)


def money(amount: str, currency: str = "CNY") -> Money:
    return Money(amount=Decimal(amount), currency=currency)


@pytest.mark.parametrize(
    ("seconds", "english", "chinese"),
    [
        (45.0, "45 s", "45 秒"),
        (600.0, "10 min", "10 分钟"),
        (5.25 * 3600, "5.2 h", "5.2 小时"),
        (20 * 86_400.0, "20 days", "20 天"),
        (7.38 * 86_400, "7.4 days", "7.4 天"),
        (123.4 * 86_400, "123 days", "123 天"),
    ],
)
def test_durations_have_the_unit_that_reads_best(seconds: float, english: str, chinese: str) -> None:
    assert say_duration(seconds, "en") == english
    assert say_duration(seconds, "zh") == chinese


def test_an_interval_has_the_unit_of_its_middle() -> None:
    assert say_span(12 * 3600, 6 * 86_400, 3 * 86_400) == "0.5–6"


def test_both_ends_of_an_amount_have_the_digits_of_the_larger() -> None:
    assert say_money_span(money("464.06"), money("3318.4")) == "¥464–3,318"
    assert say_money_span(money("4.8563", "USD"), money("8.0938", "USD")) == "US$4.86–8.09"
    assert say_money_span(money("1", "CHF"), money("2", "CHF")) == "CHF 1.00–2.00"


def test_step_times_below_a_second_are_in_milliseconds() -> None:
    assert (say_seconds(0.0316), say_seconds(16.34), say_seconds(1293.1)) == ("31.6 ms", "16.3 s", "1,293 s")
    assert (say_seconds_span(7.78, 34.2), say_seconds_span(0.1, 0.5)) == ("7.78–34.2 s", "100–500 ms")


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0%"), (0.056, "5.6%"), (0.7, "70%"), (0.997, ">99%"), (1.0, "100%"), (1.81, "181%")]
)
def test_shares(share: float, text: str) -> None:
    assert say_share(share) == text


def test_no_probability_is_called_certain() -> None:
    assert [say_probability(value) for value in (1.0, 0.985, 0.9, 0.001)] == [">99%", "98%", "90%", "<1%"]


def test_a_strategy_in_short_leaves_out_what_is_one() -> None:
    strategy = Strategy(
        tp=2, sp=True, pp=4, dp=8, sharding=Sharding.ZERO1, recompute=Recompute.FULL, micro_batch=1, grad_accum=16
    )
    assert say_strategy(strategy) == "tp2 pp4 dp8 zero1 full mb1"
    assert say_strategy(Strategy()) == "dp1 mb1"


@pytest.mark.parametrize(
    ("low", "high", "is_one"),
    [("46136.01", "46136.04", True), ("46136.01", "46136.60", False), ("461.36", "461.37", False)],
)
def test_an_interval_that_is_written_with_one_amount_is_none(low: str, high: str, *, is_one: bool) -> None:
    assert is_one_amount(money(low), money(high)) is is_one

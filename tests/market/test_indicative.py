"""Indicative prices: bands over real rows, recomputed by the standard library, and the fall-back order."""

from __future__ import annotations

import statistics
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.market.indicative import IndicativePrice, PriceTerms, quote_indicative, state_price
from suanpei.market.terms import Tax, Term, read_tax
from suanpei.money import ExchangeRates, Money
from tests.market.price_samples import AS_OF, MONTHLY, RATES, bundled_table, cny, price_row, terms, usd

if TYPE_CHECKING:
    from suanpei.market.offer import PriceRow
    from suanpei.market.price_rows import PriceTable

TABLE = bundled_table()


def _table(*rows: PriceRow) -> PriceTable:
    return {"X": rows}


def _band(price: IndicativePrice) -> tuple[float, float, float]:
    return float(price.low.amount), float(price.median.amount), float(price.high.amount)


def _one(prices: tuple[IndicativePrice, ...]) -> IndicativePrice:
    assert len(prices) == 1
    return prices[0]


def test_quartiles_of_the_4090_on_platforms() -> None:
    # Rows of 2026, medium, by the hour, latest day of each seller, picked by eye from offers_cn.csv:
    # AutoDL 2026-10-01: 1.98 to 2.19; gitee-ai 2026-08-19: 1.99; gongjiyun 2026-10-01: 1.98; suanjiayun 2026: 1.24.
    lows, middles, highs = [1.98, 1.99, 1.98, 1.24], [2.085, 1.99, 1.98, 1.24], [2.19, 1.99, 1.98, 1.24]
    price = quote_indicative(TABLE, "RTX-4090", nodes=1, terms=terms())[0]
    low, median, high = _band(price)
    assert low == pytest.approx(statistics.quantiles(lows, n=4, method="inclusive")[0], abs=5e-5)
    assert median == pytest.approx(statistics.median(middles), abs=5e-5)
    assert high == pytest.approx(statistics.quantiles(highs, n=4, method="inclusive")[2], abs=5e-5)
    assert (price.tier, price.readings, len(price.rows), price.oldest) == ("platform", 4, 5, date(2026, 1, 1))
    assert price.low.currency == "CNY"
    assert price.substitutes == ()
    assert not any("more quotes" in str(question) for question in price.questions)


def test_quartiles_of_the_b200_in_dollars() -> None:
    # One number per seller on its latest day, except Dataoorts (3.99 and 4.84, middle 4.415), from offers.csv.
    lows = [3.99, 6.99, 6.25, 7.15, 3.75, 5.63, 6.79, 4.40, 4.89]
    middles = [4.415, *lows[1:]]
    highs = [4.84, *lows[1:]]
    price = _one(quote_indicative(TABLE, "B200-SXM-180GB", nodes=1, terms=terms("USD")))
    low, median, high = _band(price)
    assert low == pytest.approx(statistics.quantiles(lows, n=4, method="inclusive")[0], abs=5e-5)
    assert median == pytest.approx(statistics.median(middles), abs=5e-5)
    assert high == pytest.approx(statistics.quantiles(highs, n=4, method="inclusive")[2], abs=5e-5)
    assert price.readings == 9


def test_few_readings_give_their_range_and_at_least_a_quarter() -> None:
    # H100 whole servers: SMM 12.84 to 13.70 (middle 13.27) and omniyq 12.84; median 13.055, a quarter of it 3.26375.
    price = _one(quote_indicative(TABLE, "H100-SXM5-80GB", nodes=4, terms=terms()))
    assert _band(price) == pytest.approx((9.79125, 13.055, 16.31875), abs=5e-5)
    assert (price.tier, price.readings, price.is_month_billed, price.whole_nodes) == ("server", 2, True, True)
    assert any("one-year signing" in str(question) for question in price.questions)
    assert any("H100-SXM5-80GB: 2; the band is their range" in str(question) for question in price.questions)
    # A wider range than a quarter stays: RTX 3090 at 0.76 (gpushare) and 1.50 (gitee-ai).
    wide = quote_indicative(TABLE, "RTX-3090", nodes=1, terms=terms())[0]
    assert _band(wide) == pytest.approx((0.76, 1.13, 1.50), abs=5e-5)


def test_a_low_confidence_row_does_not_displace_an_older_better_one() -> None:
    # SMM has a row of low confidence of 2026-08-08 at 10.96 and rows of medium confidence of 2026-07-15.
    price = _one(quote_indicative(TABLE, "H100-SXM5-80GB", nodes=2, terms=terms()))
    assert Decimal("10.96") not in {row.price.amount for row in price.rows}


def test_several_nodes_take_servers_and_one_node_gets_both() -> None:
    several = _one(quote_indicative(TABLE, "A100-SXM4-80GB", nodes=2, terms=terms()))
    assert several.tier == "server"
    # 5.39 to 6.51 (SMM) and 4.28 (omniyq): median of 5.95 and 4.28.
    assert several.median == cny("5.1150")
    single = quote_indicative(TABLE, "A100-SXM4-80GB", nodes=1, terms=terms())
    assert [(price.tier, price.is_month_billed) for price in single] == [("platform", False), ("server", True)]
    assert single[0].median == cny("7.0000")


def test_card_months_stand_beside_hours_and_are_not_pooled() -> None:
    prices = quote_indicative(TABLE, "RTX-4090", nodes=1, terms=terms())
    assert [(price.tier, price.is_month_billed) for price in prices] == [
        ("platform", False),
        ("server", True),
        ("platform", True),
    ]
    assert prices[2].median == cny("1.4400")  # AutoDL, 1,052 a month / 730


def test_long_commitments_never_price_a_plan() -> None:
    reserved = price_row("1.0", term=Term(billing_hours=730.0, minimum_hours=8760.0))
    assert quote_indicative(_table(reserved), "X", nodes=1, terms=terms()) == ()


def test_a_card_without_rows_has_no_price() -> None:
    assert quote_indicative(TABLE, "MI250X", nodes=1, terms=terms()) == ()
    assert quote_indicative({}, "no such card", nodes=8, terms=terms("USD")) == ()


def _step(price: Money, **values: Any) -> PriceRow:
    return replace(price_row("1.0", **values), price=price)


FALL_BACK = [
    (_step(cny("1"), tier="server", term=MONTHLY), "server", 0),
    (_step(cny("2"), tier="platform"), "platform", 1),
    (_step(cny("3"), tier="big_cloud"), "big_cloud", 1),
    (_step(cny("4"), tier="server", term=MONTHLY, confidence="low"), "server", 1),
    (_step(cny("5"), tier="platform", confidence="low"), "platform", 2),
    (_step(cny("6"), tier="server", term=MONTHLY, date=date(2024, 1, 1)), "server", 1),
    (_step(cny("7"), tier="big_cloud", date=None), "big_cloud", 2),
    (_step(usd("8"), tier="platform", market="world"), "platform", 2),
    (_step(usd("9"), tier="big_cloud", market="world", date=date(2024, 1, 1)), "big_cloud", 3),
]


@pytest.mark.parametrize("first", range(len(FALL_BACK)))
def test_the_fall_back_order_for_several_nodes(first: int) -> None:
    rows = [row for row, _, _ in FALL_BACK[first:]]
    price = _one(quote_indicative(_table(*reversed(rows)), "X", nodes=2, terms=terms()))
    row, tier, marks = FALL_BACK[first]
    assert price.rows == (row,)
    assert price.tier == tier
    assert len(price.substitutes) == marks
    assert all("ask" in str(note) for note in price.substitutes)


def test_an_older_reading_is_a_year_old_or_more() -> None:
    year = timedelta(days=365)
    young = price_row("2.0", date=AS_OF - year + timedelta(days=1))
    old = price_row("1.0", date=AS_OF - year, provider="other")
    assert _one(quote_indicative(_table(old, young), "X", nodes=1, terms=terms())).rows == (young,)
    stale = _one(quote_indicative(_table(old), "X", nodes=1, terms=terms()))
    assert any("over a year old" in str(note) for note in stale.substitutes)
    assert stale.oldest == AS_OF - year
    undated = _one(quote_indicative(_table(price_row("1.0", date=None)), "X", nodes=1, terms=terms()))
    assert undated.oldest is None


def test_all_of_low_confidence_is_a_marked_substitute() -> None:
    rows = (price_row("2.0", confidence="low"), price_row("3.0", confidence="low", provider="other"))
    price = _one(quote_indicative(_table(*rows), "X", nodes=1, terms=terms()))
    assert price.readings == 2
    assert ["low confidence" in str(note) for note in price.substitutes] == [True]


def test_one_row_alone_gives_a_quarter_each_way() -> None:
    price = _one(quote_indicative(_table(price_row("4.0")), "X", nodes=1, terms=terms()))
    assert (price.low, price.median, price.high) == (cny("3.0000"), cny("4.0000"), cny("5.0000"))


def test_only_the_latest_day_of_a_seller_counts() -> None:
    rows = (price_row("9.0", date=date(2026, 1, 1)), price_row("2.0"), price_row("4.0"))
    price = _one(quote_indicative(_table(*rows), "X", nodes=1, terms=terms()))
    assert (price.readings, len(price.rows), price.median) == (1, 2, cny("3.0000"))


def test_spot_and_marketplace_only_when_asked() -> None:
    rows = (price_row("4.0"), price_row("1.0", tier="spot"), price_row("0.5", tier="marketplace"))
    assert [price.tier for price in quote_indicative(_table(*rows), "X", nodes=1, terms=terms())] == ["platform"]
    asked = quote_indicative(_table(*rows), "X", nodes=1, terms=terms(extra_tiers=frozenset({"spot"})))
    assert [price.tier for price in asked] == ["platform", "spot"]
    assert any("taken back" in str(question) for question in asked[1].questions)


def test_the_other_currency_is_converted_and_marked() -> None:
    price = _one(quote_indicative(TABLE, "MI300X", nodes=1, terms=terms()))
    assert price.median == cny("14.3280")  # 1.99 USD at 7.2
    assert ["1 USD = 7.2 CNY" in str(note) for note in price.substitutes] == [True]
    euro = _one(quote_indicative(TABLE, "MI300X", nodes=1, terms=terms("EUR")))
    assert float(euro.median.amount) == pytest.approx(1.99 * 7.2 / 7.8, abs=5e-5)
    assert any("7.8" in str(note) for note in euro.substitutes)


def test_a_server_of_the_other_currency_stands_beside_its_hourly_price() -> None:
    prices = quote_indicative(TABLE, "H800-SXM5-80GB", nodes=1, terms=terms("USD"))
    assert [price.tier for price in prices] == ["platform", "server"]
    assert float(prices[1].median.amount) == pytest.approx(11.82 / 7.2, abs=5e-5)


def test_without_a_rate_the_error_says_how_to_give_one() -> None:
    bare = PriceTerms(currency="CNY", rates=ExchangeRates(), as_of=AS_OF)
    with pytest.raises(InputError, match="--rate USD="):
        quote_indicative(TABLE, "MI300X", nodes=1, terms=bare)


def test_a_region_narrows_and_one_without_rows_is_marked() -> None:
    rows = (price_row("4.0", region="Beijing"), price_row("2.0", region="Shenzhen", provider="other"))
    beijing = _one(quote_indicative(_table(*rows), "X", nodes=1, terms=terms(region="北京")))
    assert (beijing.median, beijing.substitutes) == (cny("4.0000"), ())
    nowhere = _one(quote_indicative(_table(*rows), "X", nodes=1, terms=terms(region="Chengdu")))
    assert nowhere.readings == 2
    assert ["Chengdu" in str(note) for note in nowhere.substitutes] == [True]


def test_dedicated_machines_are_paid_by_the_whole_node() -> None:
    shared = _one(quote_indicative(_table(price_row("4.0")), "X", nodes=1, terms=terms()))
    alone = _one(quote_indicative(_table(price_row("4.0")), "X", nodes=1, terms=terms(dedicated=True)))
    assert (shared.unit_price.billed_gpus(3, 8), alone.unit_price.billed_gpus(3, 8)) == (3, 8)
    assert any("yours alone" in str(question) for question in alone.questions)


def test_tax_is_open_for_servers_and_read_as_retail_on_platforms() -> None:
    platform, server = quote_indicative(TABLE, "A100-SXM4-80GB", nodes=1, terms=terms())
    assert (platform.is_tax_open, server.is_tax_open) == (False, True)
    assert any("invoice" in str(question) for question in platform.questions)
    said = price_row("9", tier="server", term=MONTHLY, tax=read_tax("included"))
    assert not _one(quote_indicative(_table(said), "X", nodes=2, terms=terms())).is_tax_open


def test_a_stated_price_has_no_width() -> None:
    price = state_price("A800-SXM4-80GB", cny("6.5"))
    assert price.low == price.median == price.high == cny("6.5")
    assert (price.tier, price.readings, price.is_month_billed) == ("stated", 0, False)


amounts = st.decimals(min_value="0.01", max_value="500", places=2)
row_lists = st.lists(
    st.builds(
        lambda amount, seller, days, confidence: price_row(
            str(amount), provider=f"s{seller}", date=AS_OF - timedelta(days=days), confidence=confidence
        ),
        amounts,
        st.integers(0, 6),
        st.integers(0, 800),
        st.sampled_from(["high", "medium", "low"]),
    ),
    min_size=1,
    max_size=12,
)


@given(rows=row_lists, nodes=st.integers(1, 3))
def test_a_band_holds_its_median_and_lies_among_the_rows_or_a_quarter_around(rows: list[PriceRow], nodes: int) -> None:
    price = _one(quote_indicative(_table(*rows), "X", nodes=nodes, terms=terms()))
    assert price.low <= price.median <= price.high
    used = [row.price.amount for row in price.rows]
    slack = Decimal("0.0001")
    assert min(used) - slack <= price.median.amount <= max(used) + slack
    assert price.readings == len({row.provider for row in price.rows})
    if price.readings < 4:
        assert price.low.amount <= price.median.amount * Decimal("0.75") + slack
        assert price.low.amount <= min(used) + slack
        assert price.high.amount >= max(used) - slack
    else:
        assert min(used) - slack <= price.low.amount
        assert price.high.amount <= max(used) + slack


@given(rows=row_lists)
def test_the_order_of_the_rows_does_not_matter(rows: list[PriceRow]) -> None:
    forward = _one(quote_indicative(_table(*rows), "X", nodes=1, terms=terms()))
    backward = _one(quote_indicative(_table(*reversed(rows)), "X", nodes=1, terms=terms()))
    assert (forward.low, forward.median, forward.high) == (backward.low, backward.median, backward.high)


@given(amount=amounts)
def test_a_conversion_there_and_back_returns_the_price(amount: Decimal) -> None:
    there = RATES.convert(cny(str(amount)), "USD")
    back = RATES.convert(there, "CNY")
    assert float(back.amount) == pytest.approx(float(amount), rel=1e-12)


@pytest.mark.parametrize(
    ("wordings", "state", "rate"),
    [
        (("含税6%", "含税6%", "含税6%"), "in", "0.06"),
        (("含税6%", "含税13%", "含税6%"), "in", None),
        (("不含税6%", "不含税6%", "不含税6%"), "out", "0.06"),
        (("不含税6%", "不含税", "不含税6%"), "out", None),
        (("不含税6%", "含税6%", "含税6%"), "unknown", None),
        (("含税", "含税", ""), "in", None),  # an unstated card by the hour is read as retail
    ],
)
def test_rows_that_agree_give_the_tax_of_their_band(wordings: tuple[str, ...], state: str, rate: str | None) -> None:
    rows = {"X": tuple(price_row("6.5", provider=f"S{i}", tax=read_tax(said)) for i, said in enumerate(wordings))}
    (price, *_) = quote_indicative(rows, "X", nodes=1, terms=terms())
    assert price.tax == Tax(state=state, rate_fraction=None if rate is None else Decimal(rate))  # type: ignore[arg-type]


def test_a_price_of_the_users_own_has_tax_in_it() -> None:
    assert state_price("X", cny("6.5")).tax == Tax(state="in")

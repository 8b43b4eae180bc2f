"""Bills by hand arithmetic, their laws, and the ranking that must agree with them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.market.cost import (
    Cost,
    RunHours,
    find_tie_price,
    make_bills,
    price_package,
    price_run,
)
from suanpei.market.indicative import IndicativePrice, quote_indicative, state_price
from suanpei.market.offer import UnitPrice
from suanpei.market.terms import Term, read_tax
from suanpei.planner.billing import count_paid_hours
from suanpei.planner.options import ClusterOption
from suanpei.units import HOUR_S
from tests.market.price_samples import HOURLY, MONTHLY, bundled_table, cny, price_row, terms
from tests.planner.samples import cluster


def _price(low: str, median: str, high: str, term: Term = HOURLY, *, whole_nodes: bool = False) -> UnitPrice:
    return UnitPrice(low=cny(low), median=cny(median), high=cny(high), term=term, whole_nodes=whole_nodes)


def _hours(likely: float, low: float | None = None, high: float | None = None) -> RunHours:
    return RunHours(
        likely_hours=likely, low_hours=likely if low is None else low, high_hours=likely if high is None else high
    )


def _amounts_add_up(cost: Cost) -> bool:
    lines = [part for top in cost.parts for part in top.parts]
    tops, details = (sum(part.amount.amount for part in parts) for parts in (cost.parts, lines))
    return tops == cost.total.amount == details


def test_hours_are_paid_by_the_started_hour() -> None:
    # 8 cards x 11 h x 7.00 = 616; low 8 x 10 x 5.25 = 420; high 8 x 13 x 8.75 = 910.
    cost = price_run(_price("5.25", "7.00", "8.75"), gpus=8, gpus_per_node=8, hours=_hours(10.2, 10.0, 12.5))
    assert (cost.total, cost.low, cost.high) == (cny("616.00"), cny("420.00"), cny("910.00"))
    assert (cost.paid_hours, cost.paid_gpus, cost.currency) == (11.0, 8, "CNY")
    work, beyond = cost.parts[0].parts
    assert (work.quantity, beyond.quantity) == (Decimal("81.6"), Decimal("6.4"))
    assert (work.amount, beyond.amount) == (cny("571.20"), cny("44.80"))


@pytest.mark.parametrize(("hours", "months"), [(1.0, 1), (729.9, 1), (730.0, 1), (730.1, 2), (1460.0, 2), (1460.5, 3)])
def test_servers_are_paid_by_the_started_month(hours: float, months: int) -> None:
    # Two nodes of 8 A100 at 5.115: a month is 16 x 730 x 5.115 = 59,743.20.
    cost = price_run(
        _price("3.8363", "5.115", "6.51", MONTHLY, whole_nodes=True), gpus=16, gpus_per_node=8, hours=_hours(hours)
    )
    assert cost.total == cny("59743.20") * months
    assert cost.paid_hours == 730.0 * months
    assert _amounts_add_up(cost)


def test_a_whole_node_is_paid_for_one_card() -> None:
    # 8 cards x 730 h x 13.00 = 75,920 for one card used 100 h: 100 h of work, 630 h beyond, 7 idle cards.
    cost = price_run(_price("13", "13", "13", MONTHLY, whole_nodes=True), gpus=1, gpus_per_node=8, hours=_hours(100.0))
    assert cost.total == cny("75920.00")
    assert [part.quantity for part in cost.parts[0].parts] == [Decimal(100), Decimal(630), Decimal(5110)]
    assert [part.amount for part in cost.parts[0].parts] == [cny("1300.00"), cny("8190.00"), cny("66430.00")]


def test_a_minimum_term_is_paid_in_full() -> None:
    quarter = Term(billing_hours=730.0, minimum_hours=2190.0)
    cost = price_run(_price("1", "1", "1", quarter), gpus=8, gpus_per_node=8, hours=_hours(50.0))
    assert cost.total == cny("17520.00")  # 8 x 2,190


def test_thirty_day_months_are_720_hours() -> None:
    pack = Term(billing_hours=720.0, minimum_hours=720.0)
    paid = [count_paid_hours(hours, pack.billing_hours) for hours in (1.0, 720.0, 721.0)]
    assert paid == [720.0, 720.0, 1440.0]
    assert pack.is_month_billed
    assert not Term(billing_hours=168.0).is_month_billed


def test_both_bills_of_one_node_cheapest_first() -> None:
    prices = quote_indicative(bundled_table(), "A100-SXM4-80GB", nodes=1, terms=terms())
    # 8 cards: by the hour 8 x 7.00 = 56 an hour; whole server 8 x 730 x 5.115 = 29,871.60 a month: even at 533.4 h.
    short = make_bills(prices, gpus=8, gpus_per_node=8, hours=_hours(100.0))
    assert [(bill.price.tier, bill.cost.total) for bill in short] == [
        ("platform", cny("5600.00")),
        ("server", cny("29871.60")),
    ]
    long = make_bills(prices, gpus=8, gpus_per_node=8, hours=_hours(600.0))
    assert [(bill.price.tier, bill.cost.total) for bill in long] == [
        ("server", cny("29871.60")),
        ("platform", cny("33600.00")),
    ]


def _missing(price: IndicativePrice, gpus: int) -> list[str]:
    (bill,) = make_bills([price], gpus=gpus, gpus_per_node=8, hours=_hours(10.0))
    return [str(part.name) for part in bill.cost.missing]


def test_unknown_parts_are_listed_and_not_zero() -> None:
    platform, server = quote_indicative(bundled_table(), "A100-SXM4-80GB", nodes=1, terms=terms())
    by_hour, by_month = _missing(platform, 8), _missing(server, 32)
    for word in ("storage", "transfer in", "transfer out", "labour"):
        assert any(word in line for line in by_hour)
        assert any(word in line for line in by_month)
    assert not any("VAT" in line for line in by_hour)
    assert any("VAT" in line for line in by_month)
    assert any("power" in line for line in by_month)
    assert any("deposit" in line for line in by_month)
    assert not any("network" in line for line in by_hour)
    assert any("network" in line for line in _missing(platform, 16))


def test_the_package_is_a_month_of_one_whole_node() -> None:
    cost = price_package(_price("9", "12", "15", MONTHLY, whole_nodes=True), gpus_per_node=8)
    assert (cost.total, cost.low, cost.high) == (
        cny("70080.00"),
        cny("52560.00"),
        cny("87600.00"),
    )  # 8 x 730 x 12, 9, 15


def test_the_tie_price_ties() -> None:
    tie = find_tie_price(cny("10000"), gpus=16, hours=240.0)
    assert tie == cny("2.6041")  # 10,000 / 3,840 = 2.60416…, rounded down
    own = state_price("X", tie)
    cost = price_run(own.unit_price, gpus=16, gpus_per_node=8, hours=_hours(240.0))
    assert cny("9999") <= cost.total <= cny("10000")


def test_errors_name_the_field() -> None:
    with pytest.raises(InputError, match="gpus must be at least 1, got 0"):
        price_run(_price("1", "1", "1"), gpus=0, gpus_per_node=8, hours=_hours(1.0))
    with pytest.raises(InputError, match="gpus_per_node must be at least 1"):
        price_run(_price("1", "1", "1"), gpus=8, gpus_per_node=0, hours=_hours(1.0))
    with pytest.raises(InputError, match="hours must rise"):
        _hours(1.0, 2.0, 3.0)
    with pytest.raises(InputError, match="hours must rise"):
        _hours(1.0, 1.0, float("inf"))
    with pytest.raises(InputError, match="hours must be above 0"):
        find_tie_price(cny("1"), gpus=1, hours=0.0)


def test_no_use_no_pay() -> None:
    assert count_paid_hours(0.0, 730.0, 730.0) == 0.0
    cost = price_run(_price("1", "1", "1", MONTHLY), gpus=8, gpus_per_node=8, hours=_hours(0.0))
    assert cost.total == cny("0.00")


prices = st.decimals(min_value="0.01", max_value="99", places=4)
terms_of_payment = st.sampled_from(
    [HOURLY, MONTHLY, Term(billing_hours=24.0), Term(billing_hours=730.0, minimum_hours=2190.0)]
)


@given(
    hours=st.lists(st.floats(0.1, 5e4), min_size=3, max_size=3).map(sorted),
    gpus=st.integers(1, 64),
    band=st.lists(prices, min_size=3, max_size=3).map(sorted),
    term=terms_of_payment,
    whole_nodes=st.booleans(),
)
def test_a_bill_holds_its_laws(
    hours: list[float],
    gpus: int,
    band: list[Decimal],
    term: Term,
    whole_nodes: bool,
) -> None:
    price = _price(str(band[0]), str(band[1]), str(band[2]), term, whole_nodes=whole_nodes)
    cost = price_run(price, gpus=gpus, gpus_per_node=8, hours=_hours(hours[1], hours[0], hours[2]))
    assert cost.low <= cost.total <= cost.high
    assert _amounts_add_up(cost)
    assert all(part.amount.amount >= 0 for part in cost.parts[0].parts)
    assert cost.paid_hours >= hours[1] - 1e-6
    longer = price_run(price, gpus=gpus, gpus_per_node=8, hours=_hours(hours[2]))
    assert longer.total >= cost.total
    more = price_run(price, gpus=gpus + 8, gpus_per_node=8, hours=_hours(hours[1]))
    assert more.total > cost.total


@given(
    hours=st.one_of(st.floats(0.1, 5e4), st.integers(1, 60).map(lambda months: months * 730.0)),
    gpus=st.integers(1, 64),
    median=prices,
    term=terms_of_payment,
)
def test_the_search_ranks_by_the_bill(hours: float, gpus: int, median: Decimal, term: Term) -> None:
    price = _price(str(median), str(median), str(median), term)
    bill = price_run(price, gpus=gpus, gpus_per_node=8, hours=_hours(hours))
    option = ClusterOption(
        cluster=cluster(),
        price_per_gpu_hour=float(median),
        counts=(gpus,),
        billing_hours=term.billing_hours,
        minimum_hours=term.minimum_hours,
    )
    ranked = float(median) * gpus * option.billed_hours(hours * HOUR_S)
    assert ranked == pytest.approx(float(bill.total.amount), abs=0.006, rel=1e-9)


@pytest.mark.parametrize(("tax", "said"), [("不含税", True), ("excluded", True), ("含税 6%", False), ("", False)])
def test_tax_that_a_price_leaves_out_is_named(tax: str, said: bool) -> None:
    rows = {"X": tuple(price_row("6.5", provider=f"Seller {index}", tax=read_tax(tax)) for index in range(3))}
    (price, *_) = quote_indicative(rows, "X", nodes=1, terms=terms())
    assert any("VAT on top" in name for name in _missing(price, 8)) == said

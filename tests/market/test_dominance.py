"""Dominance: what is dropped is never the better offer, and what differs in kind is never dropped."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.market.cost import RunHours, price_run
from suanpei.market.cost.tax import tax_factors
from suanpei.market.dominance import Standing, find_undominated
from suanpei.market.offer import Offer
from suanpei.market.terms import Charges, Payment, Tax, Term
from suanpei.units import MONTH_HOURS
from tests.market.price_samples import cny

if TYPE_CHECKING:
    from suanpei.money import Money

NODE = 8
USUAL = (1, 2, 4, 8, 16, 24, 32)
PERIODS_HOURS = (1.0, 24.0, 168.0, 720.0, MONTH_HOURS)
HELD_HOURS = (0.3, 25.0, 200.0, 725.0, 744.0, 1500.0)
TAX_RATES = (Decimal("0.06"), Decimal("0.13"))


def make_offer(price: str = "6.5", **changes: Any) -> Offer:
    """An offer by the card and hour, changed where `changes` say so."""
    fields: dict[str, Any] = {
        "provider": "甲云",
        "accelerator_name": "A800-SXM4-80GB",
        "tier": "platform",
        "price": cny(price),
        "count": 32,
        "term": Term(billing_hours=1.0),
        "unit_gpus": 1,
        "region": "",
        "links": "",
        "date": None,
        "source": "made for the test",
        "note": "",
    }
    return Offer(**(fields | changes))


def standing(offer: Offer, odd_count: int = 0) -> Standing:
    """The offer with the usual numbers that it has on hand, its price with tax at the worst."""
    usual = sum(1 for count in USUAL if count <= offer.count)
    best, worst = map(float, tax_factors(offer.tax, TAX_RATES))
    least = float((offer.price_low or offer.price).amount) * best
    return Standing(offer, float(offer.price.amount) * worst, least, worst, usual, odd_count)


def by_name(offer: Offer) -> tuple[str]:
    return (offer.provider,)


def keep(*offers: Offer) -> list[int]:
    return find_undominated([standing(offer) for offer in offers], by_name)


def counts_of(one: Standing) -> set[int]:
    return {*USUAL[: one.usual_counts], *([one.odd_count] if one.odd_count else [])}


def price(offer: Offer, gpus: int, hours: float) -> tuple[Decimal, Decimal]:
    """Bill a run exactly, with tax at the worst and at the best."""
    held = RunHours(likely_hours=hours, low_hours=hours, high_hours=hours)
    cost = price_run(offer.unit_price, gpus=gpus, gpus_per_node=NODE, hours=held)
    least, most = tax_factors(offer.tax, TAX_RATES)
    return cost.total.amount * most, cost.low.amount * least


@st.composite
def rivals(draw: st.DrawFn) -> Standing:
    amount = draw(st.integers(1, 6))
    has_range = draw(st.booleans())
    offer = make_offer(
        str(amount),
        provider=draw(st.sampled_from("ABC")),
        price_low=cny(str(amount - Decimal("0.5"))) if has_range else None,
        price_high=cny(str(amount + draw(st.integers(0, 2)))) if has_range else None,
        tier=draw(st.sampled_from(["platform", "spot"])),
        count=draw(st.sampled_from([4, 8, 16, 32])),
        term=Term(
            billing_hours=draw(st.sampled_from(PERIODS_HOURS)),
            minimum_hours=draw(st.sampled_from([0.0, 24.0, 730.0])),
        ),
        unit_gpus=draw(st.sampled_from([1, 8, 16])),
        tax=Tax(state=draw(st.sampled_from(["in", "out"]))),
        charges=Charges(set_up=draw(st.sampled_from([None, cny("0"), cny("100")]))),
    )
    return standing(offer, draw(st.sampled_from([0, 0, 12])))


@settings(max_examples=100, deadline=None)
@given(st.lists(rivals(), min_size=1, max_size=12))
def test_what_is_dropped_is_never_the_better(group: list[Standing]) -> None:
    """For every dropped offer one kept offer is no dearer on every number and length, and of the same kind."""
    kept = find_undominated(group, by_name)
    assert kept
    for position, dropped in enumerate(group):
        if position in kept:
            continue
        assert any(is_no_worse(group[other], dropped) for other in kept)


def is_no_worse(kept: Standing, dropped: Standing) -> bool:
    """Compare bill by bill, the charges that no bill holds aside by themselves."""
    one, other = kept.offer, dropped.offer
    set_up, its_set_up = one.charges.set_up, other.charges.set_up
    return (
        one.tier == other.tier
        and (set_up is None) == (its_set_up is None)
        and (set_up is None or its_set_up is None or with_tax(one, set_up) <= with_tax(other, its_set_up))
        and counts_of(kept) >= counts_of(dropped)
        and all(
            mine <= its
            for gpus in counts_of(dropped)
            for hours in HELD_HOURS
            for mine, its in zip(price(one, gpus, hours), price(other, gpus, hours), strict=True)
        )
    )


def with_tax(offer: Offer, amount: Money) -> Decimal:
    return amount.amount * tax_factors(offer.tax, TAX_RATES)[1]


@settings(max_examples=100, deadline=None)
@given(st.lists(rivals(), min_size=1, max_size=12), st.randoms())
def test_the_order_of_the_offers_changes_nothing(group: list[Standing], random: Any) -> None:
    shuffled = list(group)
    random.shuffle(shuffled)

    def kept_of(some: list[Standing]) -> list[tuple[float, str]]:
        return [(some[position].price, some[position].offer.provider) for position in find_undominated(some, by_name)]

    assert kept_of(group) == kept_of(shuffled)


def test_a_dearer_offer_of_no_more_cards_is_dropped() -> None:
    assert keep(make_offer("7"), make_offer("6.5")) == [1]
    assert keep(make_offer("7", count=64), make_offer("6.5", count=8)) == [1, 0]


def test_a_day_does_not_compare_with_a_month() -> None:
    daily, monthly = (make_offer(term=Term(billing_hours=hours)) for hours in (24.0, MONTH_HOURS))
    # a run of 725 h: 31 days are 744 h, one month is 730 h
    assert price(daily, 8, 725.0) > price(monthly, 8, 725.0)
    assert keep(daily, monthly) == [0, 1]
    # an hour divides both
    assert keep(daily, monthly, make_offer("6.4")) == [2]


def test_a_shorter_minimum_is_no_worse() -> None:
    long, short = (make_offer(term=Term(billing_hours=MONTH_HOURS, minimum_hours=hours)) for hours in (8760.0, 730.0))
    assert keep(long, short) == [1]
    assert keep(replace(long, price=cny("5")), short) == [0, 1]


def test_cards_compare_with_whole_nodes_and_nodes_with_pairs_of_them() -> None:
    card, node, pair, twelve = (make_offer(unit_gpus=unit) for unit in (1, 8, 16, 12))
    assert keep(pair, node, card) == [2]
    assert keep(pair, node) == [1]
    # 8 cards are paid as 8 or as 12, 12 cards as 16 or as 12
    assert keep(node, twelve) == [0, 1]


@pytest.mark.parametrize(
    "change",
    [
        {"tier": "spot"},
        {"charges": Charges(egress_per_gb=cny("0.5"))},
        {"charges": Charges(bills_outages=False)},
        {"payment": Payment(deposit_months=Decimal(1))},
    ],
    ids=["tier", "a charge stated", "outages", "a deposit stated"],
)
def test_what_differs_in_kind_does_not_compare(change: dict[str, Any]) -> None:
    cheap, dear = make_offer("6"), make_offer("7", **change)
    assert keep(cheap, dear) == [0, 1]
    assert keep(replace(cheap, **change), dear) == [0]


def test_charges_that_both_state_are_compared() -> None:
    low, high = (make_offer(charges=Charges(egress_per_gb=cny(amount))) for amount in ("0.2", "0.5"))
    assert keep(high, low) == [1]
    assert keep(replace(high, price=cny("6")), low) == [0, 1]


def test_prices_compare_with_tax_at_its_worst_and_at_its_best() -> None:
    """6.5 at a stated 6 % is 6.89 with tax; 6.7 whose tax is unsaid is 6.7 to 7.571; 7 with tax is 7."""
    stated = make_offer("6.5", tax=Tax(state="out", rate_fraction=Decimal("0.06")))
    unsaid, taxed = make_offer("6.7"), make_offer("7", tax=Tax(state="in"))
    assert keep(taxed, stated) == [1]
    assert keep(unsaid, stated, taxed) == [1, 0]
    assert keep(replace(unsaid, price=cny("6.9")), stated) == [1]
    assert keep(replace(unsaid, price=cny("6.0")), stated) == [0]


def test_a_range_counts_at_both_ends() -> None:
    plain = make_offer("6.5")
    wide = make_offer("8", price_low=cny("6"), price_high=cny("8"))
    assert keep(plain, wide) == [0, 1]
    assert keep(make_offer("6"), wide) == [0]


def test_of_equals_the_preferred_is_kept() -> None:
    assert keep(make_offer(provider="乙云"), make_offer(provider="丙云"), make_offer(provider="丁云")) == [2]


def test_an_unusual_number_is_served_by_itself_alone() -> None:
    usual, odd, wide = standing(make_offer("6")), standing(make_offer("7"), 12), standing(make_offer("6.5"), 12)
    assert find_undominated([usual, odd], by_name) == [0, 1]
    assert find_undominated([usual, odd, wide], by_name) == [0, 2]

"""Phases that are one run each: all cards of a phase come from one seller."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.errors import NoAnswerError
from suanpei.market.mix.capacity import Capacity, build_capacity
from suanpei.market.mix.demand import MONTH_S, Demand, join_steps
from suanpei.market.mix.optimise import hold_peak
from suanpei.verbs.mix_phases import find_split_phases
from tests.market.mix.samples import MONTH_HOURS, cost_of, find, make_offer, months_of

PRICES = st.integers(1, 30)


def offer(provider: str, price: int, count: int, months: int) -> Capacity:
    """A card by the month, for some months at least, or by the hour."""
    hours = MONTH_HOURS if months else 1.0
    return build_capacity(
        make_offer(price, count=count, billing_hours=hours, minimum_hours=months * MONTH_HOURS, provider=provider),
        "quoted",
    )[0]


def phases_of(*gpus: int) -> Demand:
    """A phase a month, each a run of its own."""
    steps = join_steps([(MONTH_S, count, f"phase {index}") for index, count in enumerate(gpus)])
    return Demand(steps=steps, needs_one_seller=True)


def serve_alone(demand: list[int], offers: list[Capacity]) -> float:
    """The cheapest way to serve months from one seller; months of 0 ask for nothing."""
    if not any(demand):
        return 0.0
    return cost_of(find(months_of(*demand), offers)) if max(demand) <= sum(item.gpus for item in offers) else 1e18


@settings(max_examples=25, deadline=None)
@given(
    demand=st.lists(st.integers(0, 4), min_size=1, max_size=3).filter(any),
    offers=st.lists(
        st.tuples(st.sampled_from("abc"), PRICES, st.integers(1, 4), st.sampled_from([0, 0, 1, 2])),
        min_size=1,
        max_size=5,
    ),
)  # fmt: skip
def test_the_optimum_is_the_cheapest_choice_of_a_seller_for_each_phase(
    demand: list[int], offers: list[tuple[str, int, int, int]]
) -> None:
    """Each seller serves its own phases as a demand of its own, zero in the others: try every choice."""
    made = [offer(*values) for values in [*offers, ("d", 31, 4, 0)]]
    sellers = sorted({item.offer.provider for item in made})
    best = min(
        sum(
            serve_alone(
                [needed if choice[month] == seller else 0 for month, needed in enumerate(demand)],
                [item for item in made if item.offer.provider == seller],
            )
            for seller in sellers
        )
        for choice in product(sellers, repeat=len(demand))
    )

    optimum = find(phases_of(*demand), made)

    assert cost_of(optimum) == pytest.approx(best, abs=0.02)
    assert optimum.answer.status == "optimal"
    assert find_split_phases(optimum.schedule, phases_of(*demand)) == ()
    assert cost_of(optimum) >= cost_of(find(months_of(*demand), made)) - 0.02


def test_a_pool_is_split_where_a_run_is_not() -> None:
    """Three cards for a month: two at 1 and one at 2 are 4 · 730, of one seller three at 2 are 6 · 730."""
    offers = [offer("a", 1, 2, 0), offer("b", 2, 3, 0)]
    pool = replace(phases_of(3), needs_one_seller=False)

    split = find_split_phases(find(pool, offers).schedule, pool)

    assert split is not None
    assert [(share.provider, share.gpus) for share in split[0].sellers] == [("a", 2), ("b", 1)]
    assert cost_of(find(pool, offers)) == 4 * 730
    assert cost_of(find(phases_of(3), offers)) == 6 * 730


def test_offers_of_one_seller_serve_a_phase_together() -> None:
    """Two cards by the month at 1, the third of the same seller by the hour at 3."""
    assert cost_of(find(phases_of(3), [offer("a", 1, 2, 1), offer("a", 3, 9, 0), offer("b", 9, 9, 0)])) == 5 * 730


def test_a_cheaper_seller_never_drops_the_only_one_that_holds_a_phase_alone() -> None:
    """Two sellers hold 8 together at 1; the phase of 8 stands with the third at 5."""
    offers = [offer("a", 1, 4, 0), offer("b", 1, 4, 0), offer("c", 5, 8, 0)]

    assert cost_of(find(phases_of(8), offers)) == 8 * 5 * 730


def test_a_phase_that_no_seller_holds_alone_is_no_answer() -> None:
    with pytest.raises(NoAnswerError, match="no seller holds the 3 cards of one phase alone: a holds most, 2"):
        find(phases_of(3), [offer("a", 1, 2, 0), offer("b", 1, 1, 0)])


def test_the_peak_is_held_phase_by_phase() -> None:
    assert [step.gpus for step in hold_peak(phases_of(1, 3, 0)).steps] == [3, 3, 3]
    assert hold_peak(phases_of(1, 3)).needs_one_seller

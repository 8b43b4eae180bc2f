from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.errors import NoAnswerError
from suanpei.market.mix import optimise
from suanpei.market.mix.capacity import build_capacity
from suanpei.market.mix.closed_form import reserve_by_level
from suanpei.market.mix.demand import MONTH_S, Demand, join_steps
from suanpei.market.mix.program import solve
from suanpei.market.mix.start_up import Interruptions
from tests.market.mix.samples import MONTH_HOURS, cost_of, find, hourly, hours_of, make_offer, monthly, months_of

if TYPE_CHECKING:
    from suanpei.market.mix.capacity import Capacity
    from suanpei.market.mix.linear import Limits
    from suanpei.market.mix.solution import Problem, Solution

EXAMPLES = settings(max_examples=40, deadline=None)

KINDS = ("month", "quarter", "hour", "spot", "node")
gpus = st.lists(st.integers(0, 3), min_size=2, max_size=3).filter(any)
prices = st.integers(1, 40).map(lambda tenths: tenths / 10)


def enumerate_contracts(capacity: Capacity, months: int) -> list[tuple[float, list[int]]]:
    """Every way to sign contracts of an offer at starts of months: cost, and units held by month."""
    least = round(capacity.term_s / 3_600 / MONTH_HOURS)
    spans = [(start, length) for start in range(months) for length in range(least, max(least, months - start) + 1)]
    found: dict[tuple[int, ...], float] = {}
    for counts in product(range(capacity.units + 1), repeat=len(spans)):
        held = [
            sum(count for count, (start, length) in zip(counts, spans, strict=True) if start <= month < start + length)
            for month in range(months)
        ]
        if max(held) > capacity.units:
            continue
        paid_months = sum(count * length for count, (_, length) in zip(counts, spans, strict=True))
        cost = paid_months * MONTH_HOURS * float(capacity.price.amount)
        key = tuple(held)
        found[key] = min(found.get(key, cost), cost)
    return [(cost, list(held)) for held, cost in found.items()]


def enumerate_mix(demand: list[int], contracts: list[Capacity], elastic: Capacity, start_up_hours: float) -> float:
    """The cheapest mix by trying all: contracts by month, the rest elastic, each started unit paid its start-up."""
    best = float("inf")
    for choice in product(*(enumerate_contracts(capacity, len(demand)) for capacity in contracts)):
        held = [sum(item[1][month] for item in choice) for month in range(len(demand))]
        rest = [max(needed - kept, 0) for needed, kept in zip(demand, held, strict=True)]
        if max(rest) > elastic.units:
            continue
        starts = sum(max(after - before, 0) for before, after in zip([0, *rest], rest, strict=False))
        hours = MONTH_HOURS * sum(rest) + start_up_hours * starts
        best = min(best, sum(item[0] for item in choice) + hours * float(elastic.price.amount))
    return best


@EXAMPLES
@given(demand=gpus, reserved=prices, longer=prices, on_demand=prices, start_up_hours=st.sampled_from([0, 2]))
def test_the_optimum_is_that_of_trying_every_mix(
    demand: list[int], reserved: float, longer: float, on_demand: float, start_up_hours: int
) -> None:
    contracts = [monthly(reserved, count=2), monthly(longer, count=1, months=2)]
    elastic = hourly(on_demand, count=3)

    optimum = find(months_of(*demand), [*contracts, elastic], start_up_hours=start_up_hours)

    assert cost_of(optimum) == pytest.approx(
        enumerate_mix(demand, contracts, elastic, start_up_hours), abs=0.02, rel=1e-9
    )
    assert optimum.answer.status == "optimal"


@EXAMPLES
@given(demand=st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any), single=prices, node=prices)
def test_units_of_different_size_cover_each_step_at_the_least_cost(
    demand: list[int], single: float, node: float
) -> None:
    expected = sum(
        min(
            singles * single + nodes * 4 * node
            for singles in range(7)
            for nodes in range(4)
            if singles + 4 * nodes >= needed
        )
        for needed in demand
    )

    optimum = find(hours_of(*demand), [hourly(single, count=6), hourly(node, count=12, unit_gpus=4)])

    assert cost_of(optimum) == pytest.approx(expected, abs=0.02)


@EXAMPLES
@given(demand=st.lists(st.integers(0, 6), min_size=2, max_size=30).filter(any), ratio=st.integers(11, 40))
def test_one_reserved_and_one_elastic_price_give_the_closed_form(demand: list[int], ratio: int) -> None:
    """The contract lasts exactly as long as the demand."""
    parts = [(round(MONTH_HOURS * 3_600 / len(demand) / 3_600) * 3_600, needed, "") for needed in demand]
    parts[-1] = (round(MONTH_HOURS * 3_600) - sum(part[0] for part in parts[:-1]), demand[-1], "")
    curve = Demand(steps=join_steps(parts))
    form = reserve_by_level(curve.busy_hours(), ratio / 10, MONTH_HOURS)

    optimum = find(curve, [monthly(10), hourly(ratio)])

    assert cost_of(optimum) == pytest.approx(10 * form.cost, abs=0.02)
    reserved = sum(contract.gpus for contract in optimum.schedule.contracts)
    assert form.reserve_level <= reserved <= form.highest_level


@EXAMPLES
@given(
    demand=st.lists(st.integers(0, 5), min_size=3, max_size=8).filter(any),
    kinds=st.lists(st.tuples(st.sampled_from(KINDS), prices), min_size=1, max_size=4),
    start_up_hours=st.sampled_from([0.0, 0.4]),
)  # fmt: skip
def test_another_offer_never_raises_the_cost_and_a_dearer_one_never_lowers_it(
    demand: list[int], kinds: list[tuple[str, float]], start_up_hours: float
) -> None:
    def build(factor: float) -> list[Capacity]:
        made = {
            "month": lambda price: monthly(price, count=3),
            "quarter": lambda price: monthly(price, count=3, months=3),
            "hour": lambda price: hourly(price, count=3),
            "spot": lambda price: hourly(price, count=3, tier="spot"),
            "node": lambda price: hourly(price, count=8, unit_gpus=4),
        }
        return [made[kind](price * (factor if index == 0 else 1.0)) for index, (kind, price) in enumerate(kinds)]

    base, curve, interruptions = hourly(3, count=5), months_of(*demand), Interruptions(rate_per_hour=0.01)

    def cost(capacities: list[Capacity]) -> float:
        return cost_of(find(curve, capacities, start_up_hours=start_up_hours, interruptions=interruptions))

    more = cost([base, *build(1.0)])

    assert more <= cost([base]) + 0.02
    assert cost([base, *build(1.5)]) >= more - 0.02


@EXAMPLES
@given(
    demand=st.lists(st.integers(0, 12), min_size=3, max_size=40).filter(any),
    start_up_hours=st.sampled_from([0.0, 0.4, 3.0]),
    rate=st.sampled_from([0.0, 0.05]),
    seed=st.integers(0, 5),
)
def test_the_bill_is_the_objective_and_never_below_the_bound_and_the_demand_is_covered(
    demand: list[int], start_up_hours: float, rate: float, seed: int
) -> None:
    curve = Demand(steps=join_steps([((5 + 7 * (index + seed) % 60) * 3_600, n, "") for index, n in enumerate(demand)]))
    capacities = [
        monthly(3 + seed, count=4),
        monthly(2.5, count=8, months=2, unit_gpus=4),
        hourly(9, count=12),
        hourly(8, count=2),
        hourly(4, count=4, tier="spot"),
    ]

    optimum = find(
        curve,
        capacities,
        start_up_hours=start_up_hours,
        interruptions=Interruptions(rate_per_hour=rate, checkpoint_hours=2.0),
    )

    rounding = 0.005 * len(optimum.schedule.parts) + 1e-9 * cost_of(optimum) + 1e-6
    assert cost_of(optimum) == pytest.approx(optimum.answer.objective, abs=rounding)
    assert cost_of(optimum) >= optimum.answer.bound - rounding
    covered = [0] * (curve.horizon_s // 3_600)
    for contract in optimum.schedule.contracts:
        for hour in range(contract.start_s // 3_600, min(contract.end_s // 3_600, len(covered))):
            covered[hour] += contract.gpus
    for usage in optimum.schedule.usages:
        for lease, units in usage.leases:
            for hour in range(lease.start_s // 3_600, lease.end_s // 3_600):
                covered[hour] += units * usage.capacity.unit_gpus
    for step in curve.steps:
        assert min(covered[step.start_s // 3_600 : step.end_s // 3_600]) >= step.gpus


def test_daily_leases_go_on_over_the_moments_at_which_contracts_could_be_signed() -> None:
    """60 days of one card at 1 by the day are 1,440; the moment to sign at 730 h lies inside a day of the lease."""
    sixty_days = Demand(steps=join_steps([(60 * 86_400, 1, "")]))
    daily = build_capacity(make_offer(1, billing_hours=24.0, minimum_hours=24.0), "quoted")[0]

    optimum = find(sixty_days, [monthly(5), daily])

    assert cost_of(optimum) == 60 * 24
    assert optimum.schedule.usages[0].starts == 1
    assert optimum.answer.status == "optimal"


@EXAMPLES
@given(
    demand=st.lists(st.tuples(st.integers(1, 90), st.integers(0, 9)), min_size=1, max_size=6).filter(
        lambda steps: any(gpus for _, gpus in steps)
    ),
    least_hours=st.sampled_from([0.0, 3.0, 24.0]),
    billing_hours=st.sampled_from([1.0, 24.0]),
    start_up_hours=st.sampled_from([0.0, 0.3]),
    step_hours=st.sampled_from([1, 24]),
    is_run=st.booleans(),
)
def test_no_mix_is_dearer_than_one_without_contracts_and_none_is_below_its_bound(
    demand: list[tuple[int, int]],
    least_hours: float,
    billing_hours: float,
    start_up_hours: float,
    step_hours: int,
    is_run: bool,
) -> None:
    steps = join_steps([(length * step_hours * 3_600, gpus, f"{index}") for index, (length, gpus) in enumerate(demand)])
    curve = Demand(steps=steps, needs_one_seller=is_run)
    elastic = build_capacity(make_offer(2, billing_hours=billing_hours, minimum_hours=least_hours), "quoted")[0]

    alone = find(curve, [elastic], start_up_hours=start_up_hours)
    mixed = find(
        curve, [elastic, monthly(1, count=4), monthly(3, count=16, unit_gpus=8)], start_up_hours=start_up_hours
    )

    assert cost_of(mixed) <= cost_of(alone) + 0.02
    assert cost_of(mixed) >= mixed.answer.bound - 0.02
    assert cost_of(alone) >= mixed.answer.bound - 0.02
    assert cost_of(mixed) == pytest.approx(mixed.answer.objective, abs=0.02)


def test_one_run_shorter_than_the_break_even_is_rented_by_the_hour() -> None:
    """12 days at 25 by the hour is 7,200 per card, a month at 10 is 7,300."""
    twelve_days = Demand(steps=join_steps([(12 * 86_400, 1, "")]))

    optimum = find(twelve_days, [monthly(10), hourly(25)])

    assert cost_of(optimum) == 7_200
    assert not optimum.schedule.contracts


def test_contracts_are_staggered_with_demand_rather_than_held_at_one_level() -> None:
    """Two months of one card, two of three: 1 card for 4 months, 2 more from the third month on."""
    optimum = find(months_of(1, 1, 3, 3), [monthly(1)])

    assert cost_of(optimum) == 730 * 8
    signed = [(item.start_s // MONTH_S, item.end_s // MONTH_S, item.units) for item in optimum.schedule.contracts]
    assert sorted(signed) == [(0, 4, 1), (2, 4, 2)]


def test_a_term_beyond_the_demand_is_paid_whole() -> None:
    optimum = find(months_of(1), [monthly(1, months=3)])

    assert cost_of(optimum) == 3 * 730


def test_a_machine_stays_on_over_a_short_gap_and_stops_over_a_long_one() -> None:
    """A start costs 2 h: one idle hour is cheaper, five are not; 2 + 3 h, then 2 + 1 h."""
    optimum = find(hours_of(1, 0, 1, 0, 0, 0, 0, 0, 1), [hourly(1)], start_up_hours=2)

    assert cost_of(optimum) == (2 + 3) + (2 + 1)
    assert optimum.schedule.usages[0].starts == 2


def test_a_lease_that_goes_on_over_the_end_of_a_month_is_started_once() -> None:
    optimum = find(months_of(1, 2, 1), [monthly(30), hourly(1)], start_up_hours=2)

    assert cost_of(optimum) == (3 * 730 + 2) + (730 + 2)


def test_spot_is_paid_for_its_expected_hours_and_left_where_it_never_finishes() -> None:
    """Saved every hour at 0.1 interruptions an hour, each useful hour takes (e^0.1 - 1)/0.1 = 1.0517 h."""
    day = Demand(steps=join_steps([(24 * 3_600, 1, "")]))
    capacities = [hourly(10), hourly(5, tier="spot")]

    saved = find(day, capacities, interruptions=Interruptions(rate_per_hour=0.1, checkpoint_hours=1))
    never_saved = find(day, capacities, interruptions=Interruptions(rate_per_hour=0.5))

    assert cost_of(saved) == pytest.approx(5 * 24 * 1.0517, rel=1e-4)
    assert cost_of(never_saved) == 10 * 24


def test_a_mix_that_does_not_cover_the_demand_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of two units is lost between the solver and the schedule."""

    def lose(problem: Problem, limits: Limits) -> Solution:
        found = solve(problem, limits)
        return replace(found, signed=tuple(replace(item, units=item.units - 1) for item in found.signed))

    monkeypatch.setattr(optimise, "solve", lose)

    with pytest.raises(NoAnswerError, match="falls 1 cards short"):
        find(months_of(2), [monthly(1)])


def test_too_few_cards_are_named() -> None:
    with pytest.raises(NoAnswerError, match="peaks at 9 cards and the offers hold 8 together: 1 more"):
        find(months_of(9), [hourly(1, count=5), hourly(1, count=3)])


def test_spot_alone_that_never_finishes_is_no_answer() -> None:
    with pytest.raises(NoAnswerError, match="interrupted too often"):
        find(months_of(1), [hourly(1, tier="spot")], interruptions=Interruptions(rate_per_hour=1.0))

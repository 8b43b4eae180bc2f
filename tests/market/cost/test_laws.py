"""Laws that every bill keeps, whatever the terms."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from suanpei.market.cost import Conditions, RunHours, RunNeeds
from suanpei.market.offer import UnitPrice
from suanpei.market.side_costs import count_side_costs
from suanpei.market.terms import Charges, Term
from suanpei.planner.options import ClusterOption
from suanpei.units import HOUR_S
from tests.market.cost.samples import (
    all_charges,
    all_conditions,
    all_needs,
    amounts,
    hours_held,
    price,
    run_hours,
    unit_prices,
)
from tests.market.price_samples import cny
from tests.planner.samples import cluster

gpu_counts = st.integers(1, 64)


@given(unit=unit_prices, hours=hours_held, gpus=gpu_counts, needs=all_needs, conditions=all_conditions)
def test_parts_sum_to_the_total_within_its_interval(
    unit: UnitPrice, hours: RunHours, gpus: int, needs: RunNeeds, conditions: Conditions
) -> None:
    cost = price(unit, hours, gpus=gpus, needs=needs, conditions=conditions)
    assert sum(part.amount.amount for part in cost.parts) == cost.total.amount
    rent = cost.parts[0]
    assert sum(line.amount.amount for line in rent.parts) == rent.amount.amount
    assert all(line.amount.amount >= 0 for line in rent.parts)
    assert sum(line.quantity for line in rent.parts) == rent.quantity
    assert cost.low <= cost.total <= cost.high
    for part in (*cost.parts, *rent.parts):
        assert part.low <= part.amount <= part.high
        # running sums round a line by at most a cent
        assert abs(part.quantity * part.price.amount - part.amount.amount) <= Decimal("0.011")
    # not all parts are least in one course, so their ends enclose those of the whole
    for whole, parts in ((cost, cost.parts), (rent, rent.parts)):
        assert sum(part.low.amount for part in parts) <= whole.low.amount
        assert sum(part.high.amount for part in parts) >= whole.high.amount


@given(
    unit=unit_prices,
    hours=hours_held,
    gpus=gpu_counts,
    conditions=all_conditions,
    rates=st.sampled_from([(), (Decimal("0.06"),), (Decimal("0.06"), Decimal("0.13"))]),
)
def test_what_ranks_is_never_below_what_is_paid(
    unit: UnitPrice, hours: RunHours, gpus: int, conditions: Conditions, rates: tuple[Decimal, ...]
) -> None:
    cost = price(unit, hours, gpus=gpus, conditions=replace(conditions, tax_rates=rates))
    tax = conditions.tax
    assert cost.low_tax_in <= cost.least_total_tax_in <= cost.ranked_total <= cost.high_tax_in
    assert cost.least_total_tax_in >= cost.total
    if cost.total_tax_in is not None:
        assert cost.least_total_tax_in == cost.ranked_total == cost.total_tax_in
    elif tax.state == "unknown":
        # in the price already, or on top at the stated rate, else at any on record
        added = [tax.rate_fraction] if tax.rate_fraction is not None else list(rates)
        paid = [cost.total, *((cost.total * (1 + rate)).rounded() for rate in added)]
        assert (cost.least_total_tax_in, cost.ranked_total) == (paid[0], paid[-1])


@given(unit=unit_prices, hours=hours_held, gpus=gpu_counts, needs=all_needs, conditions=all_conditions)
def test_payments_sum_to_the_total_and_deposits_to_nothing(
    unit: UnitPrice, hours: RunHours, gpus: int, needs: RunNeeds, conditions: Conditions
) -> None:
    cost = price(unit, hours, gpus=gpus, needs=needs, conditions=conditions)
    assert sum(item.amount.amount for item in cost.cash_flow) == cost.total.amount
    assert sum(item.amount.amount for item in cost.cash_flow if "deposit" in str(item.what)) == 0
    assert [item.day for item in cost.cash_flow] == sorted(item.day for item in cost.cash_flow)
    assert cost.peak_cash_out >= cost.total


@given(
    unit=unit_prices,
    hours=hours_held,
    gpus=gpu_counts,
    needs=all_needs,
    conditions=all_conditions,
    rises=st.lists(st.decimals(min_value=0, max_value=5, places=4), min_size=6, max_size=6),
)
def test_a_dearer_offer_is_never_cheaper(
    unit: UnitPrice, hours: RunHours, gpus: int, needs: RunNeeds, conditions: Conditions, rises: list[Decimal]
) -> None:
    rise, *others = (cny(str(amount)) for amount in rises)
    dearer = replace(unit, low=unit.low + rise, median=unit.median + rise, high=unit.high + rise)
    names = ("storage_per_gb_month", "ingress_per_gb", "egress_per_gb", "set_up", "fabric_per_gpu_hour")
    charges = conditions.charges
    raised = {
        name: getattr(charges, name) + more
        for name, more in zip(names, others, strict=True)
        if getattr(charges, name) is not None
    }
    changed = replace(conditions, charges=replace(charges, **raised))
    before = price(unit, hours, gpus=gpus, needs=needs, conditions=conditions)
    after = price(dearer, hours, gpus=gpus, needs=needs, conditions=changed)
    assert after.total >= before.total
    assert after.low >= before.low
    assert after.high >= before.high


@given(
    unit=unit_prices,
    hours=st.lists(st.floats(0.1, 2e4), min_size=2, max_size=2).map(sorted),
    gpus=gpu_counts,
    needs=all_needs,
    conditions=all_conditions,
)
def test_more_hours_never_cost_less(
    unit: UnitPrice, hours: list[float], gpus: int, needs: RunNeeds, conditions: Conditions
) -> None:
    shorter, longer = (
        price(unit, run_hours(held), gpus=gpus, needs=needs, conditions=conditions).total for held in hours
    )
    assert longer >= shorter


@given(
    chain=st.sampled_from([(1 / 3600, 1 / 60, 1.0, 24.0, 168.0), (1 / 60, 1.0, 730.0), (1 / 3600, 1.0, 730.0, 8760.0)]),
    hours=st.one_of(st.floats(0.1, 2e4), st.integers(1, 40).map(lambda months: months * 730.0 + 2e-7)),
    minimum_hours=st.sampled_from([0.0, 24.0, 730.0]),
    gpus=gpu_counts,
    amount=amounts,
)
def test_a_finer_period_that_divides_another_never_costs_more(
    chain: tuple[float, ...], hours: float, minimum_hours: float, gpus: int, amount: Decimal
) -> None:
    money = cny(str(amount))
    totals = [
        price(
            UnitPrice(
                low=money,
                median=money,
                high=money,
                term=Term(billing_hours=period, minimum_hours=minimum_hours),
                whole_nodes=False,
            ),
            run_hours(hours),
            gpus=gpus,
        ).total.amount
        for period in chain
    ]
    assert totals == sorted(totals)


@given(amount=amounts, rate=st.sampled_from(["0.06", "0.13", "0.19", "0"]), state=st.sampled_from(["in", "out"]))
def test_the_two_sides_of_tax_differ_by_the_rate_exactly(amount: Decimal, rate: str, state: str) -> None:
    from suanpei.market.terms import Tax

    with_tax, without = Tax(state=state, rate_fraction=Decimal(rate)).split(Fraction(amount))  # type: ignore[arg-type]
    assert with_tax is not None
    assert without is not None
    assert with_tax == without * (1 + Fraction(rate))
    assert amount in (with_tax, without)


@given(unit=unit_prices, hours=st.floats(0.1, 2e4), gpus=gpu_counts, needs=all_needs, charges=all_charges)
def test_the_search_ranks_by_the_bill(
    unit: UnitPrice, hours: float, gpus: int, needs: RunNeeds, charges: Charges
) -> None:
    bill = price(unit, run_hours(hours), gpus=gpus, needs=needs, conditions=Conditions(charges=charges))
    option = _option(unit, needs, charges)
    paid = unit.billed_gpus(gpus, 8)
    ranked = option.cost_of(hours * HOUR_S, paid, needs.checkpoint_bytes)
    assert ranked is not None
    credit = option.credit_of(min(needs.recovery_hours, bill.paid_hours) * HOUR_S, paid)
    # the network is billed by the nodes rented, which is what `paid` counts
    assert abs(ranked - credit - float(bill.total.amount)) <= 0.04 + 1e-9 * float(bill.total.amount)


@given(
    unit=unit_prices,
    gpus=gpu_counts,
    needs=all_needs,
    charges=all_charges,
    budget=st.floats(1, 1e7),
)
def test_what_a_budget_affords_is_the_longest_run_within_it(
    unit: UnitPrice, gpus: int, needs: RunNeeds, charges: Charges, budget: float
) -> None:
    option = _option(unit, needs, charges)
    paid, size = unit.billed_gpus(gpus, 8), needs.checkpoint_bytes
    affordable_s = option.affordable_s(budget, paid, size)
    bound_s = option.affordable_s(budget, paid)
    assert affordable_s <= bound_s * (1 + 1e-9) + 1e-3
    if affordable_s > 0.01:
        within = option.cost_of(affordable_s - 0.004, paid, size)
        assert within is not None
        assert within <= budget * (1 + 1e-6)
    beyond = option.cost_of(affordable_s * (1 + 1e-6) + 3600.0 * max(1e-4, unit.term.billing_hours * 1e-3), paid, size)
    assert beyond is not None
    assert beyond >= budget * (1 - 1e-6)


def _option(unit: UnitPrice, needs: RunNeeds, charges: Charges) -> ClusterOption:
    return ClusterOption(
        cluster=cluster(),
        price_per_gpu_hour=float(unit.median.amount),
        counts=(8,),
        billing_hours=unit.term.billing_hours,
        minimum_hours=unit.term.minimum_hours,
        sold_by_node=unit.whole_nodes,
        side_costs=count_side_costs(charges, needs.sizes),
    )

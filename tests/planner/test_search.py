"""The search: equal to brute force, within its limits, and clear about what fell out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.physics.evaluate import Estimates, evaluate, explain
from suanpei.physics.step_uncertainty import spread_step_time
from suanpei.physics.strategy import Strategies
from suanpei.physics.uncertainty import Fit
from suanpei.planner.enumerate import enumerate_strategies
from suanpei.planner.options import ClusterOption, Constraints
from suanpei.planner.search import SearchResult, SearchSettings, search
from suanpei.planner.side_costs import SideCosts
from suanpei.units import DAY_S
from tests.planner.samples import calibration, cluster, make_architecture, make_job, recipes, with_memory

if TYPE_CHECKING:
    from suanpei.job.job import Job
    from suanpei.machine.cluster import Cluster

MEDIUM = make_architecture(layers=16, hidden=2048, heads=16, kv_heads=4, ffn=5632)


def option(machine: Cluster | None = None, price: float | None = 2.0, **changes: Any) -> ClusterOption:
    fields: dict[str, Any] = {"counts": (1, 2, 4, 8, 16, 32, 64)}
    return ClusterOption(cluster=machine or cluster(), price_per_gpu_hour=price, **(fields | changes))


def medium_job(**changes: Any) -> Job:
    fields: dict[str, Any] = {"global_batch_seqs": 256, "seq_len": 4096, "tokens": 2e10}
    return make_job(MEDIUM, **(fields | changes))


def run_search(job: Job, *options: ClusterOption, **settings_: Any) -> SearchResult:
    return search(job, options, tuple(recipes().values()), calibration(), SearchSettings(**settings_))


def brute_force(job: Job, machine: Cluster, count: int) -> float | None:
    """The least training time of all strategies that fit, by evaluating every one of them."""
    best = None
    for recipe in recipes().values():
        candidates = enumerate_strategies(job, machine, recipe, count)
        if machine.accelerator.stack not in recipe.stacks or not len(candidates):
            continue
        estimates = evaluate(job, machine, recipe, calibration(), candidates)
        for index in np.flatnonzero(estimates.fit == Fit.FITS):
            assert job.tokens is not None
            steps = -(-job.tokens // (int(candidates.global_batch_seqs[index]) * job.seq_len))
            time_s = float(steps * estimates.step_s[index])
            best = time_s if best is None else min(best, time_s)
    return best


@settings(max_examples=15, deadline=None)
@given(
    memory_gib=st.floats(4.0, 90.0),
    experts=st.sampled_from([0, 8]),
    exact=st.booleans(),
    batch=st.sampled_from([64, 96]),
    accelerator=st.sampled_from(["A100-SXM4-80GB", "RTX-4090", "H100-SXM5-80GB"]),
)
def test_the_best_of_each_number_equals_brute_force(
    memory_gib: float,
    experts: int,
    exact: bool,
    batch: int,
    accelerator: str,
) -> None:
    architecture = make_architecture(layers=8, hidden=1024, heads=16, kv_heads=4, ffn=2816, experts=experts)
    job = make_job(architecture, global_batch_seqs=batch, batch_is_exact=exact)
    machine = with_memory(cluster(accelerator), memory_gib * 2**30)
    counts = (1, 4, 8, 24)
    result = run_search(job, option(machine, counts=counts))
    found = {choice.gpus: float(choice.runs.training_s[choice.run_index]) for choice in result.choices}
    for count in counts:
        best = brute_force(job, machine, count)
        if best is None:
            assert count not in found
        else:
            assert found[count] == pytest.approx(best, rel=1e-12)


@settings(max_examples=10, deadline=None)
@given(memory_gib=st.floats(6.0, 60.0), more=st.floats(1.0, 3.0))
def test_more_memory_never_shrinks_what_is_feasible(memory_gib: float, more: float) -> None:
    job = medium_job()
    small, large = (
        run_search(job, option(with_memory(cluster(), size * 2**30))) for size in (memory_gib, memory_gib * more)
    )
    days = {choice.gpus: choice.days for choice in large.choices}
    for choice in small.choices:
        assert days[choice.gpus] <= choice.days * (1 + 1e-12)


def test_limits_change_what_is_evaluated_but_not_what_is_found() -> None:
    """A deadline prunes by bounds: whatever keeps it is the same as in the search without one."""
    job = medium_job()
    free = run_search(job, option())
    by_gpus = {choice.gpus: choice for choice in free.choices}
    deadline_s = 1.5 * DAY_S
    held = run_search(job, option(), constraints=Constraints(deadline_s=deadline_s), top=10)
    assert held.pruned > free.pruned
    keeping = {
        gpus
        for gpus, choice in by_gpus.items()
        if (choice.runs.row(choice.run_index, deadline_s).deadline_probability or 0.0) >= 0.9
    }
    assert keeping
    assert {choice.gpus for choice in held.choices if choice.probability >= 0.9} == keeping
    for row in held.listed:
        assert row.choice.found.strategy == by_gpus[row.choice.gpus].found.strategy


def test_listed_plans_keep_the_deadline_with_the_confidence_and_are_ranked_by_cost() -> None:
    result = run_search(medium_job(), option(), constraints=Constraints(deadline_s=2 * DAY_S, confidence=0.8), top=10)
    assert result.listed
    for row in result.listed:
        assert row.choice.run.deadline_probability is not None
        assert row.choice.run.deadline_probability >= 0.8
    costs = [row.choice.cost for row in result.listed]
    assert costs == sorted(costs, key=lambda cost: cost or 0.0)
    assert {row.role for row in result.listed} == {"ranked"}


def test_the_objective_time_ranks_by_days() -> None:
    result = run_search(
        medium_job(), option(), option(cluster("H100-SXM5-80GB"), price=4.0),
        constraints=Constraints(budget=1e6), objective="time",
    )  # fmt: skip
    days = [row.choice.days for row in result.listed]
    assert days == sorted(days)
    assert result.listed[0].choice.days == min(choice.days for choice in result.choices)


def test_without_limits_the_cheapest_the_knee_and_the_fastest_stand_first() -> None:
    result = run_search(medium_job(), option(), option(cluster("H100-SXM5-80GB"), price=4.0))
    roles = {role: row.choice for row in result.listed for role in row.roles}
    assert result.listed[0].roles[0] == "cheapest"
    assert roles["cheapest"].cost == min(choice.cost for choice in result.choices if choice.cost is not None)
    assert roles["fastest"].days == min(choice.days for choice in result.choices)
    assert result.knee is not None
    assert result.knee.recommended_gpus == roles["knee"].gpus
    assert roles["knee"].option is roles["cheapest"].option
    assert [point.gpus for point in result.knee.curve] == sorted(point.gpus for point in result.knee.curve)


def test_one_accelerator_does_not_fill_the_list() -> None:
    result = run_search(
        medium_job(), option(), option(cluster("H100-SXM5-80GB"), price=9.0),
        constraints=Constraints(deadline_s=30 * DAY_S), top=4,
    )  # fmt: skip
    names = [row.choice.accelerator for row in result.listed]
    assert names.count("A100-SXM4-80GB") == 2
    assert names.count("H100-SXM5-80GB") == 2


def test_whole_months_are_paid_in_whole_months() -> None:
    hourly, monthly = option(counts=(8,)), option(counts=(8,), billing_hours=730.0, price=1.0)
    job = medium_job()
    by_hour, by_month = (run_search(job, one).choices[0] for one in (hourly, monthly))
    assert by_hour.found.strategy == by_month.found.strategy
    hours = by_hour.days * 24
    assert by_hour.cost == pytest.approx(2.0 * 8 * np.ceil(hours))
    assert by_month.cost == pytest.approx(1.0 * 8 * 730 * np.ceil(hours / 730))
    # on one cluster and number only the cheaper is left
    assert hours < 365
    (kept,) = run_search(job, monthly, hourly).choices
    assert kept.option is hourly


def test_part_of_a_node_pays_for_the_node_where_it_is_sold_whole() -> None:
    assert option(sold_by_node=True).rented_gpus(2) == 8
    assert option().rented_gpus(2) == 2
    assert option().rented_gpus(24, spare_nodes=1) == 32


def test_a_budget_in_months_allows_only_whole_ones() -> None:
    monthly = option(billing_hours=730.0, price=1.0)
    # 8 cards for 730 h cost 5,840: a budget of 10,000 pays one month
    assert monthly.affordable_s(10_000, 8) == 730 * 3600
    assert monthly.affordable_s(5_000, 8) == 0
    assert option(price=None).affordable_s(1e9, 8) == 0


def test_a_budget_below_the_shortest_rental_allows_nothing() -> None:
    quarter = option(billing_hours=730.0, minimum_hours=2190.0, price=1.0)
    # three months of 8 cards cost 17,520
    assert quarter.affordable_s(17_519, 8) == 0
    assert quarter.affordable_s(17_520, 8) == 2190 * 3600
    assert quarter.billed_hours(3600.0) == 2190.0


def test_an_unpriced_card_is_ranked_by_what_it_may_cost_to_tie() -> None:
    result = run_search(
        medium_job(), option(counts=(8, 16)), option(cluster("H100-SXM5-80GB"), price=None, counts=(8, 16)),
        constraints=Constraints(deadline_s=60 * DAY_S), top=10,
    )  # fmt: skip
    # sixteen priced cards are two machines: set up for a day, dearer and no sooner than eight, and so not listed
    assert [row.choice.gpus for row in result.listed if row.choice.cost is not None] == [8]
    assert [row.choice.cost is None for row in result.listed] == [False, True, True]
    cheapest = result.listed[0].choice
    unpriced = result.listed[1].choice
    assert unpriced.ties_at_price_per_gpu_hour is not None
    assert unpriced.ties_at_price_per_gpu_hour * unpriced.rented_gpus * unpriced.days * 24 == pytest.approx(
        cheapest.cost
    )
    last = result.listed[2].choice.ties_at_price_per_gpu_hour
    assert last is not None
    assert last <= unpriced.ties_at_price_per_gpu_hour


@pytest.mark.parametrize("per_gb", [0.0, 1.0, 100.0])
def test_the_cheapest_counts_what_its_checkpoint_costs(per_gb: float) -> None:
    job = medium_job(tokens=1e9)
    side = SideCosts(per_checkpoint_byte=per_gb / 1e9)
    offered = option(counts=(2, 4, 8), side_costs=side)
    least: dict[int, float] = {}
    sizes = set()
    for recipe in recipes().values():
        # each framework alone: no other can stand in its way
        alone = search(job, [offered], [recipe], calibration(), SearchSettings())
        sizes |= {choice.found.checkpoint_bytes for choice in alone.choices}
        for choice in alone.choices:
            assert choice.cost is not None
            least[choice.gpus] = min(least.get(choice.gpus, choice.cost), choice.cost)
    assert len(sizes) > 1
    found = run_search(job, offered)
    by_gpus: dict[int, float] = {}
    for choice in found.choices:
        assert choice.cost is not None
        by_gpus[choice.gpus] = min(by_gpus.get(choice.gpus, choice.cost), choice.cost)
    assert by_gpus == pytest.approx(least)
    (first, *_) = found.listed
    assert first.role == "cheapest"
    assert first.choice.cost == pytest.approx(min(least.values()))
    # and the curve is of the cheapest on each number
    assert {choice.gpus: choice.cost for choice in found.curve} == pytest.approx(least)


def test_every_strategy_is_accounted_for() -> None:
    job = medium_job()
    counts = (4, 8, 16)
    small = with_memory(cluster(), 20 * 2**30)
    result = run_search(job, option(small, counts=counts))
    total = sum(
        len(enumerate_strategies(job, small, recipe, count)) for recipe in recipes().values() for count in counts
    )
    assert result.candidates + result.pruned == total
    fallen = sum(rejection.count for rejection in result.rejected)
    assert fallen + len(result.choices) == total
    reasons = {str(rejection.reason) for rejection in result.rejected}
    assert "does not fit in accelerator memory" in reasons
    assert "may not fit: accelerator memory is within the margin of error" in reasons


def test_only_what_was_evaluated_counts_as_a_candidate() -> None:
    seen = []

    def counting(*arguments: Any) -> Estimates:
        seen.append(len(arguments[4]))
        return evaluate(*arguments)

    result = search(medium_job(), [option(counts=(8, 16))], tuple(recipes().values()), calibration(), evaluate=counting)
    # the curve of the knee evaluates again, outside the counts
    assert result.candidates < sum(seen) <= 2 * result.candidates + result.pruned
    assert result.candidates > 0


def test_progress_reaches_the_end() -> None:
    told = []
    search(
        medium_job(), [option(counts=(8,)), option(cluster("H100-SXM5-80GB"), counts=(8,))],
        tuple(recipes().values()), calibration(), progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_an_impossible_deadline_names_the_soonest() -> None:
    result = run_search(medium_job(), option(), constraints=Constraints(deadline_s=3600.0))
    assert result.listed == ()
    said = str(result.failure)
    assert said.startswith("no plan meets the deadline of 0.0417 d with probability 0.9: the soonest, ")
    assert "a deadline of " in said


def test_the_relaxed_deadline_would_do() -> None:
    job = medium_job()
    failure = run_search(job, option(), constraints=Constraints(deadline_s=3600.0)).failure
    assert failure is not None
    relaxed_s = float(failure.values["relaxed"]) * DAY_S
    assert run_search(job, option(), constraints=Constraints(deadline_s=relaxed_s)).listed


def test_an_impossible_budget_names_the_cheapest_and_would_do_when_relaxed() -> None:
    job = medium_job()
    failure = run_search(job, option(), constraints=Constraints(budget=10.0)).failure
    assert failure is not None
    assert "no plan stays within the budget of 10" in str(failure)
    relaxed = float(failure.values["relaxed"].replace(",", ""))
    assert run_search(job, option(), constraints=Constraints(budget=relaxed)).listed
    assert not run_search(job, option(), constraints=Constraints(budget=0.9 * relaxed)).listed


def test_deadline_and_budget_that_exclude_each_other() -> None:
    job = medium_job()
    free = run_search(job, option(), constraints=Constraints(deadline_s=1.5 * DAY_S))
    least = min(choice.cost for choice in free.choices if choice.cost is not None and choice.probability >= 0.9)
    both = run_search(job, option(), constraints=Constraints(deadline_s=1.5 * DAY_S, budget=0.9 * least))
    assert "keeps both deadline and budget" in str(both.failure)


def test_no_budget_is_kept_by_a_card_without_a_price() -> None:
    job = medium_job()
    unpriced = option(price=None)
    alone = run_search(job, unpriced, constraints=Constraints(budget=1e9))
    assert alone.listed == ()
    assert "no price of " in str(alone.failure)
    assert alone.failure is not None
    dearest = float(alone.failure.values["most"])
    assert run_search(job, option(price=dearest), constraints=Constraints(budget=1e9)).listed
    # beside a card with a price it is set aside, with the reason
    beside = run_search(job, unpriced, option(cluster("H800-SXM5-80GB")), constraints=Constraints(budget=1e9))
    assert {row.choice.option.price_per_gpu_hour for row in beside.listed} == {2.0}
    assert any("no price is known" in str(rejection.reason) for rejection in beside.rejected)


def test_a_missed_deadline_and_budget_are_relaxed_together() -> None:
    job = medium_job()
    failure = run_search(job, option(), constraints=Constraints(deadline_s=60.0, budget=1.0)).failure
    assert failure is not None
    deadline_s = float(failure.values["relaxed"]) * DAY_S
    budget = float(failure.values["amount"].replace(",", ""))
    assert run_search(job, option(), constraints=Constraints(deadline_s=deadline_s, budget=budget)).listed
    # with money enough for a slower run, the deadline alone is named, and it does
    cheapest = run_search(job, option()).listed[0].choice.cost
    assert cheapest is not None
    rich = 3 * cheapest
    failure = run_search(job, option(), constraints=Constraints(deadline_s=60.0, budget=rich)).failure
    assert failure is not None
    assert "amount" not in failure.values
    later = Constraints(deadline_s=float(failure.values["relaxed"]) * DAY_S, budget=rich)
    assert run_search(job, option(), constraints=later).listed


def test_what_never_fits_names_the_nearest() -> None:
    result = run_search(medium_job(), option(with_memory(cluster(), 2 * 2**30), counts=(1, 2)))
    assert result.choices == ()
    assert result.knee is None
    assert str(result.failure).startswith("nothing fits: does not fit in accelerator memory; the nearest, 2 × ")


def test_host_memory_is_a_limit_of_its_own() -> None:
    job = medium_job(offload=frozenset({"optimizer"}))
    starved = replace(cluster(), host_memory_bytes=1e9)
    result = run_search(job, option(starved, counts=(8,)))
    assert result.choices == ()
    assert "does not fit in host memory" in {str(rejection.reason) for rejection in result.rejected}
    assert run_search(job, option(replace(starved, host_memory_bytes=2e12), counts=(8,))).choices


def test_a_card_without_the_precision_is_named() -> None:
    result = run_search(medium_job(), option(cluster("V100-SXM2-32GB")))
    assert result.choices == ()
    assert "V100-SXM2-32GB has no bf16 peak" in str(result.failure)


def test_nothing_on_offer_is_said() -> None:
    assert "nothing is on offer" in str(run_search(medium_job()).failure)


def test_a_job_without_tokens_is_refused() -> None:
    with pytest.raises(InputError, match="a plan needs to know how much is trained"):
        run_search(medium_job(tokens=None), option())


@pytest.mark.parametrize("confidence", [0.0, 1.0, 90.0])
def test_a_confidence_that_is_no_probability_is_refused(confidence: float) -> None:
    with pytest.raises(InputError, match="confidence must lie between 0 and 1"):
        run_search(medium_job(), option(), constraints=Constraints(confidence=confidence))


def test_the_frontier_holds_the_cheapest_and_the_fastest() -> None:
    result = run_search(medium_job(), option(), option(cluster("H100-SXM5-80GB"), price=4.0))
    frontier = result.frontier
    assert min(choice.days for choice in frontier) == min(choice.days for choice in result.choices)
    costs = [choice.cost for choice in result.choices if choice.cost is not None]
    assert min(choice.cost for choice in frontier if choice.cost is not None) == min(costs)
    assert len(frontier) < len(result.choices)


def test_a_run_is_as_sure_as_the_step_that_it_repeats() -> None:
    # two roads to how sure a step is: the scan keeps totals, the explained estimate has the parts
    result = run_search(medium_job(), option(), option(cluster("H100-SXM5-80GB")), option(cluster("MI300X")))
    assert {choice.accelerator for choice in result.choices} > {"MI300X"}
    for choice in result.choices:
        found, machine = choice.found, choice.option.cluster
        estimate = explain(medium_job(), machine, found.recipe, calibration(), Strategies.of([found.strategy]))
        assert found.setting.place == estimate.setting.place
        assert found.setting.waiting_share == pytest.approx(estimate.setting.waiting_share, abs=1e-9)
        run, spread = choice.runs, spread_step_time(calibration().evidence, estimate.setting)
        high = run.spread.factor(0.95) ** run.spread_scale[choice.run_index]
        assert high == pytest.approx(spread.factor(0.95), rel=1e-6)


def test_an_assumed_network_widens_only_what_uses_it() -> None:
    known, assumed = (replace(cluster(), fabric_is_assumed=value) for value in (False, True))
    found = {
        (choice.option.cluster.fabric_is_assumed, choice.gpus): choice
        for choice in run_search(medium_job(), option(known, counts=(8, 16)), option(assumed, counts=(8, 16))).choices
    }
    for gpus in (8, 16):
        assert found[True, gpus].days == pytest.approx(found[False, gpus].days)
    spans = {key: choice.run.high_days / choice.run.low_days for key, choice in found.items()}
    assert spans[True, 8] == pytest.approx(spans[False, 8])
    assert spans[True, 16] > 1.05 * spans[False, 16]

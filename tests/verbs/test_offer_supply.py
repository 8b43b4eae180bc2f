"""Offers as supply: how they are put together, and the laws of a plan made from them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.physics.evaluate import Estimates
from suanpei.planner.options import Constraints
from suanpei.planner.search import SearchSettings, search
from suanpei.verbs.inputs import load_inputs
from suanpei.verbs.job_request import JobRequest
from suanpei.verbs.offer_supply import MOST_ODD_COUNTS, MOST_OFFERS_NOTED, OfferedSupply, place_offers
from suanpei.verbs.plan import PlanResult, plan
from suanpei.verbs.plan_request import PlanRequest, read_terms
from suanpei.verbs.supply import build_supplies
from tests.golden.plan_samples import DAY, FROZEN
from tests.planner.samples import calibration, make_job, recipes

if TYPE_CHECKING:
    from pathlib import Path

    from suanpei.machine.cluster import Cluster
    from suanpei.physics.grid import Grid
    from suanpei.physics.memory.totals import MemoryTotals
    from suanpei.physics.strategy import Strategies
    from suanpei.planner.search import SearchResult

INPUTS = load_inputs(FROZEN)
COLUMNS = "provider,gpu,price_per_hour,currency,count,term,node_or_card,tax,links,tier,date"
ANY_PATH_FIXTURE = [HealthCheck.function_scoped_fixture]
"""Each example writes its own file anew."""


def line(provider: str = "甲云", price: str = "6.5", count: int = 16, **cells: str) -> str:
    """One line of an offer file."""
    fields = {
        "provider": provider,
        "gpu": "A800",
        "price_per_hour": price,
        "currency": "CNY",
        "count": str(count),
        "term": "hourly",
        "node_or_card": "card",
        "tax": "含税 6%",
        "links": "8x200G RoCE",
        "tier": "platform",
        "date": "2026-11-01",
    }
    return ",".join((fields | cells)[column] for column in COLUMNS.split(","))


def request(folder: Path, lines: list[str], **changes: Any) -> PlanRequest:
    file = folder / "offers.csv"
    file.write_text("\n".join([COLUMNS, *lines]), encoding="utf-8")
    fields: dict[str, Any] = {"job": JobRequest(model="llama-3-8b", tokens="2B"), "as_of": DAY, "currency": "CNY"}
    return PlanRequest(**(fields | {"offers": (file,), "catalog": FROZEN} | changes))


def gather(folder: Path, lines: list[str], **changes: Any) -> OfferedSupply:
    asked = request(folder, lines, **changes)
    return place_offers(asked, read_terms(asked, INPUTS.catalogue), INPUTS)


def providers(supply: OfferedSupply) -> list[list[str]]:
    return [[offer.provider for offer in group.offers] for group in supply.clusters]


def evaluate_cheaply(
    job: Any, cluster: Cluster, recipe: Any, made_of: Any, strategies: Strategies, memory: MemoryTotals, _: Grid
) -> Estimates:
    """Stand in for physics: ten seconds of one card, shared badly, and worse over a slow network."""
    slow = 1.0 + 1e9 / cluster.scale_out.achievable_bytes_per_s * (strategies.gpus > cluster.gpus_per_node)
    step_s = 10.0 * slow / strategies.gpus**0.9 + 0.1 * strategies.pp
    return Estimates(
        job=job,
        cluster=cluster,
        recipe=recipe,
        calibration=made_of,
        strategies=strategies,
        memory=memory,
        step_s=step_s,
        compute_s=step_s,
        exposed_comm_s=np.zeros(len(step_s)),
    )


def search_offers(folder: Path, lines: list[str], constraints: Constraints | None = None) -> SearchResult:
    asked = request(folder, lines, gpus="1-32")
    supplies = build_supplies(asked, read_terms(asked, INPUTS.catalogue), INPUTS)
    options = [item.option for item in supplies.items]
    wanted = SearchSettings(constraints=constraints or Constraints())
    return search(make_job(), options, (recipes()["fsdp"],), calibration(), wanted, evaluate_cheaply)


def best_cost(result: SearchResult, confidence: float = 0.9) -> float:
    costs = [choice.cost for choice in result.choices if choice.cost is not None and choice.probability >= confidence]
    return min(costs, default=np.inf)


offer_cells = st.fixed_dictionaries(
    {
        "provider": st.sampled_from(["甲云", "乙云", "丙云"]),
        "price": st.sampled_from(["4", "5.5", "6", "7"]),
        "count": st.sampled_from([4, 8, 16, 20, 72]),
        "term": st.sampled_from(["hourly", "1 day", "monthly", "3 months"]),
        "node_or_card": st.sampled_from(["card", "node8"]),
        "tax": st.sampled_from(["含税 6%", "unstated"]),
        "links": st.sampled_from(["8x200G RoCE", "25G", ""]),
        "gpu": st.sampled_from(["A800", "H20-SXM5-96GB"]),
    }
)
limits = st.sampled_from([Constraints(), Constraints(deadline_s=2e5), Constraints(budget=400.0)])


@settings(max_examples=25, deadline=None, suppress_health_check=ANY_PATH_FIXTURE)
@given(cells=st.lists(offer_cells, min_size=1, max_size=8), constraints=limits)
def test_all_offers_together_are_as_good_as_the_best_alone(
    tmp_path: Path, cells: list[dict[str, Any]], constraints: Constraints
) -> None:
    """Nothing that grouping and dominance drop would have been better: each offer is planned alone, too."""
    lines = [line(**offer) for offer in [*cells, {"count": 8}]]
    together = search_offers(tmp_path, lines, constraints)
    alone = []
    for one in lines:
        try:
            alone.append(best_cost(search_offers(tmp_path, [one], constraints)))
        except InputError as error:  # fewer cards on hand than are sold together
            assert "none of the offers" in str(error)
    assert best_cost(together) == pytest.approx(min(alone), rel=1e-12)


@settings(max_examples=25, deadline=None, suppress_health_check=ANY_PATH_FIXTURE)
@given(
    cells=st.lists(offer_cells, min_size=1, max_size=6),
    place=st.integers(0, 5),
    rise=st.sampled_from(["7.5", "12", "100"]),
    constraints=limits,
)
def test_a_dearer_offer_never_improves_a_plan(
    tmp_path: Path, cells: list[dict[str, Any]], place: int, rise: str, constraints: Constraints
) -> None:
    cells = [*cells, {"count": 8}]
    dearer = [dict(offer) for offer in cells]
    dearer[place % len(cells)]["price"] = rise
    before = best_cost(search_offers(tmp_path, [line(**offer) for offer in cells], constraints))
    after = best_cost(search_offers(tmp_path, [line(**offer) for offer in dearer], constraints))
    assert after >= before
    # nor does one that is added beside it
    added = [line(**offer) for offer in [*cells, cells[place % len(cells)] | {"price": rise}]]
    assert best_cost(search_offers(tmp_path, added, constraints)) == before


@settings(max_examples=15, deadline=None, suppress_health_check=ANY_PATH_FIXTURE)
@given(cells=st.lists(offer_cells, min_size=2, max_size=8), random=st.randoms())
def test_the_order_of_the_rows_changes_nothing(tmp_path: Path, cells: list[dict[str, Any]], random: Any) -> None:
    lines = [line(**offer) for offer in [*cells, {"count": 8}]]
    shuffled = list(lines)
    random.shuffle(shuffled)
    one, other = (gather(tmp_path, order) for order in (lines, shuffled))

    def without_source(supply: OfferedSupply) -> list[Any]:
        return [
            (group.cluster, group.counts, [replace(offer, source="") for offer in group.offers])
            for group in supply.clusters
        ]

    assert without_source(one) == without_source(other)
    first, second = (search_offers(tmp_path, order) for order in (lines, shuffled))
    shown = [
        [
            (row.choice.accelerator, row.choice.gpus, row.choice.cost, row.choice.days, row.roles)
            for row in result.listed
        ]
        for result in (first, second)
    ]
    assert shown[0] == shown[1]


def test_offers_that_physics_cannot_tell_apart_share_a_cluster(tmp_path: Path) -> None:
    same = gather(tmp_path, [line("甲云"), line("乙云", "6", 8), line("丙云", "5.5", 8, links="8*200g roce")])
    assert providers(same) == [["丙云", "甲云"]]
    assert same.clusters[0].cluster.scale_out.name == "8x200G RoCE"
    apart = gather(
        tmp_path,
        [line("甲云"), line("乙云", links="25G"), line("丙云", gpu="H20-SXM5-96GB"), line("丁云", "5", links="")],
    )
    # no links named is planned as one port of 25G
    assert providers(apart) == [["甲云"], ["丁云"], ["丙云"]]
    assert apart.clusters[1].cluster.scale_out.name == "1x25G Ethernet"


def test_what_is_sold_together_is_the_node(tmp_path: Path) -> None:
    """A card of which the usual machine holds four, by the card and in servers of eight."""
    supply = gather(
        tmp_path,
        [line("甲云", gpu="RTX-3090-Ti", tier="platform"), line("乙云", gpu="RTX-3090-Ti", node_or_card="node8")],
        gpus="1-16",
    )
    assert [(group.cluster.gpus_per_node, group.counts) for group in supply.clusters] == [
        (4, ((1, 2, 4, 8, 12, 16),)),
        (8, ((1, 2, 4, 8, 16),)),
    ]
    named = gather(tmp_path, [line(gpu="RTX-3090-Ti", node_or_card="node8")], gpus_per_node=4)
    assert named.clusters[0].cluster.gpus_per_node == 4


def test_a_rack_keeps_its_nodes_and_is_paid_whole(tmp_path: Path) -> None:
    asked = request(tmp_path, [line(gpu="GB200-186GB", node_or_card="node8", count=16)], gpus="1-16")
    supplies = build_supplies(asked, read_terms(asked, INPUTS.catalogue), INPUTS)
    option = supplies.items[0].option
    assert (option.cluster.gpus_per_node, option.unit_gpus) == (4, 8)
    assert [option.rented_gpus(count) for count in (1, 4, 8, 12)] == [8, 8, 8, 16]
    price = supplies.items[0].price
    assert price is not None
    assert [price.unit_price.billed_gpus(count, 4) for count in (1, 4, 8, 12)] == [8, 8, 8, 16]


def test_two_fabrics_of_one_seller_are_not_one_cluster(tmp_path: Path) -> None:
    halves = [line("甲云", count=8), line("甲云", count=8, price="6")]
    with pytest.raises(InputError, match="none of the offers"):
        build_supplies(asked := request(tmp_path, halves, gpus="16"), read_terms(asked, INPUTS.catalogue), INPUTS)
    assert all(max(counts) <= 8 for group in gather(tmp_path, halves).clusters for counts in group.counts)


def test_all_that_is_on_hand_is_planned_unless_too_many_numbers_are(tmp_path: Path) -> None:
    # 72 cards are nine nodes, between the usual eight and ten; 60 cards are seven whole nodes
    supply = gather(tmp_path, [line(count=72), line("乙云", "6.4", count=60, tax="unstated")])
    (group,) = supply.clusters
    assert [counts[-2:] for counts in group.counts] == [(64, 72), (48, 56)]
    assert supply.assumptions == ()
    sizes = [72, 88, 104, 120, 136, 144, 152, 168, 176]
    assert len(sizes) > MOST_ODD_COUNTS
    many = gather(tmp_path, [line(f"{size} 云", str(size), count=size) for size in sizes])
    assert [counts[-1] for counts in many.clusters[0].counts] == [64, 80, 96, 112, 128, 160]
    assert "usual number" in str(many.assumptions[0])


def test_what_cannot_be_bought_is_left_out_and_said(tmp_path: Path) -> None:
    supply = gather(tmp_path, [line("甲云", count=4, node_or_card="node8"), line("乙云")])
    assert providers(supply) == [["乙云"]]
    assert [str(said) for said in supply.assumptions] == [
        "1 offers are left out: no number of cards asked for is on hand in the units in which they are sold"
    ]


def test_what_is_no_better_is_counted(tmp_path: Path) -> None:
    supply = gather(tmp_path, [line(), line("乙云", "7"), line("丙云", "8")])
    assert providers(supply) == [["甲云"]]
    assert str(supply.assumptions[0]).startswith("2 of 3 offers were not searched")


def test_prices_in_other_currencies_are_compared_at_the_rate(tmp_path: Path) -> None:
    # at 7 yuan to the dollar 0.9 dollars are 6.3 yuan
    supply = gather(tmp_path, [line(price="6.4"), line("乙云", "0.9", currency="USD")], rate=("USD=7CNY",))
    assert providers(supply) == [["乙云"]]
    assert str(supply.clusters[0].offers[0].price) == "¥6.30"


def small_plan(folder: Path, lines: list[str], **changes: Any) -> PlanResult:
    return plan(request(folder, lines, gpus="8", **changes))


def test_a_small_plan_takes_the_cheapest_and_shows_the_next(tmp_path: Path) -> None:
    lines = [line("乙云", "6.4", tax="unstated"), line("甲云", "6.5"), line("丙云", "9", term="monthly", tier="server")]
    result = small_plan(tmp_path, lines)
    first = result.plans[0]
    assert first.offer is not None
    assert first.cost is not None
    assert first.offer.provider == "甲云"
    assert [bill.provider for bill in first.other_bills] == ["乙云", "丙云"]
    ranked = [first.cost.ranked_total, *(bill.ranked_total for bill in first.other_bills)]
    assert ranked[0] < ranked[1] < ranked[2]
    dearer = small_plan(tmp_path, [lines[0], line("甲云", "8"), lines[2]]).plans[0]
    assert dearer.offer is not None
    assert dearer.cost is not None
    assert (dearer.offer.provider, dearer.cost.total) == ("乙云", first.other_bills[0].total)


def test_few_offers_are_noted_all_many_only_where_shown(tmp_path: Path) -> None:
    few = small_plan(tmp_path, [line("甲云"), line("乙云", "7", tier="")])
    assert any("the offer of 乙云 names no tier" in str(said) for said in few.assumptions)
    lines = [
        line("甲云", tier=""),
        *(line(f"{place} 云", str(7 + place), tier="") for place in range(MOST_OFFERS_NOTED)),
    ]
    many = [str(said) for said in small_plan(tmp_path, lines).assumptions]
    assert [said for said in many if "names no tier" in said] == [
        "the offer of 甲云 names no tier: it is read from the term"
    ]
    assert f"what {MOST_OFFERS_NOTED} more offers leave open is not listed" in "\n".join(many)


def test_a_budget_keeps_the_offer_that_keeps_it(tmp_path: Path) -> None:
    """The bill shown first is of the offer whose probability is shown."""
    lines = [line("甲云", "5"), line("乙云", "1", term="monthly", tier="server", node_or_card="node8")]
    hourly = small_plan(tmp_path, lines[:1]).plans[0].cost
    assert hourly is not None
    # a month of eight cards at 1 costs 5,840, whatever the run within it
    assert hourly.total.amount < 5840
    result = small_plan(tmp_path, lines, budget=f"{hourly.total.amount * 3}CNY")
    first = result.plans[0]
    assert first.offer is not None
    assert first.cost is not None
    assert first.cost.total.amount <= hourly.total.amount * 3
    assert first.constraint_probability >= 0.9


def test_a_card_that_no_offer_has_is_said(tmp_path: Path) -> None:
    supply = gather(tmp_path, [line()], gpu=("A800 80G SXM", "4090", "H20"))
    assert providers(supply) == [["甲云"]]
    assert [str(note) for note in supply.assumptions if "no offer" in str(note)] == [
        "gpu: no offer has RTX-4090, H20-SXM5-96GB"
    ]
    assert not any("no offer" in str(note) for note in gather(tmp_path, [line()], gpu=("A800",)).assumptions)

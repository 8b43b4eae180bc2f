"""`plan --offers` and `compare` on the same offers: one order, by what is paid with tax."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.errors import NoAnswerError
from suanpei.report.text.compare import render_compare
from suanpei.report.text.plan import render_plan
from suanpei.verbs.compare import compare_quotes
from suanpei.verbs.plan import plan
from suanpei.verbs.plan_request import PlanRequest
from tests.golden.compare_samples import JOB
from tests.golden.plan_samples import DAY, FROZEN, print_at
from tests.verbs.test_compare import BASE, Row, write

if TYPE_CHECKING:
    from pathlib import Path

    from suanpei.verbs.plan import PlanResult

TAXES = ("含税 6%", "含税", "不含税(6%)", "不含税(13%)", "不含税", "")
"""In the price, on top, left open; with a rate and without."""


def asked(folder: Path, rows: list[Row]) -> PlanRequest:
    return PlanRequest(
        job=JOB, as_of=DAY, currency="CNY", gpus="2,8", offers=(write(folder / "o.csv", rows),), catalog=FROZEN
    )


def first_seller(result: PlanResult) -> str:
    offer = result.plans[0].offer
    assert offer is not None
    return offer.provider


@st.composite
def offers(draw: st.DrawFn) -> list[Row]:
    """Up to five sellers whose prices lie so near each other that tax decides."""
    return [
        {
            **BASE,
            "provider": name,
            "gpu": draw(st.sampled_from(["A800", "4090"])),
            "price_per_hour": str(draw(st.decimals("5.5", "6.5", places=2))),
            "tax": draw(st.sampled_from(TAXES)),
            "term": draw(st.sampled_from(["hourly", "按分钟"])),
            "set_up": draw(st.sampled_from(["", "3"])),
        }
        for name in "甲乙丙丁戊"[: draw(st.integers(2, 5))]
    ]


@given(rows=offers())
@settings(max_examples=8, deadline=None)
def test_both_name_the_same_cheapest_seller(tmp_path_factory: pytest.TempPathFactory, rows: list[Row]) -> None:
    request = asked(tmp_path_factory.mktemp("both"), rows)
    planned, compared = plan(request), compare_quotes(request)
    cost, best = planned.plans[0].cost, compared.sellers[0]
    assert cost is not None
    assert best.ranked_total is not None
    # the search ranks by binary fractions of what the bills are in cents
    assert abs(cost.ranked_total.amount - best.ranked_total.amount) <= Decimal("0.01")
    level = {row.seller for row in compared.sellers if row.ranked_total and row.ranked_total <= cost.ranked_total}
    assert first_seller(planned) in level | {best.seller}


def test_tax_on_top_decides_against_the_lower_price_as_quoted(tmp_path: Path) -> None:
    rows = [
        {**BASE, "provider": "甲", "price_per_hour": "6.00", "tax": "不含税(13%)"},  # 6.78 with tax
        {**BASE, "provider": "乙", "price_per_hour": "6.50", "tax": "含税 6%"},
        {**BASE, "provider": "丙", "price_per_hour": "5.80", "tax": ""},  # 5.80 to 6.554
    ]
    request = asked(tmp_path, rows)
    planned = plan(request)
    assert first_seller(planned) == compare_quotes(request).sellers[0].seller == "乙"
    first = planned.plans[0]
    assert first.cost is not None
    # the other on the same cards that may yet be cheaper
    others = [bill.provider for bill in first.other_bills]
    assert others == ["丙"]
    ratios = [float(bill.ranked_total.amount / first.cost.ranked_total.amount) for bill in first.other_bills]
    assert ratios == pytest.approx([5.80 * 1.13 / 6.50], rel=1e-3)


def test_the_total_as_quoted_stays_and_the_total_with_tax_stands_beside_it(tmp_path: Path) -> None:
    open_tax = {**BASE, "provider": "甲", "price_per_hour": "6.00", "tax": ""}
    planned = plan(asked(tmp_path, [open_tax]))
    cost = planned.plans[0].cost
    assert cost is not None
    assert (cost.total_tax_in, cost.total_tax_out) == (None, None)
    assert cost.least_total_tax_in == cost.total
    assert cost.ranked_total == (cost.total * Decimal("1.13")).rounded()
    assert (cost.low_tax_in, cost.high_tax_in) == (cost.low, (cost.high * Decimal("1.13")).rounded())
    # the search reckons in binary fractions of what the bill rounds to cents
    assert planned.frontier[0].cost is not None
    assert abs(planned.frontier[0].cost.amount - cost.ranked_total.amount) <= Decimal("0.01")
    said = [str(note) for note in planned.assumptions]
    assert "costs are ranked, and a budget is kept, with tax in" in said
    assert any(note.startswith("tax that a price in CNY leaves open is read as added to it") for note in said)


def test_a_budget_of_a_plan_is_kept_with_tax(tmp_path: Path) -> None:
    rows = [
        {**BASE, "provider": "甲", "price_per_hour": "6.00", "tax": "不含税(13%)"},
        {**BASE, "provider": "乙", "price_per_hour": "6.50", "tax": "含税 6%"},
    ]
    request = asked(tmp_path, rows)
    cost = plan(request).plans[0].cost
    assert cost is not None
    # pays 乙 with tax, and 甲 as quoted only
    budget = cost.ranked_total * Decimal("1.02")
    limited = plan(replace(request, budget=f"{budget.rounded().amount}CNY"))
    assert {row.offer.provider for row in limited.plans if row.offer is not None} == {"乙"}


def test_a_price_of_the_users_own_has_tax_in_it(tmp_path: Path) -> None:
    request = PlanRequest(
        job=JOB, as_of=DAY, currency="CNY", gpus="2", gpu=("A800",), price=("A800=6.00CNY",), catalog=FROZEN
    )
    cost = plan(request).plans[0].cost
    assert cost is not None
    assert cost.ranked_total == cost.total == cost.total_tax_in


def test_a_count_that_no_seller_names_is_said_and_not_shown_as_a_number(tmp_path: Path) -> None:
    path = tmp_path / "报价.csv"
    path.write_text(
        "供应商,型号,报价,单位,税\n甲,A800 80G,5.2,元/卡/时,含税\n乙,A800 80G,5.5,元/卡/时,含税\n", encoding="utf-8"
    )
    request = PlanRequest(job=replace(JOB, method="lora"), as_of=DAY, currency="CNY", offers=(path,), catalog=FROZEN)
    rows = compare_quotes(request).sellers
    assert [(row.gpus, row.on_hand_gpus, "count_unknown" in row.flags) for row in rows] == [(1, None, True)] * 2
    offer = plan(request).plans[0].offer
    assert offer is not None
    assert (offer.count, offer.is_count_open) == (8, True)
    # full tuning of a large model needs more than the one machine that is counted on: the refusals say why
    full = replace(request, job=replace(JOB, model="llama-3-70b", method="full"))
    for ask in (plan, compare_quotes):
        with pytest.raises(NoAnswerError, match=r"[12] name no cards on hand and are planned with one machine"):
            ask(full)


def test_spot_machines_in_the_first_place_are_warned_of_beside_what_is_cheapest_otherwise(tmp_path: Path) -> None:
    rows = [
        {**BASE, "provider": "甲", "price_per_hour": "2.10", "tier": "spot"},
        {**BASE, "provider": "乙", "price_per_hour": "6.50"},
    ]
    request = asked(tmp_path, rows)
    planned, compared = plan(request), compare_quotes(request)
    otherwise = compared.sellers[1].ranked_total
    said = f"which neither time nor cost counts; cheapest otherwise: 乙, {otherwise} with tax."
    assert said in print_at(render_plan(planned, "en"), 300)
    assert said in print_at(render_compare(compared, "en"), 300)
    both_spot = asked(tmp_path, [{**row, "tier": "spot"} for row in rows])
    alone = "Spot machines: they may be taken back at any time, which neither time nor cost counts."
    assert alone in print_at(render_plan(plan(both_spot), "en"), 300)
    assert alone in print_at(render_compare(compare_quotes(both_spot), "en"), 300)
    plain = asked(tmp_path, [{**row, "tier": "platform"} for row in rows])
    assert "Spot machines" not in print_at(render_plan(plan(plain), "en"), 300)

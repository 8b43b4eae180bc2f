"""The text of a plan: its figures are the result's, in both languages, at any width."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from suanpei.money import SYMBOLS
from suanpei.report.locale import translate
from suanpei.report.text.figures import say_gib, say_strategy
from suanpei.report.text.plan import render_plan
from tests.golden.plan_samples import continued, offered, print_at, tuned

if TYPE_CHECKING:
    from suanpei.report.locale import Language

LANGUAGES: list[Language] = ["en", "zh"]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("width", [72, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_console_and_nothing_is_cut_off(lang: Language, width: int) -> None:
    for result in (continued(), tuned(), offered()):
        text = print_at(render_plan(result, lang), width)
        assert max(cell_len(line) for line in text.splitlines()) <= width
        if width >= 80:
            assert "…" not in text.replace("=…", "")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("width", [80, 120])
def test_every_plan_stands_there_with_its_figures(lang: Language, width: int) -> None:
    result = continued()
    text = print_at(render_plan(result, lang), width)
    for row in result.plans:
        assert row.cost is not None
        assert f"{row.gpus} × {row.accelerator}" in text
        assert say_strategy(row.strategy) in text
        assert str(row.cost.total) in text
        assert say_gib(row.estimate.memory.device_bytes) in text
        assert f"{row.estimate.mfu:.0%}" in text
        assert f"{row.run.low_days:.1f}–{row.run.high_days:.1f}" in text


def test_the_headline_says_what_to_rent_for_how_long_at_which_cost_and_how_surely() -> None:
    result = continued()
    first = result.plans[0]
    assert first.cost is not None
    headline = print_at(render_plan(result, "en"), 300).splitlines()[0]
    assert headline.startswith(f"Rent {first.gpus} × A800-SXM4-80GB (one machine): {first.run.days:.1f} days (90%: ")
    assert str(first.cost.total) in headline
    assert headline.endswith("likely to keep the deadline of 20 days.")
    chinese = print_at(render_plan(result, "zh"), 300).splitlines()[0]
    assert chinese.startswith(f"建议租用 {first.gpus} 张 A800-SXM4-80GB")
    assert chinese.endswith("的把握在 20 天内完成。")


def test_what_is_not_an_offer_says_so_with_sellers_date_and_questions() -> None:
    result = continued()
    band = result.plans[0].indicative_price
    assert band is not None
    assert band.oldest is not None
    text = print_at(render_plan(result, "zh"), 200)
    assert "为参考价，并非报价" in text
    assert f"取自 {band.rows} 家卖家" in text
    assert band.oldest.isoformat() in text
    for question in band.questions:
        assert translate(question, "zh") in text


@pytest.mark.parametrize("lang", LANGUAGES)
def test_assumptions_rejections_reasons_and_missing_costs_are_all_there(lang: Language) -> None:
    result = tuned()
    first = result.plans[0]
    assert first.cost is not None
    text = print_at(render_plan(result, lang), 400)
    for message in (
        *result.assumptions,
        *(part.name for part in first.cost.missing),
        *(part.question for part in first.cost.missing),
        *(finding.said for finding in first.placement),
        *first.rule_of_thumb.differences,
        *first.estimate.evidence,
        *(remedy.action for remedy in first.estimate.remedies),
        *(rejection.reason for rejection in result.rejected),
        *(rejection.example for rejection in result.rejected),
    ):
        assert translate(message, lang) in text
    assert result.knee is not None
    assert translate(result.knee.rule, lang) in text


def test_the_biggest_package_and_the_other_methods_stand_beside_the_first_plan() -> None:
    result = tuned()
    package = next(item for item in result.alternatives if item.kind == "biggest_package")
    assert package.months == 1
    assert package.gpus == 8
    assert package.cost_ratio is not None
    text = print_at(render_plan(result, "en"), 200)
    assert f"8 × {package.accelerator} for a whole month: {package.cost.total if package.cost else ''}" in text
    assert f"{package.cost_ratio:,.0f} times the cost of plan 1" in text
    methods = {item.method: item for item in result.alternatives if item.kind == "method"}
    assert set(methods) == {"lora", "qlora"}
    for item in methods.values():
        assert item.cost is not None
        assert str(item.cost.total) in text


def test_parts_of_cost_sum_to_the_total_that_is_printed() -> None:
    for row in continued().plans:
        assert row.cost is not None
        lines = [line for part in row.cost.parts for line in part.parts or (part,)]
        assert sum(line.amount.amount for line in lines) == row.cost.total.amount
        text = print_at(render_plan(replace(continued(), plans=(row,)), "en"), 120)
        bill = text[text.index("\nCost\n") : text.index("Data and site")]
        for line in lines:
            assert str(line.name) in bill or not line.amount.amount
            assert str(line.amount) in bill
        for item in row.cost.missing:
            assert item.worst is None or not item.worst.amount or str(item.worst) in bill


def test_a_card_without_a_price_says_what_it_may_cost() -> None:
    result = continued()
    band = result.plans[0].indicative_price
    assert band is not None
    first = replace(
        result.plans[0], cost=None, indicative_price=None, other_bills=(), ties_at_price_per_gpu_hour=band.low
    )
    text = print_at(render_plan(replace(result, plans=(first,)), "en"), 200)
    assert "no price known, worth up to ¥4.86 per card-hour" in text.splitlines()[0]
    assert "--price A800-SXM4-80GB=…" in text


def test_no_probability_is_printed_where_no_limit_was_given() -> None:
    text = print_at(render_plan(tuned(), "en"), 120)
    assert "Prob." not in text
    assert "likely" not in text.splitlines()[0]


def test_the_curve_keeps_its_ends_the_knee_and_the_first_plan() -> None:
    result = continued()
    assert result.knee is not None
    assert len(result.knee.curve) > 12
    text = print_at(render_plan(result, "en"), 120)
    curve = text[text.index("Where more cards") : text.index("Knee at")].splitlines()[2:]
    shown = [int(line.split()[0]) for line in curve]
    assert shown[0] == result.knee.curve[0].gpus
    assert shown[-1] == result.knee.curve[-1].gpus
    assert {result.knee.recommended_gpus, result.plans[0].gpus} <= set(shown)
    assert len(shown) <= 14
    marked = next(line for line in curve if "knee" in line)
    assert int(marked.split()[0]) == result.knee.recommended_gpus


def test_amounts_are_in_the_currency_asked_for() -> None:
    text = print_at(render_plan(continued("USD"), "en"), 120)
    assert SYMBOLS["USD"] in text
    assert SYMBOLS["CNY"] not in text


def test_a_plan_nearly_as_cheap_and_much_sooner_is_named_beside_the_first() -> None:
    result = continued()
    first, second = result.plans[:2]
    assert first.cost is not None
    assert second.cost is not None
    twice_as_fast = replace(second, run=replace(second.run, days=first.run.days / 2))

    def lines(total: float, lang: Language) -> str:
        cost = replace(second.cost, ranked_total=first.cost.ranked_total * total)  # type: ignore[type-var, union-attr]
        changed = replace(result, plans=(first, replace(twice_as_fast, cost=cost)))
        return print_at(render_plan(changed, lang), 300)

    assert f"Nearly as cheap and much sooner, plan 2: {second.gpus} × A800-SXM4-80GB" in lines(1.05, "en")
    assert "5.0% more." in lines(1.05, "en")
    assert "费用相近而快得多的是方案 2" in lines(1.05, "zh")
    assert "Nearly as cheap" not in lines(1.2, "en")


def test_the_bill_says_tax_payments_and_early_exit_with_the_figures_of_the_result() -> None:
    cost = offered().plans[0].cost
    assert cost is not None
    assert cost.early_exit is not None
    assert cost.total_tax_in is not None
    text = print_at(render_plan(offered(), "en"), 300)
    assert f"tax of 6%: {cost.total_tax_in} with it, {cost.total} without" in text
    assert f"at most {cost.peak_cash_out} at a time, {len(cost.cash_flow)} payments by day 91" in text
    assert f"instead of the minimum term: {cost.early_exit.total} ({cost.early_exit.fee} for leaving" in text
    assert f"With this at its worst: {cost.worst_total}, and what is unknown on top" in text


def test_data_that_come_late_and_racks_that_are_too_small_are_named() -> None:
    first = offered().plans[0]
    text = print_at(render_plan(offered(), "en"), 300)
    assert first.data_path.wait_rent is not None
    assert f"bring it in before delivery, or {first.data_path.wait_rent} of rent waits for it." in text
    assert "  × a rack of 6 kW does not feed one machine of 6.5 kW" in text
    assert "  √ 16 cards fit in one fabric of 32" in text
    assert first.data_path.cache_worth is not None
    assert str(first.data_path.cache_worth) in text
    bare = replace(first, data_path=replace(first.data_path, wait_rent=None, cache_worth=None))
    without = print_at(render_plan(replace(offered(), plans=(bare,)), "en"), 300)
    assert "longer than set-up: bring it in before delivery.\n" in without
    assert "Shared by 4 tenants, storage holds up training for" in without


def test_a_bill_without_payments_or_open_parts_says_so() -> None:
    first = offered().plans[0]
    assert first.cost is not None
    closed = replace(first.cost, missing=first.cost.missing[:1], cash_flow=(), tax_rate_fraction=None)
    priced = replace(closed.missing[0], worst=closed.total, basis=closed.missing[0].name)
    lines = print_at(
        render_plan(replace(offered(), plans=(replace(first, cost=replace(closed, missing=(priced,))),)), "en"), 300
    )
    assert "nothing is paid" in lines
    assert "With all of this at its worst:" in lines
    nothing = print_at(
        render_plan(replace(offered(), plans=(replace(first, cost=replace(closed, missing=())),)), "en"), 300
    )
    assert "Not in it" not in nothing


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_long_name_of_a_seller_cuts_no_figure(lang: Language) -> None:
    result = offered()
    name = "北京某某某某智能算力科技有限公司（华北第二分公司）"
    plans = tuple(
        replace(row, offer=None if row.offer is None else replace(row.offer, provider=name)) for row in result.plans
    )
    table = print_at(render_plan(replace(result, plans=plans), lang), 120)
    assert "…" not in table.replace("=…", "")
    assert str(plans[1].cost.ranked_total) in table  # type: ignore[union-attr]  # an offer has a price


def test_a_total_without_a_range_shows_none() -> None:
    result = offered()
    first = result.plans[0]
    assert first.cost is not None
    one = first.cost.ranked_total
    cost = replace(first.cost, low=first.cost.total, high=first.cost.total, low_tax_in=one, high_tax_in=one)
    text = print_at(render_plan(replace(result, plans=(replace(first, cost=cost),)), "en"), 120)
    assert f"{one} with tax." in text.replace("\n", " ")
    assert "as quoted, the short run and the long one cost the same" in text

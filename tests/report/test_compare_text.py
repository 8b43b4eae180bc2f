"""What ``compare`` prints, beyond the golden files: widths, large amounts, what only some sellers have."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from suanpei.market.cost import MissingPart
from suanpei.messages import Message
from suanpei.money import Money
from suanpei.report.text.compare import render_compare
from suanpei.report.text.compare_plans import render_compare_plans
from suanpei.verbs.plan_factors import PartDifference
from tests.golden.compare_samples import compared, two_plans
from tests.golden.plan_samples import print_at

if TYPE_CHECKING:
    from suanpei.report.locale import Language
    from suanpei.verbs.compare import CompareResult
    from suanpei.verbs.compare_rows import SellerRow


def cny(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency="CNY")


def with_rows(*rows: SellerRow) -> CompareResult:
    return replace(compared(), sellers=rows)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_line_is_wider_than_the_console_and_no_amount_is_cut(lang: Language, width: int) -> None:
    first, second, *_ = compared().sellers
    large = cny("123456789.01")
    dear = replace(
        second,
        seller="某某某智能计算科技（上海）有限公司",
        cost_per_million_tokens=cny("1234567"),
        total_tax_in=large,
        total_tax_out=large,
        ranked_total=large,
    )
    text = print_at(render_compare(with_rows(first, dear), lang), width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert text.count("¥123,456,789") == 2
    assert "¥1,234,567" in text
    assert "…" not in text
    why = print_at(render_compare_plans(two_plans(), lang), width)
    assert max(cell_len(line) for line in why.splitlines()) <= width
    assert "…" not in why


@pytest.mark.parametrize(
    ("total", "said"),
    [("40.00", "乙算力 costs the same."), ("60.00", "乙算力, 50.0% more."), ("120", "乙算力, 3 times as much.")],
)
def test_the_headline_says_how_far_the_next_is(total: str, said: str) -> None:
    first, second = compared().sellers[:2]
    first, second = replace(first, ranked_total=cny("40")), replace(second, ranked_total=cny(total))
    assert print_at(render_compare(with_rows(first, second), "en"), 300).splitlines()[0].endswith(said)


def test_a_single_seller_has_nobody_next() -> None:
    text = print_at(render_compare(with_rows(compared().sellers[0]), "en"), 300)
    assert text.splitlines()[0].endswith("¥40.00 with tax.")


def test_what_is_left_out_stands_with_its_worst_reading() -> None:
    first, second, *_ = compared().sellers
    ask = Message("ask")
    storage = MissingPart(
        name=Message("storage of data and checkpoints"), currency="CNY", worst=cny("12"), basis=None, question=ask
    )
    egress = MissingPart(
        name=Message("traffic in and out (egress)"), currency="CNY", worst=None, basis=None, question=ask
    )
    rows = (
        replace(first, not_included=(storage, egress), worst_total=cny("52")),
        replace(second, not_included=(egress,)),
    )
    text = print_at(render_compare(with_rows(*rows), "en"), 200)
    assert "Not in any total as quoted (unknown, not zero): traffic in and out (egress)\n" in text
    assert "Not in the total as quoted: storage of data and checkpoints (at worst ¥12.00)" in text
    assert "With tax and everything left out at its worst reading: ¥52.00." in text


def test_an_interval_of_the_price_and_a_missing_tie_are_said() -> None:
    first, second, *_ = compared().sellers
    rows = (first, replace(second, low=cny("40"), high=cny("90"), ties_at_price_per_gpu_hour=None))
    text = print_at(render_compare(with_rows(*rows), "en"), 200)
    assert "As quoted ¥45.60, 90%: ¥40.00–90.00." in text
    assert "No price per card-hour makes it tie with the first." in text


def test_where_time_ranks_the_headline_says_so() -> None:
    result = replace(compared(), request={**compared().request, "objective": "time"})
    assert print_at(render_compare(result, "en"), 300).startswith("Soonest: 丁云, 2 × A800-SXM4-80GB (one machine)")


def test_the_nearest_plan_of_a_seller_without_one_is_shown() -> None:
    first, second, *_ = compared().sellers
    missed = replace(second, rank=None, reason=Message("nothing is on offer"), ties_at_price_per_gpu_hour=None)
    text = print_at(render_compare(with_rows(first, missed), "en"), 200)
    assert "  - 乙算力: nothing is on offer\n" in text
    assert "  - 乙算力, nearest: 8 × RTX-4090, 2.1 h, ¥51.53 with tax at most, ¥1.90 per card-hour\n" in text
    assert "\n2  " not in text


def test_plans_without_two_prices_say_that_the_costs_are_not_compared() -> None:
    text = print_at(render_compare_plans(replace(two_plans(), cost=None, cost_parts=()), "en"), 120)
    assert "The costs are not compared" in text
    assert "price per card-hour" not in text


def test_a_wide_console_shows_the_fields_behind_each_factor() -> None:
    assert "estimate.tokens_per_step, run.steps" in print_at(render_compare_plans(two_plans(), "en"), 220)
    assert "estimate.tokens_per_step" not in print_at(render_compare_plans(two_plans(), "en"), 120)


@pytest.mark.parametrize("width", [140, 160])
def test_long_lists_of_fields_leave_factors_and_ratios_whole(width: int) -> None:
    plain = print_at(render_compare_plans(two_plans(), "en"), 120).splitlines()
    wide = print_at(render_compare_plans(two_plans(), "en"), width)
    start, end = plain.index("Time") + 1, plain.index("Cost")
    for line in filter(None, plain[start:end]):
        assert all(cell.strip() in wide for cell in line.split("  ") if cell.strip())
    assert "…" not in wide


def test_equal_times_and_parts_are_not_told_as_a_difference() -> None:
    result = two_plans()
    same = replace(result.days, ratio=Fraction(100_001, 100_000))
    parts = (
        PartDifference(
            name="a part", field="run.parts", a=Fraction(7500), b=Fraction(75001, 10), difference=Fraction(1, 10)
        ),
    )
    text = print_at(render_compare_plans(replace(result, days=same, run_parts=parts), "en"), 120)
    assert text.startswith("B takes as long as A (2.2 h → 2.1 h)")
    assert "a part" not in text


def test_lines_of_the_bill_are_named_in_the_readers_language() -> None:
    assert "cards at work" in print_at(render_compare_plans(two_plans(), "en"), 120)
    assert "实际使用的卡时" in print_at(render_compare_plans(two_plans(), "zh"), 120)

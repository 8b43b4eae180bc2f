"""The verb ``compare``: one row per seller, laws of its ranking, and reasons where a seller has no plan."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import fields, replace
from decimal import Decimal
from itertools import permutations
from math import ceil
from typing import TYPE_CHECKING

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.errors import InputError, NoAnswerError
from suanpei.money import Money
from suanpei.verbs.compare import CompareResult, compare_quotes
from suanpei.verbs.compare_rows import SellerRow
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.plan import plan
from suanpei.verbs.plan_request import PlanRequest
from suanpei.verbs.schema import describe_schema
from tests.golden.compare_samples import JOB, SELLERS, compared
from tests.golden.plan_samples import DAY, FROZEN

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, str]
BASE: Row = {
    "gpu": "A800",
    "currency": "CNY",
    "count": "16",
    "term": "hourly",
    "node_or_card": "card",
    "tax": "含税 6%",
    "links": "8x200G RoCE",
    "tier": "platform",
    "source": "",
}
ROWS: list[Row] = [
    {**BASE, "provider": "甲", "price_per_hour": "5.9"},
    {**BASE, "provider": "乙", "price_per_hour": "6.4", "tax": "不含税(6%)"},
    {**BASE, "provider": "丙", "price_per_hour": "2.1", "gpu": "4090", "tax": ""},
    {**BASE, "provider": "丁", "price_per_hour": "5.5", "tax": ""},
]


def write(path: Path, rows: list[Row]) -> Path:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(stream.getvalue(), encoding="utf-8")
    return path


def compare(folder: Path, rows: list[Row], **options: object) -> CompareResult:
    request = PlanRequest(
        job=JOB, as_of=DAY, currency="CNY", gpus="2,8", offers=(write(folder / "o.csv", rows),), catalog=FROZEN
    )
    return compare_quotes(replace(request, **options))  # type: ignore[arg-type]  # a test's own words


def by_seller(result: CompareResult) -> dict[str, SellerRow]:
    return {row.seller: row for row in result.sellers}


def without_source(row: SellerRow) -> SellerRow:
    return row if row.offer is None else replace(row, offer=replace(row.offer, source=""))


def cny(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency="CNY")


def test_the_json_is_what_the_schema_says() -> None:
    document = json.loads(json.dumps(to_envelope(compared())))
    jsonschema.Draft202012Validator(describe_schema("compare")).validate(document)
    first = document["sellers"][0]
    assert (first["rank"], first["seller"], first["offer"]["source"]) == (1, "丁云", "报价.csv:5")
    assert isinstance(first["total"], float)
    worst = [part["worst"] for part in first["not_included"] if part["worst"] is not None]
    assert worst
    assert first["worst_total"] == pytest.approx((first["total_tax_in"] or first["total"]) + sum(worst), abs=0.005)


def test_every_seller_has_one_row_and_the_ranks_follow_the_totals_with_tax() -> None:
    rows = compared().sellers
    assert sorted(row.seller for row in rows) == sorted({"甲云", "乙算力", "丙智算", "丁云", "Alpha", "己"})
    ranked = [row for row in rows if row.rank is not None]
    assert [row.rank for row in ranked] == list(range(1, len(ranked) + 1))
    totals = [row.ranked_total.amount for row in ranked if row.ranked_total is not None]
    assert totals == sorted(totals)
    assert len(totals) == len(ranked)


def test_totals_are_cards_times_paid_hours_times_price() -> None:
    rows = by_seller(compared())
    # a month of one node: 8 · 730 · 6.2 with tax in it; without, over 1.06
    node = rows["甲云"]
    assert (node.total, node.total_tax_in, node.total_tax_out) == (cny("36208.00"), cny("36208.00"), cny("34158.49"))
    # by the hour: cards · started hours · price, tax on top at the stated rate
    for name, factor in (("丙智算", "1.06"), ("Alpha", "1.19")):
        row = rows[name]
        assert row.gpus is not None
        assert row.days is not None
        assert row.price_per_gpu_hour is not None
        quoted = row.gpus * ceil(row.days * 24) * row.price_per_gpu_hour.amount
        assert row.total == Money(amount=quoted, currency="CNY").rounded()
        assert row.total_tax_out == row.total
        assert row.total_tax_in == Money(amount=quoted * Decimal(factor), currency="CNY").rounded()
    assert rows["Alpha"].price_per_gpu_hour == cny("15.12")  # 2.1 USD at 7.2
    # tax left open: as quoted at best, 13 % on top at worst, and that ranks
    row = rows["丁云"]
    assert row.total is not None
    assert (row.total_tax_in, row.total_tax_out) == (None, None)
    assert row.least_total_tax_in == row.total
    assert row.ranked_total == (row.total * Decimal("1.13")).rounded()


def test_the_cost_of_a_million_tokens_is_the_ranked_total_over_the_tokens() -> None:
    for row in compared().sellers:
        if row.ranked_total is not None:
            # 2,000 samples of 600 tokens, three passes: 3.6 million
            assert row.cost_per_million_tokens is not None
            assert row.cost_per_million_tokens.amount == row.ranked_total.amount / Decimal("3.6")


def test_a_seller_s_row_is_what_a_plan_on_its_offers_alone_costs(tmp_path: Path) -> None:
    with SELLERS.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    for name in ("甲云", "丙智算", "丁云"):
        own = write(tmp_path / "own.csv", [line for line in lines if line["provider"] == name])
        request = PlanRequest(job=JOB, as_of=DAY, currency="CNY", gpus="2,8", offers=(own,), deadline="5d")
        first = plan(replace(request, catalog=FROZEN)).plans[0]
        row = by_seller(compared())[name]
        assert first.cost is not None
        assert (row.total, row.gpus, row.days) == (first.cost.total, first.gpus, first.run.days)


def test_what_is_dearer_by_the_hour_and_cheaper_for_the_job_is_flagged() -> None:
    rows = by_seller(compared())
    flag = "dearer_per_hour_cheaper_per_token"
    assert flag in rows["丁云"].flags  # 5.9 against the 1.9 of 乙算力, whose eight cards pay for three hours each
    assert flag not in rows["乙算力"].flags
    assert flag not in rows["甲云"].flags


def test_flags_say_what_the_offer_leaves_open() -> None:
    rows = by_seller(compared())
    assert "tax_unknown" in rows["丁云"].flags
    assert {"tax_excluded", "links_unknown"} <= set(rows["乙算力"].flags)
    assert "tax_excluded_6pct" in rows["丙智算"].flags
    assert "tax_excluded_19pct" in rows["Alpha"].flags
    assert rows["甲云"].flags == ()


@pytest.mark.parametrize("order", list(permutations(range(4)))[1::5])
def test_permuting_the_offers_leaves_the_rows(tmp_path: Path, order: tuple[int, ...]) -> None:
    rows = [*ROWS, {**ROWS[0], "price_per_hour": "7"}]
    first = compare(tmp_path, rows)
    again = compare(tmp_path, [rows[4], *(rows[place] for place in order)])
    assert [without_source(row) for row in again.sellers] == [without_source(row) for row in first.sellers]


def test_sellers_of_one_and_the_same_offer_have_the_same_totals(tmp_path: Path) -> None:
    rows = by_seller(compare(tmp_path, [*ROWS, {**ROWS[0], "provider": "戊"}]))
    own = ("seller", "rank", "offer", "ties_at_price_per_gpu_hour")
    one, other = (
        {item.name: getattr(rows[name], item.name) for item in fields(SellerRow) if item.name not in own}
        for name in ("甲", "戊")
    )
    assert one == other
    assert one["ranked_total"] is not None


@given(place=st.integers(0, 3), factor=st.decimals("1.001", 3, places=3))
@settings(max_examples=8, deadline=None)
def test_a_dearer_price_never_improves_rank_or_total(
    tmp_path_factory: pytest.TempPathFactory, place: int, factor: Decimal
) -> None:
    folder = tmp_path_factory.mktemp("dearer")
    before = by_seller(compare(folder, ROWS))
    dearer = {**ROWS[place], "price_per_hour": str(Decimal(ROWS[place]["price_per_hour"]) * factor)}
    after = by_seller(compare(folder, [*ROWS[:place], dearer, *ROWS[place + 1 :]]))
    name = ROWS[place]["provider"]
    assert before[name].rank is not None
    assert after[name].rank is not None
    assert after[name].rank >= before[name].rank  # type: ignore[operator]  # neither is None
    for field in ("total", "low", "high", "ranked_total", "cost_per_million_tokens"):
        assert getattr(after[name], field) >= getattr(before[name], field)
    for other in set(before) - {name}:
        assert after[other].ranked_total == before[other].ranked_total


@pytest.mark.parametrize("place", [1, 2, 3])
def test_at_the_tie_price_the_totals_tie_when_everything_is_billed_again(tmp_path: Path, place: int) -> None:
    first = compare(tmp_path, ROWS, gpus="8")
    name = ROWS[place]["provider"]
    row, best = by_seller(first)[name], first.sellers[0]
    if row.rank == 1:
        place, name = 0, ROWS[0]["provider"]
        row = by_seller(first)[name]
    tie = row.ties_at_price_per_gpu_hour
    assert tie is not None
    assert best.ranked_total is not None

    def total_at(price: Decimal) -> Decimal:
        changed = {**ROWS[place], "price_per_hour": str(price)}
        again = by_seller(compare(tmp_path, [*ROWS[:place], changed, *ROWS[place + 1 :]], gpus="8"))
        total = again[name].ranked_total
        assert total is not None
        return total.amount

    step = Decimal("0.0001")
    assert total_at(tie.amount) <= best.ranked_total.amount < total_at(tie.amount + step)
    # 8 cards for at most 3 hours: a step is less than a cent, so the totals agree to the cent
    assert best.ranked_total.amount - total_at(tie.amount) <= Decimal("0.01")


def test_the_best_has_no_tie_price_and_a_month_s_tie_is_not_in_the_hours_used() -> None:
    rows = compared().sellers
    assert rows[0].ties_at_price_per_gpu_hour is None
    assert rows[0].ranked_total is not None
    month = by_seller(compared())["甲云"].ties_at_price_per_gpu_hour
    assert month is not None
    assert month.amount == (rows[0].ranked_total.amount / (8 * 730)).quantize(Decimal("0.0001"), rounding="ROUND_FLOOR")


def test_a_seller_beyond_the_deadline_stands_with_the_reason_and_its_nearest_plan(tmp_path: Path) -> None:
    rows = [ROWS[0], {**ROWS[2], "links": ""}]
    job = replace(JOB, samples="400000")
    result = compare(tmp_path, rows, job=job, deadline="12h")
    late = by_seller(result)["丙"]
    assert by_seller(result)["甲"].rank == 1
    assert late.rank is None
    assert str(late.reason).startswith("no plan meets the deadline of 0.5 d with probability 0.9: the soonest, 8 × RTX")
    assert late.days is not None
    assert late.days > 0.5
    assert late.ranked_total is not None
    assert late.ties_at_price_per_gpu_hour is None
    assert result.sellers[-1] == late


def test_the_budget_is_kept_with_tax(tmp_path: Path) -> None:
    free = by_seller(compare(tmp_path, ROWS))
    total = free["乙"].total
    assert total is not None
    # what 乙 quotes is within the budget, what is paid with tax is not
    budget = f"{total.amount * Decimal('1.03'):.2f}CNY"
    row = by_seller(compare(tmp_path, ROWS, budget=budget))["乙"]
    assert row.rank is None
    assert str(row.reason).startswith("no plan stays within the budget of")
    assert str(row.reason).endswith("(amounts in CNY, with tax)")
    assert row.ranked_total == free["乙"].ranked_total


def test_a_seller_on_whose_cards_nothing_fits_stands_with_the_reason(tmp_path: Path) -> None:
    result = compare(tmp_path, [ROWS[0], {**ROWS[2], "count": "1"}], gpus="1-8")
    row = by_seller(result)["丙"]
    assert (row.rank, row.accelerator, row.total, row.offer) == (None, None, None, None)
    assert str(row.reason).startswith("nothing fits: does not fit in accelerator memory")
    filtered = by_seller(compare(tmp_path, ROWS, gpu=("4090",)))
    assert filtered["丙"].rank == 1
    assert str(filtered["甲"].reason) == "no offer of this seller is left after --gpu, --gpus and --region"


def test_without_a_deadline_a_seller_has_ninety_days(tmp_path: Path) -> None:
    job = replace(JOB, samples=None, avg_tokens=None, tokens="120B", method="full")
    rows = by_seller(compare(tmp_path, [ROWS[0], {**ROWS[2], "links": ""}], job=job, gpus="8"))
    assert rows["甲"].rank == 1
    slow = rows["丙"]
    assert slow.rank is None
    assert slow.days is not None
    assert slow.days > 90
    said = f"the soonest takes {slow.days:,.1f} days, and without a deadline a plan has 90: give one with --deadline"
    assert str(slow.reason) == said


def test_where_time_ranks_the_soonest_is_first(tmp_path: Path) -> None:
    rows = compare(tmp_path, ROWS, objective="time").sellers
    days = [row.days for row in rows]
    assert days == sorted(days)  # type: ignore[type-var]  # no row without days
    assert rows[0].gpus == 8
    # of two sellers with the same cards, the cheaper stands first
    same = [row for row in rows if row.days == rows[0].days]
    totals = [row.ranked_total.amount for row in same if row.ranked_total is not None]
    assert totals == sorted(totals)
    assert len(totals) > 1


def test_spellings_of_one_seller_are_one_row(tmp_path: Path) -> None:
    rows = [{**ROWS[0], "provider": "Alpha  Cloud"}, {**ROWS[3], "provider": "alpha cloud"}]
    (row,) = compare(tmp_path, rows).sellers
    assert row.seller == "Alpha Cloud"
    assert row.rank == 1


def test_where_nothing_fits_anywhere_the_nearest_change_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoAnswerError, match=r"nothing fits: .*would do with --method lora"):
        compare(tmp_path, [{**ROWS[2], "count": "1"}], gpus="1")


def test_no_seller_in_time_is_no_answer(tmp_path: Path) -> None:
    job = replace(JOB, samples=None, avg_tokens=None, tokens="500B", method="full")
    with pytest.raises(NoAnswerError, match="without a deadline a plan has 90"):
        compare(tmp_path, [ROWS[0]], job=job, gpus="8")
    with pytest.raises(NoAnswerError, match=r"no plan meets the deadline of 0\.0417 d"):
        compare(tmp_path, ROWS, deadline="1h")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"offers": ()}, "quotes: give the files to compare"),
        ({"price": ("A800=6CNY",)}, "price: quotes carry their own prices and terms; leave it out"),
        ({"tier": ("spot",)}, "tier: quotes carry"),
        ({"tenancy": "dedicated"}, "tenancy: quotes carry"),
        ({"gpu": ("H800",)}, "none of the offers in .* is left after --gpu"),
    ],
)
def test_bad_requests_are_refused(tmp_path: Path, options: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        compare(tmp_path, ROWS, **options)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"quotes: .*nowhere.csv is not a file"):
        compare(tmp_path, ROWS, offers=(tmp_path / "nowhere.csv",))


def test_the_request_repeats_the_result() -> None:
    kept = {item.name for item in fields(PlanRequest)}
    assert set(compared().request) == kept

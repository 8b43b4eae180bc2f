"""The verb ``plan``: what it returns, its JSON, and that a replay repeats it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import jsonschema
import pytest

from suanpei.errors import InputError, NoAnswerError
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.job_request import JobRequest
from suanpei.verbs.plan import plan
from suanpei.verbs.plan_request import PlanRequest
from suanpei.verbs.replay import read_plan_request
from suanpei.verbs.schema import describe_schema
from tests.golden.plan_samples import DAY, FROZEN, continued, tuned

if TYPE_CHECKING:
    from pathlib import Path

ASKED = PlanRequest(
    job=JobRequest(model="llama-3-8b", tokens="2B"),
    as_of=DAY,
    currency="CNY",
    gpu=("A800",),
    gpus="8,16",
    catalog=FROZEN,
)


@pytest.mark.parametrize("result", [continued(), tuned()], ids=["pretraining", "tuning"])
def test_the_json_is_what_the_schema_says(result: object) -> None:
    document = json.loads(json.dumps(to_envelope(result)))  # type: ignore[arg-type]  # a result
    jsonschema.Draft202012Validator(describe_schema("plan")).validate(document)
    first = document["plans"][0]
    assert isinstance(first["cost"]["total"], float)
    assert first["cost"]["currency"] == first["indicative_price"]["currency"] == "CNY"
    assert first["cost"]["low"] <= first["cost"]["total"] <= first["cost"]["high"]
    assert first["indicative_price"]["low"] <= first["indicative_price"]["median"] <= first["indicative_price"]["high"]


def test_a_replay_gives_the_same_result(tmp_path: Path) -> None:
    first = plan(ASKED)
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(to_envelope(first), ensure_ascii=False), encoding="utf-8")
    empty = PlanRequest(job=JobRequest(), as_of=DAY.replace(year=2027), currency="USD")
    request = read_plan_request(file, empty)
    assert request == ASKED
    again = plan(request)
    assert replace(again, search=first.search) == first


def test_a_replay_takes_no_other_option_and_only_a_plan(tmp_path: Path) -> None:
    empty = PlanRequest(job=JobRequest(), as_of=DAY, currency="USD")
    file = tmp_path / "plan.json"
    with pytest.raises(InputError, match=r"replay: .*plan.json cannot be read: No such file"):
        read_plan_request(file, empty)
    file.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"replay: .* is not JSON"):
        read_plan_request(file, empty)
    for other in ("[]", "{}", '{"request": {"model": "x"}}'):
        file.write_text(other, encoding="utf-8")
        with pytest.raises(InputError, match="is no result of suanpei plan --json"):
            read_plan_request(file, empty)
    with pytest.raises(InputError, match="give no other option beside it"):
        read_plan_request(file, replace(empty, deadline="20d"))


def test_the_cost_is_cards_times_hours_times_price() -> None:
    for row in continued().plans:
        assert row.cost is not None
        assert row.indicative_price is not None
        paid = Decimal(row.cost.paid_gpus) * Decimal(repr(row.cost.paid_hours))
        assert row.cost.total.amount == (paid * row.indicative_price.median.amount).quantize(Decimal("0.01"))
        assert row.run.days * 24 <= row.cost.paid_hours


def test_every_listed_plan_keeps_the_deadline_with_the_confidence_asked_for() -> None:
    for row in continued().plans:
        assert row.run.deadline_probability is not None
        assert row.run.deadline_probability >= 0.9
        assert row.run.low_days <= row.run.days <= row.run.high_days
        assert row.estimate.memory.verdict == "fits"


def test_the_curve_runs_over_all_numbers_of_cards_not_only_those_of_one_price() -> None:
    knee = continued().knee
    assert knee is not None
    counts = [point.gpus for point in knee.curve]
    assert counts == sorted(set(counts))
    assert counts[0] <= 8
    assert counts[-1] == 1024


def test_the_package_of_a_small_job_is_a_month_of_one_node() -> None:
    package = next(item for item in tuned().alternatives if item.kind == "biggest_package")
    first = tuned().plans[0]
    assert (package.months, package.gpus) == (1, 8)
    assert package.cost is not None
    assert package.cost.paid_hours == 730
    assert first.cost is not None
    assert package.cost_ratio == pytest.approx(package.cost.total.ratio(first.cost.total))


def test_a_stated_price_replaces_the_indicative_one() -> None:
    row = plan(replace(ASKED, price=("A800=5CNY",))).plans[0]
    assert row.indicative_price is not None
    assert row.indicative_price.tier == "stated"
    assert row.indicative_price.median.amount == 5


def test_without_a_card_named_other_stacks_stand_in_their_own_table() -> None:
    result = plan(replace(ASKED, gpu=(), gpus="8"))
    assert result.plans
    assert result.other_stacks
    main = {row.accelerator for row in result.plans}
    assert main.isdisjoint(row.accelerator for row in result.other_stacks)
    assert not any(name.startswith(("Ascend", "MI", "B200")) for name in main)


def test_a_missed_deadline_names_the_nearest_one() -> None:
    with pytest.raises(NoAnswerError, match=r"no plan meets the deadline of 0.5 d.*a deadline of \S+ d would do"):
        plan(replace(ASKED, deadline="12h"))


def test_a_budget_too_small_names_the_amount_with_its_currency() -> None:
    with pytest.raises(NoAnswerError, match=r"budget of 100.00 .* a budget of \S+ would do \(amounts in CNY\)"):
        plan(replace(ASKED, budget="100CNY"))


@pytest.mark.parametrize(
    "asked",
    [
        replace(ASKED, gpus="1"),
        replace(ASKED, gpus="1", gpu=("4090",), job=JobRequest(model="llama-3-8b", samples="100", avg_tokens="500")),
        replace(ASKED, gpus="1023"),
    ],
    ids=["cards", "one small card", "a number that splits nothing"],
)
def test_the_nearest_number_of_cards_really_would_do(asked: PlanRequest) -> None:
    with pytest.raises(NoAnswerError) as caught:
        plan(asked)
    would_do = re.search(r"would do: --gpus (\d+)$", str(caught.value))
    assert would_do is not None, caught.value
    assert plan(replace(asked, gpus=would_do[1])).plans


def test_what_would_fit_but_for_the_money_says_how_much_it_takes() -> None:
    with pytest.raises(NoAnswerError) as caught:
        plan(replace(ASKED, gpus="1", budget="1CNY"))
    terms = re.search(r"--gpus (\d+), given a deadline of (\S+) d and a budget of ([\d,]+)$", str(caught.value))
    assert terms is not None, caught.value
    assert plan(replace(ASKED, gpus=terms[1], deadline=f"{terms[2]}d", budget=f"{terms[3]}CNY")).plans


def test_what_fits_nowhere_names_the_nearest_need() -> None:
    asked = replace(ASKED, job=JobRequest(model="llama-3-70b", tokens="1B"), gpus="1")
    with pytest.raises(NoAnswerError, match=r"nothing fits: .*1 × A800-SXM4-80GB needs \S+ [GT]iB of 79.2 GiB"):
        plan(asked)


def test_offers_alone_are_planned_at_their_own_price(tmp_path: Path) -> None:
    file = tmp_path / "offers.csv"
    file.write_text(
        "provider,gpu,gpu_count,price_per_hour,currency,term,tier,links,count,date,source\n"
        "某云,A800,1,5.5,CNY,monthly,server,8x200G IB,16,2026-11-01,quote\n",
        encoding="utf-8",
    )
    result = plan(replace(ASKED, offers=(file,), gpus=None))
    assert {row.offer.provider for row in result.plans if row.offer} == {"某云"}
    assert max(row.gpus for row in result.plans) <= 16
    assert all(row.cost is not None and row.cost.paid_hours % 730 == 0 for row in result.plans)

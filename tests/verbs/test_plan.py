"""The verb ``plan``: what it returns, its JSON, and that a replay repeats it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

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

    from suanpei.verbs.plan import PlanResult

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
    with pytest.raises(
        NoAnswerError, match=r"budget of 100.00 .* a budget of \S+ would do \(amounts in CNY, with tax\)"
    ):
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


OFFERS = (
    "provider,gpu,price_per_hour,currency,term,tier,node_or_card,links,count,tax,egress_per_gb,fabric_per_gpu_hour,"
    "bills_outages,set_up\n"
    "甲云,A800,5.0,CNY,hourly,platform,card,8x200G IB,16,含税6%,{egress},{fabric},{outages},\n"
    "乙云,A800,5.4,CNY,hourly,platform,card,8x200G IB,16,含税6%,0,0,,100\n"
)


def _offered(tmp_path: Path, egress: str = "", fabric: str = "", outages: str = "", **changes: Any) -> PlanResult:
    file = tmp_path / "offers.csv"
    file.write_text(OFFERS.format(egress=egress, fabric=fabric, outages=outages), encoding="utf-8")
    return plan(replace(ASKED, offers=(file,), **{"gpus": "16", **changes}))


@pytest.mark.parametrize(
    ("egress", "fabric", "first"), [("", "", "甲云"), ("0", "0.3", "甲云"), ("20", "", "乙云"), ("", "0.9", "乙云")]
)
def test_the_first_plan_is_the_cheapest_with_all_that_is_billed(
    tmp_path: Path, egress: str, fabric: str, first: str
) -> None:
    result = _offered(tmp_path, egress, fabric)
    shown = result.plans[0]
    assert shown.offer is not None
    assert shown.cost is not None
    assert shown.offer.provider == first
    assert all(shown.cost.total <= bill.total for bill in shown.other_bills)
    assert sum(part.amount.amount for part in shown.cost.parts) == shown.cost.total.amount


def test_the_search_has_the_cost_that_the_bill_has(tmp_path: Path) -> None:
    result = _offered(tmp_path, "0.5", "0.1", "no")
    shown = result.plans[0]
    assert shown.cost is not None
    assert result.frontier[0].cost is not None
    assert float(result.frontier[0].cost.amount) == pytest.approx(float(shown.cost.total.amount), abs=0.05)
    assert {str(part.name).split(":")[0] for part in shown.cost.parts} >= {"rent", "transfer out"}


def test_a_budget_holds_all_that_is_billed(tmp_path: Path) -> None:
    free = _offered(tmp_path).plans[0].cost
    assert free is not None
    budget = f"{free.high.amount + 50}CNY"
    assert _offered(tmp_path, budget=budget).plans[0].constraint_probability >= 0.9
    # 50 of slack do not pay 128 GB of traffic at 20 each, and the other seller's rent is above it
    with pytest.raises(NoAnswerError, match="no plan stays within the budget"):
        _offered(tmp_path, "20", budget=budget)


def test_set_up_and_stops_are_parts_of_the_rent_of_the_hours_held() -> None:
    for row in continued().plans:
        assert row.cost is not None
        rent = row.cost.parts[0]
        setup = next(line for line in rent.parts if "set-up" in str(line.name))
        assert setup.quantity == row.gpus * Decimal(24 if row.nodes > 1 else 2)
        held = sum(line.quantity for line in rent.parts if "beyond" not in str(line.name))
        assert float(held) == pytest.approx(row.gpus * row.run.days * 24)


def test_data_line_and_rack_are_taken_as_given() -> None:
    asked = replace(ASKED, data_size="4TB", uplink="8Gbps", rack_kw=20.0, gpus="16")
    result = plan(asked)
    row = result.plans[0]
    # 8 GB of ids would be 2B tokens at 4 bytes; 4 TB at 0.9 of 1 GB/s take 4,459 s with image and weights
    assert row.data_path.data_bytes == 4e12
    assert row.data_path.pull_s == pytest.approx((4e12 + 20e9 + 2 * 8.03e9) / 0.9e9, rel=1e-3)
    assert row.data_path.read_bytes_per_s == pytest.approx(
        16 * row.estimate.tokens_per_second_per_gpu * 2000.0, rel=1e-3
    )
    assert [finding.holds for finding in row.placement] == [None, True, True]
    assumed = [str(note) for note in result.assumptions]
    assert not any(note.startswith(("data-size", "uplink")) for note in assumed)
    plain = plan(replace(ASKED, gpus="16"))
    assert plain.plans[0].data_path.data_bytes == 8e9
    assert {"data-size", "uplink"} <= {str(note).split(":")[0] for note in plain.assumptions}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"rack_kw": 0.0}, "rack-kw must be from 1 to 1000, got 0"),
        ({"rack_kw": float("nan")}, "rack-kw must be from 1 to 1000, got nan"),
        ({"data_size": "4"}, "data-size: '4' has no unit"),
        ({"uplink": "fast"}, "uplink: cannot read 'fast'"),
    ],
)
def test_bad_data_line_and_rack_are_named(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        plan(replace(ASKED, **changes))


def test_an_epoch_is_stored_once() -> None:
    asked = replace(ASKED, job=JobRequest(model="llama-3-8b", tokens="2B", epochs=2.0), gpus="16")
    assert plan(asked).plans[0].data_path.data_bytes == 8e9

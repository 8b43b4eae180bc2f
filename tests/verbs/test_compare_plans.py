"""`compare --plans`: the factors reproduce the ratios exactly, from the fields that they name; bad files are named."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from suanpei.errors import InputError
from suanpei.report.locale import translate
from suanpei.verbs.compare_plans import ComparePlansResult, compare_plans
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.schema import describe_schema
from tests.golden.compare_samples import at_indicative_prices, on_offers, two_plans, write_plan
from tests.golden.plan_samples import continued, tuned

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from suanpei.verbs.plan import PlanResult
    from suanpei.verbs.plan_factors import Decomposition, Factor

PAIRS: list[tuple[Callable[[], PlanResult], Callable[[], PlanResult], tuple[int, ...]]] = [
    (on_offers, at_indicative_prices, ()),
    (at_indicative_prices, on_offers, (2, 3)),
    (continued, tuned, ()),
    (tuned, tuned, (1, 3)),
]


def document_of(result: PlanResult) -> dict[str, Any]:
    return json.loads(json.dumps(to_envelope(result)))


def save(folder: Path, name: str, document: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return path


def compared(
    folder: Path, first: Callable[[], PlanResult], second: Callable[[], PlanResult], ranks: tuple[int, ...]
) -> ComparePlansResult:
    return compare_plans(write_plan(first(), folder / "a.json"), write_plan(second(), folder / "b.json"), ranks)


def wholes(result: ComparePlansResult) -> list[Decomposition]:
    return [whole for whole in (result.days, result.cost) if whole is not None]


@pytest.mark.parametrize(("first", "second", "ranks"), PAIRS)
def test_the_factors_multiply_to_the_ratio_exactly(
    tmp_path: Path,
    first: Callable[[], PlanResult],
    second: Callable[[], PlanResult],
    ranks: tuple[int, ...],
) -> None:
    result = compared(tmp_path, first, second, ranks)
    assert result.cost is not None
    for whole in wholes(result):
        assert prod((factor.ratio for factor in whole.factors), start=Fraction(1)) == whole.ratio
        assert whole.ratio == whole.b / whole.a
    # the ratio is that of the two files' own numbers
    plans = [made().plans[rank - 1] for made, rank in zip((first, second), ranks or (1, 1), strict=True)]
    assert result.days.ratio == Fraction(repr(plans[1].run.days)) / Fraction(repr(plans[0].run.days))
    costs = [plan.cost for plan in plans]
    assert costs[0] is not None
    assert costs[1] is not None
    ratio = Fraction(costs[1].ranked_total.amount) / Fraction(costs[0].ranked_total.amount)
    assert result.exchange_rate is not None
    assert result.cost.ratio == ratio * result.exchange_rate


@pytest.mark.parametrize(("first", "second", "ranks"), PAIRS)
def test_the_parts_sum_to_the_differences(
    tmp_path: Path,
    first: Callable[[], PlanResult],
    second: Callable[[], PlanResult],
    ranks: tuple[int, ...],
) -> None:
    result = compared(tmp_path, first, second, ranks)
    assert result.cost is not None
    assert sum(part.difference for part in result.cost_parts) == result.cost.b - result.cost.a
    # seconds are binary fractions in the plan
    run = float(sum(part.difference for part in result.run_parts))
    assert run == pytest.approx(float(result.days.b - result.days.a) * 86_400, rel=1e-9, abs=1e-6)


def test_the_factors_are_what_a_reader_would_compute_from_the_plans(tmp_path: Path) -> None:
    result = compared(tmp_path, continued, tuned, ())
    a, b = continued().plans[0], tuned().plans[0]
    days = {str(factor.name).partition(":")[0]: factor for factor in result.days.factors}

    def check(factor: Factor, of_a: float, of_b: float, *, over: bool = False) -> None:
        assert (float(factor.a), float(factor.b)) == pytest.approx((of_a, of_b), rel=1e-12)
        assert float(factor.ratio) == pytest.approx(of_a / of_b if over else of_b / of_a, rel=1e-12)

    check(days["number of cards"], a.gpus, b.gpus, over=True)
    # A800 and 4090 or A800: dense bf16 peaks of the catalogue
    peaks = {"A800-SXM4-80GB": 312e12, "RTX-4090": 165.2e12}
    check(days["peak of one card"], peaks[a.accelerator], peaks[b.accelerator], over=True)
    check(days["model FLOPs utilisation (MFU)"], a.estimate.mfu, b.estimate.mfu, over=True)
    check(
        days["tokens trained"],
        a.run.steps * a.estimate.tokens_per_step,
        b.run.steps * b.estimate.tokens_per_step,
    )
    check(
        days["set-up"],
        a.run.days * 86_400 / (a.run.days * 86_400 - a.run.parts["run_setup"]),
        b.run.days * 86_400 / (b.run.days * 86_400 - b.run.parts["run_setup"]),
    )
    # 8.03e9 parameters less embeddings, six FLOPs each, and attention over 8,192 tokens: about 6.0e9 · 8 to 55e9
    assert 45e9 < days["FLOPs per token"].a < 60e9
    assert result.cost is not None
    costs = {str(factor.name).partition(":")[0]: factor for factor in result.cost.factors}
    assert a.indicative_price is not None
    assert b.indicative_price is not None
    check(
        costs["price per card-hour"],
        float(a.indicative_price.median.amount),
        float(b.indicative_price.median.amount),
    )
    assert a.cost is not None
    assert b.cost is not None
    check(
        costs["hours paid per hour of the run"],
        a.cost.paid_hours / (24 * a.run.days),
        b.cost.paid_hours / (24 * b.run.days),
    )


def test_every_field_named_is_in_the_json_of_both_plans(tmp_path: Path) -> None:
    documents = [document_of(on_offers()), document_of(at_indicative_prices())]
    result = compared(tmp_path, on_offers, at_indicative_prices, ())
    plans = [document["plans"][0] for document in documents]
    only_one = {"offer.price.amount", "indicative_price.median"}

    def find(plan: Any, path: str) -> Any:
        for key in path.split("."):
            plan = None if plan is None else plan[key]
        return plan

    named = {path for whole in wholes(result) for factor in whole.factors for path in factor.fields}
    named |= {part.field for part in (*result.run_parts, *result.step_parts, *result.cost_parts)}
    for path in named:
        found = [find(plan, path) for plan in plans]
        assert all(value is not None for value in found) or path in only_one, path
    assert only_one <= named
    assert (result.a.field, result.b.field) == ("plans[0]", "plans[0]")


def test_requests_versions_and_assumptions_are_told_apart() -> None:
    result = two_plans()
    changes = {change.field: (change.a, change.b) for change in result.request_changes}
    assert changes == {"job.epochs": (None, 2), "currency": ("CNY", "USD"), "gpu": ([], ["A800"])}
    assert result.version_changes == ()
    assert "epochs: 3 (default for full)" in result.assumptions_only_in_a
    assert any("A800 is read as" in text for text in result.assumptions_only_in_b)
    assert not set(result.assumptions_only_in_a) & set(result.assumptions_only_in_b)


def test_the_same_plan_in_two_languages_and_versions_differs_in_nothing_else(tmp_path: Path) -> None:
    first = document_of(on_offers())
    second = json.loads(
        json.dumps(to_envelope(on_offers(), lambda message: translate(message, "zh")), ensure_ascii=False)
    )
    second |= {"suanpei_version": "0.0.9", "calibration_id": "older", "later": 1}
    result = compare_plans(save(tmp_path, "a.json", first), save(tmp_path, "b.json", second))
    assert result.days.ratio == 1
    assert result.cost is not None
    assert all(factor.ratio == 1 for whole in wholes(result) for factor in whole.factors)
    assert (result.words, result.request_changes) == ((), ())
    assert (result.assumptions_only_in_a, result.assumptions_only_in_b) == ((), ())
    assert {change.field: change.b for change in result.version_changes} == {
        "suanpei_version": "0.0.9",
        "calibration_id": "older",
    }
    assert all(not part.difference for part in (*result.run_parts, *result.step_parts, *result.cost_parts))


def test_differences_are_said_in_words(tmp_path: Path) -> None:
    said = [str(word) for word in compared(tmp_path, on_offers, on_offers, (1, 3)).words]
    a, b = on_offers().plans[0], on_offers().plans[2]
    assert f"cards: {a.gpus} × {a.accelerator} in A, {b.gpus} × {b.accelerator} in B" in said
    assert a.offer is not None
    assert b.offer is not None
    assert f"price from: {a.offer.provider} in A, {b.offer.provider} in B" in said
    assert a.strategy.tp != b.strategy.tp
    assert f"tensor-parallel degree (tp): {a.strategy.tp} in A, {b.strategy.tp} in B" in said
    assert not any(word.startswith(("machines", "network between machines")) for word in said)  # one machine each
    assert "tax: not stated in A, on top of the price in B" in said
    assert not any("as quoted" in word for word in said)


def test_two_plans_that_are_not_equally_sure_differ_in_words(tmp_path: Path) -> None:
    documents = [document_of(on_offers()) for _ in range(2)]
    (first,), (second,) = ([document["plans"][0]] for document in documents)
    first["estimate"]["class"], second["estimate"]["class"] = "A", "C"
    first["run"] |= {"days": 10, "low_days": 9, "high_days": 12}
    second["run"] |= {"days": 10, "low_days": 5, "high_days": 25}
    second["cost"]["high_tax_in"] = 3 * second["cost"]["ranked_total"]
    b = save(tmp_path, "b.json", documents[1])
    result = compare_plans(save(tmp_path, "a.json", documents[0]), b)
    assert result.days.ratio == 1
    said = [str(word) for word in result.words]
    assert said[:2] == [
        "class of the validation, which the interval rests on: A in A, C in B",
        "90 % interval of the days: -10% / +20% in A, -50% / +150% in B",
    ]
    assert said[2].startswith("interval of the cost with tax: ")
    assert said[2].endswith("/ +200% in B")
    # a file of an older version may hold neither
    del first["estimate"]["class"], first["run"]["low_days"], first["cost"]["high_tax_in"]
    older = compare_plans(save(tmp_path, "older.json", documents[0]), b)
    assert [str(word).partition(": ")[2].partition(" ")[0] for word in older.words] == ["–", "–", "–"]


def test_plans_of_older_versions_are_compared_as_quoted(tmp_path: Path) -> None:
    documents = [document_of(on_offers()) for _ in range(2)]
    for plan in documents[0]["plans"]:
        del plan["cost"]["ranked_total"]
    paths = [save(tmp_path, name, document) for name, document in zip(("a.json", "b.json"), documents, strict=True)]
    result = compare_plans(paths[0], paths[1], (1, 3))
    costs = [on_offers().plans[index].cost for index in (0, 2)]
    assert result.cost is not None
    assert costs[0] is not None
    assert costs[1] is not None
    assert not result.costs_have_tax
    assert (result.cost.a, result.cost.b) == (Fraction(costs[0].total.amount), Fraction(costs[1].total.amount))
    assert sum(part.difference for part in result.cost_parts) == result.cost.b - result.cost.a
    assert "the totals are compared as quoted: not both plans have one with tax" in [str(word) for word in result.words]
    assert result.cost.ratio == prod((factor.ratio for factor in result.cost.factors), start=Fraction(1))


def test_currencies_are_joined_by_the_rates_in_the_files(tmp_path: Path) -> None:
    first, second = document_of(on_offers()), document_of(at_indicative_prices())
    path_a, path_b = save(tmp_path, "a.json", first), save(tmp_path, "b.json", second)
    assert compare_plans(path_a, path_b).exchange_rate == Fraction("7.2")
    assert compare_plans(path_b, path_a).exchange_rate == 1 / Fraction("7.2")
    first["rates"] = ["1 EUR = 7.8 CNY", "1 EUR = 1.1 USD"]
    second["rates"] = []
    chained = compare_plans(save(tmp_path, "a.json", first), save(tmp_path, "b.json", second))
    assert chained.exchange_rate == Fraction("7.8") / Fraction("1.1")
    assert chained.cost is not None
    assert prod((factor.ratio for factor in chained.cost.factors), start=Fraction(1)) == chained.cost.ratio
    first["rates"] = ["1 USD = x CNY"]
    apart = compare_plans(save(tmp_path, "a.json", first), save(tmp_path, "b.json", second))
    assert (apart.cost, apart.exchange_rate, apart.cost_parts) == (None, None, ())
    assert "no exchange rate in the files joins the two currencies" in str(apart.words[-1])


def test_plans_without_a_price_are_compared_in_days_alone(tmp_path: Path) -> None:
    unpriced = replace(
        on_offers(), plans=(replace(on_offers().plans[0], cost=None, offer=None), *on_offers().plans[1:])
    )
    result = compared(tmp_path, on_offers, lambda: unpriced, ())
    assert (result.cost, result.cost_parts) == (None, ())
    assert result.days.ratio == 1
    assert result.b.total is None


def test_the_json_is_what_the_schema_says() -> None:
    document = json.loads(json.dumps(to_envelope(two_plans())))
    jsonschema.Draft202012Validator(describe_schema("compare-plans")).validate(document)
    product = prod(factor["ratio"] for factor in document["cost"]["factors"])
    assert product == pytest.approx(document["cost"]["ratio"], rel=1e-12)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda document: document.clear(), "suanpei_version"),
        (lambda document: document.update(plans=[]), "plans"),
        (lambda document: document["plans"][0]["run"].update(days=0), "plans.0.run.days"),
        (lambda document: document["plans"][0]["run"].update(days="soon"), "plans.0.run.days"),
        (lambda document: document["plans"][0]["run"]["parts"].pop("run_steps"), "plans.0.run.parts.run_steps"),
        (lambda document: document["plans"][1]["estimate"].update(mfu=-0.4), "plans.1.estimate.mfu"),
        (lambda document: document["plans"][0]["cost"].update(total=10**40), "plans.0.cost.total"),
        (lambda document: document["plans"][0].update(gpus=10**30), "plans.0.gpus"),
    ],
)
def test_what_is_wrong_in_a_plan_is_named(tmp_path: Path, change: Callable[[Any], Any], place: str) -> None:
    document = document_of(on_offers())
    good = save(tmp_path, "good.json", document)
    change(document)
    bad = save(tmp_path, "bad.json", document)
    with pytest.raises(InputError, match=re.escape(f"bad.json is no result of suanpei plan --json: {place} is")):
        compare_plans(good, bad)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON: line 1, character 2 is not as JSON has it"),
        ('{"a": NaN}', "is not JSON: NaN is no number"),
        ("[" * 100_000, "is not JSON: it is nested too deeply"),
        ("[" + 5000 * "1" + "]", "is not JSON: a number has too many digits"),
        ("[]", "is no result of suanpei plan"),
        ("1e999999999", "is no result of suanpei plan"),
    ],
)
def test_a_file_that_is_no_plan_is_named(tmp_path: Path, text: str, said: str) -> None:
    good = write_plan(on_offers(), tmp_path / "good.json")
    bad = tmp_path / "bad.json"
    bad.write_text(text, encoding="utf-8")
    for pair in ((good, bad), (bad, good)):
        with pytest.raises(InputError, match=rf"plans: .*bad\.json {said}"):
            compare_plans(*pair)
    bad.write_bytes("{“}".encode("gbk"))
    with pytest.raises(InputError, match=r"bad\.json is not JSON: UTF-8 text is expected, and byte 2 is none"):
        compare_plans(good, bad)
    with pytest.raises(InputError, match=r"plans: .*nowhere\.json cannot be read"):
        compare_plans(good, tmp_path / "nowhere.json")


def test_ranks_are_checked(tmp_path: Path) -> None:
    good = write_plan(on_offers(), tmp_path / "good.json")
    with pytest.raises(InputError, match=r"rank: .*good.json has the plans 1, 2, .*, got 99"):
        compare_plans(good, good, (1, 99))
    with pytest.raises(InputError, match="rank: give one for both plans or one for each, got 3"):
        compare_plans(good, good, (1, 2, 3))


def test_a_number_is_taken_as_it_is_written(tmp_path: Path) -> None:
    document = document_of(on_offers())
    written = f'"ranked_total": {document["plans"][0]["cost"]["ranked_total"]}'
    text = json.dumps(document).replace(written, '"ranked_total": 35.400000001', 1)
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    result = compare_plans(path, path)
    assert result.cost is not None
    assert result.cost.a == Fraction(Decimal("35.400000001"))

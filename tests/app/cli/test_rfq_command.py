from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from openpyxl import load_workbook

import suanpei
from suanpei.app.cli.main import run
from suanpei.verbs.schema import describe_schema
from tests.market.quotes.form_samples import LINE, say
from tests.market.rfq.samples import EIGHT_MACHINES, ONE_MACHINE


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUANPEI_LANG", "en")


def test_a_form_is_written_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ask.xlsx"
    assert run(["rfq", str(ONE_MACHINE), "--out", str(file)]) == 0
    assert load_workbook(file).sheetnames[:2] == ["Requirements", "Offer"]
    said = capsys.readouterr().out
    assert "8 × A800-SXM4-80GB" in said
    assert "those of the plan's data path" in said


def test_the_form_is_in_the_language_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "询价.xlsx"
    assert run(["rfq", str(ONE_MACHINE), "--out", str(file), "--lang", "zh", "--seller", "甲云"]) == 0
    assert load_workbook(tmp_path / "询价-甲云.xlsx").sheetnames[:2] == ["技术要求", "报价"]
    assert "已生成" in capsys.readouterr().out


def test_the_json_follows_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rfq", str(EIGHT_MACHINES), "--out", str(tmp_path / "ask.xlsx"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, describe_schema("rfq"))
    assert document["specification"]["gpus"] == 64
    assert document["request"]["rank"] == 1


def test_errors_are_one_line_and_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"estimate": 1}', encoding="utf-8")
    assert run(["rfq", str(other)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "is no result of suanpei plan" in said


def test_python_writes_the_same(tmp_path: Path) -> None:
    result = suanpei.rfq(EIGHT_MACHINES, lang="zh", out=tmp_path / "a.xlsx", seller=["甲云", "乙算力"])
    assert [form.path.name for form in result.forms] == ["a-甲云.xlsx", "a-乙算力.xlsx"]
    assert all(form.path.is_file() for form in result.forms)
    assert "64 × H800-SXM5-80GB" in str(result)


JOB = ["qwen2.5-7b", "--samples", "2000", "--avg-tokens", "600"]
CARD_HOUR = {"乙算力": 7.5, "甲云": 6.25}
"""Price per card and hour of each seller. [CNY]"""


def fill_form(path: Path, price: float) -> None:
    """Fill a saved form as a seller would: by its labels' keys, then save it again."""
    book = load_workbook(path)
    offers, needs = book["报价"], book["技术要求"]
    rows = {row[0].value: row[0].row for row in offers.iter_rows() if row[0].value}
    columns = {cell.value: cell.column for cell in offers[rows["keys"]]}
    for key, value in (("quote_date", "2026-11-30"), ("valid_until", "2099-12-31")):
        offers.cell(rows[f"head.{key}"], 4).value = value
    line = {
        **LINE,
        "accelerator": "A800-SXM4-80GB",
        "port_gbit": 200,
        "price_card_hour": price,
        "price_node_month": price * 8 * 730,
        "billing": "hour",
        "minimum_term": 1,
        "minimum_term_unit": "day",
        "pricing": "on_demand",
        "storage_price": 0,
        "egress_price": 0,
    }
    for key, value in line.items():
        offers.cell(rows["example"] + 1, columns[key]).value = say(key, value, "zh")
    for row in needs.iter_rows():
        if str(row[0].value or "").startswith("need."):
            row[5].value = "满足"
    book.save(path)


def test_a_plan_asked_for_is_filled_read_and_compared_at_the_sellers_prices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.json"
    asked = ["--gpu", "A800", "--gpus", "8", "--currency", "CNY"]
    assert run(["plan", *JOB, *asked, "--report", str(plan)]) == 0
    sellers = [word for name in CARD_HOUR for word in ("--seller", name)]
    assert run(["rfq", str(plan), "--out", str(tmp_path / "询价.xlsx"), "--lang", "zh", *sellers]) == 0
    forms = {name: tmp_path / f"询价-{name}.xlsx" for name in CARD_HOUR}
    for name, path in forms.items():
        fill_form(path, CARD_HOUR[name])
    capsys.readouterr()

    files = list(map(str, forms.values()))
    assert run(["quotes", *files, "--currency", "CNY", "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["questions"], read["unread"]) == ([], [])
    prices = {offer["seller"]: offer["price_per_accelerator_hour"]["amount"] for offer in read["offers"]}
    assert prices == CARD_HOUR

    shared = ["--gpus", "8", "--currency", "CNY", "--json"]
    assert run(["compare", *JOB, "--quotes", *files, *shared]) == 0
    compared = json.loads(capsys.readouterr().out)
    rows = compared["sellers"]
    assert [row["seller"] for row in rows] == ["甲云", "乙算力"]  # the cheaper one first
    assert {row["seller"]: row["price_per_gpu_hour"] for row in rows} == CARD_HOUR
    # the forms say: without tax, at 6 %; nothing but the rent is billed
    for row in rows:
        rent = row["cost"]["paid_hours"] * row["cost"]["paid_gpus"] * CARD_HOUR[row["seller"]]
        assert row["total"] == pytest.approx(rent, rel=1e-3)
        assert row["total_tax_in"] == pytest.approx(1.06 * rent, rel=1e-3)

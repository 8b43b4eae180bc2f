from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from openpyxl import load_workbook

import suanpei
from suanpei.app.cli.main import run
from suanpei.verbs.schema import describe_schema
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

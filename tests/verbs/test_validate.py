"""The verbs validate and fit: what they return, as JSON and as text in both languages."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import jsonschema
import pytest
from rich.console import Console

from suanpei.errors import InputError
from suanpei.report.locale import translate
from suanpei.report.text.validate import render_validate
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.fit import refit
from suanpei.verbs.schema import describe_schema
from suanpei.verbs.validate import ValidateResult, validate
from tests.validation.sample_rows import THROUGHPUT, write_rows

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    rows = [
        {**THROUGHPUT, "step_time_s": "3.5"},
        {**THROUGHPUT, "case_id": "megatron-002", "framework": "in-house"},
        {**THROUGHPUT, "case_id": "megatron-003", "outcome": "oom"},
    ]
    return write_rows(tmp_path / "throughput.csv", rows)


@pytest.fixture
def result(cases: Path) -> ValidateResult:
    return validate([cases])


def test_rows_are_predicted_or_skipped(result: ValidateResult) -> None:
    assert [(case.case_id, case.metric) for case in result.cases] == [
        ("megatron-001", "step_s"),
        ("megatron-001", "fits"),
        ("megatron-003", "fits"),
    ]
    assert [(case.case_id, str(case.reason)) for case in result.skipped] == [
        ("megatron-002", "no recipe describes the framework in-house")
    ]
    assert {summary.metric for summary in result.summary} == {"speed", "fits", "fits_at_risk", "oom"}


def test_json_is_what_its_schema_says(result: ValidateResult) -> None:
    document = json.loads(json.dumps(to_envelope(result), allow_nan=False))
    jsonschema.validate(document, describe_schema("validate"))
    case = document["cases"][0]
    assert case["class"] == "A"
    assert case["error"] == pytest.approx(case["predicted"] / case["measured"] - 1)
    assert document["skipped"][0]["reason"]["text"]


def test_text_in_both_languages(result: ValidateResult) -> None:
    for lang, heading in (("en", "Error of step time or speed"), ("zh", "单步时间或速度的误差")):
        recorder = Console(width=160, record=True, file=io.StringIO())
        recorder.print(render_validate(result, lang))  # type: ignore[arg-type]
        text = recorder.export_text()
        assert heading in text
        assert "megatron-001" in text
    assert translate(result.skipped[0].reason, "zh") == "没有方案描述框架 in-house"


def test_assumptions_are_counted_once(result: ValidateResult) -> None:
    said = [str(message) for message in result.assumptions]
    assert len(said) == len(set(said))


def test_no_file_and_absent_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="at least one file"):
        validate([])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        refit()


def test_a_fit_is_written_and_can_be_used(cases: Path, tmp_path: Path) -> None:
    own = tmp_path / "catalogue"
    own.mkdir()
    result = refit([cases], output=own / "calibration.toml", as_of="2026-01-01")
    document = json.loads(json.dumps(to_envelope(result), allow_nan=False))
    jsonschema.validate(document, describe_schema("fit"))
    assert (own / "calibration.toml").read_text(encoding="utf-8") == result.calibration_toml
    assert validate([cases], catalog=own).calibration_id == result.calibration_id

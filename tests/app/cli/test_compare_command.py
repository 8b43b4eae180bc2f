"""The command ``compare``: both of its modes, its options, and one clear line for what is wrong."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from suanpei.app.cli import main as cli
from suanpei.app.cli.plan_options import PlanOptions
from suanpei.verbs.job_request import JobRequest
from suanpei.verbs.plan_request import PlanRequest
from tests.golden.compare_samples import SELLERS, on_offers, write_plan
from tests.golden.plan_samples import FROZEN

if TYPE_CHECKING:
    from pathlib import Path

JOB = ["qwen2.5-7b", "--samples", "2000", "--avg-tokens", "600", "--gpus", "2,8", "--catalog", str(FROZEN)]
QUOTES = ["compare", *JOB, "--quotes", str(SELLERS), "--currency", "CNY"]


def test_every_field_of_a_request_is_an_option_of_plan() -> None:
    shared = {item.name for item in fields(PlanOptions)}
    asked = {item.name for kind in (JobRequest, PlanRequest) for item in fields(kind)}
    assert asked - shared == {"job", "as_of", "offers", "top"}  # the last two are options of plan alone
    assert shared <= asked


def test_quotes_are_compared_as_json_and_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "compare.json"
    assert cli.run([*QUOTES, "--json", "--report", str(report)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(report.read_text(encoding="utf-8"))
    assert [row["rank"] for row in document["sellers"]] == [1, 2, 3, 4, 5, None]
    assert cli.run([*QUOTES, "--lang", "zh"]) == 0
    assert capsys.readouterr().out.startswith("这个任务最省的是丁云")


def test_files_behind_the_model_are_quotes_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = SELLERS.read_text(encoding="utf-8").splitlines(keepends=True)
    parts = [tmp_path / "a.csv", tmp_path / "b.csv"]
    parts[0].write_text("".join(lines[:3]), encoding="utf-8")
    parts[1].write_text("".join([lines[0], *lines[3:]]), encoding="utf-8")
    assert cli.run(["compare", *JOB, "--quotes", str(parts[0]), str(parts[1]), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["sellers"]) == 6


def test_a_replay_repeats_the_comparison(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "compare.json"
    assert cli.run([*QUOTES, "--json", "--report", str(report)]) == 0
    capsys.readouterr()
    assert cli.run(["compare", "--replay", str(report), "--json"]) == 0
    again, first = json.loads(capsys.readouterr().out), json.loads(report.read_text(encoding="utf-8"))
    assert again | {"seconds": 0} == first | {"seconds": 0}


def test_two_plans_are_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, report = str(write_plan(on_offers(), tmp_path / "a.json")), tmp_path / "why.json"
    assert cli.run(["compare", "--plans", path, path, "--rank", "1", "--rank", "2", "--report", str(report)]) == 0
    assert capsys.readouterr().out.startswith("B takes ")
    assert json.loads(report.read_text(encoding="utf-8"))["request"]["rank"] == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "quotes: give the files to compare: --quotes FILE, or two plans with --plans"),
        (["qwen2.5-7b"], "quotes: give the files"),
        ([*JOB, "--quotes", "nowhere.csv"], "quotes: nowhere.csv is not a file"),
        (["qwen2.5-7b", "--quotes", str(SELLERS)], "tokens: nothing says how much data is trained"),
        ([*JOB, "--quotes", str(SELLERS), "--gpu", "H20-96"], "accelerator|none of the offers"),
        ([*JOB, "--quotes", str(SELLERS), "--price", "A800=6CNY"], "price: quotes carry their own prices"),
        ([*JOB, "--quotes", str(SELLERS), "--offers", "x.csv"], "there is no option --offers"),
        (["--plans", "a.json"], "--plans takes 2 values, one after the other"),
        (["--plans", "a.json", "b.json"], "plans: a.json cannot be read"),
        (["--plans", str(SELLERS), str(SELLERS)], "is not JSON"),
        (["qwen2.5-7b", "--plans", "a.json", "b.json"], "plans: the two files hold all there is to compare"),
        (["--plans", "a.json", "b.json", "--quotes", "c.csv"], "plans: the two files hold all"),
        (["--plans", "a.json", "b.json", "--deadline", "3d"], "plans: the two files hold all"),
        (["--plans", "a.json", "b.json", "--replay", "c.json"], "plans: the two files hold all"),
        (["qwen2.5-7b", "--quotes", str(SELLERS), "--rank", "2"], "rank: it picks a plan of the two files"),
        (["--rank", "one"], "--rank takes a whole number, got 'one'"),
        (["--report", "no/such/folder/x.json"], "report: the folder no/such/folder does not exist"),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_bad_input_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str, lang: str
) -> None:
    assert cli.run(["compare", *arguments, "--lang", lang]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.count("\n") == 1
    if lang == "en":
        assert any(words.replace("/", "") in error.replace("\\", "").replace("/", "") for words in said.split("|"))


def test_no_seller_in_time_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*QUOTES, "--deadline", "1h"]) == 1
    assert "no plan meets the deadline" in capsys.readouterr().err

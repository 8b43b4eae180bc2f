"""The commands ``plan`` and ``estimate``: exit codes and one clear line for what is wrong."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from suanpei.app.cli import main as cli
from tests.golden.plan_samples import FROZEN

if TYPE_CHECKING:
    from pathlib import Path

PLAN = ["plan", "llama-3-8b", "--gpu", "A800", "--gpus", "8,16", "--catalog", str(FROZEN)]
ESTIMATE = ["estimate", "llama-3-8b", "--gpu", "A800", "--gpus", "8", "--catalog", str(FROZEN)]


def fail(capsys: pytest.CaptureFixture[str], arguments: list[str], code: int) -> str:
    assert cli.run(arguments) == code
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("suanpei: ")
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "tokens: nothing says how much data is trained"),
        (["--tokens", "20"], "--tokens|tokens"),
        (["--tokens", "-3B"], "tokens"),
        (["--tokens", "0B"], "tokens"),
        (["--tokens", "abc"], "tokens: cannot read 'abc'"),
        (["--tokens", "2B", "--samples", "5"], "--tokens and --samples say the same thing twice"),
        (["--samples", "5"], "avg-tokens is missing"),
        (["--avg-tokens", "5"], "samples is missing"),
        (["--data", "x.jsonl"], "tokenizer is missing"),
        (["--tokens", "2B", "--avg-tokens", "5"], "samples is missing"),
        (["--tokens", "2B", "--tokenizer", "x.json"], "data is missing"),
        (["--samples", "1e15", "--avg-tokens", "1e15"], "tokens times epochs must be from 1 to 1e18"),
        (["--tokens", "1 token", "--epochs", "0.1"], "tokens times epochs must be from 1 to 1e18"),
        (["--tokens", "2B", "--global-batch", "1e12seqs"], "global-batch must be at most 10,000,000 sequences"),
        (
            ["--tokens", "1M", "--global-batch", "512seqs"],
            "more than the 1M tokens of the whole run; give at most 244seqs",
        ),
        (["--tokens", "2B", "--price", "H800=5CNY"], "H800-SXM5-80GB is priced but not planned"),
        (["--tokens", "2B", "--precision", "fp8"], "A800-SXM4-80GB has no fp8 peak"),
        (["--tokens", "2B", "--epochs", "0"], "epochs must be above 0"),
        (["--tokens", "2B", "--deadline", "20"], "deadline"),
        (["--tokens", "2B", "--deadline", "0d"], "deadline"),
        (["--tokens", "2B", "--budget", "500"], "budget"),
        (["--tokens", "2B", "--confidence", "1.5"], "confidence"),
        (["--tokens", "2B", "--confidence", "0.3"], "confidence must be between 0.5 and 0.99"),
        (["--tokens", "2B", "--top", "0"], "top must be between 1 and 100"),
        (["--tokens", "2B", "--top", "many"], "--top takes a whole number"),
        (["--tokens", "2B", "--objective", "speed"], "objective takes one of cost, time"),
        (["--tokens", "2B", "--tenancy", "mine"], "tenancy takes one of"),
        (["--tokens", "2B", "--tier", "free"], "tier takes one of"),
        (["--tokens", "2B", "--gpu", "A801"], "accelerator A801 is unknown; the nearest are"),
        (["--tokens", "2B", "--gpu", "A100"], "accelerator A100 is ambiguous: name one of"),
        (["--tokens", "2B", "--price", "A800"], "price"),
        (["--tokens", "2B", "--price", "A800=6CNY", "--price", "A800=7CNY"], "A800 is given twice"),
        (["--tokens", "2B", "--objective", "time", "--day-value", "1CNY"], "day-value weighs days against money"),
        (["--tokens", "2B", "--fabric", "carrier pigeon"], "fabric"),
        (["--tokens", "2B", "--currency", "doubloons"], "currency"),
        (["--tokens", "2B", "--method", "grpo"], "method grpo is not modelled"),
        (["--tokens", "2B", "--seq-len", "100000"], "seq-len 100000 is longer than the 8192"),
        (["--tokens", "2B", "--offers", "nowhere.csv"], "offers: nowhere.csv is not a file"),
        (["--tokens", "2B", "--dead", "20d"], "there is no option --dead; did you mean --deadline"),
        (["--tokens", "2B", "--replay", "x.json"], "replay: the file holds the whole request"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], line: str
) -> None:
    error = fail(capsys, [*PLAN, *arguments], 2)
    assert any(part in error for part in line.split("|")), error


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("llama-3-9b", "'llama-3-9b' is not in the catalogue (nearest: Llama-3-8B"),
        ("7", "7"),
        ("", "MODEL is empty"),
        ("none/config.json", "does not exist"),
    ],
)
def test_a_model_that_cannot_be_read_is_named(capsys: pytest.CaptureFixture[str], model: str, line: str) -> None:
    assert line in fail(capsys, ["plan", model, "--tokens", "2B"], 2)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--tokens", "2B", "--deadline", "1h"], "no plan meets the deadline of 0.0417 d"),
        (["--tokens", "2B", "--budget", "1CNY"], "would do (amounts in USD, with tax)"),
        (["--tokens", "2B", "--gpus", "1", "--seq-len", "8192"], "nothing fits: "),
    ],
)
def test_no_answer_is_exit_code_1_with_what_would_help(
    capsys: pytest.CaptureFixture[str], arguments: list[str], line: str
) -> None:
    assert line in fail(capsys, [*PLAN, *arguments], 1)


def test_a_card_without_a_price_keeps_no_budget(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["plan", "llama-3-8b", "--tokens", "2B", "--gpu", "GB200", "--catalog", str(FROZEN)]
    line = fail(capsys, [*arguments, "--budget", "90000USD"], 1)
    price = re.search(r"no price of GB200-186GB is known.* --price: up to (\S+) per card-hour would do", line)
    assert price is not None, line
    assert cli.run([*arguments, "--budget", "90000USD", "--price", f"GB200={price[1]}USD"]) == 0
    assert "likely to keep the budget" in capsys.readouterr().out.replace("\n", " ")


def test_no_answer_is_said_in_chinese_too(capsys: pytest.CaptureFixture[str]) -> None:
    error = fail(capsys, [*PLAN, "--tokens", "2B", "--deadline", "1h", "--lang", "zh"], 1)
    assert "没有方案能以 0.9 的把握在" in error
    assert "即可" in error


def test_the_report_is_the_json_and_a_replay_repeats_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "方案.json"
    assert cli.run([*PLAN, "--tokens", "2B", "--report", str(file)]) == 0
    assert "Rent " in capsys.readouterr().out
    saved = json.loads(file.read_text(encoding="utf-8"))
    assert cli.run(["plan", "--replay", str(file), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    saved["search"].pop("seconds")
    again["search"].pop("seconds")
    assert again == saved


def test_a_report_needs_a_folder_that_exists(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = [*PLAN, "--tokens", "2B", "--report"]
    assert "the folder" in fail(capsys, [*arguments, str(tmp_path / "nowhere" / "plan.json")], 2)
    assert "is a folder; name a file in it" in fail(capsys, [*arguments, str(tmp_path)], 2)


def test_a_replay_holds_no_option_of_another_version(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.run([*PLAN, "--tokens", "2B", "--json"]) == 0
    saved = json.loads(capsys.readouterr().out)
    saved["request"]["colour"] = "red"
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(saved), encoding="utf-8")
    assert "does not know: colour" in fail(capsys, ["plan", "--replay", str(file)], 2)
    file.write_text("[" * 200_000, encoding="utf-8")
    assert "is not JSON" in fail(capsys, ["plan", "--replay", str(file)], 2)


def test_the_currency_follows_the_language_unless_it_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for options, currency in (
        (["--lang", "zh"], "CNY"),
        (["--lang", "en"], "USD"),
        (["--lang", "en", "--currency", "CNY"], "CNY"),
    ):
        assert cli.run([*PLAN, "--tokens", "2B", "--json", *options]) == 0
        assert json.loads(capsys.readouterr().out)["plans"][0]["cost"]["currency"] == currency


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--tp", "3"], "tp · pp · cp = 3 does not divide 8 gpus"),
        (["--tp", "x"], "--tp takes a whole number, got 'x'"),
        (["--micro-batch", "99999999999999999999"], "micro_batch must be at most 10,000,000"),
        (["--gpus", "1e15"], "gpus must be at most 1,000,000"),
        (["--measured-step", "1ms"], "of the card's peak; check the time"),
        (["--host-memory", "64"], "host-memory"),
        (["--measured-step", "4"], "measured-step"),
        (["--loss", "none"], "loss takes one of"),
        (["--from-launch", "nowhere.sh"], "nowhere.sh"),
    ],
)
def test_estimate_refuses_with_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], line: str) -> None:
    assert line in fail(capsys, [*ESTIMATE, *arguments], 2)


def test_estimate_prints_its_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*ESTIMATE, "--json", "--tokens", "2B"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["estimate"]["memory"]["verdict"] in ("fits", "at_risk", "does_not_fit")
    assert document["run"]["days"] > 0
    assert document["calibration_id"] == "frozen"

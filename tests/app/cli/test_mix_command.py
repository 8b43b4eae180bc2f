from __future__ import annotations

import json
from pathlib import Path

import pytest

import suanpei
from suanpei.app.cli.main import run

DATA = Path(__file__).parents[2] / "data" / "mix"
EXAMPLES = Path(__file__).parents[3] / "examples" / "mix"
OFFERS = ["--offers", str(DATA / "offers.csv"), "--currency", "CNY"]


def test_json_is_the_only_thing_on_standard_output(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "mix.json"

    assert run(["mix", str(DATA / "demand.csv"), *OFFERS, "--json", "--report", str(report)]) == 0

    document = json.loads(capfd.readouterr().out)
    assert document["mix"]["solver"]["status"] == "optimal"
    assert json.loads(report.read_text(encoding="utf-8")) == document


def test_the_example_of_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(EXAMPLES / "demand.csv"), "--offers", str(EXAMPLES / "offers.csv"), "--lang", "zh"]

    assert run(["mix", *arguments, "--spot-interruptions-per-hour", "0.02", "--checkpoint-every", "1h"]) == 0
    assert "最省的组合" in capsys.readouterr().out


def test_the_python_interface_gives_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    result = suanpei.mix(phases="64x20d, 8x60d", offers=DATA / "offers.csv", currency="CNY", rate="USD=7.2CNY")

    assert result.demand.peak_gpus == 64
    assert run(["mix", "--phases", "64x20d, 8x60d", *OFFERS, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mix"]["total"] == float(result.mix.total.amount)


@pytest.mark.parametrize(
    ("arguments", "complaint", "code"),
    [
        (["--phases", "64x20d"], "offers is missing: give the sellers' offers", 2),
        (OFFERS, "demand: give either a CSV file or --phases", 2),
        (["--phases", "64x20d", *OFFERS, "--lang", "zh", "--image-size", "30GB"], "请加 --pull-rate", 2),
        (["--phases", "999x20d", *OFFERS], "demand peaks at 999 cards", 1),
        (["--phases", "64x20", *OFFERS], "'20' has no unit", 2),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], complaint: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["mix", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert complaint in captured.err


def test_a_report_never_replaces_what_the_command_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demand, offers = tmp_path / "demand.csv", tmp_path / "offers.csv"
    demand.write_bytes((DATA / "demand.csv").read_bytes())
    offers.write_bytes((DATA / "offers.csv").read_bytes())
    before = demand.read_bytes(), offers.read_bytes()
    for report in (demand, offers, tmp_path / ".." / tmp_path.name / offers.name):
        assert run(["mix", str(demand), "--offers", str(offers), "--report", str(report)]) == 2
        assert "is read by this command and would be replaced; name another file" in capsys.readouterr().err
    assert (demand.read_bytes(), offers.read_bytes()) == before

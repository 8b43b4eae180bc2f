from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from suanpei.app.cli.main import run

EXAMPLES = Path(__file__).parents[3] / "examples" / "quotes"
MESSAGE = "A800 80G 8卡整机 58400元/台/月 含税"


def give_input(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk"])
def test_text_on_standard_input_is_read_in_the_usual_encodings(
    encoding: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give_input(monkeypatch, MESSAGE.encode(encoding))
    assert run(["quotes", "-", "--json", "--currency", "CNY"]) == 0
    document = json.loads(capsys.readouterr().out)
    (offer,) = document["offers"]
    assert offer["price_per_accelerator_hour"]["amount"] == pytest.approx(10.0)  # 58,400 / (8 · 730)
    assert document["request"]["pasted"].startswith("A800")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_examples_are_read(lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(map(str, EXAMPLES.iterdir()))
    assert run(["quotes", *files, "--currency", "CNY", "--lang", lang]) == 0
    text = capsys.readouterr().out
    for words in ("青禾云", "H800-SXM5-80GB", "13.014", "Northlight", "17.640", "sellers_zh.csv"):
        assert words in text  # 76,000 / 5,840; 2.45 · 7.2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "name a file of quotes"),
        (["nowhere.csv"], "nowhere.csv"),
        (["-", "--rate", "USD=7CNY", "--rate", "CNY=0.1USD"], "rate: CNY to USD is given twice"),
        (["-", "--provider", "aws"], "provider goes with --live"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give_input(monkeypatch, MESSAGE.encode())
    assert run(["quotes", *arguments, "--lang", "en"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert complaint in captured.err

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


QUOTED = (
    ("供应商", "型号", "配置", "数量", "报价", "单位", "起租期", "网络", "税"),
    (
        "甲云",
        "A800 80G SXM",
        "8卡整机",
        "4台",
        40880,
        "元/台/月",
        "1个月",
        "8×200G IB",
        "含税",
    ),
)
OWN = ("provider", "gpu", "price_per_hour", "currency", "count"), ("甲云", "A800", 7, "CNY", 32)
JOB = ["qwen2.5-7b", "--samples", "2000", "--avg-tokens", "600", "--gpus", "8"]


@pytest.mark.parametrize("rows", [QUOTED, OWN])
def test_a_workbook_goes_through_every_command_that_reads_offers(
    rows: tuple[tuple[object, ...], ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    path = tmp_path / "报价.xlsx"
    book.save(path)
    assert run(["quotes", str(path), "--currency", "CNY", "--json"]) == 0
    (offer,) = json.loads(capsys.readouterr().out)["offers"]
    assert offer["price_per_accelerator_hour"]["amount"] == pytest.approx(7.0)  # 40,880 / (8 · 730)
    assert offer["source"]["cell"] == ("E2" if rows is QUOTED else "C2")
    if rows is OWN:  # a workbook is read as sellers write: "count" may count anything
        assert offer["count"] is None
        return
    assert offer["count"] == 32
    assert run(["plan", *JOB, "--offers", str(path), "--currency", "CNY", "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)["plans"]
    assert {row["accelerator"] for row in planned} == {"A800-SXM4-80GB"}
    assert run(["compare", *JOB, "--quotes", str(path), "--currency", "CNY", "--json"]) == 0
    assert [row["seller"] for row in json.loads(capsys.readouterr().out)["sellers"]] == ["甲云"]

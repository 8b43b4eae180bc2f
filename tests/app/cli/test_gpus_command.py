from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from suanpei.app.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path


def test_json_and_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["gpus", "昇腾910B3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accelerator"]["name"] == "Ascend-910B3"
    assert run(["gpus", "4090", "--lang", "zh"]) == 0
    text = capsys.readouterr().out
    assert "RTX-4090" in text
    assert "¥" in text


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["gpus", "A100"], "accelerator A100 is ambiguous: name one of A100-SXM4-40GB"),
        (["gpus", "A1OO"], "accelerator A1OO is unknown; the nearest are"),
        (["gpus", "A100", "--lang", "zh"], "加速卡“A100”有多种型号"),
        (["gpus", "H800", "--catalog", "no-such-folder"], "--catalog takes a folder"),
        (["gpus", "H800", "--currency", "GOLD"], "GOLD"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert complaint in captured.err


def test_a_malformed_overlay_names_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "accelerators.csv").write_text("name,tdp_w\nH800-SXM5-80GB\n", encoding="gbk")
    assert run(["gpus", "H800", "--catalog", str(tmp_path)]) == 2
    assert "accelerators.csv, line 2: 1 cells where the header has 2" in capsys.readouterr().err

"""``suanpei models`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from suanpei.app.cli.main import run

CONFIGS = Path(__file__).parents[2] / "data" / "config"


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "Llama 3 8B", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["model"]["total_parameters"] == 8_030_261_248
    assert document["request"]["model"] == "Llama 3 8B"


def test_config_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", str(CONFIGS / "mixtral_8x22b_head_dim_null.json"), "--lang", "zh"]) == 0
    assert "每个 token 激活 39,161,468,928" in capsys.readouterr().out


@pytest.mark.parametrize("model", ["no such model", "llama", "./missing.json", "30B-A3B", "0B"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_bad_models_give_one_line(model: str, lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", model, "--lang", lang]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert "Traceback" not in shown.err


def test_truncated_config(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama", "hidden_size": 40')
    assert run(["models", str(tmp_path)]) == 2
    assert "config.json" in capsys.readouterr().err

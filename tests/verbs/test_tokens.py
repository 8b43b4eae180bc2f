"""The verb and the command ``tokens``, as a user runs them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from suanpei.app.cli.main import run
from suanpei.errors import InputError
from suanpei.verbs.tokens import TokensRequest, count_tokens
from tests.job.dataset.small_tokenizer import build_tokenizer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build_tokenizer().save(str(tmp_path / "tokenizer.json"))
    data = tmp_path / "数据"
    data.mkdir()
    for name in ("一.jsonl", "二.jsonl"):
        lines = [json.dumps({"question": "the fox " * (1 + index % 7), "answer": "dog"}) for index in range(100)]
        (data / name).write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def test_defaults_are_assumptions(folder: Path) -> None:
    result = count_tokens(TokensRequest(files=[str(folder / "数据")], tokenizer=folder))
    said = " ".join(str(message) for message in result.assumptions)
    for part in ("sequence length: 4096", "global batch: 128", "padded together: 4", "question+answer", "plain lines"):
        assert part in said
    assert result.dataset.records == 200
    assert result.error_fraction == 0


def test_batch_in_tokens_or_sequences(folder: Path) -> None:
    def batch(text: str) -> int:
        request = TokensRequest(
            files=[str(folder / "数据")], tokenizer=folder, seq_len="64", global_batch=text, micro_batch="2"
        )
        return count_tokens(request).dataset.packing.global_batch_seqs

    assert batch("16seqs") == 16
    # K is 2^10: 1,024 tokens of 64 each
    assert batch("1K") == 16
    with pytest.raises(InputError, match="less than one sequence of 64"):
        batch("10tokens")


@pytest.mark.parametrize(
    ("option", "text", "expected"),
    [("seq_len", "0", "--seq-len"), ("seq_len", "long", "--seq-len"), ("micro_batch", "-1", "--micro-batch")],
)
def test_bad_quantities_name_their_option(folder: Path, option: str, text: str, expected: str) -> None:
    values: dict[str, Any] = {option: text}
    with pytest.raises(InputError, match=expected):
        count_tokens(TokensRequest(files=[str(folder / "数据")], tokenizer=folder, **values))


def test_command_prints_json_that_agrees_with_the_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["tokens", str(folder / "数据"), "--tokenizer", str(folder), "--seq-len", "64"]
    assert run([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    dataset = document["dataset"]
    assert document["request"]["seq_len"] == "64"
    assert dataset["tokens"] == sum(file["tokens"] for file in dataset["files"])
    assert sum(each["records"] for each in dataset["histogram"]) == dataset["records"] == 200
    assert run(arguments) == 0
    english = capsys.readouterr().out
    assert f"({dataset['tokens']:,.0f})" in english
    assert "二.jsonl" in english
    assert run([*arguments, "--lang", "zh"]) == 0
    chinese = capsys.readouterr().out
    assert "条记录" in chinese
    assert "tokens per" not in chinese.lower()


def test_command_says_what_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = folder / "bad.jsonl"
    bad.write_text('{"text": "a"}\n{"text": "b"}\n{"text"\n', encoding="utf-8")
    assert run(["tokens", str(bad), "--tokenizer", str(folder)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "bad.jsonl, line 3" in error
    assert run(["tokens", str(folder / "none*"), "--tokenizer", str(folder), "--lang", "zh"]) == 2
    assert "没有这个文件" in capsys.readouterr().err

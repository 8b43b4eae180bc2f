"""Every command and the Python example of both READMEs run, and both READMEs show the same ones."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from suanpei.app.cli.main import COMMANDS, run

if TYPE_CHECKING:
    from suanpei.report.locale import Language

ROOT = Path(__file__).parents[2]
READMES: dict[Language, Path] = {"en": ROOT / "README.md", "zh": ROOT / "README.zh.md"}
FOLDERS = ("examples", "data")
"""What the commands read, relative to the clone."""

_COMMAND = re.compile(r"(?:^|[\s`;/\\])suanpei (?P<arguments>(?:" + "|".join(COMMANDS) + r")\b[^`\n]*)")


def commands(path: Path) -> list[str]:
    """The commands in fenced blocks and tables, in order, without what stands before ``suanpei``."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^```(?:text|csv|python)\n.*?^```\n", "", text, flags=re.MULTILINE | re.DOTALL)
    return [match["arguments"].strip() for match in _COMMAND.finditer(text)]


def blocks(path: Path, kind: str) -> list[str]:
    """The fenced blocks of one kind, ``""`` for plain ones."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [content for name, content in fenced if name == kind]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what a clone's commands read, to write in without changing the clone."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("lang", READMES)
def test_every_command_succeeds(
    lang: Language, clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUANPEI_LANG", lang)
    failed = []
    for command in dict.fromkeys(commands(READMES[lang])):
        code = run(shlex.split(command))
        printed = capsys.readouterr()
        if code or not printed.out.strip():
            failed.append((command, code, printed.err))
    assert failed == []


@pytest.mark.parametrize("lang", READMES)
def test_the_python_example_runs(
    lang: Language, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUANPEI_LANG", lang)
    (example,) = blocks(READMES[lang], "python")
    exec(compile(example, READMES[lang].name, "exec"), {})  # noqa: S102  # the example itself
    assert "A800-SXM4-80GB" in capsys.readouterr().out


def test_both_show_the_same_commands_and_examples() -> None:
    english, chinese = READMES.values()
    assert commands(english) == commands(chinese)
    for kind in ("", "csv", "python"):
        assert blocks(english, kind) == blocks(chinese, kind)


@pytest.mark.parametrize("path", READMES.values(), ids=lambda path: path.name)
def test_they_open_with_the_two_commands_and_show_every_command(path: Path) -> None:
    install, test = blocks(path, "")[0].splitlines()
    assert install.startswith("python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/suanpei plan ")
    assert test == "make test"
    assert {command.split()[0] for command in commands(path)} == set(COMMANDS)


@pytest.mark.parametrize("path", READMES.values(), ids=lambda path: path.name)
def test_each_output_stands_below_its_command(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    shown = list(re.finditer(r"<!-- output of: (.*?) \| ", text))
    assert [match[1] for match in shown if f"suanpei {match[1]}\n" not in text[: match.start()]] == []
    assert len(shown) == len(blocks(path, "text"))
    assert all(block.strip() for block in blocks(path, "text"))


def test_the_overlay_is_the_example_file() -> None:
    (overlay,) = blocks(READMES["en"], "csv")
    assert overlay == (ROOT / "examples" / "catalog" / "accelerators.csv").read_text(encoding="utf-8")


def test_each_example_file_is_listed() -> None:
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    files = [path.relative_to(ROOT / "examples").as_posix() for path in (ROOT / "examples").rglob("*.*")]
    assert [name for name in files if name != "README.md" and f"`{name}`" not in listed] == []

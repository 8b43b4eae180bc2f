"""Shell text without a shell."""

from __future__ import annotations

import pytest

from suanpei.verbs.launch.sbatch import parse_time_limit
from suanpei.verbs.launch.shell import read_script


def flags(text: str) -> dict[str, tuple[str, ...]]:
    return {flag.name: flag.values for flag in read_script(text, "x").flags}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--a 1 --b=2 --c", {"a": ("1",), "b": ("2",), "c": ()}),
        ("run --a 1 \\\n  --b 2\necho done", {"a": ("1",), "b": ("2",)}),
        ("run --a 1\necho --b", {"a": ("1",), "b": ()}),
        ("run --c\necho done", {"c": ()}),
        ("# --a 1\nrun --b '#2'  # --c", {"b": ("#2",)}),
        ("ARGS=(\n --a 1\n # no\n --b 'x y'\n)\nrun ${ARGS[@]}", {"a": ("1",), "b": ("x", "y")}),
        ('ARGS="--a 1 \\\n --b 2"\nrun $ARGS', {"a": ("1",), "b": ("2",)}),
        ('ARGS="$ARGS --a 1"', {"a": ("1",)}),
        ("N=2\nG=$((N * 8))\nrun --g $G --n=${N}", {"g": ("16",), "n": ("2",)}),
        ("run --g ${G:-4} --h $H", {"g": ("4",), "h": ("$H",)}),
        ("run --a 1 && run --b 2; run --c 3 | tee log", {"a": ("1",), "b": ("2",), "c": ("3",)}),
        ("run --a 1\r\n--b 2\r\n", {"a": ("1",), "b": ("2",)}),
        ("run --n $(wc -l < hosts) --a 1", {"n": ("$(wc -l < hosts)",), "a": ("1",)}),
        ("run --lr -1", {"lr": ("-1",)}),
    ],
)
def test_flags(text: str, expected: dict[str, tuple[str, ...]]) -> None:
    assert flags(text) == expected


def test_nothing_is_executed() -> None:
    script = read_script("N=$((__import__('os').getpid()))\nrun --n $N", "x")
    assert script.flags[0].is_unresolved


def test_directives_stop_at_the_first_command() -> None:
    script = read_script("#!/bin/bash\n#SBATCH --nodes=2\n\n# words\nsrun x\n#SBATCH --nodes=4\n", "x")
    assert script.directives == ("--nodes=2",)
    assert script.late_directives == ("--nodes=4",)
    assert "words" in script.comments


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 5400.0),
        ("90:30", 5430.0),
        ("12:00:00", 43200.0),
        ("2-12", 216000.0),
        ("2-12:30", 217800.0),
        ("2-12:00:00", 216000.0),
        ("UNLIMITED", None),
    ],
)
def test_time_limits(text: str, seconds: float | None) -> None:
    assert parse_time_limit(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "1:2:3:4", "-5", "1-"])
def test_bad_time_limits(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_time_limit(text)

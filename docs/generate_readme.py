"""Fills the outputs shown in README.md and README.zh.md by running the commands that stand above them.

An output is a fenced block behind a marker: the command, then the first words of the paragraphs to show; ``…`` stands
for what was left out, ``Plans/8`` shows the first eight lines of that paragraph, ``Step time?`` may be absent::

    <!-- output of: plan llama-3-8b --tokens 20B | Rent | Plans/8 | Step time? -->

The table behind ``<!-- held-out errors -->`` summarises the residuals of the bundled calibration.
Prices age with the clock, so the files are written when asked for (``make docs``) and not compared.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path

from suanpei.app.cli.main import run
from suanpei.machine.calibration import load_calibration
from suanpei.machine.catalogue import load_catalogue

ROOT = Path(__file__).parents[1]
FILES = {"README.md": "en", "README.zh.md": "zh"}
COLUMNS = "110"

_BLOCK = re.compile(r"(<!-- output of: (?P<command>.*?) \| (?P<parts>.*?) -->\n```text\n).*?(```\n)", re.DOTALL)
_ERRORS = re.compile(r"(<!-- held-out errors -->\n).*?\n(?=\n)", re.DOTALL)
_HEADINGS = {
    "en": ("figure", "sources", "half of the errors below", "90 % below"),
    "zh": ("指标", "来源数", "半数误差低于", "90% 的误差低于"),
}
_FIGURES = {
    "en": {
        "A": "step time, class A",
        "B": "step time, class B",
        "C": "step time, class C",
        "allocated": "memory, allocated",
        "allocated_adapters_whole": "memory, allocated, LoRA and QLoRA, base whole",
        "allocated_adapters_sharded": "memory, allocated, LoRA and QLoRA, base sharded",
        "reserved": "memory, reserved",
        "device": "memory, device",
    },
    "zh": {
        "A": "单步时间，A 类",
        "B": "单步时间，B 类",
        "C": "单步时间，C 类",
        "allocated": "显存，已分配",
        "allocated_adapters_whole": "显存，已分配，LoRA 与 QLoRA，底座不分片",
        "allocated_adapters_sharded": "显存，已分配，LoRA 与 QLoRA，底座分片",
        "reserved": "显存，已保留",
        "device": "显存，设备占用",
    },
}


def fill(text: str, lang: str) -> str:
    """Replace every marked output and table.

    Args:
        text: A document.
        lang: Language of the outputs.
    """

    def replace(match: re.Match[str]) -> str:
        shown = pick(print_command(match["command"], lang), match["parts"].split(" | "))
        return f"{match[1]}{shown}\n{match[4]}"

    return _ERRORS.sub(lambda match: match[1] + tabulate_errors(lang) + "\n", _BLOCK.sub(replace, text))


def tabulate_errors(lang: str) -> str:
    """Tabulate the errors on sources that the fit did not see.

    Args:
        lang: Language of the words.
    """
    calibration = load_calibration(load_catalogue())
    rows = ["| " + " | ".join(_HEADINGS[lang]) + " |", "|---|---:|---:|---:|"]
    evidence = calibration.evidence
    for name, residuals in {**evidence.step["source_left_out"], **evidence.memory["source_left_out"]}.items():
        half, most = residuals.median_error, residuals.p90_error
        rows.append(f"| {_FIGURES[lang][name]} | {residuals.sources} | {half:.0%} | {most:.0%} |")
    return "\n".join(rows)


def print_command(command: str, lang: str) -> str:
    """Run a command and return what it prints.

    Args:
        command: What stands behind ``suanpei``, words separated by blanks.
        lang: Language.
    """
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        code = run([*command.split(), "--lang", lang])
    if code:
        raise SystemExit(code)
    return stream.getvalue()


def pick(output: str, parts: list[str]) -> str:
    """Take the paragraphs that begin with certain words, in the order of the output.

    Args:
        output: Paragraphs separated by blank lines.
        parts: First words of each, maybe with a number of lines behind a slash, or a question mark.
    """
    paragraphs = [[line.rstrip() for line in paragraph.splitlines()] for paragraph in output.strip().split("\n\n")]
    shown: list[str] = []
    before = -1
    for part in parts:
        words, _, lines = part.rstrip("?").partition("/")
        position = next((number for number, text in enumerate(paragraphs) if text[0].lstrip().startswith(words)), None)
        if position is None and part.endswith("?"):
            continue
        if position is None:
            message = f"no paragraph of the output begins with {words!r}"
            raise SystemExit(message)
        paragraph = paragraphs[position]
        count = int(lines) if lines else len(paragraph)
        if shown:
            shown += ["" if position == before + 1 else "…"]
        shown += [*paragraph[:count], *(["…"] if count < len(paragraph) else [])]
        before = position if count >= len(paragraph) else position - 1
    return re.sub(r"…\n…", "…", "\n".join(shown))


def main() -> None:
    """Write both files."""
    os.chdir(ROOT)
    os.environ["COLUMNS"] = COLUMNS
    for name, lang in FILES.items():
        path = ROOT / name
        path.write_text(fill(path.read_text(encoding="utf-8"), lang), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

"""Writes docs/cli.md from the command line itself; ``--check`` fails where the file is not up to date."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from suanpei.app.cli.main import COMMANDS, build_app

TARGET = Path(__file__).parent / "cli.md"
HEAD = """# Command line

Generated from the commands' own help by `make docs`; `suanpei COMMAND --help` prints the same, in your language.

Exit codes: 0 success; 1 no answer satisfies the constraints; 2 bad input; 70 a defect of Suanpei itself. Errors are one
line on standard error.
"""


def render_reference() -> str:
    """Render the reference of all commands as Markdown."""
    group: Any = typer.main.get_command(build_app("en"))
    return "\n".join([HEAD, *(_render_command(name, group.commands[name]) for name in COMMANDS)])


def _render_command(name: str, command: Any) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    words = [f"{_argument_name(argument)}{'…' if argument.nargs == -1 else ''}" for argument in arguments]
    shown = [word if argument.required else f"[{word}]" for word, argument in zip(words, arguments, strict=True)]
    lines = [
        f"## suanpei {name}",
        "",
        command.help,
        "",
        "```",
        " ".join(["suanpei", name, *shown, "[OPTIONS]"]),
        "```",
        "",
    ]
    lines += [f"- `{_argument_name(argument)}`: {argument.help or ''}" for argument in arguments]
    for option in command.params:
        if option.param_type_name == "option" and not option.hidden:
            lines.append(
                f"- `{', '.join([*option.opts, *option.secondary_opts])}`: {option.help}{_render_default(option)}"
            )
    return "\n".join([*lines, ""])


def _argument_name(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _render_default(option: Any) -> str:
    if option.default in (None, False, (), []) or callable(option.default):
        return ""
    return f" Default: `{option.default}`."


def main() -> None:
    """Write or check the file."""
    text = render_reference()
    if "--check" in sys.argv[1:]:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
            sys.exit("docs/cli.md is out of date: run 'make docs'")
        return
    TARGET.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

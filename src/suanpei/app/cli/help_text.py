"""The help text of a command, wrapped as all text of the program is: nothing is cut, also where words have no spaces.

Typer's own help breaks lines at spaces only and cuts what is longer than its column, which is most of a Chinese line.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import typer
from rich.cells import cell_len

from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.layout import wrap_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from suanpei.report.locale import Language

_INDENT = 2
"""Cells before a name, and between the longest name and its help. [-]"""
_WIDEST_NAME = 28
"""A longer name stands on a line of its own. [-]"""
_NARROWEST, _WIDEST = 40, 120
"""Columns between which a help text is set. [-]"""


def write_help(command: Any, context: Any, lang: Language) -> str:
    """Write the help text of a command or of the application.

    Args:
        command: A command or group of typer. [-]
        context: Its context, which knows the path to it. [-]
        lang: Of the headings; the texts of the command are in it already. [-]
    """
    width = min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)
    shown = [parameter for parameter in command.get_params(context) if not getattr(parameter, "hidden", False)]
    arguments = [parameter for parameter in shown if parameter.param_type_name == "argument"]
    options = [parameter for parameter in shown if parameter.param_type_name == "option"]
    names = command.list_commands(context) if hasattr(command, "list_commands") else ()
    words = [_argument_word(argument) for argument in arguments] + (["COMMAND"] if names else [])
    usage = translate(Message("Usage: {line}", line=" ".join([context.command_path, *words, "[OPTIONS]"])), lang)
    sections = (
        (translate("Arguments", lang), [(_argument_name(item), _describe(item, lang)) for item in arguments]),
        (translate("Options", lang), [(_option_name(item, lang), _describe(item, lang)) for item in options]),
        (translate("Commands", lang), [(name, command.get_command(context, name).help or "") for name in names]),
    )
    lines = [*wrap_text(usage, width), "", *wrap_text(command.help or "", width)]
    for heading, entries in sections:
        if entries:
            lines += ["", typer.style(heading, bold=True), *_write_entries(entries, width)]
    return "\n".join(lines) + "\n"


def _write_entries(entries: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    """Set names in one column and their help in another; the help of a long name begins on the next line."""
    longest = max(min(cell_len(name), _WIDEST_NAME) for name, _ in entries)
    start = 2 * _INDENT + longest
    for name, text in entries:
        lines = wrap_text(text, width - start)
        lead = " " * _INDENT + typer.style(name, fg="cyan")
        if cell_len(name) > longest:
            yield lead
        else:
            yield lead + " " * (start - _INDENT - cell_len(name)) + lines.pop(0)
        yield from (" " * start + line for line in lines)


def _argument_name(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _argument_word(argument: Any) -> str:
    """Name an argument as the usage does: ``[FILES]...``."""
    word = _argument_name(argument) if argument.required else f"[{_argument_name(argument)}]"
    return word + ("..." if argument.nargs == -1 else "")


def _option_name(option: Any, lang: Language) -> str:
    """Name an option by all its spellings, and what follows it."""
    spellings = ", ".join([*option.opts, *option.secondary_opts])
    if option.is_flag or option.count:
        return spellings
    return f"{spellings} {option.metavar or translate('VALUE', lang)}"


def _describe(parameter: Any, lang: Language) -> str:
    """Say what a parameter is, whether it must be given, and what it is when it is not."""
    parts = [parameter.help or ""]
    if parameter.required:
        parts.append(translate("[required]", lang))
    default = parameter.default
    if default is True and parameter.secondary_opts:
        default = parameter.opts[0]
    if default not in (None, False, "", (), []) and not callable(default):
        parts.append(translate(Message("[default: {value}]", value=str(default)), lang))
    return " ".join(filter(None, parts))

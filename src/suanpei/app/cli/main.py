"""The entry point ``suanpei``: finds the language, loads the command that is asked for, turns errors into one line.

How a command is written stands at the top of ``app/cli/frame.py``. Exit codes: 0 success, 1 no answer satisfies the
constraints, 2 bad input, 70 a defect of Suanpei itself, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import io
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import typer

from suanpei import __version__
from suanpei.app.cli.frame import EXIT_INTERRUPTED, CommandLine, LocalGroup
from suanpei.errors import InputError, SuanpeiError
from suanpei.messages import Message
from suanpei.report.locale import Language, locale_language, resolve_language, translate

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: tuple[str, ...] = (
    "plan",
    "quotes",
    "compare",
    "mix",
    "rfq",
    "estimate",
    "sizes",
    "models",
    "gpus",
    "tokens",
    "validate",
    "fit",
    "schema",
)
"""Modules of this package, one command each, in the order of the help text."""

EXIT_DEFECT = 70
"""EX_SOFTWARE of sysexits.h: never caused by what the user gave."""
DEBUG_VARIABLE = "SUANPEI_DEBUG"


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line.

    Args:
        arguments: What stands behind ``suanpei``.

    Returns:
        The exit code.
    """
    _make_streams_safe()
    lang = locale_language()
    try:
        lang = resolve_language(_option_value(arguments, "--lang"))
        return _run_in_language(list(arguments) or ["--help"], lang)
    except SuanpeiError as error:
        return _fail(error.message, lang, error.exit_code)
    except KeyboardInterrupt:
        return _fail(Message("interrupted"), lang, EXIT_INTERRUPTED)
    except UnicodeError as error:
        return _fail(Message("text that is not UTF-8: {why}", why=str(error)), lang, InputError.exit_code)
    except OSError as error:
        why, file = error.strerror or str(error), error.filename or "-"
        return _fail(Message("{file}: {why}", file=str(file), why=why), lang, InputError.exit_code)
    except Exception as error:
        if _is_interrupted(error):
            return _fail(Message("interrupted"), lang, EXIT_INTERRUPTED)
        if hasattr(error, "format_message"):  # typer's usage errors, whichever library defines them
            return _fail(_describe_usage_error(error, arguments), lang, InputError.exit_code)
        if os.environ.get(DEBUG_VARIABLE):
            raise
        name = type(error).__name__
        return _fail(
            Message(
                "this is a defect of suanpei, not of your input ({error}: {why}); {variable}=1 shows where",
                error=name,
                why=str(error),
                variable=DEBUG_VARIABLE,
            ),
            lang,
            EXIT_DEFECT,
        )


def _is_interrupted(error: BaseException) -> bool:
    """Tell whether Ctrl-C is behind an error: a library that is just being loaded turns it into its own."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, KeyboardInterrupt):
        seen = seen.__cause__ or seen.__context__
    return seen is not None


def build_app(lang: Language, names: Sequence[str] = COMMANDS) -> typer.Typer:
    """Build the application with some of its commands.

    Args:
        lang: Language of all help texts.
        names: The commands to load.

    Returns:
        The application.
    """
    app = typer.Typer(
        name="suanpei",
        cls=LocalGroup,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        help=translate("Rent exactly the GPU compute that your training needs.", lang),
    )
    version_help = translate("Show the version.", lang)
    language_help = translate("Language; else SUANPEI_LANG, the locale, English.", lang)

    @app.callback()
    def root(
        version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help=version_help),
        lang: str | None = typer.Option(None, "--lang", metavar="zh|en", help=language_help),
    ) -> None:
        del version, lang  # one answered by its callback, the other read before parsing

    line = CommandLine(app, lang)
    for name in names:
        importlib.import_module(f"suanpei.app.cli.{name}").register(line)
    return app


def _run_in_language(arguments: list[str], lang: Language) -> int:
    name = _command_name(arguments)
    if name is not None and name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        known = list(COMMANDS)
        raise InputError(
            Message("there is no command '{given}'; did you mean {near}?", given=name, near=near[0])
            if near
            else Message("there is no command '{given}'; there are: {known}", given=name, known=known)
        )
    app = build_app(lang, COMMANDS if name is None else (name,))
    try:
        code = typer.main.get_command(app).main(arguments, prog_name="suanpei", standalone_mode=False, obj=lang)
    except SystemExit:  # rich leaves so where the reader of a pipe has seen enough of a help text
        return 0
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _command_name(arguments: Sequence[str]) -> str | None:
    """Find the first argument that is neither an option nor the value of ``--lang``."""
    before = ""
    for argument in arguments:
        if not argument.startswith("-") and before != "--lang":
            return argument
        before = argument
    return None


def _option_value(arguments: Sequence[str], option: str) -> str | None:
    """Find an option's value before the command line is parsed; the last one counts."""
    value = None
    for position, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == option and position + 1 < len(arguments):
            value = arguments[position + 1]
        elif argument.startswith(f"{option}="):
            value = argument.removeprefix(f"{option}=")
    return value


def _show_version(value: bool) -> None:
    if value:
        sys.stdout.write(f"suanpei {__version__}\n")
        raise typer.Exit


def _describe_usage_error(error: Any, arguments: Sequence[str]) -> Message:
    """Say what is wrong with the command line."""
    kind = type(error).__name__
    parameter = getattr(error, "param", None)
    field = _parameter_name(parameter)
    command = error.ctx.command_path if getattr(error, "ctx", None) else "suanpei"
    reason = " ".join(str(error.message).split())
    extra = re.fullmatch(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", reason)
    if kind == "NoSuchOption":
        near = list(error.possibilities or ())[:1]
        if near:
            return Message("there is no option {given}; did you mean {near}?", given=error.option_name, near=near[0])
        return Message(
            "there is no option {given}: '{command} --help' lists them", given=error.option_name, command=command
        )
    if kind == "MissingParameter":
        return Message("{field} is missing: '{command} --help' says what it takes", field=field, command=command)
    several = re.fullmatch(r"Option '(\S+)' requires (\d+) arguments\.?", reason)
    if several:
        return Message("{field} takes {count} values, one after the other", field=several[1], count=several[2])
    if extra:
        return Message("unexpected argument '{given}': see '{command} --help'", given=extra[1], command=command)
    if parameter is not None:
        given = next((value for name in parameter.opts if (value := _option_value(arguments, name)) is not None), "")
        if re.search(r"\bint(eger)?\b", reason):
            return Message("{field} takes a whole number, got '{given}'", field=field, given=given)
        if re.search(r"\b(float|number)\b", reason):
            return Message("{field} takes a number, got '{given}'", field=field, given=given)
        return Message("{field}: {reason}", field=field, reason=reason)
    return Message("{reason}: see '{command} --help'", reason=reason.rstrip("."), command=command)


def _parameter_name(parameter: Any) -> str:
    """Name a parameter as the help text does; empty where there is none."""
    if parameter is None:
        return ""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    return str(parameter.opts[0])


def _fail(message: Message, lang: Language, exit_code: int) -> int:
    line = " ".join(translate(message, lang).split())
    with contextlib.suppress(OSError):  # nobody can be told
        sys.stderr.write(f"suanpei: {line}\n")
        sys.stderr.flush()
    return exit_code


def _make_streams_safe() -> None:
    """Replace what a console cannot show (cp936 and others), instead of failing on it; stand in for a closed one."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # lives until the end
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # lives until the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")

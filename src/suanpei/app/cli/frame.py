"""The frame that every command stands in: language, output, progress.

A command is a module ``app/cli/<command>.py`` with ``register(line: CommandLine)``, which calls `CommandLine.add` with
a function whose first parameter is the `Output`; its other parameters are typer's, their ``help=`` English literals::

    def register(line: CommandLine) -> None:
        line.add("models", models, help="Show a model's architecture and parameters.")

    def models(out: Output, model: Annotated[str | None, typer.Argument(help="A bundled name.")] = None) -> None:
        from suanpei.report.text.models import render_models   # heavy imports inside
        from suanpei.verbs.models import describe_models

        out.show(describe_models(model), render_models)

A parameter whose annotation is a dataclass stands for one option per field: so commands share options
(``app/cli/plan_options.py``).

The frame adds ``--json`` and ``--lang`` and translates every ``help=``; ``main`` turns errors into one line and an exit
code. Options that are quantities or one of a few words are taken as text and read by ``suanpei.quantities``, whose
errors are translated; typer's own are not. The command raises `InputError` or `NoAnswerError`, prints nothing itself,
and reads the language from ``out.lang``.
"""

from __future__ import annotations

import copy
import inspect
import json
import os
import sys
import typing
from dataclasses import dataclass, fields, is_dataclass
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from suanpei.app.cli.report_file import check_report, list_given
from suanpei.errors import InputError, SuanpeiError
from suanpei.messages import Message
from suanpei.report.locale import Language, translate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from rich.console import RenderableType

    from suanpei.verbs.envelope import VerbResult

ResultT = TypeVar("ResultT", bound="VerbResult")

EXIT_INTERRUPTED = 130

_PIPE_WIDTH = 120
"""Columns of tables where no terminal says how wide it is."""
_PROGRESS_AFTER_S = 1.0
"""Anything shorter shows no progress bar. [s]"""

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
LangOption = Annotated[
    str | None, typer.Option("--lang", metavar="zh|en", help="Language; else SUANPEI_LANG, the locale, English.")
]


class InterruptionError(SuanpeiError):
    """The user pressed Ctrl-C."""

    exit_code = EXIT_INTERRUPTED


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where a command's answer goes, and in which language."""

    lang: Language
    as_json: bool
    given: tuple[Path, ...] = ()
    """Files that the command reads: no report takes the place of one."""

    def show(self, result: ResultT, render: Callable[[ResultT, Language], RenderableType]) -> None:
        """Print a verb's result, as JSON or rendered for a person.

        Args:
            result: What the verb returned.
            render: Turns it into text or a rich renderable, in the language given.
        """
        if self.as_json:
            from suanpei.verbs.envelope import write_envelope

            sys.stdout.writelines(write_envelope(result, self._say, ascii_only=not _is_utf8(sys.stdout.encoding)))
        else:
            self.show_text(render(result, self.lang))

    def _say(self, message: Message) -> str:
        return translate(message, self.lang)

    def check_target(self, path: Path) -> None:
        """Check that a report can be written, before the work for it is done.

        Args:
            path: The file; an existing one will be replaced.

        Raises:
            InputError: The folder does not exist, the path is a folder, or the command reads the file.
        """
        check_report(path, self.given)

    def save_json(self, result: VerbResult, path: Path) -> None:
        """Write a verb's result to a file as JSON, in UTF-8 on every system.

        Args:
            result: What the verb returned.
            path: The file; an existing one is replaced.

        Raises:
            InputError: The file cannot be written.
        """
        from suanpei.verbs.envelope import write_envelope

        self.check_target(path)
        try:
            with path.open("w", encoding="utf-8") as file:
                file.writelines(write_envelope(result, self._say))
        except OSError as error:
            raise InputError(
                Message("report: {path} cannot be written: {reason}", path=str(path), reason=error.strerror)
            ) from error

    def show_json(self, document: Any) -> None:
        """Print a JSON document; where the console is not UTF-8, other characters are escaped."""
        text = json.dumps(document, ensure_ascii=not _is_utf8(sys.stdout.encoding), indent=2, allow_nan=False)
        sys.stdout.write(text + "\n")

    def show_text(self, content: RenderableType) -> None:
        """Print text as it is, or a rich renderable at the console's width."""
        if isinstance(content, str):
            sys.stdout.write(content if content.endswith("\n") else content + "\n")
            return
        from rich.console import Console

        is_wide_open = not sys.stdout.isatty() and "COLUMNS" not in os.environ

        class PipeConsole(Console):
            """A console that leaves the end of a pipe to the frame; rich would leave the program with code 1."""

            def on_broken_pipe(self) -> None:
                raise BrokenPipeError

        console = PipeConsole(file=sys.stdout, highlight=False, width=_PIPE_WIDTH if is_wide_open else None)
        console.print(content)

    def progress(self, label: Message) -> AbstractContextManager[Callable[[int, int], None]]:
        """Show a progress bar on standard error for what takes over a second.

        Args:
            label: What is being done.

        Returns:
            A context whose value is called with (done, total); silent without a terminal and with ``--json``.
        """
        from contextlib import contextmanager

        from rich.console import Console
        from rich.progress import Progress

        @contextmanager
        def shown() -> Iterator[Callable[[int, int], None]]:
            bar = Progress(console=Console(file=sys.stderr), transient=True)
            task = bar.add_task(translate(label, self.lang), total=None)
            is_silent = self.as_json or not sys.stderr.isatty()
            started_s = monotonic()

            def advance(done: int, total: int) -> None:
                if not is_silent and monotonic() - started_s > _PROGRESS_AFTER_S:
                    bar.start()
                    bar.update(task, completed=done, total=total)

            try:
                yield advance
            finally:
                if bar.live.is_started:
                    bar.stop()

        return shown()


def _is_utf8(encoding: str | None) -> bool:
    """Tell whether a console takes every character."""
    return (encoding or "").lower().replace("-", "").replace("_", "") == "utf8"


class CommandLine:
    """The application under construction: commands are added to it in one language."""

    def __init__(self, app: typer.Typer, lang: Language) -> None:
        self.app = app
        self.lang: Language = lang

    def add(self, name: str, function: Callable[..., None], *, help: str) -> None:
        """Add a command.

        Args:
            name: As it is typed.
            function: Takes the `Output` first, then typer's parameters by name, or dataclasses of them.
            help: One English sentence, a literal.
        """
        parameters, groups = self._read_parameters(function)
        parameters += [self._parameter("as_json", JsonOption, False), self._parameter("lang", LangOption, None)]

        def invoke(*, as_json: bool, lang: str | None, **values: Any) -> None:  # noqa: ARG001  # read before parsing
            given = list_given(values)
            grouped = {
                name: kind(**{item.name: values.pop(item.name) for item in fields(kind)})
                for name, kind in groups.items()
            }
            try:
                function(Output(lang=self.lang, as_json=as_json, given=given), **grouped, **values)
                sys.stdout.flush()
            except KeyboardInterrupt as error:  # typer would leave without a word
                raise InterruptionError(Message("interrupted")) from error
            except BrokenPipeError:  # the reader has seen enough
                sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # lives until the end

        invoke.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        invoke.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        invoke.__name__ = name
        self.app.command(name, help=translate(help, self.lang), cls=LocalCommand)(invoke)

    def _read_parameters(self, function: Callable[..., None]) -> tuple[list[inspect.Parameter], dict[str, type[Any]]]:
        """List typer's parameters of a function behind its first, and the dataclasses that some are gathered into."""
        hints = typing.get_type_hints(function, include_extras=True)
        parameters: list[inspect.Parameter] = []
        groups: dict[str, type[Any]] = {}
        for parameter in list(inspect.signature(function).parameters.values())[1:]:
            hint = hints[parameter.name]
            if isinstance(hint, type) and is_dataclass(hint):
                groups[parameter.name] = hint
                inner = typing.get_type_hints(hint, include_extras=True)
                parameters += [self._parameter(item.name, inner[item.name], item.default) for item in fields(hint)]
            else:
                parameters.append(self._parameter(parameter.name, hint, parameter.default))
        return parameters, groups

    def _parameter(self, name: str, annotation: Any, default: Any) -> inspect.Parameter:
        return inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, annotation=self._translated(annotation), default=default
        )

    def _translated(self, annotation: Any) -> Any:
        """Translate the ``help=`` of an annotated parameter."""
        if typing.get_origin(annotation) is not Annotated:
            return annotation
        kind, *extras = typing.get_args(annotation)
        translated = []
        for extra in extras:
            help_text = getattr(extra, "help", None)
            if help_text:
                extra = copy.copy(extra)
                extra.help = translate(help_text, self.lang)
            translated.append(extra)
        return Annotated[(kind, *translated)]


class _LocalHelp:
    """Says in the reader's language what typer itself puts into a help text."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from suanpei.app.cli.help_text import write_help

        formatter.write(write_help(self, ctx, ctx.find_root().obj))

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.help = translate("Show this help.", ctx.find_root().obj)
        return option


class LocalCommand(_LocalHelp, TyperCommand):
    """A command with its help in the reader's language."""


class LocalGroup(_LocalHelp, TyperGroup):
    """The application with its help in the reader's language."""

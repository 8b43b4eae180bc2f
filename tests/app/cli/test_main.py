from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
from rich.cells import cell_len

import suanpei
from suanpei.app.cli import main as cli
from suanpei.app.cli.frame import EXIT_INTERRUPTED, CommandLine, Output
from suanpei.errors import InputError, MissingExtraError, NoAnswerError
from suanpei.messages import Message
from suanpei.verbs.envelope import VerbResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from suanpei.report.locale import Language

EXTRA = MissingExtraError("pyarrow", "data")


def run_command(monkeypatch: pytest.MonkeyPatch, function: Callable[..., None], *arguments: str) -> int:
    """Run a command line whose one command, ``try``, is the function."""

    class Module:
        @staticmethod
        def register(line: CommandLine) -> None:
            line.add("try", function, help="Show the version.")

    monkeypatch.setattr(cli, "COMMANDS", ("try",))
    monkeypatch.setitem(sys.modules, "suanpei.app.cli.try", Module)
    return cli.run(["try", *arguments])


def one_line(text: str) -> str:
    assert text.count("\n") == 1, text
    assert text.startswith("suanpei: ")
    return text.removeprefix("suanpei: ").rstrip("\n")


def raising(error: BaseException) -> Callable[..., None]:
    def command(out: Output) -> None:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError(Message("{field} is empty", field="--x")), 2, "--x is empty"),
        (NoAnswerError(Message("{field} is empty", field="--x")), 1, "--x is empty"),
        (EXTRA, 2, "this needs pyarrow, which is not installed: pip install 'suanpei[data]'"),
        (FileNotFoundError(2, "No such file or directory", "a.json"), 2, "a.json: No such file or directory"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), 2, "text that is not UTF-8: 'utf-8' codec"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("1/0"), 70, "this is a defect of suanpei, not of your input (ZeroDivisionError: 1/0)"),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, line: str
) -> None:
    assert run_command(monkeypatch, raising(error)) == code
    captured = capsys.readouterr()
    assert one_line(captured.err).startswith(line)
    assert captured.out == ""


def test_an_error_is_said_in_the_readers_language(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(monkeypatch, raising(EXTRA), "--lang", "zh") == 2
    assert one_line(capsys.readouterr().err) == "此功能需要 pyarrow，尚未安装：pip install 'suanpei[data]'"


def test_a_defect_shows_its_traceback_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUANPEI_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run_command(monkeypatch, raising(ZeroDivisionError()))


def needs_model(out: Output, model: str = typer.Argument(), top: int = typer.Option(5, "--top")) -> None:
    out.show_text(f"{model} {top} {out.lang} {out.as_json}")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "MODEL is missing: 'suanpei try --help' says what it takes"),
        (["m", "--tpo", "3"], "there is no option --tpo; did you mean --top?"),
        (["m", "--zzz"], "there is no option --zzz: 'suanpei try --help' lists them"),
        (["m", "n"], "unexpected argument 'n': see 'suanpei try --help'"),
        (["m", "--top", "x"], "--top takes a whole number, got 'x'"),
        (["m", "--lang", "fr"], "--lang takes zh or en, got 'fr'"),
    ],
)
def test_a_wrong_command_line_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], line: str
) -> None:
    assert run_command(monkeypatch, needs_model, *arguments) == 2
    assert one_line(capsys.readouterr().err).startswith(line)


def test_a_command_gets_its_parameters_language_and_form(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(monkeypatch, needs_model, "m", "--top", "3", "--lang=zh", "--json") == 0
    assert capsys.readouterr().out == "m 3 zh True\n"
    monkeypatch.setenv("SUANPEI_LANG", "zh")
    assert run_command(monkeypatch, needs_model, "m") == 0
    assert capsys.readouterr().out == "m 5 zh False\n"


def test_the_language_may_stand_before_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["--lang", "zh", "nope"]) == 2
    assert "没有命令“nope”" in capsys.readouterr().err


def shows(out: Output) -> None:
    result = VerbResult(
        catalog_date="2026-11-30",
        calibration_id="c1",
        request={"x": 1},
        assumptions=(Message("{field} is empty", field="--x"),),
    )
    out.show(result, lambda shown, lang: f"{lang}: {shown.catalog_date}")


def test_a_result_is_printed_for_a_person_or_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(monkeypatch, shows) == 0
    assert capsys.readouterr().out == "en: 2026-11-30\n"
    assert run_command(monkeypatch, shows, "--json", "--lang", "zh") == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert document == {
        "suanpei_version": suanpei.__version__,
        "schema_version": 2,
        "catalog_date": "2026-11-30",
        "calibration_id": "c1",
        "request": {"x": 1},
        "assumptions": [{"key": "{field} is empty", "values": {"field": "--x"}, "text": "--x 为空"}],
    }


@pytest.mark.parametrize("as_json", [False, True])
def test_a_chinese_windows_console_gets_what_it_can_show(monkeypatch: pytest.MonkeyPatch, *, as_json: bool) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp936"))

    def command(out: Output) -> None:
        if out.as_json:
            out.show_json({"text": "算配 ² 🙂"})
        else:
            out.show_text("算配 ² 🙂")

    assert run_command(monkeypatch, command, *(["--json"] if as_json else [])) == 0
    text = raw.getvalue().decode("cp936").strip()
    if as_json:
        assert json.loads(text) == {"text": "算配 ² 🙂"}
    else:
        assert text == "算配 ? ?"


def test_tables_are_wide_where_no_terminal_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rich.table import Table

    monkeypatch.delenv("COLUMNS", raising=False)
    table = Table()
    table.add_column("n" * 100)
    assert run_command(monkeypatch, lambda out: out.show_text(table)) == 0
    assert "n" * 100 in capsys.readouterr().out


def test_progress_is_silent_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(out: Output) -> None:
        with out.progress(Message("interrupted")) as advance:
            advance(1, 2)

    assert run_command(monkeypatch, command) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == f"suanpei {suanpei.__version__}\n"
    assert cli.run([]) == 0
    overview = capsys.readouterr().out
    assert [name for name in cli.COMMANDS if name not in overview] == []
    assert cli.run(["--help", "--lang", "zh"]) == 0
    out = capsys.readouterr().out
    assert "用法：" in out
    assert "命令" in out
    assert "Options" not in out


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", ["", *cli.COMMANDS])
def test_no_help_text_is_cut(
    name: str, lang: Language, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert cli.run([*filter(None, [name]), "--help", "--lang", lang]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if cell_len(line) > columns] == []
    app: Any = typer.main.get_command(cli.build_app(lang, (name, "schema") if name else cli.COMMANDS))
    shown = app.commands[name].params if name else app.commands.values()
    together = "".join("".join(lines).split())
    assert [item.help for item in shown if "".join(item.help.split()) not in together] == []


def test_a_help_text_says_what_an_option_takes_and_is_when_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["rfq", "--help", "--lang", "zh"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("用法：suanpei rfq PLAN.json [OPTIONS]")
    (rank,) = [line for line in lines if line.startswith("  --rank 值 ")]
    assert rank.endswith("取文件中的第几个方案。 [默认：1]")
    (json,) = [line for line in lines if line.startswith("  --json ")]
    assert "值" not in json


def test_an_unknown_command_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["shema"]) == 2
    assert one_line(capsys.readouterr().err) == "there is no command 'shema'; did you mean schema?"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_takes_json_and_lang_and_explains_each_option(name: str) -> None:
    command: Any = typer.main.get_command(cli.build_app("en", ("schema", name))).commands[name]  # type: ignore[attr-defined]
    options = {option for parameter in command.params for option in parameter.opts}
    assert {"--json", "--lang"} <= options
    assert [parameter.name for parameter in command.params if not parameter.help] == []


def test_a_reader_that_stops_early_is_no_error() -> None:
    source = str(Path(suanpei.__file__).parents[1])
    program = (
        "import sys\n"
        "from suanpei.app.cli import main as cli\n"
        "class Module:\n"
        "    def register(line):\n"
        "        line.add('try', lambda out: [out.show_text('x' * 9999) for _ in range(99)], help='x')\n"
        "    register = staticmethod(register)\n"
        "cli.COMMANDS = ('try',)\n"
        "sys.modules['suanpei.app.cli.try'] = Module\n"
        "sys.exit(cli.run(['try']))\n"
    )
    environment = {**os.environ, "PYTHONPATH": source}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        errors = process.stderr.read()
    assert (process.returncode, errors) == (0, b"")


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_closed_stream_is_no_error(closed: str) -> None:
    source = str(Path(suanpei.__file__).parents[1])
    program = "from suanpei.app.cli.main import main; main()"
    command = f'"{sys.executable}" -c "{program}" --version {closed}'
    done = subprocess.run(["sh", "-c", command], env={**os.environ, "PYTHONPATH": source}, check=False)
    assert done.returncode == 0


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys\nfrom suanpei.app.cli.main import run\nrun(['--help'])\n"
        "print([name for name in ('scipy', 'pyarrow', 'tokenizers', 'torch', 'numpy') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(suanpei.__file__).parents[1])}
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
    )
    assert result.stdout.splitlines()[-1] == "[]"


def test_ctrl_c_while_a_library_is_loaded_is_no_defect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def load(*_: object) -> int:
        why = "initialization failed"
        raise ImportError(why) from KeyboardInterrupt()

    monkeypatch.setattr(cli, "_run_in_language", load)

    assert cli.run(["models", "--lang", "en"]) == EXIT_INTERRUPTED
    assert capsys.readouterr().err == "suanpei: interrupted\n"

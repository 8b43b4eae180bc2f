"""``suanpei compare``: sellers on one job at what it costs with each, or two plans and why they differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from suanpei.app.cli.frame import CommandLine, Output
from suanpei.app.cli.options import Replay, Report
from suanpei.app.cli.plan_options import PlanOptions
from suanpei.errors import InputError
from suanpei.messages import Message


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add(
        "compare",
        compare,
        help="Compare what sellers' quotes come to for one job, or say why two plans differ (--plans).",
    )


def compare(
    out: Output,
    asked: PlanOptions,
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="FILES", help="More files of quotes, as --quotes *.csv gives them.")
    ] = None,
    quotes: Annotated[
        list[Path] | None, typer.Option("--quotes", help="A file of quotes; several may follow the model.")
    ] = None,
    plans: Annotated[
        tuple[Path, Path] | None,
        typer.Option("--plans", metavar="A.json B.json", help="Two results of plan --json, instead of quotes."),
    ] = None,
    rank: Annotated[
        list[int] | None,
        typer.Option("--rank", help="Which plan of the two files; given twice, of the first and of the second."),
    ] = None,
    report: Report = None,
    replay: Replay = None,
) -> None:
    """Compare sellers or plans."""
    if report is not None:
        out.check_target(report)
    files = (*(quotes or ()), *(more or ()))
    if plans is not None:
        if str(plans[1]).startswith("-"):  # an option, taken for the second file
            raise InputError(Message("{field} takes {count} values, one after the other", field="--plans", count=2))
        if files or replay is not None or asked != PlanOptions():
            from suanpei.verbs.compare_plans import refuse_beside_plans

            raise refuse_beside_plans()
        _compare_plans(out, plans, tuple(rank or ()), report)
        return
    if rank:
        from suanpei.verbs.compare_plans import refuse_rank

        raise refuse_rank()
    _compare_quotes(out, asked, files, report, replay)


def _compare_quotes(
    out: Output, asked: PlanOptions, files: tuple[Path, ...], report: Path | None, replay: Path | None
) -> None:
    from suanpei.report.text.compare import render_compare
    from suanpei.verbs.compare import compare_quotes

    request = asked.plan_request(out.lang, offers=files)
    if replay is not None:
        from suanpei.verbs.replay import read_plan_request

        request = read_plan_request(replay, request)
    with out.progress(Message("searching accelerators")) as progress:
        result = compare_quotes(request, progress)
    if report is not None:
        out.save_json(result, report)
    out.show(result, render_compare)


def _compare_plans(out: Output, plans: tuple[Path, Path], ranks: tuple[int, ...], report: Path | None) -> None:
    from suanpei.report.text.compare_plans import render_compare_plans
    from suanpei.verbs.compare_plans import compare_plans

    result = compare_plans(*plans, ranks)
    if report is not None:
        out.save_json(result, report)
    out.show(result, render_compare_plans)

"""``suanpei plan``: from a model and its data, a deadline and a budget to a ranked rental plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from suanpei.app.cli.frame import CommandLine, Output
from suanpei.app.cli.options import Replay, Report
from suanpei.app.cli.plan_options import PlanOptions


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add("plan", plan, help="Plan a rental: which cards, how many, which strategy, how long, how dear, how sure.")


def plan(
    out: Output,
    asked: PlanOptions,
    offers: Annotated[
        list[Path] | None,
        typer.Option("--offers", help="Offers, in any file that 'quotes' reads: only these are planned."),
    ] = None,
    top: Annotated[int, typer.Option("--top", help="How many plans to list.")] = 5,
    report: Report = None,
    replay: Replay = None,
) -> None:
    """Plan a rental."""
    from suanpei.messages import Message
    from suanpei.report.text.plan import render_plan
    from suanpei.verbs.plan import plan

    request = asked.plan_request(out.lang, offers=tuple(offers or ()), top=top)
    if replay is not None:
        from suanpei.verbs.replay import read_plan_request

        request = read_plan_request(replay, request)
    if report is not None:
        out.check_target(report)
    with out.progress(Message("searching accelerators")) as progress:
        result = plan(request, progress)
    if report is not None:
        out.save_json(result, report)
    out.show(result, render_plan)

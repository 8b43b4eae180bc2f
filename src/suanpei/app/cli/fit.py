"""``suanpei fit``: regenerate the calibration from published measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from suanpei.app.cli import options
from suanpei.app.cli.frame import CommandLine, Output
from suanpei.messages import Message

_PROGRESS_STEPS = 100


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add("fit", fit, help="Fit the calibration to published measurements.")


def fit(
    out: Output,
    cases: Annotated[
        list[Path] | None,
        typer.Option(metavar="CASES.csv", help="Measurement file, repeatable; default: data/validation of a clone."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write the calibration; default: nowhere.")
    ] = None,
    catalog: options.Catalog = None,
) -> None:
    """Fit, write where asked to, and print."""
    from suanpei.report.text.validate import render_fit
    from suanpei.verbs.fit import refit

    with out.progress(Message("fitting the calibration")) as advance:
        result = refit(
            cases or (),
            output=output,
            catalog=catalog,
            report_progress=lambda share: advance(round(share * _PROGRESS_STEPS), _PROGRESS_STEPS),
        )
    out.show(result, render_fit)

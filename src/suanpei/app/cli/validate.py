"""``suanpei validate``: predict published measurements blind and show the errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from suanpei.app.cli import options
from suanpei.app.cli.frame import CommandLine, Output
from suanpei.messages import Message


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add("validate", validate, help="Predict published measurements blind and show the errors.")


def validate(
    out: Output,
    files: Annotated[
        list[Path], typer.Argument(metavar="CASES.csv…", help="Measurement files, known by their headers.")
    ],
    catalog: options.Catalog = None,
) -> None:
    """Validate and print."""
    from suanpei.report.text.validate import render_validate
    from suanpei.verbs.validate import validate as run_validate

    with out.progress(Message("predicting measured runs")) as advance:
        result = run_validate(files, catalog=catalog, report_progress=advance)
    out.show(result, render_validate)

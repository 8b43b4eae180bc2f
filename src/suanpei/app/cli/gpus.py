"""``suanpei gpus``: accelerators, their links and indicative prices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from suanpei.app.cli.frame import CommandLine, Output


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add("gpus", gpus, help="Show what is known of an accelerator, or list all of them.")


def gpus(
    out: Output,
    name: Annotated[
        str | None, typer.Argument(help="An accelerator as you write it: 4090, 'H800 80G', 昇腾910B3.")
    ] = None,
    catalog: Annotated[
        Path | None, typer.Option("--catalog", help="Folder with your own tables over the bundled ones.")
    ] = None,
    currency: Annotated[str | None, typer.Option("--currency", help="Currency of the prices.")] = None,
) -> None:
    """Describe one accelerator, or list all."""
    from suanpei.report.text.gpus import render_gpus
    from suanpei.verbs.gpus import describe_gpus

    wanted = currency.upper() if currency else "CNY" if out.lang == "zh" else "USD"
    out.show(describe_gpus(name, catalog=catalog, currency=wanted), render_gpus)

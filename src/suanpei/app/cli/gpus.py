"""``suanpei gpus``: accelerators, their links and indicative prices."""

from __future__ import annotations

from typing import Annotated

import typer

from suanpei.app.cli import options
from suanpei.app.cli.frame import CommandLine, Output
from suanpei.report.locale import home_currency


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add("gpus", gpus, help="Show what is known of an accelerator, or list all of them.")


def gpus(
    out: Output,
    name: Annotated[
        str | None, typer.Argument(help="An accelerator as you write it: 4090, 'H800 80G', 昇腾910B3.")
    ] = None,
    catalog: options.Catalog = None,
    currency: Annotated[str | None, typer.Option("--currency", help="Currency of the prices.")] = None,
) -> None:
    """Describe one accelerator, or list all."""
    from suanpei.report.text.gpus import render_gpus
    from suanpei.verbs.gpus import describe_gpus

    out.show(
        describe_gpus(name, catalog=catalog, currency=home_currency(out.lang) if currency is None else currency),
        render_gpus,
    )

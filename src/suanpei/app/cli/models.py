"""``suanpei models``: a model's architecture, parameters and memory, or the list of all."""

from __future__ import annotations

from typing import Annotated

import typer

from suanpei.app.cli import options
from suanpei.app.cli.frame import CommandLine, Output


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add("models", models, help="Show a model's architecture, parameters and memory, or list all models.")


def models(
    out: Output,
    model: Annotated[
        str | None,
        typer.Argument(help="A bundled name, a config.json, its folder, a .safetensors file, or a size such as 7B."),
    ] = None,
    catalog: options.Catalog = None,
) -> None:
    """Describe one model, or list all."""
    from suanpei.report.text.models import render_models
    from suanpei.verbs.models import describe_models

    out.show(describe_models(model, catalog=catalog), render_models)

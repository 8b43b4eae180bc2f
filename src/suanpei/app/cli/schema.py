"""``suanpei schema``: the JSON schema of what a command prints with ``--json``."""

from __future__ import annotations

from typing import Annotated

import typer

from suanpei.app.cli.frame import CommandLine, Output


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add("schema", schema, help="Print the JSON schema of what a command prints with --json.")


def schema(
    out: Output, name: Annotated[str, typer.Argument(metavar="COMMAND", help="The command whose result is described.")]
) -> None:
    """Print one schema; it is JSON with and without ``--json``."""
    from suanpei.verbs.schema import describe_schema

    out.show_json(describe_schema(name))

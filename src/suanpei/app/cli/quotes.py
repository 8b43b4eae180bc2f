"""``suanpei quotes``: quotes as sellers write them, brought onto one basis, with the questions to send back."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from suanpei.app.cli import options
from suanpei.app.cli.frame import CommandLine, Output
from suanpei.messages import Message
from suanpei.report.locale import home_currency

PASTED = "-"
"""Stands for standard input among the files."""


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add("quotes", quotes, help="Bring sellers' quotes onto one basis: price per card-hour, flags, what to ask.")


def quotes(
    out: Output,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES",
            help="CSV, XLSX, Markdown, HTML, DOCX, PDF or text; - is text on standard input.",
        ),
    ] = None,
    currency: Annotated[str | None, typer.Option("--currency", help="Currency of the result.")] = None,
    rate: Annotated[
        list[str] | None, typer.Option("--rate", help="Your exchange rate: USD=7.2CNY; repeat for several currencies.")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Fetch the list prices of clouds, by gpuhunt.")] = False,
    provider: Annotated[
        list[str] | None, typer.Option("--provider", help="Only this cloud, with --live; repeat for several.")
    ] = None,
    catalog: options.Catalog = None,
) -> None:
    """Read quotes and print them."""
    from suanpei.machine.table import decode_text
    from suanpei.report.text.quotes import render_quotes
    from suanpei.verbs.quotes import QuotesRequest, read_quote_files

    named = files or []
    pasted = decode_text(sys.stdin.buffer.read(), PASTED) if PASTED in named else None
    request = QuotesRequest(
        files=tuple(Path(name) for name in named if name != PASTED),
        pasted=pasted,
        as_of=datetime.now(tz=UTC).date(),
        currency=home_currency(out.lang) if currency is None else currency,
        rate=tuple(rate or ()),
        live=live,
        provider=tuple(provider or ()),
        catalog=catalog,
    )
    with out.progress(Message("reading quotes")):
        result = read_quote_files(request)
    out.show(result, render_quotes)

"""``suanpei rfq``: from a plan to the same request for quotation for every seller."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from suanpei.app.cli import options
from suanpei.app.cli.frame import CommandLine, Output


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add("rfq", rfq, help="Write a form for quotes: the same specification for every seller, as XLSX.")


def rfq(
    out: Output,
    plan: Annotated[Path, typer.Argument(metavar="PLAN.json", help="JSON of a plan: suanpei plan … --report FILE.")],
    rank: Annotated[int, typer.Option("--rank", help="Which plan of the file.")] = 1,
    file: Annotated[
        Path | None, typer.Option("--out", help="File to write, ending in .xlsx; an existing one is never replaced.")
    ] = None,
    seller: Annotated[
        list[str] | None, typer.Option("--seller", help="A form in this seller's name; repeat for several.")
    ] = None,
    catalog: options.Catalog = None,
) -> None:
    """Write the forms."""
    from suanpei.report.text.rfq import render_rfq
    from suanpei.report.workbook.rfq_form import save_forms
    from suanpei.verbs.rfq import RfqRequest, request_quotes

    request = RfqRequest(plan=plan, language=out.lang, rank=rank, out=file, seller=tuple(seller or ()), catalog=catalog)
    result = request_quotes(request)
    save_forms(result)
    out.show(result, render_rfq)

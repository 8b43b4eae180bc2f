"""``suanpei sizes``: the tier table, model sizes against methods."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from suanpei.app.cli import options
from suanpei.app.cli.frame import CommandLine, Output
from suanpei.report.locale import home_currency


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add("sizes", sizes, help="Show the smallest cards that hold each model size, with days and cost.")


def sizes(
    out: Output,
    sizes: Annotated[
        list[str] | None, typer.Argument(help="Model sizes such as 7B 13B; the usual ones if left out.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option("--method", help="pretrain, full, lora or qlora; repeat for several.")
    ] = None,
    gpu: Annotated[
        list[str] | None, typer.Option("--gpu", help="An accelerator in place of the usual ones; repeat for several.")
    ] = None,
    currency: Annotated[str | None, typer.Option("--currency", help="Currency of the costs.")] = None,
    catalog: options.Catalog = None,
) -> None:
    """Compute the tier table."""
    from suanpei.messages import Message
    from suanpei.report.text.sizes import render_sizes
    from suanpei.verbs.sizes import SizesRequest, build_sizes

    request = SizesRequest(
        as_of=datetime.now(tz=UTC).date(),
        currency=home_currency(out.lang) if currency is None else currency,
        sizes=tuple(sizes or ()),
        method=tuple(method or ()),
        gpu=tuple(gpu or ()),
        catalog=catalog,
    )
    with out.progress(Message("sizing models")) as progress:
        result = build_sizes(request, progress)
    out.show(result, render_sizes)

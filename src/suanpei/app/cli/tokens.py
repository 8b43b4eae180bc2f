"""``suanpei tokens``: count the tokens of your own data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from suanpei.app.cli.frame import CommandLine, Output
from suanpei.messages import Message


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add("tokens", tokens, help="Count the tokens of your own data: jsonl, json, csv, parquet or text files.")


def tokens(
    out: Output,
    files: Annotated[list[str], typer.Argument(metavar="FILES", help="Files, folders or globs.")],
    tokenizer: Annotated[
        Path, typer.Option("--tokenizer", metavar="FILE", help="The model's tokenizer.json, or its folder.")
    ],
    field: Annotated[
        str | None, typer.Option("--field", help="Fields that are the text, separated by commas; else detected.")
    ] = None,
    seq_len: Annotated[str | None, typer.Option("--seq-len", help="Tokens of a training sequence.")] = None,
    global_batch: Annotated[
        str | None, typer.Option("--global-batch", help="Batch of a step: 128seqs, or tokens such as 0.5M.")
    ] = None,
    micro_batch: Annotated[
        str | None, typer.Option("--micro-batch", help="Records padded together where they are not packed.")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Count everything, however large, instead of a sample.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the sample.")] = 0,
) -> None:
    """Count and print."""
    from suanpei.report.text.tokens import render_tokens
    from suanpei.verbs.tokens import TokensRequest, count_tokens

    request = TokensRequest(
        files=files,
        tokenizer=tokenizer,
        field=field,
        seq_len=seq_len,
        global_batch=global_batch,
        micro_batch=micro_batch,
        exact=exact,
        seed=seed,
    )
    with out.progress(Message("counting tokens")) as advance:
        result = count_tokens(request, advance)
    out.show(result, render_tokens)

"""``suanpei plan``: from a model and its data, a deadline and a budget to a ranked rental plan."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from suanpei.app.cli import options
from suanpei.app.cli.frame import CommandLine, Output
from suanpei.report.locale import home_currency


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add("plan", plan, help="Plan a rental: which cards, how many, which strategy, how long, how dear, how sure.")


def plan(
    out: Output,
    model: options.Model = None,
    tokens: options.Tokens = None,
    data: options.Data = None,
    tokenizer: options.Tokenizer = None,
    samples: options.Samples = None,
    avg_tokens: options.AvgTokens = None,
    epochs: options.Epochs = None,
    deadline: Annotated[str | None, typer.Option("--deadline", help="Calendar time it may take: 20d, 3周.")] = None,
    budget: Annotated[str | None, typer.Option("--budget", help="What it may cost: 500000CNY, 50万元.")] = None,
    method: options.Method = "auto",
    seq_len: options.SeqLen = None,
    global_batch: options.GlobalBatch = None,
    precision: options.PrecisionOption = None,
    optimizer: options.OptimizerOption = None,
    lora_rank: options.LoraRank = None,
    lora_targets: options.LoraTargets = None,
    loss: options.Loss = None,
    offload: options.Offload = None,
    flash_attention: options.FlashAttention = True,
    gpu: Annotated[list[str] | None, typer.Option("--gpu", help="Only this accelerator; repeat for several.")] = None,
    gpus: Annotated[str | None, typer.Option("--gpus", help="How many cards: 8-64, or 8,16,32.")] = None,
    gpus_per_node: options.GpusPerNode = None,
    fabric: options.Fabric = None,
    offers: Annotated[
        list[Path] | None,
        typer.Option("--offers", help="Offers, in any file that 'quotes' reads: only these are planned."),
    ] = None,
    price: Annotated[
        list[str] | None, typer.Option("--price", help="Your price per card-hour: A800=6.5CNY; repeat for several.")
    ] = None,
    tier: Annotated[
        list[str] | None, typer.Option("--tier", help="Also take prices of these tiers: spot, marketplace.")
    ] = None,
    region: Annotated[str | None, typer.Option("--region", help="Only prices and offers of this region.")] = None,
    tenancy: Annotated[str | None, typer.Option("--tenancy", help="shared, or dedicated machines.")] = None,
    confidence: Annotated[
        str, typer.Option("--confidence", help="Probability with which deadline and budget must be kept.")
    ] = "0.9",
    objective: Annotated[str, typer.Option("--objective", help="What ranks: cost or time.")] = "cost",
    day_value: Annotated[str | None, typer.Option("--day-value", help="What one day saved is worth: 20000CNY.")] = None,
    currency: Annotated[str | None, typer.Option("--currency", help="Currency of the costs.")] = None,
    rate: Annotated[list[str] | None, typer.Option("--rate", help="Your exchange rate: USD=7.2CNY.")] = None,
    top: Annotated[int, typer.Option("--top", help="How many plans to list.")] = 5,
    report: Annotated[Path | None, typer.Option("--report", help="Write the JSON result to this file too.")] = None,
    replay: Annotated[
        Path | None, typer.Option("--replay", help="Repeat the request of an earlier JSON result.")
    ] = None,
    catalog: options.Catalog = None,
) -> None:
    """Plan a rental."""
    from suanpei.messages import Message
    from suanpei.report.text.plan import render_plan
    from suanpei.verbs.job_request import JobRequest
    from suanpei.verbs.plan import plan
    from suanpei.verbs.plan_request import PlanRequest

    request = PlanRequest(
        job=JobRequest(
            model=model,
            tokens=tokens,
            data=tuple(data or ()),
            tokenizer=tokenizer,
            samples=samples,
            avg_tokens=avg_tokens,
            epochs=epochs,
            method=method,
            seq_len=seq_len,
            global_batch=global_batch,
            precision=precision,
            optimizer=optimizer,
            lora_rank=lora_rank,
            lora_targets=lora_targets,
            flash_attention=flash_attention,
            loss=loss,
            offload=offload,
        ),
        as_of=datetime.now(tz=UTC).date(),
        currency=currency or home_currency(out.lang),
        deadline=deadline,
        budget=budget,
        gpu=tuple(gpu or ()),
        gpus=gpus,
        gpus_per_node=gpus_per_node,
        fabric=fabric,
        offers=tuple(offers or ()),
        price=tuple(price or ()),
        tier=tuple(tier or ()),
        region=region,
        tenancy=tenancy,
        confidence=confidence,
        objective=objective,
        day_value=day_value,
        rate=tuple(rate or ()),
        top=top,
        catalog=catalog,
    )
    if replay is not None:
        from suanpei.verbs.replay import read_plan_request

        request = read_plan_request(replay, request)
    if report is not None:
        out.check_target(report)
    with out.progress(Message("searching accelerators")) as progress:
        result = plan(request, progress)
    if report is not None:
        out.save_json(result, report)
    out.show(result, render_plan)

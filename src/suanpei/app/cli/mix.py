"""``suanpei mix``: the cheapest mix of reserved and elastic capacity for a demand over time."""

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
    line.add("mix", mix, help="Mix reserved, elastic and spot capacity for a demand over time, at the least cost.")


def mix(
    out: Output,
    demand: Annotated[
        Path | None,
        typer.Argument(help="A CSV of demand: a time (date, hour, day, week, month; 时间) and cards (gpus; 卡数)."),
    ] = None,
    phases: Annotated[
        str | None, typer.Option("--phases", help="In place of a file: train:64x20d, tune:8x60d.")
    ] = None,
    one_seller: Annotated[
        bool | None,
        typer.Option(
            "--one-seller/--any-seller", help="Each phase is one run and stands with one seller; so for --phases."
        ),
    ] = None,
    offers: Annotated[list[Path] | None, typer.Option("--offers", help="A file of offers; repeat for several.")] = None,
    gpu: Annotated[
        list[str] | None, typer.Option("--gpu", help="Only this card; several stand for each other, card for card.")
    ] = None,
    region: Annotated[str | None, typer.Option("--region", help="Only prices and offers of this region.")] = None,
    tier: Annotated[
        list[str] | None, typer.Option("--tier", help="Also take prices of these tiers: spot, marketplace.")
    ] = None,
    tax: Annotated[
        str, typer.Option("--tax", help="Compare prices with tax (in), without (out), or as quoted.")
    ] = "in",
    boot_time: Annotated[str | None, typer.Option("--boot-time", help="From order to a running machine: 5min.")] = None,
    image_size: Annotated[
        str | None, typer.Option("--image-size", help="Image that each start of elastic capacity pulls: 30GB.")
    ] = None,
    pull_rate: Annotated[
        str | None, typer.Option("--pull-rate", help="At which a starting machine reads: 500MB/s.")
    ] = None,
    data_size: Annotated[
        str | None, typer.Option("--data-size", help="Data staged on a machine before it works: 2TB.")
    ] = None,
    data_rate: Annotated[str | None, typer.Option("--data-rate", help="Of the data, else --pull-rate.")] = None,
    checkpoint_size: Annotated[
        str | None, typer.Option("--checkpoint-size", help="Checkpoint loaded before work goes on: 100GB.")
    ] = None,
    checkpoint_rate: Annotated[
        str | None, typer.Option("--checkpoint-rate", help="Of the checkpoint, else --pull-rate.")
    ] = None,
    spot_interruptions_per_hour: Annotated[
        float | None,
        typer.Option("--spot-interruptions-per-hour", help="How often a spot machine is taken back; 0.05."),
    ] = None,
    checkpoint_every: Annotated[
        str | None, typer.Option("--checkpoint-every", help="Useful time between two saves on spot: 30min.")
    ] = None,
    trial: Annotated[
        str | None, typer.Option("--trial", help="Also price a trial: 8 cards for a week, or 8x3d.")
    ] = None,
    ramp: Annotated[str | None, typer.Option("--ramp", help="Also price a small cluster first: 8x14d, 32x14d.")] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="A result of plan --json that trial and ramp would check.")
    ] = None,
    buy: Annotated[str | None, typer.Option("--buy", help="Price of a machine of your own: 2000000CNY.")] = None,
    buy_gpus: Annotated[str | None, typer.Option("--buy-gpus", help="Cards of that machine.")] = None,
    hosting: Annotated[str | None, typer.Option("--hosting", help="Its hosting per month: 8000CNY.")] = None,
    life: Annotated[str | None, typer.Option("--life", help="How long it serves: 4y.")] = None,
    residual: Annotated[str | None, typer.Option("--residual", help="Share of its price left at the end: 0.2.")] = None,
    currency: Annotated[str | None, typer.Option("--currency", help="Currency of the costs.")] = None,
    rate: Annotated[list[str] | None, typer.Option("--rate", help="Your exchange rate: USD=7.2CNY.")] = None,
    time_limit: Annotated[str, typer.Option("--time-limit", help="How long the solver may search.")] = "20s",
    gap: Annotated[str, typer.Option("--gap", help="How near to the proved best it may stop.")] = "0.0001%",
    report: Annotated[Path | None, typer.Option("--report", help="Write the JSON result to this file too.")] = None,
    catalog: options.Catalog = None,
) -> None:
    """Find the cheapest mix."""
    from suanpei.report.text.mix import render_mix
    from suanpei.verbs.mix import find_mix
    from suanpei.verbs.mix_request import MixRequest

    request = MixRequest(
        as_of=datetime.now(tz=UTC).date(),
        currency=home_currency(out.lang) if currency is None else currency,
        demand=demand,
        phases=phases,
        one_seller=one_seller,
        offers=tuple(offers or ()),
        gpu=tuple(gpu or ()),
        region=region,
        tier=tuple(tier or ()),
        tax=tax,
        boot_time=boot_time,
        image_size=image_size,
        pull_rate=pull_rate,
        data_size=data_size,
        data_rate=data_rate,
        checkpoint_size=checkpoint_size,
        checkpoint_rate=checkpoint_rate,
        spot_interruptions_per_hour=spot_interruptions_per_hour,
        checkpoint_every=checkpoint_every,
        trial=trial,
        ramp=ramp,
        plan=plan,
        buy=buy,
        buy_gpus=buy_gpus,
        hosting=hosting,
        life=life,
        residual=residual,
        rate=tuple(rate or ()),
        time_limit=time_limit,
        gap=gap,
        catalog=catalog,
    )
    if report is not None:
        out.check_target(report)
    result = find_mix(request)
    if report is not None:
        out.save_json(result, report)
    out.show(result, render_mix)

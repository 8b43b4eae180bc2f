"""``suanpei estimate``: one configuration, explained term by term."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from suanpei.app.cli import options
from suanpei.app.cli.frame import CommandLine, Output
from suanpei.app.cli.plan_options import JobOptions


def register(line: CommandLine) -> None:
    """Add the command."""
    line.add("estimate", estimate, help="Explain memory and time of one configuration, term by term.")


def estimate(
    out: Output,
    job: JobOptions,
    gpu: Annotated[str | None, typer.Option("--gpu", help="The accelerator as you write it.")] = None,
    gpus: Annotated[str | None, typer.Option("--gpus", help="How many accelerators.")] = None,
    gpus_per_node: options.GpusPerNode = None,
    tp: Annotated[int | None, typer.Option("--tp", help="Tensor-parallel degree.")] = None,
    sp: Annotated[bool | None, typer.Option("--sp/--no-sp", help="Sequence parallelism over the tp ranks.")] = None,
    pp: Annotated[int | None, typer.Option("--pp", help="Pipeline stages.")] = None,
    vpp: Annotated[int | None, typer.Option("--vpp", help="Virtual stages per pipeline rank.")] = None,
    cp: Annotated[int | None, typer.Option("--cp", help="Context-parallel degree.")] = None,
    ep: Annotated[int | None, typer.Option("--ep", help="Expert-parallel degree.")] = None,
    etp: Annotated[int | None, typer.Option("--etp", help="Tensor-parallel degree inside an expert.")] = None,
    sharding: Annotated[str | None, typer.Option("--sharding", help="none, zero1, zero2 or zero3.")] = None,
    recompute: Annotated[str | None, typer.Option("--recompute", help="none, selective or full.")] = None,
    micro_batch: Annotated[
        int | None, typer.Option("--micro-batch", help="Sequences per micro-batch and rank.")
    ] = None,
    grad_accum: Annotated[int | None, typer.Option("--grad-accum", help="Micro-batches per step and rank.")] = None,
    recipe: Annotated[str | None, typer.Option("--recipe", help="megatron, fsdp, deepspeed or ddp.")] = None,
    fabric: options.Fabric = None,
    host_memory: Annotated[str | None, typer.Option("--host-memory", help="Memory of one machine: 1TiB.")] = None,
    measured_step: Annotated[
        str | None, typer.Option("--measured-step", help="Step time that you measured: 4.31s.")
    ] = None,
    from_launch: Annotated[
        list[Path] | None,
        typer.Option("--from-launch", help="Megatron arguments, DeepSpeed JSON, torchtitan TOML or a job script."),
    ] = None,
    catalog: options.Catalog = None,
) -> None:
    """Estimate one configuration."""
    from suanpei.quantities import parse_bytes
    from suanpei.report.text.estimate import render_estimate
    from suanpei.verbs.estimate import EstimateRequest, estimate
    from suanpei.verbs.strategy_request import StrategyRequest

    request = EstimateRequest(
        job=job.job_request(),
        strategy=StrategyRequest(
            tp=tp,
            sp=sp,
            pp=pp,
            vpp=vpp,
            cp=cp,
            ep=ep,
            etp=etp,
            sharding=sharding,
            recompute=recompute,
            micro_batch=micro_batch,
            grad_accum=grad_accum,
            recipe=recipe,
        ),
        gpu=gpu,
        gpus=gpus,
        gpus_per_node=gpus_per_node,
        fabric=fabric,
        host_memory_bytes=None if host_memory is None else parse_bytes(host_memory, "host-memory"),
        measured_step=measured_step,
        from_launch=tuple(from_launch or ()),
        catalog=catalog,
    )
    out.show(estimate(request), render_estimate)

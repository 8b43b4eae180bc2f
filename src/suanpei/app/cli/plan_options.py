"""The options by which a rental is asked for, declared once for every command that plans one."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suanpei.app.cli import options
from suanpei.report.locale import Language, home_currency

if TYPE_CHECKING:
    from suanpei.verbs.job_request import JobRequest
    from suanpei.verbs.plan_request import PlanRequest


@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """What is trained. Fields are those of `JobRequest`; None is not said."""

    model: options.Model = None
    tokens: options.Tokens = None
    data: options.Data = None
    tokenizer: options.Tokenizer = None
    samples: options.Samples = None
    avg_tokens: options.AvgTokens = None
    epochs: options.Epochs = None
    method: options.Method = "auto"
    seq_len: options.SeqLen = None
    global_batch: options.GlobalBatch = None
    precision: options.PrecisionOption = None
    optimizer: options.OptimizerOption = None
    lora_rank: options.LoraRank = None
    lora_targets: options.LoraTargets = None
    loss: options.Loss = None
    offload: options.Offload = None
    flash_attention: options.FlashAttention = True

    def job_request(self) -> JobRequest:
        """Give what was said about the job."""
        from suanpei.verbs.job_request import JobRequest

        return JobRequest(**_said(self, JobRequest))


@dataclass(frozen=True, kw_only=True)
class PlanOptions(JobOptions):
    """What is trained, and under which terms machines are rented for it. Fields are those of `PlanRequest`."""

    deadline: Annotated[str | None, typer.Option("--deadline", help="Calendar time it may take: 20d, 3周.")] = None
    budget: Annotated[str | None, typer.Option("--budget", help="What it may cost: 500000CNY, 50万元.")] = None
    gpu: Annotated[list[str] | None, typer.Option("--gpu", help="Only this accelerator; repeat for several.")] = None
    gpus: Annotated[str | None, typer.Option("--gpus", help="How many cards: 8-64, or 8,16,32.")] = None
    gpus_per_node: options.GpusPerNode = None
    fabric: options.Fabric = None
    price: Annotated[
        list[str] | None,
        typer.Option("--price", help="Your price per card-hour with tax: A800=6.5CNY; repeat for several."),
    ] = None
    tier: Annotated[
        list[str] | None, typer.Option("--tier", help="Also take prices of these tiers: spot, marketplace.")
    ] = None
    region: Annotated[str | None, typer.Option("--region", help="Only prices and offers of this region.")] = None
    tenancy: Annotated[str | None, typer.Option("--tenancy", help="shared, or dedicated machines.")] = None
    confidence: Annotated[
        str, typer.Option("--confidence", help="Probability with which deadline and budget must be kept.")
    ] = "0.9"
    objective: Annotated[str, typer.Option("--objective", help="What ranks: cost or time.")] = "cost"
    day_value: Annotated[str | None, typer.Option("--day-value", help="What one day saved is worth: 20000CNY.")] = None
    currency: Annotated[str | None, typer.Option("--currency", help="Currency of the costs.")] = None
    rate: Annotated[list[str] | None, typer.Option("--rate", help="Your exchange rate: USD=7.2CNY.")] = None
    data_size: Annotated[
        str | None, typer.Option("--data-size", help="Size of the data set as it is pulled: 2TB, 500GiB.")
    ] = None
    uplink: Annotated[str | None, typer.Option("--uplink", help="The line to the machines: 1Gbps, 100Mbps.")] = None
    rack_kw: Annotated[float | None, typer.Option("--rack-kw", help="What one rack of the site feeds, in kW.")] = None
    catalog: options.Catalog = None

    def plan_request(self, lang: Language, **beside: Any) -> PlanRequest:
        """Give the whole request, today's, in the currency of the reader's language unless another is named.

        Args:
            lang: The reader's language. [-]
            **beside: Fields that the command has options of its own for; None is not said. [-]
        """
        from suanpei.verbs.plan_request import PlanRequest

        said = {**_said(self, PlanRequest), **{name: value for name, value in beside.items() if value is not None}}
        said.setdefault("currency", home_currency(lang))
        return PlanRequest(job=self.job_request(), as_of=datetime.now(tz=UTC).date(), **said)


def _said(options: JobOptions, kind: type[JobRequest | PlanRequest]) -> dict[str, Any]:
    """Take those options that are fields of a request and were given."""
    values = {item.name: getattr(options, item.name, None) for item in fields(kind)}
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items() if value is not None
    }

"""What the golden files show: one request each, with a frozen calibration and a fixed day."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from suanpei.verbs.estimate import EstimateRequest, EstimateResult, estimate
from suanpei.verbs.job_request import JobRequest
from suanpei.verbs.plan import PlanResult, plan
from suanpei.verbs.plan_request import PlanRequest

if TYPE_CHECKING:
    from rich.console import RenderableType

FROZEN = Path(__file__).parents[1] / "data" / "catalog"
"""Holds the calibration alone: refitting the bundled one leaves the golden files as they are."""
OFFERS = Path(__file__).parents[1] / "data" / "offers" / "full_terms.csv"
"""One offer that states all that can be stated."""
DAY = date(2026, 11, 30)


@cache
def continued(currency: str = "CNY") -> PlanResult:
    """Continue an 8B on 20B tokens within 20 days on A800."""
    return _still(
        PlanRequest(
            job=JobRequest(model="llama-3-8b", tokens="20B"),
            as_of=DAY,
            currency=currency,
            deadline="20d",
            gpu=("A800",),
            catalog=FROZEN,
        )
    )


@cache
def tuned(currency: str = "CNY") -> PlanResult:
    """Tune a 7B on 50,000 question-answer pairs, on whatever is cheapest of two cards."""
    return _still(
        PlanRequest(
            job=JobRequest(model="qwen2.5-7b", samples="50000", avg_tokens="600"),
            as_of=DAY,
            currency=currency,
            gpu=("A800", "4090"),
            gpus="1-16",
            catalog=FROZEN,
        )
    )


@cache
def offered(currency: str = "CNY") -> PlanResult:
    """Continue an 8B on machines of one offer that states every charge, with data on a thin line into small racks."""
    return _still(
        PlanRequest(
            job=JobRequest(model="llama-3-8b", tokens="20B"),
            as_of=DAY,
            currency=currency,
            gpus="16,32",
            offers=(OFFERS,),
            data_size="4TB",
            uplink="200Mbps",
            rack_kw=6.0,
            catalog=FROZEN,
        )
    )


@cache
def estimated() -> EstimateResult:
    """One configuration that fits, with its whole run."""
    return estimate(
        EstimateRequest(
            job=JobRequest(model="llama-3-8b", tokens="20B"),
            gpu="A800",
            gpus="64",
            fabric="4x200G RoCE",
            catalog=FROZEN,
        )
    )


@cache
def too_large() -> EstimateResult:
    """One configuration that does not fit."""
    return estimate(EstimateRequest(job=JobRequest(model="llama-3-8b"), gpu="A800", gpus="1", catalog=FROZEN))


def _still(request: PlanRequest) -> PlanResult:
    """Plan, without the seconds that it took."""
    result = plan(request)
    return replace(result, search=replace(result.search, seconds=0.0))


def print_at(content: RenderableType, width: int) -> str:
    """Print to text of a width, without colours and without spaces at line ends."""
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False, legacy_windows=False)
    with console.capture() as capture:
        console.print(content)
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"

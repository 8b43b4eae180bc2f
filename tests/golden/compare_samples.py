"""What the golden files of comparisons show: seven offers of six sellers, and two plans of one job."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from suanpei.verbs.compare import CompareResult, compare_quotes
from suanpei.verbs.compare_plans import ComparePlansResult, compare_plans
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.job_request import JobRequest
from suanpei.verbs.plan import PlanResult, plan
from suanpei.verbs.plan_request import PlanRequest
from tests.golden.plan_samples import DAY, FROZEN

SELLERS = Path(__file__).parents[1] / "data" / "quotes" / "sellers.csv"
JOB = JobRequest(model="qwen2.5-7b", samples="2000", avg_tokens="600")


@cache
def compared(currency: str = "CNY") -> CompareResult:
    """Tune a 7B on 2,000 samples within five days, at six sellers."""
    request = PlanRequest(
        job=JOB,
        as_of=DAY,
        currency=currency,
        deadline="5d",
        gpus="2,8",
        offers=(SELLERS,),
        catalog=FROZEN,
    )
    return replace(compare_quotes(request), seconds=0.0)


@cache
def on_offers() -> PlanResult:
    """Plan the same job on the offers, in yuan."""
    return plan(PlanRequest(job=JOB, as_of=DAY, currency="CNY", gpus="2,8", offers=(SELLERS,), catalog=FROZEN))


@cache
def at_indicative_prices() -> PlanResult:
    """Plan the same job for one pass less, on another card, in dollars."""
    job = replace(JOB, epochs=2.0)
    return plan(PlanRequest(job=job, as_of=DAY, currency="USD", gpu=("A800",), gpus="2,8", catalog=FROZEN))


@cache
def two_plans() -> ComparePlansResult:
    """Say why the two plans differ."""
    with TemporaryDirectory() as folder:
        a = write_plan(on_offers(), Path(folder) / "a.json")
        b = write_plan(at_indicative_prices(), Path(folder) / "b.json")
        result = compare_plans(a, b)
    # no path of this machine in a golden file
    changes = tuple(change for change in result.request_changes if change.field != "offers")
    a_file, b_file = replace(result.a, file="a.json"), replace(result.b, file="b.json")
    return replace(result, request_changes=changes, a=a_file, b=b_file)


def write_plan(result: PlanResult, path: Path) -> Path:
    """Write a plan as ``--report`` does."""
    path.write_text(json.dumps(to_envelope(result), ensure_ascii=False), encoding="utf-8")
    return path

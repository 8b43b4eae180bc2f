"""`compare`: what each seller's offers come to for one job, at its best plan."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from suanpei.errors import InputError, NoAnswerError
from suanpei.messages import Message
from suanpei.physics.run import RunAssumptions
from suanpei.planner.enumerate import PRACTICAL
from suanpei.verbs.compare_rows import SellerRow, rank_sellers
from suanpei.verbs.compare_sellers import Biller, find_sellers, seller_key
from suanpei.verbs.envelope import VerbResult, to_jsonable
from suanpei.verbs.job_summary import JobSummary, summarise_job
from suanpei.verbs.plan_search import Planner

if TYPE_CHECKING:
    from collections.abc import Callable

    from suanpei.verbs.plan_request import PlanRequest

INDICATIVE_ONLY = ("price", "tier", "tenancy")
"""Fields of a request that choose among indicative prices; quotes carry their own."""


@dataclass(frozen=True, kw_only=True)
class CompareResult(VerbResult):
    """One row per seller."""

    job: JobSummary
    currency: str
    rates: tuple[str, ...]
    """Exchange rates on hand, the user's own first."""
    sellers: tuple[SellerRow, ...]
    """Ranked, then those without a rank by name."""
    candidates: int
    """Legal strategies whose full memory and time were evaluated, once for all offers. [-]"""
    seconds: float


def compare_quotes(request: PlanRequest, progress: Callable[[int, int], None] | None = None) -> CompareResult:
    """Compare sellers on one job.

    One search serves all offers: price enters after physics. Each seller stands with the plan that costs least with tax
    in (or ends soonest, where time ranks) among those that keep deadline and budget with the confidence asked for.

    Args:
        request: As of a plan, the quote files in ``offers``. [-]
        progress: Told about the accelerators searched and all of them. [-]

    Returns:
        One row per seller named in the quotes, those too of whom nothing fits or keeps the constraints.

    Raises:
        InputError: something given is wrong or missing, naming it.
        NoAnswerError: nothing fits, or no seller keeps deadline and budget: the binding constraint and what would help.
    """
    started_s = perf_counter()
    _check(request)
    planner = Planner.prepare(request, progress, rivals_of=seller_key)
    job, terms = planner.job, planner.terms
    found = planner.search(job, planner.supplies, top=1)
    if found.failure is not None:
        raise planner.refuse(job, planner.supplies, found, found.failure)
    sellers = find_sellers(planner, found)
    reasons = [seller.reason for seller in sellers if seller.reason is not None]
    if len(reasons) == len(sellers):
        raise NoAnswerError(reasons[0])
    biller = Biller(planner)
    rows = rank_sellers(
        sellers, biller, objective=terms.objective, tokens=float(job.tokens or 0.0), currency=terms.currency
    )
    asked = {question for row in rows for question in row.questions}
    return CompareResult(
        catalog_date=planner.inputs.catalogue.catalog_date,
        calibration_id=planner.inputs.calibration.calibration_id,
        request=to_jsonable(request),
        assumptions=tuple(
            dict.fromkeys(
                (
                    *job.assumptions,
                    *terms.assumptions,
                    *planner.note_tax(),
                    *(note for note in planner.supplies.assumptions if note not in asked),
                    *(note for row in rows if row.offer is not None for note in row.offer.assumptions),
                    *PRACTICAL.messages(),
                    *RunAssumptions().messages(),
                )
            )
        ),
        job=summarise_job(job),
        currency=terms.currency,
        rates=tuple(str(rate) for rate in terms.rates.rates),
        sellers=rows,
        candidates=found.candidates,
        seconds=perf_counter() - started_s,
    )


def _check(request: PlanRequest) -> None:
    if not request.offers:
        raise InputError(Message("quotes: give the files to compare: --quotes FILE, or two plans with --plans"))
    for path in request.offers:
        if not path.is_file():
            raise InputError(Message("quotes: {path} is not a file", path=str(path)))
    for field in INDICATIVE_ONLY:
        if getattr(request, field):
            raise InputError(Message("{field}: quotes carry their own prices and terms; leave it out", field=field))

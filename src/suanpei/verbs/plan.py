"""`plan`: from a model and its data, a deadline and a budget to a ranked, explained rental plan."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from suanpei.errors import InputError
from suanpei.market.cost import Conditions, Cost, price_package
from suanpei.messages import Message
from suanpei.money import Money
from suanpei.physics.run import RunAssumptions
from suanpei.planner.enumerate import PRACTICAL
from suanpei.units import DAY_S, HOUR_S, MONTH_HOURS
from suanpei.verbs.envelope import VerbResult, to_jsonable
from suanpei.verbs.job_request import with_method
from suanpei.verbs.job_summary import JobSummary, summarise_job
from suanpei.verbs.plan_search import Planner
from suanpei.verbs.run_needs import note_data_size, size_data, with_side_costs
from suanpei.verbs.supply import Supplies, select_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from suanpei.job.job import Job, Method
    from suanpei.planner.knee import CurvePoint
    from suanpei.planner.options import Choice
    from suanpei.planner.rejections import Rejection
    from suanpei.planner.search import SearchResult
    from suanpei.verbs.plan_request import PlanRequest
    from suanpei.verbs.plan_rows import PlanRow

OTHER_STACKS_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """Something else that was considered, beside the first plan."""

    kind: Literal["method", "biggest_package"]
    method: Method
    row: PlanRow | None
    """The plan under another method; None for a package."""
    accelerator: str
    gpus: int
    months: int | None
    """Whole months that the package is paid for; None pays the run's own hours."""
    days: float
    cost: Cost | None
    cost_ratio: float | None
    """Its cost with tax over the first plan's. [-]"""
    days_saved: float
    """The first plan's days less its days; below 0 it is slower. [d]"""


@dataclass(frozen=True, kw_only=True)
class KneeResult:
    """Where more cards stop paying, on the first plan's accelerator."""

    accelerator: str
    curve: tuple[CurvePoint, ...]
    recommended_gpus: int
    rule: Message


@dataclass(frozen=True, kw_only=True)
class FrontierPoint:
    """A choice that no other beats in cost, time and risk together."""

    accelerator: str
    gpus: int
    days: float
    """Central estimate. [d]"""
    probability: float
    """Of keeping deadline and budget. [-]"""
    cost: Money | None
    """Of the central estimate, with tax at its worst reading; None without a price."""


@dataclass(frozen=True, kw_only=True)
class SearchStats:
    """How much was looked at."""

    candidates: int
    """Legal strategies whose full memory and time were evaluated."""
    pruned: int
    """Legal strategies that a bound dropped before."""
    seconds: float


@dataclass(frozen=True, kw_only=True)
class PlanResult(VerbResult):
    """Ranked, explained plans."""

    job: JobSummary
    currency: str
    rates: tuple[str, ...]
    """Exchange rates on hand, the user's own first."""
    plans: tuple[PlanRow, ...]
    frontier: tuple[FrontierPoint, ...]
    """By cost, the unpriced last."""
    other_stacks: tuple[PlanRow, ...]
    """Cards of other software stacks, or of generations that nothing measured: cheaper only if the code runs there."""
    alternatives: tuple[Alternative, ...]
    knee: KneeResult | None
    rejected: tuple[Rejection, ...]
    search: SearchStats


def plan(request: PlanRequest, progress: Callable[[int, int], None] | None = None) -> PlanResult:
    """Plan a rental.

    Args:
        request: What the user said.
        progress: Told about the accelerators searched and all of them.

    Returns:
        The best plans with the knee, alternatives, rejections and all assumptions.

    Raises:
        InputError: something given is wrong or missing, naming it, or no card named runs the job at all.
        NoAnswerError: nothing fits, or nothing keeps deadline and budget: the binding constraint and what would help.
    """
    started_s = perf_counter()
    planner = Planner.prepare(request, progress)
    job, terms, inputs = planner.job, planner.terms, planner.inputs
    main = select_table(planner.supplies, is_main=True)
    found = planner.search(job, main)
    if found.failure is not None:
        raise planner.refuse(job, main, found, found.failure)
    rows = planner.builder(job, main).build(found.listed)
    others_supplies = select_table(planner.supplies, is_main=False)
    others = planner.search(job, others_supplies) if others_supplies.items else None
    other_rows = () if others is None else planner.builder(job, others_supplies).build(others.listed)
    alternatives = _Others(planner=planner).alternatives(job, main, found, rows)
    return PlanResult(
        catalog_date=inputs.catalogue.catalog_date,
        calibration_id=inputs.calibration.calibration_id,
        request=to_jsonable(request),
        assumptions=tuple(
            dict.fromkeys(
                (
                    *job.assumptions,
                    *terms.assumptions,
                    *planner.note_tax(),
                    *planner.supplies.explain(row.offer for row in rows),
                    *found.listed[0].choice.option.cluster.assumptions,
                    *_batch_notes(job, rows),
                    *PRACTICAL.messages(),
                    *RunAssumptions().messages(),
                    *note_data_size(job, planner.data),
                )
            )
        ),
        job=summarise_job(job),
        currency=terms.currency,
        rates=tuple(str(rate) for rate in terms.rates.rates),
        plans=rows,
        frontier=_frontier(found, terms.currency),
        other_stacks=other_rows[:OTHER_STACKS_SHOWN],
        alternatives=alternatives,
        knee=_knee(found),
        rejected=found.rejected,
        search=SearchStats(
            candidates=found.candidates + (others.candidates if others else 0),
            pruned=found.pruned + (others.pruned if others else 0),
            seconds=perf_counter() - started_s,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class _Others:
    """What stands beside the first plan."""

    planner: Planner

    def alternatives(
        self, job: Job, supplies: Supplies, found: SearchResult, rows: tuple[PlanRow, ...]
    ) -> tuple[Alternative, ...]:
        """Give the other methods of a tuning job, and the biggest package beside the first plan."""
        alternatives = []
        if job.method == "full" and self.planner.request.job.method == "auto":
            for method in ("lora", "qlora"):
                other = self._other_method(job, method, supplies, rows[0])
                if other is not None:
                    alternatives.append(other)
        package = self._biggest_package(job, supplies, found, rows[0])
        if package is not None:
            alternatives.append(package)
        return tuple(alternatives)

    def _other_method(
        self, job: Job, method: Literal["lora", "qlora"], supplies: Supplies, first: PlanRow
    ) -> Alternative | None:
        try:
            changed = with_method(job, method)
            supplies = with_side_costs(supplies, size_data(changed, self.planner.data))
            found = self.planner.search(changed, supplies, top=1)
        except InputError:
            return None
        if not found.listed:
            return None
        row = self.planner.builder(changed, supplies).row(found.listed[0].choice, 1, found.listed[0].role)
        return Alternative(
            kind="method",
            method=method,
            row=row,
            accelerator=row.accelerator,
            gpus=row.gpus,
            months=None,
            days=row.run.days,
            cost=row.cost,
            cost_ratio=_ratio(row.cost, first.cost),
            days_saved=first.run.days - row.run.days,
        )

    def _biggest_package(self, job: Job, supplies: Supplies, found: SearchResult, first: PlanRow) -> Alternative | None:
        """Give a month of one whole node for a job that needs less, else the largest count of the curve."""
        chosen = found.listed[0].choice
        node = chosen.option.cluster.gpus_per_node
        is_small = chosen.gpus <= node and chosen.run.days * DAY_S < MONTH_HOURS * HOUR_S
        by_gpus = {choice.gpus: choice for choice in found.curve}
        if not by_gpus:
            return None
        biggest = by_gpus.get(node) if is_small else by_gpus[max(by_gpus)]
        if biggest is None or (biggest.gpus == chosen.gpus and not is_small):
            return None
        cost = self._package_cost(job, supplies, biggest, is_small=is_small)
        return Alternative(
            kind="biggest_package",
            method=job.method,
            row=None,
            accelerator=biggest.accelerator,
            gpus=biggest.gpus,
            months=1 if is_small else None,
            days=biggest.run.days,
            cost=cost,
            cost_ratio=_ratio(cost, first.cost),
            days_saved=first.run.days - biggest.run.days,
        )

    def _package_cost(self, job: Job, supplies: Supplies, biggest: Choice, *, is_small: bool) -> Cost | None:
        prices = supplies.prices_for(biggest.option.cluster, biggest.gpus)
        if not prices:
            return None
        if not is_small:
            return self.planner.builder(job, supplies).bills(biggest, biggest.run)[0].cost
        monthly = [price for price in prices if price.unit_price.term.is_month_billed] or list(prices)
        node = biggest.option.cluster.gpus_per_node
        packages = [
            price_package(price.unit_price, gpus_per_node=node, conditions=Conditions.of(price, self.planner.facts))
            for price in monthly
        ]
        return min(packages, key=lambda cost: cost.ranked_total.amount)


def _frontier(found: SearchResult, currency: str) -> tuple[FrontierPoint, ...]:
    points = [
        FrontierPoint(
            accelerator=choice.accelerator,
            gpus=choice.gpus,
            days=choice.days,
            probability=choice.probability,
            cost=None if choice.cost is None else Money(amount=Decimal(f"{choice.cost:.2f}"), currency=currency),
        )
        for choice in sorted(found.frontier, key=lambda choice: (choice.cost is None, choice.cost or 0.0, choice.days))
    ]
    return tuple(points)


def _batch_notes(job: Job, rows: tuple[PlanRow, ...]) -> tuple[Message, ...]:
    """Say which plans take another global batch, because their data-parallel ranks do not divide the job's."""
    return tuple(
        Message(
            "plan {rank}: a global batch of {seqs} sequences, which its {ranks} data-parallel ranks divide",
            rank=row.rank,
            seqs=row.strategy.global_batch_seqs,
            ranks=row.strategy.dp,
        )
        for row in rows
        if row.strategy.global_batch_seqs != job.global_batch_seqs
    )


def _knee(found: SearchResult) -> KneeResult | None:
    if found.knee is None or not found.curve:
        return None
    return KneeResult(
        accelerator=found.curve[0].accelerator,
        curve=found.knee.curve,
        recommended_gpus=found.knee.recommended_gpus,
        rule=found.knee.rule,
    )


def _ratio(cost: Cost | None, other: Cost | None) -> float | None:
    if cost is None or other is None or other.ranked_total.amount == 0:
        return None
    return cost.ranked_total.ratio(other.ranked_total)

"""The rows of a plan: a choice of the search, explained and priced."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from suanpei.market.cost import Bill, Cost, CostFacts, DataSizes, RunHours, find_tie_price, make_bills
from suanpei.market.indicative import IndicativePrice
from suanpei.market.offer import Offer
from suanpei.physics.evaluate import explain
from suanpei.physics.rates import resolve_rates
from suanpei.physics.rule_of_thumb import apply_rule, explain_difference
from suanpei.physics.strategy import Strategies, Strategy
from suanpei.physics.workload import build_workload
from suanpei.units import DAY_S, HOUR_S
from suanpei.verbs.run_needs import DataTerms, check_placement, need_of, size_data, trace_data_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from suanpei.job.job import Job
    from suanpei.market.cost import RunNeeds
    from suanpei.market.data_path import DataPath
    from suanpei.market.offer import Tier
    from suanpei.market.placement import PlacementFinding
    from suanpei.market.terms import TaxState
    from suanpei.messages import Message
    from suanpei.money import Money
    from suanpei.physics.estimate import Estimate
    from suanpei.physics.run import RunEstimate
    from suanpei.planner.listing import Listed, Role
    from suanpei.planner.options import Choice
    from suanpei.verbs.inputs import Inputs
    from suanpei.verbs.supply import Supplies


@dataclass(frozen=True, kw_only=True)
class PriceBand:
    """An indicative price per accelerator-hour: not an offer."""

    tier: Tier | Literal["stated"]
    low: Money
    median: Money
    high: Money
    currency: str
    tax: TaxState
    """Whether tax is in the price."""
    rows: int
    """Sellers read."""
    oldest: date | None
    substitute: tuple[Message, ...]
    """Why these rows stand in for the ones wanted, with the question to ask."""
    questions: tuple[Message, ...]


@dataclass(frozen=True, kw_only=True)
class OtherBill:
    """The same run at another price."""

    tier: Tier | Literal["stated"]
    provider: str | None
    """Whose offer it is; None for an indicative price."""
    currency: str
    total: Money
    """As quoted, like its ends."""
    low: Money
    high: Money
    total_tax_in: Money | None
    """None where the price does not settle it."""
    ranked_total: Money
    """With tax, at the worst reading where the price leaves it open."""
    low_tax_in: Money
    """`low` with tax at the reading that suits the buyer."""
    high_tax_in: Money
    """`high` with tax at its worst reading."""


@dataclass(frozen=True, kw_only=True)
class RuleOfThumb:
    """The answer that articles give, beside ours."""

    flops_6nd: float
    """Six times active parameters times tokens. [FLOP]"""
    days_at_40_percent: float
    differences: tuple[Message, ...]
    """Why ours differs."""


@dataclass(frozen=True, kw_only=True)
class PlanRow:
    """One plan."""

    rank: int
    role: Role
    """Why it stands where it stands: cheapest, knee, fastest, or its rank by the objective."""
    accelerator: str
    gpus: int
    nodes: int
    fabric: str
    """Network between nodes."""
    offer: Offer | None
    strategy: Strategy
    recipe: str
    estimate: Estimate
    run: RunEstimate
    constraint_probability: float
    """Probability of keeping deadline and budget together. [-]"""
    indicative_price: PriceBand | None
    currency: str
    """Of `ties_at_price_per_gpu_hour`."""
    ties_at_price_per_gpu_hour: Money | None
    """Without a price: what an accelerator-hour may cost at most, with tax, to tie with the first priced plan."""
    cost: Cost | None
    other_bills: tuple[OtherBill, ...]
    data_path: DataPath
    placement: tuple[PlacementFinding, ...]
    rule_of_thumb: RuleOfThumb


@dataclass(frozen=True, kw_only=True)
class RowBuilder:
    """Turns choices into rows: the physics once more with all parts, the money in exact decimals."""

    job: Job
    inputs: Inputs
    supplies: Supplies
    currency: str
    data: DataTerms
    facts: CostFacts
    """For the worst reading of what nobody states."""

    @cached_property
    def sizes(self) -> DataSizes:
        """What the job stores and moves."""
        return size_data(self.job, self.data)

    def build(self, listed: Sequence[Listed]) -> tuple[PlanRow, ...]:
        """Explain and price the listed choices, in their order."""
        rows = [self.row(item.choice, rank, item.role) for rank, item in enumerate(listed, start=1)]
        return tuple(self._with_ties(rows))

    def row(self, choice: Choice, rank: int, role: Role) -> PlanRow:
        """Explain and price one choice."""
        cluster, found = choice.option.cluster, choice.found
        estimate = explain(self.job, cluster, found.recipe, self.inputs.calibration, Strategies.of([found.strategy]))
        run = choice.run
        bills = self.bills(choice, run)
        shown = bills[0] if bills else None
        price = None if shown is None else shown.price
        cost = None if shown is None else shown.cost
        return PlanRow(
            rank=rank,
            role=role,
            accelerator=choice.accelerator,
            gpus=choice.gpus,
            nodes=choice.nodes,
            fabric=cluster.scale_out.name,
            offer=price if isinstance(price, Offer) else None,
            strategy=found.strategy,
            recipe=found.recipe.name,
            estimate=estimate,
            run=run,
            constraint_probability=choice.probability,
            indicative_price=_band(price) if isinstance(price, IndicativePrice) else None,
            currency=self.currency,
            ties_at_price_per_gpu_hour=None,
            cost=cost,
            other_bills=tuple(
                OtherBill(
                    tier=bill.price.tier,
                    provider=bill.price.provider if isinstance(bill.price, Offer) else None,
                    currency=bill.cost.currency,
                    total=bill.cost.total,
                    low=bill.cost.low,
                    high=bill.cost.high,
                    total_tax_in=bill.cost.total_tax_in,
                    ranked_total=bill.cost.ranked_total,
                    low_tax_in=bill.cost.low_tax_in,
                    high_tax_in=bill.cost.high_tax_in,
                )
                for bill in bills[1:]
            ),
            data_path=trace_data_path(self.job, choice, self.needs(choice, run), cost, self.data.assumptions),
            placement=check_placement(self.inputs.catalogue, choice, price, self.data.rack_watts),
            rule_of_thumb=self._rule_of_thumb(choice, estimate, run),
        )

    def bills(self, choice: Choice, run: RunEstimate) -> tuple[Bill, ...]:
        """Make the bill of the choice, then those at the cheapest other prices of so many accelerators."""
        hours = RunHours(
            likely_hours=run.days * DAY_S / HOUR_S,
            low_hours=run.low_days * DAY_S / HOUR_S,
            high_hours=run.high_days * DAY_S / HOUR_S,
        )
        cluster = choice.option.cluster
        prices = self.supplies.prices_of(choice)
        bills = make_bills(
            prices,
            gpus=choice.rented_gpus,
            gpus_per_node=cluster.gpus_per_node,
            hours=hours,
            needs=self.needs(choice, run),
            facts=self.facts,
        )
        # the choice's own stands first: it is the one that keeps deadline and budget with the probability shown
        return tuple(sorted(bills, key=lambda bill: bill.price is not prices[0]))

    def needs(self, choice: Choice, run: RunEstimate) -> RunNeeds:
        """Give what a run of a choice stores, moves, and loses to stops."""
        return need_of(run, choice.found.checkpoint_bytes, self.sizes)

    def _rule_of_thumb(self, choice: Choice, estimate: Estimate, run: RunEstimate) -> RuleOfThumb:
        work = build_workload(self.job)
        peak = resolve_rates(
            self.job, choice.option.cluster, choice.found.recipe, self.inputs.calibration
        ).peak_flops_per_s
        rule = apply_rule(work, float(self.job.tokens or 0.0), choice.gpus, peak)
        return RuleOfThumb(
            flops_6nd=rule.flops_6nd,
            days_at_40_percent=rule.days_at_40_percent,
            differences=explain_difference(work, estimate, run, peak),
        )

    def _with_ties(self, rows: Sequence[PlanRow]) -> list[PlanRow]:
        best = next((row.cost.ranked_total for row in rows if row.cost is not None), None)
        if best is None:
            return list(rows)
        return [
            row
            if row.cost is not None
            else replace(
                row,
                ties_at_price_per_gpu_hour=find_tie_price(best, gpus=row.gpus, hours=row.run.days * DAY_S / HOUR_S),
            )
            for row in rows
        ]


def _band(price: IndicativePrice) -> PriceBand:
    return PriceBand(
        tier=price.tier,
        low=price.low,
        median=price.median,
        high=price.high,
        currency=price.median.currency,
        tax=price.tax.state,
        rows=price.readings,
        oldest=price.oldest,
        substitute=price.substitutes,
        questions=price.questions,
    )

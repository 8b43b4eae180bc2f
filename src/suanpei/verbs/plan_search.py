"""The searches of one planning request: what `plan` and `compare` both do before they part ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.errors import InputError, NoAnswerError
from suanpei.market.cost import CostFacts, load_cost_facts
from suanpei.market.dominance import compete_all
from suanpei.market.offer import Offer
from suanpei.messages import Message
from suanpei.planner.options import Constraints
from suanpei.planner.rejections import Reason
from suanpei.planner.search import SearchResult, SearchSettings, search
from suanpei.verbs.inputs import load_inputs
from suanpei.verbs.job_request import build_job
from suanpei.verbs.nearest_change import find_nearest_change
from suanpei.verbs.plan_request import read_terms
from suanpei.verbs.plan_rows import RowBuilder
from suanpei.verbs.run_needs import DataTerms, read_data_terms, size_data, with_side_costs
from suanpei.verbs.supply import Supplies, build_supplies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from decimal import Decimal

    from suanpei.errors import SuanpeiError
    from suanpei.job.job import Job
    from suanpei.verbs.inputs import Inputs
    from suanpei.verbs.plan_request import PlanRequest, PlanTerms


@dataclass(frozen=True, kw_only=True)
class Planner:
    """A request with everything that was read for it, and the searches over it."""

    request: PlanRequest
    terms: PlanTerms
    inputs: Inputs
    job: Job
    supplies: Supplies
    data: DataTerms
    """What the user says of data, line and racks."""
    facts: CostFacts
    """For the worst reading of what nobody states."""
    progress: Callable[[int, int], None] | None

    @classmethod
    def prepare(
        cls,
        request: PlanRequest,
        progress: Callable[[int, int], None] | None = None,
        rivals_of: Callable[[Offer], str] = compete_all,
    ) -> Planner:
        """Read catalogue, terms, job and supplies of a request.

        Args:
            request: What the user said. [-]
            progress: Told about the accelerators searched and all of them. [-]
            rivals_of: Names the group within which an offer competes: a seller, where each one's best is wanted. [-]

        Raises:
            InputError: something given is wrong or missing, naming it.
        """
        inputs = load_inputs(request.catalog)
        terms = read_terms(request, inputs.catalogue)
        job = build_job(request.job, inputs.catalogue, needs_data=True)
        data = read_data_terms(request)
        return cls(
            request=request,
            terms=terms,
            inputs=inputs,
            job=job,
            supplies=with_side_costs(build_supplies(request, terms, inputs, rivals_of), size_data(job, data)),
            data=data,
            facts=load_cost_facts(inputs.catalogue, terms.currency, terms.rates),
            progress=progress,
        )

    @property
    def constraints(self) -> Constraints:
        """What a plan must keep."""
        terms = self.terms
        return Constraints(
            deadline_s=terms.deadline_s,
            budget=None if terms.budget is None else float(terms.budget.amount),
            confidence=terms.confidence,
        )

    def search(self, job: Job, supplies: Supplies, *, top: int | None = None) -> SearchResult:
        """Search the supplies for one job."""
        terms = self.terms
        settings = SearchSettings(
            constraints=self.constraints,
            objective=terms.objective,
            top=self.request.top if top is None else top,
            day_value=None if terms.day_value is None else float(terms.day_value.amount),
        )
        return search(
            job,
            [item.option for item in supplies.items],
            self.inputs.current_recipes,
            self.inputs.calibration,
            settings,
            progress=self.progress,
        )

    def refuse(self, job: Job, supplies: Supplies, found: SearchResult, failure: Message) -> SuanpeiError:
        """Make the error of a search that lists nothing; where nothing fits, with the nearest change."""
        said = self.with_currency(with_open_counts(failure, supplies))
        if all(rejection.reason == Reason.UNSUPPORTED.value for rejection in found.rejected) and found.rejected:
            return InputError(said)
        if found.choices:
            return NoAnswerError(said)
        change = find_nearest_change(job, self.request, self.terms, self.inputs, supplies, self.search)
        return NoAnswerError(Message("{failure}. {change}", failure=said, change=change))

    def with_currency(self, failure: Message) -> Message:
        """Say in which currency the amounts of a refusal are, where it can hold any."""
        if self.terms.budget is None:
            return failure
        return Message("{failure} (amounts in {currency}, with tax)", failure=failure, currency=self.terms.currency)

    def note_tax(self) -> tuple[Message, ...]:
        """Say that tax is in what ranks, and how tax that a price leaves open is read."""
        prices = [item.price for item in self.supplies.items if item.price is not None]
        if not prices:
            return ()
        kept = Message("costs are ranked, and a budget is kept, with tax in")
        by_rates: dict[tuple[Decimal, ...], set[str]] = {}
        for price in prices:
            if price.tax.factor_in is None:
                currency = price.billing_currency
                by_rates.setdefault(self.facts.tax_rates.of(currency), set()).add(currency)
        return (kept, *(_note_open_tax(rates, sorted(of)) for rates, of in by_rates.items() if rates))

    def builder(self, job: Job, supplies: Supplies) -> RowBuilder:
        """Give what turns the choices of a search into priced rows."""
        return RowBuilder(
            job=job,
            inputs=self.inputs,
            supplies=supplies,
            currency=self.terms.currency,
            data=self.data,
            facts=self.facts,
        )


def with_open_counts(failure: Message, supplies: Supplies) -> Message:
    """Add to a refusal that offers name no number on hand, and are planned with the least."""
    offers = [item.price for item in supplies.items if isinstance(item.price, Offer)]
    count = sum(offer.is_count_open for offer in offers)
    if not count:
        return failure
    return Message(
        "{failure} (of {offers} offers searched {count} name no cards on hand and are planned with one machine:"
        " ask how many are free in one fabric)",
        failure=failure,
        offers=f"{len(offers):,}",
        count=f"{count:,}",
    )


def _note_open_tax(rates: Sequence[Decimal], currencies: Sequence[str]) -> Message:
    return Message(
        "tax that a price in {currencies} leaves open is read as added to it: at the rate stated, else at {most} %, the"
        " highest rate on record ({rates} %)",
        currencies=currencies,
        most=f"{(max(rates) * 100).normalize():f}",
        rates=[f"{(rate * 100).normalize():f}" for rate in rates],
    )

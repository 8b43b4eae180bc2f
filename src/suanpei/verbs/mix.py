"""The verb ``mix``: the cheapest mix of reserved and elastic capacity for a demand over time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from suanpei.errors import InputError
from suanpei.market.cost import NO_FACTS, MissingPart, Rental, RunHours, list_missing
from suanpei.market.mix.capacity import Conditions
from suanpei.market.mix.optimise import optimise, rent_on_demand, reserve_peak
from suanpei.market.offer import USUAL_NODE_GPUS
from suanpei.market.terms import NO_CHARGES
from suanpei.messages import Message
from suanpei.units import HOUR_S
from suanpei.verbs.envelope import VerbResult, to_jsonable
from suanpei.verbs.inputs import load_inputs
from suanpei.verbs.mix_arithmetic import ArithmeticCheck, check_arithmetic
from suanpei.verbs.mix_extras import OwningRow, PilotRow, price_owning, price_pilots
from suanpei.verbs.mix_offers import gather_offers
from suanpei.verbs.mix_phases import find_split_phases
from suanpei.verbs.mix_request import read_mix_terms
from suanpei.verbs.mix_rows import WayRow, build_way
from suanpei.verbs.mix_timeline import TimelineRow, build_timeline

if TYPE_CHECKING:
    from datetime import datetime

    from suanpei.market.mix.closed_form import SavingRegion
    from suanpei.market.mix.demand import Demand
    from suanpei.market.mix.optimise import Optimum, Reference
    from suanpei.market.offer import Offer
    from suanpei.money import Money
    from suanpei.verbs.mix_offers import Offered
    from suanpei.verbs.mix_phases import SplitPhase
    from suanpei.verbs.mix_request import MixRequest, MixTerms

BASELINE_SHARE = 0.1
"""Share of the solver's time that each of the two baselines may take. [-]"""
LEAST_SHARE = 0.5
"""Share of the solver's time that is left for the mix, whatever stands beside it. [-]"""


@dataclass(frozen=True, kw_only=True)
class DemandSummary:
    """What is needed, in figures."""

    horizon_hours: float
    peak_gpus: int
    least_gpus: int
    mean_gpus: float
    gpu_hours: float
    steps: int
    """Steps as stated."""
    merged_steps: int
    """Steps after neighbours of equal demand were joined."""
    starts_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """What the mix is measured against."""

    kind: Literal["reserved_at_peak", "on_demand"]
    way: WayRow | None
    reason: Message | None
    """Why there is none."""
    saving_fraction: float | None
    """What the mix saves against it. [-]"""


@dataclass(frozen=True, kw_only=True)
class MixResult(VerbResult):
    """The cheapest mix, beside all reserved and all on demand."""

    currency: str
    rates: tuple[str, ...]
    tax: Literal["in", "out", "quoted"]
    accelerators: tuple[str, ...]
    demand: DemandSummary
    mix: WayRow
    baselines: tuple[Baseline, ...]
    split_phases: tuple[SplitPhase, ...] | None
    """Phases that no seller of the mix holds alone, so that no one run can use their cards; None where a demand of many
    phases, a pool, was not looked at."""
    timeline: tuple[TimelineRow, ...]
    start_up_hours: float
    """Paid before each start of elastic capacity works. [h]"""
    arithmetic: ArithmeticCheck | None
    """Card by card, at the cheapest reserved and the cheapest elastic price; None without both."""
    quoted_saving: SavingRegion | None
    """For which demand the often-quoted 30 % is true at that ratio of prices; None without both."""
    pilots: tuple[PilotRow, ...]
    owning: OwningRow | None
    missing: tuple[MissingPart, ...]
    """Cost parts that are in no total, and not zero; how much they add is unknown but where they are only tied up."""
    questions: tuple[Message, ...]
    """What to ask the sellers before signing."""


def find_mix(request: MixRequest) -> MixResult:
    """Find the cheapest mix.

    Args:
        request: Demand, offers, and the options of the command. [-]

    Raises:
        InputError: Something that cannot be read, with its place and what would be right.
        NoAnswerError: The offers hold too few cards, or the solver found nothing in its time.
    """
    inputs = load_inputs(request.catalog)
    catalogue = inputs.catalogue
    terms = read_mix_terms(request, catalogue)
    offered = gather_offers(request, terms, inputs)
    if terms.planned is not None and terms.planned.accelerator not in offered.accelerators:
        raise InputError(
            Message(
                "plan: {path} plans {planned}, the offers are of {accelerators}: give the result of a plan for the"
                " card that is mixed",
                path=str(request.plan),
                planned=terms.planned.accelerator,
                accelerators=list(offered.accelerators),
            )
        )
    conditions = Conditions(start_up_hours=terms.start_up.total_s / HOUR_S, interruptions=terms.interruptions)
    started_s = perf_counter()
    references = _price_references(terms, offered, conditions)
    pilots = price_pilots(terms, offered.capacities, conditions)
    limit_s = terms.limits.time_s
    limits = replace(terms.limits, time_s=max(limit_s - (perf_counter() - started_s), limit_s * LEAST_SHARE))
    optimum = optimise(terms.demand, offered.capacities, conditions=conditions, limits=limits, currency=terms.currency)
    way = build_way(optimum, terms.limits, terms.demand)
    split = find_split_phases(optimum.schedule, terms.demand)
    arithmetic, region = check_arithmetic(terms.demand, offered.capacities, optimum.schedule.total)
    return MixResult(
        catalog_date=catalogue.catalog_date,
        calibration_id=None,
        request=to_jsonable(request),
        assumptions=(*terms.assumptions, *offered.assumptions, *_explain(optimum, is_pool=split is None)),
        currency=terms.currency,
        rates=tuple(map(str, terms.rates.rates)),
        tax=terms.tax,
        accelerators=offered.accelerators,
        demand=_summarise(terms.demand),
        mix=way,
        baselines=tuple(_measure(kind, reference, terms, optimum) for kind, reference in references.items()),
        split_phases=split,
        timeline=build_timeline(optimum.schedule, terms.demand),
        start_up_hours=conditions.start_up_hours,
        arithmetic=arithmetic,
        quoted_saving=region,
        pilots=pilots,
        owning=price_owning(terms, arithmetic),
        missing=_list_missing(optimum, terms.demand.peak_gpus),
        questions=tuple(dict.fromkeys((*offered.questions, *_ask_extensions(optimum)))),
    )


def _summarise(demand: Demand) -> DemandSummary:
    return DemandSummary(
        horizon_hours=demand.horizon_hours,
        peak_gpus=demand.peak_gpus,
        least_gpus=demand.least_gpus,
        mean_gpus=demand.gpu_hours / demand.horizon_hours,
        gpu_hours=demand.gpu_hours,
        steps=len(demand.steps),
        merged_steps=len(demand.merged().steps),
        starts_at=demand.starts_at,
    )


def _price_references(
    terms: MixTerms, offered: Offered, conditions: Conditions
) -> dict[Literal["reserved_at_peak", "on_demand"], Reference]:
    """Price all reserved at the peak, and all on demand."""
    limits = replace(terms.limits, time_s=terms.limits.time_s * BASELINE_SHARE)
    return {
        "reserved_at_peak": reserve_peak(
            terms.demand, offered.capacities, conditions=conditions, limits=limits, currency=terms.currency
        ),
        "on_demand": rent_on_demand(
            terms.demand, offered.capacities, conditions=conditions, limits=limits, currency=terms.currency
        ),
    }


def _measure(
    kind: Literal["reserved_at_peak", "on_demand"], reference: Reference, terms: MixTerms, optimum: Optimum
) -> Baseline:
    """Measure a mix against a baseline."""
    limits = replace(terms.limits, time_s=terms.limits.time_s * BASELINE_SHARE)
    if reference.optimum is None:
        return Baseline(kind=kind, way=None, reason=reference.reason, saving_fraction=None)
    total = reference.optimum.schedule.total
    return Baseline(
        kind=kind,
        way=build_way(reference.optimum, limits, terms.demand),
        reason=None,
        saving_fraction=1.0 - optimum.schedule.total.ratio(total),
    )


def _explain(optimum: Optimum, *, is_pool: bool) -> tuple[Message, ...]:
    """Say what the program takes to be so; of a pool, also that no phase of it was looked at."""
    notes = [
        Message("a month is 730 h; a contract is paid for its whole term, also beyond the end of the demand"),
        Message("elastic machines are switched on last and off first, and stay on where that is cheaper than a start"),
    ]
    if len(optimum.starts_s) > 1:
        notes.insert(
            1,
            Message(
                "contracts may be signed at {count} moments: the starts of months, and while these are few wherever"
                " demand changes or a term would end with it",
                count=len(optimum.starts_s),
            ),
        )
    sellers = _name_sellers(optimum)
    if is_pool and len(sellers) > 1:
        notes.insert(
            0,
            Message(
                "the demand is taken as a pool of work that each seller can do a part of: cards of {sellers} are no one"
                " cluster, so a run of several machines must stand with one of them",
                sellers=sellers,
            ),
        )
    if any(usage.capacity.kind == "spot" for usage in optimum.schedule.usages):
        notes.append(
            Message(
                "spot hours are expected values: interrupted work is done again and ends later than the demand says"
            )
        )
    return tuple(notes)


def _ask_extensions(optimum: Optimum) -> list[Message]:
    """Ask the sellers whose contracts run on beyond the shortest term, billed by shorter periods than that."""
    return [
        Message(
            "ask {provider} whether a contract may go on by single billing periods after its shortest term: the mix"
            " counts on it",
            provider=contract.capacity.offer.provider,
        )
        for contract in optimum.schedule.contracts
        if contract.capacity.offer.term.billing_hours < contract.capacity.offer.term.minimum_hours
        and contract.end_s - contract.start_s > contract.capacity.offer.term.minimum_hours * HOUR_S
    ]


def _name_sellers(optimum: Optimum) -> list[str]:
    """Name the sellers of all cards in use, in the order of their first use."""
    used = [contract.capacity.offer.provider for contract in optimum.schedule.contracts]
    used += [usage.capacity.offer.provider for usage in optimum.schedule.usages]
    return list(dict.fromkeys(used))


def _list_missing(optimum: Optimum, peak_gpus: int) -> tuple[MissingPart, ...]:
    """List the cost parts that the offers in use do not state, each once, and what they state beside the rent."""
    schedule = optimum.schedule
    used = [contract.capacity.offer for contract in schedule.contracts]
    used += [usage.capacity.offer for usage in schedule.usages]
    missing = [part for offer in used for part in _missing_of(offer, schedule.total, peak_gpus)]
    missing += [
        MissingPart(
            name=Message("what {provider} states to bill beside the rent", provider=offer.provider),
            currency=schedule.total.currency,
            worst=None,
            basis=None,
            question=Message("it depends on the job: suanpei compare puts it into the cost of one"),
        )
        for offer in used
        if offer.charges != NO_CHARGES
    ]
    unique: dict[Message, MissingPart] = {}
    for part in missing:
        unique.setdefault(part.name, part)
    return tuple(unique.values())


def _missing_of(offer: Offer, total: Money, peak_gpus: int) -> tuple[MissingPart, ...]:
    """List what one offer leaves open, rented for its own term on several nodes where the peak needs more than one.

    A node has the cards that are sold together; of cards sold one by one it is the usual node.
    A worst reading that is a share of the bill is left out: what it is a share of is only this offer's part.
    """
    term_hours = max(offer.term.minimum_hours, offer.term.billing_hours)
    node_gpus = offer.unit_gpus if offer.unit_gpus > 1 else USUAL_NODE_GPUS
    nodes = 2 if peak_gpus > node_gpus else 1
    rental = Rental(
        price=offer.unit_price,
        gpus=nodes * node_gpus,
        gpus_per_node=node_gpus,
        hours=RunHours(likely_hours=term_hours, low_hours=term_hours, high_hours=term_hours),
    )
    return tuple(
        part if part.worst is None or not part.worst.amount else replace(part, worst=None, basis=None)
        for part in list_missing(offer, rental, total, None, NO_FACTS)
    )

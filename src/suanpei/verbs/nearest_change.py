"""The nearest change that would make a job fit where nothing does: found by searching, never guessed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Literal

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.quantities import CountRange
from suanpei.units import DAY_S
from suanpei.verbs.job_request import with_method
from suanpei.verbs.plan_request import LARGEST_GPUS
from suanpei.verbs.supply import Supplies, build_supplies, select_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suanpei.job.job import Job
    from suanpei.planner.options import Choice
    from suanpei.planner.search import SearchResult
    from suanpei.verbs.inputs import Inputs
    from suanpei.verbs.plan_request import PlanRequest, PlanTerms

Search = Callable[["Job", Supplies], "SearchResult"]

LIGHTER_METHODS: dict[str, tuple[Literal["lora", "qlora"], ...]] = {"full": ("lora", "qlora"), "lora": ("qlora",)}
"""Methods that need less memory for the same purpose."""


@dataclass(frozen=True, kw_only=True)
class _Change:
    """One thing to do otherwise."""

    job: Job
    supplies: Callable[[], Supplies]
    template: Callable[[Choice], Message]


def find_nearest_change(
    job: Job, request: PlanRequest, terms: PlanTerms, inputs: Inputs, supplies: Supplies, search: Search
) -> Message:
    """Try other numbers of cards, then a lighter method, then other cards; the first that gives a plan is named.

    Where none does, the first on which the job at least fits is, with the deadline and budget that it takes.

    Args:
        job: The job of which nothing fits. [-]
        request: As the user gave it. [-]
        terms: The same, read. [-]
        inputs: Catalogue, recipes, calibration. [-]
        supplies: What was searched. [-]
        search: Searches supplies for a job under the user's deadline and budget. [-]

    Returns:
        A sentence with the options to give.
    """
    second_best = None
    for change in _changes(job, request, terms, inputs, supplies):
        try:
            found = search(change.job, change.supplies())
        except InputError:
            continue
        kept = [choice for choice in found.choices if choice.probability >= terms.confidence]
        nearest = min(kept or found.choices, key=lambda choice: abs(choice.gpus - terms.counts.most), default=None)
        if kept and nearest is not None:
            return change.template(nearest)
        if second_best is None and nearest is not None:
            second_best = _with_terms(change.template(nearest), nearest, terms.confidence)
    return second_best or Message(
        "No other number of cards, lighter method or card would do; a smaller model or a shorter --seq-len may"
    )


def _with_terms(change: Message, choice: Choice, confidence: float) -> Message:
    duration_s = choice.duration_at_s(confidence)
    days, cost = f"{ceil(duration_s / DAY_S * 10) / 10:g}", choice.cost_of(duration_s)
    if cost is None:
        return Message("{change}, given a deadline of {days} d and a price (--price)", change=change, days=days)
    return Message(
        "{change}, given a deadline of {days} d and a budget of {amount}",
        change=change,
        days=days,
        amount=f"{ceil(cost):,}",
    )


def _changes(job: Job, request: PlanRequest, terms: PlanTerms, inputs: Inputs, supplies: Supplies) -> Iterator[_Change]:
    everything = replace(terms, counts=CountRange(least=1, most=LARGEST_GPUS))

    def with_cards(changed: PlanRequest, read: PlanTerms) -> Callable[[], Supplies]:
        return lambda: select_table(build_supplies(changed, read, inputs), is_main=True)

    if not request.offers:
        yield _Change(
            job=job,
            supplies=with_cards(replace(request, gpus=None), everything),
            template=lambda choice: Message(
                "{gpus} × {accelerator} would do: --gpus {gpus}", gpus=choice.gpus, accelerator=choice.accelerator
            ),
        )
    for method in LIGHTER_METHODS.get(job.method, ()):
        yield _Change(
            job=with_method(job, method),
            supplies=lambda: supplies,
            template=lambda choice, method=method: Message(  # type: ignore[misc]  # binds the method of this turn
                "{gpus} × {accelerator} would do with --method {method}",
                gpus=choice.gpus,
                accelerator=choice.accelerator,
                method=method,
            ),
        )
    if request.gpu and not request.offers:
        yield _Change(
            job=job,
            supplies=with_cards(replace(request, gpu=()), terms),
            template=lambda choice: Message(
                "{gpus} × {accelerator} would do: --gpu {accelerator}",
                gpus=choice.gpus,
                accelerator=choice.accelerator,
            ),
        )

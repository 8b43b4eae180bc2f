"""`compare --plans`: why two plans differ, from the two JSON results alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.money import ExchangeRate, ExchangeRates
from suanpei.provenance import Provenance
from suanpei.verbs.envelope import VerbResult
from suanpei.verbs.plan_factors import (
    Decomposition,
    PartDifference,
    compare_bills,
    compare_parts,
    explain_cost,
    explain_days,
)
from suanpei.verbs.plan_file import read_plan_document
from suanpei.verbs.plan_words import say_differences
from suanpei.verbs.result_file import find_rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from suanpei.verbs.plan_file import PlanDocument, PlanEntry, SaidEntry

VERSIONS = ("suanpei_version", "schema_version", "catalog_date", "calibration_id")
_RATE = re.compile(r"1 ([A-Z]{3}) = (\d+(?:\.\d+)?) ([A-Z]{3})")


@dataclass(frozen=True, kw_only=True)
class ComparedPlan:
    """One of the two plans."""

    file: str
    rank: int
    field: str
    """Where it stands in the file: ``plans[0]``. The fields of factors and parts are below it."""
    accelerator: str
    gpus: int
    nodes: int
    fabric: str
    recipe: str
    seller: str | None
    """None where the price is indicative, or there is none."""
    days: Fraction
    currency: str
    total: Fraction | None
    """As quoted, in the plan's own currency; None without a price."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """A field that the two files have differently."""

    field: str
    a: Any
    """None is not given."""
    b: Any


@dataclass(frozen=True, kw_only=True)
class ComparePlansResult(VerbResult):
    """Why the second plan differs from the first."""

    a: ComparedPlan
    b: ComparedPlan
    exchange_rate: Fraction | None
    """What one unit of the second's currency is in the first's; None where no rate in the files says."""
    days: Decomposition
    costs_have_tax: bool
    """Whether `cost` and `cost_parts` are with tax, at its worst reading; plans of older versions are as quoted."""
    cost: Decomposition | None
    """In the first's currency; None without two prices, or a rate between their currencies."""
    run_parts: tuple[PartDifference, ...]
    """Of the whole run. [s]"""
    step_parts: tuple[PartDifference, ...]
    """Of one optimizer step. [s]"""
    cost_parts: tuple[PartDifference, ...]
    """Lines of the bill, in the first's currency."""
    words: tuple[Message, ...]
    """Differences of cards, strategy, price and tax."""
    request_changes: tuple[Change, ...]
    """What was asked differently, field by field."""
    version_changes: tuple[Change, ...]
    """What made the plans: versions, catalogue, calibration."""
    assumptions_only_in_a: tuple[str, ...]
    """In the language that the file was written in."""
    assumptions_only_in_b: tuple[str, ...]


def compare_plans(first: Path, second: Path, ranks: Sequence[int] = ()) -> ComparePlansResult:
    """Explain why two plans differ.

    Args:
        first: A JSON result of ``suanpei plan``. [-]
        second: Another, or the same. [-]
        ranks: Which plan of each; one rank serves both, none is the first of each. [-]

    Returns:
        Factors whose product is the ratio of days and of costs, sums by part, and what differs in request, versions
        and assumptions.

    Raises:
        InputError: a file cannot be read or is no plan, a rank is not in it, or there are more than two ranks.
    """
    if len(ranks) > 2:
        raise InputError(Message("rank: give one for both plans or one for each, got {given}", given=len(ranks)))
    rank_a, rank_b = (ranks[0], ranks[-1]) if ranks else (1, 1)
    of_a, of_b = read_plan_document(first, "plans"), read_plan_document(second, "plans")
    index_a = find_rank([plan.rank for plan in of_a.plans], rank_a, first)
    index_b = find_rank([plan.rank for plan in of_b.plans], rank_b, second)
    a, b = of_a.plans[index_a], of_b.plans[index_b]
    rate = _find_rate(of_a, of_b, a, b)
    return ComparePlansResult(
        catalog_date=max(of_a.catalog_date, of_b.catalog_date),
        calibration_id=of_a.calibration_id if of_a.calibration_id == of_b.calibration_id else None,
        request={"plans": [str(first), str(second)], "rank": [rank_a, rank_b]},
        assumptions=(),
        a=_summarise(a, str(first), index_a),
        b=_summarise(b, str(second), index_b),
        exchange_rate=rate,
        days=explain_days(a, b),
        costs_have_tax=a.has_tax and b.has_tax,
        cost=None if rate is None else explain_cost(a, b, rate),
        run_parts=compare_parts(a.run.parts, b.run.parts, "run.parts"),
        step_parts=compare_parts(a.estimate.step.parts, b.estimate.step.parts, "estimate.step.parts"),
        cost_parts=() if rate is None else compare_bills(a, b, rate),
        words=tuple(say_differences(a, b, rate)),
        request_changes=tuple(_list_changes(of_a.request, of_b.request)),
        version_changes=tuple(
            Change(field=name, a=getattr(of_a, name), b=getattr(of_b, name))
            for name in VERSIONS
            if getattr(of_a, name) != getattr(of_b, name)
        ),
        assumptions_only_in_a=_only_in(of_a.assumptions, of_b.assumptions),
        assumptions_only_in_b=_only_in(of_b.assumptions, of_a.assumptions),
    )


def refuse_beside_plans() -> InputError:
    """Make the error of two plans given together with what belongs to a comparison of quotes."""
    return InputError(
        Message("plans: the two files hold all there is to compare; give no model, quotes or other option too")
    )


def refuse_rank() -> InputError:
    """Make the error of a rank given without two plans."""
    return InputError(Message("rank: it picks a plan of the two files of --plans; give it with them"))


def _summarise(plan: PlanEntry, file: str, index: int) -> ComparedPlan:
    return ComparedPlan(
        file=file,
        rank=plan.rank,
        field=f"plans[{index}]",
        accelerator=plan.accelerator,
        gpus=plan.gpus,
        nodes=plan.nodes,
        fabric=plan.fabric,
        recipe=plan.recipe,
        seller=None if plan.offer is None else plan.offer.provider,
        days=Fraction(plan.run.days),
        currency="" if plan.cost is None else plan.cost.currency,
        total=None if plan.cost is None else Fraction(plan.cost.total),
    )


def _find_rate(of_a: PlanDocument, of_b: PlanDocument, a: PlanEntry, b: PlanEntry) -> Fraction | None:
    """Find what one unit of the second's currency is in the first's, by the rates in the files, the first's first."""
    target = of_a.currency if a.cost is None else a.cost.currency
    source = of_b.currency if b.cost is None else b.cost.currency
    known = [_RATE.fullmatch(text) for text in (*of_a.rates, *of_b.rates)]
    rates = ExchangeRates(
        rates=tuple(
            ExchangeRate(base=match[1], quote=match[3], rate=Decimal(match[2]), provenance=Provenance(source="plans"))
            for match in known
            if match is not None and Decimal(match[2]) > 0
        )
    )
    try:
        return rates.factor(source, target)
    except InputError:
        return None


def _list_changes(a: Any, b: Any, field: str = "") -> Iterator[Change]:
    """List the fields of two requests that differ, those of nested objects by their path."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys((*a, *b)):
            yield from _list_changes(a.get(key), b.get(key), f"{field}.{key}" if field else str(key))
    elif a != b:
        yield Change(field=field, a=a, b=b)


def _only_in(these: Sequence[SaidEntry], others: Sequence[SaidEntry]) -> tuple[str, ...]:
    """Give the texts of messages that the others do not have; one said in two languages is the same."""
    known = {_identify(message) for message in others}
    return tuple(message.text for message in these if _identify(message) not in known)


def _identify(message: SaidEntry) -> str:
    return repr((message.key, _without_text(message.values)))


def _without_text(value: Any) -> Any:
    """Take the texts out of nested messages, which are in one language."""
    if isinstance(value, dict):
        return {key: _without_text(item) for key, item in sorted(value.items()) if key != "text"}
    return [_without_text(item) for item in value] if isinstance(value, list) else value

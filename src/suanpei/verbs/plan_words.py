"""What differs between two plans, in words: cards, strategy, how sure they are, price and tax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal
    from fractions import Fraction

    from suanpei.verbs.plan_file import PlanEntry


def say_differences(a: PlanEntry, b: PlanEntry, rate: Fraction | None) -> Iterator[Message]:
    """Say what differs in cards, network, framework, strategy, evidence, seller and tax.

    Args:
        a: The first plan. [-]
        b: The second. [-]
        rate: What one unit of the second's currency is in the first's; None where no rate in the files says. [-]
    """
    if (a.gpus, a.accelerator) != (b.gpus, b.accelerator):
        yield Message(
            "cards: {a_gpus} × {a} in A, {b_gpus} × {b} in B",
            a_gpus=a.gpus,
            a=a.accelerator,
            b_gpus=b.gpus,
            b=b.accelerator,
        )
    knobs: list[tuple[Message | str, Any, Any]] = [
        (Message("machines"), a.nodes, b.nodes),
        (Message("framework"), a.recipe, b.recipe),
    ]
    if max(a.nodes, b.nodes) > 1:
        knobs.append((Message("network between machines"), a.fabric, b.fabric))
    keys = dict.fromkeys((*a.strategy, *b.strategy))
    knobs += [(_name_knob(key), a.strategy.get(key), b.strategy.get(key)) for key in keys]
    for name, of_a, of_b in (*knobs, *_list_doubts(a, b)):
        if of_a != of_b:
            yield Message("{name}: {a} in A, {b} in B", name=name, a=_plain(of_a), b=_plain(of_b))
    yield from _say_prices(a, b, rate)


def _list_doubts(a: PlanEntry, b: PlanEntry) -> Iterator[tuple[Message, Any, Any]]:
    """List how sure both plans are: two that agree in days and cost may rest on unlike evidence."""
    days_a, days_b = (_say_spread(plan.run.low_days, plan.run.days, plan.run.high_days) for plan in (a, b))
    cost_a, cost_b = (
        "–" if cost is None else _say_spread(cost.low_tax_in, cost.ranked_total, cost.high_tax_in)
        for cost in (a.cost, b.cost)
    )
    yield (
        Message("class of the validation, which the interval rests on"),
        a.estimate.error_class,
        b.estimate.error_class,
    )
    yield Message("90 % interval of the days"), days_a, days_b
    yield Message("interval of the cost with tax"), cost_a, cost_b


def _say_spread(low: Decimal | None, central: Decimal | None, high: Decimal | None) -> str:
    """Write an interval by how far its ends lie from the central figure; ``–`` where a file does not hold it."""
    if low is None or central is None or high is None:
        return "–"
    return " / ".join(f"{float(end / central - 1):+.0%}" for end in (low, high))


def _say_prices(a: PlanEntry, b: PlanEntry, rate: Fraction | None) -> Iterator[Message]:
    """Say what differs in seller, tax and currency."""
    sources = [_name_source(plan) for plan in (a, b)]
    if str(sources[0]) != str(sources[1]):
        yield Message("{name}: {a} in A, {b} in B", name=Message("price from"), a=sources[0], b=sources[1])
    taxes = [None if plan.offer is None else _name_tax(plan.offer.tax.state) for plan in (a, b)]
    if taxes[0] is not None and taxes[1] is not None and str(taxes[0]) != str(taxes[1]):
        yield Message("tax: {a} in A, {b} in B", a=taxes[0], b=taxes[1])
    if not (a.has_tax and b.has_tax):
        yield Message("the totals are compared as quoted: not both plans have one with tax")
    if rate is None:
        yield Message("no exchange rate in the files joins the two currencies: the costs are not compared")
    elif a.cost is not None and b.cost is not None and a.cost.currency != b.cost.currency:
        yield Message(
            "amounts of B are converted from {source} to {target} at {rate}",
            source=b.cost.currency,
            target=a.cost.currency,
            rate=f"{float(rate):.6g}",
        )


def _name_source(plan: PlanEntry) -> Message | str:
    if plan.offer is not None:
        return plan.offer.provider
    if plan.indicative_price is not None:
        return Message("an indicative price ({tier})", tier=plan.indicative_price.tier)
    return Message("no price known")


def _name_tax(state: str) -> Message:
    return {"in": Message("in the price"), "out": Message("on top of the price")}.get(state, Message("not stated"))


def _name_knob(key: str) -> Message | str:
    """Name a knob of a strategy for a person; one that this version does not know by its key."""
    names = {
        "tp": Message("tensor-parallel degree (tp)"),
        "sp": Message("sequence parallelism (sp)"),
        "pp": Message("pipeline stages (pp)"),
        "vpp": Message("virtual stages per pipeline rank (vpp)"),
        "cp": Message("context-parallel degree (cp)"),
        "ep": Message("expert-parallel degree (ep)"),
        "etp": Message("tensor-parallel degree inside an expert (etp)"),
        "dp": Message("data-parallel degree (dp)"),
        "sharding": Message("sharding"),
        "recompute": Message("recomputation"),
        "micro_batch": Message("sequences per micro-batch"),
        "grad_accum": Message("micro-batches per step and rank"),
    }
    return names.get(key, key)


def _plain(value: Any) -> Message | str:
    if isinstance(value, bool):
        return Message("yes") if value else Message("no")
    return "–" if value is None else str(value)

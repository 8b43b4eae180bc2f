"""Why two plans differ in cost and days, as factors whose product is the ratio, exactly.

Every factor is a quotient of fields of the two files, in rationals, so that the products hold to the last digit::

    cost = price · cards · paid cards per card · hours · paid hours per hour · (cost / rent)
    days = tokens · FLOPs per token / (cards · peak · MFU · goodput) · (time / time after set-up)

with ``FLOPs per token = MFU · peak · cards · time of the steps / tokens`` and ``time after set-up = time of the steps /
goodput``, the definitions by which the plan wrote its fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.messages import Message
from suanpei.physics.parts import PARTS
from suanpei.units import DAY_HOURS, DAY_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal

    from suanpei.verbs.plan_file import PartEntry, PlanEntry


@dataclass(frozen=True, kw_only=True)
class Factor:
    """One reason for a ratio."""

    name: Message
    unit: str
    """Of `a` and `b`."""
    a: Fraction
    b: Fraction
    ratio: Fraction
    """What it does to the whole: above 1 it makes the second plan dearer or longer. [-]"""
    fields: tuple[str, ...]
    """The fields of a plan that `a` and `b` are made of, as they stand in the JSON."""


@dataclass(frozen=True, kw_only=True)
class Decomposition:
    """A quantity of two plans and the factors of its ratio."""

    unit: str
    a: Fraction
    b: Fraction
    ratio: Fraction
    """``b / a``; the product of the factors. [-]"""
    factors: tuple[Factor, ...]


@dataclass(frozen=True, kw_only=True)
class PartDifference:
    """One part of a sum in both plans; a part that a plan does not have is 0 there."""

    name: Message | str
    """A text where the part is not registered: the file's own words."""
    field: str
    a: Fraction
    b: Fraction
    difference: Fraction
    """``b - a``; all of them sum to the difference of the whole."""


def explain_days(a: PlanEntry, b: PlanEntry) -> Decomposition:
    """Explain the ratio of the days of two plans."""
    of_a, of_b = _Days(a), _Days(b)
    peak = ("rule_of_thumb.flops_6nd", "rule_of_thumb.days_at_40_percent", "gpus")
    tokens = ("estimate.tokens_per_step", "run.steps")
    flops = ("estimate.mfu", *peak, "run.parts.run_steps", *tokens)
    factors = (
        _times(Message("tokens trained"), "tokens", of_a.tokens, of_b.tokens, tokens),
        _times(
            Message("FLOPs per token: model, method, sequence length"),
            "FLOP/token",
            of_a.flops_per_token,
            of_b.flops_per_token,
            tuple(dict.fromkeys(flops)),
        ),
        _over(Message("number of cards"), "gpus", Fraction(a.gpus), Fraction(b.gpus), ("gpus",)),
        _over(Message("peak of one card"), "FLOP/s", a.peak_flops_per_s, b.peak_flops_per_s, peak),
        _over(
            Message("model FLOPs utilisation (MFU)"),
            "1",
            Fraction(a.estimate.mfu),
            Fraction(b.estimate.mfu),
            ("estimate.mfu",),
        ),
        _over(
            Message("goodput: checkpoints and stops"),
            "1",
            Fraction(a.run.goodput),
            Fraction(b.run.goodput),
            ("run.goodput",),
        ),
        _times(
            Message("set-up: all time over the time after it"),
            "1",
            of_a.set_up,
            of_b.set_up,
            ("run.days", "run.goodput", "run.parts.run_steps"),
        ),
    )
    return _whole("d", Fraction(a.run.days), Fraction(b.run.days), factors)


def explain_cost(a: PlanEntry, b: PlanEntry, rate: Fraction) -> Decomposition | None:
    """Explain the ratio of the costs of two plans: with tax where both know it, as quoted otherwise.

    Args:
        a: The first. [-]
        b: The second. [-]
        rate: What one unit of the second's currency is in the first's. [-]

    Returns:
        The factors; None where one of the plans has no price.
    """
    price_a, price_b = a.price_per_gpu_hour, b.price_per_gpu_hour
    if a.cost is None or b.cost is None or price_a is None or price_b is None:
        return None
    of_a, of_b = _Costs(a), _Costs(b)
    total_a, total_b = Fraction(a.cost.total), Fraction(b.cost.total)
    rent_a, rent_b = of_a.rent(price_a[0]), of_b.rent(price_b[0])
    unit = f"{a.cost.currency}/card-hour"
    fields = tuple(dict.fromkeys((price_a[1], price_b[1])))
    factors = [
        _times(Message("price per card-hour"), unit, price_a[0], price_b[0] * rate, fields),
        _times(Message("number of cards"), "gpus", Fraction(a.gpus), Fraction(b.gpus), ("gpus",)),
        _times(
            Message("cards paid per card at work: whole nodes"),
            "1",
            of_a.paid_per_gpu,
            of_b.paid_per_gpu,
            ("cost.paid_gpus", "gpus"),
        ),
        _times(Message("hours of the run"), "h", of_a.hours, of_b.hours, ("run.days",)),
        _times(
            Message("hours paid per hour of the run: billing periods, shortest term"),
            "1",
            of_a.paid_per_hour,
            of_b.paid_per_hour,
            ("cost.paid_hours", "run.days"),
        ),
        _times(
            Message("the whole bill over the rent: what is billed beside it, cents"),
            "1",
            total_a / rent_a,
            total_b / rent_b,
            ("cost.total", "cost.paid_gpus", "cost.paid_hours", *fields),
        ),
    ]
    tax_a, tax_b = _taxes(a, b)
    if a.has_tax and b.has_tax:
        name = Message("tax: total with it, at its worst reading, over the total as quoted")
        fields_of_tax = ("cost.ranked_total", "cost.total")
        factors.append(_times(name, "1", 1 + tax_a / total_a, 1 + tax_b / total_b, fields_of_tax))
    return _whole(a.cost.currency, total_a + tax_a, (total_b + tax_b) * rate, tuple(factors))


def compare_parts(a: Mapping[str, Decimal], b: Mapping[str, Decimal], field: str) -> tuple[PartDifference, ...]:
    """Compare sums of registered parts, the largest difference first.

    Args:
        a: By key, of the first. [-]
        b: The same of the second. [-]
        field: Where they stand in a plan. [-]
    """
    parts = [
        _part(
            PARTS[key].label if key in PARTS else key,
            f"{field}.{key}",
            Fraction(a.get(key, 0)),
            Fraction(b.get(key, 0)),
        )
        for key in dict.fromkeys((*a, *b))
    ]
    return _largest_first(parts)


def compare_bills(a: PlanEntry, b: PlanEntry, rate: Fraction) -> tuple[PartDifference, ...]:
    """Compare the lines of two bills, those of one template together, the largest difference first.

    Args:
        a: The first plan. [-]
        b: The second. [-]
        rate: What one unit of the second's currency is in the first's. [-]

    Returns:
        The lines, tax on top among them where both plans know it; none where one of the plans has no price.
    """
    if a.cost is None or b.cost is None:
        return ()
    of_a, of_b = _lines(a.cost.parts), _lines(b.cost.parts)
    names = {**{key: name for key, (name, _) in of_b.items()}, **{key: name for key, (name, _) in of_a.items()}}
    parts = [
        _part(
            names[key],
            "cost.parts",
            of_a[key][1] if key in of_a else Fraction(0),
            of_b[key][1] * rate if key in of_b else Fraction(0),
        )
        for key in dict.fromkeys((*of_a, *of_b))
    ]
    tax_a, tax_b = _taxes(a, b)
    parts.append(_part(Message("tax on top, at its worst reading"), "cost.ranked_total", tax_a, tax_b * rate))
    return _largest_first(parts)


def _taxes(a: PlanEntry, b: PlanEntry) -> tuple[Fraction, Fraction]:
    """Give what tax adds to the totals as quoted; nothing where one of the plans does not know it."""
    taxes = [
        Fraction(plan.cost.ranked_total) - Fraction(plan.cost.total)
        for plan in (a, b)
        if plan.cost is not None and plan.cost.ranked_total is not None
    ]
    return (taxes[0], taxes[1]) if len(taxes) == 2 else (Fraction(0), Fraction(0))


class _Days:
    """What the days of one plan are made of."""

    def __init__(self, plan: PlanEntry) -> None:
        steps_s = plan.run_steps_s
        self.tokens = Fraction(plan.estimate.tokens_per_step) * plan.run.steps
        flops = Fraction(plan.estimate.mfu) * plan.peak_flops_per_s * plan.gpus * steps_s
        self.flops_per_token = flops / self.tokens
        self.set_up = Fraction(plan.run.days) * Fraction(DAY_S) * Fraction(plan.run.goodput) / steps_s


class _Costs:
    """What the rent of one plan is made of."""

    def __init__(self, plan: PlanEntry) -> None:
        if plan.cost is None:
            raise TypeError(plan)
        self.hours = Fraction(plan.run.days) * Fraction(DAY_HOURS)
        self.paid_per_hour = Fraction(plan.cost.paid_hours) / self.hours
        self.paid_per_gpu = Fraction(plan.cost.paid_gpus, plan.gpus)
        self._paid = Fraction(plan.cost.paid_hours) * plan.cost.paid_gpus

    def rent(self, price: Fraction) -> Fraction:
        return self._paid * price


def _times(name: Message, unit: str, a: Fraction, b: Fraction, fields: tuple[str, ...]) -> Factor:
    return Factor(name=name, unit=unit, a=a, b=b, ratio=b / a, fields=fields)


def _over(name: Message, unit: str, a: Fraction, b: Fraction, fields: tuple[str, ...]) -> Factor:
    return Factor(name=name, unit=unit, a=a, b=b, ratio=a / b, fields=fields)


def _whole(unit: str, a: Fraction, b: Fraction, factors: tuple[Factor, ...]) -> Decomposition:
    return Decomposition(unit=unit, a=a, b=b, ratio=b / a, factors=factors)


def _part(name: Message | str, field: str, a: Fraction, b: Fraction) -> PartDifference:
    return PartDifference(name=name, field=field, a=a, b=b, difference=b - a)


def _largest_first(parts: Sequence[PartDifference]) -> tuple[PartDifference, ...]:
    return tuple(sorted((part for part in parts if part.a or part.b), key=lambda part: -abs(part.difference)))


def _lines(parts: Sequence[PartEntry]) -> dict[str, tuple[Message | str, Fraction]]:
    """Sum the lowest lines of a bill by template: name and amount."""
    lines: dict[str, tuple[Message | str, Fraction]] = {}
    for part in parts:
        for line in part.parts or [part]:
            said = Message.read_back(line.name.key, line.name.text)
            name, amount = lines.get(line.name.key, (said, Fraction(0)))
            lines[line.name.key] = (name, amount + Fraction(line.amount))
    return lines

"""Offers as the program sees them: reserved, elastic or spot capacity in whole units at one price per card-hour.

*Reserved* is what is paid for more than a day at least: a contract of its minimum term, lengthened by whole billing
periods. *Elastic* is what is paid for a day or less at a time: switched on and off with demand. *Spot* is elastic that
may be taken back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING, Literal

from suanpei.market.cost.tax import worst_tax_factor
from suanpei.messages import Message
from suanpei.planner.billing import count_paid_hours
from suanpei.units import DAY_HOURS, HOUR_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from suanpei.market.mix.start_up import Interruptions
    from suanpei.market.offer import Offer
    from suanpei.money import Money

Kind = Literal["reserved", "elastic", "spot"]
TaxSide = Literal["in", "out", "quoted"]
"""Prices with tax, without tax, or as each seller quotes them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Capacity:
    """One offer on the common basis of the comparison."""

    offer: Offer
    """Its price and tax as the comparison takes them."""
    kind: Kind
    units: int
    """Units on hand. [-]"""

    @property
    def price(self) -> Money:
        """Per card-hour, in the currency and on the tax side of the comparison."""
        return self.offer.price

    @property
    def low(self) -> Money:
        """The low end of the seller's range on the same basis."""
        return self.offer.price_low or self.offer.price

    @property
    def high(self) -> Money:
        """The high end."""
        return self.offer.price_high or self.offer.price

    @property
    def unit_gpus(self) -> int:
        """Accelerators of a unit. [-]"""
        return self.offer.unit_gpus

    @property
    def gpus(self) -> int:
        """Accelerators on hand in whole units. [-]"""
        return self.units * self.unit_gpus

    @cached_property
    def hour_price(self) -> float:
        """Price of an hour of a unit, for the program. [currency/h]"""
        return float(self.price.amount) * self.unit_gpus

    @cached_property
    def period_s(self) -> int:
        """What is paid at a time. [s]"""
        return round(self.offer.term.billing_hours * HOUR_S)

    @cached_property
    def term_s(self) -> int:
        """What is paid at least, whole periods. [s]"""
        term = self.offer.term
        return round(count_paid_hours(term.billing_hours, term.billing_hours, term.minimum_hours) * HOUR_S)

    def paid_s(self, used_s: float) -> int:
        """Count what is paid for a rental of so long. [s] → [s]"""
        term = self.offer.term
        return round(count_paid_hours(used_s / HOUR_S, term.billing_hours, term.minimum_hours) * HOUR_S)


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What elastic capacity meets beside its price."""

    start_up_hours: float = 0.0
    """Paid before each start works. [h]"""
    interruptions: Interruptions | None = None
    """How spot is taken back; None counts it as never."""


def classify(offer: Offer) -> Kind:
    """Say whether an offer is reserved, elastic or spot."""
    term = offer.term
    least_hours = count_paid_hours(term.billing_hours, term.billing_hours, term.minimum_hours)
    if least_hours > DAY_HOURS:
        return "reserved"
    return "spot" if offer.tier == "spot" else "elastic"


def build_capacity(offer: Offer, side: TaxSide, tax_rates: Sequence[Decimal] = ()) -> tuple[Capacity, Message | None]:
    """Put an offer, already in the currency of the comparison, on the tax side of the comparison.

    Args:
        offer: The offer. [-]
        side: With tax, without, or as quoted. [-]
        tax_rates: Rates that its seller's bills may carry, for a tax that is not stated. [-]

    Returns:
        The capacity, and what was assumed of its tax: one that is not stated is read at its worst, as added at the
        highest rate where prices with tax are compared, else as not in the price.
    """
    note = None
    if side != "quoted":
        taxed = _put_on_side(offer, side)
        if taxed is not None:
            offer = taxed
        elif side == "in":
            factor = worst_tax_factor(offer.tax, tax_rates)
            offer = _add_tax(offer, factor)
            note = Message(
                "the offer of {provider} does not state tax and rate: it is read at the worst for you, with {rate} %"
                " tax added to its price; ask for both",
                provider=offer.provider,
                rate=f"{((factor - 1) * 100).normalize():f}",
            )
        else:
            note = Message(
                "the offer of {provider} does not state tax and rate: it is read at the worst for you, its price as one"
                " without tax; ask for both",
                provider=offer.provider,
            )
    return Capacity(offer=offer, kind=classify(offer), units=offer.count // offer.unit_gpus), note


def _put_on_side(offer: Offer, side: Literal["in", "out"]) -> Offer | None:
    """Put the prices of an offer on a side of tax, each rounded once; None where that is not known."""

    def taxed(money: Money) -> Money | None:
        with_tax, without = offer.tax.split(Fraction(money.amount))
        amount = with_tax if side == "in" else without
        if amount is None:
            return None
        return replace(money, amount=Decimal(amount.numerator) / Decimal(amount.denominator))

    price = taxed(offer.price)
    if price is None:
        return None
    low, high = (None if end is None else taxed(end) for end in (offer.price_low, offer.price_high))
    return replace(offer, price=price, price_low=low, price_high=high, tax=replace(offer.tax, state=side))


def _add_tax(offer: Offer, factor: Decimal) -> Offer:
    """Give an offer with tax in its prices, times a factor."""
    low, high = (None if end is None else end * factor for end in (offer.price_low, offer.price_high))
    tax = replace(offer.tax, state="in")
    return replace(offer, price=offer.price * factor, price_low=low, price_high=high, tax=tax)


def keep_undominated(
    capacities: Iterable[Capacity], *, peak_gpus: int, starts_s: Sequence[int], grid_s: int, start_up_hours: float
) -> tuple[Capacity, ...]:
    """Drop offers that cannot make any mix cheaper.

    Let K be the units of some size that cover the peak. Three exact rules:

    1. *One offer dominates.* B may go where A has the same unit size, no higher price, a term and a period that
       divide B's, and 2K units on hand. Proof: in a cheapest mix no contract can be left out, so each has a moment at
       which, with it, at most K units of this size are needed; of the contracts running at a time t, those with their
       moment before t all ran at the latest of these moments, and those after t at the earliest, hence at most 2K run
       at once. All contracts of B can therefore be signed with A in place of B, at no higher price and for no longer.
       An elastic A qualifies where starting costs nothing and its period divides every moment of the program.
    2. *Elastic offers of the same terms.* Only the cheapest that hold K units together are kept. Proof: units of equal
       terms can be exchanged; at most K are needed at a time, and switching units on cheapest first, off dearest
       first, for every k minimises hours and starts of the units beyond the k-th together. Where starting costs
       nothing, cheaper offers of smaller units count too, if each size divides the next: every moment stands for
       itself, and of units whose sizes divide one another some add up to any larger unit that they could replace.
    3. *Reserved offers of the same terms whose term is one period, where every contract starts on a grid of that
       period*: each period is bought for itself, as under 2.

    A joint rule for longer or staggered contracts would be wrong: two offers with enough units together cannot always
    take over the contracts of a third at no cost, as contracts that overlap cannot change seller midway.

    Args:
        capacities: All offers. [-]
        peak_gpus: Most accelerators needed at a time. [-]
        starts_s: When contracts may start. [s]
        grid_s: Divides every moment of the program. [s]
        start_up_hours: Paid before each start of elastic capacity works. [h]

    Returns:
        What is left, in the order given.
    """
    ranked = sorted(enumerate(capacities), key=lambda item: (item[1].price.amount, -item[1].gpus, item[0]))
    kept: list[tuple[int, Capacity]] = []
    free_s = grid_s if start_up_hours == 0 else 0
    held: dict[tuple[Kind, int, int], dict[int, int]] = {}
    for index, candidate in ranked:
        unit, period_s = candidate.unit_gpus, candidate.period_s
        most = -(-peak_gpus // unit)
        of_terms = held.setdefault((candidate.kind, candidate.term_s, period_s), {})
        is_grid = candidate.term_s == period_s and all(start_s % period_s == 0 for start_s in starts_s)
        is_free = is_grid if candidate.kind == "reserved" else free_s > 0 and free_s % candidate.term_s == 0
        smaller_gpus = _sum_divisors(of_terms, unit) if is_free else of_terms.get(unit, 0)
        if (candidate.kind != "reserved" or is_grid) and smaller_gpus >= most * unit:
            continue
        if candidate.kind == "reserved" and any(_dominates(other, candidate, 2 * most, free_s) for _, other in kept):
            continue
        of_terms[unit] = of_terms.get(unit, 0) + candidate.gpus
        kept.append((index, candidate))
    return tuple(capacity for _, capacity in sorted(kept, key=lambda item: item[0]))


def _sum_divisors(held_gpus: Mapping[int, int], unit_gpus: int) -> int:
    """Sum what is held in units up to a size, if each size divides the next; else of that size alone. [card]"""
    sizes = sorted(size for size in held_gpus if size <= unit_gpus)
    if any(larger % smaller for smaller, larger in pairwise([*sizes, unit_gpus])):
        return held_gpus.get(unit_gpus, 0)
    return sum(held_gpus[size] for size in sizes)


def _dominates(other: Capacity, candidate: Capacity, enough: int, free_s: int) -> bool:
    """Tell whether an offer of no higher price stands in for a reserved one; elastic ones whose term divides `free_s`.

    [-], [s]
    """
    is_free = other.kind == "elastic" and free_s > 0 and free_s % other.term_s == 0
    return (
        other.unit_gpus == candidate.unit_gpus
        and other.units >= enough
        and (other.kind == "reserved" or is_free)
        and other.term_s <= candidate.term_s
        and candidate.period_s % other.period_s == 0
        and (candidate.term_s - other.term_s) % other.period_s == 0
    )


def find_unit(capacities: Sequence[Capacity]) -> int:
    """Find the accelerators that every unit is a multiple of. [-]"""
    return gcd(*(capacity.unit_gpus for capacity in capacities))

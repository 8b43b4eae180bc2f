"""Offers gathered by seller, and the best of each for one job."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from suanpei.market.offer import Offer
from suanpei.market.quotes.offers.as_offers import name_seller
from suanpei.market.tie import find_price_for_total
from suanpei.messages import Message
from suanpei.money import Money
from suanpei.planner.options import DEFAULT_HORIZON_S
from suanpei.planner.rejections import Tallies
from suanpei.planner.relax import explain_failure
from suanpei.units import DAY_S
from suanpei.verbs.plan_search import with_open_counts
from suanpei.verbs.supply import Supplies

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from decimal import Decimal

    from suanpei.market.cost import Bill
    from suanpei.planner.options import Choice
    from suanpei.planner.search import SearchResult
    from suanpei.verbs.plan_search import Planner
    from suanpei.verbs.supply import Supply

_CENT = 0.01
"""By how much rounding to cents may bring a bill below what the search ranks by."""
_ROUNDING = 1e-9
"""The same for the search's binary fractions, as a share."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One way to run the job on one offer, billed."""

    item: Supply
    choice: Choice
    bill: Bill

    @property
    def offer(self) -> Offer:
        """The offer, priced in the currency of the comparison."""
        return _offer_of(self.item)

    @property
    def total(self) -> Money:
        """What ranks: the total with tax, at its worst reading where the seller leaves it open."""
        return self.bill.cost.ranked_total

    @property
    def price_tax_in(self) -> float:
        """Price per accelerator-hour with tax at its worst reading."""
        return self.item.option.price_per_gpu_hour or 0.0

    @property
    def order(self) -> tuple[Decimal, float, int, int, str, str, str]:
        """What decides between candidates of one seller that cost the same: time, fewer cards, more on hand."""
        offer, choice = self.offer, self.choice
        names = (choice.accelerator, offer.links, offer.source)
        return (self.total.amount, choice.days, choice.gpus, -offer.count, *names)


@dataclass(frozen=True, kw_only=True)
class Seller:
    """One seller with what was found for the job."""

    name: str
    best: Candidate | None
    """The best plan that keeps deadline and budget, else the one that comes nearest; None where nothing fits."""
    reason: Message | None
    """Why nothing of the seller keeps the constraints; None where something does."""


def find_sellers(planner: Planner, found: SearchResult) -> tuple[Seller, ...]:
    """Find each seller's best plan.

    Args:
        planner: The request with everything on offer. [-]
        found: The search over all of it, under the constraints. [-]

    Returns:
        One per seller named in the quotes, by name.
    """
    listed = planner.supplies.listed
    left_out = () if listed is None else listed.left_out
    named = [offer.provider for offer in (() if listed is None else listed.offers)]
    named += [name_seller(item.seller, item.source) for item in left_out]
    names = _name_sellers(named)
    reasons = {_key_of(name_seller(item.seller, item.source)): item.reason for item in reversed(left_out)}
    by_seller: dict[str, list[Supply]] = {key: [] for key in names}
    for item in planner.supplies.items:
        by_seller[seller_key(_offer_of(item))].append(item)
    choices = _by_option(found.choices)
    confidence = planner.terms.confidence
    keepers = {
        key: [choice for choice in _of(items, choices) if choice.probability >= confidence]
        for key, items in by_seller.items()
    }
    missing = [item for key, items in by_seller.items() if not keepers[key] for item in items]
    near = _by_option(planner.search(planner.job, _only(missing), top=1).choices) if missing else {}
    biller = Biller(planner)
    sellers = []
    for key, items in sorted(by_seller.items()):
        if keepers[key]:
            best = biller.pick(items, keepers[key])
            sellers.append(Seller(name=names[key], best=best, reason=None))
        else:
            seller = _explain_missing(planner, biller, names[key], items, _of(items, near))
            unplanned = reasons.get(key) if not items else None
            sellers.append(seller if unplanned is None else replace(seller, reason=unplanned))
    return tuple(sellers)


def seller_key(offer: Offer) -> str:
    """Give one key per seller: the name without case and outer or doubled spaces."""
    return _key_of(offer.provider)


def _key_of(name: str) -> str:
    return " ".join(name.split()).casefold()


class Biller:
    """Makes the bills by which candidates are compared."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner

    def candidate(self, item: Supply, choice: Choice) -> Candidate:
        """Bill one choice at one offer."""
        bill = self._planner.builder(self._planner.job, _only([item])).bills(choice, choice.run)[0]
        return Candidate(item=item, choice=choice, bill=bill)

    def pick(self, items: Sequence[Supply], choices: Sequence[Choice]) -> Candidate:
        """Pick the best of one seller's choices: the least total with tax, or the soonest where time ranks.

        The rent with tax is at most the bill: choices are billed in the order of their rents until none can be cheaper.
        """
        by_option = {id(item.option): item for item in items}
        if self._planner.terms.objective == "time":
            soonest = min(choice.days for choice in choices)
            choices = [choice for choice in choices if choice.days == soonest]
        cheapest = sorted(choices, key=_bound)
        best = self.candidate(by_option[id(cheapest[0].option)], cheapest[0])
        for choice in cheapest[1:]:
            if _bound(choice) > float(best.total.amount):
                break
            best = min(
                best, self.candidate(by_option[id(choice.option)], choice), key=lambda candidate: candidate.order
            )
        return best

    def find_tie(self, candidate: Candidate, limit: Money) -> Money | None:
        """Find the seller's price, on its own tax side, at which its bill comes to a total with tax.

        Args:
            candidate: What is billed again: the same cards for the same time. [-]
            limit: The total of the best seller. [-]

        Returns:
            Per accelerator-hour, in steps of 0.0001; None where no price does it.
        """
        offer, currency = candidate.offer, limit.currency

        def total_at(price: Decimal) -> Decimal:
            priced = replace(offer, price=Money(amount=price, currency=currency), price_low=None, price_high=None)
            again = self.candidate(replace(candidate.item, price=priced), candidate.choice)
            return again.total.amount

        price = find_price_for_total(total_at, limit.amount, start=offer.price.amount)
        return None if price is None else Money(amount=price, currency=currency)


def _name_sellers(written: Iterable[str]) -> dict[str, str]:
    """Give the name of each seller by its key; of several spellings the first in the alphabet."""
    names: dict[str, str] = {}
    for name in (" ".join(each.split()) for each in written):
        names[_key_of(name)] = min(names.get(_key_of(name), name), name)
    return names


def _explain_missing(
    planner: Planner, biller: Biller, name: str, items: Sequence[Supply], choices: Sequence[Choice]
) -> Seller:
    """Say why nothing of a seller keeps the constraints, and what comes nearest."""
    if not items:
        reason = Message("no offer of this seller is left after --gpu, --gpus and --region")
        return Seller(name=name, best=None, reason=reason)
    if not choices:
        found = planner.search(planner.job, _only(items), top=1)
        unfit = None if found.failure is None else with_open_counts(found.failure, _only(items))
        return Seller(name=name, best=None, reason=unfit)
    constraints = planner.constraints
    if constraints.budget is not None and constraints.deadline_s is None:
        nearest = biller.pick(items, _likeliest(choices) or choices)
    else:
        soonest = min(choice.days for choice in choices)
        likeliest = _likeliest(choices) or [choice for choice in choices if choice.days == soonest]
        nearest = biller.pick(items, likeliest)
    if constraints.is_open:
        reason = Message(
            "the soonest takes {days} days, and without a deadline a plan has {most}: give one with --deadline",
            days=f"{nearest.choice.days:,.1f}",
            most=f"{DEFAULT_HORIZON_S / DAY_S:.0f}",
        )
    else:
        failure = explain_failure(choices, constraints, Tallies())
        reason = planner.with_currency(with_open_counts(failure, _only(items)))
    return Seller(name=name, best=nearest, reason=reason)


def _offer_of(item: Supply) -> Offer:
    """Give the offer that a supply stands for; supplies of quotes have one each."""
    if not isinstance(item.price, Offer):
        raise TypeError(item.price)
    return item.price


def _bound(choice: Choice) -> float:
    """Give what a choice costs at least with tax: its rent, as the search has it."""
    return (choice.cost or 0.0) * (1.0 - _ROUNDING) - _CENT


def _likeliest(choices: Sequence[Choice]) -> list[Choice]:
    """Give those most likely to keep the constraints; none where none has a chance."""
    most = max(choice.probability for choice in choices)
    return [choice for choice in choices if choice.probability == most] if most > 0 else []


def _by_option(choices: Iterable[Choice]) -> dict[int, list[Choice]]:
    by_option: dict[int, list[Choice]] = {}
    for choice in choices:
        by_option.setdefault(id(choice.option), []).append(choice)
    return by_option


def _of(items: Iterable[Supply], choices: dict[int, list[Choice]]) -> list[Choice]:
    return [choice for item in items for choice in choices.get(id(item.option), ())]


def _only(items: Sequence[Supply]) -> Supplies:
    return Supplies(items=tuple(items), assumptions=())

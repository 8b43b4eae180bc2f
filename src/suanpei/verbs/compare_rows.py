"""The rows of a comparison: one per seller, ranked by the total for the job."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from suanpei.market.cost.missing import LABOUR_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.cost import Cost, MissingPart
    from suanpei.market.offer import Offer
    from suanpei.messages import Message
    from suanpei.money import Money
    from suanpei.physics.strategy import Strategy
    from suanpei.planner.options import Objective
    from suanpei.verbs.compare_sellers import Biller, Candidate, Seller

MILLION = Decimal(10**6)


@dataclass(frozen=True, kw_only=True)
class SellerRow:
    """One seller's best plan for the job. What belongs to the plan is None where nothing of the seller fits."""

    seller: str
    rank: int | None
    """None where nothing of the seller keeps deadline and budget: `reason` says why, the rest is the nearest miss."""
    reason: Message | None
    accelerator: str | None
    gpus: int | None
    nodes: int | None
    fabric: str | None
    """Network between nodes."""
    recipe: str | None
    strategy: Strategy | None
    days: float | None
    """Central estimate. [d]"""
    low_days: float | None
    """5th percentile. [d]"""
    high_days: float | None
    """95th percentile. [d]"""
    deadline_probability: float | None
    """Probability of finishing within the deadline; None without one. [-]"""
    constraint_probability: float | None
    """Probability of keeping deadline and budget together. [-]"""
    currency: str
    total: Money | None
    """As quoted, on the seller's own tax side."""
    low: Money | None
    """As quoted: the low price for the short end of the run."""
    high: Money | None
    """As quoted: the high price for the long end of the run."""
    total_tax_in: Money | None
    """None where the seller does not settle it."""
    total_tax_out: Money | None
    """None where the seller does not settle it."""
    least_total_tax_in: Money | None
    """With tax at the reading that suits the buyer; `total_tax_in` where that is known."""
    low_tax_in: Money | None
    """Low end of the price for the short end of the run, with tax at the reading that suits the buyer."""
    high_tax_in: Money | None
    """High end of the price for the long end of the run, with tax at its worst reading."""
    ranked_total: Money | None
    """What ranks: with tax, at the worst reading where tax is open."""
    price_per_gpu_hour: Money | None
    """As quoted. [currency/card-hour]"""
    cost_per_million_tokens: Money | None
    """`ranked_total` over the tokens trained. [currency/1e6 tokens]"""
    on_hand_gpus: int | None
    """Accelerators of the offer in one fabric, of which the plan takes `gpus`; None where the seller names none. [-]"""
    not_included: tuple[MissingPart, ...]
    worst_total: Money | None
    """With tax and everything not included at its worst reading; what has no such reading comes on top."""
    questions: tuple[Message, ...]
    """What to ask the seller before signing."""
    ties_at_price_per_gpu_hour: Money | None
    """The seller's price, on its own tax side, at which `ranked_total` comes to that of rank 1: the highest in steps of
    0.0001 that does not exceed it, billed again with the same cards and days. None for rank 1, for a seller without a
    rank, and where no price does it."""
    offer: Offer | None
    """The offer behind it, its file and line or cell in ``source``."""
    cost: Cost | None
    """The bill, part by part."""
    flags: tuple[str, ...]
    """Stable words: ``tax_unknown``, ``tax_excluded``, ``tax_excluded_6pct``, ``count_unknown``, ``links_unknown``,
    ``price_range``, ``spot``, ``dearer_per_hour_cheaper_per_token``."""


def rank_sellers(
    sellers: Sequence[Seller], biller: Biller, *, objective: Objective, tokens: float, currency: str
) -> tuple[SellerRow, ...]:
    """Rank the sellers and make their rows.

    By total with tax, at the worst reading where that is open, then by days; where time ranks, by days first. Sellers
    without a plan that keeps the constraints follow, by name.

    Args:
        sellers: With the best of each. [-]
        biller: Makes bills again at other prices. [-]
        objective: What ranks. [-]
        tokens: Tokens trained. [tokens]
        currency: Of the rows. [-]
    """
    kept = sorted((seller for seller in sellers if seller.reason is None), key=lambda seller: _key(seller, objective))
    rows = []
    for place, seller in enumerate(kept):
        first = kept[0].best
        tie = None
        if place and seller.best is not None and first is not None:
            tie = biller.find_tie(seller.best, first.total)
        others = [other.best for other in kept if other.best is not None]
        is_paradox = seller.best is not None and any(_is_paradox(seller.best, other) for other in others)
        rows.append(_row(seller, place + 1, tie, tokens, currency, extra_flags=(PARADOX,) if is_paradox else ()))
    rows += [_row(seller, None, None, tokens, currency) for seller in sellers if seller.reason is not None]
    return tuple(rows)


PARADOX = "dearer_per_hour_cheaper_per_token"
"""Flag of a seller whose card-hour is dearer than another's, as quoted and with tax, and whose total is less."""


def _key(seller: Seller, objective: Objective) -> tuple[object, ...]:
    best = seller.best
    if best is None:
        return ()
    total, days = best.total.amount, best.choice.days
    return (days, total, seller.name) if objective == "time" else (total, days, seller.name)


def _is_paradox(one: Candidate, other: Candidate) -> bool:
    """Tell whether one is dearer per card-hour than the other, on either tax side, and cheaper for the job."""
    is_dearer = one.offer.price > other.offer.price and one.price_tax_in > other.price_tax_in
    return is_dearer and one.total < other.total


def _row(
    seller: Seller,
    rank: int | None,
    tie: Money | None,
    tokens: float,
    currency: str,
    extra_flags: tuple[str, ...] = (),
) -> SellerRow:
    best = seller.best
    if best is None:
        return _empty_row(seller, currency)
    choice, cost, offer, run = best.choice, best.bill.cost, best.offer, best.choice.run
    return SellerRow(
        seller=seller.name,
        rank=rank,
        reason=seller.reason,
        accelerator=choice.accelerator,
        gpus=choice.gpus,
        nodes=choice.nodes,
        fabric=choice.option.cluster.scale_out.name,
        recipe=choice.found.recipe.name,
        strategy=choice.found.strategy,
        days=run.days,
        low_days=run.low_days,
        high_days=run.high_days,
        deadline_probability=run.deadline_probability,
        constraint_probability=choice.probability,
        currency=currency,
        total=cost.total,
        low=cost.low,
        high=cost.high,
        total_tax_in=cost.total_tax_in,
        total_tax_out=cost.total_tax_out,
        least_total_tax_in=cost.least_total_tax_in,
        low_tax_in=cost.low_tax_in,
        high_tax_in=cost.high_tax_in,
        ranked_total=cost.ranked_total,
        price_per_gpu_hour=offer.price,
        cost_per_million_tokens=cost.ranked_total / (Decimal(repr(tokens)) / MILLION),
        on_hand_gpus=None if offer.is_count_open else offer.count,
        not_included=tuple(part for part in cost.missing if not part.is_in_total),
        worst_total=cost.worst_total,
        questions=_list_questions(offer, cost),
        ties_at_price_per_gpu_hour=tie,
        offer=offer,
        cost=cost,
        flags=(*_list_flags(offer), *extra_flags),
    )


def _empty_row(seller: Seller, currency: str) -> SellerRow:
    return SellerRow(
        seller=seller.name,
        rank=None,
        reason=seller.reason,
        accelerator=None,
        gpus=None,
        nodes=None,
        fabric=None,
        recipe=None,
        strategy=None,
        days=None,
        low_days=None,
        high_days=None,
        deadline_probability=None,
        constraint_probability=None,
        currency=currency,
        total=None,
        low=None,
        high=None,
        total_tax_in=None,
        total_tax_out=None,
        least_total_tax_in=None,
        low_tax_in=None,
        high_tax_in=None,
        ranked_total=None,
        price_per_gpu_hour=None,
        cost_per_million_tokens=None,
        on_hand_gpus=None,
        not_included=(),
        worst_total=None,
        questions=(),
        ties_at_price_per_gpu_hour=None,
        offer=None,
        cost=None,
        flags=(),
    )


def _list_questions(offer: Offer, cost: Cost) -> tuple[Message, ...]:
    """List what to ask a seller: what the offer leaves open, then what the bill does; labour is the renter's own."""
    asked = (part.question for part in cost.missing if part.name != LABOUR_NAME)
    return tuple(dict.fromkeys((*offer.questions, *asked)))


def _list_flags(offer: Offer) -> tuple[str, ...]:
    flags = []
    if offer.tax.state == "unknown":
        flags.append("tax_unknown")
    if offer.tax.flag is not None:
        flags.append(offer.tax.flag)
    if offer.is_count_open:
        flags.append("count_unknown")
    if not offer.names_links:
        flags.append("links_unknown")
    if offer.price_low is not None or offer.price_high is not None:
        flags.append("price_range")
    if offer.tier == "spot":
        flags.append("spot")
    return tuple(flags)

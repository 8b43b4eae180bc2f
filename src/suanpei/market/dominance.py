"""Which offers can be best for some number of cards and some length of run; the others need no search.

One offer is *no worse* than another on the same cards and links when, whatever the number of cards and the hours, it
serves what the other serves and costs no more with tax in, whichever way what they leave open is read:

- price at its worst reading, by which plans are ranked, and at its best, shortest rental, usual signing term: at most
  the other's;
- billing period: the other's is a whole multiple of it, ``b' = k b``. Then ``b ⌈h / b⌉ ≤ b' ⌈h / b'⌉`` for every
  ``h``, because the right side is a multiple of ``b`` not below ``h``. A day does not compare with a month of 730 h,
  which is 30.4 days;
- cards only sold together: the other's number is a whole multiple, for the same reason;
- numbers of cards served: all of the other's;
- tier, and who pays outages: the same, because neither side of a difference is surely the better;
- every charge and payment: stated by both and at most the other's, or stated by neither.

Cost is price · cards paid · hours paid, each at most the other's, so no number of cards, length of run, budget or
deadline makes the other the better one. The relation is transitive. Taking each offer in turn, unless it is dropped
already, and dropping all that it is no worse than, therefore leaves for every dropped offer a kept one that is no
worse, and of equal offers the first. Hours are rounded as bills round them: 3.6 ms into a period have not started it.

Names, places, dates, notes and where an offer was read do not count: no plan weighs them, and a region that is asked
for is sorted out before.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suanpei.market.terms import NO_CHARGES, NO_PAYMENT
from suanpei.money import Money

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from suanpei.market.offer import Offer

    FloatArray = NDArray[np.float64]

_TOLERANCE = 1e-9
"""Share by which a ratio of periods may miss a whole number. [-]"""

_MOST_COMPARED = 512
"""Offers of one kind that are compared with the rest of it; what they leave is kept, which is safe."""

_NO_AMOUNTS = frozenset({"bills_outages", "includes_power"})
"""Fields of charges that are yes or no: the first makes an offer of another kind, the second is in no bill."""

_TOGETHER = 64
"""Offers that are compared with all others at a time."""


class Standing(NamedTuple):
    """An offer as its rivals are compared with it."""

    offer: Offer
    price: float
    """Per accelerator-hour with tax in, at the worst reading, in a currency that all rivals share."""
    least_price: float
    """The same at the best reading."""
    money_factor: float
    """From an amount of the offer to one like `price`. [-]"""
    usual_counts: int
    """How many of the usual numbers of cards it serves, which ascend: more includes fewer. [-]"""
    odd_count: int = 0
    """A number of cards beside the usual ones; 0 is none. [-]"""


_NONE_STATED = (False,) * (len(fields(NO_CHARGES)) + len(fields(NO_PAYMENT)) - 1)
"""Of the charges and payments that are compared as numbers, none stated."""


def compete_all(_: Offer) -> str:
    """Let all offers compete with each other: the best is wanted, whoever has it."""
    return ""


def find_undominated(
    rivals: Sequence[Standing],
    preference: Callable[[Offer], tuple[Any, ...]],
    rivals_of: Callable[[Offer], str] = compete_all,
) -> list[int]:
    """Find the offers that no other one is at least as good as in every respect; of equals the preferred.

    Args:
        rivals: Offers of one cluster. [-]
        preference: Orders offers of one price. [-]
        rivals_of: Names the group within which an offer competes. [-]

    Returns:
        Positions, by price, then by preference.
    """

    def in_order(position: int) -> tuple[Any, ...]:
        offer, price, *_ = rivals[position]
        return (price, *preference(offer), position)

    order = sorted(_drop_plainly_dearer(rivals, rivals_of), key=in_order)
    kinds: defaultdict[Hashable, list[int]] = defaultdict(list)
    for place, position in enumerate(order):
        offer = rivals[position].offer
        kinds[rivals_of(offer), _kind(offer)].append(place)
    kept = [members[row] for members in kinds.values() for row in _cull([rivals[order[place]] for place in members])]
    return [order[place] for place in sorted(kept)]


def _drop_plainly_dearer(rivals: Sequence[Standing], rivals_of: Callable[[Offer], str]) -> list[int]:
    """Drop offers that cost more and serve no more than one on the very same terms: most of a long list, quickly."""
    alike: defaultdict[Hashable, list[tuple[float, int, int]]] = defaultdict(list)
    kept = []
    for position, (offer, price, least_price, _, usual_counts, odd_count) in enumerate(rivals):
        if offer.price_low is None and offer.charges is NO_CHARGES and offer.payment is NO_PAYMENT:
            # readings of one wording of tax lie equally far apart
            taxed = (id(offer.tax), offer.billing_currency) if least_price < price else None
            terms = (rivals_of(offer), offer.tier, id(offer.term), taxed, offer.unit_gpus, odd_count)
            alike[terms].append((price, -usual_counts, position))
        else:
            kept.append(position)
    for members in alike.values():
        members.sort()
        least_price, widest = -1.0, -1
        for price, fewer, position in members:
            # equals stay: which is preferred is not known here
            if -fewer > widest or (-fewer == widest and price == least_price):
                least_price, widest = price, -fewer
                kept.append(position)
    return kept


def _kind(offer: Offer) -> Hashable:
    """Give what must be the same for two offers to compare."""
    stated = _NONE_STATED
    if not (offer.charges is NO_CHARGES and offer.payment is NO_PAYMENT):
        stated = tuple(value is not None for value in _charges(offer))
    return offer.tier, offer.charges.bills_outages, stated


def _charges(offer: Offer) -> list[object]:
    """List charges and payments, less being better; None is not stated."""
    terms = (offer.charges, offer.payment)
    return [getattr(one, field.name) for one in terms for field in fields(one) if field.name not in _NO_AMOUNTS]


def _cull(rivals: Sequence[Standing]) -> list[int]:
    """Drop offers of one kind that another is no worse than."""
    if len(rivals) == 1:
        return [0]
    less_is_better = np.array([_measures(rival) for rival in rivals])
    # a measure that all share decides nothing
    less_is_better = less_is_better[:, np.ptp(less_is_better, axis=0) > 0.0]
    multiples = [np.array([rival.offer.term.billing_hours for rival in rivals])]
    multiples += [np.array([float(rival.offer.unit_gpus) for rival in rivals])]
    multiples = [values for values in multiples if np.ptp(values) > 0.0]
    odd = np.array([rival.odd_count for rival in rivals])
    alive = np.ones(len(rivals), dtype=np.bool_)
    for start in range(0, min(len(rivals), _MOST_COMPARED), _TOGETHER):
        rows = start + np.flatnonzero(alive[start : start + _TOGETHER])
        no_better = (odd == 0) | (odd == odd[rows, None])
        for column in less_is_better.T:
            no_better &= column >= column[rows, None]
        for values in multiples:
            no_better &= _is_multiple(values, values[rows, None])
        for row, drops in zip(rows.tolist(), no_better, strict=True):
            if alive[row]:
                alive &= ~drops
                alive[row] = True
    return np.flatnonzero(alive).tolist()


def _measures(rival: Standing) -> list[float]:
    offer = rival.offer
    measures = [
        rival.price,
        rival.least_price,
        offer.term.minimum_hours,
        offer.term.usual_hours,
        -float(rival.usual_counts),
    ]
    if offer.charges is NO_CHARGES and offer.payment is NO_PAYMENT:
        return measures + [0.0] * len(_NONE_STATED)
    return measures + [_number(value, rival.money_factor) for value in _charges(offer)]


def _number(value: object, money_factor: float) -> float:
    """Give an amount as it is ranked, or a plain number; 0 where neither side states it."""
    if isinstance(value, Money):
        return float(value.amount) * money_factor
    return 0.0 if value is None else float(value)  # type: ignore[arg-type]  # months and shares are decimals


def _is_multiple(values: FloatArray, periods: FloatArray) -> NDArray[np.bool_]:
    """Tell which values are whole multiples of which periods; the arrays broadcast."""
    ratio = values / periods
    return np.asarray((np.abs(ratio - np.round(ratio)) <= _TOLERANCE * ratio) & (ratio > 0.5))

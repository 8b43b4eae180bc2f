"""What a user's offers put up for rent: clusters, each with the offers that can be best on it.

Physics sees of an offer only the card, the cards per node and the links; offers that agree in them share one cluster
and are told apart by price alone, after physics. Rules:

- A node has the cards that ``--gpus-per-node`` says, else those that the seller only sells together (a 4-card server is
  a 4-card node), else the usual ones. What is sold together beyond a server (a rack, a pod) is paid whole.
- An offer is planned on the usual numbers of cards up to those on hand, on all whole nodes on hand, and on the numbers
  that ``--gpus`` lists. Where more than `MOST_ODD_COUNTS` unusual numbers are on hand for one cluster, all of them are
  rounded down to usual ones, and that is said. No offer's numbers depend on another one's price.
- Offers are never put together: two fabrics of 8 cards are not 16.
- Equal offers stand in the order of price, seller's name, billing period, shortest rental, cards on hand (more first),
  then every other wording: never in the order of the file. Clusters stand in the order of the catalogue, then by cards
  per node, then the faster network first.
- An offer than which another is no worse in every respect (`market.dominance`) is not searched, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from suanpei.market.collector import collector_paused
from suanpei.market.cost.tax import load_tax_rates, tax_factors
from suanpei.market.dominance import Standing, compete_all, find_undominated
from suanpei.market.price_rows import is_in_region
from suanpei.messages import Message
from suanpei.verbs.offer_counts import OfferCounts
from suanpei.verbs.offer_places import Places
from suanpei.verbs.offered import read_offers, take_named_cards

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suanpei.machine.cluster import Cluster
    from suanpei.market.cost.tax import TaxRates
    from suanpei.market.offer import Offer
    from suanpei.verbs.inputs import Inputs
    from suanpei.verbs.offer_places import Place
    from suanpei.verbs.offered import OfferedList
    from suanpei.verbs.plan_request import PlanRequest, PlanTerms

MOST_OFFERS_NOTED = 20
"""Offers up to which everything that any of them leaves open is listed; beyond, that of the offers shown."""

MOST_ODD_COUNTS = 8
"""Numbers of cards beside the usual ones that are searched on one cluster. [-]"""


@dataclass(frozen=True, kw_only=True)
class OfferedCluster:
    """One cluster with the offers that can be best on it."""

    cluster: Cluster
    offers: tuple[Offer, ...]
    """In the plan's currency; of equal ones the first is taken."""
    counts: tuple[tuple[int, ...], ...]
    """Numbers of cards on which each offer is planned. [-]"""
    notes: tuple[tuple[Message, ...], ...]
    """What each offer leaves open and what was assumed of it."""


@dataclass(frozen=True, kw_only=True)
class OfferedSupply:
    """All that the offers put up for rent."""

    clusters: tuple[OfferedCluster, ...]
    assumptions: tuple[Message, ...]
    """How many offers were left out, and why."""
    notes: tuple[Message, ...]
    """What the offers leave open and what was assumed of them; nothing beyond `MOST_OFFERS_NOTED` offers."""
    offers: int
    """How many serve the request. [-]"""
    listed: OfferedList
    """Everything that was read, whether it serves or not."""


def place_offers(
    request: PlanRequest, terms: PlanTerms, inputs: Inputs, rivals_of: Callable[[Offer], str] = compete_all
) -> OfferedSupply:
    """Read the offers and sort them into clusters.

    Args:
        request: Files, cards, fabric, region. [-]
        terms: Currency, numbers of cards. [-]
        inputs: Catalogue. [-]
        rivals_of: Names the group within which an offer competes. [-]

    Returns:
        Clusters in the order above.

    Raises:
        InputError: a file, name or fabric that cannot be read.
    """
    with collector_paused():
        return _gather(request, terms, inputs, rivals_of)


def _gather(request: PlanRequest, terms: PlanTerms, inputs: Inputs, rivals_of: Callable[[Offer], str]) -> OfferedSupply:
    listed = read_offers(request.offers, inputs, currency=terms.currency, rates=terms.rates, as_of=request.as_of)
    places = Places(request, inputs)
    named, said = take_named_cards(listed.offers, request.gpu, inputs.catalogue)
    places.add([offer for offer in named if request.region is None or is_in_region(offer, request.region)])
    counting, tax_rates = OfferCounts(terms), load_tax_rates(inputs.catalogue)
    clusters: list[OfferedCluster] = []
    notes: list[Message] = []
    assumptions = [*said, *listed.assumptions, *listed.not_planned]
    rounded: dict[str, None] = {}
    offers = dominated = unsold = 0
    for place in places.in_order():
        ranked = _rank(place, terms, counting, tax_rates)
        kept = find_undominated(ranked.rivals, _preference, rivals_of)
        offers += len(ranked.rivals)
        dominated += len(ranked.rivals) - len(kept)
        unsold += len(place.offers) - len(ranked.rivals)
        if offers <= MOST_OFFERS_NOTED:
            notes += [note for position in ranked.positions for note in place.notes_on(position)]
        if kept:
            clusters.append(_take(place, ranked, kept, terms, counting.usual(place.cluster.gpus_per_node)))
        rounded |= dict.fromkeys([place.cluster.accelerator.name] if ranked.is_rounded else [])
    if rounded:
        assumptions.append(
            Message(
                "so many different numbers of cards are on hand that each offer is planned on the next usual number"
                " below what it has: {accelerators}",
                accelerators=tuple(rounded),
            )
        )
    if dominated:
        assumptions.append(
            Message(
                "{count} of {offers} offers were not searched: on the same cards and links another one is no worse in"
                " price, billing, tax, charges and cards on hand",
                count=f"{dominated:,}",
                offers=f"{offers:,}",
            )
        )
    if unsold:
        assumptions.append(
            Message(
                "{count} offers are left out: no number of cards asked for is on hand in the units in which they are"
                " sold",
                count=f"{unsold:,}",
            )
        )
    return OfferedSupply(
        clusters=tuple(clusters),
        assumptions=tuple(assumptions),
        notes=tuple(dict.fromkeys(notes)) if offers <= MOST_OFFERS_NOTED else (),
        offers=offers,
        listed=listed,
    )


@dataclass(frozen=True, kw_only=True)
class _Ranked:
    """The offers of one place with their prices and numbers of cards."""

    rivals: list[Standing]
    positions: list[int]
    """Where each stands in the place. [-]"""
    is_rounded: bool
    """Whether unusual numbers of cards are rounded down."""


def _rank(place: Place, terms: PlanTerms, counting: OfferCounts, tax_rates: TaxRates) -> _Ranked:
    """Give the offers that have a number of cards that was asked for."""
    node = place.cluster.gpus_per_node
    sizes = {(offer.count, offer.unit_gpus) for offer in place.offers}
    served = {size: counting.count(*size, node) for size in sizes}
    is_rounded = len({odd for _, odd in served.values()} - {0}) > MOST_ODD_COUNTS
    factors: dict[tuple[str, str, int], tuple[float, float]] = {}
    rivals, positions = [], []
    for position, offer in enumerate(place.offers):
        usual_counts, odd_count = served[offer.count, offer.unit_gpus]
        if not usual_counts and not odd_count:
            continue
        price, tax = offer.price, offer.tax
        money = (price.currency, offer.billing_currency, id(tax))
        if money not in factors:
            exchange = terms.rates.factor(price.currency, terms.currency)
            ends = tax_factors(tax, tax_rates.of(offer.billing_currency))
            factors[money] = (float(Fraction(ends[0]) * exchange), float(Fraction(ends[1]) * exchange))
        least_factor, factor = factors[money]
        odd_count = 0 if is_rounded and usual_counts else odd_count
        ranked, least = float(price.amount) * factor, float((offer.price_low or price).amount) * least_factor
        rivals.append(Standing(offer, ranked, least, factor, usual_counts, odd_count))
        positions.append(position)
    return _Ranked(rivals=rivals, positions=positions, is_rounded=is_rounded)


def _preference(offer: Offer) -> tuple[Any, ...]:
    """Order offers of one price: by the seller's name, then by what serves more, then by any other wording."""
    term, tax = offer.term, offer.tax
    return (
        *(offer.provider, term.billing_hours, term.minimum_hours, -offer.count, offer.unit_gpus, term.usual_hours),
        *(offer.tier, tax.state, tax.wording, offer.links, offer.region, str(offer.date), offer.note),
    )


def _take(
    place: Place, ranked: _Ranked, kept: Sequence[int], terms: PlanTerms, usual: tuple[int, ...]
) -> OfferedCluster:
    """Make options of the offers kept."""
    served: dict[tuple[int, int], tuple[int, ...]] = {}
    counts = []
    for rival in (ranked.rivals[position] for position in kept):
        size = (rival.usual_counts, rival.odd_count)
        if size not in served:
            served[size] = (*usual[: rival.usual_counts], *((rival.odd_count,) if rival.odd_count else ()))
        counts.append(served[size])
    return OfferedCluster(
        cluster=place.cluster,
        offers=tuple(ranked.rivals[position].offer.priced_in(terms.currency, terms.rates) for position in kept),
        counts=tuple(counts),
        notes=tuple(place.notes_on(ranked.positions[position]) for position in kept),
    )

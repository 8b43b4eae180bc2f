"""What can be rented: clusters, the prices at which they can be had, and in which numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from heapq import nsmallest
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.cluster import build_cluster
from suanpei.machine.names import resolve_accelerator
from suanpei.market.cost.tax import load_tax_rates, worst_tax_factor
from suanpei.market.dominance import compete_all
from suanpei.market.indicative import PriceTerms, quote_indicative, state_price
from suanpei.market.price_rows import load_prices
from suanpei.messages import Message
from suanpei.planner.enumerate import choose_counts
from suanpei.planner.options import ClusterOption
from suanpei.units import DAY_S
from suanpei.verbs.offer_supply import MOST_OFFERS_NOTED, place_offers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.cluster import Cluster
    from suanpei.market.cost.tax import TaxRates
    from suanpei.market.indicative import IndicativePrice
    from suanpei.market.offer import Offer
    from suanpei.market.price_rows import PriceTable
    from suanpei.money import Money
    from suanpei.planner.options import Choice
    from suanpei.verbs.inputs import Inputs
    from suanpei.verbs.offered import OfferedList
    from suanpei.verbs.plan_request import PlanRequest, PlanTerms

MOST_OTHER_PRICES = 5
"""Prices that stand beside a plan's own. [-]"""


@dataclass(frozen=True, kw_only=True)
class Supply:
    """One cluster at one price in some numbers, for the search, with what the search does not see."""

    option: ClusterOption
    """Priced with tax in, at its worst reading where the price leaves it open: the side on which all are ranked."""
    price: IndicativePrice | Offer | None
    """As quoted. None: no row serves, the plan says what the card may cost at most."""
    is_main: bool
    """Whether it may stand in the first table: CUDA cards of measured generations, and whatever the user names."""
    tax_factor: Decimal = Decimal(1)
    """What an amount as quoted is multiplied by to be one of `option`. [-]"""
    notes: tuple[Message, ...] = ()
    """What an offer leaves open and what was assumed of it."""


@dataclass(frozen=True, kw_only=True)
class Supplies:
    """Everything on offer."""

    items: tuple[Supply, ...]
    assumptions: tuple[Message, ...]
    notes: tuple[Message, ...] = ()
    """What few offers leave open and what was assumed of them, those that are not searched included."""
    offers: int = 0
    """Offers that serve the request; 0 without. [-]"""
    listed: OfferedList | None = None
    """Everything read from files of offers, whether it serves or not; None without."""

    def prices_for(self, cluster: Cluster, gpus: int) -> tuple[IndicativePrice | Offer, ...]:
        """Give every price at which so many accelerators of a cluster can be had, offers that cannot be best aside."""
        return tuple(
            item.price
            for item in self._by_cluster.get(id(cluster), ())
            if item.price is not None and gpus in item.option.counts
        )

    def prices_of(self, choice: Choice) -> tuple[IndicativePrice | Offer, ...]:
        """Give the price of a choice, and the `MOST_OTHER_PRICES` that would be cheapest for the same run after it."""
        items = self._by_cluster.get(id(choice.option.cluster), ())
        own = [item for item in items if item.option is choice.option]
        others = [
            (cost, place, item)
            for place, item in enumerate(items)
            if (option := item.option) is not choice.option
            and choice.gpus in option.counts
            and (cost := _cost_of(option, choice)) is not None
        ]
        cheapest = [item for *_, item in nsmallest(MOST_OTHER_PRICES, others)]
        return tuple(item.price for item in (*own, *cheapest) if item.price is not None)

    def explain(self, shown: Iterable[Offer | None]) -> tuple[Message, ...]:
        """List the assumptions under a plan that shows these offers.

        Up to `MOST_OFFERS_NOTED` offers, everything that any of them leaves open is listed; beyond, only what the
        offers shown leave open, and of how many others it is not.
        """
        if self.offers <= MOST_OFFERS_NOTED:
            return (*self.notes, *self.assumptions)
        wanted = {id(offer) for offer in shown}
        told = [item for item in self.items if id(item.price) in wanted]
        rest = Message(
            "what {count} more offers leave open is not listed: it is when one of them is planned, or quoted alone",
            count=f"{self.offers - len(told):,}",
        )
        return (*dict.fromkeys(note for item in told for note in item.notes), *self.assumptions, rest)

    @cached_property
    def _by_cluster(self) -> dict[int, list[Supply]]:
        groups: dict[int, list[Supply]] = {}
        for item in self.items:
            groups.setdefault(id(item.option.cluster), []).append(item)
        return groups


def _cost_of(option: ClusterOption, choice: Choice) -> float | None:
    """Give what the run of a choice costs at another option of its cluster; None without a price."""
    return option.cost_of(choice.days * DAY_S, option.rented_gpus(choice.gpus), choice.found.checkpoint_bytes)


def build_supplies(
    request: PlanRequest, terms: PlanTerms, inputs: Inputs, rivals_of: Callable[[Offer], str] = compete_all
) -> Supplies:
    """Gather what can be rented: the offers given, else every card of the catalogue at indicative prices.

    Args:
        request: Names of cards, offers, fabric.
        terms: Currency, counts, prices that the user states.
        inputs: Catalogue, recipes, calibration.
        rivals_of: Names the group within which an offer competes; `compete_all` is one group.

    Returns:
        Supplies, cards in the order of the catalogue or of the names given.

    Raises:
        InputError: a name, fabric, price or offer that cannot be read.
    """
    stated: dict[str, Money] = {}
    for text, money in terms.stated_prices.items():
        name = resolve_accelerator(inputs.catalogue, text).accelerator.name
        stated[name] = terms.rates.convert(money, terms.currency)
    if request.offers:
        if stated:
            raise InputError(Message("price: offers carry their own prices; give --price or --offers"))
        return _from_offers(request, terms, inputs, rivals_of)
    resolved = [resolve_accelerator(inputs.catalogue, name) for name in request.gpu]
    notes = [note for item in resolved for note in item.assumptions]
    accelerators: Sequence[Accelerator] = [item.accelerator for item in resolved]
    if not accelerators:
        accelerators = tuple(load_accelerators(inputs.catalogue).values())
    for name in stated:
        if name not in {item.name for item in accelerators}:
            raise InputError(
                Message("price: {accelerator} is priced but not planned; add --gpu {accelerator}", accelerator=name)
            )
    stacks = {stack for recipe in inputs.current_recipes for stack in recipe.stacks}
    table = load_prices(inputs.catalogue)
    items: list[Supply] = []
    for accelerator in {item.name: item for item in accelerators}.values():
        if not request.gpu and (accelerator.stack not in stacks or not accelerator.is_plannable):
            continue
        cluster = build_cluster(inputs.catalogue, accelerator, request.fabric, request.gpus_per_node)
        if request.gpu:
            notes += cluster.assumptions
        items += _at_indicative_prices(request, terms, inputs, table, cluster, stated.get(accelerator.name))
    return Supplies(items=tuple(items), assumptions=tuple(dict.fromkeys(notes)))


def _at_indicative_prices(
    request: PlanRequest,
    terms: PlanTerms,
    inputs: Inputs,
    table: PriceTable,
    cluster: Cluster,
    stated: Money | None,
) -> list[Supply]:
    """Offer one cluster at each price that serves one node or less, and at each that serves several."""
    node = cluster.gpus_per_node
    named = terms.counts.listed or ()
    practical = choose_counts(terms.counts.least, terms.counts.most, node, named)
    counts = [count for count in practical if terms.counts.allows(count)]
    tax_rates = load_tax_rates(inputs.catalogue)
    few, several = tuple(c for c in counts if c <= node), tuple(c for c in counts if c > node)
    if stated is not None:
        prices = state_price(cluster.accelerator.name, stated)
        return [_supply(request, inputs, cluster, prices, tuple(counts), tax_rates)] if counts else []
    conditions = PriceTerms(
        currency=terms.currency,
        rates=terms.rates,
        as_of=request.as_of,
        region=request.region,
        dedicated=terms.dedicated,
        extra_tiers=terms.extra_tiers,
    )
    items = []
    for nodes, group in ((1, few), (2, several)):
        if not group:
            continue
        prices_found = quote_indicative(table, cluster.accelerator.name, nodes=nodes, terms=conditions)
        items += [_supply(request, inputs, cluster, price, group, tax_rates) for price in prices_found or (None,)]
    return items


def _supply(
    request: PlanRequest,
    inputs: Inputs,
    cluster: Cluster,
    price: IndicativePrice | Offer | None,
    counts: tuple[int, ...],
    tax_rates: TaxRates,
) -> Supply:
    unit = None if price is None else price.unit_price
    factor = Decimal(1) if price is None else worst_tax_factor(price.tax, tax_rates.of(price.billing_currency))
    accelerator = cluster.accelerator
    measured = inputs.calibration.measured_generations
    is_measured = accelerator.generation in measured or not measured
    return Supply(
        option=ClusterOption(
            cluster=cluster,
            price_per_gpu_hour=None if unit is None else float(unit.median.amount * factor),
            counts=counts,
            billing_hours=1.0 if unit is None else unit.term.billing_hours,
            minimum_hours=0.0 if unit is None else unit.term.minimum_hours,
            sold_by_node=unit is not None and unit.whole_nodes,
            unit_gpus=1 if unit is None else unit.unit_gpus,
        ),
        price=price,
        tax_factor=factor,
        is_main=bool(request.gpu) or bool(request.offers) or (accelerator.stack == "cuda" and is_measured),
    )


def _from_offers(request: PlanRequest, terms: PlanTerms, inputs: Inputs, rivals_of: Callable[[Offer], str]) -> Supplies:
    """Plan only what is offered: each offer's cards, up to the number on hand, over the links that it names."""
    offered = place_offers(request, terms, inputs, rivals_of)
    tax_rates = load_tax_rates(inputs.catalogue)
    items: list[Supply] = []
    for group in offered.clusters:
        for offer, counts, notes in zip(group.offers, group.counts, group.notes, strict=True):
            supply = _supply(request, inputs, group.cluster, offer, counts, tax_rates)
            option = replace(supply.option, rivals=rivals_of(offer))
            items.append(replace(supply, option=option, notes=notes))
    if not items:
        raise InputError(
            Message(
                "offers: none of the offers in {files} is left after --gpu, --gpus and --region",
                files=", ".join(str(path) for path in request.offers),
            )
        )
    return Supplies(
        items=tuple(items),
        assumptions=offered.assumptions,
        notes=offered.notes,
        offers=offered.offers,
        listed=offered.listed,
    )


def select_table(supplies: Supplies, *, is_main: bool) -> Supplies:
    """Give the part of the supplies that belongs in the first or the second table."""
    return replace(supplies, items=tuple(item for item in supplies.items if item.is_main == is_main))

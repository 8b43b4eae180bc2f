"""Offers gathered by what physics sees of them: the card, the cards per node and the links."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.cluster import build_cluster
from suanpei.market.offer import LARGEST_SERVER_GPUS
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.cluster import Cluster
    from suanpei.market.offer import Offer
    from suanpei.verbs.inputs import Inputs
    from suanpei.verbs.plan_request import PlanRequest

NO_LINKS = "none"
"""An offer that names no links is planned without a network worth the name."""


@dataclass(kw_only=True)
class Place:
    """Where offers stand that physics cannot tell apart, while they are gathered."""

    cluster: Cluster
    wording: tuple[int, str]
    """Of the cluster: the one that leaves least to assume stands for all, of equals the first in the alphabet."""
    offers: list[Offer] = field(default_factory=list)
    notes: list[tuple[Message, ...]] = field(default_factory=list)
    """Of the cluster, as each offer words it."""

    def notes_on(self, position: int) -> tuple[Message, ...]:
        """Give what an offer leaves open and what was assumed of it."""
        offer = self.offers[position]
        return (*offer.assumptions, *offer.questions, *self.notes[position])


class Places:
    """Gathers offers by what physics sees of them."""

    def __init__(self, request: PlanRequest, inputs: Inputs) -> None:
        self._request = request
        self._inputs = inputs
        self._accelerators = load_accelerators(inputs.catalogue)
        self._by_machine: dict[tuple[object, ...], Place] = {}

    def add(self, offers: Iterable[Offer]) -> None:
        """Put offers where they belong."""
        by_wording: defaultdict[tuple[str, int, str], list[Offer]] = defaultdict(list)
        for offer in offers:
            by_wording[offer.accelerator_name, offer.unit_gpus, offer.links].append(offer)
        for alike in by_wording.values():
            place, notes = self._find(alike[0])
            place.offers += alike
            place.notes += [notes] * len(alike)

    def in_order(self) -> list[Place]:
        """Give the places: the catalogue's order, then by cards per node, then the faster network first."""
        ranks = {name: rank for rank, name in enumerate(self._accelerators)}

        def rank(place: Place) -> tuple[int, int, float, float, str]:
            cluster = place.cluster
            out = cluster.scale_out
            speed = (-out.achievable_bytes_per_s, out.latency_s, out.name)
            return (ranks[cluster.accelerator.name], cluster.gpus_per_node, *speed)

        return sorted(self._by_machine.values(), key=rank)

    def _find(self, offer: Offer) -> tuple[Place, tuple[Message, ...]]:
        """Give the place of an offer, and what is assumed of its cluster as it is worded."""
        accelerator = self._accelerators[offer.accelerator_name]
        fabric = self._request.fabric or (offer.links if offer.names_links else NO_LINKS)
        node_gpus = self._request.gpus_per_node or _node_gpus(offer, accelerator)
        try:
            cluster = build_cluster(self._inputs.catalogue, accelerator, fabric, node_gpus)
        except InputError as error:
            raise InputError(
                Message(
                    "offers: the offer of {provider} ({source}): {error}",
                    provider=offer.provider,
                    source=offer.source,
                    error=error.message,
                )
            ) from error
        machine = (
            *(accelerator.name, cluster.gpus_per_node, cluster.domain_gpus, cluster.fabric_is_assumed),
            *(replace(link, name="", provenance=None) for link in (cluster.scale_up, cluster.scale_out)),
        )
        worded = (len(cluster.assumptions), fabric)
        place = self._by_machine.setdefault(machine, Place(cluster=cluster, wording=worded))
        if worded < place.wording:
            place.cluster, place.wording = cluster, worded
        return place, cluster.assumptions


def _node_gpus(offer: Offer, accelerator: Accelerator) -> int | None:
    """Read the cards of a node from what is only sold together; None is the usual node."""
    is_rack = accelerator.scale_up_domain > accelerator.node_gpus
    return offer.unit_gpus if 1 < offer.unit_gpus <= LARGEST_SERVER_GPUS and not is_rack else None

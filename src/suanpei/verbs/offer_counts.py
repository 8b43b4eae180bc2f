"""On which numbers of cards an offer is planned."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from suanpei.planner.enumerate import choose_counts
from suanpei.planner.options import count_rented_gpus

if TYPE_CHECKING:
    from suanpei.verbs.plan_request import PlanTerms


class OfferCounts:
    """Chooses the numbers of cards on which an offer is planned."""

    def __init__(self, terms: PlanTerms) -> None:
        self._asked = terms.counts
        self._usual: dict[int, tuple[int, ...]] = {}
        self._rented: dict[tuple[int, int], list[int]] = {}
        self._known: dict[tuple[int, int, int], tuple[int, int]] = {}

    def usual(self, node_gpus: int) -> tuple[int, ...]:
        """Give the usual numbers for nodes of a size, those listed by the user among them, ascending. [-]"""
        if node_gpus not in self._usual:
            asked = self._asked
            counts = choose_counts(asked.least, asked.most, node_gpus, asked.listed or ())
            self._usual[node_gpus] = tuple(count for count in counts if asked.allows(count))
        return self._usual[node_gpus]

    def count(self, on_hand: int, unit_gpus: int, node_gpus: int) -> tuple[int, int]:
        """Give how many of the usual numbers such an offer serves, and an unusual one that it serves, or 0. [-]"""
        key = (on_hand, unit_gpus, node_gpus)
        if key not in self._known:
            self._known[key] = (self._count_usual(*key), self._find_odd(*key))
        return self._known[key]

    def _count_usual(self, on_hand: int, unit_gpus: int, node_gpus: int) -> int:
        """Count the usual numbers that are on hand in the units in which they are sold. [-]"""
        usual = self.usual(node_gpus)
        if unit_gpus == 1 and self._asked.listed is not None:
            return bisect_right(usual, on_hand)
        if (node_gpus, unit_gpus) not in self._rented:
            rented = count_rented_gpus(usual, node_gpus, unit_gpus > 1, unit_gpus)
            self._rented[node_gpus, unit_gpus] = rented.tolist()
        return bisect_right(self._rented[node_gpus, unit_gpus], on_hand)

    def _find_odd(self, on_hand: int, unit_gpus: int, node_gpus: int) -> int:
        """Give all that is on hand in whole nodes and units where that is no usual number, else 0. [-]"""
        if self._asked.listed is not None:
            return 0
        count = min(on_hand, self._asked.most)
        if count > node_gpus or unit_gpus > 1:
            count = count // node_gpus * node_gpus
        is_on_hand = int(count_rented_gpus(count, node_gpus, unit_gpus > 1, unit_gpus)) <= on_hand
        is_asked = 0 < self._asked.least <= count
        return count if is_on_hand and is_asked and count not in self.usual(node_gpus) else 0

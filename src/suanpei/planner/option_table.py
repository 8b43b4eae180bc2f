"""The options of one cluster as arrays: what each costs on each number of accelerators, and which of them can matter.

Physics knows a cluster and a number of accelerators; only then do prices enter, all options at once. On one cluster and
number every option runs the same time, so an option is beaten there by one that costs no more and may run as long
within the budget: neither the list, the frontier nor the knee can want it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Self

import numpy as np

from suanpei.planner.billing import count_paid_hours_each
from suanpei.planner.options import DEFAULT_HORIZON_S, count_rented_gpus
from suanpei.planner.side_costs import SideCosts, add_side_costs, afford_hours, credit_outages, price_hour
from suanpei.units import HOUR_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from suanpei.machine.cluster import Cluster
    from suanpei.planner.options import ClusterOption, Constraints

    FloatArray = NDArray[np.float64]
    BoolArray = NDArray[np.bool_]
    IntArray = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class OptionTable:
    """The options of one cluster: rows are options, columns the numbers of accelerators on offer."""

    options: tuple[ClusterOption, ...]
    """All of one cluster, at least one."""
    spare_nodes: int = 0

    @property
    def cluster(self) -> Cluster:
        """The cluster of all options."""
        return self.options[0].cluster

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Numbers of accelerators that some option has, ascending. [-]"""
        # options of one seller's size share their counts
        return tuple(sorted(set().union(*{option.counts for option in self.options})))

    @cached_property
    def offered(self) -> BoolArray:
        """Which option has which number, shape (options, counts)."""
        counts = np.array(self.counts, dtype=np.int64)
        masks: dict[tuple[int, ...], BoolArray] = {}
        for option in self.options:
            if option.counts not in masks:
                masks[option.counts] = np.isin(counts, option.counts)
        return np.array([masks[option.counts] for option in self.options]).reshape(-1, len(counts))

    @cached_property
    def prices(self) -> FloatArray:
        """Per accelerator-hour, shape (options, 1); infinite where unknown."""
        prices = [inf if option.price_per_gpu_hour is None else option.price_per_gpu_hour for option in self.options]
        return np.array(prices)[:, None]

    @cached_property
    def rented(self) -> IntArray:
        """Accelerators paid for, shape (options, counts). [-]"""
        sold_by_node = np.array([option.sold_by_node for option in self.options])[:, None]
        units = np.array([option.unit_gpus for option in self.options])[:, None]
        counts = np.array(self.counts, dtype=np.int64)
        return count_rented_gpus(counts, self.cluster.gpus_per_node, sold_by_node, units, self.spare_nodes)

    @property
    def bills_checkpoints(self) -> bool:
        """Whether the size of a checkpoint is billed by some option."""
        return bool(np.any(self._side.per_checkpoint_byte) or np.any(self._side.per_checkpoint_byte_hour))

    def of_priced(self) -> Self | None:
        """Keep the options with a price; None where there is none."""
        priced = tuple(option for option in self.options if option.price_per_gpu_hour is not None)
        return type(self)(options=priced, spare_nodes=self.spare_nodes) if priced else None

    def limits_s(self, constraints: Constraints, checkpoint_bytes: FloatArray | float = 0.0) -> FloatArray:
        """Give the longest run allowed, as `Constraints.limit_s` does, shape (options, counts). [s]

        Args:
            constraints: Deadline and budget. [-]
            checkpoint_bytes: Shape (counts,); where it is not known, 0 gives a bound from above. [B]
        """
        limit = DEFAULT_HORIZON_S if constraints.is_open else constraints.deadline_s
        limits = np.full(self.offered.shape, inf if limit is None else limit)
        if constraints.budget is None:
            return limits
        hours = afford_hours(constraints.budget, self._rent_per_hour, self._terms, checkpoint_bytes, self._side)
        return np.asarray(np.minimum(limits, np.where(np.isfinite(self.prices), hours * HOUR_S, 0.0)))

    def costs(
        self, durations_s: FloatArray, checkpoint_bytes: FloatArray | float = 0.0, recovery_s: FloatArray | float = 0.0
    ) -> FloatArray:
        """Give what runs of these lengths cost, one length per number; infinite without a price.

        Args:
            durations_s: Shape (counts,); NaN where nothing fits. [s]
            checkpoint_bytes: One checkpoint, shape (counts,). [B]
            recovery_s: From stops until training goes on, shape (counts,); 0 counts on no credit. [s]
        """
        held_hours = durations_s / HOUR_S
        paid_hours = count_paid_hours_each(held_hours, *self._terms)
        billed = add_side_costs(self._rent_per_hour, paid_hours, held_hours, checkpoint_bytes, self._side)
        node = self.cluster.gpus_per_node
        credit = credit_outages(self._known_prices, self._rented, node, recovery_s / HOUR_S, self._side)
        return np.where(np.isfinite(self.prices), billed - credit, inf)

    def find_unbeaten(
        self, columns: Iterable[int], costs: FloatArray, limits_s: FloatArray, also: Sequence[FloatArray] = ()
    ) -> list[tuple[int, int]]:
        """Find the options that no rival beats in cost and longest run allowed, for each number; of equals the first.

        One without a price is beaten by another without a price only.

        Args:
            columns: Positions in `counts`. [-]
            costs: Shape (options, counts), infinite without a price.
            limits_s: Shape (options, counts). [s]
            also: Other costs, of which the least is kept too; shape (options, counts) each.

        Returns:
            Rows and columns, by row.
        """
        has_price = np.isfinite(self.prices[:, 0])
        is_limited = bool(limits_s.max() > limits_s.min())
        cells: set[tuple[int, int]] = set()
        for column in columns:
            offered = self.offered[:, column]
            for group in self._rivals:
                unpriced = group[offered[group] & ~has_price[group]]
                rows = group[offered[group] & has_price[group]]
                cells.update((int(row), column) for row in unpriced[:1])
                if not len(rows):
                    continue
                cheapest = also if is_limited else (costs, *also)
                cells.update((int(rows[np.argmin(other[rows, column])]), column) for other in cheapest)
                if is_limited:
                    order = rows[np.lexsort((-limits_s[rows, column], costs[rows, column]))]
                    longest = np.maximum.accumulate(limits_s[order, column])
                    is_longer = np.append(True, longest[1:] > longest[:-1])
                    cells.update((int(row), column) for row in order[is_longer])
        return sorted(cells)

    @cached_property
    def _rivals(self) -> list[IntArray]:
        """Positions of the options that compete with each other, group by group. [-]"""
        groups: dict[str, list[int]] = {}
        for row, option in enumerate(self.options):
            groups.setdefault(option.rivals, []).append(row)
        return [np.array(rows, dtype=np.int64) for rows in groups.values()]

    @cached_property
    def _side(self) -> SideCosts:
        """What the bills add to the rents, shape (options, 1) each."""
        return SideCosts.stack([option.side_costs for option in self.options])

    @cached_property
    def _known_prices(self) -> FloatArray:
        """Per accelerator-hour, shape (options, 1); 0 where unknown."""
        return np.where(np.isfinite(self.prices), self.prices, 0.0)

    @cached_property
    def _rent_per_hour(self) -> FloatArray:
        """Of everything rented, shape (options, counts); 1 where the price is unknown. [1/h]"""
        rent = price_hour(self._known_prices, self._rented, self.cluster.gpus_per_node, self._side)
        return np.where(np.isfinite(self.prices), rent, 1.0)

    @cached_property
    def _rented(self) -> FloatArray:
        """`rented`, to reckon with. [-]"""
        return self.rented.astype(np.float64)

    @cached_property
    def _terms(self) -> tuple[FloatArray, FloatArray]:
        """Billing period and shortest rental, shape (options, 1) each. [h]"""
        billing = np.array([option.billing_hours for option in self.options])[:, None]
        minimum = np.array([option.minimum_hours for option in self.options])[:, None]
        return billing, minimum


def group_options(options: Sequence[ClusterOption], spare_nodes: int) -> list[OptionTable]:
    """Group options by cluster (the same object), clusters and options in order of first appearance."""
    groups: dict[int, list[ClusterOption]] = {}
    for option in options:
        groups.setdefault(id(option.cluster), []).append(option)
    return [OptionTable(options=tuple(group), spare_nodes=spare_nodes) for group in groups.values()]

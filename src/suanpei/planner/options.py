"""What the search is asked, and one answer: options to rent, constraints, choices.

The planner sees a price only as a number per accelerator-hour, all in one currency.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf
from typing import TYPE_CHECKING, Literal

import numpy as np

from suanpei.planner.billing import count_paid_hours
from suanpei.planner.side_costs import (
    NO_SIDE_COSTS,
    SideCosts,
    add_side_costs,
    afford_hours,
    credit_outages,
    price_hour,
)
from suanpei.units import DAY_S, HOUR_S

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suanpei.machine.cluster import Cluster
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.run import RunEstimate, Runs
    from suanpei.physics.setting import Setting
    from suanpei.physics.strategy import Strategy

Objective = Literal["cost", "time"]

DEFAULT_HORIZON_S = 90.0 * DAY_S
"""Within which the cheapest plan must end when neither deadline nor budget is given. [s]"""


@dataclass(frozen=True, kw_only=True)
class ClusterOption:
    """Accelerators that can be rented in some numbers at one price.

    Options of one cluster (the same object) share its evaluation: a card by the hour and by the month are two options.
    """

    cluster: Cluster
    price_per_gpu_hour: float | None
    """In the search's one currency; None is unknown."""
    counts: tuple[int, ...]
    """Numbers of accelerators on offer."""
    billing_hours: float = 1.0
    """The rent is paid in whole multiples of this: 1/60 by the minute, 1 by the hour, 730 by the month. [h]"""
    minimum_hours: float = 0.0
    """Shortest rental. [h]"""
    sold_by_node: bool = False
    """Whether a job on part of a node pays for the whole one."""
    unit_gpus: int = 1
    """Accelerators that are only sold together, where that is more than a node: a rack. [-]"""
    side_costs: SideCosts = NO_SIDE_COSTS
    """What the bill adds to the rent."""
    rivals: str = ""
    """Options beat each other within one such group only: a seller, where the best of each is wanted."""

    def rented_gpus(self, gpus: int, spare_nodes: int = 0) -> int:
        """Give the accelerators paid for: whole nodes above one node or where sold so, and spare nodes. [-]"""
        node = self.cluster.gpus_per_node
        return int(count_rented_gpus(gpus, node, self.sold_by_node, self.unit_gpus, spare_nodes))

    def billed_hours(self, duration_s: float) -> float:
        """Give the hours paid for a run of this length. [h]"""
        return count_paid_hours(duration_s / HOUR_S, self.billing_hours, self.minimum_hours)

    def cost_of(self, duration_s: float, rented_gpus: int, checkpoint_bytes: float = 0.0) -> float | None:
        """Give what a run of this length costs, credits apart; None without a price."""
        rent = self._rent_per_hour(rented_gpus)
        if rent is None:
            return None
        paid, held = self.billed_hours(duration_s), duration_s / HOUR_S
        return float(add_side_costs(rent, paid, held, checkpoint_bytes, self.side_costs))

    def credit_of(self, recovery_s: float, rented_gpus: int) -> float:
        """Give what is not paid of the failed node while it is down; nothing without a price."""
        if self.price_per_gpu_hour is None:
            return 0.0
        node, hours = self.cluster.gpus_per_node, recovery_s / HOUR_S
        return float(credit_outages(self.price_per_gpu_hour, rented_gpus, node, hours, self.side_costs))

    def affordable_s(self, budget: float, rented_gpus: int, checkpoint_bytes: float = 0.0) -> float:
        """Give the longest run that a budget surely pays for, credits not counted on; without a price, none. [s]"""
        rent = self._rent_per_hour(rented_gpus)
        if rent is None:
            return 0.0
        terms = (self.billing_hours, self.minimum_hours)
        return float(afford_hours(budget, rent, terms, checkpoint_bytes, self.side_costs)) * HOUR_S

    def _rent_per_hour(self, rented_gpus: int) -> float | None:
        """Give the price of an hour of everything rented; None without a price. [1/h]"""
        if self.price_per_gpu_hour is None:
            return None
        return float(price_hour(self.price_per_gpu_hour, rented_gpus, self.cluster.gpus_per_node, self.side_costs))


def count_rented_gpus(
    gpus: ArrayLike, gpus_per_node: int, sold_by_node: ArrayLike, unit_gpus: ArrayLike, spare_nodes: int = 0
) -> NDArray[np.int64]:
    """Count the accelerators paid for: whole nodes above one node or where sold so, whole units, and spare nodes.

    Args:
        gpus: Accelerators that compute. [-]
        gpus_per_node: Accelerators of one node. [-]
        sold_by_node: Whether a job on part of a node pays for the whole one. [-]
        unit_gpus: Accelerators that are only sold together, broadcastable. [-]
        spare_nodes: Nodes rented beyond those that compute. [-]
    """
    used, unit = np.asarray(gpus, dtype=np.int64), np.asarray(unit_gpus, dtype=np.int64)
    whole = -(-used // gpus_per_node) * gpus_per_node
    paid = np.where(np.asarray(sold_by_node) | (used > gpus_per_node), whole, used) + spare_nodes * gpus_per_node
    return np.asarray(-(-paid // unit) * unit)


@dataclass(frozen=True, kw_only=True)
class Constraints:
    """What a plan must keep."""

    deadline_s: float | None = None
    """Calendar time from delivery. [s]"""
    budget: float | None = None
    """In the search's one currency."""
    confidence: float = 0.9
    """Probability with which deadline and budget must be kept. [-]"""

    @property
    def is_open(self) -> bool:
        """Whether neither deadline nor budget is given."""
        return self.deadline_s is None and self.budget is None

    def limit_s(self, option: ClusterOption, rented_gpus: int, checkpoint_bytes: float = 0.0) -> float:
        """Give the longest run allowed: deadline, what the budget pays, or the default horizon. [s]

        With checkpoints of unknown size, 0, it is a bound from above.
        """
        if self.is_open:
            return DEFAULT_HORIZON_S
        limit = inf if self.deadline_s is None else self.deadline_s
        if self.budget is not None:
            limit = min(limit, option.affordable_s(self.budget, rented_gpus, checkpoint_bytes))
        return limit


@dataclass(frozen=True, kw_only=True)
class Found:
    """The best strategy of a cluster on one number of accelerators."""

    recipe: Recipe
    strategy: Strategy
    step_s: float
    tokens_per_step: float
    device_bytes: float
    model_flops_per_s_per_gpu: float
    """Within a step. [FLOP/s]"""
    mfu: float
    of_achievable: float
    exposed_comm_to_compute: float
    checkpoint_bytes: float
    setting: Setting
    """What decides how sure `step_s` is."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One option and number of accelerators with its best strategy, run and cost."""

    option: ClusterOption
    found: Found
    runs: Runs
    run_index: int
    deadline_s: float | None
    probability: float
    """Probability of keeping deadline and budget; of the default horizon where neither is given. [-]"""
    rented_gpus: int
    ties_at_price_per_gpu_hour: float | None = None
    """Without a price: what an accelerator-hour may cost at most to tie with the cheapest priced choice."""

    @property
    def gpus(self) -> int:
        """Accelerators that compute."""
        return self.found.strategy.gpus

    @property
    def nodes(self) -> int:
        """Nodes that compute."""
        return ceil(self.gpus / self.option.cluster.gpus_per_node)

    @property
    def accelerator(self) -> str:
        """Name of the accelerator."""
        return self.option.cluster.accelerator.name

    @cached_property
    def days(self) -> float:
        """Central estimate of the run. [d]"""
        return float(self.runs.days[self.run_index])

    @cached_property
    def cost(self) -> float | None:
        """What the rental costs over the central estimate, as the bill counts it; None without a price."""
        cost = self.cost_of(self.days * DAY_S)
        if cost is None or self.option.side_costs is NO_SIDE_COSTS:
            return cost
        return cost - self.option.credit_of(float(self.runs.recovery_s[self.run_index]), self.rented_gpus)

    @cached_property
    def run(self) -> RunEstimate:
        """The run, explained."""
        return self.runs.row(self.run_index, self.deadline_s)

    def cost_of(self, duration_s: float) -> float | None:
        """Give what a run of this length costs, credits not counted on; None without a price."""
        return self.option.cost_of(duration_s, self.rented_gpus, self.found.checkpoint_bytes)

    @property
    def model_flops_per_s_per_gpu(self) -> float:
        """Model FLOPs of the whole run per accelerator and second of it, set-up and stops included. [FLOP/s]"""
        useful = float(self.runs.training_s[self.run_index]) / (self.days * DAY_S)
        return self.found.model_flops_per_s_per_gpu * useful

    def duration_at_s(self, confidence: float) -> float:
        """Give the time that the run stays within with this probability. [s]"""
        one = self.runs.take(slice(self.run_index, self.run_index + 1))
        return float(one.quantile_s(confidence)[0])

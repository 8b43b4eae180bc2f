"""What the search is asked, and one answer: options to rent, constraints, choices.

The planner sees a price only as a number per accelerator-hour, all in one currency.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, inf
from typing import TYPE_CHECKING, Literal

from suanpei.planner.billing import count_affordable_hours, count_paid_hours
from suanpei.units import DAY_S, HOUR_S

if TYPE_CHECKING:
    from suanpei.machine.cluster import Cluster
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.run import RunEstimate, Runs
    from suanpei.physics.setting import Setting
    from suanpei.physics.strategy import Strategy

Objective = Literal["cost", "time"]

DEFAULT_HORIZON_S = 90.0 * DAY_S
"""Within which the cheapest plan must end when neither deadline nor budget is given. [s]"""


@dataclass(frozen=True, kw_only=True)
class SideCosts:
    """What is billed beside the accelerator-hours, in the search's one currency."""

    once: float = 0.0
    """Per rental."""
    per_hour: float = 0.0
    """While anything is held. [1/h]"""
    per_checkpoint_byte: float = 0.0
    """Per rental and byte of one checkpoint. [1/B]"""
    per_checkpoint_byte_hour: float = 0.0
    """Per byte of one checkpoint while anything is held. [1/(B h)]"""
    per_gpu_hour_between_nodes: float = 0.0
    """Per accelerator-hour paid, where several nodes are rented. [1/h]"""
    credits_outages: bool = False
    """Whether the failed node is not paid while it is down."""

    def at_once(self, checkpoint_bytes: float) -> float:
        """Give what does not depend on time."""
        return self.once + self.per_checkpoint_byte * checkpoint_bytes

    def by_hour(self, checkpoint_bytes: float) -> float:
        """Give what an hour of holding costs. [1/h]"""
        return self.per_hour + self.per_checkpoint_byte_hour * checkpoint_bytes


NO_SIDE_COSTS = SideCosts()


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
    side_costs: SideCosts = NO_SIDE_COSTS
    """What the bill adds to the rent."""

    def rented_gpus(self, gpus: int, spare_nodes: int = 0) -> int:
        """Give the accelerators paid for: whole nodes above one node or where sold so, and spare nodes. [-]"""
        node = self.cluster.gpus_per_node
        paid = ceil(gpus / node) * node if self.sold_by_node or gpus > node else gpus
        return paid + spare_nodes * node

    def billed_hours(self, duration_s: float) -> float:
        """Give the hours paid for a run of this length. [h]"""
        return count_paid_hours(duration_s / HOUR_S, self.billing_hours, self.minimum_hours)

    def cost_of(self, duration_s: float, rented_gpus: int, checkpoint_bytes: float = 0.0) -> float | None:
        """Give what a run of this length costs, credits apart; None without a price."""
        if self.price_per_gpu_hour is None:
            return None
        rent = self._price_per_hour(rented_gpus) * self.billed_hours(duration_s)
        side = self.side_costs
        return rent + side.at_once(checkpoint_bytes) + side.by_hour(checkpoint_bytes) * duration_s / HOUR_S

    def credit_of(self, recovery_s: float, rented_gpus: int) -> float:
        """Give what is not paid of the failed node while it is down; nothing without a price."""
        if self.price_per_gpu_hour is None or not self.side_costs.credits_outages:
            return 0.0
        return self.price_per_gpu_hour * min(rented_gpus, self.cluster.gpus_per_node) * recovery_s / HOUR_S

    def affordable_s(self, budget: float, rented_gpus: int, checkpoint_bytes: float = 0.0) -> float:
        """Give the longest run that a budget surely pays for; without a price, none. [s]

        Credits are not counted on. With side costs by the hour, the last period that is paid may not be used whole.
        """
        if self.price_per_gpu_hour is None:
            return 0.0
        by_hour = self.side_costs.by_hour(checkpoint_bytes)
        left = budget - self.side_costs.at_once(checkpoint_bytes)
        rent = self._price_per_hour(rented_gpus)
        if by_hour <= 0.0:
            hours = count_affordable_hours(left / rent, self.billing_hours, self.minimum_hours)
            return hours * HOUR_S
        # paying K hours leaves (left - rent K) / by_hour to hold: best at the periods next to left / (rent + by_hour)
        least = count_paid_hours(self.billing_hours / 2.0, self.billing_hours, self.minimum_hours)
        below = floor(left / ((rent + by_hour) * self.billing_hours)) * self.billing_hours
        choices = (max(below, least), max(below + self.billing_hours, least))
        return max(0.0, *(min(paid, (left - rent * paid) / by_hour) for paid in choices)) * HOUR_S

    def _price_per_hour(self, rented_gpus: int) -> float:
        """Give the price of an hour of everything rented. [1/h]"""
        network = self.side_costs.per_gpu_hour_between_nodes if rented_gpus > self.cluster.gpus_per_node else 0.0
        return ((self.price_per_gpu_hour or 0.0) + network) * rented_gpus


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
        if cost is None or not self.option.side_costs.credits_outages:
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

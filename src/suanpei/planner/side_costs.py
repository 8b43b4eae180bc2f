"""What a bill adds to the rent, as numbers that a search ranks by: fees, storage, traffic, the network, credits.

::

    cost    = (price + network) · cards · hours paid + once + by hour · hours held
    once    = fees + traffic out of one checkpoint
    by hour = storage of the data and of the checkpoints kept
    credit  = price · cards of one node · hours of recovery

The network is billed where several nodes are rented. All functions take arrays that broadcast.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from suanpei.planner.billing import count_affordable_hours_each, count_paid_hours_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    Number = float | FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class SideCosts:
    """What is billed beside the accelerator-hours, in the search's currency; of one option, or of many as arrays."""

    once: Number = 0.0
    """Per rental."""
    per_hour: Number = 0.0
    """While anything is held. [1/h]"""
    per_checkpoint_byte: Number = 0.0
    """Per rental and byte of one checkpoint. [1/B]"""
    per_checkpoint_byte_hour: Number = 0.0
    """Per byte of one checkpoint while anything is held. [1/(B h)]"""
    per_gpu_hour_between_nodes: Number = 0.0
    """Per accelerator-hour paid, where several nodes are rented. [1/h]"""
    credited_fraction: Number = 0.0
    """Share of the rent of a failed node that is not paid while it is down: 1 or 0. [-]"""

    @classmethod
    def stack(cls, costs: Sequence[SideCosts]) -> Self:
        """Put those of many options into arrays of shape (options, 1)."""
        return cls(
            **{
                item.name: np.array([getattr(one, item.name) for one in costs], dtype=np.float64)[:, None]
                for item in fields(cls)
            }
        )

    def scaled(self, factor: float) -> Self:
        """Give them times a factor, such as that of a tax; the credited share stays."""
        changes = {
            item.name: getattr(self, item.name) * factor for item in fields(self) if item.name != "credited_fraction"
        }
        return replace(self, **changes)

    def at_once(self, checkpoint_bytes: Number) -> FloatArray:
        """Give what does not depend on time."""
        return np.asarray(self.once + self.per_checkpoint_byte * checkpoint_bytes)

    def by_hour(self, checkpoint_bytes: Number) -> FloatArray:
        """Give what an hour of holding costs. [1/h]"""
        return np.asarray(self.per_hour + self.per_checkpoint_byte_hour * checkpoint_bytes)


NO_SIDE_COSTS = SideCosts()

_LEAST_SHARE = 1e-12
"""Share of the rent below which side costs by the hour are rounding noise. [-]"""


def price_hour(price: Number, rented_gpus: Number, gpus_per_node: int, side: SideCosts) -> FloatArray:
    """Price an hour of everything rented, network included. [1/h]

    Args:
        price: Per accelerator-hour. [-]
        rented_gpus: Accelerators paid. [-]
        gpus_per_node: Accelerators of one node. [-]
        side: What the bill adds. [-]
    """
    network = np.where(np.asarray(rented_gpus) > gpus_per_node, side.per_gpu_hour_between_nodes, 0.0)
    return np.asarray((price + network) * rented_gpus)


def add_side_costs(
    rent_per_hour: Number, paid_hours: Number, held_hours: Number, checkpoint_bytes: Number, side: SideCosts
) -> FloatArray:
    """Give the cost of a rental, credits apart.

    Args:
        rent_per_hour: As `price_hour` gives it. [1/h]
        paid_hours: Hours paid. [h]
        held_hours: Hours held. [h]
        checkpoint_bytes: One checkpoint. [B]
        side: What the bill adds. [-]
    """
    return np.asarray(
        rent_per_hour * paid_hours + side.at_once(checkpoint_bytes) + side.by_hour(checkpoint_bytes) * held_hours
    )


def credit_outages(
    price: Number, rented_gpus: Number, gpus_per_node: int, recovery_hours: Number, side: SideCosts
) -> FloatArray:
    """Give what is not paid of the failed node while it is down.

    Args:
        price: Per accelerator-hour. [-]
        rented_gpus: Accelerators paid. [-]
        gpus_per_node: Accelerators of one node. [-]
        recovery_hours: From stops until training goes on. [h]
        side: What the bill adds. [-]
    """
    cards = np.minimum(rented_gpus, gpus_per_node)
    return np.asarray(side.credited_fraction * price * cards * recovery_hours)


def afford_hours(
    budget: Number,
    rent_per_hour: Number,
    terms: tuple[Number, Number],
    checkpoint_bytes: Number,
    side: SideCosts,
) -> FloatArray:
    """Give the longest rental that a budget surely pays for; credits are not counted on. [h]

    Paying K hours leaves ``(budget - once - rent · K) / by hour`` to hold, and K is the most to hold: the best K is one
    of the two periods next to ``(budget - once) / (rent + by hour)``.

    Args:
        budget: In the search's currency. [-]
        rent_per_hour: As `price_hour` gives it, above 0. [1/h]
        terms: Billing period and shortest rental. [h]
        checkpoint_bytes: One checkpoint; 0 gives a bound from above. [B]
        side: What the bill adds. [-]
    """
    rent = np.asarray(rent_per_hour, dtype=np.float64)
    period, least = (np.asarray(values, dtype=np.float64) for values in terms)
    left = np.asarray(budget, dtype=np.float64) - side.at_once(checkpoint_bytes)
    by_hour = side.by_hour(checkpoint_bytes)
    whole_periods = count_affordable_hours_each(left / rent, period, least)
    is_free = by_hour <= rent * _LEAST_SHARE
    safe = np.where(is_free, 1.0, by_hour)
    shortest = count_paid_hours_each(period / 2.0, period, least)
    below = np.floor(left / ((rent + by_hour) * period)) * period
    most = [
        np.minimum(paid, (left - rent * paid) / safe)
        for paid in (np.maximum(below, shortest), np.maximum(below + period, shortest))
    ]
    return np.asarray(np.where(is_free, whole_periods, np.maximum(np.maximum(*most), 0.0)))

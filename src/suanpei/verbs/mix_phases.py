"""The phases of a demand that no seller of a mix holds alone: a run of several machines needs one fabric."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from suanpei.units import HOUR_S

if TYPE_CHECKING:
    from datetime import datetime

    from suanpei.market.mix.demand import Demand, DemandStep
    from suanpei.market.mix.schedule import Schedule

MOST_PHASES = 48
"""A demand of more phases is a pool of work: nobody says what of it is one run. [-]"""


@dataclass(frozen=True, kw_only=True)
class SellerShare:
    """What a phase has from one seller."""

    provider: str
    gpus: int
    """At the moment of the phase when the seller that then holds most holds least. [-]"""


@dataclass(frozen=True, kw_only=True)
class SplitPhase:
    """A stretch of equal demand that no seller covers alone in the mix."""

    name: str
    """Empty where it has none."""
    start_hours: float
    """From the start of the demand. [h]"""
    starts_at: datetime | None
    hours: float
    gpus: int
    """Cards needed. [-]"""
    sellers: tuple[SellerShare, ...]
    """The largest first."""


def list_phases(demand: Demand) -> list[list[DemandStep]]:
    """Put neighbouring steps of the same name and cards together."""
    return [[*steps] for _, steps in groupby(demand.steps, key=lambda step: (step.name, step.gpus))]


def find_split_phases(schedule: Schedule, demand: Demand) -> tuple[SplitPhase, ...] | None:
    """Find the phases whose cards come from several sellers and from none of them alone.

    Args:
        schedule: The mix. [-]
        demand: As stated, with the names of its steps. [-]

    Returns:
        In the order of time; None where a demand of more than `MOST_PHASES` phases was not looked at.
    """
    phases = list_phases(demand)
    if len(phases) > MOST_PHASES:
        return None
    edges_s = schedule.list_edges(demand)
    held = schedule.held_by_seller(edges_s)
    split = []
    for steps in phases:
        start_s, end_s, needed = steps[0].start_s, steps[-1].end_s, steps[0].gpus
        first, last = np.searchsorted(edges_s, (start_s, end_s))
        inside = {seller: gpus[first:last] for seller, gpus in held.items()}
        if any(int(gpus.min()) >= needed for gpus in inside.values()):
            continue
        worst = int(np.max([*inside.values()], axis=0).argmin())
        shares = [SellerShare(provider=seller, gpus=int(gpus[worst])) for seller, gpus in inside.items() if gpus[worst]]
        split.append(
            SplitPhase(
                name=steps[0].name,
                start_hours=start_s / HOUR_S,
                starts_at=demand.date_at(start_s),
                hours=(end_s - start_s) / HOUR_S,
                gpus=needed,
                sellers=tuple(sorted(shares, key=lambda share: -share.gpus)),
            )
        )
    return tuple(split)

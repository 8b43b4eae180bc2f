"""A mix laid out in periods: what is needed and what is held."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from suanpei.market.mix.demand import MONTH_S
from suanpei.units import DAY_S, HOUR_S

if TYPE_CHECKING:
    from datetime import datetime

    from suanpei.market.mix.demand import Demand
    from suanpei.market.mix.schedule import Schedule

MOST_PERIODS = 16
"""Rows of the timeline that are still read at a glance; longer demands are shown by longer periods, months at most."""


@dataclass(frozen=True, kw_only=True)
class TimelineRow:
    """What is needed and held in one period."""

    start_hours: float
    """From the start of the demand. [h]"""
    hours: float
    starts_at: datetime | None
    peak_gpus: int
    """Most cards needed. [-]"""
    mean_gpus: float
    reserved_gpus: float
    """Reserved cards on average. [-]"""
    elastic_gpus: float
    """Elastic cards on average, spot not counted. [-]"""
    peak_elastic_gpus: int
    spot_gpus: float
    """On average. [-]"""
    peak_spot_gpus: int
    idle_reserved_fraction: float | None
    """Share of the reserved card-hours that demand leaves idle; None where nothing is reserved. [-]"""


def build_timeline(schedule: Schedule, demand: Demand) -> tuple[TimelineRow, ...]:
    """Lay the mix out in periods: days, weeks or months, whichever give few enough rows."""
    horizon_s = demand.horizon_s
    spans = (int(DAY_S), int(7 * DAY_S), MONTH_S)
    period_s = next((span for span in spans if horizon_s <= MOST_PERIODS * span), MONTH_S)
    period_s = MONTH_S if demand.is_by_month else period_s
    bounds = [*range(0, horizon_s, period_s), horizon_s]
    edges_s = np.union1d(schedule.list_edges(demand), np.array(bounds, dtype=np.int64))
    lengths_s = np.diff(edges_s)
    needed = demand.gpus[np.searchsorted(demand.edges_s, edges_s[:-1], side="right") - 1]
    held = {kind: schedule.held_gpus(kind, edges_s) for kind in ("reserved", "elastic", "spot")}
    rows = []
    for start_s, end_s in pairwise(bounds):
        inside = (edges_s[:-1] >= start_s) & (edges_s[:-1] < end_s)
        weights = lengths_s[inside]
        reserved, busy = held["reserved"][inside], np.minimum(held["reserved"][inside], needed[inside])
        reserved_s = float((reserved * weights).sum())
        rows.append(
            TimelineRow(
                start_hours=start_s / HOUR_S,
                hours=(end_s - start_s) / HOUR_S,
                starts_at=demand.date_at(start_s),
                peak_gpus=int(needed[inside].max()),
                mean_gpus=float(np.average(needed[inside], weights=weights)),
                reserved_gpus=float(np.average(reserved, weights=weights)),
                elastic_gpus=float(np.average(held["elastic"][inside], weights=weights)),
                peak_elastic_gpus=int(held["elastic"][inside].max()),
                spot_gpus=float(np.average(held["spot"][inside], weights=weights)),
                peak_spot_gpus=int(held["spot"][inside].max()),
                idle_reserved_fraction=None if reserved_s == 0 else 1.0 - float((busy * weights).sum()) / reserved_s,
            )
        )
    return tuple(rows)

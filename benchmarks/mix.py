"""The speed of the mix: 24 months of demand that changes by the hour, 300 offers.

``python benchmarks/mix.py`` prints, for each instance, the CPU seconds of the whole road (merge, drop, build, solve,
bill), the gap that the solver proved, and the seconds over those of a fixed piece of work measured in the same run,
which takes most of the machine out of the figure. ``--report FILE`` writes the table too.
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from suanpei.market.mix.capacity import Capacity, Conditions, build_capacity
from suanpei.market.mix.demand import Demand, join_steps
from suanpei.market.mix.linear import Limits
from suanpei.market.mix.optimise import optimise
from suanpei.market.offer import Offer
from suanpei.market.terms import Tax, Term
from suanpei.money import Money
from suanpei.units import MONTH_HOURS

HOURS = int(24 * MONTH_HOURS)
OFFERS = 300
PEAK_GPUS = 512
MOST_S = 30.0
TIME_LIMIT_S = 20.0
WORK_SIZE = 700
WORK_PASSES = 20


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One question."""

    name: str
    elastic_units: tuple[int, ...]
    """Cards of an elastic unit. [-]"""
    start_up_hours: float


INSTANCES = (
    Instance(name="whole nodes", elastic_units=(8,), start_up_hours=0.0),
    Instance(name="whole nodes, start-up 0.5 h", elastic_units=(8,), start_up_hours=0.5),
    Instance(name="nodes reserved, cards elastic", elastic_units=(1,), start_up_hours=0.0),
    Instance(name="nodes reserved, cards elastic, start-up 0.5 h", elastic_units=(1,), start_up_hours=0.5),
    Instance(name="nodes reserved, cards and nodes elastic", elastic_units=(1, 8), start_up_hours=0.0),
    Instance(name="the same, start-up 0.5 h", elastic_units=(1, 8), start_up_hours=0.5),
)


def make_demand(seed: int = 1) -> Demand:
    """Make a demand by the hour that changes in one hour of seven, as a random walk between 0 and the peak."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    level, parts = PEAK_GPUS // 2, []
    for _ in range(HOURS):
        if chance.random() < 1 / 7:
            level += chance.choice((-1, 1)) * chance.randrange(1, PEAK_GPUS // 8)
            level = min(max(level, 0), PEAK_GPUS)
        parts.append((3_600, level, ""))
    return Demand(steps=join_steps(parts))


def make_offers(elastic_units: tuple[int, ...], seed: int = 2) -> list[Capacity]:
    """Make offers: by the month, the quarter and the year in nodes, and by the hour."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    terms = (("month", 0.45, 1.0, 1), ("quarter", 0.1, 0.93, 3), ("year", 0.1, 0.8, 12), ("hour", 0.35, 2.0, 0))
    capacities = []
    for number in range(OFFERS):
        kind, _, factor, months = chance.choices(terms, [item[1] for item in terms])[0]
        price = Decimal(str(round(chance.uniform(9, 16) * factor, 2)))
        hours = MONTH_HOURS if months else 1.0
        offer = Offer(
            provider=f"{kind} {number}",
            accelerator_name="H800-SXM5-80GB",
            tier="server" if months else "platform",
            price=Money(amount=price, currency="CNY"),
            count=8 * chance.randrange(1, 17),
            term=Term(billing_hours=hours, minimum_hours=hours * months),
            unit_gpus=8 if months else chance.choice(elastic_units),
            region="",
            links="",
            date=None,
            source="",
            note="",
            tax=Tax(state="in"),
        )
        capacities.append(build_capacity(offer, "in")[0])
    return capacities


def measure_work_s() -> float:
    """Time the fixed piece of work: products of matrices, and a loop in Python; the best of five. [s]"""
    matrix = np.random.default_rng(0).random((WORK_SIZE, WORK_SIZE))
    best_s = float("inf")
    for _ in range(5):
        started_s = process_time()
        for _ in range(WORK_PASSES):
            matrix @ matrix
        sum(index * index for index in range(1_000_000))
        best_s = min(best_s, process_time() - started_s)
    return best_s


def measure(instance: Instance, work_s: float) -> str:
    """Run one instance and write its row."""
    demand, offers = make_demand(), make_offers(instance.elastic_units)
    started_s, started_cpu_s = perf_counter(), process_time()
    optimum = optimise(
        demand,
        offers,
        conditions=Conditions(start_up_hours=instance.start_up_hours),
        limits=Limits(time_s=TIME_LIMIT_S, gap_fraction=1e-6),
        currency="CNY",
    )
    wall_s, cpu_s = perf_counter() - started_s, process_time() - started_cpu_s
    verdict = "met" if wall_s <= MOST_S else "missed"
    return (
        f"| {instance.name} | {optimum.considered} | {wall_s:.1f} s | {cpu_s:.1f} s | {cpu_s / work_s:.1f}"
        f" | {optimum.answer.status} | {optimum.answer.gap_fraction:.3%} | {verdict} |"
    )


def say_instances(work_s: float) -> str:
    return (
        f"{HOURS:,} hours of demand up to {PEAK_GPUS} cards, {OFFERS} offers, time limit {TIME_LIMIT_S:.0f} s; aim:"
        f" {MOST_S:.0f} s. The fixed piece of work takes {work_s:.2f} s of CPU."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, help="write the figures to this Markdown file too")
    target = parser.parse_args().report
    work_s = measure_work_s()
    lines = [
        f"# Speed of the mix, {datetime.now(tz=UTC).date().isoformat()}",
        "",
        say_instances(work_s),
        "",
        "| instance | offers kept | wall | CPU | over the fixed work | solver | gap | |",
        "|---|---:|---:|---:|---:|---|---:|---|",
        *(measure(instance, work_s) for instance in INSTANCES),
    ]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if target is not None:
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

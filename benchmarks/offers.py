"""How much longer `plan` takes with 50,000 offers than with none: ``python benchmarks/offers.py [--rows N]``.

Offers are generated over every CUDA card that can be planned: 400 sellers, by the card and by the server, four terms,
four wordings of tax, two currencies, prices about the card's own level, round and odd numbers on hand. Two files: each
card offered over one network, so that physics runs once per card and node size, and each over four. All run by turns
on one thread, as a command in a process of its own and as a verb in this one; the least CPU seconds of each count,
because other load on the machine only adds.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import resource
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING

from measure import peak_rss_bytes
from run import say_machine, say_verdict
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.names import resolve_accelerator
from suanpei.market.offers_file import COLUMNS, read_offer_lines
from suanpei.planner.search import search
from suanpei.verbs.inputs import load_inputs
from suanpei.verbs.job_request import JobRequest, build_job
from suanpei.verbs.plan import plan
from suanpei.verbs.plan_request import PlanRequest, read_terms
from suanpei.verbs.supply import build_supplies, select_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from suanpei.machine.catalogue import Catalogue

ROWS = 50_000
PASSES = 4
MOST_RATIO = 1.5
MOST_RSS_BYTES = 300e6
NETWORKS = ("8x400G IB", "8x200G RoCE", "4x100G RoCE", "25G")
PLAIN = PlanRequest(
    job=JobRequest(model="llama-3-8b", tokens="20B"), as_of=date(2026, 11, 30), currency="CNY", deadline="20d"
)


def write_offers(path: Path, rows: int, networks: int) -> None:
    """Write a file of offers, the same for the same arguments."""
    chance = random.Random(rows + networks)  # noqa: S311  # a benchmark's data
    accelerators = load_accelerators(load_inputs(None).catalogue).values()
    names = [item.name for item in accelerators if item.is_plannable and item.stack == "cuda"]
    levels = {name: chance.uniform(1.0, 30.0) for name in names}
    own = {name: chance.choice(NETWORKS) for name in names}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        for _ in range(rows):
            name, currency = chance.choice(names), chance.choice(("CNY", "CNY", "CNY", "USD"))
            price = levels[name] * chance.uniform(0.7, 1.6) / (7.2 if currency == "USD" else 1.0)
            is_round = chance.random() < 0.8
            on_hand = chance.choice((8, 16, 32, 64, 128, 256, 512, 1024)) if is_round else chance.randrange(8, 1024)
            cells = {
                "provider": f"seller {chance.randrange(400)}",
                "gpu": name,
                "price_per_hour": f"{price:.2f}",
                "currency": currency,
                "date": f"2026-{chance.randrange(1, 12):02d}-{chance.randrange(1, 29):02d}",
                "term": chance.choice(("hourly", "monthly", "3 months", "12 months")),
                "node_or_card": chance.choice(("card", "node8")),
                "tax": chance.choice(("含税 6%", "不含税 6%", "unstated", "")),
                "links": own[name] if networks == 1 else chance.choice(NETWORKS[:networks]),
                "tier": chance.choice(("platform", "server")),
                "count": str(on_hand),
            }
            writer.writerow(cells)


def time_cpu_s(work: Callable[[], object]) -> float:
    """Time one call. [s]"""
    started_s = process_time()
    work()
    return process_time() - started_s


def time_command_s(offers: tuple[Path, ...]) -> float:
    """Time the command, start-up and text included. [s]"""
    arguments = ["plan", "llama-3-8b", "--tokens", "20B", "--deadline", "20d", "--currency", "CNY"]
    arguments += [argument for path in offers for argument in ("--offers", str(path))]
    started = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", "from suanpei.app.cli.main import main; main()", *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - started.ru_utime - started.ru_stime


def measure(request: PlanRequest) -> dict[str, float]:
    """Time command and verb, apart from them reading, all before the search, and searching the first table. [s]"""
    inputs = load_inputs(None)
    terms = read_terms(request, inputs.catalogue)
    job = build_job(request.job, inputs.catalogue, needs_data=True)
    figures = {"command": time_command_s(request.offers), "plan": time_cpu_s(lambda: plan(request))}
    figures["read"] = sum(time_cpu_s(lambda path=path: read(path, inputs.catalogue)) for path in request.offers)
    figures["supplies"] = time_cpu_s(lambda: build_supplies(request, terms, inputs))
    supplies = select_table(build_supplies(request, terms, inputs), is_main=True)
    options = [item.option for item in supplies.items]
    figures["search"] = time_cpu_s(lambda: search(job, options, inputs.current_recipes, inputs.calibration))
    return figures | {"options": len(options), "clusters": len({id(option.cluster) for option in options})}


def read(path: Path, catalogue: Catalogue) -> None:
    """Read the offers alone."""
    read_offer_lines(path, lambda name: resolve_accelerator(catalogue, name).accelerator.name)


def least(passes: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(figures[name] for figures in passes) for name in passes[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="offers to generate")
    rows = parser.parse_args().rows
    lines = [
        f"# `plan` with {rows:,} offers, {date.today().isoformat()}",  # noqa: DTZ011  # the day on this machine
        "",
        f"Made by `benchmarks/offers.py` on {say_machine()}. Least CPU seconds of {PASSES} passes, by turns.",
        "",
        "| offers | command | ratio | aim | | verb | ratio | reading | before search | search | options | clusters |",
        "|---|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    with TemporaryDirectory() as folder:
        requests = {"none": PLAIN}
        for networks, name in ((1, f"{rows:,}, one network per card"), (4, f"{rows:,}, four networks per card")):
            path = Path(folder) / f"offers_{networks}.csv"
            write_offers(path, rows, networks)
            requests[name] = replace(PLAIN, offers=(path,))
        passes: dict[str, list[dict[str, float]]] = {name: [] for name in requests}
        for _ in range(PASSES):
            for name, request in requests.items():
                passes[name].append(measure(request))
    base = least(passes["none"])
    for name, taken in passes.items():
        best = least(taken)
        ratio = best["command"] / base["command"]
        verdict = "| | |" if name == "none" else f"| {MOST_RATIO} | {say_verdict(ratio, MOST_RATIO)} |"
        lines.append(
            f"| {name} | {best['command']:.2f} s | {ratio:.2f} {verdict} {best['plan']:.2f} s"
            f" | {best['plan'] / base['plan']:.2f} | {best['read']:.2f} s | {best['supplies']:.2f} s"
            f" | {best['search']:.2f} s | {best['options']:,} | {best['clusters']} |"
        )
    rss = peak_rss_bytes()
    lines += ["", f"Peak memory of the process: {rss / 1e6:.0f} MB, aim 300 MB: {say_verdict(rss, MOST_RSS_BYTES)}."]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

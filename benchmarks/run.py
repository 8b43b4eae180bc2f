"""The speed and memory figures of the search: `make bench` prints them, ``--report FILE`` writes them too.

Each figure comes from a process of its own, on one thread, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import suanpei

HERE = Path(__file__).parent
MEBI = 2.0**20
COLD_RUNS = 5
COLD_PLANS = (
    ("llama-3-8b", "20B", "20d"),
    ("llama-3-70b", "1T", "60d"),
)

MOST_MULTIPLY_ADDS = 500
MOST_RSS_BYTES = 500e6
MOST_COLD_S = 3.0


MILLION_TEXT = """GPT-3 175B, 1,536 sequences of 2,048 tokens, A100-SXM4-80GB, recipe megatron: every legal strategy on
512 to 16,384 cards until there are a million. They stand in arrays; memory, step time and fit verdict are timed, the
best of five passes; so is the multiply-add, the best of fifty."""
WHOLE_TEXT = """Every legal strategy of every recipe (all divisors: tensor groups beyond the node, every micro-batch and
number of virtual stages), enumerated and evaluated block by block; nothing is kept but the totals of a block. The
best of five passes."""
CURVE_TEXT = """The same model on one number of cards, every recipe: the space that a plan searches, and the full one.
The cost follows the number of ways to divide cards, layers and batch: from 1,024 to 16,384 cards it does not grow
sixteenfold, and 12,288 cards, with more divisors, cost more than 16,384."""


def clean_environment() -> dict[str, str]:
    """One thread, English, and NumPy's own choice of kernels: what the shell sets for another machine is taken out."""
    tuned = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
    kept = {name: value for name, value in os.environ.items() if name not in tuned}
    return kept | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "SUANPEI_LANG": "en", "COLUMNS": "120"}


def measure(name: str) -> dict[str, Any]:
    command = [sys.executable, str(HERE / "measure.py"), name]
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def measure_cold_plan(model: str, tokens: str, deadline: str) -> dict[str, Any]:
    """Time the command from a cold start: interpreter, imports, catalogue, search, text."""
    command = [sys.executable, "-c", "from suanpei.app.cli.main import main; main()"]
    arguments = ["plan", model, "--tokens", tokens, "--deadline", deadline, "--gpus", "8-1024"]
    walls_s, cpus_s = [], []
    for _ in range(COLD_RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started_s = perf_counter()
        subprocess.run([*command, *arguments], env=clean_environment(), stdout=subprocess.DEVNULL, check=True)
        walls_s.append(perf_counter() - started_s)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus_s.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    done = subprocess.run(
        [*command, *arguments, "--json"], env=clean_environment(), capture_output=True, text=True, check=True
    )
    return {
        "command": " ".join(["suanpei", *arguments]),
        "wall_s": min(walls_s),
        "cpu_s": min(cpus_s),
        "search": json.loads(done.stdout)["search"],
    }


def say_machine() -> str:
    """Name the processor, the memory and the software."""
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        cpu = names[0] if names else cpu
    return (
        f"{os.cpu_count()} logical CPUs ({cpu}), {platform.system()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, suanpei {suanpei.__version__}; one thread"
    )


def say_verdict(value: float, most: float) -> str:
    return "met" if value <= most else f"missed by {value / most - 1:.0%}"


def say_million(figures: dict[str, Any]) -> list[str]:
    each_s = figures["cpu_s"] / figures["candidates"]
    adds, most = each_s / figures["multiply_add_s"], MOST_MULTIPLY_ADDS
    rss = figures["peak_rss_bytes"]
    return [
        "## One million legal candidates, full memory and time",
        "",
        MILLION_TEXT,
        "",
        "| figure | measured | aim | |",
        "|---|---:|---:|---|",
        f"| per candidate | {each_s * 1e6:.2f} µs | 1 µs | {say_verdict(each_s, 1e-6)} |",
        f"| one NumPy multiply-add (16,384 float64) | {figures['multiply_add_s'] * 1e9:.2f} ns | | |",
        f"| multiply-adds per candidate | {adds:.0f} | {most} | {say_verdict(adds, most)} |",
        f"| peak memory of the process | {rss / 1e6:.0f} MB | 500 MB | {say_verdict(rss, MOST_RSS_BYTES)} |",
        f"| candidates that fit | {figures['fitting']:,} of {figures['candidates']:,} | | |",
        "",
    ]


def say_whole(figures: dict[str, Any]) -> list[str]:
    rate = figures["candidates"] / figures["cpu_s"]
    best_s, first_s = figures["cpu_s"], figures["first_cpu_s"]
    rss = figures["peak_rss_bytes"]
    return [
        "## The whole space of a 175B GPT on 4,096 A100, batch 1,536",
        "",
        WHOLE_TEXT,
        "",
        "| figure | measured | aim | |",
        "|---|---:|---:|---|",
        f"| candidates | {figures['candidates']:,} ({figures['fitting']:,} fit) | | |",
        f"| CPU seconds, enumeration included | {best_s:.2f} s (first pass {first_s:.2f} s) | | |",
        f"| candidates per second and core | {rate:,.0f} | 1,000,000 | {'met' if rate >= 1e6 else 'missed'} |",
        f"| peak memory of the process | {rss / 1e6:.0f} MB | 500 MB | {say_verdict(rss, MOST_RSS_BYTES)} |",
        f"| fastest step that fits | {figures['best_step_s']:.2f} s | | |",
        "",
    ]


def say_cold(plans: list[dict[str, Any]]) -> list[str]:
    lines = [
        "## `plan` over every bundled accelerator, 8 to 1,024 cards, cold start",
        "",
        f"Best of {COLD_RUNS} runs of the whole command: interpreter, imports, catalogue, search, alternatives, text.",
        "",
        "| command | wall | CPU | aim | | evaluated | pruned |",
        "|---|---:|---:|---:|---|---:|---:|",
    ]
    lines += [
        f"| `{plan['command']}` | {plan['wall_s']:.2f} s | {plan['cpu_s']:.2f} s | {MOST_COLD_S:.0f} s"
        f" | {say_verdict(plan['wall_s'], MOST_COLD_S)} | {plan['search']['candidates']:,}"
        f" | {plan['search']['pruned']:,} |"
        for plan in plans
    ]
    return [*lines, ""]


def say_curve(figures: dict[str, Any]) -> list[str]:
    lines = [
        "## Cost of a search against the number of cards",
        "",
        CURVE_TEXT,
        "",
        "| cards | divisors | plan's space | CPU | full space | CPU |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['gpus']:,} | {row['divisors']} | {row['practical_candidates']:,}"
        f" | {row['practical_cpu_s'] * 1e3:.0f} ms | {row['full_candidates']:,} | {row['full_cpu_s'] * 1e3:.0f} ms |"
        for row in figures["rows"]
    ]
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, help="write the figures to this Markdown file too")
    target = parser.parse_args().report
    lines = [
        f"# Speed and memory of the search, {datetime.now(tz=UTC).date().isoformat()}",
        "",
        f"Made by `benchmarks/run.py` on {say_machine()}. Times are CPU seconds of one process unless they say wall.",
        "",
        *say_million(measure("million")),
        *say_whole(measure("whole")),
        *say_cold([measure_cold_plan(*plan) for plan in COLD_PLANS]),
        *say_curve(measure("curve")),
    ]
    text = "\n".join(lines).rstrip("\n") + "\n"
    sys.stdout.write(text)
    if target is not None:
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

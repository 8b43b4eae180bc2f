"""One measurement per process, as JSON: what `run.py` puts into tables.

Times are CPU seconds of this process (one thread), which other load on the machine disturbs little; wall seconds stand
beside them.
"""

from __future__ import annotations

import json
import resource
import sys
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.cluster import build_cluster
from suanpei.physics.evaluate import evaluate
from suanpei.physics.strategy import divisors
from suanpei.physics.uncertainty import Fit
from suanpei.planner.enumerate import FULL, PRACTICAL, iterate_strategies
from suanpei.planner.pool import POOL_ROWS
from suanpei.verbs.inputs import load_inputs
from suanpei.verbs.job_request import JobRequest, build_job

if TYPE_CHECKING:
    from collections.abc import Callable

    from suanpei.job.job import Job
    from suanpei.machine.cluster import Cluster
    from suanpei.planner.enumerate import Space
    from suanpei.verbs.inputs import Inputs

MILLION = 1_000_000
GPUS = 4096
PASSES = 5
"""The best counts, as for the multiply-add: other load on the machine only adds."""
MILLION_COUNTS = (512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12_288, 16_384)
CARD_COUNTS = (8, 16, 32, 64, 96, 128, 256, 512, 768, 1024, 1536, 2048, 4096, 6144, 8192, 12_288, 16_384)
"""Powers of two, and three times such, which have about twice the divisors of their neighbours."""


def peak_rss_bytes() -> int:
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def multiply_add_s() -> float:
    """Time one multiply-add of 16,384 float64 in NumPy, per element. [s]"""
    one, other, out = (np.random.default_rng(seed).random(16_384) for seed in range(3))
    best = np.inf
    for _ in range(50):
        started_s = process_time()
        for _ in range(200):
            np.multiply(one, other, out=out)
            np.add(out, one, out=out)
        best = min(best, (process_time() - started_s) / 200 / 16_384)
    return float(best)


def gpt_175b(inputs: Inputs) -> tuple[Job, Cluster]:
    """GPT-3 175B with 1,536 sequences of 2,048 tokens, on A100."""
    request = JobRequest(model="gpt-3-175b", method="pretrain", global_batch="1536seqs", seq_len=2048)
    job = build_job(request, inputs.catalogue, needs_data=False)
    return job, build_cluster(inputs.catalogue, load_accelerators(inputs.catalogue)["A100-SXM4-80GB"])


def measure_million() -> dict[str, Any]:
    """Evaluate memory and time of one million legal candidates that already stand in arrays."""
    inputs = load_inputs(None)
    job, cluster = gpt_175b(inputs)
    recipe = inputs.recipes["megatron"]
    blocks = []
    missing = MILLION
    for strategies in iterate_strategies(job, cluster, recipe, MILLION_COUNTS, FULL, POOL_ROWS):
        blocks.append(strategies.take(slice(0, missing)))
        missing -= len(blocks[-1])
        if not missing:
            break
    spent_s = np.inf
    for _ in range(PASSES):
        fitting = 0
        started_s = process_time()
        for block in blocks:
            estimates = evaluate(job, cluster, recipe, inputs.calibration, block)
            fitting += int(np.count_nonzero(estimates.fit == Fit.FITS))
        spent_s = min(spent_s, process_time() - started_s)
    return {
        "candidates": sum(len(block) for block in blocks),
        "fitting": fitting,
        "cpu_s": spent_s,
        "multiply_add_s": multiply_add_s(),
    }


def measure_whole() -> dict[str, Any]:
    """Enumerate and evaluate every legal strategy of the 175B model on 4,096 A100, under every recipe."""
    inputs = load_inputs(None)
    job, cluster = gpt_175b(inputs)
    spent_s = []
    for _ in range(PASSES):
        started_s = process_time()
        candidates, fitting, best_s = search(inputs, job, cluster, GPUS, FULL, tuple(inputs.recipes))
        spent_s.append(process_time() - started_s)
    return {
        "candidates": candidates,
        "fitting": fitting,
        "best_step_s": best_s,
        "first_cpu_s": spent_s[0],
        "cpu_s": min(spent_s),
    }


def measure_curve() -> dict[str, Any]:
    """Enumerate and evaluate the strategies of the 175B model on ever more cards, in a plan's space and in full."""
    inputs = load_inputs(None)
    job, cluster = gpt_175b(inputs)
    rows = []
    for gpus in CARD_COUNTS:
        row: dict[str, Any] = {"gpus": gpus, "divisors": len(divisors(gpus))}
        for name, space in (("practical", PRACTICAL), ("full", FULL)):
            started_s = process_time()
            row[f"{name}_candidates"], _, _ = search(inputs, job, cluster, gpus, space, tuple(inputs.recipes))
            row[f"{name}_cpu_s"] = process_time() - started_s
        rows.append(row)
    return {"rows": rows}


def search(
    inputs: Inputs, job: Job, cluster: Cluster, gpus: int, space: Space, recipes: tuple[str, ...]
) -> tuple[int, int, float | None]:
    """Evaluate a space block by block; give candidates, how many fit, and the fastest fitting step. [s]"""
    candidates = fitting = 0
    best_s = np.inf
    for recipe in (inputs.recipes[name] for name in recipes):
        for strategies in iterate_strategies(job, cluster, recipe, (gpus,), space, POOL_ROWS):
            estimates = evaluate(job, cluster, recipe, inputs.calibration, strategies)
            fits = estimates.fit == Fit.FITS
            candidates += len(strategies)
            fitting += int(np.count_nonzero(fits))
            best_s = min(best_s, float(np.where(fits, estimates.step_s, np.inf).min(initial=np.inf)))
    return candidates, fitting, best_s if np.isfinite(best_s) else None


MEASUREMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "million": measure_million,
    "whole": measure_whole,
    "curve": measure_curve,
}

if __name__ == "__main__":
    figures = MEASUREMENTS[sys.argv[1]]()
    print(json.dumps({**figures, "peak_rss_bytes": peak_rss_bytes()}))

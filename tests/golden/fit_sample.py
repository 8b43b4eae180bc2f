"""The fit that the suite repeats: every so many rows of each measurement file, from the frozen calibration."""

from __future__ import annotations

import csv
import tempfile
from functools import cache
from pathlib import Path

from suanpei.verbs.fit import DEFAULT_FILES, RefitResult, refit
from tests.golden.plan_samples import FROZEN

DATA = Path(__file__).parents[2] / "data" / "validation"
EVERY = 60
"""One row in so many: few enough for a short fit, from most sources."""


@cache
def fit_sample() -> RefitResult:
    """Fit the sample."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name in DEFAULT_FILES:
            with (DATA / name).open(encoding="utf-8-sig", newline="") as stream:
                rows = list(csv.reader(stream))
            paths.append(Path(folder) / name)
            with paths[-1].open("w", encoding="utf-8", newline="") as stream:
                csv.writer(stream).writerows([rows[0], *rows[1::EVERY]])
        return refit(paths, catalog=FROZEN, as_of="2026-01-01")

"""The fit on a fixed sample of rows gives the coefficients that it gave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden.fit_sample import fit_sample
from tests.golden.test_golden import UPDATE

FILE = Path(__file__).parent / "fit_sample.json"
SAME = 2e-3
"""Relative difference that another machine's arithmetic may make."""


@pytest.mark.slow
def test_the_fit_of_the_sample_gives_the_same_coefficients_and_errors() -> None:
    result = fit_sample()
    found = {
        f"{one.level}.{one.key}.{one.name}": one.value for one in result.coefficients if one.standard_error is not None
    }
    found |= {
        f"{one.file} {one.split} {one.figure} {one.group} {one.statistic}": one.value
        for one in result.scores
        if one.table in ("step_time", "memory") and one.statistic == "mean"
    }
    if UPDATE:
        FILE.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8", newline="\n")
    expected = json.loads(FILE.read_text(encoding="utf-8"))
    assert found == pytest.approx(expected, rel=SAME), f"{FILE.name} differs: read why, then 'make golden-update'"

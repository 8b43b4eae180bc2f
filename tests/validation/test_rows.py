"""Cells of measurement files: what cannot be a measurement is refused."""

from __future__ import annotations

import pytest

from suanpei.errors import InputError
from suanpei.validation.case import Measured
from suanpei.validation.rows import Row


@pytest.mark.parametrize("cell", ["nan", "inf", "-1", "1e300", "abc"])
def test_what_no_measurement_gives_is_refused(cell: str) -> None:
    with pytest.raises(InputError, match="hidden must be a number of at least 0 or blank"):
        Row(cells={"case_id": "a-1", "hidden": cell}).number("hidden")


def test_a_measured_zero_is_refused() -> None:
    with pytest.raises(InputError, match="step_s must be above 0"):
        Measured(metric="step_s", value=0.0)

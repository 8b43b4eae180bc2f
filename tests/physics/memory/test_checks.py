"""Checks of printed memory figures, on figures that were printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.physics.memory.checks import (
    find_data_parallel,
    find_outliers,
    gpus_with_node_copy,
    implied_bytes_per_parameter,
    implied_format,
    node_copy_bytes,
)
from suanpei.physics.strategy import Sharding
from suanpei.units import MIB_BYTES
from suanpei.verbs.inputs import load_inputs

MEGATRON = load_inputs(None).recipe("megatron")


@pytest.mark.parametrize(
    ("mib", "name"), [(27_026, "fp32"), (13_483, "bf16"), (6_742, "int8"), (3_371, "int4"), (20_000, None)]
)
def test_bloomz_7b_names_its_format(mib: float, name: str | None) -> None:
    # 7,069,016,064 parameters: 26,966 MiB in fp32, measured 27,026
    assert implied_format(implied_bytes_per_parameter(mib * MIB_BYTES, 7_069_016_064)) == name


def test_no_parameters_are_refused() -> None:
    with pytest.raises(InputError, match="parameters must be above 0"):
        implied_bytes_per_parameter(1.0, 0)


def test_the_row_that_follows_another_rule() -> None:
    # a published table: 8B 60 GB, 70B 300 GB, 405B 3.25 TB
    assert find_outliers([60 / 8.03, 300 / 70.55, 3250 / 405.9]) == [1]
    assert find_outliers([7.4, 7.5, 8.0]) == []


@given(dp=st.integers(1, 512))
def test_the_distributed_optimizer_tells_its_degree(dp: int) -> None:
    # 6 + 12 / d
    assert find_data_parallel(MEGATRON, Sharding.ZERO1, 6 + 12 / dp) == dp


def test_a_copy_of_the_weights_on_every_node() -> None:
    # 72.3e9: 2N/8 = 18.1 GB; 16N over n cards in the 17.9 GB left of 0.9 · 40: 64.6 → 65
    assert node_copy_bytes(72.3e9, 8) == pytest.approx(18.075e9)
    assert gpus_with_node_copy(72.3e9, 8, 40e9, state_bytes_each=16.0, usable_fraction=0.9) == 65


def test_a_copy_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match=r"takes 100\.0 GB of each card"):
        gpus_with_node_copy(400e9, 8, 80e9, state_bytes_each=16.0, usable_fraction=0.9)

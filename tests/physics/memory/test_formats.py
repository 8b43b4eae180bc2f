"""Bytes per parameter against the papers' and the frameworks' own rules, arithmetic shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.physics.memory.formats import (
    estimate_deepspeed_zero3_bytes,
    estimate_initialisation_peak_bytes,
    state_bytes_per_parameter,
)
from suanpei.physics.strategy import Sharding
from tests.physics.memory.samples import GIB, RECIPES

if TYPE_CHECKING:
    from suanpei.job.job import Optimizer, Precision

LLAMA_7B = 6_738_415_616


def test_megatron_keeps_18_bytes_and_with_the_distributed_optimizer_6_and_12_over_d() -> None:
    states = state_bytes_per_parameter(RECIPES["megatron"], [Sharding.NONE, Sharding.ZERO1], 8)
    # 2 weight + 4 gradient + 4 master + 8 Adam = 18; 6 + 12 / 8 = 7.5
    np.testing.assert_allclose(states.steady, [18.0, 7.5])
    # 7B: 121.3 GB without and 50.5 GB with, on 8 cards
    np.testing.assert_allclose(states.steady * LLAMA_7B / 1e9, [121.291, 50.5381], rtol=1e-5)


def test_printed_megatron_shard_gives_back_its_data_parallel_size() -> None:
    # a memory tool prints 46,983.3 MiB for 4.1055e9 parameters: 12 B each = 6 + 12 / 2
    printed = 46_983.3 * 2**20 / 4.1055e9
    states = state_bytes_per_parameter(RECIPES["megatron"], Sharding.ZERO1, [1, 2, 4])
    assert int(np.argmin(np.abs(states.steady - printed))) == 1
    assert states.steady[1] == pytest.approx(printed, rel=0.001)


def test_deepspeed_step_peak_is_2_and_22_over_n_with_zero2_and_24_over_n_with_zero3() -> None:
    n = 8
    states = state_bytes_per_parameter(RECIPES["deepspeed"], [Sharding.ZERO2, Sharding.ZERO3], n)
    np.testing.assert_allclose(states.steady, [2 + 14 / n, 16 / n])
    np.testing.assert_allclose(states.step_peak, [2 + 22 / n, 24 / n])
    # 8.03e9 parameters on 8 cards: 14.96 GiB between steps, 22.4 GiB in the step
    np.testing.assert_allclose(states.steady[1] * 8_030_261_248 / GIB, 14.9575, rtol=1e-4)
    np.testing.assert_allclose(states.step_peak[1] * 8_030_261_248 / GIB, 22.4363, rtol=1e-4)


def test_one_unfused_adam_temporary_is_the_allocation_that_failed() -> None:
    # 6.74e9 parameters on 8 cards: 4 B x N / 8 = 3.138 GiB was the request that failed
    extra = state_bytes_per_parameter(RECIPES["deepspeed"], Sharding.ZERO2, 8).step_extra
    assert float(extra) * LLAMA_7B / 2 / GIB == pytest.approx(3.13782, rel=1e-4)


def test_zero2_on_4_cards_of_24_gb_steps_over_the_card() -> None:
    states = state_bytes_per_parameter(RECIPES["deepspeed"], [Sharding.ZERO2, Sharding.ZERO3], 4)
    parameters = 3_086_000_000
    # 2N + 14N/4 = 15.81 GiB, 2N + 22N/4 = 21.56 GiB, zero3 24N/4 = 17.2 GiB
    np.testing.assert_allclose(states.steady[0] * parameters / GIB, 15.8073, rtol=1e-4)
    np.testing.assert_allclose(states.step_peak * parameters / GIB, [21.5555, 17.2444], rtol=1e-4)


def test_fully_sharded_fp32_masters_are_16_bytes_over_n() -> None:
    states = state_bytes_per_parameter(RECIPES["fsdp"], [Sharding.ZERO2, Sharding.ZERO3], 4)
    np.testing.assert_allclose(states.steady, [4.0, 4.0])
    # 7B on 4 cards: 27.0 GB between steps; measured 27-29 GB
    assert states.steady[1] * LLAMA_7B / 1e9 == pytest.approx(26.9537, rel=1e-4)


@pytest.mark.parametrize(
    ("precision", "optimizer", "in_backward", "steady"),
    [
        ("fp32", "adamw", False, 16.0),
        ("fp32", "sgd", False, 8.0),
        ("bf16-pure", "sgd", True, 2.0),
        ("bf16-pure", "adamw", False, 8.0),
        ("bf16", "adamw-8bit", False, 4 + 4 + 2.03125),
    ],
)
def test_single_card_formats(precision: Precision, optimizer: Optimizer, in_backward: bool, steady: float) -> None:
    states = state_bytes_per_parameter(
        RECIPES["ddp"],
        Sharding.NONE,
        1,
        precision=precision,
        optimizer=optimizer,
        optimizer_in_backward=in_backward,
    )
    assert float(states.steady) == steady


def test_pure_16_bit_training_peaks_at_10_bytes_in_the_step() -> None:
    states = state_bytes_per_parameter(RECIPES["ddp"], Sharding.NONE, 1, precision="bf16-pure")
    assert float(states.step_peak) == 10.0
    # measured 67.46 GiB for 7.242e9 parameters on one A100-80G
    assert float(states.step_peak) * 7.242e9 / GIB == pytest.approx(67.46, rel=0.001)


def test_initialisation_peak_is_a_full_fp32_copy() -> None:
    assert float(estimate_initialisation_peak_bytes(LLAMA_7B)) / 1e9 == pytest.approx(26.9537, rel=1e-5)


def test_deepspeeds_own_estimator_is_repeated_to_the_second_decimal() -> None:
    figures = [
        estimate_deepspeed_zero3_bytes(6.805e9, 131e6, 4, 1, offload=offload)
        for offload in ("optimizer+params", "optimizer", "none")
    ]
    np.testing.assert_allclose([gpu / GIB for gpu, _ in figures], [0.49, 3.66, 29.01], atol=0.005)
    np.testing.assert_allclose([host / GIB for _, host in figures[:2]], [171.13, 152.11], atol=0.1)


@given(
    name=st.sampled_from(sorted(RECIPES)),
    ranks=st.integers(min_value=1, max_value=4096),
    precision=st.sampled_from(["bf16", "fp32", "bf16-pure", "fp8"]),
    optimizer=st.sampled_from(["adamw", "adamw-8bit", "sgd", "muon"]),
)
def test_more_sharding_never_holds_more(name: str, ranks: int, precision: Precision, optimizer: Optimizer) -> None:
    states = state_bytes_per_parameter(RECIPES[name], [0, 1, 2, 3], ranks, precision=precision, optimizer=optimizer)
    assert np.all(np.diff(states.steady) <= 1e-12)
    assert np.all(np.diff(states.step_peak) <= 1e-12)


def test_scalars_and_arrays_agree() -> None:
    ranks = np.array([[1, 3], [8, 64]])
    whole = state_bytes_per_parameter(RECIPES["deepspeed"], Sharding.ZERO1, ranks).step_peak
    single = [[float(state_bytes_per_parameter(RECIPES["deepspeed"], 1, n).step_peak) for n in row] for row in ranks]
    np.testing.assert_array_equal(np.asarray(whole), single)

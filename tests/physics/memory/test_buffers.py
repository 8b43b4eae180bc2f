"""Gathered weights, buckets and communicators, arithmetic shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from suanpei.job.job import Lora
from suanpei.physics.memory.buffers import (
    Buffers,
    Overheads,
    estimate_buffers,
    estimate_communication_bytes,
)
from suanpei.physics.memory.stages import split_layers
from tests.physics.memory.samples import RECIPES, job_of, knobs, llama, mixture, operators_of

if TYPE_CHECKING:
    from suanpei.job.architecture import Architecture

NAMES = ("tp", "ep", "etp", "cp", "dp", "sharding")
LAYER = 4 * 4096**2 + 3 * 4096 * 11008 + 2 * 4096
EMBEDDING = 32000 * 4096


def buffers_of(architecture: Architecture, recipe: str, *, pp: int = 1, **values: Any) -> Buffers:
    changes = {name: values.pop(name) for name in list(values) if name not in NAMES}
    operators = operators_of(architecture)
    stage = split_layers(operators, np.array([pp]), np.array([1]))
    return estimate_buffers(
        job_of(architecture, **changes), operators, RECIPES[recipe], stage, **knobs(*NAMES, **values)
    )


def test_full_sharding_gathers_two_layers_and_keeps_the_ends_whole() -> None:
    buffers = buffers_of(llama(), "fsdp", dp=8, sharding=3)
    # two layers and embedding and head in 2 bytes; one layer's 16-bit gradient and its fp32 reduce-scatter input
    assert buffers.gathered_bytes[0, 0] == 2 * (2 * LAYER + 2 * EMBEDDING)
    assert buffers.bucket_bytes[0, 0] == 6 * LAYER


def test_reused_parameters_stay_live_up_to_the_limit() -> None:
    assert buffers_of(llama(), "deepspeed", dp=8, sharding=3).gathered_bytes[0, 0] == 2 * 1e9
    small = llama(layers=1, vocab=1000)
    whole = 2 * small.total_parameters
    assert buffers_of(small, "deepspeed", dp=8, sharding=3).gathered_bytes[0, 0] == whole


def test_undivided_16_bit_weights_need_no_copy_and_fp32_ones_need_a_whole_one() -> None:
    architecture = llama()
    assert buffers_of(architecture, "megatron", dp=8, sharding=1).gathered_bytes[0, 0] == 0
    assert buffers_of(architecture, "deepspeed", dp=8, sharding=2).gathered_bytes[0, 0] == 0
    copy = 2 * architecture.total_parameters
    assert buffers_of(architecture, "ddp", dp=8).gathered_bytes[0, 0] == copy
    assert buffers_of(architecture, "fsdp", dp=8, sharding=2).gathered_bytes[0, 0] == copy
    assert buffers_of(architecture, "ddp", dp=8, precision="bf16-pure").gathered_bytes[0, 0] == 0


def test_a_frozen_base_is_gathered_as_it_is_stored() -> None:
    changes: dict[str, Any] = {"method": "qlora", "lora": Lora(rank=8, targets=("q", "v")), "base_storage": "nf4"}
    buffers = buffers_of(llama(), "fsdp", dp=8, sharding=3, **changes)
    products = LAYER - 2 * 4096
    adapters = 2 * 8 * 2 * 4096
    layer = 0.5625 * products + 2 * 2 * 4096 + 2 * adapters
    assert buffers.gathered_bytes[0, 0] == pytest.approx(2 * layer + 2 * 2 * EMBEDDING)


def test_buckets_of_default_size_are_1_86_gib() -> None:
    bucket = float(buffers_of(llama(), "deepspeed", dp=8, sharding=2).bucket_bytes[0, 0])
    assert bucket / 2**30 == pytest.approx(1.86, abs=0.005)


def test_a_reducer_holds_all_gradients_again_and_one_rank_has_no_buckets() -> None:
    architecture = llama()
    assert buffers_of(architecture, "ddp", dp=2).bucket_bytes[0, 0] == 4 * architecture.total_parameters
    for recipe in RECIPES:
        assert buffers_of(architecture, recipe, sharding=3).bucket_bytes[0, 0] == 0


def test_stages_gather_their_own_ends() -> None:
    first, middle, last = buffers_of(llama(), "fsdp", pp=4, dp=8, sharding=3).gathered_bytes[:, 0]
    assert first == last == middle + 2 * EMBEDDING


def test_each_axis_with_ranks_has_a_communicator() -> None:
    one: dict[str, Any] = {"tp": 1, "pp": 1, "cp": 1, "ep": 1, "dp": 1}
    overheads = Overheads(context_bytes=0.0, communicator_bytes=2e8, fragmentation_fraction=0.0, cache_fraction=0.0)
    assert estimate_communication_bytes(overheads, **one) == 0
    three = estimate_communication_bytes(overheads, **one | {"tp": np.array([2, 2]), "pp": 4, "dp": 8})
    np.testing.assert_array_equal(three, [3 * 2e8] * 2)


def test_scalars_and_arrays_agree() -> None:
    operators, job = operators_of(mixture()), job_of(mixture())
    pp, sharding = np.array([[1], [2]]), np.array([0, 2, 3])
    fixed = {"tp": 2, "ep": 2, "etp": 1, "cp": 1, "dp": 4}
    whole = estimate_buffers(
        job, operators, RECIPES["fsdp"], split_layers(operators, pp, 1), sharding=sharding, **fixed
    )
    for row, column in np.ndindex(2, 3):
        one = estimate_buffers(
            job,
            operators,
            RECIPES["fsdp"],
            split_layers(operators, int(pp[row, 0]), 1),
            sharding=int(sharding[column]),
            **fixed,
        )
        np.testing.assert_array_equal(whole.gathered_bytes[:, row, column], one.gathered_bytes)
        np.testing.assert_array_equal(whole.bucket_bytes[:, 0, column], one.bucket_bytes)

"""What one rank holds, against counts made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.job.job import Lora
from suanpei.physics.memory.parameters import (
    BASE_STORAGE_BYTES,
    hold_factors,
    hold_frozen_bytes,
    hold_low_precision_copies,
    hold_parameters,
    hold_trained,
    spread_holding,
    sum_spread,
)
from suanpei.physics.memory.stages import split_layers
from tests.physics.memory.samples import gpt, job_of, llama, mixture, operators_of

ONE = {"tp": 1, "ep": 1, "etp": 1}


@pytest.mark.parametrize("architecture", [llama(), llama(tied=True), gpt(), mixture()])
def test_one_rank_alone_holds_every_parameter_once(architecture: object) -> None:
    operators = operators_of(architecture)  # type: ignore[arg-type]
    total = sum_spread(hold_parameters(operators), split_layers(operators, 1, 1), **ONE)
    np.testing.assert_array_equal(total, [architecture.total_parameters] * 3)  # type: ignore[attr-defined]


@given(pp=st.sampled_from([2, 4, 8]), tied=st.booleans())
def test_stages_sum_to_the_model_and_one_tied_copy(pp: int, tied: bool) -> None:
    architecture = llama(layers=8, tied=tied)
    operators = operators_of(architecture)
    first, middle, last = sum_spread(hold_parameters(operators), split_layers(operators, pp, 1), **ONE)
    copy = architecture.vocab * architecture.hidden if tied else 0
    assert first + (pp - 2) * middle + last == architecture.total_parameters + copy


def test_tensor_parallelism_leaves_norms_whole_and_experts_to_expert_parallelism() -> None:
    architecture = mixture(dense_layers=0, layers=4)
    operators = operators_of(architecture)
    stage = split_layers(operators, 1, 1)
    dense, expert = spread_holding(hold_parameters(operators), stage, tp=2, ep=4, etp=1)
    # per layer: 8 experts of 3 x 128 x 256
    assert expert[0] == 4 * 8 * 3 * 128 * 256 / 4
    # whole: norms 256 and router 8 x 128 a layer, final norm 128; the rest halves
    whole = 4 * (256 + 8 * 128) + 128
    rest = architecture.total_parameters - 4 * 8 * 3 * 128 * 256 - whole
    assert dense[0] == rest / 2 + whole


def test_adapters_are_rank_times_inputs_and_outputs() -> None:
    architecture = llama()
    operators = operators_of(architecture)
    stage = split_layers(operators, 1, 1)
    # q and v of Llama-2-7B, rank 8: 32 x 2 x 8 x (4096 + 4096) = 4,194,304, as litgpt prints
    job = job_of(architecture, method="lora", lora=Lora(rank=8, targets=("q", "v")))
    assert sum_spread(hold_trained(job, operators), stage, **ONE)[0] == 4_194_304
    # all seven, rank 16: 32 x 16 x (4 x 8192 + 3 x 15104) = 39,976,960, as peft prints
    job = job_of(architecture, method="lora", lora=Lora(rank=16))
    assert sum_spread(hold_trained(job, operators), stage, **ONE)[0] == 39_976_960


def test_adapters_follow_the_side_that_tensor_parallelism_cuts() -> None:
    architecture = llama(layers=1, hidden=64, ffn=128, heads=4, kv_heads=2)
    operators = operators_of(architecture)
    job = job_of(architecture, method="lora", lora=Lora(rank=2, targets=("v", "down")))
    held = sum_spread(hold_trained(job, operators), split_layers(operators, 1, 1), tp=2, ep=1, etp=1)[0]
    # v: A 64 x 2 whole, B 2 x 32 halved; down: A 128 x 2 halved, B 2 x 64 whole
    assert held == 64 * 2 + 2 * 32 / 2 + 128 * 2 / 2 + 2 * 64


def test_a_quantised_70b_base_weighs_what_its_file_does() -> None:
    architecture = llama(layers=80, hidden=8192, ffn=28672, heads=64, kv_heads=8, vocab=128256)
    operators = operators_of(architecture)
    job = job_of(architecture, method="qlora", lora=Lora(), base_storage="gptq-int4")
    base = sum_spread(hold_frozen_bytes(job, operators), split_layers(operators, 1, 1), **ONE)[0]
    # 68.45e9 weights x 4.156 bits + 2.10e9 embedding and head elements x 2 B = 39.77 GB; the file has 39.8
    assert base / 1e9 == pytest.approx(39.7678, rel=0.001)


def test_storage_widths() -> None:
    bits = {name: 8 * size for name, size in BASE_STORAGE_BYTES.items()}
    assert bits["nf4"] == 4.5
    assert bits["nf4-dq"] == pytest.approx(4.127, abs=0.0005)
    assert bits["gptq-int4"] == pytest.approx(4.156, abs=0.0005)


def test_full_training_has_no_frozen_base_and_adapters_need_a_description() -> None:
    architecture = llama(layers=1)
    operators = operators_of(architecture)
    stage = split_layers(operators, 1, 1)
    assert sum_spread(hold_frozen_bytes(job_of(architecture), operators), stage, **ONE)[0] == 0
    with pytest.raises(InputError, match="lora"):
        hold_trained(job_of(architecture, method="lora"), operators)


def test_fp8_copies_are_of_products_only() -> None:
    architecture = gpt(layers=1)
    operators = operators_of(architecture)
    copies = sum_spread(hold_low_precision_copies(operators, 2.0), split_layers(operators, 1, 1), **ONE)[0]
    # 12 h^2 weights in four products, two bytes each
    assert copies == 2 * 12 * 64 * 64


def test_factored_moments_are_rows_and_columns() -> None:
    architecture = gpt(layers=1)
    operators = operators_of(architecture)
    factors = sum_spread(hold_factors(job_of(architecture), operators), split_layers(operators, 1, 1), **ONE)[0]
    # qkv 64 + 192, output 64 + 64, up 64 + 256, down 256 + 64, embedding 256 + 64
    matrices = 64 + 192 + 128 + 320 + 320 + 320
    # weight and bias of three norms, four biases
    vectors = 3 * 2 * 64 + 192 + 64 + 256 + 64
    assert factors == matrices + vectors

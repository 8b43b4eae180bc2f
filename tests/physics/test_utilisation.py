"""Utilisation against published runs, its definitions against each other, and verdicts at their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.physics.rule_of_thumb import flops_6nd, training_time_s
from suanpei.physics.utilisation import (
    MFU_DEFINITIONS,
    correct_mfu,
    identify_definition,
    judge_figure,
    judge_mfu,
    judge_time,
    mfu_of_gpu_hours,
    mfu_of_hardware_utilisation,
    mfu_of_rate,
    mfu_of_run,
    shortfall_factor,
    training_flops_per_token,
)

if TYPE_CHECKING:
    from suanpei.physics.utilisation import MfuDefinition

A100 = 312e12
LLAMA3: dict[str, Any] = {"layers": 32, "hidden": 4096, "embedding_parameters": 128_256 * 4096.0}


def test_llama_2_card() -> None:
    # 184,320 A100-hours for 2T tokens: 6 · 6.738e9 · 2e12 / (184,320 · 3,600 · 312e12)
    assert mfu_of_gpu_hours(flops_6nd(6.738e9, 2e12), 184_320, A100) == pytest.approx(0.3906, rel=1e-3)


def test_the_definitions_by_hand() -> None:
    # torchtitan's Llama-3-8B table: 2,904 tokens/s per A100 at 8,192 tokens
    rates = {
        definition: mfu_of_rate(training_flops_per_token(definition, 8.03e9, seq_len=8192, **LLAMA3), 2904, A100)
        for definition in MFU_DEFINITIONS
    }

    assert rates == pytest.approx(
        {"6n": 0.4485, "palm": 0.5684, "no_embedding": 0.5390, "causal_half": 0.5084}, abs=5e-4
    )


@given(definition=st.sampled_from(MFU_DEFINITIONS[1:]), seq_len=st.sampled_from([1024, 2048, 4096, 8192, 16384, 32768]))
def test_the_definition_behind_a_figure_is_found(definition: MfuDefinition, seq_len: int) -> None:
    flops = training_flops_per_token(definition, 8.03e9, seq_len=seq_len, **LLAMA3)
    found, length = identify_definition(flops, 8.03e9, **LLAMA3)

    # causal half of twice the length is the same number as all pairs of the length
    assert training_flops_per_token(found, 8.03e9, seq_len=length, **LLAMA3) == pytest.approx(flops, rel=1e-9)


@given(flops=st.floats(1e15, 1e26), gpus=st.integers(1, 10_000), mfu=st.floats(0.01, 1.0))
def test_utilisation_and_time_are_inverse(flops: float, gpus: int, mfu: float) -> None:
    assert mfu_of_run(flops, gpus, training_time_s(flops, gpus, A100, mfu), A100) == pytest.approx(mfu)


def test_hardware_utilisation_with_recomputation_counts_six_of_eight() -> None:
    assert mfu_of_hardware_utilisation(0.4) == pytest.approx(0.3)


def test_a_peak_with_sparsity_halves_the_figure() -> None:
    assert correct_mfu(0.2, 2 * A100, A100) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("mfu", "verdict"),
    [
        (1.0001, "impossible"),
        (1.0, "implausibly_high"),
        (0.65, "plausible_high"),
        (0.55, "plausible"),
        (0.2, "plausible"),
        (0.1999, "possible_slow"),
    ],
)
def test_verdicts_at_their_limits(mfu: float, verdict: str) -> None:
    assert judge_mfu(mfu) == verdict


def test_a_count_without_a_time_is_no_statement() -> None:
    assert judge_time(8.4e22, 269, None, A100) == "missing_time"
    assert judge_time(8.4e22, 269, 1e6, A100) == "impossible"


@pytest.mark.parametrize(
    ("stated", "verdict"),
    [(100, "right"), (104, "right"), (106, "overstated"), (301, "wrong"), (94, "understated"), (33, "wrong")],
)
def test_a_figure_beside_the_right_one(stated: float, verdict: str) -> None:
    assert judge_figure(stated, 100.0) == verdict


def test_how_many_times_too_small() -> None:
    assert shortfall_factor(1.08, 1080.0) == pytest.approx(1000.0)
    with pytest.raises(InputError, match="stated must be above 0"):
        shortfall_factor(0.0, 1.0)

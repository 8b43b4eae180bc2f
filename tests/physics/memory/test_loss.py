"""Logits and loss: sizes of published cases, and what does and does not shrink them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.physics.memory.loss import estimate_loss_bytes, logits_bytes
from tests.physics.memory.samples import GIB, RECIPES, job_of, knobs, llama, operators_of

LLAMA_3 = llama(ffn=14336, kv_heads=8, vocab=128256)


def loss_of(recipe: str = "ddp", **values: Any) -> float:
    names = ("tp", "sp", "cp", "micro_batch")
    changes = {name: values.pop(name) for name in list(values) if name not in names}
    job = job_of(LLAMA_3, **changes)
    return float(estimate_loss_bytes(job, operators_of(LLAMA_3), RECIPES[recipe], **knobs(*names, **values))[0])


def test_fp32_logits_of_published_cases() -> None:
    sizes = logits_bytes([65_536, 102_400], 128_256) / GIB
    np.testing.assert_allclose(sizes, [31.3125, 48.9258], rtol=1e-5)
    assert float(logits_bytes(8192, 152_064)) / GIB == pytest.approx(4.64062, rel=1e-5)


def test_in_place_is_one_and_a_half_times_fp32_and_plain_is_three_times() -> None:
    inputs = 1024 * 8 * 4096
    fp32 = float(logits_bytes(1024, 128_256))
    assert loss_of(loss="in-place") - inputs == 1.5 * fp32
    assert loss_of() - inputs == 3 * fp32
    assert loss_of("megatron") - 1024 * 4 * 4096 == 1.5 * fp32


def test_a_long_sequence_on_one_80_gb_card_needs_the_in_place_loss() -> None:
    # 8B in 4 bits 5.3 GiB, layer inputs 65,536 x 4096 x 2 B x 32 = 16 GiB; 65,536 tokens fit an A100, 102,400 do not,
    # and a plain loss would not fit even 65,536
    def total_gib(tokens: int, kernel: str) -> float:
        inputs = tokens * 4096 * 2 * 32
        return 5.3 + (inputs + loss_of(loss=kernel, seq_len=tokens)) / GIB

    assert total_gib(65_536, "in-place") < 79.2
    assert total_gib(102_400, "in-place") > 79.2
    assert total_gib(65_536, "plain") > 79.2
    assert total_gib(102_400, "fused") < 79.2


def test_a_fused_loss_does_not_grow_with_the_logits_and_makes_the_heads_gradient() -> None:
    short, long = (loss_of(loss="fused", seq_len=tokens) for tokens in (4096, 65_536))
    assert long - short == (65_536 - 4096) * 8 * 4096
    frozen = loss_of(loss="fused", method="lora")
    assert loss_of(loss="fused") - frozen == 2 * 128_256 * 4096


@given(tp=st.sampled_from([2, 4, 8]), cp=st.sampled_from([1, 2]))
def test_only_vocabulary_shards_and_context_parallelism_divide_logits(tp: int, cp: int) -> None:
    assert loss_of("megatron", tp=tp, sp=1, cp=cp) == pytest.approx(loss_of("megatron") / tp / cp)
    whole = 12 * 1024 * 128_256 / cp
    assert loss_of("ddp", tp=tp, sp=1, cp=cp) == pytest.approx(whole + 1024 * 8 * 4096 / tp / cp)


def test_scalars_and_arrays_agree() -> None:
    operators, job = operators_of(LLAMA_3), job_of(LLAMA_3)
    tp, micro_batch = np.array([[1], [4]]), np.array([1, 2, 7])
    whole = estimate_loss_bytes(job, operators, RECIPES["megatron"], tp=tp, sp=1, cp=1, micro_batch=micro_batch)
    assert whole.shape == (2, 3)
    for row, column in np.ndindex(2, 3):
        one = estimate_loss_bytes(
            job, operators, RECIPES["megatron"], tp=int(tp[row, 0]), sp=1, cp=1, micro_batch=int(micro_batch[column])
        )
        assert whole[row, column] == one

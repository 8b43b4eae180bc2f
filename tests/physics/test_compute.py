"""Products, attention and passes: literal numbers, limits, laws, and torch's own FLOP counter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.job.operators import AttentionCore
from suanpei.physics.compute import (
    count_attention_flops,
    count_attention_pairs,
    estimate_attention_s,
    estimate_launch_gap_s,
    estimate_pass_s,
    estimate_product_s,
)
from suanpei.physics.rates import Rates, resolve_rates
from tests.physics.time_samples import CALIBRATION, RECIPES, cluster, job


@pytest.fixture(scope="module")
def rates() -> Rates:
    resolved = resolve_rates(job(), cluster(), RECIPES["megatron"], CALIBRATION)
    return replace(
        resolved,
        product_flops_per_s=250e12,
        head_flops_per_s=250e12,
        memory_bytes_per_s=1.6e12,
        product_start_s=4e-6,
        compute_units=108,
        attention_forward_flops_per_s=150e12,
        attention_backward_flops_per_s=125e12,
    )


def test_a_product_of_whole_waves_runs_at_the_achievable_rate(rates: Rates) -> None:
    # 256 x 128 tiles: 27 x 1024 of them are 256 whole waves of 108
    rows, columns, depth = 27 * 256, 1024 * 128, 4096
    expected = 2 * rows * columns * depth / 250e12 + 4e-6
    assert float(estimate_product_s(rows, columns, depth, rates)) == pytest.approx(expected, rel=1e-12)


def test_a_tiny_product_is_its_start(rates: Rates) -> None:
    assert 4e-6 < float(estimate_product_s(16, 16, 16, rates)) < 4.2e-6


def test_a_thin_product_is_bound_by_memory(rates: Rates) -> None:
    # 256 x 13824 over a depth of 64: 1.8 us of arithmetic, 5.5 us of traffic
    expected = 2 * (64 * (256 + 13824) + 256 * 13824) / 1.6e12 + 4e-6
    assert float(estimate_product_s(256, 13824, 64, rates)) == pytest.approx(expected, rel=1e-12)


def test_experts_share_one_launch(rates: Rates) -> None:
    apart = 8 * float(estimate_product_s(1024, 1024, 1024, rates))
    grouped = float(estimate_product_s(1024, 1024, 1024, rates, groups=8))
    assert grouped < apart - 6 * 4e-6


@given(
    rows=st.integers(1, 20_000),
    columns=st.integers(1, 20_000),
    depth=st.integers(1, 20_000),
    more=st.integers(0, 5_000),
)
def test_a_larger_product_never_takes_less(rates: Rates, rows: int, columns: int, depth: int, more: int) -> None:
    once = float(estimate_product_s(rows, columns, depth, rates))
    assert float(estimate_product_s(rows + more, columns, depth, rates)) >= once
    assert float(estimate_product_s(rows, columns + more, depth, rates)) >= once
    assert float(estimate_product_s(rows, columns, depth + more, rates)) >= once
    assert once >= 2.0 * rows * columns * depth / 250e12


@pytest.mark.parametrize(("seq_len", "window"), [(7, None), (7, 3), (7, 7), (7, 9), (5, 1), (1, None)])
def test_attention_pairs_equal_the_mask_counted_out(seq_len: int, window: int | None) -> None:
    query, key = np.indices((seq_len, seq_len))
    mask = (key <= query) & (key > query - (window or seq_len))
    assert count_attention_pairs(seq_len, window, causal=True) == mask.sum()
    assert count_attention_pairs(seq_len, window, causal=False) == seq_len**2


def test_attention_flops_equal_torchs_counter() -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    core = AttentionCore(heads=4, kv_heads=4, head_dim=16, value_dim=16, window=None)
    query, key, value = (torch.randn(1, 4, 32, 16) for _ in range(3))
    counter = FlopCounterMode(display=False)
    with counter, torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        torch.nn.functional.scaled_dot_product_attention(query, key, value)
    assert count_attention_flops(core, 32, full=True) == counter.get_total_flops()


def test_flash_attention_by_hand(rates: Rates) -> None:
    core = AttentionCore(heads=32, kv_heads=8, head_dim=128, value_dim=128, window=None)
    forward, backward = estimate_attention_s(core, 8192, 1.0, rates, flash=True)
    flops = 2 * (8192 * 8193 / 2 + 8192 * 64) * 32 * 256
    assert float(forward) == pytest.approx(flops / 150e12 + 4e-6, rel=1e-12)
    assert float(backward) == pytest.approx(2.5 * flops / 125e12 + 4e-6, rel=1e-12)


def test_narrow_heads_and_unfused_attention_are_slower(rates: Rates) -> None:
    wide = AttentionCore(heads=16, kv_heads=16, head_dim=128, value_dim=128, window=None)
    narrow = AttentionCore(heads=32, kv_heads=32, head_dim=64, value_dim=64, window=None)
    ratio = (
        estimate_attention_s(wide, 8192, 64.0, rates, flash=True)[0]
        / estimate_attention_s(narrow, 8192, 64.0, rates, flash=True)[0]
    )
    assert float(ratio) == pytest.approx(0.9, rel=1e-3)
    assert (
        estimate_attention_s(wide, 4096, 1.0, rates, flash=False)[0]
        > estimate_attention_s(wide, 4096, 1.0, rates, flash=True)[0]
    )


def test_passes_and_launches(rates: Rates) -> None:
    assert float(estimate_pass_s(1.6e9, rates)) == pytest.approx(2e-3)
    np.testing.assert_allclose(estimate_launch_gap_s([1e-4, 1e-3], 30, 1e-5), [2e-4, 0.0])

"""Batch arithmetic, on sizes that people reported."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from suanpei.verbs.launch import check_batch, find_grad_accum

small = st.integers(1, 64)


def test_seven_workers_cannot_divide_256() -> None:
    found = check_batch(global_batch_seqs=256, micro_batch=2, grad_accum=18, dp=7)
    assert not found.consistent
    assert found.product == 252
    assert found.fixed_grad_accum is None
    assert find_grad_accum(256, 2, 8) == 16
    # valid with micro-batch 2: the divisors of 128
    assert found.possible_dp == (1, 2, 4, 8, 16, 32, 64, 128)
    assert "with 8 data-parallel ranks gradient accumulation 16" in str(found.message)


def test_world_size_read_before_it_was_set() -> None:
    found = check_batch(global_batch_seqs=256, micro_batch=4, grad_accum=8, dp=1, launched_dp=8)
    assert found.consistent
    assert found.cause == "world_size_not_initialised"
    alone = check_batch(global_batch_seqs=256, micro_batch=4, grad_accum=8, dp=1)
    assert not alone.consistent
    assert alone.fixed_grad_accum == 64


def test_batch_that_is_no_multiple_of_the_micro_batch() -> None:
    found = check_batch(global_batch_seqs=7, micro_batch=2, grad_accum=1, dp=1)
    assert found.possible_dp == ()
    assert "multiple of the micro-batch of 2" in str(found.message)


@given(small, small, small)
def test_product_is_consistent_and_found_again(micro: int, accum: int, dp: int) -> None:
    batch = micro * accum * dp
    assert check_batch(global_batch_seqs=batch, micro_batch=micro, grad_accum=accum, dp=dp).message is None
    assert find_grad_accum(batch, micro, dp) == accum


@given(st.integers(1, 4096), small, small, small)
def test_remedy_works(batch: int, micro: int, accum: int, dp: int) -> None:
    found = check_batch(global_batch_seqs=batch, micro_batch=micro, grad_accum=accum, dp=dp)
    if found.fixed_grad_accum is not None:
        again = check_batch(global_batch_seqs=batch, micro_batch=micro, grad_accum=found.fixed_grad_accum, dp=dp)
        assert again.consistent
    for degree in found.possible_dp:
        assert find_grad_accum(batch, micro, degree) is not None

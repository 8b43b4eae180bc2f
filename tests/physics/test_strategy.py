"""Strategies: what is legal, and why not."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.job.job import Lora
from suanpei.physics.strategy import (
    Recompute,
    Sharding,
    Strategies,
    Strategy,
    check_strategy,
    divisors,
    legal_mask,
    valid_pipeline,
    valid_tensor_parallel,
    warn_strategy,
)
from tests.planner.samples import cluster, make_architecture, make_job, recipes


def test_tensor_parallel_degrees_of_28_heads_and_4_key_value_heads() -> None:
    assert valid_tensor_parallel(28, 4, 8) == [1, 2, 4]


def test_tensor_parallel_degrees_of_52_heads() -> None:
    assert valid_tensor_parallel(52, 52, 8) == [1, 2, 4]


def test_tensor_parallel_degrees_reach_beyond_key_value_heads_that_divide_them() -> None:
    # 64 heads over 8 key-value heads in a node of 16: each of two ranks holds a copy of one key-value head
    assert valid_tensor_parallel(64, 8, 16) == [1, 2, 4, 8, 16]


def test_even_pipelines_of_46_layers() -> None:
    assert valid_pipeline(46) == [1, 2, 23, 46]


def test_uneven_pipeline_is_legal_and_said_so() -> None:
    job = make_job(make_architecture(layers=46))
    strategy = Strategy(pp=4, dp=8, micro_batch=1, grad_accum=4, sharding=Sharding.ZERO1)
    assert check_strategy(job, recipes()["megatron"], strategy) == ()
    (warning,) = warn_strategy(job, cluster(), strategy)
    # 46 layers over 4 stages: 12, 12, 11, 11
    assert "the fullest stage has 12" in str(warning)
    assert "1, 2, 23, 46" in str(warning)


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"tp": 16, "dp": 2}, "tp = 16 does not divide 8 attention heads"),
    ({"tp": 3}, "tp = 3 does not divide"),
    ({"sp": True}, "sequence parallelism needs tp above 1"),
    ({"pp": 8}, "pp = 8 is more than the 4 layers"),
    ({"pp": 1, "vpp": 2}, "vpp = 2 needs pp above 1"),
    ({"pp": 2, "vpp": 2, "dp": 32, "grad_accum": 1}, "grad_accum (1) a multiple of pp = 2"),
    ({"pp": 2, "vpp": 4, "dp": 8, "grad_accum": 4}, "a multiple of pp·vpp = 8"),
    ({"ep": 2, "dp": 2, "grad_accum": 16}, "no experts to spread"),
    ({"cp": 3}, "must be a multiple of 2·cp = 6"),
    ({"grad_accum": 31}, "31 sequences, the global batch is 32"),
    ({"sharding": Sharding.ZERO3}, "megatron does not offer sharding zero3"),
    ({"dp": 0}, "every degree must be at least 1, got dp = 0"),
]


@pytest.mark.parametrize(("knobs", "words"), BROKEN, ids=[words for _, words in BROKEN])
def test_each_broken_rule_is_named(knobs: dict[str, Any], words: str) -> None:
    strategy = Strategy(**({"micro_batch": 1, "grad_accum": 32, "sharding": Sharding.ZERO1} | knobs))
    said = [str(message) for message in check_strategy(make_job(), recipes()["megatron"], strategy)]
    assert any(words in sentence for sentence in said), said


def test_a_legal_strategy_breaks_no_rule() -> None:
    strategy = Strategy(tp=2, sp=True, pp=2, vpp=2, cp=2, dp=4, sharding=Sharding.ZERO1, micro_batch=2, grad_accum=4)
    assert check_strategy(make_job(), recipes()["megatron"], strategy) == ()


def test_the_tensor_rule_says_nothing_of_feed_forward_width_that_divides() -> None:
    job = make_job(make_architecture(heads=8, kv_heads=8, ffn=1500))
    said = check_strategy(job, recipes()["megatron"], Strategy(tp=8, grad_accum=32))
    assert [str(message) for message in said] == ["tp = 8 does not divide the feed-forward width 1500"]


def test_axes_that_a_recipe_lacks_are_named_together() -> None:
    said = check_strategy(make_job(), recipes()["ddp"], Strategy(tp=2, pp=2, grad_accum=32))
    assert "recipe ddp does not offer tp, pp; it offers dp" in [str(message) for message in said]


@pytest.mark.parametrize(
    ("ep", "etp", "legal"), [(4, 1, True), (8, 2, True), (3, 1, False), (8, 4, False), (16, 1, False)]
)
def test_expert_degrees(ep: int, etp: int, *, legal: bool) -> None:
    job = make_job(make_architecture(experts=8))
    strategy = Strategy(tp=2, ep=ep, etp=etp, dp=8, grad_accum=4, sharding=Sharding.ZERO1)
    # 8 experts; tp · cp · dp = 16, so ep 8 with etp 2 just fits; etp 4 is neither 1 nor tp
    assert (check_strategy(job, recipes()["megatron"], strategy) == ()) is legal


def test_a_batch_in_tokens_may_be_a_tenth_off() -> None:
    job = make_job(batch_is_exact=False, global_batch_seqs=100)
    megatron = recipes()["megatron"]
    assert check_strategy(job, megatron, Strategy(grad_accum=110)) == ()
    assert check_strategy(job, megatron, Strategy(grad_accum=90)) == ()
    assert check_strategy(job, megatron, Strategy(grad_accum=111)) != ()


def test_the_consistency_of_a_batch_over_seven_ranks() -> None:
    # 2 · 18 · 7 = 252, not 256; over 8 ranks 2 · 16 · 8 is
    job = make_job(global_batch_seqs=256)
    deepspeed = recipes()["deepspeed"]
    seven = Strategy(dp=7, micro_batch=2, grad_accum=18, sharding=Sharding.ZERO3)
    eight = Strategy(dp=8, micro_batch=2, grad_accum=16, sharding=Sharding.ZERO3)
    assert check_strategy(job, deepspeed, seven) != ()
    assert check_strategy(job, deepspeed, eight) == ()


def test_a_quantised_base_is_not_cut() -> None:
    job = make_job(method="qlora", lora=Lora(), base_storage="nf4")
    said = check_strategy(job, recipes()["fsdp"], Strategy(tp=2, grad_accum=32, sharding=Sharding.ZERO3))
    assert any("a quantised base is not cut" in str(message) for message in said)


def test_tensor_parallelism_beyond_the_domain_is_warned_of() -> None:
    job = make_job(make_architecture(heads=16, kv_heads=16))
    strategy = Strategy(tp=16, dp=1, grad_accum=32)
    assert check_strategy(job, recipes()["megatron"], strategy) == ()
    assert "reaches beyond the 8 accelerators" in str(warn_strategy(job, cluster(), strategy)[0])


@settings(max_examples=60, deadline=None)
@given(
    experts=st.sampled_from([0, 4]),
    recipe=st.sampled_from(["megatron", "fsdp", "deepspeed", "ddp"]),
    exact=st.booleans(),
    rows=st.lists(
        st.builds(
            Strategy,
            tp=st.sampled_from([1, 2, 3, 4, 8, 16]),
            sp=st.booleans(),
            pp=st.sampled_from([1, 2, 3, 4, 5]),
            vpp=st.sampled_from([1, 2]),
            cp=st.sampled_from([1, 2, 3]),
            ep=st.sampled_from([1, 2, 4]),
            etp=st.sampled_from([1, 2]),
            dp=st.sampled_from([1, 2, 3, 4]),
            sharding=st.sampled_from(list(Sharding)),
            recompute=st.sampled_from(list(Recompute)),
            micro_batch=st.sampled_from([1, 2, 4]),
            grad_accum=st.sampled_from([1, 4, 8, 16, 32]),
        ),
        min_size=1,
        max_size=30,
    ),
)
def test_the_mask_agrees_with_the_explanation(experts: int, recipe: str, exact: bool, rows: list[Strategy]) -> None:
    job = make_job(make_architecture(experts=experts), batch_is_exact=exact)
    mask = np.broadcast_to(legal_mask(job, recipes()[recipe], Strategies.of(rows)), len(rows))
    assert mask.tolist() == [check_strategy(job, recipes()[recipe], row) == () for row in rows]


def test_the_mask_broadcasts_over_an_open_mesh() -> None:
    job, recipe = make_job(), recipes()["megatron"]
    degrees, stages = [1, 2, 3, 4, 8], [1, 2, 3, 4]
    rows = [
        Strategy(tp=tp, pp=pp, grad_accum=32, sharding=Sharding.ZERO1) for tp, pp in itertools.product(degrees, stages)
    ]
    one = np.ones((1, 1), dtype=np.int64)
    mesh = Strategies(
        **{
            **dict.fromkeys(("vpp", "cp", "ep", "etp", "dp", "sharding", "micro_batch"), one),
            "sp": 0 * one,
            "recompute": 0 * one,
            "grad_accum": 32 * one,
            "tp": np.array(degrees)[:, None],
            "pp": np.array(stages)[None, :],
        }
    )
    assert legal_mask(job, recipe, mesh).ravel().tolist() == legal_mask(job, recipe, Strategies.of(rows)).tolist()


@given(st.integers(1, 5000))
def test_divisors(number: int) -> None:
    assert divisors(number) == [candidate for candidate in range(1, number + 1) if number % candidate == 0]

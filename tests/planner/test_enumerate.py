"""The enumeration equals brute force, and counts are the ones worth looking at."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.physics.strategy import Recompute, Sharding, Strategies, Strategy, divisors, legal_mask
from suanpei.planner.enumerate import FULL, PRACTICAL, choose_counts, enumerate_strategies, iterate_strategies
from tests.planner.samples import cluster, make_architecture, make_job, recipes

if TYPE_CHECKING:
    from suanpei.physics.recipe import Recipe


def as_set(strategies: Strategies) -> set[Strategy]:
    return {strategies.row(index) for index in range(len(strategies))}


def is_legal(row: Strategy, recipe: Recipe, layers: int, experts: int, seq_len: int) -> bool:
    """The rules again, written for one strategy: 8 heads, 4 key-value heads, a width of 1,536."""
    used = {axis for axis in ("tp", "pp", "vpp", "cp", "ep") if getattr(row, axis) > 1} | ({"sp"} if row.sp else set())
    return (
        used <= set(recipe.axes)
        and row.sharding in recipe.shardings
        and 8 % row.tp == 0
        and not (row.sp and (row.tp == 1 or seq_len % (row.tp * row.cp)))
        and (row.cp == 1 or seq_len % (2 * row.cp) == 0)
        and (row.vpp == 1 or (row.pp > 1 and layers % (row.pp * row.vpp) == 0 and row.grad_accum % row.pp == 0))
        and (
            (experts % row.ep == 0 and row.tp * row.cp * row.dp % (row.ep * row.etp) == 0)
            if experts
            else row.ep == row.etp == 1
        )
    )


@settings(max_examples=15, deadline=None)
@given(
    gpus=st.sampled_from([1, 2, 4, 6, 8, 12]),
    recipe=st.sampled_from(["megatron", "fsdp", "deepspeed", "ddp"]),
    experts=st.sampled_from([0, 4]),
    batch=st.sampled_from([8, 12]),
)
def test_the_full_space_equals_brute_force(gpus: int, recipe: str, experts: int, batch: int) -> None:
    """Every combination of divisors, filtered by the rules above, is the full space."""
    job = make_job(make_architecture(layers=6, experts=experts), seq_len=64, global_batch_seqs=batch)
    rules = recipes()[recipe]
    expected = set()
    for tp, cp, pp, dp in itertools.product(divisors(gpus), divisors(gpus), divisors(6), divisors(gpus)):
        if tp * cp * pp * dp != gpus or cp & (cp - 1):
            continue
        for vpp, ep, etp, sp, sharding, micro in itertools.product(
            divisors(6), divisors(experts or 1), {1, tp}, (False, True), Sharding, divisors(batch)
        ):
            if batch % (micro * dp):
                continue
            row = Strategy(
                tp=tp, sp=sp, pp=pp, vpp=vpp, cp=cp, ep=ep, etp=etp, dp=dp, sharding=sharding, micro_batch=micro,
                grad_accum=batch // (micro * dp),
            )  # fmt: skip
            if is_legal(row, rules, 6, experts, 64):
                expected |= {replace(row, recompute=mode) for mode in Recompute}
    found = enumerate_strategies(job, cluster(), rules, gpus, FULL)
    assert len(as_set(found)) == len(found)
    assert as_set(found) == expected


@pytest.mark.parametrize("recipe", ["megatron", "fsdp", "deepspeed", "ddp"])
@pytest.mark.parametrize("experts", [0, 8])
def test_practical_strategies_are_legal_use_all_cards_and_stand_once(recipe: str, experts: int) -> None:
    job = make_job(make_architecture(experts=experts), batch_is_exact=False, global_batch_seqs=100)
    for gpus in (1, 24, 64):
        found = enumerate_strategies(job, cluster(), recipes()[recipe], gpus)
        assert all(count == gpus for count in found.gpus)
        rows = as_set(found)
        assert len(rows) == len(found)
        assert np.all(legal_mask(job, recipes()[recipe], found))
        assert all(abs(row.global_batch_seqs - 100) <= 10 for row in rows)
        assert all(row.tp <= 8 for row in rows)


def test_practical_strategies_are_among_all() -> None:
    job = make_job(make_architecture(layers=8))
    megatron = recipes()["megatron"]
    practical, full = (as_set(enumerate_strategies(job, cluster(), megatron, 32, space)) for space in (PRACTICAL, FULL))
    assert practical < full


def test_sequence_parallelism_comes_with_tensor_parallelism_and_states_are_sharded() -> None:
    found = as_set(enumerate_strategies(make_job(), cluster(), recipes()["megatron"], 16))
    assert found
    assert all(row.sp == (row.tp > 1) for row in found)
    assert all((row.sharding is Sharding.ZERO1) == (row.dp * row.cp > 1) for row in found)


def test_uneven_stages_are_considered_where_they_waste_little() -> None:
    # 61 layers: 1 and 61 are even; 16 stages of at most 4 hold 64, 5 % more; 32 stages of 2 hold 64 too
    job = make_job(make_architecture(layers=61), global_batch_seqs=64)
    found = enumerate_strategies(job, cluster(), recipes()["megatron"], 64)
    assert set(found.pp.tolist()) == {1, 2, 4, 8, 16, 32}


def test_long_sequences_are_cut_by_context_parallelism() -> None:
    job = make_job(seq_len=32_768, global_batch_seqs=8)
    assert set(enumerate_strategies(job, cluster(), recipes()["megatron"], 8).cp.tolist()) == {1, 2, 4}


def test_blocks_are_bounded_and_ascend() -> None:
    job, counts = make_job(), (8, 16, 32)
    blocks = list(iterate_strategies(job, cluster(), recipes()["megatron"], counts, rows=50))
    assert max(len(block) for block in blocks) <= 50
    gpus = [count for block in blocks for count in block.gpus.tolist()]
    assert gpus == sorted(gpus)
    assert set(gpus) == set(counts)
    alone = sum(len(enumerate_strategies(job, cluster(), recipes()["megatron"], count)) for count in counts)
    assert len(gpus) == alone


def test_the_space_grows_with_divisors_not_with_cards() -> None:
    # 16,384 = 2^14 has 15 divisors, 16,411 is prime: one layout per tp, cp and pp that divide it
    job = make_job(make_architecture(layers=4), global_batch_seqs=2**14 * 4)
    fsdp = recipes()["fsdp"]
    many = len(enumerate_strategies(job, cluster(), fsdp, 2**14))
    assert many < 20 * len(enumerate_strategies(job, cluster(), fsdp, 8))
    assert len(enumerate_strategies(job, cluster(), fsdp, 16_411)) == 0


def test_counts_inside_a_node_and_beyond() -> None:
    assert choose_counts(1, 8, 8) == [1, 2, 4, 8]
    assert choose_counts(8, 1024, 8) == [
        *range(8, 65, 8), 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024,
    ]  # fmt: skip
    assert choose_counts(1, 16, 4) == [1, 2, 4, 8, 12, 16]
    assert choose_counts(100, 200, 8, named=[104]) == [104, 112, 128, 160, 192]
    assert choose_counts(3, 3, 8, named=[3]) == [3]


@given(st.sampled_from([1, 2, 4, 8, 16]), st.integers(3, 12))
def test_counts_have_at_least_four_per_doubling_of_whole_nodes(node: int, power: int) -> None:
    counts = choose_counts(1, 2**14, node)
    nodes = [count // node for count in counts if count >= node]
    assert all(count % node == 0 for count in counts if count > node)
    low = 2**power
    if 2 * low * node <= 2**14:
        assert len([count for count in nodes if low <= count < 2 * low]) >= 4

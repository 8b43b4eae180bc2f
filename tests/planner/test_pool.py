"""What clusters share is what each would have evaluated alone."""

from __future__ import annotations

import numpy as np
import pytest

from suanpei.physics.evaluate import evaluate
from suanpei.physics.grid import Grid
from suanpei.physics.workload import build_workload
from suanpei.planner import pool
from suanpei.planner.enumerate import PRACTICAL
from suanpei.planner.pool import CandidatePool
from tests.planner.samples import calibration, cluster, make_architecture, make_job, recipes

COUNTS = (8, 16, 24)


@pytest.mark.parametrize("experts", [0, 8])
@pytest.mark.parametrize("name", ["megatron", "fsdp"])
def test_the_shared_memory_is_the_full_evaluations(name: str, experts: int) -> None:
    job = make_job(make_architecture(layers=6, experts=experts), global_batch_seqs=96)
    candidates = CandidatePool(build_workload(job), calibration(), PRACTICAL)
    for machine in (cluster("A100-SXM4-80GB"), cluster("H100-SXM5-80GB")):
        for block in candidates.blocks(machine, recipes()[name], COUNTS):
            alone = evaluate(job, machine, recipes()[name], calibration(), block.strategies)
            np.testing.assert_array_equal(block.memory.device_bytes, alone.device_bytes)
            np.testing.assert_array_equal(block.memory.reserved_bytes, alone.reserved_bytes)
            assert len(block.strategies) > 100


@pytest.mark.parametrize("experts", [0, 8])
def test_a_part_of_a_shared_grid_gives_the_same_times(experts: int) -> None:
    job = make_job(make_architecture(layers=6, experts=experts), global_batch_seqs=96)
    rules, machine = recipes()["megatron"], cluster()
    (block,) = CandidatePool(build_workload(job), calibration(), PRACTICAL).blocks(machine, rules, COUNTS)
    rows = np.flatnonzero(np.arange(len(block.strategies)) % 3 == 1)
    part = block.grid.take(rows)
    shared = evaluate(job, machine, rules, calibration(), part.strategies, block.memory.take(rows), part)
    alone = evaluate(job, machine, rules, calibration(), block.strategies.take(rows))
    np.testing.assert_allclose(shared.step_s, alone.step_s, rtol=1e-13)
    np.testing.assert_allclose(shared.exposed_comm_s, alone.exposed_comm_s, rtol=1e-12)
    np.testing.assert_array_equal(shared.fit, alone.fit)
    assert len(part.strategies) == len(rows)


def test_clusters_of_one_domain_share_and_others_do_not() -> None:
    job = make_job()
    candidates = CandidatePool(build_workload(job), calibration(), PRACTICAL)
    rules = recipes()["megatron"]
    first = list(candidates.blocks(cluster("A100-SXM4-80GB"), rules, COUNTS))
    assert all(one is other for one, other in zip(first, candidates.blocks(cluster(), rules, COUNTS), strict=True))
    assert next(iter(candidates.blocks(cluster(), rules, (8,)))) is not first[0]


def test_a_pool_too_large_to_keep_is_enumerated_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "KEPT_ROWS", 10)
    candidates = CandidatePool(build_workload(make_job()), calibration(), PRACTICAL)
    rules = recipes()["megatron"]
    first, again = (list(candidates.blocks(cluster(), rules, COUNTS)) for _ in range(2))
    assert first[0] is not again[0]
    np.testing.assert_array_equal(first[0].memory.device_bytes, again[0].memory.device_bytes)


def test_sparse_and_dense_combinations_give_the_same_columns() -> None:
    job = make_job(make_architecture(layers=6), global_batch_seqs=96)
    (block,) = CandidatePool(build_workload(job), calibration(), PRACTICAL).blocks(
        cluster(), recipes()["megatron"], COUNTS
    )

    def term(tp: np.ndarray, pp: np.ndarray, dp: np.ndarray) -> dict[str, np.ndarray]:
        return {"sum": tp + 100.0 * pp + 10_000.0 * dp}

    few = block.strategies.take(np.arange(0, len(block.strategies), len(block.strategies) // 5))
    for strategies in (block.strategies, few):
        column = Grid(strategies).tabulate(term, ("tp", "pp", "dp")).gather(slice(0, len(strategies)))["sum"]
        assert column.tolist() == (strategies.tp + 100.0 * strategies.pp + 10_000.0 * strategies.dp).tolist()

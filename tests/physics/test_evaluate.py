"""Whole estimates: parts sum, one equals many, and the laws that any estimate must keep."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.physics.evaluate import Estimates, evaluate
from suanpei.physics.strategy import Recompute, Sharding, Strategies, Strategy
from suanpei.physics.uncertainty import Fit
from tests.physics.time_samples import CALIBRATION, RECIPES, cluster, job, lora_job, megatron_rows, sharded_rows, sparse

if TYPE_CHECKING:
    from suanpei.machine.cluster import Cluster


def run(rows: Strategies, on: Cluster | None = None, recipe: str = "megatron", **changes: object) -> Estimates:
    return evaluate(job(**changes), on or cluster(), RECIPES[recipe], CALIBRATION, rows)  # type: ignore[arg-type]


@settings(max_examples=40)
@given(rows=megatron_rows())
def test_parts_sum_and_one_equals_many(rows: Strategies) -> None:
    many = run(rows)
    for index in range(len(rows)):
        explained = many.row(index)
        alone = run(rows.take(np.array([index])))
        assert explained.step.seconds == pytest.approx(many.step_s[index], rel=1e-12)
        assert explained.memory.device_bytes == pytest.approx(many.device_bytes[index], rel=1e-12)
        assert alone.step_s[0] == pytest.approx(many.step_s[index], rel=1e-12)
        assert alone.device_bytes[0] == pytest.approx(many.device_bytes[index], rel=1e-12)
        assert sum(explained.step.parts.values()) == pytest.approx(explained.step.seconds, rel=1e-9)
        assert sum(explained.memory.parts.values()) == pytest.approx(explained.memory.device_bytes, rel=1e-9)


def test_parts_sum_for_sharded_sparse_and_adapter_jobs() -> None:
    experts = Strategy(tp=2, sp=True, ep=4, dp=8, sharding=Sharding.ZERO1, micro_batch=2, grad_accum=4)
    cases = [
        evaluate(job(), cluster(), RECIPES["fsdp"], CALIBRATION, sharded_rows()),
        evaluate(job(sparse()), cluster(), RECIPES["megatron"], CALIBRATION, Strategies.of([experts])),
        evaluate(lora_job(), cluster(), RECIPES["fsdp"], CALIBRATION, sharded_rows()),
    ]
    for estimates in cases:
        for index in range(len(estimates)):
            explained = estimates.row(index)
            assert sum(explained.step.parts.values()) == pytest.approx(estimates.step_s[index], rel=1e-9)
            assert sum(explained.memory.parts.values()) == pytest.approx(estimates.device_bytes[index], rel=1e-9)


def _faster(on: Cluster, what: str) -> Cluster:
    card = on.accelerator
    if what == "peak":
        return replace(
            on,
            accelerator=replace(
                card, peak_flops_per_s={key: 1.5 * value for key, value in card.peak_flops_per_s.items()}
            ),
        )
    if what == "memory":
        return replace(on, accelerator=replace(card, memory_bytes_per_s=1.5 * card.memory_bytes_per_s))
    link = on.scale_up if what == "up" else on.scale_out
    better = replace(
        link,
        achievable_bytes_per_s=1.5 * link.achievable_bytes_per_s,
        all_reduce_bytes_per_s=1.5 * link.all_reduce_bytes_per_s,
    )
    return replace(on, scale_up=better) if what == "up" else replace(on, scale_out=better)


@settings(max_examples=25)
@given(rows=megatron_rows(), what=st.sampled_from(["peak", "memory", "up", "out"]))
def test_a_better_machine_never_slows_a_step(rows: Strategies, what: str) -> None:
    assert np.all(run(rows, _faster(cluster(), what)).step_s <= run(rows).step_s * (1 + 1e-12))


@pytest.mark.parametrize("what", ["peak", "memory", "up", "out"])
def test_a_better_machine_never_slows_a_sharded_step(what: str) -> None:
    rows = sharded_rows()
    better = run(rows, _faster(cluster(), what), recipe="fsdp")
    assert np.all(better.step_s <= run(rows, recipe="fsdp").step_s * (1 + 1e-12))


@settings(max_examples=25)
@given(rows=megatron_rows(), share=st.floats(0.2, 1.0))
def test_more_memory_never_shrinks_the_feasible_set(rows: Strategies, share: float) -> None:
    on = cluster()
    small = replace(on, accelerator=replace(on.accelerator, memory_bytes=on.accelerator.memory_bytes * share))
    assert np.all(run(rows).fit <= run(rows, small).fit)


@pytest.mark.parametrize("recipe", ["deepspeed", "fsdp"])
def test_states_between_steps_never_grow_with_sharding(recipe: str) -> None:
    totals = []
    for sharding in RECIPES[recipe].shardings:
        row = Strategies.of([Strategy(dp=16, sharding=sharding, micro_batch=1, grad_accum=4)])
        parts = evaluate(job(), cluster(), RECIPES[recipe], CALIBRATION, row).row(0).memory.parts
        totals.append((sharding, parts["weights"] + parts["gradients"] + parts["optimizer_states"]))
    amounts = [amount for _, amount in sorted(totals)]
    assert amounts == sorted(amounts, reverse=True)


def test_recomputation_costs_time_and_saves_memory() -> None:
    rows = Strategies.of(
        [Strategy(dp=16, sharding=Sharding.ZERO1, micro_batch=4, grad_accum=1, recompute=level) for level in Recompute]
    )
    estimates = run(rows)
    assert list(np.argsort(estimates.step_s)) == [0, 1, 2]
    assert estimates.device_bytes[0] >= estimates.device_bytes[1] > estimates.device_bytes[2]
    assert estimates.row(2).hfu > estimates.row(2).mfu == pytest.approx(estimates.row(2).mfu)
    assert estimates.row(0).hfu == estimates.row(0).mfu


def test_mfu_by_hand() -> None:
    explained = run(Strategies.of([Strategy(dp=16, sharding=Sharding.ZERO1, micro_batch=4, grad_accum=1)])).row(0)
    # per layer: q, k, v, o and three MLP products; attention over the unmasked half; the output layer
    layer = 2 * (1024 * (1024 + 2 * 256) + 1024 * 1024 + 3 * 1024 * 4096)
    attention = 2 * (2049 / 2) * 16 * 128
    per_token = 3 * (8 * (layer + attention) + 2 * 1024 * 32_000)
    rate = 64 * 2048 * per_token / explained.step.seconds / 16
    assert explained.mfu == pytest.approx(rate / 312e12, rel=1e-9)
    assert explained.mfu_full_attention > explained.mfu


def test_a_precision_that_the_card_lacks_is_refused_by_name() -> None:
    rows = Strategies.of([Strategy(dp=8, micro_batch=1, grad_accum=8)])
    with pytest.raises(InputError, match="fp8"):
        run(rows, precision="fp8")


def test_a_host_without_room_does_not_fit() -> None:
    rows = Strategies.of([Strategy(dp=8, sharding=Sharding.ZERO3, micro_batch=1, grad_accum=8)])
    offloaded = {"offload": frozenset({"optimizer"})}
    roomy = run(rows, replace(cluster(), host_memory_bytes=1e12), recipe="deepspeed", **offloaded)
    tight = run(rows, replace(cluster(), host_memory_bytes=1e9), recipe="deepspeed", **offloaded)
    assert (int(roomy.fit[0]), int(tight.fit[0])) == (Fit.FITS, Fit.DOES_NOT_FIT)
    assert roomy.host_bytes[0] > 1e9

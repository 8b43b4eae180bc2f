"""The bound never drops what the full evaluation would keep."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from suanpei.job.job import Lora
from suanpei.physics.evaluate import evaluate
from suanpei.physics.rates import resolve_rates
from suanpei.physics.strategy import Strategies
from suanpei.physics.workload import build_workload
from suanpei.planner.bounds import bound_step_s
from suanpei.planner.enumerate import FULL, enumerate_strategies
from tests.planner.samples import calibration, cluster, make_architecture, make_job, recipes

JOBS: dict[str, dict[str, Any]] = {
    "pretrain": {},
    "pure": {"precision": "bf16-pure"},
    "fp32": {"precision": "fp32"},
    "8-bit": {"optimizer": "adamw-8bit"},
    "adafactor": {"optimizer": "adafactor"},
    "muon": {"optimizer": "muon"},
    "unfused": {"flash_attention": False},
    "fused-loss": {"loss": "fused"},
    "in-backward": {"optimizer_in_backward": True},
    "offload": {"offload": frozenset({"optimizer"})},
    "offload-all": {"offload": frozenset({"optimizer", "parameters"})},
    "capacity": {"capacity_factor": 0.5},
    "lora": {"method": "lora", "lora": Lora()},
    "qlora": {"method": "qlora", "lora": Lora(), "base_storage": "nf4"},
}


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(sorted(JOBS)),
    recipe=st.sampled_from(["megatron", "fsdp", "deepspeed", "ddp"]),
    accelerator=st.sampled_from(["A100-SXM4-80GB", "RTX-4090", "H100-SXM5-80GB", "MI300X"]),
    experts=st.sampled_from([0, 8]),
    layers=st.integers(3, 9),
    width=st.sampled_from([(512, 8, 4), (1024, 16, 2), (2048, 16, 16)]),
    seq_len=st.sampled_from([512, 4096, 16_384]),
    gpus=st.sampled_from([1, 8, 24, 64]),
)
def test_bounds_are_below_the_full_evaluation(
    kind: str,
    recipe: str,
    accelerator: str,
    experts: int,
    layers: int,
    width: tuple[int, int, int],
    seq_len: int,
    gpus: int,
) -> None:
    hidden, heads, kv_heads = width
    architecture = make_architecture(
        layers=layers, hidden=hidden, heads=heads, kv_heads=kv_heads, ffn=3 * hidden, experts=experts
    )
    job = make_job(architecture, seq_len=seq_len, batch_is_exact=False, global_batch_seqs=100, **JOBS[kind])
    rules, machine = recipes()[recipe], cluster(accelerator)
    candidates = enumerate_strategies(job, machine, rules, gpus)
    if not len(candidates):
        return
    estimates = evaluate(job, machine, rules, calibration(), candidates)
    work = build_workload(job)
    rates = resolve_rates(job, machine, rules, calibration())
    assert np.all(bound_step_s(work, rates, rules, candidates) <= estimates.step_s * (1 + 1e-12))


def test_bounds_hold_over_the_full_space() -> None:
    job = make_job(make_architecture(layers=6, experts=4), global_batch_seqs=24)
    rules, machine = recipes()["megatron"], cluster()
    candidates = enumerate_strategies(job, machine, rules, 16, FULL)
    estimates = evaluate(job, machine, rules, calibration(), candidates)
    work = build_workload(job)
    rates = resolve_rates(job, machine, rules, calibration())
    assert len(candidates) > 1000
    assert np.all(bound_step_s(work, rates, rules, candidates) <= estimates.step_s)


def test_the_time_bound_is_close_for_large_shapes() -> None:
    # a bound that drops nothing is worth nothing: an 8-billion-like layer on one card is bound within a tenth
    architecture = make_architecture(layers=4, hidden=4096, heads=32, kv_heads=8, ffn=14_336)
    job = make_job(architecture, seq_len=8192)
    rules, machine = recipes()["megatron"], cluster()
    one = Strategies.of([enumerate_strategies(job, machine, rules, 1).row(0)])
    rates = resolve_rates(job, machine, rules, calibration())
    bound = bound_step_s(build_workload(job), rates, rules, one)
    assert bound[0] > 0.9 * evaluate(job, machine, rules, calibration(), one).step_s[0]

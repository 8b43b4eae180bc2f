"""The rule of thumb by hand arithmetic, its laws, and the reasons why an estimate differs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.job.bundled import load_model
from suanpei.job.job import Job, Lora
from suanpei.machine.cluster import build_cluster
from suanpei.machine.names import resolve_accelerator
from suanpei.physics.evaluate import explain
from suanpei.physics.rule_of_thumb import (
    apply_rule,
    explain_difference,
    flops_6nd,
    gpus_for_state,
    gpus_for_time,
    rate_for_time,
    time_at_rate_s,
    tokens_in_time,
    training_time_s,
)
from suanpei.physics.run import RunEstimate
from suanpei.physics.strategy import Recompute, Sharding, Strategies, Strategy
from suanpei.physics.workload import build_workload
from suanpei.units import DAY_S
from suanpei.verbs.inputs import load_inputs

if TYPE_CHECKING:
    from suanpei.physics.estimate import Estimate
    from suanpei.physics.workload import Workload

A100 = 312e12
POSITIVE = st.floats(1e-3, 1e6)


def test_seven_billion_parameters_on_a_trillion_tokens() -> None:
    # 6 · 7e9 · 1e12 = 4.2e22; 8 A100 at 40 %: 4.2e22 / (8 · 312e12 · 0.4) = 4.2067e7 s = 486.9 d
    flops = flops_6nd(7e9, 1e12)

    assert flops == 4.2e22
    assert training_time_s(flops, 8, A100) / DAY_S == pytest.approx(486.9, rel=1e-3)
    assert gpus_for_time(flops, 3 * DAY_S, A100) == 1299
    assert gpus_for_time(flops, 3 * DAY_S, A100, gpus_per_node=8) == 1304
    assert tokens_in_time(7e9, 8, 3 * DAY_S, A100) == pytest.approx(6.16e9, rel=1e-3)


def test_recomputation_adds_a_forward_pass() -> None:
    assert flops_6nd(1e9, 1e9, recompute=True) / flops_6nd(1e9, 1e9) == pytest.approx(4 / 3)


def test_a_whole_number_of_cards_is_not_rounded_up_by_the_last_bit() -> None:
    # 0.1 · 3 / 0.1 is 3.0000000000000004
    assert gpus_for_time(0.1 * 3, 1.0, 0.1, 1.0) == 3
    assert gpus_for_state(0.1 * 3, 0.1) == 3
    assert gpus_for_state(1.0, 80e9) == 1


@given(flops=st.floats(1e15, 1e26), seconds=st.floats(1.0, 1e8), utilisation=st.floats(0.01, 1.0))
def test_the_cards_counted_finish_in_time_and_one_less_does_not(
    flops: float, seconds: float, utilisation: float
) -> None:
    gpus = gpus_for_time(flops, seconds, A100, utilisation)

    assert training_time_s(flops, gpus, A100, utilisation) <= seconds * (1 + 1e-9)
    if gpus > 1:
        assert training_time_s(flops, gpus - 1, A100, utilisation) > seconds * (1 - 1e-9)


@given(tokens=st.floats(1e6, 1e13), gpus=st.integers(1, 4096), rate=POSITIVE)
def test_rate_and_time_are_inverse(tokens: float, gpus: int, rate: float) -> None:
    assert rate_for_time(tokens, gpus, time_at_rate_s(tokens, gpus, rate)) == pytest.approx(rate)


@pytest.mark.parametrize(("gpus", "peak", "utilisation"), [(0, A100, 0.4), (8, 0.0, 0.4), (8, A100, 0.0)])
def test_what_must_be_positive_is_refused_by_name(gpus: int, peak: float, utilisation: float) -> None:
    with pytest.raises(InputError, match="must be above 0"):
        training_time_s(1e20, gpus, peak, utilisation)


def _case(
    model: str, *, recompute: Recompute = Recompute.NONE, seq_len: int = 4096, **settings: object
) -> tuple[Workload, Estimate]:
    inputs = load_inputs(None)
    values: dict[str, object] = {"method": "pretrain", **settings}
    job = Job(
        architecture=load_model(inputs.catalogue.table("models"), model),
        seq_len=seq_len,
        global_batch_seqs=64,
        tokens=20e9,
        **values,  # type: ignore[arg-type]
    )
    card = resolve_accelerator(inputs.catalogue, "A800-80G-SXM").accelerator
    strategy = Strategy(dp=64, sharding=Sharding.ZERO3, recompute=recompute)
    cluster = build_cluster(inputs.catalogue, card)
    return build_workload(job), explain(
        job, cluster, inputs.recipe("fsdp"), inputs.calibration, Strategies.of([strategy])
    )


def _run(estimate: Estimate, tokens: float, *, setup_s: float = 0.0) -> RunEstimate:
    steps_s = tokens / estimate.tokens_per_step * estimate.step.seconds
    days = (steps_s + setup_s) / DAY_S
    parts = {"run_steps": steps_s, "run_checkpoints": 0.0, "run_lost_work": 0.0, "run_recovery": 0.0}
    return RunEstimate(
        days=days,
        low_days=days,
        high_days=days,
        goodput=1.0,
        deadline_probability=None,
        steps=1,
        checkpoint_interval_s=1.0,
        checkpoint_blocking_s=0.0,
        expected_stops=0.0,
        parts={**parts, "run_setup": setup_s},
    )


def _said(work: Workload, estimate: Estimate, run: RunEstimate | None = None) -> str:
    return "\n".join(str(message) for message in explain_difference(work, estimate, run, A100))


def test_the_three_factors_multiply_to_the_whole_difference() -> None:
    work, estimate = _case("Llama-3-8B")
    run = _run(estimate, 20e9, setup_s=3 * 3600.0)

    rule = apply_rule(work, 20e9, estimate.gpus, A100)
    flops = work.model_flops_per_token() / flops_6nd(work.job.architecture.active_parameters, 1.0)
    calendar = run.days * DAY_S / run.parts["run_steps"]

    assert run.days / rule.days_at_40_percent == pytest.approx(flops * 0.4 / estimate.mfu * calendar, rel=1e-6)
    first = str(explain_difference(work, estimate, run, A100)[0])
    assert f"{run.days / rule.days_at_40_percent:.2f} times" in first


def test_attention_is_told_by_its_share() -> None:
    # Llama-3-8B, causal half: 6 L h s / 6 N = 32 · 4096 · 32768 / 8.03e9 = 53 %; at 512 tokens 0.8 %, not told
    assert "attention over 32,768 tokens adds 53 %" in _said(*_case("Llama-3-8B", seq_len=32768))
    assert "attention" not in _said(*_case("Llama-3-8B", seq_len=512))


def test_embeddings_are_told_by_their_share() -> None:
    # the input embedding of 128,256 · 4096 = 0.525e9 of 8.03e9 parameters: 6.5 %, shown 7
    assert "6ND counts 7 % too much" in _said(*_case("Llama-3-8B"))


def test_a_mixture_is_told_by_its_active_parameters() -> None:
    assert "12.9B of 46.7B parameters" in _said(*_case("Mixtral-8x7B"))
    assert "each token passes" not in _said(*_case("Llama-3-8B"))


def test_a_frozen_base_is_told() -> None:
    # two products of three: 2/3 and the adapters
    assert "the base is frozen" in _said(*_case("Llama-3-8B", method="lora", lora=Lora()))
    assert "frozen" not in _said(*_case("Llama-3-8B"))


def test_recomputation_is_told_by_its_share() -> None:
    work, estimate = _case("Llama-3-8B", recompute=Recompute.FULL)
    share = round(100 * (estimate.hfu / estimate.mfu - 1))

    # a third of the layers' FLOPs; the output layer is not done again
    assert 25 <= share <= 34
    assert f"do {share} % more FLOPs" in _said(work, estimate)
    assert "recomputation" not in _said(*_case("Llama-3-8B"))


def test_the_utilisation_is_told_unless_it_is_forty_percent() -> None:
    work, estimate = _case("Llama-3-8B")

    assert "20 % of the dense peak, not 40 %: 2.00 times" in _said(work, replace(estimate, mfu=0.2))
    assert "dense peak" not in _said(work, replace(estimate, mfu=0.4, hfu=0.4))


def test_the_calendar_is_told_where_it_matters() -> None:
    work, estimate = _case("Llama-3-8B")

    assert "set-up takes 24 h" in _said(work, estimate, _run(estimate, 20e9, setup_s=86400.0))
    assert "set-up" not in _said(work, estimate, _run(estimate, 20e9))
    assert "set-up" not in _said(work, estimate)

"""The verb ``estimate``: what it returns, its JSON, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest

from suanpei.errors import InputError
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.estimate import EstimateRequest, estimate
from suanpei.verbs.job_request import JobRequest
from suanpei.verbs.schema import describe_schema
from suanpei.verbs.strategy_request import StrategyRequest
from tests.golden.plan_samples import FROZEN, estimated, too_large

ASKED = EstimateRequest(job=JobRequest(model="llama-3-8b"), gpu="A800", gpus="8", catalog=FROZEN)


@pytest.mark.parametrize("result", [estimated(), too_large()], ids=["fits", "does not fit"])
def test_the_json_is_what_the_schema_says(result: object) -> None:
    document = json.loads(json.dumps(to_envelope(result)))  # type: ignore[arg-type]  # a result
    jsonschema.Draft202012Validator(describe_schema("estimate")).validate(document)


def test_parts_sum_to_their_totals() -> None:
    for result in (estimated(), too_large()):
        memory, step = result.estimate.memory, result.estimate.step
        assert sum(memory.parts.values()) == pytest.approx(memory.device_bytes, rel=1e-9)
        assert sum(step.parts.values()) == pytest.approx(step.seconds, rel=1e-9)
    run = estimated().run
    assert run is not None
    assert sum(run.parts.values()) == pytest.approx(run.days * 86_400, rel=1e-9)


def test_the_strategy_given_is_the_one_estimated() -> None:
    asked = StrategyRequest(tp=4, pp=2, sharding="none", recompute="full", micro_batch=2, recipe="megatron")
    strategy = estimate(replace(ASKED, strategy=asked)).estimate.strategy
    assert (strategy.tp, strategy.pp, strategy.dp, strategy.micro_batch) == (4, 2, 1, 2)
    assert strategy.recompute.name == "FULL"


def test_a_measured_step_replaces_the_predicted_one() -> None:
    predicted = estimate(ASKED).estimate
    measured = estimate(replace(ASKED, measured_step="200s")).estimate
    assert measured.step.seconds == 200.0
    assert sum(measured.step.parts.values()) == pytest.approx(200.0)
    assert measured.mfu == pytest.approx(predicted.mfu * predicted.step.seconds / 200.0)
    # the noise between repeats is all that is left: nothing narrows it further
    assert measured.step.high_seconds / measured.step.low_seconds == pytest.approx(predicted.remedies[0].width)
    assert "measured by you" in str(measured.evidence[0])
    assert f"{200.0 / predicted.step.seconds:.2f}" in str(measured.evidence[1])
    assert measured.evidence[-1:] == tuple(line for line in predicted.evidence if str(line).startswith("memory"))
    assert measured.remedies == ()


def test_a_measured_step_outside_the_prediction_is_pointed_out() -> None:
    predicted = estimate(ASKED).estimate.step

    def says_outside(seconds: float) -> bool:
        evidence = estimate(replace(ASKED, measured_step=f"{seconds:.3f}s")).estimate.evidence
        return any("lies outside" in str(line) for line in evidence)

    assert says_outside(1.1 * predicted.high_seconds)
    assert not says_outside(0.99 * predicted.high_seconds)


def test_advice_that_a_fitting_configuration_gets_is_faster_and_fits() -> None:
    slow = estimate(
        replace(
            ASKED, strategy=StrategyRequest(tp=2, recompute="full", micro_batch=1, sharding="zero1", recipe="megatron")
        )
    )
    assert slow.advice
    assert slow.advice[0].step_change_fraction == min(item.step_change_fraction for item in slow.advice)
    assert all(item.step_change_fraction < -0.01 and item.verdict == "fits" for item in slow.advice)


def test_advice_for_what_does_not_fit_needs_less_memory() -> None:
    assert all(item.device_change_bytes < 0 for item in too_large().advice)
    assert too_large().advice[0].verdict == "fits"


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        (replace(ASKED, gpu=None), "gpu is missing"),
        (replace(ASKED, gpus=None), "gpus is missing"),
        (replace(ASKED, gpus="0"), "gpus"),
        (replace(ASKED, gpu="A801"), "accelerator A801 is unknown"),
        (replace(ASKED, gpu="A100"), "ambiguous"),
        (replace(ASKED, job=JobRequest(model="llama-3-8b", seq_len=9000)), "seq-len 9000 is longer"),
        (replace(ASKED, job=JobRequest(model="llama-3-8b", method="dpo")), "method dpo is not modelled"),
        (replace(ASKED, job=JobRequest(model="llama-3-8b", precision="fp8")), "has no fp8 peak"),
        (replace(ASKED, job=JobRequest(model="llama-3-8b", lora_rank=8)), "lora-rank only mean"),
        (replace(ASKED, strategy=StrategyRequest(tp=3)), "tp · pp · cp = 3 does not divide 8"),
        (replace(ASKED, strategy=StrategyRequest(tp=-1)), "tp must be at least 1"),
        (replace(ASKED, strategy=StrategyRequest(recipe="nemo")), "recipe takes one of"),
        (replace(ASKED, strategy=StrategyRequest(sharding="zero4")), "sharding takes one of"),
    ],
)
def test_bad_input_names_the_field(request_: EstimateRequest, line: str) -> None:
    with pytest.raises(InputError, match=line):
        estimate(request_)

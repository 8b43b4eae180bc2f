"""What would make a step time surer."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import pytest

from suanpei.physics.narrowing import list_remedies
from suanpei.physics.setting import Setting, describe_setting
from tests.physics.test_step_uncertainty import EVIDENCE
from tests.planner.samples import cluster, make_job

REPEATS = exp(2 * 1.6449 * 0.03)
"""High over low end of the noise between repeats."""


def setting(gpus: int) -> Setting:
    return describe_setting(make_job(), cluster(), "fsdp", gpus=gpus, micro_batch_seqs=2, step_s=1.0, compute_s=1.0)


def test_naming_an_assumed_network_is_weighed_against_measuring() -> None:
    measured = replace(
        EVIDENCE,
        generations=frozenset({"ampere"}),
        settings=frozenset({("A", cluster().accelerator.name, "fsdp", cluster().scale_out.technology)}),
        ranges={"hidden": (512, 8192), "gpus": (1, 512), "micro_batch_tokens": (2048, 32768)},
    )
    step, network = list_remedies(measured, setting(64), make_job(), cluster())
    assert "--measured-step" in str(step.action)
    assert step.width == pytest.approx(REPEATS, rel=1e-3)
    # named, card, recipe and network are all measured: ± 0.09
    assert f"assumed to be {cluster().scale_out.name}" in str(network.action)
    assert network.width == pytest.approx(exp(0.18))
    # within one node no network is assumed
    assert len(list_remedies(measured, setting(8), make_job(), cluster())) == 1


def test_what_does_not_narrow_is_not_listed() -> None:
    # B and A have the same residuals here and neither network was measured: naming it changes nothing
    (step,) = list_remedies(replace(EVIDENCE, settings=frozenset()), setting(64), make_job(), cluster())
    assert "--measured-step" in str(step.action)

"""The setting of a step: its class, its fabric, and the share of it that waits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from suanpei.physics.setting import classify_step, describe_setting
from tests.planner.samples import cluster, make_architecture, make_job


def test_classes_follow_the_validation_tables() -> None:
    known = replace(cluster(), fabric_is_assumed=False)
    assert classify_step(make_job(), known, 64) == "A"
    assert classify_step(make_job(), replace(known, fabric_is_assumed=True), 64) == "B"
    assert classify_step(make_job(), replace(known, fabric_is_assumed=True), 8) == "A"
    assert classify_step(make_job(), known, 64, is_complete=False) == "B"
    assert classify_step(make_job(make_architecture(experts=8)), known, 64) == "C"
    assert classify_step(make_job(), cluster("MI300X"), 8) == "C"
    assert classify_step(make_job(precision="fp8"), cluster("B200-SXM-180GB"), 8) == "C"


def test_a_setting_names_the_widest_link_that_somebody_stated() -> None:
    known = replace(cluster(), fabric_is_assumed=False)
    common = {"micro_batch_seqs": 4, "step_s": 10.0, "compute_s": 7.5}
    inside = describe_setting(make_job(), cluster(), "fsdp", gpus=8, **common)  # type: ignore[arg-type]
    assert inside.place == ("A", cluster().accelerator.name, "fsdp", "nvlink")
    assert inside.waiting_share == pytest.approx(0.25)
    # 4 sequences of 2,048 tokens
    assert (inside.hidden, inside.gpus, inside.micro_batch_tokens) == (512, 8, 8192)
    across = describe_setting(make_job(), known, "fsdp", gpus=16, **common)  # type: ignore[arg-type]
    assert across.place == ("A", cluster().accelerator.name, "fsdp", known.scale_out.technology)
    assumed = describe_setting(make_job(), cluster(), "fsdp", gpus=16, **common)  # type: ignore[arg-type]
    assert assumed.place == ("B", cluster().accelerator.name, "fsdp", "")


def test_work_beyond_the_step_waits_for_nothing() -> None:
    full = describe_setting(
        make_job(), cluster(), "fsdp", gpus=8, micro_batch_seqs=1, step_s=1.0, compute_s=1.02, error_class="C"
    )
    assert full.waiting_share == 0.0
    assert full.error_class == "C"

"""The text of an estimate: the verdict first, then every term with the place that explains it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from suanpei.messages import Message
from suanpei.physics.parts import PARTS
from suanpei.report.locale import translate
from suanpei.report.text.estimate import render_estimate
from suanpei.report.text.figures import say_gib
from suanpei.units import GIB_BYTES
from suanpei.verbs.launch_request import LaunchFindings
from tests.golden.plan_samples import estimated, print_at, too_large

if TYPE_CHECKING:
    from suanpei.report.locale import Language

LANGUAGES: list[Language] = ["en", "zh"]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("width", [72, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_console_and_nothing_is_cut_off(lang: Language, width: int) -> None:
    for result in (estimated(), too_large()):
        text = print_at(render_estimate(result, lang), width)
        assert max(cell_len(line) for line in text.splitlines()) <= width
        if width >= 80:
            assert "…" not in text


def test_the_verdict_stands_first_with_its_margin() -> None:
    memory = estimated().estimate.memory
    line = print_at(render_estimate(estimated(), "en"), 300).splitlines()[0]
    assert line.startswith(f"Fits: {say_gib(memory.device_bytes)} GiB (90%: {say_gib(memory.low_bytes)}–")
    assert f"{say_gib(memory.capacity_bytes - memory.high_bytes)} GiB to spare" in line
    failing = too_large().estimate.memory
    line = print_at(render_estimate(too_large(), "en"), 300).splitlines()[0]
    assert line.startswith("Does not fit")
    assert f"{say_gib(failing.device_bytes - failing.capacity_bytes)} GiB too much" in line
    assert "it would fail at the end of the forward pass" in line


def test_a_peak_at_risk_and_a_host_that_is_too_small_are_told_apart() -> None:
    result = estimated()
    memory = replace(
        result.estimate.memory, verdict="at_risk", high_bytes=90 * GIB_BYTES, capacity_bytes=80 * GIB_BYTES
    )
    risky = replace(result, estimate=replace(result.estimate, memory=memory))
    assert "At risk" in (line := print_at(render_estimate(risky, "en"), 300).splitlines()[0])
    assert "10.0 GiB too much at the high end" in line
    memory = replace(result.estimate.memory, verdict="does_not_fit", host_bytes=2048 * GIB_BYTES)
    hosted = replace(result, estimate=replace(result.estimate, memory=memory))
    assert "the host needs 2 TiB per machine" in print_at(render_estimate(hosted, "en"), 300).splitlines()[0]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_part_is_named_with_its_value_and_its_anchor(lang: Language) -> None:
    estimate = estimated().estimate
    lines = print_at(render_estimate(estimated(), lang), 120).splitlines()
    for key, size in estimate.memory.parts.items():
        if size < 0.001 * estimate.memory.capacity_bytes:
            continue
        line = next(line for line in lines if line.endswith(f"#{PARTS[key].anchor}"))
        assert translate(PARTS[key].label, lang) in line
        assert f"{size / GIB_BYTES:.2f}" in line
    for key, seconds in estimate.step.parts.items():
        if seconds > 0.001 * estimate.step.seconds:
            assert any(line.endswith(f"#{PARTS[key].anchor}") for line in lines), key


def test_three_definitions_of_utilisation_are_told_apart() -> None:
    estimate = estimated().estimate
    text = print_at(render_estimate(estimated(), "en"), 120)
    for share in (estimate.mfu, estimate.mfu_full_attention, estimate.hfu, estimate.of_achievable):
        assert f"{share:.1%}" in text


@pytest.mark.parametrize("lang", LANGUAGES)
def test_advice_says_change_effect_and_reason(lang: Language) -> None:
    result = too_large()
    assert result.advice
    text = print_at(render_estimate(result, lang), 160)
    for item in result.advice:
        assert translate(item.change, lang) in text
        assert translate(item.why, lang) in text
        assert f"{item.device_change_bytes / GIB_BYTES:+.1f} GiB" in text


def test_what_launch_files_leave_open_is_listed_before_the_tables() -> None:
    findings = LaunchFindings(
        files=("run.sh",),
        missing=(Message("fewer gathers"),),
        contradictions=(),
        warnings=(Message("flash attention"),),
        notes=(),
        gpu_hours_booked=1536.0,
        tokens_total=None,
    )
    text = print_at(render_estimate(replace(estimated(), launch=findings), "en"), 120)
    listed = text[text.index("Read from run.sh") : text.index("Memory per card")]
    assert "missing:\n  - fewer gathers" in listed
    assert "will hurt:\n  - flash attention" in listed
    assert "booked: 1,536 card-hours" in listed
    assert "contradictory" not in listed

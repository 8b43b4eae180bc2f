"""docs/physics.md explains every part under the name that people read, with the constants of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from suanpei.machine.catalogue import load_catalogue
from suanpei.physics.compute import SOFTMAX_BACKWARD_BYTES, SOFTMAX_FORWARD_BYTES, TILES
from suanpei.physics.data_parallel import HOST_UPDATES_PER_S, OPTIMIZER_BYTES
from suanpei.physics.layer import DEQUANTISE_BYTES, LOSS_BYTES
from suanpei.physics.memory.parameters import BASE_STORAGE_BYTES
from suanpei.physics.parts import PARTS, RUN_PARTS, STEP_PARTS
from suanpei.physics.rates import HOST_LINK_FRACTION
from suanpei.physics.recipe import load_recipes
from suanpei.physics.run import COUNT_POINTS, RATE_POINTS, RunAssumptions
from suanpei.physics.step_uncertainty import (
    EXTRAPOLATED_WIDENING,
    MOST_WIDENING,
    REPEAT_SIGMA,
    UNMEASURED_WIDENING,
    UNSEEN_RECIPE_WIDENING,
    WAITING_SPREAD,
)
from suanpei.physics.uncertainty import INTERVAL_LEVEL, PRIOR_MEMORY_SIGMA, PRIOR_STEP_SIGMA
from suanpei.report.locale import load_templates
from suanpei.units import HOUR_S
from suanpei.validation.intervals import MEASURED_CONFIGURATIONS

if TYPE_CHECKING:
    from suanpei.physics.parts import Part

ROOT = Path(__file__).parents[2]
RECIPES = load_recipes(load_catalogue().toml("recipes"))
DOCS = ROOT / "docs"
PHYSICS = (DOCS / "physics.md").read_text(encoding="utf-8")


def section(anchor: str) -> str:
    """The text from an anchor to the next one."""
    start = PHYSICS.index(f'<a id="{anchor}"></a>')
    end = PHYSICS.find("<a id=", start + 1)
    return " ".join(PHYSICS[start : None if end < 0 else end].split())


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_each_part_has_one_section_under_its_label(part: Part) -> None:
    assert PHYSICS.count(f'<a id="{part.anchor}"></a>') == 1
    title = re.search(rf'<a id="{part.anchor}"></a>\n#+ (.*)\n', PHYSICS)
    assert title is not None
    assert title[1].lower() == part.label.key.lower()


def test_each_part_has_a_chinese_name() -> None:
    chinese = load_templates("zh")
    assert [part.key for part in PARTS.values() if part.label.key not in chinese] == []


@pytest.mark.parametrize("part", [*STEP_PARTS, *RUN_PARTS], ids=lambda part: part.key)
def test_each_part_of_time_says_where_it_holds_and_comes_from(part: Part) -> None:
    text = section(part.anchor)
    assert "Valid for:" in text
    assert re.search(r"\b[Ss]ources?\b", text)


def test_the_modules_named_exist() -> None:
    modules = set(re.findall(r"`(physics/[\w/]+\.py)`", PHYSICS))
    assert {
        "physics/step.py",
        "physics/layer.py",
        "physics/compute.py",
        "physics/collectives.py",
        "physics/run.py",
    } <= modules
    assert [module for module in sorted(modules) if not (ROOT / "src" / "suanpei" / module).is_file()] == []


def test_the_constants_are_those_of_the_code() -> None:
    run = RunAssumptions()
    expected = {
        "rates": [f"× {HOST_LINK_FRACTION}"],
        "step-products": [
            *(f"{rows} × {columns}" for rows, columns, _ in TILES),
            ", ".join(f"{speed:g}" for *_, speed in TILES[:-1]) + f" and {TILES[-1][2]:g}",
            f"{DEQUANTISE_BYTES} bytes of traffic per parameter",
        ],
        "step-attention": [f"{SOFTMAX_FORWARD_BYTES:g} bytes a score forward, {SOFTMAX_BACKWARD_BYTES:g} backward"],
        "step-head-and-loss": [
            (
                f"{RECIPES['ddp'].plain_loss_traffic:g} bytes with an ordinary cross-entropy,"
                f" {RECIPES['megatron'].plain_loss_traffic:g} under megatron, {LOSS_BYTES['in-place']:g} where"
            ),
            f"{LOSS_BYTES['fused']:g} with a fused loss",
        ],
        "step-optimizer": [
            f"AdamW {OPTIMIZER_BYTES['adamw']:g} bytes",
            (
                f"{OPTIMIZER_BYTES['adamw-8bit']:g} with 8-bit moments, {OPTIMIZER_BYTES['adafactor']:g} Adafactor,"
                f" {OPTIMIZER_BYTES['sgd']:g} SGD, {OPTIMIZER_BYTES['muon']:g} Muon"
            ),
            f"{HOST_UPDATES_PER_S / 1e9:g}e9 Adam updates per second",
        ],
        "memory-weights": [
            (
                f"{BASE_STORAGE_BYTES['nf4']:.4f} (NF4), {BASE_STORAGE_BYTES['nf4-dq']:.3f} (NF4, double quantisation),"
                f" {BASE_STORAGE_BYTES['gptq-int4']:.3f} (GPTQ"
            ),
        ],
        "run-setup": [f"{run.setup_single_s / HOUR_S:g} h on one node, {run.setup_several_s / HOUR_S:g} h on several"],
        "run-checkpoints": [
            f"{run.storage_bytes_per_s_per_node / 1e9:g} GB/s, {run.storage_bytes_per_s / 1e9:g} GB/s)",
        ],
        "run-lost-work": [f"one stop per {run.card_hours_per_stop:,.0f} card-hours"],
        "run-recovery": [
            f"R being {run.recovery_s / HOUR_S:g} h",
            f"{run.recovery_with_spares_s / HOUR_S:g} h",
        ],
        "uncertainty": [
            f"log-spread {PRIOR_STEP_SIGMA:.2f} for time, {PRIOR_MEMORY_SIGMA} for memory",
            f"widens the interval {UNMEASURED_WIDENING} times",
            f"few or no timed runs {UNSEEN_RECIPE_WIDENING} times",
            f"together at most {MOST_WIDENING:g} times",
            f"({WAITING_SPREAD:g} w)²",
            f"log-spread {REPEAT_SIGMA}",
        ],
    }
    missing = [(anchor, text) for anchor, texts in expected.items() for text in texts if text not in section(anchor)]
    assert missing == []
    words = {5: "five", 9: "nine"}
    spread = f"log-spread {run.stop_rate_sigma}"
    start = " ".join(PHYSICS.split())
    assert f"{words[RATE_POINTS]} equally likely stop rates ({spread}" in start
    assert f"{words[COUNT_POINTS]} Poisson counts" in start
    assert round(INTERVAL_LEVEL, 9) == 0.9
    assert "5th to 95th percentile" in section("uncertainty")
    # one factor is said for both
    assert EXTRAPOLATED_WIDENING == UNSEEN_RECIPE_WIDENING
    assert MEASURED_CONFIGURATIONS == 5
    assert "five configurations or more" in " ".join(section("uncertainty").split())

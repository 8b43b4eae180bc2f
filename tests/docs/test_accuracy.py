"""docs/accuracy.md: what is generated from a fit on a sample has its tables and plots, and the coefficients reasons."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from suanpei.machine.calibration import load_calibration
from suanpei.machine.catalogue import load_catalogue
from suanpei.validation.free_coefficients import FREE_COEFFICIENTS, MEMORY_KEY, list_parameters
from suanpei.validation.targets import TARGETS
from suanpei.verbs.fit import FAR_SPREADS, find_coefficient
from tests.golden.fit_sample import fit_sample

if TYPE_CHECKING:
    from suanpei.validation.free_coefficients import Level

DOCS = Path(__file__).parents[2] / "docs"
SECTIONS = [
    "Error of step time or speed",
    "Error of peak memory",
    "One-sided memory figures",
    "Does it fit?",
    "90 % intervals",
    "Regret of the strategy ranked first",
    "Rows predicted",
    "Predicted against measured",
    "By source",
    "Coefficients",
    "Rows without a prediction",
]


def load_generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate_accuracy", DOCS / "generate_accuracy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def texts() -> dict[Path, str]:
    texts: dict[Path, str] = load_generator().render_document(fit_sample(), {})
    return texts


def list_sections(text: str) -> list[str]:
    return re.findall(r"^## (.*)$", text, re.MULTILINE)


def list_tables(text: str) -> list[list[str]]:
    return [block.splitlines() for block in text.split("\n\n") if block.startswith("| ")]


@pytest.mark.slow
def test_a_fit_of_the_sample_makes_every_section_and_whole_tables(texts: dict[Path, str]) -> None:
    text = texts[Path("docs/accuracy.md")]
    assert list_sections(text) == SECTIONS
    tables = list_tables(text)
    assert len(tables) > len(SECTIONS)
    for table in tables:
        assert len(table) > 2, table[0]
        assert len({line.count(" |") for line in table}) == 1, table[0]
    shown = {" ".join(line.split(" | ")[:3]).removeprefix("| ") for line in tables[0]}
    for split in ("grouped cross-validation", "source left out"):
        assert f"throughput {split} A" in shown
    assert "throughput_single_node_a100 one hidden size left out A" in shown


@pytest.mark.slow
def test_the_same_fit_makes_the_same_bytes(texts: dict[Path, str]) -> None:
    assert load_generator().render_document(fit_sample(), {}) == texts


@pytest.mark.slow
def test_every_file_and_split_has_a_panel_with_its_figures(texts: dict[Path, str]) -> None:
    text = texts[Path("docs/accuracy.md")]
    plots = {path: drawing for path, drawing in texts.items() if path.suffix == ".svg"}
    assert {f"accuracy/{path.name}" for path in plots} == set(re.findall(r"!\[.*?\]\((.*?)\)", text))
    panels = {path.stem: ET.fromstring(drawing) for path, drawing in plots.items()}  # noqa: S314  # our own text
    names = {
        stem: [node.text for node in root.iter("{http://www.w3.org/2000/svg}text") if node.get("class") == "title"]
        for stem, root in panels.items()
    }
    assert names["throughput-step-time"] == ["grouped cross-validation", "source left out"]
    assert names["finetune-memory"] == ["grouped cross-validation", "source left out"]
    assert len(names["throughput_single_node_a100-step-time"]) == 3


@pytest.mark.slow
def test_a_coefficient_without_a_reason_is_shown_as_such() -> None:
    result = fit_sample()
    far = [one for one in result.coefficients if abs(one.prior_spreads) > FAR_SPREADS]
    assert far
    generator = load_generator()
    reasons = {generator.name_coefficient(one): "a reason" for one in far[1:]}
    text = generator.render_document(result, reasons)[Path("docs/accuracy.md")]
    assert text.count("| not explained |") == 1
    assert text.count("| a reason |") == len(far) - 1


def test_the_bundled_coefficients_far_from_their_priors_are_explained() -> None:
    calibration = load_calibration(load_catalogue())
    keys: dict[Level, frozenset[str]] = {
        "generations": frozenset(calibration.generations),
        "recipes": frozenset(calibration.recipes),
        "fabrics": frozenset(calibration.fabrics),
        "memory": frozenset({MEMORY_KEY}),
    }
    far = set()
    for one in list_parameters(calibration, keys, FREE_COEFFICIENTS):
        value = find_coefficient(calibration, one.free.level, one.key, one.free.name).value
        if abs(one.score(value)) > FAR_SPREADS:
            far.add(f"{one.free.level}.{one.key}.{one.free.name}")
    reasons = tomllib.loads((DOCS / "coefficients.toml").read_text(encoding="utf-8"))["reasons"]
    assert far - set(reasons) == set(), "say in docs/coefficients.toml why"
    assert set(reasons) - far == set(), "docs/coefficients.toml explains what is no longer far"


def test_the_document_as_it_stands_is_of_the_bundled_calibration() -> None:
    text = (DOCS / "accuracy.md").read_text(encoding="utf-8")
    assert list_sections(text) == SECTIONS
    assert load_calibration(load_catalogue()).calibration_id in text, "run 'make accuracy'"
    met = re.search(r"\*\*(\d+) of (\d+) targets met", text)
    assert met is not None
    # the bands of classes come on top of the fixed targets, which all have figures but the calls on files without them
    assert int(met[2]) >= len(TARGETS) - 8

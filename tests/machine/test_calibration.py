from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.machine.calibration import (
    Calibration,
    Coefficient,
    Evidence,
    Residuals,
    identify_calibration,
    load_calibration,
    read_calibration,
    render_calibration,
)
from suanpei.machine.catalogue import load_catalogue

SMALL: dict[str, Any] = {
    "calibration_id": "x",
    "as_of": "2026-01-01",
    "generations": {
        "default": {"a": {"value": 0.5, "source": "s"}, "b": {"value": 1, "source": "s"}},
        "hopper": {"a": {"value": 0.7, "standard_error": 0.1, "prior": 0.6, "unit": "-", "source": "t"}},
    },
    "residuals": {
        "step": {"grouped": {"A": {"sources": 2, "median_error": 0.1, "p90_error": 0.2, "logs": [0.2, -0.1]}}},
        "memory": {"source_left_out": {"device": {"sources": 1, "median_error": 0, "p90_error": 0, "logs": [0.0]}}},
    },
    "measured": {
        "generations": ["hopper"],
        "settings": [["A", "hopper", "fsdp", "nvlink"]],
        "counters": [["device", "fsdp"]],
        "ranges": {"gpus": [1, 64]},
    },
}


def test_a_generation_takes_what_it_lacks_from_default() -> None:
    calibration = read_calibration(SMALL)
    assert calibration.generation("hopper")["a"] == Coefficient(
        value=0.7, standard_error=0.1, prior=0.6, unit="-", source="t"
    )
    assert calibration.generation("hopper")["b"].value == 1.0
    assert calibration.generation("never-heard-of")["a"].value == 0.5
    assert calibration.recipe("megatron") == {}


def test_the_evidence_is_read_and_residuals_are_sorted() -> None:
    evidence = read_calibration(SMALL).evidence
    assert evidence.step == {
        "grouped": {"A": Residuals(logs=(-0.1, 0.2), sources=2, median_error=0.1, p90_error=0.2)},
        "source_left_out": {},
    }
    assert evidence.memory["source_left_out"]["device"].logs == (0.0,)
    assert evidence.settings == {("A", "hopper", "fsdp", "nvlink")}
    assert evidence.counters == {("device", "fsdp")}
    assert evidence.ranges == {"gpus": (1.0, 64.0)}
    assert read_calibration(SMALL).measured_generations == {"hopper"}


def test_bundled_calibration_survives_a_round_trip() -> None:
    calibration = load_calibration(load_catalogue())
    text = render_calibration(calibration)
    assert read_calibration(tomllib.loads(text)) == calibration
    assert render_calibration(read_calibration(tomllib.loads(text))) == text


def _changed(calibration: Calibration) -> Calibration:
    coefficient = replace(calibration.generations["default"]["a"], value=0.51)
    default = {**calibration.generations["default"], "a": coefficient}
    return replace(calibration, generations={**calibration.generations, "default": default})


def test_identity_follows_the_content() -> None:
    calibration = identify_calibration(read_calibration(SMALL))
    assert calibration.calibration_id.startswith("2026-01-01-")
    assert identify_calibration(calibration) == calibration
    assert identify_calibration(_changed(calibration)).calibration_id != calibration.calibration_id
    known = calibration.evidence
    longer = replace(known.step["grouped"]["A"], logs=(-0.1, 0.2, 0.3))
    for other in (
        replace(known, step={**known.step, "source_left_out": {"A": longer}}),
        replace(known, settings=frozenset()),
        replace(known, ranges={"gpus": (1.0, 65.0)}),
    ):
        assert identify_calibration(replace(calibration, evidence=other)).calibration_id != calibration.calibration_id


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"calibration_id": None}, "calibration_id"),
        ({"generations": {}}, "generations.default"),
        ({"generations": {"default": {"a": {"value": "much", "source": "s"}}}}, "generations.default.a.value"),
        ({"generations": {"default": {"a": {"value": float("nan"), "source": "s"}}}}, "generations.default.a.value"),
        ({"generations": {"default": {"a": {"value": 0.5}}}}, "generations.default.a.source"),
        ({"residuals": {"step": {"grouped": {"A": {"logs": [True]}}}}}, "residuals.step.grouped.A"),
        ({"residuals": {"step": {"grouped": {"A": {"logs": [0.1]}}}}}, "residuals.step.grouped.A.sources"),
        ({"residuals": {"step": {"grouped": {"A": {}}}}}, "residuals.step.grouped.A.logs"),
        ({"measured": None}, "measured"),
        ({"measured": {"generations": [], "counters": [], "ranges": {}}}, "measured.settings"),
        ({"measured": {**SMALL["measured"], "ranges": {"gpus": ["few", 2]}}}, "measured.ranges.gpus"),
    ],
)
def test_a_malformed_calibration_names_the_place(change: dict[str, Any], place: str) -> None:
    data = {key: value for key, value in {**SMALL, **change}.items() if value is not None}
    with pytest.raises(InputError, match=f"calibration.toml: {place}"):
        read_calibration(data)


@given(st.lists(st.floats(-2, 2), max_size=20), st.floats(1e-9, 1e3), st.text(max_size=20))
def test_any_content_renders_to_toml_that_reads_back(residuals: list[float], value: float, source: str) -> None:
    rounded = float(f"{value:.4g}")
    coefficient = Coefficient(value=rounded, standard_error=None, prior=rounded, unit="-", source=source)
    calibration = Calibration(
        calibration_id="x",
        as_of="2026-01-01",
        generations={"default": {"a": coefficient}},
        recipes={},
        fabrics={},
        memory={"context_bytes": coefficient},
        evidence=Evidence(
            step={
                "grouped": {
                    "A": Residuals(
                        logs=tuple(sorted(round(one, 6) for one in residuals)),
                        sources=len(residuals),
                        median_error=rounded,
                        p90_error=rounded,
                    )
                },
                "source_left_out": {},
            },
            memory={"grouped": {}, "source_left_out": {}},
            generations=frozenset({source}),
            settings=frozenset({("A", source, "fsdp", "nvlink")}),
            counters=frozenset(),
            ranges={"hidden": (1.0, 2.0)},
        ),
    )
    assert read_calibration(tomllib.loads(render_calibration(calibration))) == calibration

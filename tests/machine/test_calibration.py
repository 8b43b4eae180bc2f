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
    "residuals": {"step": {"A": [0.2, -0.1]}, "memory": {"device": [0.0]}},
    "measured_generations": ["hopper"],
}


def test_a_generation_takes_what_it_lacks_from_default() -> None:
    calibration = read_calibration(SMALL)
    assert calibration.generation("hopper")["a"] == Coefficient(
        value=0.7, standard_error=0.1, prior=0.6, unit="-", source="t"
    )
    assert calibration.generation("hopper")["b"].value == 1.0
    assert calibration.generation("never-heard-of")["a"].value == 0.5
    assert calibration.recipe("megatron") == {}


def test_residuals_are_sorted() -> None:
    calibration = read_calibration(SMALL)
    assert calibration.step_residuals == {"A": (-0.1, 0.2)}
    assert calibration.memory_residuals == {"device": (0.0,)}
    assert calibration.measured_generations == frozenset({"hopper"})


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
    longer = replace(calibration, step_residuals={"A": (-0.1, 0.2, 0.3)})
    assert identify_calibration(longer).calibration_id != calibration.calibration_id


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"calibration_id": None}, "calibration_id"),
        ({"generations": {}}, "generations.default"),
        ({"generations": {"default": {"a": {"value": "much", "source": "s"}}}}, "generations.default.a.value"),
        ({"generations": {"default": {"a": {"value": float("nan"), "source": "s"}}}}, "generations.default.a.value"),
        ({"generations": {"default": {"a": {"value": 0.5}}}}, "generations.default.a.source"),
        ({"residuals": {"step": {"A": [True]}}}, "residuals.step.A"),
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
        step_residuals={"A": tuple(sorted(round(one, 6) for one in residuals))},
        memory_residuals={},
        measured_generations=frozenset(),
    )
    assert read_calibration(tomllib.loads(render_calibration(calibration))) == calibration

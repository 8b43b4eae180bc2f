"""Calibration: the few physical coefficients that measurements fix, and how the residuals spread.

Data in ``catalog/calibration.toml``, made by ``suanpei fit``, passed to physics. A generation, recipe or fabric
that lacks a coefficient has that of ``default``.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from suanpei.machine.catalogue import Catalogue

DEFAULT = "default"
"""The entry that stands for what nothing measured."""
KINDS = ("generations", "recipes", "fabrics")
DIGEST_LENGTH = 8
COEFFICIENT_DIGITS = 4
"""Significant digits of a coefficient in the file; none is known to more."""


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """One coefficient with what is known of it."""

    value: float
    standard_error: float | None
    """None where the data do not identify it and the prior stands."""
    prior: float
    unit: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """All coefficients and residuals of one fit."""

    calibration_id: str
    """Changes whenever a coefficient or residual does."""
    as_of: str
    generations: Mapping[str, Mapping[str, Coefficient]]
    """By accelerator generation; `default` stands for generations that nothing measured."""
    recipes: Mapping[str, Mapping[str, Coefficient]]
    """By recipe."""
    fabrics: Mapping[str, Mapping[str, Coefficient]]
    """By fabric technology."""
    memory: Mapping[str, Coefficient]
    """What a device needs beside tensors: context, communicators, fragmentation, allocator cache."""
    step_residuals: Mapping[str, tuple[float, ...]]
    """By class: sorted log(measured / predicted) step time of runs that the fit did not see."""
    memory_residuals: Mapping[str, tuple[float, ...]]
    """By counter (``allocated``, ``reserved``, ``device``): sorted log(measured / predicted)."""
    measured_generations: frozenset[str]
    """Generations with training measurements behind their coefficients."""

    def generation(self, key: str) -> Mapping[str, Coefficient]:
        """Give the coefficients of an accelerator generation; those of ``default`` where it is unknown."""
        return _of(self.generations, key)

    def recipe(self, key: str) -> Mapping[str, Coefficient]:
        """Give the coefficients of a recipe; those of ``default`` where it is unknown."""
        return _of(self.recipes, key)

    def fabric(self, key: str) -> Mapping[str, Coefficient]:
        """Give the coefficients of a fabric technology; those of ``default`` where it is unknown."""
        return _of(self.fabrics, key)


def load_calibration(catalogue: Catalogue) -> Calibration:
    """Read the calibration of a catalogue; the overlay's own ``calibration.toml`` wins.

    Raises:
        InputError: A key is absent, a value is no finite number, or residuals are not numbers.
    """
    return read_calibration(catalogue.toml("calibration"))


def read_calibration(data: Mapping[str, Any]) -> Calibration:
    """Build a calibration from parsed TOML.

    Args:
        data: ``calibration_id``, ``as_of``, ``measured_generations``; tables ``generations``, ``recipes`` and
            ``fabrics`` of tables of coefficients; table ``memory`` of coefficients; table ``residuals`` with ``step``
            and ``memory``: lists of log ratios by class or counter. [-]

    Raises:
        InputError: A key is absent, a value is no finite number, or residuals are not numbers.
    """
    read = {kind: _read_kind(kind, data.get(kind, {})) for kind in KINDS}
    if DEFAULT not in read["generations"]:
        place = f"generations.{DEFAULT}"
        raise _malformed(place, Message("absent"))
    residuals = data.get("residuals", {})
    return Calibration(
        calibration_id=str(_required(data, "calibration_id")),
        as_of=str(_required(data, "as_of")),
        generations=read["generations"],
        recipes=read["recipes"],
        fabrics=read["fabrics"],
        memory={name: _read_coefficient(f"memory.{name}", facts) for name, facts in data.get("memory", {}).items()},
        step_residuals=_read_residuals("residuals.step", residuals.get("step", {})),
        memory_residuals=_read_residuals("residuals.memory", residuals.get("memory", {})),
        measured_generations=frozenset(data.get("measured_generations", [])),
    )


def render_calibration(calibration: Calibration) -> str:
    """Write a calibration as TOML, the same text for the same content.

    Entries are sorted; a coefficient that equals the one of ``default`` is left to it. Coefficients are rounded to
    `COEFFICIENT_DIGITS`.
    """
    head = [
        f"calibration_id = {_text(calibration.calibration_id)}",
        f"as_of = {_text(calibration.as_of)}",
        f"measured_generations = [{', '.join(_text(key) for key in sorted(calibration.measured_generations))}]",
    ]
    tables = {"generations": calibration.generations, "recipes": calibration.recipes, "fabrics": calibration.fabrics}
    body = [line for kind, entries in tables.items() for line in _render_kind(kind, entries)]
    if calibration.memory:
        body += ["", "[memory]"]
        body += [
            f"{_key(name)} = {_render_coefficient(calibration.memory[name])}" for name in sorted(calibration.memory)
        ]
    for kind, residuals in (("step", calibration.step_residuals), ("memory", calibration.memory_residuals)):
        if residuals:
            body += ["", f"[residuals.{kind}]"]
            body += [f"{_key(name)} = [{_numbers(residuals[name])}]" for name in sorted(residuals)]
    return "\n".join([*head, *body]) + "\n"


def identify_calibration(calibration: Calibration) -> Calibration:
    """Give a calibration the identity that follows from its content: its date and a digest of its text."""
    text = render_calibration(replace(calibration, calibration_id=""))
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()[:DIGEST_LENGTH]
    return replace(calibration, calibration_id=f"{calibration.as_of}-{digest}")


def _of(entries: Mapping[str, Mapping[str, Coefficient]], key: str) -> Mapping[str, Coefficient]:
    return entries.get(key) or entries.get(DEFAULT) or {}


def _read_kind(kind: str, entries: Mapping[str, Any]) -> dict[str, dict[str, Coefficient]]:
    read = {
        key: {name: _read_coefficient(f"{kind}.{key}.{name}", facts) for name, facts in coefficients.items()}
        for key, coefficients in entries.items()
    }
    shared = read.get(DEFAULT, {})
    return {key: {**shared, **coefficients} for key, coefficients in read.items()}


def _read_coefficient(place: str, facts: Mapping[str, Any]) -> Coefficient:
    value = _number(f"{place}.value", facts.get("value"))
    return Coefficient(
        value=value,
        standard_error=_number(f"{place}.standard_error", facts["standard_error"])
        if "standard_error" in facts
        else None,
        prior=_number(f"{place}.prior", facts.get("prior", value)),
        unit=str(facts.get("unit", "-")),
        source=str(_required(facts, "source", place)),
    )


def _read_residuals(place: str, lists: Mapping[str, Iterable[Any]]) -> dict[str, tuple[float, ...]]:
    return {
        name: tuple(sorted(_number(f"{place}.{name}", value) for value in values)) for name, values in lists.items()
    }


def _number(place: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _malformed(place, value)
    return float(value)


def _required(data: Mapping[str, Any], key: str, place: str = "") -> Any:
    if key not in data:
        raise _malformed(f"{place}.{key}".lstrip("."), Message("absent"))
    return data[key]


def _malformed(place: str, given: object) -> InputError:
    return InputError(
        Message("calibration.toml: {place} must be given and finite, got {given}", place=place, given=given)
    )


def _render_kind(kind: str, entries: Mapping[str, Mapping[str, Coefficient]]) -> list[str]:
    lines: list[str] = []
    shared = entries.get(DEFAULT, {})
    for key in sorted(entries, key=lambda key: (key != DEFAULT, key)):
        lines += ["", f"[{kind}.{_key(key)}]"]
        for name in sorted(entries[key]):
            coefficient = entries[key][name]
            if key == DEFAULT or coefficient != shared.get(name):
                lines.append(f"{_key(name)} = {_render_coefficient(coefficient)}")
    return lines


def _render_coefficient(coefficient: Coefficient) -> str:
    error = "" if coefficient.standard_error is None else f"standard_error = {_short(coefficient.standard_error)}, "
    value, prior = _short(coefficient.value), _short(coefficient.prior)
    return (
        f"{{ value = {value}, {error}prior = {prior}, unit = {_text(coefficient.unit)}, "
        f"source = {_text(coefficient.source)} }}"
    )


def _short(value: float) -> str:
    """Write a coefficient with the digits that mean something."""
    return repr(float(f"{value:.{COEFFICIENT_DIGITS}g}"))


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(repr(round(value, 6)) for value in sorted(values))


def _key(name: str) -> str:
    return (
        name if all(character.isalnum() or character in "-_" for character in name) and name.isascii() else _text(name)
    )


def _text(value: str) -> str:
    # TOML's basic strings are JSON's, but for DEL
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

"""Calibration: the few physical coefficients that measurements fix, and how the residuals spread.

Data in ``catalog/calibration.toml``, made by ``suanpei fit``, passed to physics. A generation, recipe or fabric
that lacks a coefficient has that of ``default``.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from suanpei.machine.catalogue import Catalogue

DEFAULT = "default"
"""The entry that stands for what nothing measured."""
KINDS = ("generations", "recipes", "fabrics")
EvidenceSplit = Literal["grouped", "source_left_out"]
SPLITS: tuple[EvidenceSplit, ...] = ("grouped", "source_left_out")
"""How a figure was kept from the fit that predicted it: with its configuration alone, or with its whole source."""
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
class Residuals:
    """How figures that a fit did not see lay about their predictions."""

    logs: tuple[float, ...]
    """Sorted log(measured / predicted) over the scale of each figure (see ``physics.uncertainty``), sources weighing
    equally: as many as the figures are worth."""
    sources: int
    """Sources that they come from. [-]"""
    median_error: float
    """Median of |predicted / measured - 1|, sources weighing equally. [-]"""
    p90_error: float
    """Its 90th percentile. [-]"""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What was measured, and how well it was predicted by fits that did not see it."""

    step: Mapping[EvidenceSplit, Mapping[str, Residuals]]
    """Of step times, by class (``A``, ``B``, ``C``)."""
    memory: Mapping[EvidenceSplit, Mapping[str, Residuals]]
    """Of memory peaks, by counter."""
    generations: frozenset[str]
    """Accelerator generations with a measured speed."""
    settings: frozenset[tuple[str, str, str, str]]
    """Class, generation, recipe and fabric technology of configurations timed often enough to know them."""
    counters: frozenset[tuple[str, str]]
    """Counter and recipe of memory measured often enough."""
    ranges: Mapping[str, tuple[float, float]]
    """Least and greatest size that was timed, by name (``hidden``, ``gpus``, ``micro_batch_tokens``)."""


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
    evidence: Evidence
    """What the intervals rest on."""

    @property
    def measured_generations(self) -> frozenset[str]:
        """Generations with training measurements behind their coefficients."""
        return self.evidence.generations

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
        data: ``calibration_id``, ``as_of``; tables ``generations``, ``recipes`` and ``fabrics`` of tables of
            coefficients; table ``memory`` of coefficients; table ``measured`` with lists ``generations``,
            ``settings`` (class, card, recipe, fabric) and ``counters`` (counter, recipe) and pairs ``ranges``;
            tables ``residuals`` by kind (``step``, ``memory``), split and class or counter: ``sources``, their
            ``logs``, ``median_error`` and ``p90_error``. [-]

    Raises:
        InputError: A key is absent, a value is no finite number, or residuals are not numbers.
    """
    read = {kind: _read_kind(kind, data.get(kind, {})) for kind in KINDS}
    if DEFAULT not in read["generations"]:
        place = f"generations.{DEFAULT}"
        raise _malformed(place, Message("absent"))
    return Calibration(
        calibration_id=str(_required(data, "calibration_id")),
        as_of=str(_required(data, "as_of")),
        generations=read["generations"],
        recipes=read["recipes"],
        fabrics=read["fabrics"],
        memory={name: _read_coefficient(f"memory.{name}", facts) for name, facts in data.get("memory", {}).items()},
        evidence=_read_evidence(_required(data, "measured"), data.get("residuals", {})),
    )


def render_calibration(calibration: Calibration) -> str:
    """Write a calibration as TOML, the same text for the same content.

    Entries are sorted; a coefficient that equals the one of ``default`` is left to it. Coefficients are rounded to
    `COEFFICIENT_DIGITS`.
    """
    head = [
        f"calibration_id = {_text(calibration.calibration_id)}",
        f"as_of = {_text(calibration.as_of)}",
    ]
    tables = {"generations": calibration.generations, "recipes": calibration.recipes, "fabrics": calibration.fabrics}
    body = [line for kind, entries in tables.items() for line in _render_kind(kind, entries)]
    if calibration.memory:
        body += ["", "[memory]"]
        body += [
            f"{_key(name)} = {_render_coefficient(calibration.memory[name])}" for name in sorted(calibration.memory)
        ]
    body += _render_evidence(calibration.evidence)
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
    if value < 0:
        raise InputError(Message("calibration: {place} must not be negative, got {given}", place=place, given=value))
    return Coefficient(
        value=value,
        standard_error=_number(f"{place}.standard_error", facts["standard_error"])
        if "standard_error" in facts
        else None,
        prior=_number(f"{place}.prior", facts.get("prior", value)),
        unit=str(facts.get("unit", "-")),
        source=str(_required(facts, "source", place)),
    )


def _read_evidence(measured: Mapping[str, Any], residuals: Mapping[str, Any]) -> Evidence:
    by_kind = {
        kind: {split: _read_residuals(f"residuals.{kind}.{split}", splits.get(split, {})) for split in SPLITS}
        for kind, splits in (("step", residuals.get("step", {})), ("memory", residuals.get("memory", {})))
    }
    settings, counters = (_required(measured, name, "measured") for name in ("settings", "counters"))
    return Evidence(
        step=by_kind["step"],
        memory=by_kind["memory"],
        generations=frozenset(_required(measured, "generations", "measured")),
        settings=frozenset(
            (str(grade), str(card), str(recipe), str(fabric)) for grade, card, recipe, fabric in settings
        ),
        counters=frozenset((str(counter), str(recipe)) for counter, recipe in counters),
        ranges={
            name: (_number(f"measured.ranges.{name}", low), _number(f"measured.ranges.{name}", high))
            for name, (low, high) in _required(measured, "ranges", "measured").items()
        },
    )


def _read_residuals(place: str, tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Residuals]:
    return {
        name: Residuals(
            logs=tuple(
                sorted(_number(f"{place}.{name}", value) for value in _required(table, "logs", f"{place}.{name}"))
            ),
            sources=int(_number(f"{place}.{name}.sources", table.get("sources"))),
            median_error=_number(f"{place}.{name}.median_error", table.get("median_error")),
            p90_error=_number(f"{place}.{name}.p90_error", table.get("p90_error")),
        )
        for name, table in tables.items()
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


def _render_evidence(evidence: Evidence) -> list[str]:
    lines = [
        "",
        "[measured]",
        f"generations = {_list(sorted(evidence.generations))}",
        f"settings = [{', '.join(_list(setting) for setting in sorted(evidence.settings))}]",
        f"counters = [{', '.join(_list(counter) for counter in sorted(evidence.counters))}]",
        "",
        "[measured.ranges]",
        *(f"{_key(name)} = [{_numbers(evidence.ranges[name])}]" for name in sorted(evidence.ranges)),
    ]
    for kind, splits in (("step", evidence.step), ("memory", evidence.memory)):
        for split in SPLITS:
            for name, residuals in sorted(splits.get(split, {}).items()):
                lines += [
                    "",
                    f"[residuals.{kind}.{split}.{_key(name)}]",
                    f"sources = {residuals.sources}",
                    f"median_error = {_short(residuals.median_error)}",
                    f"p90_error = {_short(residuals.p90_error)}",
                    f"logs = [{_numbers(residuals.logs)}]",
                ]
    return lines


def _list(words: Iterable[str]) -> str:
    return f"[{', '.join(_text(word) for word in words)}]"


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

"""The verb ``fit``: regenerate the calibration from published measurements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from suanpei.errors import InputError
from suanpei.machine.calibration import load_calibration, render_calibration
from suanpei.machine.catalogue import load_catalogue
from suanpei.messages import Message
from suanpei.validation.cases import load_cases
from suanpei.validation.fit import fit
from suanpei.validation.rows import read_rows
from suanpei.validation.scorecard import Score, score
from suanpei.validation.summary import Summary, summarise
from suanpei.verbs.envelope import VerbResult
from suanpei.verbs.validate import ValidatedCase, show_prediction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from suanpei.machine.calibration import Calibration, Coefficient
    from suanpei.validation.case import Case, SkippedCase
    from suanpei.validation.fit import FitResult
    from suanpei.validation.residuals import Prediction, Split
    from suanpei.validation.rows import Row

DEFAULT_FOLDER = Path("data/validation")
"""Where a clone keeps the measurements; they are not part of an installation."""
DEFAULT_FILES = ("throughput.csv", "throughput_single_node_a100.csv", "finetune.csv")

FAR_SPREADS = 2.0
"""A coefficient further from its prior needs an explanation. [prior spreads]"""


@dataclass(frozen=True, kw_only=True)
class FittedCoefficient:
    """One coefficient after the fit."""

    level: Literal["generations", "recipes", "fabrics", "memory"]
    key: str
    """The generation, recipe or fabric."""
    name: str
    value: float
    standard_error: float | None
    """None where the data do not identify it and the prior stands."""
    prior: float
    unit: str
    low: float
    """Lower physical bound."""
    high: float
    """Upper physical bound."""
    prior_spreads: float
    """Distance of the value from the prior, in standard deviations of the prior. [-]"""
    meaning: Message


@dataclass(frozen=True, kw_only=True)
class HeldOutSummary:
    """Errors on figures that the fit did not see."""

    split: Split
    """Cross-validation by configuration; each source, or each hidden size of the single-node file, by a fit without."""
    summary: Summary


@dataclass(frozen=True, kw_only=True)
class HeldOutCase:
    """One published figure against its prediction by a fit that did not see it."""

    split: Split
    case: ValidatedCase


@dataclass(frozen=True, kw_only=True)
class RefitResult(VerbResult):
    """A new calibration and its errors out of sample."""

    output: Path | None
    """Where it was written; None where it was only printed."""
    figures: int
    """Published figures that entered the fit."""
    coefficients: tuple[FittedCoefficient, ...]
    scores: tuple[Score, ...]
    """Of held-out predictions, beside their targets."""
    held_out: tuple[HeldOutSummary, ...]
    held_out_cases: tuple[HeldOutCase, ...]
    skipped: tuple[SkippedCase, ...]
    """Rows without a prediction."""
    calibration_toml: str
    """The calibration file."""


def refit(
    files: Sequence[Path] = (),
    *,
    output: Path | None = None,
    catalog: Path | None = None,
    as_of: str | None = None,
    report_progress: Callable[[float], None] = lambda _: None,
) -> RefitResult:
    """Fit the coefficients to measurement files and write the calibration.

    Args:
        files: CSV files; none takes those of ``data/validation`` under the working folder. [-]
        output: File to write; None writes none. [-]
        catalog: Folder of the user's own catalogue; None is the bundled one. [-]
        as_of: ISO date to stamp the calibration with; None takes the catalogue's: the same data give the same file. [-]
        report_progress: Called with the share done. [-]

    Returns:
        The calibration with errors on figures that the fit did not see.

    Raises:
        InputError: A file is missing or of no known kind, or holds nothing to fit.
        MissingExtraError: scipy is not installed.
    """
    paths = tuple(files) or tuple(DEFAULT_FOLDER / name for name in DEFAULT_FILES)
    missing = [str(path) for path in paths if not path.is_file()]
    if missing:
        raise InputError(
            Message(
                "{field}: no such file: {files}; give files, or run in a clone's folder", field="--cases", files=missing
            )
        )
    catalogue = load_catalogue(catalog)
    prior = load_calibration(catalogue)
    cases: list[Case] = []
    skipped: list[SkippedCase] = []
    rows: dict[str, tuple[Row, ...]] = {}
    for path in paths:
        loaded = load_cases(path)
        rows[path.stem] = read_rows(path)
        cases += loaded.cases
        skipped += loaded.skipped
    stamp = as_of or catalogue.catalog_date
    result = fit(cases, prior, catalogue, stamp, report_progress=report_progress)
    held_out: dict[Split, tuple[Prediction, ...]] = {
        "grouped": result.grouped,
        "source_left_out": result.source_left_out,
        "hidden_size_left_out": result.hidden_size_left_out,
    }
    text = render_calibration(result.calibration)
    if output is not None:
        output.write_text(text, encoding="utf-8", newline="\n")
    return RefitResult(
        catalog_date=catalogue.catalog_date,
        calibration_id=result.calibration.calibration_id,
        request={
            "cases": [str(path) for path in paths],
            "output": None if output is None else str(output),
            "catalog": None if catalog is None else str(catalog),
            "as_of": stamp,
        },
        assumptions=(),
        output=output,
        figures=result.figures,
        coefficients=_list_coefficients(result),
        scores=score(held_out, cases, rows),
        held_out=tuple(
            HeldOutSummary(split=split, summary=one)
            for split, predictions in held_out.items()
            for one in summarise(predictions)
        ),
        held_out_cases=tuple(
            HeldOutCase(split=split, case=show_prediction(one))
            for split, predictions in held_out.items()
            for one in predictions
        ),
        skipped=(*skipped, *result.skipped),
        calibration_toml=text,
    )


def _list_coefficients(result: FitResult) -> tuple[FittedCoefficient, ...]:
    shown = []
    for parameter in (*result.identified, *result.unidentified):
        coefficient = find_coefficient(result.calibration, parameter.free.level, parameter.key, parameter.free.name)
        shown.append(
            FittedCoefficient(
                level=parameter.free.level,
                key=parameter.key,
                name=parameter.free.name,
                value=coefficient.value,
                standard_error=coefficient.standard_error,
                prior=coefficient.prior,
                unit=coefficient.unit,
                low=parameter.free.low,
                high=parameter.free.high,
                prior_spreads=parameter.score(coefficient.value),
                meaning=parameter.free.meaning,
            )
        )
    return tuple(sorted(shown, key=lambda one: (one.level, one.key, one.name)))


def find_coefficient(calibration: Calibration, level: str, key: str, name: str) -> Coefficient:
    """Find one coefficient; the level ``memory`` has one key only."""
    if level == "memory":
        return calibration.memory[name]
    found: Coefficient = getattr(calibration, level)[key][name]
    return found

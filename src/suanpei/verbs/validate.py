"""The verb ``validate``: predict published measurements blind, and show the errors."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.calibration import load_calibration
from suanpei.machine.catalogue import load_catalogue
from suanpei.messages import Message
from suanpei.validation.cases import load_cases
from suanpei.validation.predict import predict_cases
from suanpei.validation.rows import read_rows
from suanpei.validation.scorecard import Score, score
from suanpei.validation.summary import Summary, summarise
from suanpei.verbs.envelope import VerbResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from suanpei.validation.case import Bound, Case, Metric, SkippedCase
    from suanpei.validation.residuals import Prediction
    from suanpei.validation.rows import Row


@dataclass(frozen=True, kw_only=True)
class ValidatedCase:
    """One published figure against its prediction."""

    case_id: str
    file: str
    """Stem of the file."""
    source: str
    error_class: str = field(metadata={"json": "class"})
    """``A``, ``B`` or ``C``; ``run`` for whole runs."""
    metric: Metric
    bound: Bound
    """Whether the measurement is exact, or the prediction only has to stay above or below it."""
    measured: float
    """SI units; ``fits`` is 1 where it ran and 0 where memory ran out; TFLOPS in 1e12 FLOP/s."""
    predicted: float
    low: float
    """5th percentile of what is expected to be measured."""
    high: float
    """95th percentile."""
    error: float
    """Predicted over measured less one; for ``fits`` 0 is a right call, 1 a wrong one."""
    step_s: float | None
    """Predicted step time behind a speed; None for memory and verdicts."""
    assumptions: tuple[Message, ...]
    """What the source leaves out and was taken to be so."""


@dataclass(frozen=True, kw_only=True)
class ValidateResult(VerbResult):
    """All figures, what was skipped, the scores beside their targets, and the errors by group.

    The calibration may have been fitted to the same rows: then the errors flatter it.
    """

    cases: tuple[ValidatedCase, ...]
    skipped: tuple[SkippedCase, ...]
    scores: tuple[Score, ...]
    summary: tuple[Summary, ...]


def validate(
    files: Sequence[Path],
    *,
    catalog: Path | None = None,
    report_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> ValidateResult:
    """Predict every row of measurement files, blind.

    Args:
        files: CSV files with the columns of ``data/validation/README.md``, each known by its header. [-]
        catalog: Folder of the user's own catalogue; None is the bundled one. [-]
        report_progress: Called with files done and files in all. [-]

    Returns:
        Predictions, skipped rows with their reasons, scores and summary.

    Raises:
        InputError: No file is given, or one cannot be read or is of no known kind.
    """
    if not files:
        raise InputError(Message("{field} needs at least one file", field="CASES.csv"))
    catalogue = load_catalogue(catalog)
    calibration = load_calibration(catalogue)
    predictions: list[Prediction] = []
    skipped: list[SkippedCase] = []
    cases: list[Case] = []
    rows: dict[str, tuple[Row, ...]] = {}
    for done, path in enumerate(files):
        report_progress(done, len(files))
        loaded = load_cases(path)
        rows[path.stem] = read_rows(path)
        cases += loaded.cases
        found = predict_cases(loaded.cases, calibration, catalogue)
        predictions += found.predictions
        skipped += [*loaded.skipped, *found.skipped]
    report_progress(len(files), len(files))
    return ValidateResult(
        catalog_date=catalogue.catalog_date,
        calibration_id=calibration.calibration_id,
        request={"cases": [str(path) for path in files], "catalog": None if catalog is None else str(catalog)},
        assumptions=_count_assumptions(predictions),
        cases=tuple(show_prediction(prediction) for prediction in predictions),
        skipped=tuple(skipped),
        scores=score({"as_fitted": predictions}, cases, rows),
        summary=summarise(predictions),
    )


def show_prediction(prediction: Prediction) -> ValidatedCase:
    """Show one figure against its prediction."""
    return ValidatedCase(
        case_id=prediction.case_id,
        file=prediction.file,
        source=prediction.source,
        error_class=prediction.error_class,
        metric=prediction.metric,
        bound=prediction.bound,
        measured=prediction.measured,
        predicted=prediction.predicted,
        low=prediction.low,
        high=prediction.high,
        error=prediction.error,
        step_s=prediction.step_s,
        assumptions=prediction.assumptions,
    )


def _count_assumptions(predictions: Iterable[Prediction]) -> tuple[Message, ...]:
    """Say each assumption once, with the number of rows that rest on it."""
    rows = {(prediction.file, prediction.case_id): prediction.assumptions for prediction in predictions}
    counts = Counter(assumption for assumptions in rows.values() for assumption in assumptions)
    return tuple(
        Message("{assumption} ({count} rows)", assumption=assumption, count=count)
        for assumption, count in counts.most_common()
    )

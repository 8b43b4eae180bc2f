"""Fit the few coefficients of step time and memory to measurements, and measure the error on what the fit did not see.

Log residuals of step time and memory peaks, robust, against priors: a coefficient that the data do not identify stays
at its prior.
Deterministic: no random numbers, folds by a hash of the configuration's name.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suanpei.errors import InputError
from suanpei.machine.calibration import SPLITS, identify_calibration
from suanpei.messages import Message
from suanpei.validation.free_coefficients import FREE_COEFFICIENTS, list_parameters, with_values
from suanpei.validation.intervals import collect_evidence, remake_intervals
from suanpei.validation.predict import Predictions, predict_cases
from suanpei.validation.problem import Problem, build_problem
from suanpei.validation.solve import (
    OUTER_STEPS,
    Start,
    calibrate_scores,
    follow,
    predict_scores,
    score_errors,
    solve,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from suanpei.machine.calibration import Calibration, EvidenceSplit
    from suanpei.machine.catalogue import Catalogue
    from suanpei.validation.case import Case, SkippedCase
    from suanpei.validation.free_coefficients import FreeCoefficient, Parameter
    from suanpei.validation.residuals import Prediction, Split

    FloatArray = NDArray[np.float64]
    BoolArray = NDArray[np.bool_]

FOLDS = 5
"""Groups of the cross-validation; a configuration and its repeats stay in one."""

REFIT_STEPS = 2
"""Steps of a refit without some cases, along the derivatives of the full fit."""

IDENTIFIED_SHARE = 0.7
"""A coefficient is identified when the data shrink its spread below this share of the prior's."""

HIDDEN_SIZE_SET = "vtrain_single"
"""Rows of one source, cards and framework, whose hidden sizes are left out in turn: leaving out the source says
nothing of how well one width foretells another."""


@dataclass(frozen=True, kw_only=True)
class FitResult:
    """A fitted calibration and what it says of runs that it did not see."""

    calibration: Calibration
    grouped: tuple[Prediction, ...]
    """Predictions under grouped cross-validation."""
    source_left_out: tuple[Prediction, ...]
    """Predictions of each source by a fit without it."""
    hidden_size_left_out: tuple[Prediction, ...]
    """Predictions of each hidden size of `HIDDEN_SIZE_SET` by a fit without those rows."""
    skipped: tuple[SkippedCase, ...]
    """Cases without a prediction."""
    identified: tuple[Parameter, ...]
    unidentified: tuple[Parameter, ...]
    """Those that stay at their priors."""
    figures: int
    """Published figures that entered. [-]"""


def fit(
    cases: Sequence[Case],
    prior: Calibration,
    catalogue: Catalogue,
    as_of: str,
    free: Sequence[FreeCoefficient] = FREE_COEFFICIENTS,
    report_progress: Callable[[float], None] = lambda _: None,
) -> FitResult:
    """Fit the free coefficients and measure the error out of sample.

    Args:
        cases: Measured cases of any files.
        prior: First values; every coefficient is drawn towards its ``prior``.
        catalogue: Accelerators and fabrics.
        as_of: ISO date to stamp the calibration with.
        free: What may move.
        report_progress: Called with the share done. [-]

    Returns:
        The calibration, with the residuals of two splits, and the predictions of each split.

    Raises:
        MissingExtraError: scipy is not installed.
        InputError: No case has a figure to fit.
    """
    problem = build_problem(cases, prior, catalogue)
    if not problem.cases:
        raise InputError(Message("no case with a speed or a memory peak can be predicted: nothing to fit"))
    parameters = list_parameters(prior, problem.keys, free)
    scores, jacobian = solve(problem, prior, parameters, OUTER_STEPS)
    report_progress(0.5)
    log_predicted = predict_scores(problem, prior, parameters, scores)
    known = score_errors(problem, jacobian, log_predicted) < IDENTIFIED_SHARE
    identified = tuple(parameter for parameter, is_known in zip(parameters, known, strict=True) if is_known)
    unidentified = tuple(parameter for parameter, is_known in zip(parameters, known, strict=True) if not is_known)
    first_values = [parameter.prior for parameter in unidentified]
    base = with_values(prior, unidentified, first_values, [None] * len(unidentified), figures=0)
    start = Start(scores=scores[known], jacobian=jacobian[:, known])
    scores, jacobian = solve(problem, base, identified, 1, start)
    errors = score_errors(problem, jacobian, predict_scores(problem, base, identified, scores))
    report_progress(0.7)
    fitted = with_values(
        base,
        identified,
        [parameter.value(score) for parameter, score in zip(identified, scores, strict=True)],
        [
            parameter.standard_error(score, error)
            for parameter, score, error in zip(identified, scores, errors, strict=True)
        ],
        figures=len(problem.cases),
    )
    out: dict[Split, tuple[Prediction, ...]] = {}
    skipped: dict[Split, tuple[SkippedCase, ...]] = {}
    refit = _Refit(problem=problem, base=fitted, parameters=identified, scores=scores, jacobian=jacobian)
    hidden_sizes = {
        (case.file, case.case_id): f"hidden {case.job.architecture.hidden}"
        for case in cases
        if case.set_name == HIDDEN_SIZE_SET
    }
    splits: tuple[tuple[Split, Callable[[Case | Prediction], str], float], ...] = (
        ("grouped", assign_fold, 0.8),
        ("source_left_out", lambda figure: figure.source, 0.95),
        ("hidden_size_left_out", lambda figure: hidden_sizes.get((figure.file, figure.case_id), ""), 1.0),
    )
    for split, label, done in splits:
        found = _predict_held_out(cases, refit, catalogue, label)
        out[split], skipped[split] = remake_intervals(found.predictions, label), found.skipped
        report_progress(done)
    calibration = _finish(fitted, {split: out[split] for split in SPLITS}, as_of)
    return FitResult(
        calibration=calibration,
        grouped=out["grouped"],
        source_left_out=out["source_left_out"],
        hidden_size_left_out=out["hidden_size_left_out"],
        skipped=skipped["grouped"],
        identified=identified,
        unidentified=unidentified,
        figures=len(problem.cases),
    )


@dataclass(frozen=True, kw_only=True)
class _Refit:
    """The full fit, and how to repeat it without some cases by steps along its own derivatives."""

    problem: Problem
    base: Calibration
    parameters: tuple[Parameter, ...]
    scores: FloatArray
    jacobian: FloatArray

    def without(self, held_out: BoolArray) -> Calibration:
        """Fit without the held-out cases.

        Args:
            held_out: Of the problem's cases, shape (cases,).
        """
        if not self.parameters:
            return self.base
        seen = replace(self.problem, weights=self.problem.weights * ~held_out)
        start = Start(scores=self.scores, jacobian=self.jacobian)
        return calibrate_scores(
            self.base, self.parameters, follow(seen, self.base, self.parameters, start, REFIT_STEPS)
        )


def assign_fold(figure: Case | Prediction) -> str:
    """Give the cross-validation fold of a figure, by its configuration's name: repeats stay together."""
    digest = hashlib.sha256(f"{figure.source}/{figure.group}".encode()).digest()
    return str(digest[0] % FOLDS)


def _predict_held_out(
    cases: Sequence[Case], refit: _Refit, catalogue: Catalogue, label: Callable[[Case | Prediction], str]
) -> Predictions:
    """Predict every case by a fit that did not see the cases of its label; a case without a label has no part."""
    parts: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        if label(case):
            parts[label(case)].append(case)
    predictions: list[Prediction] = []
    skipped: list[SkippedCase] = []
    for name in sorted(parts):
        held_out = np.array([label(case) == name for case in refit.problem.cases])
        calibration = refit.without(held_out) if held_out.any() else refit.base
        found = predict_cases(parts[name], calibration, catalogue)
        predictions += found.predictions
        skipped += found.skipped
    return Predictions(predictions=tuple(predictions), skipped=tuple(skipped))


def _finish(fitted: Calibration, out: dict[EvidenceSplit, tuple[Prediction, ...]], as_of: str) -> Calibration:
    """Add what intervals rest on, from the held-out predictions of both splits, and the identity."""
    return identify_calibration(replace(fitted, as_of=as_of, evidence=collect_evidence(out)))

"""Robust bounded least squares of a `Problem`: Gauss-Newton with derivatives that serve several steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from suanpei.errors import MissingExtraError
from suanpei.validation.free_coefficients import with_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from suanpei.machine.calibration import Calibration
    from suanpei.validation.free_coefficients import Parameter
    from suanpei.validation.problem import Problem

    FloatArray = NDArray[np.float64]
    BoolArray = NDArray[np.bool_]

HUBER = 2.0
"""Residuals beyond this many noise spreads pull linearly, not squared."""

OUTER_STEPS = 3
"""Sets of derivatives at most, after the first."""

CHORD_STEPS = 2
"""Steps along one set of derivatives."""

LONGEST_STEP = 2.0
"""Longest step of one coefficient. [prior spreads]"""

HALVINGS = 4

CONVERGED = 0.05
"""A fit ends when no coefficient moves by more. [prior spreads]"""


@dataclass(frozen=True, kw_only=True)
class Start:
    """Where a solution begins: scores and the derivatives there."""

    scores: FloatArray
    jacobian: FloatArray


def solve(
    problem: Problem,
    base: Calibration,
    parameters: Sequence[Parameter],
    outer_steps: int,
    start: Start | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Minimise robust squared residuals and priors within bounds, by Gauss-Newton.

    Each set of derivatives serves `CHORD_STEPS` steps; a step that does not lower the cost is halved.

    Returns:
        Scores, and the derivatives there.
    """
    if not parameters:
        return np.zeros(0), np.zeros((len(problem.cases), 0))
    bounds = score_bounds(parameters)
    scores = np.clip(np.zeros(len(parameters)) if start is None else start.scores, *bounds)
    log_predicted = predict_scores(problem, base, parameters, scores)
    jacobian = problem.jacobian(base, parameters, scores, log_predicted) if start is None else start.jacobian
    for _ in range(outer_steps):
        begun = scores
        scores = follow(problem, base, parameters, Start(scores=scores, jacobian=jacobian), CHORD_STEPS)
        log_predicted = predict_scores(problem, base, parameters, scores)
        jacobian = problem.jacobian(base, parameters, scores, log_predicted)
        if float(np.max(np.abs(scores - begun))) < CONVERGED:
            break
    return scores, jacobian


def follow(
    problem: Problem, base: Calibration, parameters: Sequence[Parameter], start: Start, steps: int
) -> FloatArray:
    """Take steps along one set of derivatives, each halved until it lowers the cost.

    Returns:
        Scores.
    """
    bounds = score_bounds(parameters)
    scores = start.scores
    log_predicted = predict_scores(problem, base, parameters, scores)
    for _ in range(steps):
        step = bounded_step(problem, start.jacobian, log_predicted, scores, bounds)
        scores, log_predicted = _descend(problem, base, parameters, scores, log_predicted, step)
    return scores


def score_bounds(parameters: Sequence[Parameter]) -> tuple[FloatArray, FloatArray]:
    """Give the lowest and highest score of each parameter. [prior spreads]"""
    return np.array([one.bounds[0] for one in parameters]), np.array([one.bounds[1] for one in parameters])


def predict_scores(
    problem: Problem, base: Calibration, parameters: Sequence[Parameter], scores: FloatArray
) -> FloatArray:
    """Predict the logarithm of each figure at some scores."""
    return problem.log_predicted(calibrate_scores(base, parameters, scores))


def calibrate_scores(base: Calibration, parameters: Sequence[Parameter], scores: FloatArray) -> Calibration:
    """Give the calibration at some scores."""
    return with_values(base, parameters, [one.value(score) for one, score in zip(parameters, scores, strict=True)])


def bounded_step(
    problem: Problem,
    jacobian: FloatArray,
    log_predicted: FloatArray,
    scores: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Solve the linearised problem for a step that stays within bounds."""
    try:
        from scipy.optimize import lsq_linear
    except ImportError as error:
        package, extra = "scipy", "fit"
        raise MissingExtraError(package, extra) from error
    residuals = problem.log_measured - log_predicted
    weights = problem.weights * _huber_weights(residuals / problem.noise)
    scale = np.sqrt(weights) / problem.noise
    low = np.maximum(bounds[0] - scores, -LONGEST_STEP)
    high = np.minimum(bounds[1] - scores, LONGEST_STEP)
    solution = lsq_linear(
        np.vstack([jacobian * scale[:, None], np.eye(len(scores))]),
        np.concatenate([residuals * scale, -scores]),
        bounds=(np.minimum(low, -1e-9), np.maximum(high, 1e-9)),
        method="bvls",
    )
    step: FloatArray = np.clip(np.asarray(solution.x), low, high)
    return step


def _descend(
    problem: Problem,
    base: Calibration,
    parameters: Sequence[Parameter],
    scores: FloatArray,
    log_predicted: FloatArray,
    step: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Take a step, halved until the cost falls; stay where it does not."""
    cost = _cost(problem, scores, log_predicted)
    for halving in range(HALVINGS):
        ahead = scores + step / 2**halving
        predicted = predict_scores(problem, base, parameters, ahead)
        if _cost(problem, ahead, predicted) < cost:
            return ahead, predicted
    return scores, log_predicted


def _cost(problem: Problem, scores: FloatArray, log_predicted: FloatArray) -> float:
    """Give Huber's loss of the residuals plus the priors' squares."""
    size = np.abs(problem.log_measured - log_predicted) / problem.noise
    loss = np.where(size <= HUBER, size**2, 2 * HUBER * size - HUBER**2)
    return float(np.sum(problem.weights * loss) + np.sum(scores**2))


def score_errors(problem: Problem, jacobian: FloatArray, log_predicted: FloatArray) -> FloatArray:
    """Give the standard error of each score, in prior spreads: ``diag((JᵀWJ / s² + 1)⁻¹)^½``, s² the scatter found."""
    residuals = (problem.log_measured - log_predicted) / problem.noise
    weights = problem.weights * _huber_weights(residuals)
    scatter = max(1.0, float(np.sum(weights * residuals**2) / np.sum(weights)))
    information = jacobian.T @ (jacobian * (weights / problem.noise**2 / scatter)[:, None])
    return np.sqrt(np.diag(np.linalg.inv(information + np.eye(jacobian.shape[1]))))


def _huber_weights(residuals: FloatArray) -> FloatArray:
    """Weight residuals, given in noise spreads. [-]"""
    return 1.0 / np.maximum(1.0, np.abs(residuals) / HUBER)

"""How sure a predicted step time is: which residuals speak for it, how they are scaled, and what widens them.

The method is that of ``uncertainty``; here is what depends on the setting of the step.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import log, prod
from typing import TYPE_CHECKING

import numpy as np

from suanpei.machine.calibration import SPLITS
from suanpei.messages import Message
from suanpei.physics.setting import ERROR_CLASSES, SIZES
from suanpei.physics.uncertainty import PRIOR_STEP_SIGMA, Spread, say_residuals, stretch_sources

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from suanpei.machine.calibration import Evidence, EvidenceSplit, Residuals
    from suanpei.physics.setting import Setting, Size

    FloatArray = NDArray[np.float64]

WAITING_SPREAD = 5.0
"""How many times less sure a second of waiting (bare communication, bubble, fixed time) is than a second of work.
Source: squared residuals of the validation's throughput rows regressed on the squared shares of the step's parts, each
with its own spread: products 0.06 to 0.12, attention 0.11 to 0.14, communication 0.58 to 0.59, bubble 0.45 to 0.54.
Recomputation came out at 0.5 as well and is left with the work, which it is."""

UNMEASURED_WIDENING = 1.5
"""Factor on the width of the interval for an accelerator generation without training measurements. A judgement, shown
in the evidence: there is by definition nothing to measure it with."""

UNSEEN_RECIPE_WIDENING = 1.25
"""The same for a recipe of which no place was timed often enough. A judgement: recipes differ less than cards."""

EXTRAPOLATED_WIDENING = 1.25
"""The same for each size (`SIZES`) beyond everything timed. A judgement."""

MOST_WIDENING = 3.0
"""Bound on all of them together; what the search's own bounds rest on."""

FEW_SOURCES = 6
"""With fewer sources, a class has few measurements. [-]"""

REPEAT_SIGMA = 0.03
"""Log-spread of one configuration measured again on the same software: the 62 readings of the 27 repeated
configurations in the validation tables have their 5th and 95th percentiles at ± 0.049 about their group's mean."""


def scale_step(waiting_share: ArrayLike) -> FloatArray:
    """Give how much less sure a step is than one that is all work; errors of work and of waiting are independent.

    Args:
        waiting_share: Share of the step in which nothing computes, any shape. [-]

    Returns:
        ``√((1 - share)² + (WAITING_SPREAD · share)²)``, the same shape. [-]

    Example:
        >>> scale_step([0.0, 0.25]).round(3).tolist()
        [1.0, 1.458]
    """
    share = np.asarray(waiting_share, dtype=np.float64)
    return np.asarray(np.hypot(1.0 - share, WAITING_SPREAD * share))


MUCH_WAITING = 0.1
"""Waiting share from which the evidence says what it does to the interval. [-]"""

LEAST_SCALE = float(scale_step(1.0 / (1.0 + WAITING_SPREAD**2)))
"""Scale of the waiting share that makes a step as sure as it can be. [-]"""


def choose_split(evidence: Evidence, setting: Setting) -> EvidenceSplit:
    """Name the residuals that speak for a step: cross-validation's where card, recipe and fabric pretrained before."""
    return "grouped" if setting.pretrains and setting.place in evidence.settings else "source_left_out"


def spread_step_time(evidence: Evidence, setting: Setting, split: EvidenceSplit | None = None) -> Spread:
    """Give the distribution of a step time.

    Args:
        evidence: What was measured; a class without residuals reads the next wider one. [-]
        setting: Where the step is asked for. [-]
        split: Whose residuals to read; None chooses by what was measured. [-]

    Returns:
        The spread with its evidence.
    """
    split = split or choose_split(evidence, setting)
    widenings = _list_widenings(evidence, setting)
    said = [message for _, message in widenings]
    base, name, residuals = _spread_class(evidence, setting.error_class, split)
    widening = min(prod(factor for factor, _ in widenings), MOST_WIDENING)
    if residuals is None:
        line = Message("step time: no comparable run was measured; the interval is a prior")
        return replace(base, widening=widening, evidence=(line, *said))
    values = {"error_class": name, **say_residuals(residuals)}
    if split == "grouped":
        line = Message(
            "step time: card, recipe and network were all measured; class {error_class} as predicted by fits without"
            " the configuration, {sources} sources weighing equally: half within {half}, nine of ten within {most}",
            **values,
        )
    else:
        line = Message(
            "step time: this card, recipe and network were not measured together; class {error_class} as predicted by"
            " fits without the whole source, {sources} sources weighing equally: half within {half}, nine of ten within"
            " {most}",
            **values,
        )
    if split == "source_left_out" and not setting.pretrains:
        said.append(
            Message("speeds of tuning were measured by two sources only; their errors were larger: docs/limits.md")
        )
    if setting.waiting_share > MUCH_WAITING:
        said.append(
            Message(
                "{share} of the step is waiting, which is less sure: the interval is {factor:.2f} times that of work"
                " alone",
                share=f"{setting.waiting_share:.0%}",
                factor=float(scale_step(setting.waiting_share)),
            )
        )
    if residuals.sources < FEW_SOURCES:
        said.append(
            Message("class {error_class} has few sources; what the model leaves out: docs/limits.md", error_class=name)
        )
    spread = replace(base, widening=base.widening * widening, evidence=(line, *said))
    return replace(spread, scale=min(float(scale_step(setting.waiting_share)), _most_scale(spread)))


def _most_scale(spread: Spread) -> float:
    """Give the scale at which an interval is as wide as that of a prior with every widening; no evidence is less."""
    most = _measure_width((), PRIOR_STEP_SIGMA, MOST_WIDENING)
    return most / _measure_width(spread.residuals, spread.prior_sigma, spread.widening)


@lru_cache(maxsize=256)
def _measure_width(residuals: tuple[float, ...], prior_sigma: float, widening: float) -> float:
    low, high = Spread(residuals=residuals, prior_sigma=prior_sigma, widening=widening).interval(1.0)
    return log(high / low)


def bound_step_factor(evidence: Evidence, error_class: str, confidence: float) -> float:
    """Give a factor that `spread_step_time` never stays below, whatever the setting.

    Args:
        evidence: What was measured. [-]
        error_class: ``A``, ``B`` or ``C``. [-]
        confidence: Probability with which measured over predicted stays below the factor. [-]

    Returns:
        The least factor over both splits, all widenings and all scales. [-]
    """
    factors = []
    for split in SPLITS:
        base, _, residuals = _spread_class(evidence, error_class, split)
        # the least scale is that of a waiting share of 1 / (1 + WAITING_SPREAD²), the greatest that of waiting alone
        scales = (1.0,) if residuals is None else (LEAST_SCALE, WAITING_SPREAD)
        factors += [
            replace(base, widening=base.widening * widening, scale=scale).factor(confidence)
            for widening in (1.0, MOST_WIDENING)
            for scale in scales
        ]
    return min(factors)


def measure_risk(evidence: Evidence, error_class: str, confidence: float) -> float:
    """Give the logarithm of the factor that a step which is all work stays below; another has it times its scale.

    Args:
        evidence: What was measured. [-]
        error_class: ``A``, ``B`` or ``C``. [-]
        confidence: Probability of staying below. [-]

    Returns:
        Zero or above. [-]
    """
    base, _, _ = _spread_class(evidence, error_class, "source_left_out")
    return max(float(base.log_quantile(confidence)), 0.0)


def _spread_class(evidence: Evidence, error_class: str, split: EvidenceSplit) -> tuple[Spread, str, Residuals | None]:
    """Give the spread of a class at scale 1, the class that it really comes from, and its residuals."""
    for candidate in ERROR_CLASSES[ERROR_CLASSES.index(error_class) :]:
        residuals = evidence.step.get(split, {}).get(candidate)
        if residuals is not None and residuals.logs:
            widening = stretch_sources(residuals.sources) if split == "source_left_out" else 1.0
            return (
                Spread(residuals=residuals.logs, prior_sigma=PRIOR_STEP_SIGMA, widening=widening),
                candidate,
                residuals,
            )
    return Spread(prior_sigma=PRIOR_STEP_SIGMA), error_class, None


def _list_widenings(evidence: Evidence, setting: Setting) -> list[tuple[float, Message]]:
    """Give each reason to widen with its factor."""
    found: list[tuple[float, Message]] = []
    if setting.generation not in evidence.generations:
        found.append(
            (
                UNMEASURED_WIDENING,
                Message(
                    "no training run on {generation} was measured: the interval is {factor} times as wide",
                    generation=setting.generation,
                    factor=UNMEASURED_WIDENING,
                ),
            )
        )
    if setting.recipe not in {recipe for _, _, recipe, _ in evidence.settings}:
        found.append(
            (
                UNSEEN_RECIPE_WIDENING,
                Message(
                    "few or no steps of recipe {recipe} were measured: the interval is {factor} times as wide",
                    recipe=setting.recipe,
                    factor=UNSEEN_RECIPE_WIDENING,
                ),
            )
        )
    for size in SIZES:
        value = getattr(setting, size)
        low, high = evidence.ranges.get(size, (value, value))
        if not low <= value <= high:
            found.append(
                (
                    EXTRAPOLATED_WIDENING,
                    Message(
                        "{size} {value} lies beyond what was measured ({low} to {high}): the interval is {factor} times"
                        " as wide",
                        size=_SIZE_NAMES[size],
                        value=f"{value:,}",
                        low=f"{low:,.0f}",
                        high=f"{high:,.0f}",
                        factor=EXTRAPOLATED_WIDENING,
                    ),
                )
            )
    return found


_SIZE_NAMES: dict[Size, Message] = {
    "hidden": Message("hidden width"),
    "gpus": Message("number of cards"),
    "micro_batch_tokens": Message("tokens of a micro-batch"),
}


def spread_measured_step() -> Spread:
    """Give the distribution of a step time that the user measured: repeat noise alone."""
    return Spread(
        prior_sigma=REPEAT_SIGMA,
        evidence=(Message("step time: measured by you; the interval is the noise between repeated measurements"),),
    )

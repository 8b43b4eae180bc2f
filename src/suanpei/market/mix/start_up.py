"""What elastic capacity costs beside the hours that it works: starting, and being taken back.

**Starting.** A machine is billed from the moment it is switched on. Until it works it pulls its image, stages the data
and loads the checkpoint, one after the other::

    start-up = boot + image / pull rate + data / data rate + checkpoint / checkpoint rate

**Spot.** Machines are taken back at random, λ times per hour of running (a Poisson process). A stretch of T useful
hours from one save to the next is begun again from its start whenever that happens, and each new beginning takes a
start-up r; the hours paid until it is through once are, expected, ::

    E(T) = (e^{λT} - 1) (1/λ + r)

With r = 0 it is the (e^{λT} - 1)/λ of restarts without checkpoints [1]_. A job that saves every T hours pays
E(T)/T for each useful hour; one that never saves has the whole stretch as its T, and soon never finishes.

References:
    .. [1] J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", Future
           Generation Computer Systems 22, 2006, section 2 (exponential failures, restart time R).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1

HOPELESS_FACTOR = 20.0
"""Paid over useful hours from which spot is no way to get work done; such stretches are never put on spot. [-]"""


@dataclass(frozen=True, kw_only=True)
class StartUp:
    """Seconds that each start of an elastic machine is paid before it works."""

    boot_s: float = 0.0
    image_s: float = 0.0
    """Pulling the image. [s]"""
    data_s: float = 0.0
    """Staging the data. [s]"""
    checkpoint_s: float = 0.0
    """Loading the checkpoint. [s]"""

    @property
    def total_s(self) -> float:
        """All of it, one part after the other. [s]"""
        return self.boot_s + self.image_s + self.data_s + self.checkpoint_s


@dataclass(frozen=True, kw_only=True)
class Interruptions:
    """How spot machines are taken back."""

    rate_per_hour: float
    """Mean number per hour of running. [1/h]"""
    checkpoint_hours: float | None = None
    """Useful hours between two saves; None is no checkpoint. [h]"""

    def spot_factor(self, stretch_hours: float, start_up_hours: float) -> float:
        """Give the expected paid hours for one useful hour.

        Args:
            stretch_hours: Useful hours in one go. [h]
            start_up_hours: Paid after each interruption before work goes on. [h]

        Returns:
            Factor of at least 1; infinite where the exponent leaves the floats. [-]
        """
        span_hours = min(self.checkpoint_hours or stretch_hours, stretch_hours)
        return expected_hours(span_hours, self.rate_per_hour, start_up_hours) / span_hours


def expected_hours(hours: float, rate_per_hour: float, restart_hours: float = 0.0) -> float:
    """Give the hours that are paid, expected, until a stretch has run once without an interruption.

    Args:
        hours: Useful hours of the stretch. [h]
        rate_per_hour: Interruptions per hour. [1/h]
        restart_hours: Paid after each interruption before the stretch begins again. [h]

    Returns:
        ``(e^{λT} - 1)(1/λ + r)``, T itself at a rate of 0; infinite where the exponent leaves the floats. [h]

    Example:
        >>> round(expected_hours(48.5, 0.15))
        9618
    """
    exponent = rate_per_hour * hours
    if exponent > 700:  # e^709 is the last float
        return float("inf")
    return hours if rate_per_hour == 0 else expm1(exponent) * (1.0 / rate_per_hour + restart_hours)


def clean_run_probability(hours: float, rate_per_hour: float) -> float:
    """Give the probability that no interruption falls into a stretch: ``e^{-λT}``.

    Args:
        hours: Length of the stretch. [h]
        rate_per_hour: Interruptions per hour. [1/h]
    """
    return exp(-rate_per_hour * hours)


def transfer_s(size_bytes: float, rate_bytes_per_s: float) -> float:
    """Give the time that a transfer takes. [B], [B/s] → [s]"""
    return size_bytes / rate_bytes_per_s

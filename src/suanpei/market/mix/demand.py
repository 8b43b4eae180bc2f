"""Demand over time: how many accelerators are needed from when to when, without a gap.

Steps follow each other from zero to the horizon. A step with no accelerators was stated to be zero; what nobody stated
never becomes a step.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.quantities import MOST_GPUS, parse_count, parse_duration_s
from suanpei.units import HOUR_S, MONTH_HOURS, YEAR_HOURS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from numpy.typing import NDArray

LONGEST_S = int(10 * YEAR_HOURS * HOUR_S)
"""No demand is known further ahead. [s]"""
MOST_STEPS = 200_000
"""Rows of a demand: 20 years of hours. [-]"""
MONTH_S = int(MONTH_HOURS * HOUR_S)

_SEPARATOR = re.compile(r"[,;、\n]+")
_PHASE = re.compile(r"(?:(?P<name>[^:]*?)\s*:\s*)?(?P<gpus>[^x×*:]+?)\s*[x×*]\s*(?P<time>[^x×*:]+)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class DemandStep:
    """A stretch of time in which the same number of accelerators is needed."""

    start_s: int
    """From the start of the demand. [s]"""
    duration_s: int
    """[s]"""
    gpus: int
    """Accelerators needed; 0 was stated. [-]"""
    name: str = ""
    """The phase, where it has a name."""

    @property
    def end_s(self) -> int:
        """When it is over. [s]"""
        return self.start_s + self.duration_s


@dataclass(frozen=True, kw_only=True)
class Demand:
    """Steps that follow each other without a gap."""

    steps: tuple[DemandStep, ...]
    starts_at: datetime | None = None
    """Calendar time of the start; None is not stated."""
    is_by_month: bool = False
    """Whether each step is a calendar month, taken as 730 h."""
    needs_one_seller: bool = False
    """Whether each step is one run, whose cards must come from one seller; else it is a pool of work."""
    assumptions: tuple[Message, ...] = ()
    field: str = "demand"
    """The option or file that states it, for errors."""

    def __post_init__(self) -> None:
        """Check the steps.

        Raises:
            InputError: No step, more than ten years, no accelerator ever needed, or too many of them.
        """
        if not self.steps:
            raise InputError(Message("{field}: there is no step", field=self.field))
        if self.horizon_s > LONGEST_S:
            raise InputError(
                Message(
                    "{field}: {years:.1f} years are more than ten",
                    field=self.field,
                    years=self.horizon_s / HOUR_S / YEAR_HOURS,
                )
            )
        if self.peak_gpus == 0:
            raise InputError(Message("{field}: every step needs 0 cards, there is nothing to rent", field=self.field))

    @property
    def horizon_s(self) -> int:
        """When the last step is over. [s]"""
        return self.steps[-1].end_s

    @property
    def horizon_hours(self) -> float:
        """When the last step is over. [h]"""
        return self.horizon_s / HOUR_S

    @cached_property
    def peak_gpus(self) -> int:
        """Most accelerators needed at a time. [-]"""
        return max(step.gpus for step in self.steps)

    @property
    def least_gpus(self) -> int:
        """Fewest accelerators needed at a time. [-]"""
        return min(step.gpus for step in self.steps)

    @property
    def gpu_hours(self) -> float:
        """Accelerator-hours needed in all. [card-hour]"""
        return sum(step.gpus * step.duration_s for step in self.steps) / HOUR_S

    @property
    def longest_run_hours(self) -> float:
        """The longest time in which some accelerator is needed without a break. [h]"""
        longest_s = run_s = 0
        for step in self.steps:
            run_s = run_s + step.duration_s if step.gpus else 0
            longest_s = max(longest_s, run_s)
        return longest_s / HOUR_S

    @cached_property
    def edges_s(self) -> NDArray[np.int64]:
        """Starts of all steps, and the horizon. [s]"""
        return np.array([*(step.start_s for step in self.steps), self.horizon_s], dtype=np.int64)

    @cached_property
    def gpus(self) -> NDArray[np.int64]:
        """Accelerators needed in each step. [-]"""
        return np.array([step.gpus for step in self.steps], dtype=np.int64)

    def date_at(self, moment_s: int) -> datetime | None:
        """Name the calendar time of a moment; months of 730 h count as calendar months. [s]

        Args:
            moment_s: From the start of the demand. [s]

        Returns:
            Local time; None where the demand has no dates. [-]
        """
        if self.starts_at is None:
            return None
        months, rest_s = divmod(moment_s, MONTH_S) if self.is_by_month else (0, moment_s)
        month = self.starts_at.month - 1 + months
        first = self.starts_at.replace(year=self.starts_at.year + month // 12, month=month % 12 + 1)
        return first + timedelta(seconds=rest_s)

    def merged(self, unit_gpus: int = 1) -> Demand:
        """Join neighbouring steps that need the same number of whole units.

        Where each step needs one seller, only neighbours of the same name and the same cards: others are runs of their
        own, which may stand with different sellers. Exact for a program whose capacities are all multiples of the unit:
        such a capacity covers d accelerators where it covers the next multiple of the unit, and two steps of equal
        demand have equal constraints.

        Args:
            unit_gpus: Accelerators that every capacity is a multiple of. [-]

        Returns:
            The same demand, rounded up to whole units, in as few steps as can be.
        """
        steps: list[DemandStep] = []
        before: tuple[str, int] | None = None
        for step in self.steps:
            gpus = -(-step.gpus // unit_gpus) * unit_gpus
            run = (step.name, step.gpus) if self.needs_one_seller else ("", gpus)
            if run == before:
                steps[-1] = replace(steps[-1], duration_s=steps[-1].duration_s + step.duration_s)
            else:
                steps.append(replace(step, gpus=gpus, name=run[0]))
            before = run
        return replace(self, steps=tuple(steps))

    def busy_hours(self) -> tuple[tuple[int, float], ...]:
        """Give for how long each accelerator is busy, equal ones together.

        Returns:
            Pairs of level and hours, rising: the cards above the level before and up to this one are busy for so
            long, the first cards the longest. [-], [h]
        """
        durations_s = np.diff(self.edges_s)
        levels = np.unique(self.gpus[self.gpus > 0])
        return tuple((int(level), float(durations_s[self.gpus >= level].sum()) / HOUR_S) for level in levels)


def join_steps(parts: Sequence[tuple[int, int, str]]) -> tuple[DemandStep, ...]:
    """Lay stretches one behind the other.

    Args:
        parts: Duration, accelerators and name of each. [s], [-]

    Returns:
        The steps, from zero.
    """
    steps: list[DemandStep] = []
    start_s = 0
    for duration_s, gpus, name in parts:
        steps.append(DemandStep(start_s=start_s, duration_s=duration_s, gpus=gpus, name=name))
        start_s += duration_s
    return tuple(steps)


def parse_phases(text: str, field: str, *, default_s: int | None = None) -> Demand:
    """Read phases that follow each other: ``train:64x20d, tune:8x60d``, ``训练：64卡×20天；微调：8卡×60天``.

    Args:
        text: Phases, separated by commas or semicolons; a month is 730 h. [-]
        field: Name of the option, for the error. [-]
        default_s: Duration of a phase that names none; None makes it an error. [s]

    Returns:
        The demand, one step per phase.

    Raises:
        InputError: A phase that cannot be read, names no duration, or is too long.
    """
    takes = Message("phases such as train:64x20d, tune:8x60d")
    parts: list[tuple[int, int, str]] = []
    plain = unicodedata.normalize("NFKC", text).strip()
    if not plain:
        raise InputError(Message("{field} is empty", field=field))
    for phase in filter(None, (piece.strip() for piece in _SEPARATOR.split(plain))):
        found = _PHASE.fullmatch(phase)
        if found is None and default_s is not None:
            parts.append((default_s, _read_gpus(phase, field), ""))
            continue
        if found is None:
            raise InputError(
                Message("{field}: cannot read '{given}'; it takes {takes}", field=field, given=phase, takes=takes)
            )
        duration_s = round(parse_duration_s(found["time"], f"{field} {phase}"))
        if duration_s < 1:
            raise InputError(Message("{field}: '{given}' is shorter than a second", field=field, given=phase))
        parts.append((duration_s, _read_gpus(found["gpus"], f"{field} {phase}"), (found["name"] or "").strip()))
    return Demand(steps=join_steps(parts), field=field)


def _read_gpus(text: str, field: str) -> int:
    """Read a number of accelerators; zero is one, where it is written."""
    plain = re.sub(r"\s*(?:张卡|张|卡|块|gpus?|cards?)$", "", text.strip(), flags=re.IGNORECASE)
    return 0 if re.fullmatch(r"0+", plain) else parse_count(plain, field, most=int(MOST_GPUS))

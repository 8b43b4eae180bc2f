"""What the predictions must reach, on rows that the fit did not see: the targets behind the tables of accuracy.

This is data. A target belongs to a file of ``data/validation``; a figure without one is shown all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.validation.residuals import Split

Table = Literal["step_time", "memory", "bounds", "verdicts", "intervals", "regret", "predicted"]
Statistic = Literal["median", "p90", "mean", "mean_of_n", "share", "share_of_n", "width"]

THROUGHPUT, SINGLE_NODE, FINETUNE = "throughput", "throughput_single_node_a100", "finetune"
"""Stems of the files."""

ALL = "all"
"""The group of everything."""

SETS: Mapping[str, frozenset[str]] = {
    "megatron_a100": frozenset({"seq2205", "megatron2021", "mtnlg"}),
    "vtrain_multi": frozenset({"vtrain_multi"}),
}
"""Published tables with targets of their own: the set names of their rows."""

SMALLEST_CLASS_ROWS = 40
"""A class of fewer rows has no target for the share that its intervals hold."""


class Place(NamedTuple):
    """Which statistic of what."""

    table: Table
    file: str
    """Stem of the file."""
    split: Split | None
    """None for what does not depend on a fit."""
    figure: str
    """``step_time``; ``memory`` or a memory metric; a bound; which call of a verdict; else the table's name."""
    group: str
    """A class, a set, a source, or `ALL`."""
    statistic: Statistic


class Limits(NamedTuple):
    """The least and the most that a statistic may be; None is no limit."""

    least: float | None = None
    most: float | None = None

    def are_kept_by(self, value: float) -> bool:
        """Whether a value lies within, both ends included."""
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)


NO_LIMITS = Limits()


def find_limits(place: Place) -> Limits:
    """Find the target of a statistic.

    Rows that a fit may have seen stand beside the targets of cross-validation; see `Score.is_met`.

    Args:
        place: Which statistic.
    """
    return TARGETS.get(place._replace(split="grouped") if place.split == "as_fitted" else place, NO_LIMITS)


HIDDEN_SIZE: Split = "hidden_size_left_out"

_BY_CLASS: tuple[tuple[str, Split, float, float], ...] = (
    ("A", "grouped", 0.03, 0.10),
    ("A", "source_left_out", 0.07, 0.20),
    ("B", "grouped", 0.05, 0.15),
    ("B", "source_left_out", 0.10, 0.28),
    ("C", "grouped", 0.08, 0.25),
    ("C", "source_left_out", 0.15, 0.40),
)
"""Class, split, median and 90th percentile of the error of step times in throughput.csv."""

_BY_SET: tuple[tuple[str, str, Split, float], ...] = (
    (THROUGHPUT, "megatron_a100", "grouped", 0.04),
    (THROUGHPUT, "megatron_a100", "source_left_out", 0.08),
    (THROUGHPUT, "vtrain_multi", "grouped", 0.06),
    (THROUGHPUT, "vtrain_multi", "source_left_out", 0.12),
    (SINGLE_NODE, "A", HIDDEN_SIZE, 0.05),
)
"""File, group, split and mean error of step times."""

_BY_COUNTER: tuple[tuple[str, Split, float, float], ...] = (
    ("allocated_bytes", "grouped", 0.05, 0.12),
    ("allocated_bytes", "source_left_out", 0.05, 0.12),
    ("reserved_bytes", "grouped", 0.10, 0.25),
    ("reserved_bytes", "source_left_out", 0.15, 0.35),
    ("device_bytes", "grouped", 0.10, 0.25),
    ("device_bytes", "source_left_out", 0.15, 0.35),
)
"""Counter, split, median and 90th percentile of the error of memory of class A."""

_CALLS: tuple[tuple[str, Limits], ...] = (
    ("oom_caught", Limits(least=0.90)),
    ("fitting_refused", Limits(most=0.03)),
    ("fitting_at_risk", Limits(most=0.15)),
)
"""Share of the rows whose memory ran out that is called ``does_not_fit`` or ``at_risk``; of those that ran, the shares
called ``does_not_fit`` and ``at_risk``."""

_WIDTHS: tuple[tuple[str, Split, float], ...] = (
    ("A", "grouped", 1.25),
    ("A", "source_left_out", 1.5),
    ("C", "grouped", 1.7),
    ("C", "source_left_out", 2.3),
)
"""Class, split and median width of the 90 % intervals of step times in throughput.csv, high over low."""

_HELD = Limits(least=0.87, most=0.93)
_REGRET = Limits(most=0.02)
_PREDICTED = Limits(least=0.95)
_FILES = (THROUGHPUT, SINGLE_NODE, FINETUNE)
_SPLITS: tuple[Split, ...] = ("grouped", "source_left_out")
_INTERVALS: tuple[tuple[str, Split, str], ...] = (
    *((THROUGHPUT, split, figure) for split in _SPLITS for figure in ("step_time", "memory")),
    *((SINGLE_NODE, split, "step_time") for split in (*_SPLITS, HIDDEN_SIZE)),
    *((FINETUNE, split, "memory") for split in _SPLITS),
)
"""File, split and figure whose intervals are judged; speeds of fine-tuning are shown without a target."""


def _name_limits(median: float, p90: float) -> tuple[tuple[Statistic, Limits], tuple[Statistic, Limits]]:
    return ("median", Limits(most=median)), ("p90", Limits(most=p90))


TARGETS: Mapping[Place, Limits] = {
    **{
        Place("step_time", THROUGHPUT, split, "step_time", group, statistic): limits
        for group, split, middle, most in _BY_CLASS
        for statistic, limits in _name_limits(middle, most)
    },
    **{
        Place("step_time", file, split, "step_time", group, "mean"): Limits(most=mean)
        for file, group, split, mean in _BY_SET
    },
    **{
        Place("memory", file, split, counter, "A", statistic): limits
        for file in (THROUGHPUT, FINETUNE)
        for counter, split, middle, most in _BY_COUNTER
        for statistic, limits in _name_limits(middle, most)
    },
    **{
        Place("verdicts", file, split, call, ALL, "share"): limits
        for file in _FILES
        for split in _SPLITS
        for call, limits in _CALLS
    },
    **{Place("intervals", file, split, figure, ALL, "share"): _HELD for file, split, figure in _INTERVALS},
    **{
        Place("intervals", THROUGHPUT, split, "step_time", group, "width"): Limits(most=width)
        for group, split, width in _WIDTHS
    },
    **{Place("regret", file, split, "regret", ALL, "mean"): _REGRET for file in _FILES for split in _SPLITS},
    **{Place("predicted", file, None, "predicted", ALL, "share"): _PREDICTED for file in _FILES},
}
"""What each statistic must reach; a class of at least `SMALLEST_CLASS_ROWS` also holds its share within binomial error,
see `suanpei.validation.scorecard`."""

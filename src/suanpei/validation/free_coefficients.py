"""Which coefficients a fit may move, within which bounds, and how firmly their first values hold them.

This is data: a coefficient that is not listed keeps its value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log
from typing import TYPE_CHECKING, Literal

from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suanpei.machine.calibration import Calibration, Coefficient

Level = Literal["generations", "recipes", "fabrics", "memory"]

MEMORY_KEY = "all"
"""The one key of the memory level: what a device needs beside tensors is the same everywhere."""


@dataclass(frozen=True, kw_only=True)
class FreeCoefficient:
    """A coefficient that measurements may move."""

    level: Level
    name: str
    low: float
    high: float
    """Physical bounds, in the coefficient's unit."""
    prior_spread: float
    """Standard deviation of the prior: of the logarithm where `is_ratio`, else in the coefficient's unit."""
    is_ratio: bool = True
    """Whether it is moved by factors; else by differences (a share that may be zero)."""
    meaning: Message


FREE_COEFFICIENTS: tuple[FreeCoefficient, ...] = (
    FreeCoefficient(
        level="generations",
        name="matrix_fraction",
        low=0.3,
        high=1.0,
        prior_spread=0.10,
        meaning=Message("achievable rate of large products over the data sheet's peak"),
    ),
    FreeCoefficient(
        level="generations",
        name="matrix_fraction_fp8",
        low=0.2,
        high=0.9,
        prior_spread=0.15,
        meaning=Message("the same in 8 bits"),
    ),
    FreeCoefficient(
        level="generations",
        name="memory_fraction",
        low=0.4,
        high=1.0,
        prior_spread=0.10,
        meaning=Message("achievable rate of element-wise passes over the data sheet's memory rate"),
    ),
    FreeCoefficient(
        level="generations",
        name="attention_forward_fraction",
        low=0.1,
        high=0.9,
        prior_spread=0.2,
        meaning=Message("rate of the forward attention kernel over the peak"),
    ),
    FreeCoefficient(
        level="generations",
        name="attention_backward_fraction",
        low=0.1,
        high=0.9,
        prior_spread=0.2,
        meaning=Message("rate of the backward attention kernel over the peak"),
    ),
    FreeCoefficient(
        level="generations",
        name="newest_attention_gain",
        low=1.0,
        high=2.5,
        prior_spread=0.15,
        meaning=Message("rate of the newest attention kernels over FlashAttention-2"),
    ),
    FreeCoefficient(
        level="generations",
        name="newest_backward_gain",
        low=1.0,
        high=5.0,
        prior_spread=0.2,
        meaning=Message("the same for the backward kernels"),
    ),
    FreeCoefficient(
        level="recipes",
        name="pass_traffic",
        low=0.8,
        high=6.0,
        prior_spread=0.4,
        meaning=Message("memory traffic of element-wise work over that of fused kernels"),
    ),
    FreeCoefficient(
        level="recipes",
        name="launch_s",
        low=1e-6,
        high=6e-5,
        prior_spread=0.4,
        meaning=Message("host time of one kernel"),
    ),
    FreeCoefficient(
        level="generations",
        name="product_start_s",
        low=1e-6,
        high=1.5e-5,
        prior_spread=0.3,
        meaning=Message("fixed time of one product"),
    ),
    FreeCoefficient(
        level="recipes",
        name="hidden_comm_cost",
        low=0.0,
        high=1.0,
        prior_spread=0.15,
        is_ratio=False,
        meaning=Message("share of the time of communication beside compute that shows all the same"),
    ),
    FreeCoefficient(
        level="recipes",
        name="tensor_overlap",
        low=0.0,
        high=1.0,
        prior_spread=0.25,
        is_ratio=False,
        meaning=Message("share of tensor-parallel communication hidden behind products"),
    ),
    FreeCoefficient(
        level="recipes",
        name="step_overhead_s",
        low=0.0,
        high=0.5,
        prior_spread=0.02,
        is_ratio=False,
        meaning=Message("time per step outside the model"),
    ),
    FreeCoefficient(
        level="fabrics",
        name="bandwidth_fraction",
        low=0.2,
        high=1.3,
        prior_spread=0.2,
        meaning=Message("collective bandwidth in training over that of the benchmark"),
    ),
    FreeCoefficient(
        level="fabrics",
        name="latency_s",
        low=1e-6,
        high=1e-3,
        prior_spread=0.5,
        meaning=Message("start-up time of one step of a collective"),
    ),
    FreeCoefficient(
        level="fabrics",
        name="ramp_s",
        low=1e-6,
        high=2e-3,
        prior_spread=0.3,
        meaning=Message("time to fill and drain a large collective's pipeline of chunks"),
    ),
    FreeCoefficient(
        level="memory",
        name="context_bytes",
        low=2e8,
        high=2e9,
        prior_spread=0.2,
        meaning=Message("what a process holds before its first tensor"),
    ),
    FreeCoefficient(
        level="memory",
        name="communicator_bytes",
        low=2e7,
        high=5e8,
        prior_spread=0.4,
        meaning=Message("buffers of one group of communicating ranks"),
    ),
    FreeCoefficient(
        level="memory",
        name="fragmentation_fraction",
        low=0.0,
        high=0.2,
        prior_spread=0.03,
        is_ratio=False,
        meaning=Message("share of passing tensors lost between allocations"),
    ),
    FreeCoefficient(
        level="memory",
        name="cache_fraction",
        low=0.0,
        high=1.0,
        prior_spread=0.15,
        is_ratio=False,
        meaning=Message("share of freed blocks that no later phase uses again"),
    ),
)


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One free coefficient of one generation, recipe or fabric, in units of its prior's spread."""

    free: FreeCoefficient
    key: str
    """The generation, recipe or fabric technology."""
    prior: float

    def value(self, score: float) -> float:
        """Give the coefficient at a distance from its prior. [prior spreads]"""
        if self.free.is_ratio:
            return self.prior * exp(score * self.free.prior_spread)
        return self.prior + score * self.free.prior_spread

    def score(self, value: float) -> float:
        """Give the distance of a value from the prior. [prior spreads]"""
        if self.free.is_ratio:
            return log(value / self.prior) / self.free.prior_spread
        return (value - self.prior) / self.free.prior_spread

    @property
    def bounds(self) -> tuple[float, float]:
        """Scores of the physical bounds; the prior always lies inside."""
        return min(self.score(self.free.low), -1e-6), max(self.score(self.free.high), 1e-6)

    def standard_error(self, score: float, score_error: float) -> float:
        """Give the standard error in the coefficient's unit from that of the score."""
        return float(score_error * self.free.prior_spread * (self.value(score) if self.free.is_ratio else 1.0))


def list_parameters(
    calibration: Calibration, keys: Mapping[Level, frozenset[str]], free: Sequence[FreeCoefficient]
) -> tuple[Parameter, ...]:
    """List the parameters that a set of cases may move.

    Args:
        calibration: Holds the priors; only what it names can be moved.
        keys: Generations, recipes and fabrics that the cases use.
        free: What may move.

    Returns:
        In the order of `free`, keys sorted.
    """
    parameters = []
    for coefficient in free:
        table = _tables(calibration)[coefficient.level]
        for key in sorted(keys[coefficient.level]):
            known = table.get(key, {}).get(coefficient.name)
            if known is not None and (known.prior > 0 or not coefficient.is_ratio):
                parameters.append(Parameter(free=coefficient, key=key, prior=known.prior))
    return tuple(parameters)


def with_values(
    calibration: Calibration,
    parameters: Sequence[Parameter],
    values: Sequence[float],
    standard_errors: Sequence[float | None] | None = None,
    figures: int | None = None,
) -> Calibration:
    """Give a calibration with other values of some coefficients.

    A coefficient's source always says where its first value comes from, and before it whether it was fitted.

    Args:
        calibration: The rest.
        parameters: Which to replace.
        values: Of the same length, in the coefficients' units.
        standard_errors: None keeps them.
        figures: Published figures that they were fitted to; 0 where they stand at their first values; None keeps what
            the source says. [-]
    """
    tables = {
        level: {key: dict(table) for key, table in entries.items()} for level, entries in _tables(calibration).items()
    }
    for index, (parameter, value) in enumerate(zip(parameters, values, strict=True)):
        table = tables[parameter.free.level][parameter.key]
        old = table[parameter.free.name]
        table[parameter.free.name] = replace(
            old,
            value=float(value),
            standard_error=old.standard_error if standard_errors is None else standard_errors[index],
            source=old.source if figures is None else _name_source(old.source, figures),
        )
    return replace(
        calibration,
        generations=tables["generations"],
        recipes=tables["recipes"],
        fabrics=tables["fabrics"],
        memory=tables["memory"][MEMORY_KEY],
    )


FIRST_VALUE = "; first value: "
"""What parts, in a fitted coefficient's source, the fit from where its first value comes from."""


def _name_source(source: str, figures: int) -> str:
    first = source.rpartition(FIRST_VALUE)[2]
    return f"fit to {figures} published figures{FIRST_VALUE}{first}" if figures else first


def _tables(calibration: Calibration) -> dict[Level, Mapping[str, Mapping[str, Coefficient]]]:
    return {
        "generations": calibration.generations,
        "recipes": calibration.recipes,
        "fabrics": calibration.fabrics,
        "memory": {MEMORY_KEY: calibration.memory},
    }

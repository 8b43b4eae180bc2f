"""What the first plan of a result of ``suanpei plan --json`` promises, as far as a pilot can check it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from suanpei.market.mix.pilot import PlannedStep
from suanpei.verbs.plan_file import Count, Text
from suanpei.verbs.result_file import read_plan

if TYPE_CHECKING:
    from pathlib import Path

Seconds = Annotated[float, Field(ge=1e-9, le=1e9)]


class _Entry(BaseModel):
    """Keys of other versions are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Step(_Entry):
    """One optimizer step, with the ends of its 90 % interval."""

    seconds: Seconds
    low_seconds: Seconds
    high_seconds: Seconds


class _Estimate(_Entry):
    step: _Step


class _Run(_Entry):
    goodput: Annotated[float, Field(gt=0, le=1)]


class _Plan(_Entry):
    accelerator: Text
    gpus: Count
    estimate: _Estimate
    run: _Run | None


class _Document(_Entry):
    schema_version: int
    plans: Annotated[list[_Plan], Field(min_length=1)]


def read_planned_step(path: Path) -> PlannedStep:
    """Read what the first plan of a result of ``suanpei plan --json`` promises.

    Raises:
        InputError: The file cannot be read, is no such result or of a newer version; the first key that is missing or
            wrong is named.
    """
    plan = read_plan(path, "plan", _Document).plans[0]
    step = plan.estimate.step
    return PlannedStep(
        accelerator=plan.accelerator,
        gpus=plan.gpus,
        seconds=step.seconds,
        low_seconds=step.low_seconds,
        high_seconds=step.high_seconds,
        goodput_fraction=None if plan.run is None else plan.run.goodput,
    )

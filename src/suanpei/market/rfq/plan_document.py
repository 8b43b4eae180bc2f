"""What a request for quotation needs of a plan's JSON: its keys, read and checked at the border.

Other keys are let pass, so that results of older and newer versions serve as long as these keep their meaning.
"""

from __future__ import annotations

import hashlib
import json
from datetime import date  # pydantic reads the annotations at run time
from pathlib import Path  # as above
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from suanpei.errors import InputError, say_why_no_json
from suanpei.messages import Message

SCHEMA_VERSIONS = (1, 2)
"""Versions of the JSON whose keys below mean the same."""
HASH_DIGITS = 12
_MOST = 1e18
Name = Annotated[str, Field(min_length=1, max_length=200)]
Positive = Annotated[float, Field(strict=True, gt=0, le=_MOST, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(strict=True, ge=0, le=_MOST, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class StrategyPart(_Part):
    """Degrees of the strategy that say what must be near to what."""

    tp: Count
    ep: Count = 1


class MemoryPart(_Part):
    """Memory of the estimate."""

    host_bytes: NotNegative


class StepPart(_Part):
    """Step time of the estimate."""

    high_seconds: Positive


class EstimatePart(_Part):
    """The estimate of a plan."""

    tokens_per_step: Positive
    tokens_per_second_per_gpu: Positive
    memory: MemoryPart
    step: StepPart


class RunSecondsPart(_Part):
    """Parts of the run."""

    run_setup: NotNegative


class RunPart(_Part):
    """The run of a plan."""

    days: Positive
    high_days: Positive
    checkpoint_interval_s: Positive
    checkpoint_blocking_s: Positive
    parts: RunSecondsPart


class RowPart(_Part):
    """One plan."""

    rank: Count
    accelerator: Name
    gpus: Count
    nodes: Count
    fabric: Name
    strategy: StrategyPart
    estimate: EstimatePart
    run: RunPart


class JobPart(_Part):
    """The job."""

    total_parameters: Positive
    tokens: Positive | None


class NotePart(_Part):
    """An assumption: its template and values."""

    key: str
    values: dict[str, Any]


class RequestPart(_Part):
    """What the user asked of the plan."""

    as_of: date
    gpus_per_node: Count | None = None
    fabric: str | None = None
    catalog: Path | None = None


class PlanDocument(_Part):
    """A result of ``suanpei plan``."""

    schema_version: int
    request: RequestPart
    assumptions: tuple[NotePart, ...]
    job: JobPart
    plans: Annotated[tuple[RowPart, ...], Field(min_length=1)]
    request_hash: str = ""
    """Of the whole request, as hexadecimal digits: equal requests of equal days have equal hashes."""

    def row(self, rank: int) -> RowPart:
        """Give the plan of a rank.

        Raises:
            InputError: There is none.
        """
        for row in self.plans:
            if row.rank == rank:
                return row
        raise InputError(
            Message(
                "rank: the file holds plans {ranks}, not {given}", ranks=[row.rank for row in self.plans], given=rank
            )
        )


def parse_plan(text: str, file: str) -> PlanDocument:
    """Read the JSON of a plan.

    Args:
        text: The whole file. [-]
        file: Its name, for the error. [-]

    Raises:
        InputError: It is no JSON, no plan, or of a version that is not known.
    """
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(Message("{path} is not JSON: {reason}", path=file, reason=say_why_no_json(error))) from error
    if not (isinstance(document, dict) and isinstance(document.get("plans"), list)):
        raise _no_plan(file)
    version = document.get("schema_version")
    if version not in SCHEMA_VERSIONS:
        raise InputError(
            Message(
                "{path} has schema_version {given}; this version reads {known}: make the plan again",
                path=file,
                given=str(version)[:20],
                known=[str(known) for known in SCHEMA_VERSIONS],
            )
        )
    try:
        plan = PlanDocument.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise InputError(
            Message(
                "{path} is no whole result of suanpei plan --json: {where} is missing or not what it should be",
                path=file,
                where=where,
            )
        ) from error
    canonical = json.dumps(document["request"], sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]
    return plan.model_copy(update={"request_hash": digest})


def _no_plan(file: str) -> InputError:
    return InputError(
        Message("{path} is no result of suanpei plan: write one with suanpei plan … --report FILE", path=file)
    )

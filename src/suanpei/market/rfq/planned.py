"""What a request for quotation needs of a plan's JSON: its keys, and what they must hold.

Other keys are let pass, so that results of older versions serve as long as these keep their meaning.
"""

from __future__ import annotations

import hashlib
import json
from datetime import date  # pydantic reads the annotations at run time
from pathlib import Path  # as above
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

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


class RunPart(_Part):
    """The run of a plan."""

    days: Positive
    high_days: Positive
    checkpoint_interval_s: Positive
    checkpoint_blocking_s: Positive


class DataPathPart(_Part):
    """The data path of a plan: `market.data_path.DataPath` says what each figure is."""

    data_bytes: NotNegative
    moved_in_bytes: Positive
    uplink_bytes_per_s: Positive
    pull_s: Positive
    read_bytes_per_s: NotNegative
    checkpoint_bytes: Positive
    checkpoint_write_s: Positive
    stored_bytes: Positive
    capacity_bytes: Positive


class PlannedRow(_Part):
    """One plan."""

    rank: Count
    accelerator: Name
    gpus: Count
    nodes: Count
    fabric: Name
    strategy: StrategyPart
    estimate: EstimatePart
    run: RunPart
    data_path: DataPathPart | None = None
    """None in results of schema version 1, which have none."""


class JobPart(_Part):
    """The job."""

    total_parameters: Positive
    tokens: Positive | None


class RequestPart(_Part):
    """What the user asked of the plan."""

    as_of: date
    gpus_per_node: Count | None = None
    fabric: str | None = None
    catalog: Path | None = None


class PlannedRental(_Part):
    """A result of ``suanpei plan``."""

    schema_version: Annotated[int, Field(strict=True)]
    request: RequestPart
    job: JobPart
    plans: Annotated[tuple[PlannedRow, ...], Field(min_length=1)]
    request_hash: str = ""
    """Of the whole request, as hexadecimal digits: equal requests of equal days have equal hashes."""

    @model_validator(mode="before")
    @classmethod
    def _hash_request(cls, document: Any) -> Any:
        if not isinstance(document, dict):
            return document
        canonical = json.dumps(document.get("request"), sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
        return {**document, "request_hash": digest[:HASH_DIGITS]}

"""Repeat an earlier result: its request, read back from JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.verbs.job_request import JobRequest
from suanpei.verbs.plan_request import PlanRequest
from suanpei.verbs.result_file import read_json

if TYPE_CHECKING:
    from pathlib import Path


def read_plan_request(path: Path, given: PlanRequest) -> PlanRequest:
    """Read the request of an earlier plan.

    Args:
        path: A JSON result of ``suanpei plan --json``.
        given: The request on the command line, which must be empty but for what every call has.

    Returns:
        The earlier request, its day included, so that the same data give the same result.

    Raises:
        InputError: the file cannot be read, is no plan or one of a newer version, or other options stand beside it.
    """
    empty = PlanRequest(job=type(given.job)(), as_of=given.as_of, currency=given.currency)
    if given != empty:
        raise InputError(Message("replay: the file holds the whole request; give no other option beside it"))
    document = read_json(path, "replay")
    try:
        request = TypeAdapter(PlanRequest).validate_python(document["request"])
        unknown = sorted(
            {*_unknown(PlanRequest, document["request"]), *_unknown(JobRequest, document["request"]["job"])}
        )
    except (ValidationError, KeyError, TypeError) as error:
        raise InputError(Message("replay: {path} is no result of suanpei plan --json", path=str(path))) from error
    if unknown:
        raise InputError(
            Message(
                "replay: {path} holds options that this version does not know: {options}",
                path=str(path),
                options=unknown,
            )
        )
    return request


def _unknown(kind: type[PlanRequest | JobRequest], given: dict[str, Any]) -> set[str]:
    return set(given) - {item.name for item in fields(kind)}

"""JSON results that a user hands back: read safely, numbers as they were written, plans checked at one border."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from suanpei.errors import InputError, say_why_no_json
from suanpei.messages import Message
from suanpei.verbs.envelope import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

Model = TypeVar("Model", bound=BaseModel)


def read_json(path: Path, field: str, parse_float: Callable[[str], Any] = float) -> Any:
    """Read a JSON file.

    Args:
        path: The file, UTF-8 with or without a mark. [-]
        field: The option that named it, for the error. [-]
        parse_float: Makes a number of the text of one that is not whole. [-]

    Raises:
        InputError: the file cannot be read, or is not JSON (a number that is none among it).
    """
    try:
        return json.loads(
            path.read_text(encoding="utf-8-sig"), parse_float=parse_float, parse_constant=_refuse_constant
        )
    except OSError as error:
        raise InputError(
            Message("{field}: {path} cannot be read: {reason}", field=field, path=str(path), reason=error.strerror)
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            Message("{field}: {path} is not JSON: {reason}", field=field, path=str(path), reason=say_why_no_json(error))
        ) from error


def read_plan(path: Path, field: str, model: type[Model], parse_float: Callable[[str], Any] = float) -> Model:
    """Read the JSON result of a plan.

    Args:
        path: As ``suanpei plan --json`` or ``--report`` wrote it, by this version or an older one. [-]
        field: The option that named it, for the error. [-]
        model: The keys that are needed, with what they must hold. [-]
        parse_float: Makes a number of the text of one that is not whole. [-]

    Raises:
        InputError: the file cannot be read, is no plan or of a newer version; the first key that is missing or wrong
            is named.
    """
    document = read_json(path, field, parse_float)
    version = document.get("schema_version") if isinstance(document, dict) else None
    if isinstance(version, int) and not 1 <= version <= SCHEMA_VERSION:
        raise InputError(
            Message(
                "{field}: {path} has schema_version {given}, this version of Suanpei reads 1 to {most}: make the plan"
                " again",
                field=field,
                path=str(path),
                given=version,
                most=SCHEMA_VERSION,
            )
        )
    try:
        return model.model_validate(document)
    except ValidationError as error:
        place = ".".join(str(step) for step in error.errors()[0]["loc"]) or "{}"
        raise refuse_plan(path, field, place) from error


def refuse_plan(path: Path, field: str, place: str) -> InputError:
    """Make the error for a file that is no plan, naming the key that shows it."""
    return InputError(
        Message(
            "{field}: {path} is no result of suanpei plan --json: {place} is missing or wrong; write one with suanpei"
            " plan … --report FILE",
            field=field,
            path=str(path),
            place=place,
        )
    )


def find_rank(ranks: Sequence[int], rank: int, path: Path) -> int:
    """Find the place of a plan among those of a file.

    Raises:
        InputError: no plan has this rank.
    """
    if rank not in ranks:
        raise InputError(
            Message("rank: {path} has the plans {known}, got {given}", path=str(path), known=list(ranks), given=rank)
        )
    return ranks.index(rank)


def _refuse_constant(text: str) -> Any:
    raise ValueError(text)

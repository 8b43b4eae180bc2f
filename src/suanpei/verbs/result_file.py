"""JSON results that a user hands back: read safely, numbers as they were written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError, say_why_no_json
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


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


def _refuse_constant(text: str) -> Any:
    raise ValueError(text)

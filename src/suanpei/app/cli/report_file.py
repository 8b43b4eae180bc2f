"""The file of ``--report``: checked before the work for it is done, and never one that the command reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_OPTION = "report"


def list_given(values: Mapping[str, Any]) -> tuple[Path, ...]:
    """List what the values of a command may name as files, the report left out.

    Args:
        values: Of all parameters, by name. [-]
    """
    return tuple(
        Path(item)
        for name, value in values.items()
        if name != _OPTION
        for item in (value if isinstance(value, list | tuple) else [value])
        if isinstance(item, str | Path)
    )


def check_report(path: Path, given: Iterable[Path]) -> None:
    """Check that a report can be written.

    Args:
        path: The file; an existing one will be replaced. [-]
        given: What the command reads. [-]

    Raises:
        InputError: The folder does not exist, the path is a folder, or the command reads the file.
    """
    if not path.parent.is_dir():
        raise InputError(Message("report: the folder {folder} does not exist", folder=str(path.parent)))
    if path.is_dir():
        raise InputError(Message("report: {path} is a folder; name a file in it", path=str(path)))
    if any(_is_same(path, other) for other in given):
        raise InputError(
            Message("report: {path} is read by this command and would be replaced; name another file", path=str(path))
        )


def _is_same(path: Path, other: Path) -> bool:
    """Tell whether two paths are one file; a text that names none is another."""
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return False

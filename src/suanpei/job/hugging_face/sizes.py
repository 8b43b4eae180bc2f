"""Sizes and switches of a file, with the family's defaults behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.job.hugging_face.fields import Fields
    from suanpei.job.hugging_face.style import Style, Switch


def switch(fields: Fields, style: Style, value: Switch) -> bool:
    """Decide a yes or no: fixed, or by a field and the family's default for it. [-]"""
    if isinstance(value, bool):
        return value
    return fields.flag(value, default=style.switch_defaults.get(value, False))


def count(fields: Fields, style: Style, key: str, *, least: int = 1) -> int:
    """Give a size, falling back on the family's default. [-]"""
    return fields.count(key, style.defaults.get(key), least=least)


def check_divides(fields: Fields, whole: str, whole_value: int, part: str, part_value: int) -> int:
    """Divide one size by another that must divide it.

    Raises:
        InputError: it does not.
    """
    if whole_value % part_value:
        raise InputError(
            Message(
                "{source}: {part} = {part_value} does not divide {whole} = {whole_value}",
                source=fields.source,
                part=part,
                part_value=part_value,
                whole=whole,
                whole_value=whole_value,
            )
        )
    return whole_value // part_value

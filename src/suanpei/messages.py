"""Messages: what the core says, without knowing the reader's language.

A message is a key and its values. The key is the English template itself, so the code reads as prose and English needs
no table; ``report/locale`` holds the other languages under the same keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from suanpei.units import DAY_S, HOUR_S, MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, init=False)
class Message:
    """A sentence for the user, still untranslated.

    Example:
        >>> str(Message("{field} must be at least {least}, got {given}", field="tp", least=1, given=0))
        'tp must be at least 1, got 0'
    """

    key: str
    """The English template, a literal at the place of use (a test extracts all keys)."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What fills the template: numbers, names, formatted quantities, or other messages."""

    def __init__(self, key: str, /, **values: Any) -> None:
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "values", values)

    @classmethod
    def read_back(cls, key: str, text: str) -> Message | str:
        """Give a message that stands in a result file, to be said in the language of whoever reads it now.

        Args:
            key: Of the message, as the file has it. [-]
            text: What it said in the language that the file was written in; kept where the key has fields to fill. [-]

        Example:
            >>> str(Message.read_back("cards at work", "实际使用的卡时"))
            'cards at work'
            >>> Message.read_back("{gpus} cards", "8 张卡")
            '8 张卡'
        """
        return text if "{" in key or "}" in key else cls(key)

    def __hash__(self) -> int:
        return hash((self.key, tuple(sorted((name, str(value)) for name, value in self.values.items()))))

    def __str__(self) -> str:
        joined = {
            name: ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
            for name, value in self.values.items()
        }
        return self.key.format(**joined)


@dataclass(frozen=True, kw_only=True)
class Wording:
    """A text that a file of data holds in every language, to fill a message with."""

    by_language: Mapping[str, str]

    def __str__(self) -> str:
        return self.by_language["en"]


MOST_EXCERPT_CHARACTERS = 120
"""Of a text that a message quotes: enough to find it again. [-]"""


def excerpt(text: str) -> str:
    """Give the beginning of a text of the user's, for a message that quotes it; a cut is shown as ``…``.

    Example:
        >>> excerpt("H800"), len(excerpt("H" * 5000))
        ('H800', 121)
    """
    return text if len(text) <= MOST_EXCERPT_CHARACTERS else f"{text[:MOST_EXCERPT_CHARACTERS]}…"


def name_duration(duration_s: float) -> Message:
    """Write a duration for a person, with its unit in the reader's language: ``7.4 days``, ``7.4 天``. [s]

    Example:
        >>> str(name_duration(5.25 * 3600))
        '5.2 h'
    """
    scale_s = scale_duration_s(duration_s)
    amount = write_duration(duration_s, scale_s)
    return {
        DAY_S: Message("{amount} days", amount=amount),
        HOUR_S: Message("{amount} h", amount=amount),
        MINUTE_S: Message("{amount} min", amount=amount),
        1.0: Message("{amount} s", amount=amount),
    }[scale_s]


def scale_duration_s(duration_s: float) -> float:
    """Choose the unit in which a duration reads best: day, hour, minute or second. [s]"""
    return next((scale for scale in (DAY_S, HOUR_S, MINUTE_S) if duration_s >= 2 * scale), 1.0)


def write_duration(duration_s: float, scale_s: float) -> str:
    """Write a duration in a unit, without naming it. [s]"""
    amount = duration_s / scale_s
    if scale_s == 1.0:
        return f"{amount:.3g}"
    return f"{amount:,.0f}" if amount >= 100 or abs(amount - round(amount)) < 1e-9 else f"{amount:.1f}"

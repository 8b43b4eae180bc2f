"""Messages: what the core says, without knowing the reader's language.

A message is a key and its values. The key is the English template itself, so the code reads as prose and English needs
no table; ``report/locale`` holds the other languages under the same keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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

    def __hash__(self) -> int:
        return hash((self.key, tuple(sorted((name, str(value)) for name, value in self.values.items()))))

    def __str__(self) -> str:
        return self.key.format(**self.values)

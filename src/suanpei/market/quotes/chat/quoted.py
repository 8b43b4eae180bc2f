"""Messages that a chat quotes before the answer to them: ``「甲云：H100 6.5万/月」`` above a line of dashes, ``> …``.

Who answers is not the one who is quoted, and what is quoted has mostly been read where it was said.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.words import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suanpei.market.quotes.document import Line

_LED = re.compile(r"^>+\s*")
_RULE = re.compile(r"(?:[-_=—–－─━]\s*){3,}")
_MOST_LINES = 40
"""A longer message is not quoted whole. [-]"""


def find_quoted(lines: Sequence[Line]) -> Mapping[int, str]:
    """Find the lines that a chat quotes.

    Args:
        lines: Of running text. [-]

    Returns:
        By row, the words of each such line without its marks; empty for a line that is drawn below them.
    """
    texts = [" ".join(cell for cell in line.cells if cell).strip() for line in lines]
    quoted: dict[int, str] = {}
    for number, text in enumerate(texts):
        if led := _LED.match(text):
            quoted[lines[number].row] = text[led.end() :]
        elif text.startswith("「") and (end := _end_of(texts, number)) is not None:
            for inner in range(number, end + 1):
                quoted[lines[inner].row] = texts[inner].removeprefix("「" if inner == number else "").removesuffix("」")
            quoted[lines[end + 1].row] = ""
    return quoted


def _end_of(texts: Sequence[str], start: int) -> int | None:
    """Find the last line of a message in brackets; None where no line is drawn below it."""
    for number in range(start, min(start + _MOST_LINES, len(texts) - 1)):
        if texts[number].endswith("」"):
            return number if _RULE.fullmatch(texts[number + 1]) else None
    return None


class Quote:
    """What a chat has said so far, what it quotes of that, and whether it is known who answers."""

    def __init__(self) -> None:
        self._said: dict[str, bool] = {}
        """Every message, and whether it asks for machines."""
        self._is_headed = False
        """Whether a line that only names who speaks stands right before."""
        self._is_running = False
        self._answer = ("", "")
        self._is_sure = False
        self._asks = False
        self.is_answer_open = False
        """Whether an offer is quoted, and who answers it is not named."""

    def remember(self, sender: str | None, words: str, *, is_asked: bool) -> None:
        """Keep what is said.

        Args:
            sender: Who is named before it; None where nobody is. [-]
            words: As written. [-]
            is_asked: Whether it asks for machines. [-]
        """
        self._is_headed = sender is not None and not words.strip()
        if sender is not None:
            self.is_answer_open = False
        if words.strip():
            self._said.setdefault(_squash(words), is_asked)

    def is_asked(self, words: str) -> bool | None:
        """Tell whether what is quoted asked for machines; None where it was not said before."""
        return self._said.get(_squash(words))

    def take(self, *, is_asked: bool | None, names_speaker: bool, seller: str, speaker: str) -> None:
        """Note a quoted line; one that was neither said before, nor asks, nor names a speaker may be no quote.

        Args:
            is_asked: Whether it asks for machines; None where it was not said before. [-]
            names_speaker: Whether it names who said it. [-]
            seller: Whose message it stands in. [-]
            speaker: The same, buyers included. [-]
        """
        if not self._is_running:
            self._is_running, self._is_sure, self._asks = True, False, False
            self._answer = (seller, speaker) if self._is_headed else ("", "")
        self._is_sure = self._is_sure or is_asked is not None or names_speaker
        self._asks = self._asks or bool(is_asked)

    def close(self) -> tuple[str, str] | None:
        """End what is quoted, and give the seller and the speaker of the answer, empty where they are not named.

        None where nothing was quoted.
        """
        if not self._is_running:
            return None
        self._is_running = False
        self.is_answer_open = self._is_sure and not self._asks and self._answer == ("", "")
        return self._answer if self._is_sure else None


def _squash(words: str) -> str:
    return "".join(plain(words).split())

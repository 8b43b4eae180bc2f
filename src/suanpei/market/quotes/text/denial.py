"""Words that are denied: ``不支持按小时``, ``竞价实例除外``, ``免押金``, ``no prepayment`` mean the opposite."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suanpei.market.quotes.text.words import QuoteWords, Vocabulary


class DenialReader:
    """Finds denied words on ways of paying and flags, with one catalogue's words.

    A word that holds its own negation (``无质保``, ``不含IB``) is found whole, and is not denied by it.
    """

    def __init__(self, words: QuoteWords) -> None:
        self._vocabularies: tuple[Vocabulary, ...] = (words.flags, words.pricing)
        said = words.denials
        self._before = re.compile(rf"(?:{said['before'].source})(?:$|(?<=[a-z])[\s\-]+$)")
        self._after = re.compile(rf"\s*(?:{said['between'].source})?(?:{said['after'].source})\s*(?=$|[,;.。、)])")

    def read(self, text: str) -> tuple[frozenset[str], str]:
        """Find the denied words of a text.

        Args:
            text: In plain form. [-]

        Returns:
            The groups that are denied, and the text with their words blanked out, as long as before.
        """
        denied: set[str] = set()
        rest = text
        for vocabulary in self._vocabularies:
            for found in vocabulary.pattern.finditer(text) if vocabulary.may_have(text) else ():
                if self._before.search(text[: found.start()]) or self._after.match(text, found.end()):
                    denied.add(vocabulary.group(found.group()))
                    rest = rest[: found.start()] + " " * len(found.group()) + rest[found.end() :]
        return frozenset(denied), rest

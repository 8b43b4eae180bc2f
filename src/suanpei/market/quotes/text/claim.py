"""What a seller counts as the P of one card: ``单卡0.2P``, ``0.25P/卡``."""

from __future__ import annotations

import re
from fractions import Fraction

_OF_CARD = re.compile(
    r"(?:单卡|每卡|每张|1卡|per card|per gpu|约|=)\s*(?:约|按|=|:|为|算)?\s*"
    r"(?P<count>\d+(?:\.\d+)?)\s*p(?:flops)?(?![a-z]|\s*/)"
    r"|(?P<count2>\d+(?:\.\d+)?)\s*p(?:flops)?\s*(?:/|每|per\s)\s*(?:卡|张|card|gpu)"
)


def read_claim(text: str) -> Fraction | None:
    """Read what a seller counts as the P of one card: ``单卡0.2P``, ``0.25P/卡``; None where the text says nothing.

    Args:
        text: In plain form. [-]

    Returns:
        The rate. [PFLOP/s]
    """
    found = _OF_CARD.search(text)
    claimed = Fraction(found["count"] or found["count2"]) if found else Fraction(0)
    return claimed or None

"""What an amount is for, from words: a card, a node, an instance or a P, and for how long.

``元/卡/时``, ``/GPU/hr``, ``per node``, ``每台每月``, ``卡时``, ``万元/P/年``, ``/8卡·月``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from suanpei.market.quotes.quoted import Billed
    from suanpei.market.quotes.text.words import QuoteWords

_SHORT = frozenset(
    {"p", "pf", "机", "分", "时", "日", "天", "月", "年", "季", "周", "h", "d", "y", "a", "mo", "min", "mon", "tag"}
)
"""Words that mean a unit only behind a slash, a 每 or another unit."""
_ONE_MORE = r"1\s*个?\s*[卡张台节月小天]"
"""``一台一个月`` in plain form is 1台1个月: the second 1 begins the next word of the unit."""
_LONGEST_LED = 24
"""How far before an amount its unit begins at most. [characters]"""
_PAID = r"(?![付租结度]|起[租订付])"
"""月付, 年租 and 月结 say how it is paid, not what the amount is for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """What an amount is for, as far as words say."""

    billed: Billed | None = None
    billed_gpus: int | None = None
    """Cards that the amount is for together, where the unit counts them (``/8卡/月``). [-]"""
    period: str | None = None
    """A key of `PERIOD_HOURS`."""
    end: int = 0
    """Where its words end in the text. [-]"""
    is_marked: bool = False
    """Whether a slash, 每 or per led to it, or several unit words stand together."""

    @property
    def is_empty(self) -> bool:
        """Whether the words say nothing."""
        return self.billed is None and self.period is None


NO_UNIT = Unit()


def join_units(first: Unit, second: Unit) -> Unit:
    """Fill what a unit leaves open with what a second one says."""
    if first.billed and first.period:
        return first
    return Unit(
        billed=first.billed or second.billed,
        billed_gpus=first.billed_gpus or second.billed_gpus,
        period=first.period or second.period,
        end=first.end,
        is_marked=first.is_marked or second.is_marked,
    )


def _gather(first: Unit, second: Unit) -> Unit:
    """Join units that stand apart in one text."""
    return Unit(
        billed=first.billed or second.billed,
        billed_gpus=first.billed_gpus if first.billed else second.billed_gpus,
        period=first.period or second.period,
        end=max(first.end, second.end),
        is_marked=first.is_marked or second.is_marked,
    )


class UnitReader:
    """Reads units with one catalogue's words."""

    def __init__(self, words: QuoteWords) -> None:
        self._billed = words.billed
        self._periods = words.periods
        word = rf"(?:(?P<billed>{words.billed.source})|(?P<period>(?:{words.periods.source}){_PAID}))"
        word = rf"{word}(?:(?!\d)|(?={_ONE_MORE}))"
        mark = (
            r"(?P<mark>\s*[/每·・*⋅-]\s*(?:每|一|个)?\s*|\s*(?:per|pro|each)\s+(?:an?\s+)?"
            r"|\s*一\s*个?\s*|\s*1\s*个\s*|\s*1\s*(?=[卡张台节天月]|p(?![a-z]))|\s*an?\s+)"
        )
        counted = r"(?:(?<![\d.,])(?P<count>\d{1,4})\s*[x×-]?\s*(?=卡|张|gpu|card))?"
        self._step = re.compile(rf"(?:{mark}|\s*(?:个)?)(?:{counted})(?:{word})")
        unit = f"(?:{words.billed.source}|{words.periods.source})"
        self._bracketed = re.compile(
            rf"(?<=\d)(?P<open>\s*\()(?P<unit>\s*[万千]?\s*(?:{words.currencies.source})?"
            rf"(?:\s*[/每·]\s*{unit}){{1,3}}\s*)\)"
        )
        self._led = re.compile(rf"(?:每|(?<![\d.])1)\s*个?\s*(?={words.billed.source}|{words.periods.source})")
        self._stock_end = re.compile(rf"(?:{words.stock.source})\s*:?\s*$")
        self._first = re.compile(rf"(?:{mark})?{counted}(?:{word})")

    def without_brackets(self, text: str) -> str:
        """Let units in brackets follow their numbers: ``5.8（万/台/月）``; the text stays as long.

        Args:
            text: In plain form. [-]
        """
        return self._bracketed.sub(_without_brackets, text) if "(" in text else text

    def follow(self, text: str, position: int) -> Unit:
        """Read the unit that stands right behind an amount.

        Args:
            text: In plain form. [-]
            position: Where the amount ends. [-]
        """
        if text.startswith("-", position):
            return NO_UNIT  # "36-mo term"
        return self._chain(text, position, started=False)

    def is_counted(self, text: str, position: int) -> bool:
        """Tell whether a unit word stands right behind a number, without a mark: the number counts it.

        Args:
            text: In plain form. [-]
            position: Where the number ends. [-]
        """
        step = self._step.match(text, position)
        return step is not None and step["mark"] is None and step["count"] is None

    def precede(self, text: str, position: int) -> tuple[Unit, int]:
        """Read the unit that stands right before an amount: ``一台一个月6万5``, ``每台每月 65000``.

        A count of one with words for stock before it is no unit, and a bare time before an amount is none either.

        Args:
            text: In plain form. [-]
            position: Where the amount begins. [-]

        Returns:
            The unit, and where its words begin.
        """
        for found in self._led.finditer(text, max(0, position - _LONGEST_LED), position):
            unit = self._chain(text[:position], found.start(), started=False)
            between = text[unit.end : position].strip(" :为是约大概要,")
            if unit.billed and unit.is_marked and not between and not self._stock_end.search(text[: found.start()]):
                return unit, found.start()
        return NO_UNIT, position

    def find(self, text: str) -> Unit:
        """Read the unit that stands anywhere in a text: a cell of units, a heading, a clause.

        A short word (``h``, 月) counts only behind a mark, another unit word or at the start; one behind a number
        (``12 months``) is a term.
        """
        return self._find(text)

    @lru_cache(maxsize=16_384)  # noqa: B019  readers live as long as their catalogue
    def _find(self, text: str) -> Unit:
        marked = bare = NO_UNIT
        position = 0
        while (first := self._first.search(text, position)) is not None:
            position = max(first.end(), position + 1)
            if self._is_number_before(text, first) and (first["mark"] or "-").strip() == "-":
                continue
            word = first["billed"] or first["period"]
            at_start = not text[: first.start()].strip(" (¥$€元")
            if word in _SHORT and not first["mark"] and not at_start:
                continue
            unit = self._chain(text, first.start(), started=True)
            position = max(unit.end, position)
            if unit.is_marked:
                marked = _gather(marked, unit)
            else:
                bare = _gather(bare, unit)
            if marked.billed and marked.period:
                break
        return _gather(marked, bare) if marked.billed is None or marked.period is None else marked

    def _is_number_before(self, text: str, found: re.Match[str]) -> bool:
        return found["count"] is None and text[: found.start()].rstrip(" -个").endswith(tuple("0123456789"))

    def _chain(self, text: str, position: int, *, started: bool) -> Unit:
        """Follow unit words from a position on."""
        billed = period = None
        gpus = None
        marked = False
        steps = 0
        while (step := self._step.match(text, position)) is not None:
            is_new = (step["billed"] and billed is None) or (step["period"] and period is None)
            if not is_new or (step["count"] and not step["mark"] and not started):
                break
            if steps and not step["mark"] and text[position : step.end()].startswith(" ") and step["period"]:
                break  # "8卡 月": a new clause, no unit
            billed = self._billed.group(step["billed"]) if step["billed"] else billed
            period = self._periods.group(step["period"]) if step["period"] else period
            gpus = int(step["count"]) if step["count"] else gpus
            marked = marked or bool(step["mark"]) or (steps > 0)
            position, steps, started = step.end(), steps + 1, False
        if gpus is not None and gpus > 1 and billed == "card":
            billed = "node"
        return Unit(
            billed=cast("Billed | None", billed), billed_gpus=gpus, period=period, end=position, is_marked=marked
        )


def _without_brackets(found: re.Match[str]) -> str:
    return f"{' ' * len(found['open'])}{found['unit']} "

"""Dates and validity in text: ``2025年3月``, ``2025-03-01``, ``15 Mar 2025``, ``有效期15天``, ``valid until …``."""

from __future__ import annotations

import math
import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from suanpei.market.terms import PERIOD_HOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.market.quotes.text.words import QuoteWords


@dataclass(frozen=True, kw_only=True, slots=True)
class QuoteDate:
    """When a quote was made and how long it holds."""

    day: date | None = None
    """The day, or the first day of the month that is named."""
    last_day: date | None = None
    """The day, or the last one of the month that is named: validity is counted from here."""
    valid_days: int | None = None
    valid_until: date | None = None

    @property
    def end(self) -> date | None:
        """The last day on which the quote may hold; None where it is not stated."""
        if self.valid_until is not None:
            return self.valid_until
        if self.last_day is not None and self.valid_days is not None:
            return min(self.last_day + timedelta(days=self.valid_days), date.max)
        return None


NO_DATE = QuoteDate()


def join_dates(dates: Sequence[QuoteDate]) -> QuoteDate:
    """Join dates of several texts, those that count first in front."""
    telling = [one for one in dates if one != NO_DATE]
    if len(telling) <= 1:
        return telling[0] if telling else NO_DATE
    dated = next((one for one in telling if one.day), NO_DATE)
    return QuoteDate(
        day=dated.day,
        last_day=dated.last_day,
        valid_days=next((one.valid_days for one in telling if one.valid_days is not None), None),
        valid_until=next((one.valid_until for one in telling if one.valid_until), None),
    )


_DAY_OF_YEAR = re.compile(r"(?<!\d)(?:1[0-2]|0?[1-9])月(?:[12]\d|3[01]|0?[1-9])[日号](?:起|前|后)?")


def without_days(text: str) -> str:
    """Blank days without a year out of a plain text: ``12月1日起`` is no count and no shortest rental."""
    return _DAY_OF_YEAR.sub(lambda found: ";".ljust(len(found.group())), text)


class DateReader:
    """Reads dates with one catalogue's words."""

    def __init__(self, words: QuoteWords) -> None:
        self._months = {name: number for number, name in enumerate(words.months, start=1)}
        self._units = words.periods
        named = "|".join(words.months)
        self._date = re.compile(
            r"(?<!\d)(?P<year>20\d\d)\s*[年./-]\s*(?P<month>\d{1,2})(?:\s*[月./-]\s*(?P<day>\d{1,2})(?!\d)日?)?"
            rf"|(?:(?P<day2>\d{{1,2}})\.?\s+)?(?P<name>{named})[a-zä]*\.?\s+"
            r"(?:(?P<day3>\d{1,2})(?:st|nd|rd|th)?,?\s+)?(?P<year2>20\d\d)"
            r"|(?<!\d)(?P<day4>\d{1,2})\.(?P<month4>\d{1,2})\.(?P<year4>20\d\d)(?!\d)"
        )
        self._valid_for = re.compile(
            rf"(?:{words.dates['valid_for'].source})\s*[:为]?\s*(?P<count>\d{{1,3}})\s*(?:个)?(?:工作)?"
            rf"(?P<unit>{words.periods.source})"
        )
        self._telling = re.compile(rf"20\d\d|{words.dates['valid_for'].source}|{words.dates['valid_until'].source}")
        self._valid_until = re.compile(rf"(?:{words.dates['valid_until'].source})\s*[:为]?\s*")

    def may_speak(self, text: str) -> bool:
        """Tell quickly whether a text may hold a date or a validity."""
        return self._telling.search(text) is not None

    @lru_cache(maxsize=4_096)  # noqa: B019  readers live as long as their catalogue
    def read(self, text: str) -> QuoteDate:
        """Read date and validity from a text in plain form; what is not said is None, an impossible date too."""
        until = self._valid_until.search(text)
        valid_until = None
        if until is not None and (found := self._date.match(text, until.end())) is not None:
            valid_until = self._days(found)[1]
            text = text[: until.start()] + text[found.end() :]
        lasting = self._valid_for.search(text)
        hours = PERIOD_HOURS[self._units.group(lasting["unit"])] * int(lasting["count"]) if lasting else None
        first = self._date.search(text)
        day, last_day = self._days(first) if first else (None, None)
        return QuoteDate(
            day=day,
            last_day=last_day,
            valid_days=None if hours is None else math.floor(hours / PERIOD_HOURS["day"]),
            valid_until=valid_until,
        )

    def find(self, text: str) -> re.Match[str] | None:
        """Find a date in a text in plain form."""
        return self._date.search(text)

    def _days(self, found: re.Match[str]) -> tuple[date | None, date | None]:
        """Give the first and last day that a date may mean."""
        year = int(found["year"] or found["year2"] or found["year4"])
        month = self._months[found["name"]] if found["name"] else int(found["month"] or found["month4"])
        day = next((int(found[name]) for name in ("day", "day2", "day3", "day4") if found[name]), None)
        try:
            if day is not None:
                exact = date(year, month, day)
                return exact, exact
            return date(year, month, 1), date(year, month, monthrange(year, month)[1])
        except ValueError:
            return None, None

"""Terms in text: how it is paid, for how long at least, what is paid ahead, deposit, discount, month of thirty days."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.words import NOTHING_WORDS
from suanpei.market.terms import LONGEST_TERM_HOURS, PERIOD_HOURS
from suanpei.quantities.number import read_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.market.quotes.text.words import QuoteWords

_MONTHS_PAID = r"[一二两三四五六七八九十\d]{1,2}"
_DEPOSIT_AND_PAY = re.compile(rf"押({_MONTHS_PAID})付({_MONTHS_PAID})")
_PAY_AND_DEPOSIT = re.compile(rf"付({_MONTHS_PAID})押({_MONTHS_PAID})")
_FINE_BILLING = re.compile(
    r"按(?P<unit>分钟|秒)|(?:per[ -]|by the )(?P<said>second|minute)[ -]?(?:billing|billed)"
    r"|billed (?:per|by the) (?P<word>second|minute)"
)
_PRICING_ORDER = (
    *("spot", "marketplace", "reserved", "yearly", "half_yearly", "quarterly", "monthly", "weekly", "daily"),
    "on_demand",
)
PERIOD_OF_PRICING: Mapping[str, str] = {
    "spot": "hour",
    "marketplace": "hour",
    "on_demand": "hour",
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
}
"""The period that a way of paying speaks for."""
LONG_PERIODS: Mapping[str, str] = {"quarterly": "quarter", "half_yearly": "half_year", "yearly": "year"}
"""年付 8万 may be the rent of a year, or of a month paid a year ahead."""
_AHEAD_MONTHS = {"quarterly": 3, "half_yearly": 6, "yearly": 12}
_CONTRACT_PERIODS = ("week", "month", "quarter", "half_year", "year")
LEAST_TERM = re.compile(
    r"起|至少|最短|最低|以上|不[少低短]于|[≥>]|\bmin|\bleast\b|\d\s*(?:个?月|年|个?季度?)?\s*[-~至到/+]\s*\d"
)
"""Words around a duration that is only the least one, or one of several."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What a text says of terms; None is nothing."""

    pricing: str | None = None
    """A group of the vocabulary ``pricing``."""
    billing_hours: Fraction | None = None
    """Granularity of the bill, where the text states it (按分钟计费, 计费粒度 分钟). [h]"""
    minimum_hours: Fraction | None = None
    """Shortest rental; 0 where the text says that there is none. [h]"""
    is_least: bool = False
    """Whether the shortest rental is only the least term, or one of several: a total need not be for it."""
    deposit_months: Decimal | None = None
    prepaid_months: Decimal | None = None
    prepaid_fraction: Decimal | None = None
    prepaid_term_hours: Fraction | None = None
    """The time that is paid at once and ahead: an amount without a period may be for all of it. [h]"""
    kept_fraction: Fraction | None = None
    """What a discount leaves: 0.8 for 8折. [-]"""
    is_discount_applied: bool | None = None
    """Whether the price is said to be after the discount (True) or before it (False)."""
    has_thirty_days: bool = False


NO_TERMS = Terms()


def join_terms(first: Terms, second: Terms) -> Terms:
    """Fill what terms leave open with what second ones say."""
    return Terms(
        pricing=first.pricing or second.pricing,
        billing_hours=first.billing_hours or second.billing_hours,
        minimum_hours=second.minimum_hours if first.minimum_hours is None else first.minimum_hours,
        is_least=second.is_least if first.minimum_hours is None else first.is_least,
        deposit_months=second.deposit_months if first.deposit_months is None else first.deposit_months,
        prepaid_months=first.prepaid_months or second.prepaid_months,
        prepaid_fraction=first.prepaid_fraction or second.prepaid_fraction,
        prepaid_term_hours=first.prepaid_term_hours or second.prepaid_term_hours,
        kept_fraction=first.kept_fraction or second.kept_fraction,
        is_discount_applied=(
            second.is_discount_applied if first.is_discount_applied is None else first.is_discount_applied
        ),
        has_thirty_days=first.has_thirty_days or second.has_thirty_days,
    )


class TermReader:
    """Reads terms with one catalogue's words."""

    def __init__(self, words: QuoteWords) -> None:
        self._words = words
        said = words.terms
        unit = f"(?P<unit>{words.periods.source})(?!内)"
        to = r"\s*[-~至到]\s*"
        duration = (
            rf"(?<![a-z\d.])(?<!\d[x×*])(?<!\d[x×*]\d)"
            rf"(?:(?P<count>\d{{1,3}}(?={to}\d)|\d{{1,4}}(?:\.\d+)?(?!{to}\d))(?P<range>{to}\d{{1,3}})?"
            rf"\s*-?\s*(?:个)?{unit}(?P<more>半(?!年))?|(?P<half>半)年)"
        )
        groups = words.periods.group_of.items()
        long = "|".join(word for word, group in groups if group in ("month", "quarter", "half_year", "year"))
        months = f"(?:{'|'.join(word for word, group in groups if group == 'month')})"
        self._any = re.compile(duration)
        self._short_months = re.compile(
            rf"(?<![\d.])(\d{{1,2}})\s?-?m(?=\s+(?:{said['minimum_after'].source}|{said['paid_after'].source}))"
        )
        self._granularity = re.compile(
            rf"(?:粒度|granularity|increment)[^\d]{{0,8}}?(?:按|每|per |by )?\s*(?P<unit>{words.periods.source})(?!\d)"
        )
        self._bare_term = re.compile(
            rf"(?:^|[\s,;(])(?P<term>(?:\d{{1,3}}\s*-?\s*(?:个)?(?:{long})|半年))(?:约|合约|期|租期)?(?=\s*(?:$|[,;)]))"
        )
        self._before = re.compile(rf"(?:{said['minimum_before'].source})\s*[:为]?\s*{duration}")
        self._after = re.compile(rf"{duration}\s*-?\s*(?:{said['minimum_after'].source})")
        self._paid_term = re.compile(rf"{duration}\s*-?\s*(?:{said['paid_after'].source})")
        self._paid_ahead = re.compile(rf"(?:{said['paid_before'].source})\s*[:为]?\s*{duration}")
        share = r"(?<![\d.])(\d{1,3}(?:\.\d{1,2})?)\s*%"
        self._paid_share = re.compile(
            rf"(?:{said['paid_before'].source})\s*[:为]?\s*{share}|{share}\s*(?:{said['paid_before'].source})"
        )
        deposit, count = said["deposit"].source, r"(?<![\d.])(\d{1,2}(?:\.\d)?)"
        self._deposit = re.compile(
            rf"(?:{deposit})\s*[:为]?\s*{count}\s*-?\s*(?:个)?{months}"
            rf"|{count}\s*-?\s*(?:个)?{months}\s*(?:租金)?(?:的)?(?:{deposit})"
        )
        off, part = said["discount"].source, r"(?<![\d.])(\d{1,2}(?:\.\d{1,2})?)"
        self._condition = re.compile(rf"(?:{words.pricing.source}|{duration})[^,;。(]{{0,8}}$")
        self._discount = re.compile(
            rf"(?<![\d.])(\d(?:\.\d)?|\d{{2}})\s*折|{part}\s*%\s*(?:{off})|(?:{off})\s*(?:of)?\s*{part}\s*%"
        )

    def read(self, text: str, *, is_term: bool = False, is_running: bool = False) -> Terms:
        """Read what a cell or clause says of terms.

        Args:
            text: In plain form, amounts of money taken out. [-]
            is_term: Whether it stands under a heading such as 起租期, where a bare duration is the shortest rental. [-]
            is_running: Whether it is running text, where words right before a discount say what it is given for. [-]
        """
        text = self._short_months.sub(r"\1 months", text)
        discount = self._discount.search(text)
        if discount and is_running:
            start = max(text.rfind(separator, 0, discount.start()) for separator in ",;。(，") + 1
            condition = self._condition.search(text, start, discount.start())
            if condition:
                text = text[: condition.start()] + " " * len(condition.group()) + text[condition.end() :]
        groups = self._words.pricing.groups(text)
        pricing = next((name for name in _PRICING_ORDER if name in groups), None)
        deposit, ahead = self._read_deposit(text)
        paid_term = self._paid_term.search(text) or self._paid_ahead.search(text)
        paid_hours = self._hours(paid_term) if paid_term and not paid_term["range"] else None
        if paid_hours is not None and ahead is None:
            ahead = _in_months(paid_hours)
        if ahead is None and pricing in _AHEAD_MONTHS:
            ahead = Decimal(_AHEAD_MONTHS[pricing])
        minimum_hours = self._read_minimum(text, is_term=is_term)
        return Terms(
            pricing=pricing,
            billing_hours=self._read_granularity(text) or self._read_billing(text),
            minimum_hours=minimum_hours,
            is_least=bool(minimum_hours and LEAST_TERM.search(text)),
            deposit_months=deposit,
            prepaid_months=ahead or None,
            prepaid_fraction=_share(self._paid_share.search(text)),
            prepaid_term_hours=paid_hours,
            kept_fraction=_kept(discount) if discount else None,
            is_discount_applied=self._is_applied(text),
            has_thirty_days=self._words.thirty_days.has(text),
        )

    def find_bare_term(self, text: str) -> str:
        """Give the words of a duration that stands for itself: ``7.2万/台/月 36个月``, ``2年约``; not of a delivery.

        Args:
            text: In plain form, amounts of money taken out. [-]
        """
        found = self._bare_term.search(text)
        return "" if found is None or self._words.lines["later"].has(text) else found["term"]

    def find_duration(self, text: str) -> str:
        """Give the words of the duration that a price is for: ``12mo``, ``3 months``, ``1-3个月`` (the least, 1个月).

        Args:
            text: In plain form, amounts of money taken out. [-]
        """
        found = self._any.search(text)
        if found is None or (not found["half"] and self._words.periods.group(found["unit"]) not in _CONTRACT_PERIODS):
            return ""
        return f"{found['count']}{text[found.end('range') : found.end()]}" if found["range"] else found.group()

    def _read_billing(self, text: str) -> Fraction | None:
        found = _FINE_BILLING.search(text)
        return (
            PERIOD_HOURS[self._words.periods.group(found["unit"] or found["said"] or found["word"])] if found else None
        )

    def _read_minimum(self, text: str, *, is_term: bool) -> Fraction | None:
        if is_term and text and (text in NOTHING_WORDS or self._words.terms["none"].pattern.match(text)):
            return Fraction(0)
        for pattern in (self._before, self._after):
            if found := pattern.search(text):
                return self._hours(found)
        found = self._any.search(text) if is_term else None
        return self._hours(found) if found else None

    def _read_granularity(self, text: str) -> Fraction | None:
        """Read by which period the bill counts. [h]"""
        found = self._granularity.search(text)
        return PERIOD_HOURS[self._words.periods.group(found["unit"])] if found else None

    def _hours(self, found: re.Match[str]) -> Fraction | None:
        """Give a duration, the least of a range; None where it is not above zero and at most ten years. [h]"""
        if found["half"]:
            return PERIOD_HOURS["half_year"]
        count = Fraction(found["count"]) + (Fraction(1, 2) if found["more"] else 0)
        hours = count * PERIOD_HOURS[self._words.periods.group(found["unit"])]
        return hours if 0 < hours <= LONGEST_TERM_HOURS else None

    def _read_deposit(self, text: str) -> tuple[Decimal | None, Decimal | None]:
        """Read months of deposit and months paid ahead."""
        if found := _DEPOSIT_AND_PAY.search(text):
            return _months(found[1]), _months(found[2])
        if found := _PAY_AND_DEPOSIT.search(text):
            return _months(found[2]), _months(found[1])
        found = self._deposit.search(text)
        return (Decimal(found[1] or found[2]) if found else None), None

    def _is_applied(self, text: str) -> bool | None:
        said = self._words.terms
        if said["already_discounted"].has(text) or (said["list_price"].has(text) and said["present_price"].has(text)):
            return True
        return False if self._words.terms["before_discount"].has(text) else None


def _months(text: str) -> Decimal | None:
    number = read_number(text)
    return None if number is None or number.rest else number.value


def _in_months(hours: Fraction) -> Decimal:
    """Give a time in months, to a hundredth where it is not whole: 90 days are 2.96 of 730 h. [-]"""
    months = hours / PERIOD_HOURS["month"]
    return Decimal(int(months)) if months.denominator == 1 else round(Decimal(months.numerator) / months.denominator, 2)


def _share(found: re.Match[str] | None) -> Decimal | None:
    share = Decimal(found[1] or found[2]) / 100 if found else None
    return share if share is not None and 0 < share <= 1 else None


def _kept(found: re.Match[str]) -> Fraction | None:
    """Give what a discount leaves: 8折 is 0.8, 85折 is 0.85, 20 % off is 0.8. [-]"""
    if found[1]:
        kept = Fraction(found[1]) / (10 if "." in found[1] or len(found[1]) == 1 else 100)
    else:
        kept = 1 - Fraction(found[2] or found[3]) / 100
    return kept if 0 < kept < 1 else None

"""Amounts of money in text: ``78,000``, ``8.2万``, ``5万8``, ``1.450,00 EUR``, ``12-15``, ``$19.92/hr``, ``3.5起``.

What is counted in cards, gigabytes, per cent, months or dates is no money. Numbers are exact fractions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.choice import AmountChooser
from suanpei.market.quotes.text.numeral import LONGEST_NUMBER, SCALES, read_value, spell_money
from suanpei.market.quotes.text.pair import PairReader, lend_units, part_pairs
from suanpei.market.quotes.text.unit import NO_UNIT, Unit, UnitReader, join_units

if TYPE_CHECKING:
    from suanpei.market.quotes.text.words import QuoteWords

_BARE = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
"""A number as most tables write it."""
_TORN_TAIL = re.compile(r"(?:[\d二两三四五六七八九亿]|万|一(?=[-~至到,;.。]|$))(?!千[卡张台块个p]|百[卡张台块个p])")
"""What stands right behind a scale and is not read: the number without it is no price."""
_NO_MONEY = re.compile(
    r"\s*(?:gi?b|g|ti?b|t|mb|[gt]bps|g?bit|%|个点|折|vcpu|核|u(?![a-z])|kw|w(?![a-z])|nm|x(?![a-z])|×|\*\d|mbps|成|月\d|:\d"
    r"|个(?:月|点|节点)|tflops|tops)(?![a-z])"
)
_BEFORE_NUMBER = r"(?<![\d.,a-z_#-])(?<!(?<![元块])/)"
_COUNTED = ("card", "node")
_CLOCK_BEFORE = re.compile(r"(?<![a-z\d])\d{1,2}:$")
"""``10:22`` and ``1:1`` are no price, ``A800:7`` is one."""
_BROKEN = re.compile(r"(?<![\d.a-z_/-])\d[\d,]*(?:\.{2,}\d|。\d|(?:\.\d+){2,})[\d.。]*")
"""A slip of the pen between digits: ``11..5``, ``11。5``, ``11.5.3``."""
_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3}){2,}")
_ABOUT = re.compile(r"\s*(?:左右|上下)")
_DATE_LIKE = re.compile(r"(?:19|20)\d\d\s*(?:[年/.-]\s*\d{1,2}(?:\s*[月/.-]\s*\d{1,2}\s*日?)?|年(?!\d))")
_WORD_BEHIND = re.compile(r"\s*[a-z]")
"""``reserved 64 H100`` counts cards."""
_LEAST_UNCOUNTED = 1_000
"""From here on a bare number before a unit is a price: 65000 台/月. [-]"""
_LONGEST_TEXT = 2_000
"""Longer texts are read to here: no price cell or chat line is longer. [-]"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Amount:
    """An amount of money, or a range of it, with what its own words say."""

    low: Fraction
    high: Fraction
    """The same as `low` where no range is given."""
    currency: str | None
    """ISO code, also of currencies without a rate; None is not said."""
    is_scaled: bool
    """Whether 万 or the like is part of the number."""
    unit: Unit
    is_from: bool
    """Whether it is a lowest price: 起, from, or a star."""
    is_most: bool = False
    """Whether it is a highest price: 不到, 以内, up to."""
    has_decimal_comma: bool
    other_tax_side: Fraction | None = None
    """The same price with tax where this one is without it, or the other way round; None where only one is quoted."""
    start: int
    end: int
    """Where it stands in the plain text, its unit included. [-]"""


class AmountReader:
    """Reads amounts with one catalogue's words."""

    def __init__(self, words: QuoteWords) -> None:
        self._words = words
        self.units = UnitReader(words)
        self._chooser = AmountChooser(words)
        self._pairs = PairReader(words)
        currency = words.currencies.source
        joined = rf"(?:\s*(?:-|~|至|到|to)\s*{spell_money(currency, '', '2')})?"
        self._pattern = re.compile(spell_money(currency, _BEFORE_NUMBER, "1") + joined)
        said = words.terms
        leads = "|".join(
            one.source
            for one in (
                words.price_lead,
                *(said[kind] for kind in ("list_price", "present_price", "formerly", "at_present")),
            )
        )
        self._lead = re.compile(rf"(?:{leads})\s*(?:[:为是]|约)?\s*$")
        self._loose_lead = re.compile(
            rf"(?:{words.pricing.source}|{words.implied.source})(?:价格?|单价|租金)?\s*[:为是约]?\s*$"
        )
        self._tax_lead = re.compile(rf"(?:{words.tax_words['sides'].source})\s*[:为]?\s*$")
        self._paid_behind = re.compile(rf"\s*(?:{words.pricing.source})")
        self._led_behind = re.compile(
            rf"\s*[(]?\s*(?:{said['list_price'].source}|{said['present_price'].source})(?!\s*[:为是]?\s*[¥$€]?\s*\d)"
        )
        self._from_before = re.compile(rf"(?:{words.from_before.source})\s*:?\s*$")
        counted = words.counts["other"].source
        self._of_other = re.compile(
            rf"\s*(?:/|每|per\s+|pro\s+|each\s+)\s*(?:每|1\s*)?(?:个?(?:{counted})|个(?=[/,;)\s]|$))"
        )
        self._other_priced = re.compile(
            rf"(?:{currency}|\d\s*[万千]?\s*(?:{currency}))\s*\d*(?:\.\d+)?(?:\s*/\s*(?:{words.periods.source}))?{self._of_other.pattern}"
        )
        self._money_behind = re.compile(rf"\s*(?:亿|万|{currency}|/|每|per\s)")
        self._from_after = re.compile(
            rf"\s*\*?\s*(?:\*(?![\d\w])|\*$|(?:{words.from_after.source})(?![租订付均价报为都所]))"
        )
        self._most_before = re.compile(rf"(?:{words.most_before.source})\s*:?\s*$")
        self._most_after = re.compile(rf"\s*(?:{words.most_after.source})")

    def read(self, text: str, *, is_price: bool) -> tuple[Amount, ...]:
        """Find the amounts of a text.

        Args:
            text: In plain form. [-]
            is_price: Whether the text stands where a price is expected: bare numbers are then amounts; elsewhere an
                amount needs a currency, a scale, a unit behind a mark, or a word such as 月租 before it.
        """
        if is_price and (bare := _BARE.fullmatch(text)) is not None and len(text) <= LONGEST_NUMBER:
            amount = _bare_amount(bare)
            return (amount,) if amount.low > 0 else ()
        return self._read(text[:_LONGEST_TEXT], is_price)[0]

    def read_left_out(self, text: str) -> tuple[str, ...]:
        """Give the words of the sums of a running text that are none of its prices: 15 of 原价15 现价12.

        Args:
            text: In plain form. [-]
        """
        return self._read(text[:_LONGEST_TEXT], False)[1]

    def prices_other(self, text: str) -> bool:
        """Tell whether a plain text names a sum for another thing than a card: ``1500元/月/IP``."""
        return self._other_priced.search(text) is not None

    @lru_cache(maxsize=16_384)  # noqa: B019  readers live as long as their catalogue
    def _read(self, text: str, is_price: bool) -> tuple[tuple[Amount, ...], tuple[str, ...]]:  # noqa: FBT001
        """Find the prices, and the words of sums that are none."""
        dates = [found.span() for found in _DATE_LIKE.finditer(text)]
        if self._has_broken(text, dates, is_price=is_price):
            return (), ()
        found: list[Amount] = []
        text = self.units.without_brackets(text)
        pairs = () if is_price else self._pairs.find(text)
        text, paired = part_pairs(text, pairs), {start for pair in pairs for start in (pair.first, pair.second)}
        scales: dict[int, int] = {}
        position = 0
        while (match := self._pattern.search(text, position)) is not None:
            position = max(match.end(), position + 1)
            if any(start <= match.start("number1") < end for start, end in dates):
                continue
            if _is_torn(text, match):
                return (), ()
            amount = self._amount(text, match, is_price=is_price, is_paired=match.start("number1") in paired)
            if amount is not None:
                found.append(amount)
                scales[amount.start] = SCALES[match["scale1"]] if match["scale1"] else 1
                position = max(position, amount.end)
        every = lend_units(tuple(found), pairs, scales) if pairs else tuple(found)
        chosen = self._chooser.choose(text, every) if len(every) > 1 else every
        spans = [(one.start, one.end) for one in chosen]
        sides = {one.other_tax_side for one in chosen}
        left_out = (one for one in every if (one.start, one.end) not in spans and one.low not in sides)
        return chosen, tuple(_with_lead(text, one) for one in left_out)

    def _has_broken(self, text: str, dates: list[tuple[int, int]], *, is_price: bool) -> bool:
        """Tell whether a price of the text has a slip in its digits: then none of the text's numbers is taken."""
        for found in _BROKEN.finditer(text):
            is_date = any(start <= found.start() < end for start, end in dates)
            if is_date or _THOUSANDS.fullmatch(found.group()):
                continue
            is_led = self._lead.search(text[: found.start()]) is not None
            if is_price or is_led or self._money_behind.match(text, found.end()):
                return True
        return False

    def _is_led(self, text: str, match: re.Match[str], unit: Unit) -> bool:
        """Tell whether words beside a number say that it is a price: 月租 before it, 原价 before or behind it."""
        before = text[: match.start()]
        if self._lead.search(before) or self._led_behind.match(text, match.end()):
            return True
        has_decimals = "." in match["number1"]
        if has_decimals and (self._paid_behind.match(text, match.end()) or self._tax_lead.search(before)):
            return True
        if not self._loose_lead.search(before):
            return False
        return has_decimals or not _WORD_BEHIND.match(text, max(match.end(), unit.end))

    def _amount(self, text: str, match: re.Match[str], *, is_price: bool, is_paired: bool = False) -> Amount | None:
        low, has_comma = read_value(match, "1")
        if low is None:
            return None
        high = low
        end = match.end()
        if match["number2"]:
            second, _ = read_value(match, "2")
            if second is None:
                return None
            high = second
            if match["scale2"] and not match["scale1"]:
                low *= SCALES[match["scale2"]]
            if high < low:
                return None
        if high <= 0:
            return None
        written = next((match[name] for name in ("before1", "after1", "before2", "after2") if match[name]), None)
        currency = self._words.currencies.group(written) if written else None
        if currency is None and (_NO_MONEY.match(text, end) or _CLOCK_BEFORE.search(text[: match.start()])):
            return None
        about = _ABOUT.match(text, end)
        unit = self.units.follow(text, about.end() if about else end)
        is_scaled = bool(match["scale1"] or match["scale2"])
        if currency is None and text[: match.start()].endswith("/") and not is_paired:
            return None  # "元/7天"
        is_bare = currency is None and not is_scaled and low.denominator == 1
        is_count = not unit.is_marked and unit.billed in _COUNTED and unit.period is None
        if is_bare and is_count and (is_price or low < _LEAST_UNCOUNTED):
            return None  # "64卡以上"
        if is_bare and not is_price and low < _LEAST_UNCOUNTED and self.units.is_counted(text, match.end()):
            return None  # "1P 每年 7.8万", "包年 1年"
        if self._of_other.match(text, end) or self._of_other.match(text, max(end, unit.end)):
            return None
        start = match.start()
        if unit.billed is None:
            before, start = self.units.precede(text, start)
            unit = join_units(unit, before) if not before.is_empty else unit
        is_led = is_paired or self._is_led(text, match, unit)
        if not (is_price or is_led or _speaks_for_itself(currency, is_scaled=is_scaled, unit=unit)):
            return None
        end = max(end, unit.end)
        after = self._from_after.match(text, end) or self._from_after.match(text, match.end())
        return Amount(
            low=low,
            high=high,
            currency=currency,
            is_scaled=is_scaled,
            unit=unit if not unit.is_empty else NO_UNIT,
            is_from=bool(after or self._from_before.search(text[: match.start()])),
            is_most=bool(self._most_after.match(text, end) or self._most_before.search(text[: match.start()])),
            has_decimal_comma=has_comma,
            start=start,
            end=max(end, after.end() if after else end),
        )


def _with_lead(text: str, amount: Amount) -> str:
    """Give the words of an amount with the word that leads to it."""
    before = text[: amount.start].rstrip(" :")
    return text[max(before.rfind(separator) for separator in " ,;(/|") + 1 : amount.end].strip()


def _bare_amount(found: re.Match[str]) -> Amount:
    """Make the amount of a cell that is nothing but a number."""
    digits = found.group().replace(",", "")
    whole, _, decimals = digits.partition(".")
    value = Fraction(int(whole + decimals), 10 ** len(decimals)) if decimals else Fraction(int(whole))
    return Amount(
        low=value,
        high=value,
        currency=None,
        is_scaled=False,
        unit=NO_UNIT,
        is_from=False,
        has_decimal_comma=False,
        start=0,
        end=found.end(),
    )


def _speaks_for_itself(currency: str | None, *, is_scaled: bool, unit: Unit) -> bool:
    """Tell whether a number in running text is an amount of money."""
    if currency is not None:
        return True
    if is_scaled:
        return unit.is_marked or unit.billed is None
    return unit.is_marked and unit.period is not None


def _is_torn(text: str, match: re.Match[str]) -> bool:
    """Tell whether digits behind a scale were not read: 5万83, 6万8卡."""
    return any(
        match[f"scale{name}"] is not None
        and match[f"tail{name}"] is None
        and _TORN_TAIL.match(text, match.end(f"scale{name}")) is not None
        for name in ("1", "2")
    )

"""Which of several sums of one text is the price: the present one, the one that the word for tax belongs to.

``原价15 现价11.5`` is 11.5; ``11.5元/12.2元（含税）`` is 12.2 with tax; ``含税4.3w，不含税4.05w`` is 4.3w with tax
beside 4.05w without; ``64卡以上10.5 64卡以下11.5`` is 10.5 to 11.5.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from suanpei.market.terms import MOST_TAX_FRACTION, read_tax

if TYPE_CHECKING:
    from suanpei.market.quotes.text.amount import Amount
    from suanpei.market.quotes.text.words import QuoteWords


class AmountChooser:
    """Chooses with one catalogue's words."""

    def __init__(self, words: QuoteWords) -> None:
        said = words.terms
        listed = said["list_price"].source
        self._lowered = re.compile(rf"\s*(?:{said['lowered_to'].source})\s*")
        self._no_price = re.compile(rf"(?:{said['summed'].source}|{said['restated'].source})\s*[:为是约]?\s*$")
        self._listed = re.compile(rf"(?:{listed}|{words.terms['formerly'].source})\s*(?:[:为是]|约)?\s*$")
        self._listed_behind = re.compile(rf"\s*[(]?\s*(?:{listed})(?!\s*[:为是]?\s*[¥$€]?\s*\d)")
        tax = words.tax.source
        self._tax = words.tax
        self._tax_before = re.compile(rf"(?:{tax})(?:[价的]|单价|报价|价格|月租)?\s*[:为是]?\s*$")
        leads_on = r"\s*[:为是价]*\s*[¥$€]?\d+(?:\.\d+)?(?![\d.]|\s*(?:%|个?税?点))"
        self._tax_behind = re.compile(rf"\s*[(]?\s*(?:{tax})(?!{leads_on})")
        word, rate = rf"(?:{tax})(?:\.?\s+(?=[a-z])(?:{tax}))*", r"\(?\d{1,2}(?:\.\d)?\s*%\)?"
        self._side = re.compile(word)
        self._side_before = re.compile(rf"(?:{word})[价的]*\s*(?:{rate})?\s*[:为是]?\s*$")
        self._side_behind = re.compile(rf"\s*[(]?\s*(?:{word})")
        self._between_sides = re.compile(
            rf"(?:{words.tax_words['side_links'].source}|{word}|{rate}|[\s,;/|():¥$€价的])*"
        )
        cards = words.counts["loose_cards"].source
        self._step = re.compile(rf"\d\s*(?:{cards})\s*(?:以上|以下|以内|及以上)")

    def choose(self, text: str, amounts: tuple[Amount, ...]) -> tuple[Amount, ...]:
        """Leave out sums that are not the price.

        Args:
            text: In plain form. [-]
            amounts: All sums of the text, in its order. [-]
        """
        present = tuple(
            one
            for number, one in enumerate(amounts)
            if not (
                self._listed.search(text[: one.start])
                or self._listed_behind.match(text, one.end)
                or self._no_price.search(text[: one.start])
                or (number + 1 < len(amounts) and self._lowered.fullmatch(text, one.end, amounts[number + 1].start))
            )
        )
        amounts = self._choose_tax(text, present or amounts)
        return self._join_steps(text, amounts)

    def _choose_tax(self, text: str, amounts: tuple[Amount, ...]) -> tuple[Amount, ...]:
        """Of the same price with and without tax, keep the one beside the first word for tax, which the tax is of."""
        if len(amounts) != 2 or (first := self._tax.search(text)) is None:
            return amounts
        one, other = amounts
        units = {(amount.unit.billed, amount.unit.period) for amount in amounts if not amount.unit.is_empty}
        ratio = max(one.low, other.low) / min(one.low, other.low) if one.low and other.low else None
        if (
            ratio is None
            or ratio > 1 + MOST_TAX_FRACTION
            or len(units) > 1
            or len({one.currency, other.currency} - {None}) > 1
        ):
            return amounts
        if self._are_sides(text, one, other):
            unit = other.unit if one.unit.is_empty else one.unit
            currency = one.currency or other.currency
            return (replace(one, unit=unit, currency=currency, other_tax_side=other.low),)
        said = [self._says_tax(text, amount) for amount in amounts]
        if not (all(said) or text[one.end : other.start].strip() in ("/", "|", "或", "or")):
            return amounts
        kept = other if not said[0] or first.start() >= other.end else one
        lent = next((amount for amount in amounts if not amount.unit.is_empty), kept)
        unit = lent.unit if kept.unit.is_empty else kept.unit
        return (replace(kept, unit=unit, currency=one.currency or other.currency),) if any(said) else amounts

    def _are_sides(self, text: str, one: Amount, other: Amount) -> bool:
        """Tell whether two sums are one price with and without tax: a word for each, and nothing else between them."""
        if one.low != one.high or other.low != other.high:
            return False
        if self._between_sides.fullmatch(text, one.end, other.start) is None:
            return False
        before, behind = self._side_before.search(text[: one.start]), self._side_behind.match(text, other.end)
        between = [found.group() for found in self._side.finditer(text, one.end, other.start)]
        said = [*([before.group()] if before else []), *between, *([behind.group()] if behind else [])]
        if len(said) != 2:
            return False
        states = [read_tax(words).state for words in said]
        return states == (["in", "out"] if one.low > other.low else ["out", "in"]) and one.low != other.low

    def _says_tax(self, text: str, amount: Amount) -> bool:
        before = self._tax_before.search(text[: amount.start])
        return before is not None or self._tax_behind.match(text, amount.end) is not None

    def _join_steps(self, text: str, amounts: tuple[Amount, ...]) -> tuple[Amount, ...]:
        """Make one range of prices that depend on how many cards are rented."""
        if len(amounts) != 2 or len(self._step.findall(text)) != 2 or amounts[0].unit != amounts[1].unit:
            return amounts
        low, high = sorted(amounts, key=lambda amount: amount.low)
        return (replace(amounts[0], low=low.low, high=high.high),)

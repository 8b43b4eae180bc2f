"""What is billed beside the card: storage and traffic by the gigabyte, set-up, and the host of a bare card's price."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.market.quotes.text.numeral import read_value, spell_money
from suanpei.market.terms import Charges
from suanpei.money import Money

if TYPE_CHECKING:
    from suanpei.market.quotes.text.words import QuoteWords

_WHOLE = 100
_BEFORE_NUMBER = r"(?<![\d.])(?<!\d,)"
_NO_RANGE = r"(?!\d|\s*[万千kw]?\s*[元$€]?\s*[-~至到]\s*[¥$€]?\d)"
"""Behind one sum: of ``2-3千元`` no charge is made."""
_NEAR = 24
"""How far before an amount the word stands that says what it is for. [characters]"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Charge:
    """One amount that is billed beside the card."""

    kind: str
    """``storage``, ``egress``, ``ingress``, ``set_up``, ``host``, ``early_exit``, or ``outages`` that are free."""
    amount: Decimal
    """Per GB (and month, for storage), per rental, or per unit of the host and hour. [currency] Of an early exit: the
    share of the rent that is left. [-]"""
    currency: str | None
    measure: str = ""
    """Of the host: ``vcpu``, ``ram``, or empty where it is for the whole host of a card."""


class ChargeReader:
    """Reads charges with one catalogue's words."""

    def __init__(self, words: QuoteWords) -> None:
        self._words = words
        currency = words.currencies.source
        amount = spell_money(currency, _BEFORE_NUMBER)
        sizes = "|".join(sorted(words.measures_gb, key=len, reverse=True))
        measure = rf"(?P<measure>(?P<host>{words.host_measures.source})|(?:{sizes})(?![a-z]))"
        period = rf"(?:\s*[/·-]?\s*(?:每|per\s+)?(?:个)?(?P<period>{words.periods.source}))?"
        self._measured = re.compile(rf"(?:/|每|per\s|pro\s)\s*{measure}")
        """What `_by_measure` needs, found at a tenth of its time."""
        self._by_measure = re.compile(rf"\+?\s*{amount}\s*(?:/|每|per\s+|pro\s+)\s*{measure}{period}")
        named = rf"(?P<what>{words.charges.source})"
        per_card_hour = rf"(?:\s*/?\s*(?:{words.billed.source}))?(?:\s*[/-]\s*(?:{words.periods.source}))?"
        self._once = re.compile(rf"{named}\s*(?:另加|另计|加)?\s*[:+]?\s*{amount}{_NO_RANGE}{per_card_hour}")
        self._before = re.compile(
            rf"{amount}(?:\s*(?:/|per\s+)\s*(?:{words.billed.source}))?(?: (?=[a-z]))?(?:一次性|one[- ]time )?{named}"
            r"(?!\s*[\d:¥$]|[^,;。]{0,6}[免另含包])"
        )
        said = words.terms
        self._outages = re.compile(rf"(?:{said['outage'].source})[^,;。]{{0,8}}?(?:{said['not_billed'].source})")
        self._early_exit = re.compile(
            rf"(?:{said['early_exit'].source})[^%;。]{{0,16}}?(?:{said['rent_left'].source})[^%;。]{{0,10}}?"
            r"(?<![\d.])(?P<percent>\d{1,3})\s*%"
            rf"|(?<![\d.])(?P<share>\d{{1,3}})\s*%\s*(?:of\s+)?(?:the\s+)?(?:{said['rent_left'].source})[^%;。]{{0,24}}?"
            rf"(?:{said['early_exit'].source})"
        )
        free = rf"(?:{words.free.source})(?!\s*(?:\d|up\s+to|within|for|前|首|头))"
        self._free = re.compile(rf"{named}\s*(?:is\s+|为|[:])?\s*{free}|免(?P<fee>{words.charges.source})")

    def read(self, text: str) -> tuple[tuple[Charge, ...], str]:
        """Find charges in a plain text.

        Returns:
            The charges, and the text with them blanked out.
        """
        charges: list[Charge] = []
        if self._outages.search(text):
            charges.append(Charge(kind="outages", amount=Decimal(0), currency=None))
        if (found := self._early_exit.search(text)) and (share := int(found["percent"] or found["share"])) <= _WHOLE:
            charges.append(Charge(kind="early_exit", amount=Decimal(share) / _WHOLE, currency=None))
            text = text[: found.start()] + " " * (found.end() - found.start()) + text[found.end() :]
        text = self.without_outages(text)
        is_named = self._words.charges.may_have(text)
        for pattern, read, may_stand in (
            (self._by_measure, self._by_size, self._measured.search(text) is not None),
            (self._before, self._by_fee, is_named),
            (self._once, self._by_rental, is_named),
        ):
            if not may_stand:
                continue
            for found in list(pattern.finditer(text)):
                charge = read(text, found)
                if charge is not None:
                    charges.append(charge)
                    text = text[: found.start()] + " " * (found.end() - found.start()) + text[found.end() :]
        for found in self._free.finditer(text) if is_named else ():
            kind = self._kind(found["fee"] or found["what"])
            if kind in ("egress", "ingress", "storage"):
                charges.append(Charge(kind=kind, amount=Decimal(0), currency=None))
        return tuple(charges), text

    def without_outages(self, text: str) -> str:
        """Blank out of a plain text what it says of outages: 故障停机不计费 says nothing of machines switched off."""
        return self._outages.sub(lambda found: " " * len(found.group()), text)

    def _kind(self, word: str) -> str:
        return self._words.charges.group(word)

    def _by_rental(self, _: str, found: re.Match[str]) -> Charge | None:
        """Read an amount behind the word that it is for: a set-up fee, the host of one card."""
        kind, amount = self._kind(found["what"]), _sum_of(found)
        if kind not in ("set_up", "host") or amount is None:
            return None
        return Charge(kind=kind, amount=amount, currency=self._currency(found))

    def _by_fee(self, _: str, found: re.Match[str]) -> Charge | None:
        """Read an amount of money right before the word that it is for: ``$500 setup fee``, ``500元/台上架费``."""
        kind, amount, currency = self._kind(found["what"]), _sum_of(found), self._currency(found)
        if kind != "set_up" or amount is None or currency is None:
            return None
        return Charge(kind=kind, amount=amount, currency=currency)

    def _by_size(self, text: str, found: re.Match[str]) -> Charge | None:
        """Read an amount per measure: of the host, or of what the words before it name."""
        amount, currency = _sum_of(found), self._currency(found)
        if amount is None:
            return None
        if found["host"]:
            return Charge(
                kind="host", amount=amount, currency=currency, measure=self._words.host_measures.group(found["host"])
            )
        near = text[max(0, found.start() - _NEAR) : found.start()]
        kinds = [self._kind(one.group()) for one in self._words.charges.pattern.finditer(near)]
        behind = self._words.charges.pattern.match(text[found.end() :].lstrip(" 的"))
        kinds += [self._kind(behind.group())] if behind else []
        named = [kind for kind in kinds if kind in ("storage", "egress", "ingress")]
        is_monthly = bool(found["period"]) and self._words.periods.group(found["period"]) == "month"
        kind = named[-1] if named else "storage" if is_monthly else ""
        if not kind or (kind == "storage" and not is_monthly):
            return None
        return Charge(kind=kind, amount=amount / self._words.measures_gb[found["measure"].strip()], currency=currency)

    def _currency(self, found: re.Match[str]) -> str | None:
        written = found["before"] or found["after"]
        return self._words.currencies.group(written) if written else None


def _sum_of(found: re.Match[str]) -> Decimal | None:
    """Give the sum of money of a charge; None where its number is too long for one."""
    value, _ = read_value(found)
    return None if value is None else Decimal(value.numerator) / value.denominator


def make_charges(charges: tuple[Charge, ...], currency: str) -> Charges:
    """Bring what was read into the charges of an offer.

    Args:
        charges: As read; the first of a kind counts. [-]
        currency: Of the offer, where a charge names none. [-]
    """
    first: dict[str, Money] = {}
    for charge in charges:
        first.setdefault(charge.kind, Money(amount=charge.amount, currency=charge.currency or currency))
    early_exit = first.get("early_exit")
    return Charges(
        early_exit_fraction=early_exit.amount if early_exit is not None else None,
        bills_outages=False if "outages" in first else None,
        storage_per_gb_month=first.get("storage"),
        ingress_per_gb=first.get("ingress"),
        egress_per_gb=first.get("egress"),
        set_up=first.get("set_up"),
    )


def host_per_card(charges: tuple[Charge, ...]) -> Fraction | None:
    """Give what the host of one card costs per hour, where it is stated as one amount; None where its size is open."""
    whole = [charge for charge in charges if charge.kind == "host" and not charge.measure]
    return Fraction(whole[0].amount) if whole else None

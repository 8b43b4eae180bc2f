"""From a quoted amount to an amount per accelerator-hour: every way to read it, and the one that words or band support.

::

    amount per card-hour = quoted amount · exchange rate / (hours of the period · cards billed together)
    a price per P        = quoted amount · exchange rate · PFLOP/s of the card / hours of the period

All in exact fractions. Where the unit is written out there is one reading. Where a part is missing, each way to fill it
is a reading; the one taken is what other words of the row speak for, unless the band contradicts them, else the only
plausible one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from suanpei.machine.accelerator_table import load_accelerators
from suanpei.market.quotes.charge_text import host_per_card
from suanpei.market.quotes.pflops import count_pflops, dense_pflops
from suanpei.market.quotes.quoted import Reading
from suanpei.market.quotes.unit_text import PERIOD_HOURS, THIRTY_DAYS_HOURS
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.quotes.drafts import Draft
    from suanpei.market.quotes.plausible import Band, Bands
    from suanpei.market.quotes.quoted import Billed

_OPEN_PERIODS = ("hour", "day", "month", "year")
_MONTH_HOURS = PERIOD_HOURS["month"]
_MOST_OTHERS = 3
"""Other readings shown beside a suspicious one. [-]"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One way to fill in a unit."""

    billed: Billed
    period_hours: Fraction
    divisor: Fraction
    """What the quoted amount is divided by. [card-hour]"""
    is_worded: bool
    """Whether words of the row speak for both parts."""
    why: Message


class Settler:
    """Settles drafts with the facts of one catalogue."""

    def __init__(self, catalogue: Catalogue, bands: Bands, rate_of: dict[str, Fraction]) -> None:
        self._accelerators = load_accelerators(catalogue)
        self._bands = bands
        self._rate_of = rate_of

    def settle(self, draft: Draft) -> None:
        """Find the readings of a draft and take one where words or band support it."""
        draft.unit_gpus = self._unit_gpus(draft)
        if draft.amount is None or draft.currency is None:
            return
        if draft.unit.billed == "pflops":
            self._settle_pflops(draft)
        else:
            self._settle_unit(draft)
        self._add_discount(draft)
        if "component_price" in draft.flags:
            draft.host = host_per_card((*draft.facts.row.charges, *draft.facts.shared.charges))

    def band(self, draft: Draft, option_billed: str, period_hours: Fraction, gpus: int) -> Band | None:
        """Find the band that a reading is held against."""
        if not draft.card.candidates or draft.currency is None:
            return None
        whole_months = option_billed in ("node", "instance") and gpus > 1 and period_hours >= THIRTY_DAYS_HOURS
        return self._bands.find(
            draft.card.candidates, draft.currency, whole_months=whole_months, pricing=draft.terms.pricing or ""
        )

    def reading(self, draft: Draft, option: Option, scale: Fraction = Fraction(1)) -> Reading:
        """Make the reading of an option; `scale` is what a discount leaves."""
        rate = self._rate_of[cast("str", draft.currency)]
        low = draft.amount.low if draft.amount else Fraction(0)
        amount = low * draft.unit_scale * rate * scale / option.divisor
        gpus = int(option.divisor / option.period_hours) if option.billed != "pflops" else 1
        band = self.band(draft, option.billed, option.period_hours, gpus)
        return Reading(
            amount=amount,
            billed=option.billed,
            period_hours=option.period_hours,
            quoted_currency=cast("str", draft.currency),
            is_plausible=None if band is None else band.holds(amount),
            why=option.why,
        )

    def _unit_gpus(self, draft: Draft) -> int | None:
        """Count the cards of the node or instance quoted; a node of unknown size takes the card's usual one."""
        facts = draft.facts
        known = draft.unit.billed_gpus or facts.instance_gpus or facts.row.node_gpus
        if known is not None:
            return known
        if draft.unit.billed in ("node", "instance") or facts.row.implied == "node":
            usual = {self._accelerators[name].node_gpus for name in draft.card.candidates}
            if len(usual) == 1 and draft.amount is not None:
                draft.flags.add("node_size_inferred")
                return usual.pop()
        return 1 if facts.row.implied == "card" and draft.unit.billed != "node" else None

    def _settle_unit(self, draft: Draft) -> None:
        options = self._options(draft)
        if not options:
            draft.flags.add("unit_missing")
            return
        readings = [self.reading(draft, option) for option in options]
        draft.readings = readings
        if len(options) == 1:
            self._take(draft, 0, options, readings)
            self._suspect(draft, options[0], readings[0])
            return
        worded = next((number for number, option in enumerate(options) if option.is_worded), None)
        likely = [number for number, reading in enumerate(readings) if reading.is_plausible]
        if worded is not None and readings[worded].is_plausible is not False:
            taken: int | None = worded
        elif worded is None and len({readings[number].amount for number in likely}) == 1:
            taken = likely[0]
        else:
            taken = None
        if taken is None:
            draft.flags.add("unit_missing")
            if worded is not None:
                self._take(draft, worded, options, readings)
                draft.taken, draft.worded = None, draft.taken
            return
        is_unit_written = draft.unit.period is not None or draft.terms.prepaid_term_hours is not None
        if not (is_unit_written and options[taken].is_worded):
            draft.flags.add("unit_missing_inferred")
        self._take(draft, taken, options, readings)

    def _options(self, draft: Draft) -> list[Option]:
        """List every way to fill in what the unit leaves open, the written parts kept."""
        billeds, spoken_billed = self._billed_options(draft)
        periods, spoken_period = _period_options(draft)
        options: list[Option] = []
        seen: set[Fraction] = set()
        for billed, gpus in billeds:
            for hours in periods:
                divisor = hours * gpus
                if divisor in seen:
                    continue
                seen.add(divisor)
                worded = (len(billeds) == 1 or billed == spoken_billed) and (
                    len(periods) == 1 or hours == spoken_period
                )
                options.append(
                    Option(
                        billed=billed,
                        period_hours=hours,
                        divisor=divisor,
                        is_worded=worded,
                        why=_why(draft, is_written=len(billeds) * len(periods) == 1, is_worded=worded),
                    )
                )
        return options

    def _billed_options(self, draft: Draft) -> tuple[list[tuple[Billed, int]], str | None]:
        """List what the amount may be for, with its cards, and what other words speak for."""
        gpus = draft.unit_gpus
        implied = draft.series_billed or draft.facts.row.implied
        if draft.unit.billed == "card":
            return [("card", 1)], "card"
        if draft.unit.billed is not None:
            return ([(draft.unit.billed, gpus)] if gpus else []), draft.unit.billed
        if draft.facts.instance_gpus and gpus:
            return [("instance", gpus)], "instance"
        if gpus == 1:
            return [("card", 1)], "card"
        if gpus is None:
            return [("card", 1)] if implied == "card" else [("card", 1), *self._usual_node(draft)], implied
        whole: Billed = "instance" if implied == "instance" else "node"
        return [(whole, gpus), ("card", 1)], implied

    def _usual_node(self, draft: Draft) -> list[tuple[Billed, int]]:
        usual = {self._accelerators[name].node_gpus for name in draft.card.candidates}
        return [("node", usual.pop())] if len(usual) == 1 and usual != {1} else []

    def _take(self, draft: Draft, number: int, options: Sequence[Option], readings: list[Reading]) -> None:
        """Put the reading taken first."""
        option, reading = options[number], readings[number]
        draft.taken = self._rate_of[cast("str", draft.currency)] * draft.unit_scale / option.divisor
        draft.is_plausible = reading.is_plausible
        draft.readings = [reading, *(other for place, other in enumerate(readings) if place != number)]

    def _suspect(self, draft: Draft, option: Option, reading: Reading) -> None:
        """Flag an amount that its own words put far from the band, and add the units that would bring it there."""
        if reading.is_plausible is not False:
            return
        gpus = draft.unit_gpus or next((gpus for _, gpus in self._usual_node(draft)), 1)
        others: list[Reading] = []
        for billed, cards in (("card", 1), ("node", gpus)):
            for hours in dict.fromkeys((option.period_hours, *(PERIOD_HOURS[name] for name in _OPEN_PERIODS))):
                divisor = hours * cards
                if divisor == option.divisor or (billed == "node" and gpus == 1):
                    continue
                other = self.reading(
                    draft,
                    Option(
                        billed=cast("Billed", billed),
                        period_hours=hours,
                        divisor=divisor,
                        is_worded=False,
                        why=Message("the words say otherwise; only the price band speaks for it"),
                    ),
                )
                if other.is_plausible:
                    others.append(other)
        draft.readings += others[:_MOST_OTHERS]
        band = self.band(draft, option.billed, option.period_hours, gpus)
        is_cheap = band is not None and band.ratio(reading.amount) < 1
        if others:
            draft.flags.add("too_cheap_unit_suspect" if is_cheap else "too_dear_unit_suspect")
        else:
            draft.flags.add("price_far_from_band")

    def _settle_pflops(self, draft: Draft) -> None:
        """Read a price per P: PFLOP/s of dense 16-bit products unless the row says otherwise."""
        draft.flags.add("per_PFLOPS")
        periods, spoken = _period_options(draft)
        products = [self._accelerators[name] for name in draft.card.candidates]
        dense = {pflops for product in products if (pflops := dense_pflops(product)) is not None}
        if not products or len(dense) != 1 or (len(periods) > 1 and spoken is None):
            draft.flags.add("unit_missing" if products and len(dense) == 1 else "pflops_of_card_unknown")
            if len(dense) < 2 or len(periods) > 1:
                return
        hours = spoken or periods[0]
        options = [
            Option(
                billed="pflops",
                period_hours=hours,
                divisor=hours / pflops,
                is_worded=len(dense) == 1,
                why=Message(
                    "P read as PFLOP/s of dense FP16 or BF16: {pflops} per card", pflops=f"{float(pflops):.4g}"
                ),
            )
            for pflops in sorted(dense)
        ]
        claimed = draft.facts.row.card_pflops or draft.facts.shared.card_pflops
        words = draft.facts.row.pflops_words | draft.facts.shared.pflops_words
        counted = count_pflops(products[0], claimed, words)
        if counted is not None and len(dense) == 1:
            pflops, why, is_claim = counted
            draft.flags.add("p_per_card_wrong")
            option = Option(
                billed="pflops", period_hours=hours, divisor=hours / pflops, is_worded=not is_claim, why=why
            )
            options = [*options, option] if is_claim else [option, *options]
        readings = [self.reading(draft, option) for option in options]
        draft.readings = readings
        if len(dense) == 1:
            self._take(draft, 0, options, readings)
            if readings[0].is_plausible is False and "p_per_card_wrong" not in draft.flags:
                draft.flags.add("price_far_from_band")

    def _add_discount(self, draft: Draft) -> None:
        """Apply a discount only where the price is said to be before it; else show what it would give."""
        kept, terms = draft.terms.kept_fraction, draft.terms
        if kept is None or draft.taken is None or terms.is_discount_applied:
            return
        per_cent = (1 - kept) * 100
        first = draft.readings[0]
        reduced = replace(
            first,
            amount=first.amount * kept,
            why=Message("with the discount of {percent} % that the words name", percent=f"{float(per_cent):g}"),
        )
        name = f"discount_{float(per_cent):g}pct"
        if terms.is_discount_applied is False:
            draft.flags.add(f"{name}_applied")
            draft.taken *= kept
            draft.readings = [reduced, *draft.readings]
        else:
            draft.flags.add(f"{name}_not_applied")
            draft.readings = [first, reduced, *draft.readings[1:]]


def _period_options(draft: Draft) -> tuple[list[Fraction], Fraction | None]:
    """List the times that the amount may be for, and what other words speak for. [h]"""
    month = THIRTY_DAYS_HOURS if draft.terms.has_thirty_days else _MONTH_HOURS

    def hours_of(period: str) -> Fraction:
        return month if period == "month" else PERIOD_HOURS[period]

    if draft.unit.period is not None:
        return [hours_of(draft.unit.period)], hours_of(draft.unit.period)
    whole = draft.terms.prepaid_term_hours
    if whole is not None:
        return list(dict.fromkeys((whole, month))), whole
    if draft.terms.long_period is not None:
        return [hours_of(draft.terms.long_period), month], None
    spoken = hours_of(draft.terms.period) if draft.terms.period else None
    if spoken is None and any(charge.kind == "host" for charge in draft.facts.row.charges):
        spoken = PERIOD_HOURS["hour"]  # the host beside it is priced by the hour
    periods = [hours_of(period) for period in _OPEN_PERIODS]
    return list(dict.fromkeys(([spoken] if spoken else []) + periods)), spoken


def _why(draft: Draft, *, is_written: bool, is_worded: bool) -> Message:
    if is_written:
        return Message("the unit is written out")
    if draft.series_billed and is_worded:
        return Message("other rows of the same card speak for it")
    if is_worded:
        return Message("other words of the row speak for it")
    return Message("no word speaks for it")

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
from suanpei.market.quotes.prices.discounts import add_discount
from suanpei.market.quotes.prices.likely import take_likely
from suanpei.market.quotes.prices.pflops import count_pflops, dense_pflops
from suanpei.market.quotes.prices.plausible import FAR_FLAG, MOST_OTHER_UNITS, OTHER_UNIT, flag_far
from suanpei.market.quotes.prices.row_totals import list_total_options
from suanpei.market.quotes.prices.unit_options import OPEN_PERIODS, Option, UnitKey, list_options, period_options
from suanpei.market.quotes.quoted import Reading
from suanpei.market.quotes.text.charge import host_per_card
from suanpei.market.terms import PERIOD_HOURS, THIRTY_DAYS_HOURS
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.quotes.prices.draft import Draft
    from suanpei.market.quotes.prices.plausible import Band, Bands
    from suanpei.market.quotes.quoted import Billed


@dataclass(frozen=True, kw_only=True, slots=True)
class _Priced:
    """An option with its factor and band, shared by all drafts of the same unit, card and currency."""

    option: Option
    factor: Fraction
    """What one unit of the quoted currency is per accelerator-hour of the result."""
    band: Band | None


class Settler:
    """Settles drafts with the facts of one catalogue."""

    def __init__(self, catalogue: Catalogue, bands: Bands, rate_of: dict[str, Fraction]) -> None:
        self._accelerators = load_accelerators(catalogue)
        self._bands = bands
        self._rate_of = rate_of
        self._options: dict[tuple[UnitKey, int, str, str, tuple[str, ...]], tuple[_Priced, ...]] = {}
        self._other_options: dict[tuple[Fraction, int, int, str, str, tuple[str, ...]], tuple[_Priced, ...]] = {}
        self._usual: dict[tuple[str, ...], int | None] = {}

    def settle(self, draft: Draft) -> None:
        """Find the readings of a draft and take one where words or band support it."""
        draft.unit_gpus = self._unit_gpus(draft)
        if draft.stock is not None and draft.stock.unit == "machine" and draft.stated_gpus is None:
            draft.usual_gpus = self._usual_gpus(draft)
        if draft.amount is None or draft.currency is None:
            return
        if draft.is_total:
            self._settle_total(draft)
        elif draft.unit.billed == "pflops":
            self._settle_pflops(draft)
        else:
            self._settle_unit(draft, self._priced(draft))
        if draft.terms.kept_fraction is not None:
            add_discount(draft)
        if "component_price" in draft.flags:
            draft.host = host_per_card(draft.charges)

    def band(self, draft: Draft, billed: str, period_hours: Fraction, gpus: int) -> Band | None:
        """Find the band that a reading is held against."""
        if not draft.card.candidates or draft.currency is None:
            return None
        whole_months = billed in ("node", "instance", "total") and gpus > 1 and period_hours >= THIRTY_DAYS_HOURS
        return self._bands.find(
            draft.card.candidates, draft.currency, whole_months=whole_months, pricing=draft.terms.pricing or ""
        )

    def _unit_gpus(self, draft: Draft) -> int | None:
        """Count the cards of the node or instance quoted; a node of unknown size takes the card's usual one."""
        known = draft.stated_gpus
        if known is not None:
            return known
        implied = draft.row.implied
        if draft.unit.billed in ("node", "instance") or implied == "node":
            usual = self._usual_gpus(draft)
            if usual is not None and draft.amount is not None:
                draft.flag("node_size_inferred")
                return usual
        return 1 if implied == "card" and draft.unit.billed != "node" else None

    def _usual_gpus(self, draft: Draft) -> int | None:
        """Give the cards of the node that the card is usually rented in; None where its candidates differ."""
        names = draft.card.candidates
        if names not in self._usual:
            usual = {self._accelerators[name].node_gpus for name in names}
            self._usual[names] = usual.pop() if len(usual) == 1 else None
        return self._usual[names]

    def _priced(self, draft: Draft) -> tuple[_Priced, ...]:
        """List the ways to fill in what the unit leaves open, with factor and band."""
        currency = cast("str", draft.currency)
        unit = UnitKey(
            billed=draft.unit.billed,
            period=draft.unit.period,
            gpus=draft.unit_gpus,
            usual_gpus=None if draft.unit_gpus else self._usual_gpus(draft),
            is_instance=draft.instance_gpus is not None,
            implied=draft.series_billed or draft.row.implied,
            is_series=draft.series_billed is not None,
            pricing=draft.terms.pricing,
            paid_term_hours=draft.terms.prepaid_term_hours,
            has_thirty_days=draft.terms.has_thirty_days,
            has_host_price=any(charge.kind == "host" for charge in draft.row.charges),
        )
        key = (unit, draft.unit_scale, currency, draft.terms.pricing or "", draft.card.candidates)
        priced = self._options.get(key)
        if priced is None:
            priced = self._options[key] = tuple(self._price(draft, option) for option in list_options(unit))
        return priced

    def _price(self, draft: Draft, option: Option) -> _Priced:
        gpus = 1 if option.billed == "pflops" else int(option.divisor / option.period_hours)
        return _Priced(
            option=option,
            factor=self._rate_of[cast("str", draft.currency)] * draft.unit_scale / option.divisor,
            band=self.band(draft, option.billed, option.period_hours, gpus),
        )

    def _settle_total(self, draft: Draft) -> None:
        """Read a total by the count and the term of its row, and settle a count that says neither card nor machine."""
        options = list_total_options(draft, self._usual_gpus(draft))
        self._settle_unit(draft, tuple(self._price(draft, option) for option in options))
        if draft.taken is None:
            return
        draft.flags -= {"unit_missing_inferred"}
        draft.flag("price_from_total")
        factor = self._rate_of[cast("str", draft.currency)] * draft.unit_scale
        if draft.stock is not None and not draft.stock.unit:
            cards = factor / draft.taken / draft.readings[0].period_hours
            draft.stock = replace(draft.stock, count=int(cards), unit="card")

    def _settle_unit(self, draft: Draft, priced: tuple[_Priced, ...]) -> None:
        if not priced:
            draft.flag("unit_missing")
            return
        readings = [_reading(draft, one) for one in priced]
        if len(priced) == 1:
            _take(draft, 0, priced, readings)
            if readings[0].is_plausible is False:
                self._suspect(draft, priced[0])
            return
        worded = next((number for number, one in enumerate(priced) if one.option.is_worded), None)
        likely = [
            number
            for number, (one, reading) in enumerate(zip(priced, readings, strict=True))
            if reading.is_plausible and one.option.is_supported
        ]
        if worded is not None and readings[worded].is_plausible is not False:
            taken = worded
        elif (
            worded is None
            and (found := take_likely(draft, [one.option for one in priced], readings, likely)) is not None
        ):
            taken, why = found
            readings[taken] = replace(readings[taken], why=why)
        else:
            draft.flag("unit_missing")
            first = next((number for number, one in enumerate(readings) if one.is_plausible), 0)
            _take(draft, first if worded is None else worded, priced, readings)
            draft.worded = None if worded is None else draft.taken
            draft.taken = draft.is_plausible = None
            return
        is_period_written = draft.unit.period is not None or draft.terms.prepaid_term_hours is not None
        if not (is_period_written and priced[taken].option.is_worded):
            draft.flag("unit_missing_inferred")
        _take(draft, taken, priced, readings)

    def _suspect(self, draft: Draft, taken: _Priced) -> None:
        """Flag an amount that its own words put far from the band, and add the units that would bring it there."""
        others = [reading for one in self._others(draft, taken) if (reading := _reading(draft, one)).is_plausible]
        draft.flag(flag_far(taken.band, draft.readings[0].amount, has_other_unit=bool(others)))
        draft.readings += others[:MOST_OTHER_UNITS]

    def _others(self, draft: Draft, taken: _Priced) -> tuple[_Priced, ...]:
        """List the units that the words do not name: the other of card and node, and other periods."""
        gpus = draft.unit_gpus or self._usual_gpus(draft) or 1
        currency, pricing, option = cast("str", draft.currency), draft.terms.pricing or "", taken.option
        key = (option.divisor, gpus, draft.unit_scale, currency, pricing, draft.card.candidates)
        if key not in self._other_options:
            periods = dict.fromkeys((option.period_hours, *(PERIOD_HOURS[name] for name in OPEN_PERIODS)))
            billeds: tuple[tuple[Billed, int], ...] = (("card", 1), ("node", gpus)) if gpus > 1 else (("card", 1),)
            self._other_options[key] = tuple(
                self._price(
                    draft,
                    Option(
                        billed=billed,
                        period_hours=hours,
                        divisor=hours * cards,
                        is_worded=False,
                        is_supported=False,
                        why=OTHER_UNIT,
                    ),
                )
                for billed, cards in billeds
                for hours in periods
                if hours * cards != option.divisor
            )
        return self._other_options[key]

    def _settle_pflops(self, draft: Draft) -> None:
        """Read a price per P: PFLOP/s of dense 16-bit products unless the row says otherwise."""
        draft.flag("per_PFLOPS")
        products = [self._accelerators[name] for name in draft.card.candidates]
        dense = {pflops for product in products if (pflops := dense_pflops(product)) is not None}
        periods, spoken = period_options(
            draft.unit.period,
            draft.terms.pricing,
            draft.terms.prepaid_term_hours,
            is_thirty=draft.terms.has_thirty_days,
        )
        hours = spoken or (periods[0] if len(periods) == 1 else None)
        if not dense or hours is None:
            draft.flag("unit_missing" if dense else "pflops_of_card_unknown")
            return
        options = [
            Option(
                billed="pflops",
                period_hours=hours,
                divisor=hours / pflops,
                is_worded=True,
                is_supported=True,
                why=Message(
                    "P read as PFLOP/s of dense FP16 or BF16: {pflops} per card", pflops=f"{float(pflops):.4g}"
                ),
            )
            for pflops in sorted(dense)
        ]
        claimed = draft.row.card_pflops or draft.shared.card_pflops
        counted = count_pflops(products[0], claimed, draft.pflops_words) if len(dense) == 1 else None
        if counted is not None:
            pflops, why, is_claim = counted
            draft.flag("p_per_card_wrong")
            option = Option(
                billed="pflops",
                period_hours=hours,
                divisor=hours / pflops,
                is_worded=not is_claim,
                is_supported=True,
                why=why,
            )
            options = [*options, option] if is_claim else [option, *options]
        priced = [self._price(draft, option) for option in options]
        _take(draft, 0, priced, [_reading(draft, one) for one in priced])
        if len(dense) > 1:
            draft.flag("pflops_of_card_unknown")
            draft.taken = draft.is_plausible = None
        elif draft.is_plausible is False and counted is None:
            draft.flag(FAR_FLAG)


def _reading(draft: Draft, priced: _Priced) -> Reading:
    amount = draft.amount.low * priced.factor if draft.amount is not None else Fraction(0)
    return Reading(
        amount=amount,
        billed=priced.option.billed,
        period_hours=priced.option.period_hours,
        quoted_currency=cast("str", draft.currency),
        is_plausible=None if priced.band is None else priced.band.holds(amount),
        why=priced.option.why,
    )


def _take(draft: Draft, number: int, priced: Sequence[_Priced], readings: list[Reading]) -> None:
    """Put the reading taken first, and of the others those in the price band."""
    draft.taken = priced[number].factor
    draft.is_plausible = readings[number].is_plausible
    others = [*readings[:number], *readings[number + 1 :]]
    draft.readings = [readings[number], *sorted(others, key=lambda one: one.is_plausible is not True)]

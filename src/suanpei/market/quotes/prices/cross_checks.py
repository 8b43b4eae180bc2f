"""What only several rows show together; the order of rows means nothing.

- Prices that rise with the number of cards are instance prices; prices that stay are per card.
- Prices of one table whose unit is not written are all for the same.
- A price exactly as many times another of the same card as its node has cards is the node's, labelled per card.
- Prices of one card in two currencies that fit one line as bare numbers: one currency is a slip.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from suanpei.market.offer import USUAL_NODE_GPUS
from suanpei.market.quotes.prices.plausible import compare_amounts
from suanpei.market.quotes.quoted import Reading
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from suanpei.market.quotes.prices.draft import Draft
    from suanpei.market.quotes.prices.readings import Settler

SERIES_TOLERANCE = Fraction(1, 20)
"""Prices per card of one series lie within 5 % of each other: discounts are larger, rounding is smaller. [-]"""
_LEAST_SERIES = 2
_LEAST_SETTLED = 2
"""Prices of a table that speak for the others. [-]"""
_LEAST_CURRENCY_SERIES = 3


def exact_multiple(amount: Fraction, reference: Fraction) -> int | None:
    """Give how many times one amount is another where that is a whole number above one; else None.

    Example:
        >>> exact_multiple(Fraction("15.92"), Fraction("1.99")), exact_multiple(Fraction(5), Fraction(2))
        (8, None)
    """
    if reference <= 0:
        return None
    ratio = compare_amounts(amount, reference)
    return int(ratio) if ratio.denominator == 1 and ratio > 1 else None


def group_drafts(drafts: Iterable[Draft]) -> list[list[Draft]]:
    """Put drafts of one card in one file together."""
    groups: defaultdict[tuple[str, str], list[Draft]] = defaultdict(list)
    for draft in drafts:
        groups[draft.place.file, draft.card_key].append(draft)
    return list(groups.values())


def find_series(group: Sequence[Draft], gpus_of: Mapping[int, int | None]) -> None:
    """Say of prices whose unit leaves open card or instance what the prices of other counts speak for.

    Args:
        group: Drafts of one card. [-]
        gpus_of: Cards per unit by the identity of the draft. [-]
    """
    series: defaultdict[tuple[str, str | None, str | None, str | None], list[Draft]] = defaultdict(list)
    for draft in group:
        if draft.amount is not None and not draft.is_total and draft.unit.billed is None and gpus_of[id(draft)]:
            series[draft.seller, draft.currency, draft.unit.period, draft.terms.pricing].append(draft)
    for members in series.values():
        points = {
            (gpus, draft.amount.low)
            for draft in members
            if draft.amount is not None and (gpus := gpus_of[id(draft)]) is not None and draft.amount.low > 0
        }
        if len({gpus for gpus, _ in points}) < _LEAST_SERIES:
            continue
        if _is_level([amount / gpus for gpus, amount in points]):
            billed = "instance"
        elif _is_level([amount for _, amount in points]):
            billed = "card"
        else:
            continue
        for draft in members:
            draft.series_billed = billed


def _is_level(amounts: Sequence[Fraction]) -> bool:
    return max(amounts) <= min(amounts) * (1 + SERIES_TOLERANCE)


def find_table_units(drafts: Iterable[Draft]) -> None:
    """Take an open price as what all the settled prices of its table, without a unit as it is, are for.

    A table names what its prices are for once: where the band settles most of its rows for the machine, the rows that
    the band leaves open (four cards of a cheap machine) are for the machine too.

    Args:
        drafts: Of one file, settled. [-]
    """
    tables: defaultdict[tuple[int, str | None], list[Draft]] = defaultdict(list)
    for draft in drafts:
        if (
            draft.header is not None
            and not draft.is_total
            and draft.unit.billed is None
            and draft.readings
            and (draft.stated_gpus or 1) > 1
        ):
            tables[id(draft.header), draft.terms.pricing].append(draft)
    for members in tables.values():
        settled = [draft.readings[0] for draft in members if draft.taken is not None and draft.is_plausible]
        if len(settled) < _LEAST_SETTLED or len({reading.billed for reading in settled}) > 1:
            continue
        hours = frozenset(reading.period_hours for reading in settled)
        for draft in members:
            if draft.taken is None and draft.worded is None and draft.terms.kept_fraction is None:
                _take_as(draft, settled[0].billed, hours)


def _take_as(draft: Draft, billed: str, hours: frozenset[Fraction]) -> None:
    """Take the one reading of an open price that is for what the settled ones are for, if the band holds it."""
    fitting = [
        one
        for one in draft.readings
        if one.billed == billed and one.is_plausible and (draft.unit.period or one.period_hours in hours)
    ]
    if len(fitting) != 1 or draft.amount is None or draft.amount.low <= 0:
        return
    others = [one for one in draft.readings if one is not fitting[0]]
    draft.taken = fitting[0].amount / draft.amount.low
    draft.is_plausible = True
    draft.readings = [replace(fitting[0], why=Message("the other rows of the table speak for it")), *others]
    draft.flags -= {"unit_missing"}
    draft.flag("unit_missing_inferred")


def find_node_prices(group: Sequence[Draft]) -> None:
    """Find prices labelled per card that are exactly a node's, against other rows or a remark in their own."""
    has_spot = any(draft.terms.pricing == "spot" for draft in group)
    suspects = [draft for draft in group if has_spot or draft.row.amounts or draft.is_plausible is not True]
    if not suspects:
        return
    by_amount: defaultdict[Fraction, list[Draft]] = defaultdict(list)
    for draft in group:
        if draft.readings and draft.taken is not None:
            by_amount[draft.readings[0].amount].append(draft)
    slips = [(draft, gpus) for draft in suspects if (gpus := _node_slip(draft, by_amount)) is not None]
    for draft, gpus in slips:  # found first, changed after: a corrected row is no reference for others
        _correct(draft, gpus)


def _node_slip(draft: Draft, by_amount: Mapping[Fraction, list[Draft]]) -> int | None:
    """Give the size of the node whose price is labelled per card; None where the price is a card's."""
    is_settled = draft.taken is not None or draft.worded is not None
    if not is_settled or not draft.readings or draft.readings[0].billed != "card" or draft.amount is None:
        return None
    gpus = draft.unit_gpus if draft.unit_gpus and draft.unit_gpus > 1 else USUAL_NODE_GPUS
    # a smaller multiple is no rare ratio of on-demand to spot: it counts only where the band contradicts the price
    if gpus < USUAL_NODE_GPUS and draft.is_plausible is not False:
        return None
    for remark, label in zip(draft.row.amounts, draft.row.labels, strict=True):
        if remark.low != draft.amount.low and label and exact_multiple(draft.amount.low, remark.low) == gpus:
            return gpus
    for other in by_amount.get(draft.readings[0].amount / gpus, ()):
        if other is not draft and other.is_plausible is not False and _may_be_slip(draft, other):
            return gpus
    return None


def _may_be_slip(draft: Draft, other: Draft) -> bool:
    """Tell whether an exact multiple is suspicious: spot against the rest, or a price that the band does not hold."""
    pair = {draft.terms.pricing or "", other.terms.pricing or ""}
    if "spot" in pair and len(pair) > 1:
        return draft.terms.pricing != "spot"
    return draft.is_plausible is False and draft.seller == other.seller


def _correct(draft: Draft, gpus: int) -> None:
    """Take the price as the node's."""
    as_written = draft.readings[0]
    draft.flag("node_price_mislabelled")
    draft.flags -= {"price_far_from_band", "too_dear_unit_suspect", "unit_missing_inferred", "unit_missing"}
    draft.unit_gpus = gpus
    factor = draft.taken or draft.worded
    draft.taken = None if factor is None else factor / gpus
    corrected = Reading(
        amount=as_written.amount / gpus,
        billed="node",
        period_hours=as_written.period_hours,
        quoted_currency=as_written.quoted_currency,
        is_plausible=True if as_written.is_plausible is False else None,
        why=Message("exactly {gpus} times another price of the same card: the price of the node", gpus=gpus),
    )
    others = [other for other in draft.readings[1:] if other.amount != corrected.amount]
    draft.readings = [corrected, as_written, *others]


def find_currency_slips(group: Sequence[Draft], rate_of: Mapping[str, Fraction], settler: Settler) -> None:
    """Find rows whose bare numbers continue a series in another currency.

    The currency is believed under which the band holds the series; where it holds several or none, the one of most
    rows, and of as many the dearer one.
    """
    by_seller: defaultdict[str, list[Draft]] = defaultdict(list)
    for draft in group:
        if draft.taken is not None and draft.amount is not None and draft.currency is not None:
            by_seller[draft.seller].append(draft)
    for members in by_seller.values():
        currencies = {draft.currency for draft in members if draft.currency}
        if len(currencies) < 2 or len(members) < _LEAST_CURRENCY_SERIES:
            continue
        bare = [draft.readings[0].amount / rate_of[draft.currency or ""] for draft in members]
        if not _is_level(bare):
            continue
        believed = _believe(members, sorted(currencies), rate_of, settler)
        for draft in members:
            if draft.currency != believed:
                _reread(draft, believed, rate_of)


def _believe(
    members: Sequence[Draft], currencies: Sequence[str], rate_of: Mapping[str, Fraction], settler: Settler
) -> str:
    held: list[str] = []
    first = min(members, key=lambda draft: draft.readings[0].amount / rate_of[draft.currency or ""])
    bare = first.readings[0].amount / rate_of[first.currency or ""]
    for currency in currencies:
        band = settler.band(first, "card", Fraction(1), 1)
        if band is not None and band.holds(bare * rate_of[currency]):
            held.append(currency)
    counts = Counter(draft.currency for draft in members)
    likely = held if len(held) == 1 else currencies
    return max(likely, key=lambda currency: (counts[currency], rate_of[currency], currency))


def _reread(draft: Draft, currency: str, rate_of: Mapping[str, Fraction]) -> None:
    """Take the amount in the currency of the series, and keep what is written as the other reading."""
    as_written = draft.readings[0]
    factor = rate_of[currency] / rate_of[draft.currency or ""]
    draft.flag("currency_suspect")
    draft.flags -= {"price_far_from_band", "too_cheap_unit_suspect", "too_dear_unit_suspect"}
    if draft.taken is not None:
        draft.taken *= factor
    corrected = Reading(
        amount=as_written.amount * factor,
        billed=as_written.billed,
        period_hours=as_written.period_hours,
        quoted_currency=currency,
        is_plausible=None,
        why=Message("the numbers of this card fit one line; {currency} is taken for all of them", currency=currency),
    )
    draft.readings = [corrected, *draft.readings]

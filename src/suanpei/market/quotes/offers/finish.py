"""From a settled draft to a quoted offer: price with its ends and taxes, term, counts, flags, confidence."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from suanpei.market.offer import LARGEST_SERVER_GPUS, USUAL_NODE_GPUS
from suanpei.market.quotes.quoted import QuotedOffer, QuotedPrice
from suanpei.market.quotes.text.charge import make_charges
from suanpei.market.quotes.text.count import SPREAD_FLAG
from suanpei.market.quotes.text.link import NO_LINKS
from suanpei.market.quotes.ways_of_paying import WAYS_OF_PAYING, name_way
from suanpei.market.terms import NO_CHARGES, NO_PAYMENT, PERIOD_HOURS, Payment, Term

if TYPE_CHECKING:
    from datetime import date

    from suanpei.market.quotes.prices.draft import Draft
    from suanpei.market.quotes.text.charge import Charge
    from suanpei.market.terms import Charges
    from suanpei.provenance import Confidence

SUSPICIONS = frozenset(
    {
        *("too_cheap_unit_suspect", "too_dear_unit_suspect", "price_far_from_band", "node_price_mislabelled"),
        *(
            "currency_suspect",
            "prices_disagree",
            "memory_label_mismatch",
            "p_per_card_wrong",
            "impossible_memory",
            "unit_missing",
        ),
        *("date_in_future", "price_missing", "pflops_of_card_unknown"),
    }
)
"""Flags that make the amount of an offer unreliable."""
INFERENCES = frozenset(
    {
        *(
            "unit_missing_inferred",
            "price_from_total",
            "currency_missing_inferred",
            "node_size_inferred",
            "quantity_unit_missing",
        ),
        *("from_price", "up_to_price", "component_price", "memory_unit_missing", "per_PFLOPS", "unknown_card"),
    }
)
"""Flags of offers of which something was inferred or is only a part."""
_POWER_FLAGS = frozenset({"includes_power", "power_extra"})
"""Flags that say whether power is in the price; where both do, it is not all in."""
_LONG_TERM_HOURS = 12 * PERIOD_HOURS["month"]
"""From this shortest rental on it is flagged. [h]"""


def finish(draft: Draft, currency: str, as_of: date) -> QuotedOffer:
    """Make the quoted offer of a draft.

    Args:
        draft: Settled and cross-checked. [-]
        currency: Of the result; an offer quoted in another one is flagged. [-]
        as_of: The day that validity is held against. [-]
    """
    price = _price(draft, currency)
    count = count_cards(draft)
    term = _term(draft)
    way = WAYS_OF_PAYING.get(draft.terms.pricing or "")
    links = draft.row.links or draft.shared.links
    flags = _flags(draft, count=count, links=links, currency=currency, as_of=as_of)
    charges, quantity = draft.charges, draft.quantity
    return QuotedOffer(
        source=draft.place,
        seller=draft.seller,
        accelerator=draft.card.accelerator.name if draft.card.accelerator else None,
        accelerator_as_written=draft.card.as_written,
        accelerators_per_unit=draft.unit_gpus,
        price_as_written=draft.price_text,
        quoted_currency=draft.currency,
        price_per_accelerator_hour=price,
        pricing=None if way is None else way.pricing,
        term=term,
        count=count,
        links=links,
        region=draft.region,
        quote_date=draft.date.day,
        valid_until=draft.date.end,
        readings=tuple(draft.readings),
        flags=flags,
        confidence=_confidence(draft, flags),
        note=draft.note if quantity is None else "; ".join(filter(None, (quantity.words, draft.note))),
        charges=_charges(charges, draft.currency or currency, flags=frozenset(flags) & _POWER_FLAGS),
        payment=_payment(draft),
        minimum_count=None if quantity is None else quantity.gpus(draft.unit_gpus),
    )


@lru_cache(maxsize=4_096)
def _charges(charges: tuple[Charge, ...], currency: str, flags: frozenset[str]) -> Charges:
    stated = make_charges(charges, currency) if charges else NO_CHARGES
    return replace(stated, includes_power="power_extra" not in flags) if flags else stated


def _price(draft: Draft, currency: str) -> QuotedPrice:
    if draft.taken is None or draft.amount is None:
        return QuotedPrice.of(None, None, currency, draft.tax)
    amount = draft.readings[0].amount
    high: Fraction | None = amount if draft.amount.high == draft.amount.low else draft.amount.high * draft.taken
    if draft.second_tier is not None:
        high = draft.second_tier.low * draft.taken
    if draft.amount.is_from:
        high = None
    elif "component_price" in draft.flags:
        high = None if draft.host is None else (draft.amount.low + draft.host) * draft.taken
    price = QuotedPrice.of(amount, high, currency, draft.tax)
    other = draft.amount.other_tax_side
    if other is None or draft.tax.state == "unknown":
        return price
    if draft.tax.state == "in":
        return replace(price, amount_tax_out=other * draft.taken)
    return replace(price, amount_tax_in=other * draft.taken)


def count_cards(draft: Draft) -> int | None:
    """Count the cards on hand in one fabric; machines of unknown size and a total over several sites count nothing."""
    stock = draft.stock
    if stock is None:
        return None
    if stock.count == 0:
        return 0
    if SPREAD_FLAG in draft.flags:
        return None
    if stock.unit == "card":
        return stock.count
    if stock.unit == "machine":
        if draft.usual_gpus and draft.unit_gpus in (None, 1):
            draft.flag("node_size_inferred")
            return stock.count * draft.usual_gpus
        return stock.count * draft.unit_gpus if draft.unit_gpus else None
    draft.flag("quantity_unit_missing")
    sold_whole = draft.unit_gpus is not None and draft.unit_gpus > 1 and draft.unit.billed != "card"
    return stock.count * cast("int", draft.unit_gpus) if sold_whole else stock.count


def _term(draft: Draft) -> Term | None:
    terms = draft.terms
    hours = draft.readings[0].period_hours if draft.readings else None
    if hours is not None and draft.readings[0].billed == "total":
        return _make_total_term(hours)
    return _make_term(terms.pricing, terms.minimum_hours, terms.billing_hours, hours)


def _make_total_term(hours: Fraction) -> Term:
    """Make the term of a total: so long at least, by the month where it is whole months, else at a time. [h]"""
    month = PERIOD_HOURS["month"]
    return Term(billing_hours=float(month if hours % month == 0 else hours), minimum_hours=float(hours))


@lru_cache(maxsize=1_024)
def _make_term(
    pricing: str | None, least: Fraction | None, billing_hours: Fraction | None, price_hours: Fraction | None
) -> Term | None:
    """Make the term of what is stated, and of the time that the price is for. [h]"""
    if pricing is None and least is not None and price_hours is not None:
        name = name_way(price_hours)
        if least < PERIOD_HOURS["month"] or name != "on_demand":
            pricing = name
    fine = billing_hours or (price_hours if price_hours is not None and price_hours < 1 else None)
    term = _join_term("on_demand" if fine is not None and pricing is None else pricing, least)
    return term if fine is None or term is None or term.billing_hours > 1 else replace(term, billing_hours=float(fine))


def _join_term(pricing: str | None, minimum_hours: Fraction | None) -> Term | None:
    """Join what is stated; None where neither a shortest rental nor a way of paying that says one is."""
    way = WAYS_OF_PAYING.get(pricing or "")
    if minimum_hours is None:
        return way.term if way is not None and way.is_term_said else None
    if way is not None:
        return Term(billing_hours=way.term.billing_hours, minimum_hours=float(minimum_hours))
    month, day = PERIOD_HOURS["month"], PERIOD_HOURS["day"]
    billing = month if minimum_hours >= month else day if minimum_hours >= day else Fraction(1)
    return Term(billing_hours=float(billing), minimum_hours=float(minimum_hours))


@lru_cache(maxsize=1_024)
def _make_payment(deposit: Decimal | None, prepaid: Decimal | None, share: Decimal | None) -> Payment:
    return Payment(deposit_months=deposit, prepaid_months=prepaid, prepaid_fraction=share)


def _payment(draft: Draft) -> Payment:
    terms = draft.terms
    if terms.deposit_months is None and terms.prepaid_months is None and terms.prepaid_fraction is None:
        return NO_PAYMENT
    return _make_payment(terms.deposit_months, terms.prepaid_months, terms.prepaid_fraction)


def _flags(draft: Draft, *, count: int | None, links: str, currency: str, as_of: date) -> tuple[str, ...]:
    """Collect the flags, in alphabetical order."""
    flags = set(draft.flags)
    flags.update(draft.card.flags)
    _flag_terms(draft, flags)
    if draft.amount is None:
        flags.add("price_missing")
    else:
        _flag_price(draft, flags, currency)
    gpus = draft.unit_gpus or 1
    is_lot = gpus > LARGEST_SERVER_GPUS and gpus == draft.unit.billed_gpus
    if gpus not in (1, USUAL_NODE_GPUS) and not is_lot:
        flags.add(f"{gpus}_gpu_node")
    if links == NO_LINKS and gpus > 1:
        flags.add("no_ib")
    if draft.quantity is not None and not draft.quantity.is_order:
        flags.add("quantity_tier")
    if draft.is_stock_blank:
        flags.add("no_quantity")
    if count == 0:
        flags.add("none_on_hand")
    end = draft.date.end
    if end is not None and end < as_of:
        flags.add("price_expired")
    if draft.date.day is not None and draft.date.day > as_of:
        flags.add("date_in_future")
    return _interned(frozenset(flags))


@lru_cache(maxsize=16_384)
def _interned(flags: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(flags))


def _flag_terms(draft: Draft, flags: set[str]) -> None:
    terms, tax = draft.terms, draft.tax
    if tax.flag is not None:
        flags.add(tax.flag)
    if terms.deposit_months:
        flags.add("deposit")
    if terms.prepaid_fraction and terms.prepaid_fraction < 1:
        flags.discard("prepaid")  # 20% upfront is a part of it
        flags.add("prepay")
    elif terms.prepaid_fraction and not flags & {"prepay", "prepaid"}:
        flags.add("prepay")
    if terms.pricing in ("spot", "reserved"):
        flags.add(terms.pricing)
    least = terms.minimum_hours
    if least is not None:
        flags.update(_flag_least(least))
    if terms.pricing == "daily":
        flags.add("daily_min")
    if any(charge.kind == "egress" and charge.amount > 0 for charge in draft.row.charges):
        flags.add("egress_fee")


@lru_cache(maxsize=1_024)
def _flag_least(least: Fraction) -> tuple[str, ...]:
    """Flag a long shortest rental, and one of days."""
    if least >= _LONG_TERM_HOURS:
        return (f"{float(least / PERIOD_HOURS['month']):g}_month_term",)
    return ("daily_min",) if PERIOD_HOURS["day"] <= least <= PERIOD_HOURS["week"] else ()


def _flag_price(draft: Draft, flags: set[str], currency: str) -> None:
    amount = draft.amount
    if amount is None:
        return
    if draft.currency and draft.currency != currency:
        flags.add(draft.currency.casefold())
    if draft.is_currency_inferred:
        flags.add("currency_missing_inferred")
    if amount.is_from:
        flags.add("from_price")
    if amount.is_most:
        flags.add("up_to_price")
    if amount.has_decimal_comma:
        flags.add("decimal_comma")
    if draft.second_tier is not None:
        flags.add(f"two_tiers:{write_decimal(amount.low)}/{write_decimal(draft.second_tier.low)}")
    if draft.taken and draft.readings[0].billed == "node" and draft.readings[0].period_hours == PERIOD_HOURS["year"]:
        flags.add("yearly_node")


def write_decimal(amount: Fraction) -> str:
    """Write a quoted amount as a decimal number, which every quoted one is.

    Example:
        >>> write_decimal(Fraction(17, 50))
        '0.34'
    """
    return f"{Decimal(amount.numerator) / Decimal(amount.denominator):f}"


def _confidence(draft: Draft, flags: tuple[str, ...]) -> Confidence:
    """Rate how far the row's own words settle card, price and unit."""
    if draft.taken is None or not SUSPICIONS.isdisjoint(flags):
        return "low"
    if not INFERENCES.isdisjoint(flags) or len(draft.readings) > 1 or draft.card.accelerator is None:
        return "medium"
    return "high"

"""From a settled draft to a quoted offer: price with its ends and taxes, term, counts, flags, confidence."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from suanpei.market.quotes.quoted import QuotedOffer, QuotedPrice
from suanpei.market.quotes.text.charge import make_charges
from suanpei.market.quotes.text.link import NO_LINKS
from suanpei.market.quotes.text.unit import PERIOD_HOURS
from suanpei.market.terms import NO_CHARGES, NO_PAYMENT, Payment, Term

if TYPE_CHECKING:
    from datetime import date

    from suanpei.market.quotes.drafts import Draft
    from suanpei.market.quotes.quoted import Pricing
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
        *("unit_missing_inferred", "currency_missing_inferred", "node_size_inferred", "quantity_unit_missing"),
        *("from_price", "component_price", "memory_unit_missing", "per_PFLOPS", "unknown_card"),
    }
)
"""Flags of offers of which something was inferred or is only a part."""
_PRICING: dict[str, Pricing] = {
    "spot": "spot",
    "marketplace": "marketplace",
    "reserved": "reserved",
    "on_demand": "on_demand",
    "daily": "daily",
    "weekly": "weekly",
    "monthly": "monthly",
    "quarterly": "monthly",
    "half_yearly": "monthly",
    "yearly": "yearly",
}
_LEAST_HOURS = {
    "daily": PERIOD_HOURS["day"],
    "weekly": PERIOD_HOURS["week"],
    "monthly": PERIOD_HOURS["month"],
    "quarterly": PERIOD_HOURS["quarter"],
    "half_yearly": PERIOD_HOURS["half_year"],
    "yearly": PERIOD_HOURS["year"],
}
"""Shortest rental that a way of paying implies. [h]"""
_BILLING_HOURS = {
    "spot": PERIOD_HOURS["hour"],
    "marketplace": PERIOD_HOURS["hour"],
    "on_demand": PERIOD_HOURS["hour"],
    "daily": PERIOD_HOURS["day"],
    "weekly": PERIOD_HOURS["week"],
}
"""Granularity of the bill by way of paying; any other is billed by the month. [h]"""
_LONG_TERM_HOURS = 12 * PERIOD_HOURS["month"]
"""From this shortest rental on it is flagged. [h]"""
_USUAL_NODE_GPUS = 8


def finish(draft: Draft, currency: str, main_currency: str | None, as_of: date) -> QuotedOffer:
    """Make the quoted offer of a draft.

    Args:
        draft: Settled and cross-checked. [-]
        currency: Of the result. [-]
        main_currency: The one that most offers of the file are quoted in; another one is flagged. [-]
        as_of: The day that validity is held against. [-]
    """
    price = _price(draft, currency)
    count = count_cards(draft)
    term = _term(draft)
    links = draft.row.links or draft.shared.links
    flags = _flags(draft, count=count, links=links, main_currency=main_currency, as_of=as_of)
    charges = draft.charges
    return QuotedOffer(
        source=draft.place,
        seller=draft.seller,
        accelerator=draft.card.accelerator.name if draft.card.accelerator else None,
        accelerator_as_written=draft.card.as_written,
        accelerators_per_unit=draft.unit_gpus,
        price_as_written=draft.price_text,
        quoted_currency=draft.currency,
        price_per_accelerator_hour=price,
        pricing=_PRICING.get(draft.terms.pricing or ""),
        term=term,
        count=count,
        links=links,
        region=draft.region,
        quote_date=draft.date.day,
        valid_until=draft.date.end,
        readings=tuple(draft.readings),
        flags=flags,
        confidence=_confidence(draft, flags),
        note=draft.note,
        charges=_charges(charges, draft.currency or currency) if charges else NO_CHARGES,
        payment=_payment(draft),
    )


@lru_cache(maxsize=4_096)
def _charges(charges: tuple[Charge, ...], currency: str) -> Charges:
    return make_charges(charges, currency)


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
    return QuotedPrice.of(amount, high, currency, draft.tax)


def count_cards(draft: Draft) -> int | None:
    """Count the cards on hand; machines of unknown size count nothing."""
    stock = draft.stock
    if stock is None:
        return None
    if stock.count == 0:
        return 0
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


@lru_cache(maxsize=1_024)
def _make_term(pricing: str | None, minimum_hours: Fraction | None, billing_hours: Fraction | None) -> Term | None:
    if pricing is None and minimum_hours is None and billing_hours is None:
        return None
    month = PERIOD_HOURS["month"]
    implied = billing_hours if billing_hours is not None and billing_hours >= PERIOD_HOURS["day"] else Fraction(0)
    least = minimum_hours if minimum_hours is not None else _LEAST_HOURS.get(pricing or "", implied)
    if billing_hours is not None:
        billing = billing_hours
    elif pricing is None:
        billing = month if least >= month else PERIOD_HOURS["day"] if least >= PERIOD_HOURS["day"] else Fraction(1)
    else:
        billing = _BILLING_HOURS.get(pricing, month)
    return Term(billing_hours=float(billing), minimum_hours=float(least))


def _term(draft: Draft) -> Term | None:
    pricing, least = draft.terms.pricing, draft.terms.minimum_hours
    if pricing is None and least is not None and draft.readings:
        hours = draft.readings[0].period_hours
        name = "on_demand" if hours <= 1 else "daily" if hours < PERIOD_HOURS["week"] else "monthly"
        if least < PERIOD_HOURS["month"] or name != "on_demand":
            pricing = name
    return _make_term(pricing, least, draft.terms.billing_hours)


@lru_cache(maxsize=1_024)
def _make_payment(deposit: Decimal | None, prepaid: Decimal | None, share: Decimal | None) -> Payment:
    return Payment(deposit_months=deposit, prepaid_months=prepaid, prepaid_fraction=share)


def _payment(draft: Draft) -> Payment:
    terms = draft.terms
    if terms.deposit_months is None and terms.prepaid_months is None and terms.prepaid_fraction is None:
        return NO_PAYMENT
    return _make_payment(terms.deposit_months, terms.prepaid_months, terms.prepaid_fraction)


def _flags(draft: Draft, *, count: int | None, links: str, main_currency: str | None, as_of: date) -> tuple[str, ...]:
    """Collect the flags, in alphabetical order."""
    flags = set(draft.flags)
    flags.update(draft.card.flags)
    _flag_terms(draft, flags)
    if draft.amount is None:
        flags.add("price_missing")
    else:
        _flag_price(draft, flags, main_currency)
    gpus = draft.unit_gpus or 1
    if gpus not in (1, _USUAL_NODE_GPUS):
        flags.add(f"{gpus}_gpu_node")
    if links == NO_LINKS and gpus > 1:
        flags.add("no_ib")
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
    if terms.prepaid_fraction and not flags & {"prepay", "prepaid"}:
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


def _flag_price(draft: Draft, flags: set[str], main_currency: str | None) -> None:
    amount = draft.amount
    if amount is None:
        return
    if draft.currency and draft.currency != main_currency:
        flags.add(draft.currency.casefold())
    if draft.is_currency_inferred:
        flags.add("currency_missing_inferred")
    if amount.is_from:
        flags.add("from_price")
    if amount.has_decimal_comma:
        flags.add("decimal_comma")
    if draft.second_tier is not None:
        flags.add(f"two_tiers:{write_decimal(amount.low)}/{write_decimal(draft.second_tier.low)}")
    if draft.readings and draft.readings[0].billed == "node" and draft.readings[0].period_hours == PERIOD_HOURS["year"]:
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
    found = set(flags)
    if draft.taken is None or found & SUSPICIONS:
        return "low"
    if found & INFERENCES or len(draft.readings) > 1 or draft.card.accelerator is None:
        return "medium"
    return "high"

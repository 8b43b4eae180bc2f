"""Quotes for the golden files: offers made by hand, one of each kind that the text has words for."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cache

from suanpei.market.quotes.document import Unread
from suanpei.market.quotes.quoted import Place, Question, QuotedOffer, QuotedPrice, Reading
from suanpei.market.terms import Charges, Payment, Term
from suanpei.messages import Message
from suanpei.money import Money
from suanpei.verbs.quotes import QuotesResult

DAY = date(2026, 11, 30)
FILE = "报价汇总.csv"
MONTH_HOURS = Fraction(730)

_NODE = QuotedOffer(
    source=Place(file=FILE, sheet=None, row=4, cell="F4"),
    seller="青禾云",
    accelerator="H800-SXM5-80GB",
    accelerator_as_written="H800 80G",
    accelerators_per_unit=8,
    price_as_written="78,000 元/台/月",
    quoted_currency="CNY",
    price_per_accelerator_hour=QuotedPrice(
        amount=Fraction(78_000, 8 * 730),
        low=Fraction(78_000, 8 * 730),
        high=Fraction(78_000, 8 * 730),
        currency="CNY",
        tax="out",
        tax_rate=Decimal("0.06"),
        amount_tax_in=Fraction(78_000, 8 * 730) * Fraction("1.06"),
        amount_tax_out=Fraction(78_000, 8 * 730),
    ),
    pricing="monthly",
    term=Term(billing_hours=730.0, minimum_hours=3 * 730.0),
    count=128,
    links="8×400G IB",
    region="乌兰察布",
    quote_date=date(2026, 11, 3),
    valid_until=date(2026, 12, 15),
    readings=(),
    flags=("tax_excluded_6pct", "includes_power"),
    confidence="high",
    note="",
    charges=Charges(egress_per_gb=Money(amount=Decimal("0.8"), currency="CNY"), bills_outages=False),
    payment=Payment(deposit_months=Decimal(1), prepaid_months=Decimal(3)),
)


def _reading(amount: Fraction, billed: str, period_hours: Fraction, *, is_plausible: bool) -> Reading:
    return Reading(
        amount=amount,
        billed=billed,  # type: ignore[arg-type]  # one of the literals below
        period_hours=period_hours,
        quoted_currency="CNY",
        is_plausible=is_plausible,
        why=Message("no unit is written; it is inferred from the usual price"),
    )


def _inferred() -> QuotedOffer:
    node, card = Fraction(82_000, 8 * 730), Fraction(82_000, 730)
    return replace(
        _NODE,
        source=Place(file=FILE, sheet=None, row=5, cell="F5"),
        seller="寒山智算中心（西南节点）",
        accelerator="H200-SXM-141GB",
        accelerator_as_written="H200 141G",
        price_as_written="8.2万",
        price_per_accelerator_hour=replace(
            _NODE.price_per_accelerator_hour,
            amount=node,
            low=node,
            high=node,
            tax="in",
            tax_rate=None,
            amount_tax_in=node,
            amount_tax_out=None,
        ),
        readings=(
            _reading(node, "node", MONTH_HOURS, is_plausible=True),
            _reading(card, "card", MONTH_HOURS, is_plausible=False),
        ),
        count=None,
        flags=("unit_missing_inferred", "no_quantity", "36_month_term"),
        confidence="medium",
        quote_date=None,
        valid_until=None,
        region="",
        charges=Charges(),
        payment=Payment(),
    )


def _hourly() -> QuotedOffer:
    return replace(
        _inferred(),
        source=Place(file=FILE, sheet=None, row=6, cell="F6"),
        seller="丁平台",
        accelerator="RTX-4090",
        accelerator_as_written="RTX4090 24G",
        accelerators_per_unit=1,
        price_as_written="1.25元/小时起",
        price_per_accelerator_hour=QuotedPrice(
            amount=Fraction("1.25"),
            low=Fraction("1.25"),
            high=None,
            currency="CNY",
            tax="unknown",
            tax_rate=None,
            amount_tax_in=None,
            amount_tax_out=None,
        ),
        pricing="on_demand",
        term=Term(billing_hours=1.0),
        links="",
        readings=(),
        flags=("from_price", "two_tiers:1.25/2.10", "a_flag_of_tomorrow"),
        confidence="low",
        note="关机不计费，云盘另计",
    )


def _unpriced() -> QuotedOffer:
    return replace(
        _hourly(),
        source=Place(file=FILE, sheet=None, row=7, cell="F7"),
        seller="",
        accelerator=None,
        accelerator_as_written="H9000",
        accelerators_per_unit=None,
        price_as_written="面议",
        price_per_accelerator_hour=replace(_hourly().price_per_accelerator_hour, amount=None, low=None, high=None),
        pricing=None,
        term=None,
        flags=("price_missing",),
        note="",
    )


@cache
def handmade() -> QuotesResult:
    """Four offers, two questions, two places that were not read."""
    return QuotesResult(
        catalog_date="2026-11-28",
        calibration_id=None,
        request={},
        assumptions=(Message("prices are converted at {rate}", rate="1 USD = 7.2 CNY"),),
        currency="CNY",
        offers=(_NODE, _inferred(), _hourly(), _unpriced()),
        questions=(
            Question(
                seller="丁平台",
                cell="D6",
                problem=Message("how many cards the node has is not written; it is inferred"),
                question=Message(
                    "the price of {provider} is a lowest one: ask what this rental would really cost", provider="丁平台"
                ),
                file=FILE,
            ),
            Question(
                seller="",
                cell="F7",
                problem=Message("no price"),
                question=Message("is VAT in the price, at which rate, and which invoice do we get?"),
                file=FILE,
            ),
        ),
        unread=(
            Unread(file=FILE, cell="A9", reason=Message("no price")),
            Unread(file="扫描件.pdf", cell="", reason=Message("no offer was found")),
        ),
    )

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.market.indicative import PriceTerms, quote_indicative
from suanpei.market.quotes.offers.as_offers import make_offers, to_money
from suanpei.market.quotes.quoted import Place, Pricing
from suanpei.market.quotes.ways_of_paying import WAYS_OF_PAYING
from suanpei.market.terms import Charges, Payment, Term
from suanpei.money import Money
from tests.market.quotes.quoted_samples import DAY, context, price, quoted, quotes, reading
from tests.market.quotes.samples import offer_of

if TYPE_CHECKING:
    from suanpei.market.offer import Offer
    from suanpei.market.quotes.quoted import QuotedOffer


def made(quote: QuotedOffer) -> Offer:
    plannable = make_offers(quotes(quote), context())
    assert plannable.left_out == ()
    (offer,) = plannable.offers
    return offer


def reason(quote: QuotedOffer) -> str:
    plannable = make_offers(quotes(quote), context())
    assert plannable.offers == ()
    (left_out,) = plannable.left_out
    assert (left_out.source, left_out.seller) == (quote.source, quote.seller)
    return str(left_out.reason)


def cny(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency="CNY")


def test_charges_follow_into_the_currency_of_the_price() -> None:
    dollars = Charges(egress_per_gb=Money(amount=Decimal("0.09"), currency="USD"))
    assert made(quoted(charges=dollars)).charges.egress_per_gb == cny("0.648")  # 0.09 x 7.2


def test_a_price_too_cheap_to_be_true_is_not_planned() -> None:
    assert reason(quoted(flags=("too_cheap_unit_suspect",))).startswith("it is too cheap to be true")


def test_an_offer_that_says_everything_is_taken_as_it_stands() -> None:
    deposit = Payment(deposit_months=Decimal(1))
    charges = Charges(egress_per_gb=cny("0.8"))
    offer = made(quoted(region="北京", note="含电", payment=deposit, charges=charges, quote_date=date(2026, 11, 1)))
    assert (offer.provider, offer.accelerator_name, offer.tier) == ("甲云", "H800-SXM5-80GB", "server")
    assert (offer.price, offer.price_low, offer.price_high) == (cny("12.500000"), None, None)
    assert (offer.count, offer.unit_gpus) == (128, 8)
    assert offer.term == Term(billing_hours=730.0, minimum_hours=2190.0)
    assert (offer.tax.state, offer.tax.rate_fraction) == ("in", None)
    assert (offer.payment, offer.charges) == (deposit, charges)
    assert (offer.links, offer.region, offer.note) == ("8×400G IB", "北京", "含电")
    assert (offer.date, offer.source) == (date(2026, 11, 1), "q.csv:F4")
    assert (offer.assumptions, offer.questions) == ((), ())


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"accelerator": None, "accelerator_as_written": "昇腾910B"},
            "the name '昇腾910B' fits several cards: ask which",
        ),
        (
            {"accelerator": None, "accelerator_as_written": "A100 64GB", "flags": ("impossible_memory",)},
            "no card of this kind has that memory: A100 64GB",
        ),
        (
            {"accelerator": None, "accelerator_as_written": "GTX 690", "flags": ("unknown_card",)},
            "the card 'GTX 690' is none of the catalogue, or fits several",
        ),
        ({"price_per_accelerator_hour": price(None)}, "it has no price, or one whose unit is open"),
        ({"flags": ("component_price",)}, "its price leaves out the machine around the card"),
        ({"valid_until": date(2026, 11, 29)}, "it ended on 2026-11-29"),
        ({"count": 0}, "nothing is on hand"),
        ({"count": 4}, "fewer cards are on hand (4) than are sold together (8)"),
    ],
)
def test_what_cannot_be_planned_is_left_out_with_its_reason(changes: dict[str, Any], why: str) -> None:
    assert reason(quoted(**changes)) == why


def test_a_quote_holds_on_its_last_day() -> None:
    assert made(quoted(valid_until=DAY)).price == cny("12.500000")


@pytest.mark.parametrize(
    ("unit", "count", "planned"), [(8, None, 8), (1, None, 1), (None, None, 8), (None, 24, 24), (4, 8, 8)]
)
def test_an_unknown_count_is_one_unit_and_asked(unit: int | None, count: int | None, planned: int) -> None:
    offer = made(quoted(accelerators_per_unit=unit, count=count))
    asked = [str(question) for question in offer.questions if "cards on hand" in str(question)]
    assert offer.count == planned
    assert offer.unit_gpus == (unit or 1)
    assert len(asked) == (count is None)
    assert all(f"planned with {planned}:" in question for question in asked)
    assert ("sold by the card" in " ".join(map(str, offer.assumptions))) == (unit is None)


@pytest.mark.parametrize(
    ("links", "planned", "asked"),
    [
        ("", "", "names no links"),
        ("none", "none", None),
        ("无IB", "无IB", None),
        ("光速互联", "", "'光速互联', are not understood"),
    ],
)
def test_links_that_no_cluster_can_be_built_of_are_planned_at_their_worst(
    links: str, planned: str, asked: str | None
) -> None:
    offer = made(quoted(links=links))
    assert offer.links == planned
    said = [str(question) for question in offer.questions if "links" in str(question)]
    assert [asked in question for question in said if asked] == ([True] if asked else [])
    assert bool(said) == bool(asked)


@pytest.mark.parametrize(
    ("pricing", "unit", "term", "tier", "billing_hours", "minimum_hours"),
    [
        ("spot", 8, None, "spot", 1.0, 0.0),
        ("marketplace", 1, None, "marketplace", 1.0, 0.0),
        ("on_demand", 8, None, "platform", 1.0, 0.0),
        ("daily", 8, None, "platform", 24.0, 24.0),
        ("weekly", 8, None, "platform", 168.0, 168.0),
        ("monthly", 8, None, "server", 730.0, 730.0),
        ("monthly", 1, None, "platform", 730.0, 730.0),
        ("yearly", 8, None, "server", 730.0, 8760.0),
        ("reserved", 8, None, "server", 730.0, 8760.0),
        ("reserved", 8, Term(billing_hours=730.0, minimum_hours=26280.0), "server", 730.0, 26280.0),
    ],
)
def test_tier_and_term_follow_from_how_it_is_paid(
    pricing: Any, unit: int, term: Term | None, tier: str, billing_hours: float, minimum_hours: float
) -> None:
    offer = made(quoted(pricing=pricing, accelerators_per_unit=unit, term=term))
    assert offer.tier == tier
    assert offer.term == Term(billing_hours=billing_hours, minimum_hours=minimum_hours)
    is_guessed_year = term is None and pricing in ("yearly", "reserved")
    assert any("bound for a year" in str(note) for note in offer.assumptions) == is_guessed_year
    assert any("names no term" in str(note) for note in offer.assumptions) == (term is None)
    assert any("taken back" in str(note) for note in offer.questions) == (tier == "spot")


def test_a_committed_price_without_a_term_is_bound_for_a_year_from_the_sellers_words_on() -> None:
    row = {
        "供应商": "甲云",
        "型号": "H800 80G",
        "配置": "8卡整机",
        "报价": "78000",
        "单位": "元/台/月",
        "计费方式": "预留",
    }
    quote = offer_of(row)
    assert (quote.pricing, quote.term) == ("reserved", None)
    offer = made(quote)
    assert offer.term == Term(billing_hours=730.0, minimum_hours=8760.0)
    assert "the offer of 甲云 names no term and is read as bound for a year" in map(str, offer.assumptions)
    stated = made(offer_of({**row, "起租期": "3个月"}))
    assert stated.term == Term(billing_hours=730.0, minimum_hours=2190.0)
    assert not any("names no term" in str(note) for note in stated.assumptions)


def test_every_way_of_paying_has_its_usual_term() -> None:
    assert {way.pricing for way in WAYS_OF_PAYING.values()} == set(get_args(Pricing))


@pytest.mark.parametrize(
    ("period_hours", "billing_hours", "word"), [(730, 730.0, "month"), (24, 24.0, "day"), (1, 1.0, "hour")]
)
def test_a_term_that_nothing_states_follows_from_the_time_that_the_price_is_for(
    period_hours: int, billing_hours: float, word: str
) -> None:
    offer = made(quoted(pricing=None, term=None, readings=(reading("12.5", "node", period_hours),)))
    assert offer.term.billing_hours == billing_hours
    assert [f"read as paid by the {word}" in str(note) for note in offer.assumptions] == [True]


def test_a_range_is_planned_at_its_high_end() -> None:
    ranged = made(quoted(price_per_accelerator_hour=price("5", low=Fraction(5), high=Fraction(7))))
    assert (ranged.price, ranged.price_low, ranged.price_high) == (cny("7"), cny("5"), cny("7"))
    assert [str(note) for note in ranged.assumptions] == [
        "the price of 甲云 is ¥5.00 to ¥7.00; planned at the higher until the seller says"
    ]


def test_a_lowest_price_is_planned_at_the_middle_of_the_usual_prices() -> None:
    with_eight = context()
    terms = PriceTerms(currency="CNY", rates=with_eight.rates, as_of=with_eight.as_of)
    usual, *rest = quote_indicative(with_eight.prices, "H800-SXM5-80GB", nodes=2, terms=terms)
    assert rest == []
    below = made(quoted(price_per_accelerator_hour=price("5.1", high=None)))
    assert (below.price, below.price_low, below.price_high) == (usual.median, cny("5.1"), usual.high)
    assert "is a lowest price; planned at" in str(below.assumptions[0])
    assert [str(question) for question in below.questions] == [
        "the price of 甲云 is a lowest one: ask what this rental would really cost"
    ]
    above = made(quoted(price_per_accelerator_hour=price("1000", high=None)))
    assert (above.price, above.price_low, above.price_high) == (cny("1000"), None, None)


def test_a_lowest_price_of_a_card_that_nothing_prices_is_taken_with_its_question() -> None:
    unpriced = replace(context(), prices={})
    plannable = make_offers(quotes(quoted(price_per_accelerator_hour=price("6", high=None))), unpriced)
    (offer,) = plannable.offers
    assert (offer.price, offer.price_low, offer.price_high, offer.assumptions) == (cny("6"), None, None, ())
    assert len(offer.questions) == 1


def test_a_price_far_from_its_band_is_left_out_below_it_and_planned_above_it() -> None:
    far = {"flags": ("price_far_from_band",), "confidence": "low"}
    assert reason(quoted(price_per_accelerator_hour=price("0.02"), **far)).startswith("it is too cheap to be true")
    assert made(quoted(price_per_accelerator_hour=price("900"), **far)).price == cny("900")


def test_what_is_open_or_suspicious_is_asked() -> None:
    offer = made(
        quoted(
            price_per_accelerator_hour=price(tax="unknown", amount_tax_in=None),
            confidence="low",
            flags=("modified_card", "no_warranty"),
        )
    )
    assert [str(question) for question in offer.questions] == [
        "the price of 甲云 at F4 is suspicious: have it confirmed before you count on it",
        "the card of 甲云 is modified: ask for the warranty",
    ]


def test_a_price_taken_among_several_readings_is_to_be_confirmed() -> None:
    offer = made(quoted(confidence="medium", readings=(reading("12.5"), reading("100"))))
    assert [str(question) for question in offer.questions] == [
        "the unit of the price of 甲云 at F4 is inferred: have it confirmed"
    ]


def test_a_price_for_a_quantity_is_planned_where_one_machine_is_enough() -> None:
    offer = made(quoted(accelerators_per_unit=None, count=None, minimum_count=8))
    assert (offer.unit_gpus, offer.count) == (8, 8)
    assert "the price of 甲云 holds from 8 cards on: sold so many together" in map(str, offer.assumptions)


@pytest.mark.parametrize("unit", [None, 8])
def test_a_price_that_holds_from_several_machines_on_is_left_out(unit: int | None) -> None:
    assert reason(quoted(accelerators_per_unit=unit, minimum_count=64)) == "its price holds only from 64 cards on"


def test_an_unnamed_seller_is_named_by_its_place() -> None:
    offer = made(quoted(seller="", source=Place(file="chat.txt", sheet=None, row=2, cell="2")))
    assert offer.provider == "chat.txt:2"


def test_amounts_are_rounded_half_to_even() -> None:
    assert to_money(Fraction(1, 3), "CNY") == cny("0.333333")
    assert to_money(Fraction("0.0000005"), "CNY") == cny("0.000000")
    assert to_money(Fraction("0.0000015"), "CNY") == cny("0.000002")
    assert to_money(Fraction(780000, 8 * 730) / 10, "CNY") == cny("13.356164")  # 13.35616438…


@given(st.fractions(min_value=0, max_value=10**6))
def test_a_rounded_amount_is_off_by_half_a_step_at_most(amount: Fraction) -> None:
    assert abs(Fraction(to_money(amount, "CNY").amount) - amount) <= Fraction(1, 2 * 10**6)

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from suanpei.market.quotes.files import read_document
from suanpei.market.quotes.quoted import Place, Question
from suanpei.market.quotes.read import read_quotes
from suanpei.market.terms import Charges, Payment, Term
from suanpei.messages import Message
from suanpei.report.locale import translate
from suanpei.report.text.quote_flags import PLAIN, say_flag
from suanpei.report.text.quote_notes import say_amount, say_price, say_term
from suanpei.report.text.quotes import MOST_OFFERS, MOST_UNREAD, render_quotes
from tests.golden.plan_samples import print_at
from tests.golden.quote_samples import handmade
from tests.market.quotes.quoted_samples import context, price, quoted, reading

if TYPE_CHECKING:
    from suanpei.report.locale import Language
    from suanpei.verbs.quotes import QuotesResult

EXAMPLES = Path(__file__).parents[2] / "examples" / "quotes"
FIXTURES = Path(__file__).parents[1] / "data" / "quotes"


def say(result: QuotesResult, lang: Language = "en", width: int = 120) -> str:
    return print_at(render_quotes(result, lang), width)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Fraction(78_000, 8 * 730), "13.356"),  # 13.35616…
        (Fraction(1, 2000), "0.001"),  # half up
        (Fraction(1, 2001), "0.000"),
        (Fraction("1234.5"), "1,234.500"),
        (None, "–"),
    ],
)
def test_an_amount_is_rounded_once(amount: Fraction | None, text: str) -> None:
    assert say_amount(amount) == text


def test_a_range_and_a_lowest_price_are_said_as_such() -> None:
    assert say_price(price("6", low=Fraction(5), high=Fraction(7))) == "5.000–7.000"
    assert translate(say_price(price("6", high=None)), "en") == "from 6.000"
    assert translate(say_price(price("6", high=None)), "zh") == "6.000 起"


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (Term(billing_hours=1.0), "monthly"),
        (Term(billing_hours=730.0, minimum_hours=2190.0), "monthly, ≥ 3 months"),
        (Term(billing_hours=730.0, minimum_hours=26280.0), "monthly, ≥ 3 years"),
        (Term(billing_hours=24.0, minimum_hours=48.0), "monthly, ≥ 2 days"),
        (Term(billing_hours=1.0, minimum_hours=5.0), "monthly, ≥ 5 hours"),
        (None, "monthly"),
    ],
)
def test_a_term_is_said_in_its_largest_unit(term: Term | None, text: str) -> None:
    assert translate(say_term(quoted(term=term)), "en") == text


def test_a_term_without_a_way_of_paying_and_nothing_at_all() -> None:
    assert translate(say_term(quoted(pricing=None)), "en") == "≥ 3 months"
    assert translate(say_term(quoted(pricing=None, term=None)), "en") == "priced for a month"
    assert translate(say_term(quoted(pricing=None, term=None, readings=(reading("6"),))), "zh") == "按 1 小时计价"
    assert say_term(quoted(pricing=None, term=None, readings=())) == "–"


@pytest.mark.parametrize(
    ("flag", "english", "chinese"),
    [
        ("tax_excluded_6pct", "tax of 6 % comes on top", "不含税，另加 6% 的税"),
        ("36_month_term", "bound for 36 months", "签约 36 个月"),
        ("4_gpu_node", "a machine of 4 cards", "一台 4 卡"),
        (
            "two_tiers:0.34/0.69",
            "two prices, 0.34 and 0.69; the lower is shown, a plan takes the higher",
            "两个价格，0.34 与 0.69；表中列低者，规划按高者",
        ),
        (
            "discount_20pct_not_applied",
            "a discount of 20 % for a longer term is not in the amount",
            "长租优惠 20% 未计入",
        ),
        ("eur", "quoted in EUR", "以 EUR 报价"),
        ("per_PFLOPS", None, None),
        ("nobody_knows_this", "nobody_knows_this", "nobody_knows_this"),
    ],
)
def test_a_flag_is_said_in_words(flag: str, english: str | None, chinese: str | None) -> None:
    said = say_flag(flag)
    assert translate(said, "en") == (english or str(PLAIN[flag]))
    if chinese:
        assert translate(said, "zh") == chinese


def test_offers_stand_in_the_order_of_their_price_with_tax_in() -> None:
    dear_on_the_label = quoted(seller="A", price_per_accelerator_hour=price("10.5"))
    cheaper_before_tax = quoted(
        seller="B",
        price_per_accelerator_hour=price("10", tax="out", amount_tax_in=Fraction("10.6"), amount_tax_out=Fraction(10)),
    )
    unpriced = quoted(seller="C", price_per_accelerator_hour=price(None))
    text = say(replace(handmade(), offers=(unpriced, cheaper_before_tax, dear_on_the_label)))
    rows = [line.split()[1] for line in text.splitlines() if line[:2] in ("1 ", "2 ", "3 ") and "H800-SXM5" in line]
    assert rows == ["A", "B", "C"]


def test_every_offer_is_there_with_seller_card_cell_and_links_whatever_the_width() -> None:
    for lang, width in (("en", 120), ("zh", 80)):
        text = say(handmade(), "zh" if lang == "zh" else "en", width)
        for words in ("青禾云", "H800-SXM5-80GB", "F4", "8×400G", "14.158", "RTX-4090", "1.250"):
            assert words in text, (lang, width)
        assert all(cell_len(line) <= width for line in text.splitlines())
        assert "…" not in text, (lang, width)


def test_questions_stand_by_seller() -> None:
    text = say(handmade())
    questions = text[text.index("Questions to send") :]
    assert "丁平台\n  1. the price of 丁平台 is a lowest one" in questions
    assert "Seller not named (报价汇总.csv)\n  1. is VAT in the price" in questions


def test_what_a_seller_is_asked_of_several_offers_stands_once_with_their_cards() -> None:
    def ask(cell: str) -> Question:
        return Question(
            seller="甲云",
            cell=cell,
            problem=Message("no price"),
            question=Message("nothing is on hand"),
            file="q.csv",
        )

    places = [Place(file="q.csv", sheet=None, row=row, cell=f"F{row}") for row in (4, 5, 6)]
    offers = tuple(
        quoted(source=place, accelerator_as_written=card)
        for place, card in zip(places, ("H800", "A800", "H20"), strict=True)
    )
    text = say(replace(handmade(), offers=offers, questions=(ask("J4"), ask("J6"))))
    assert "  1. H800, H20: nothing is on hand\n" in text
    alone = say(replace(handmade(), offers=offers[:1], questions=(ask("J4"),)))
    assert "  1. nothing is on hand\n" in alone


def test_open_readings_are_all_listed_under_the_offer() -> None:
    text = say(handmade())
    assert "taken: 14.041, for a machine and a month (near the usual price)" in text
    assert "or: 112.329, for a card and a month (far from the usual price)" in text


def test_nothing_is_taken_where_the_amount_is_open() -> None:
    (inferred,) = (offer for offer in handmade().offers if offer.readings)
    opened = replace(inferred, price_per_accelerator_hour=price(None))
    text = say(replace(handmade(), offers=(opened,)))
    assert "taken:" not in text
    assert text.count("or: ") == 2


def test_charges_and_payment_are_said_as_far_as_they_are_known() -> None:
    text = say(handmade(), "zh")
    for words in ("出网流量：¥0.80/GB", "因卖家故障停机的时间不计费", "押金：1 个月租金", "预付：每次 3 个月"):
        assert words in text
    bare = say(replace(handmade(), offers=(quoted(charges=Charges(bills_outages=True), payment=Payment()),)))
    assert "outages of the seller are billed" in bare
    assert "None" not in bare


def test_long_lists_are_cut_with_a_word() -> None:
    many = replace(handmade(), offers=(quoted(),) * (MOST_OFFERS + 5), unread=handmade().unread * MOST_UNREAD)
    text = say(many)
    assert f"The {MOST_OFFERS} cheapest of {MOST_OFFERS + 5} offers are shown; --json lists all." in text
    assert f"and {MOST_UNREAD} more; --json lists all" in text


def test_nothing_found_is_said() -> None:
    empty = replace(handmade(), offers=(), questions=(), assumptions=())
    assert say(empty).splitlines()[0] == "No offer was found."


def test_every_flag_is_explained_in_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "quotes.md").read_text(encoding="utf-8")
    assert [flag for flag in PLAIN if f"`{flag}`" not in text] == []
    explained = re.findall(r"`([\w:./]+)`", text[text.index("## Flags") : text.index("## What a plan makes")])
    fields = {"high", "amount", "A100", "minimum_count"}
    assert [flag for flag in explained if flag not in fields and isinstance(say_flag(flag), str)] == []


@pytest.mark.parametrize("file", sorted([*EXAMPLES.iterdir(), *FIXTURES.iterdir()]), ids=lambda path: path.name)
def test_every_flag_that_the_reader_raises_has_words(file: Path) -> None:
    read = read_quotes([read_document(file)], context())
    assert read.offers
    assert [flag for offer in read.offers for flag in offer.flags if isinstance(say_flag(flag), str)] == []

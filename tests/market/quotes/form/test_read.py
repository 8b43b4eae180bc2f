from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from suanpei.market.quotes.document import Document, Line, Sheet, Unread
from suanpei.market.quotes.form.read import is_form, read_form
from suanpei.market.quotes.quoted import Place
from suanpei.market.rfq.fields import FIELDS_BY_KEY, LINE_FIELDS
from suanpei.market.rfq.words import FORM_LANGUAGES
from suanpei.messages import Message
from suanpei.money import ExchangeRate, ExchangeRates, Money
from suanpei.provenance import Provenance
from suanpei.report.locale import translate
from tests.market.quotes.form_samples import HEAD, LINE, blank_form, fill, fill_text, to_csv_document, to_document
from tests.market.rfq.samples import CATALOGUE, WORDS

if TYPE_CHECKING:
    from suanpei.market.quotes.quoted import QuotedOffer, Quotes
    from suanpei.market.rfq.words import FormLanguage


def read(book: Any, **options: Any) -> Quotes:
    return read_form(to_document(book), CATALOGUE, **options)


def read_line(changes: dict[str, Any] | None = None, language: FormLanguage = "zh") -> tuple[QuotedOffer, Quotes]:
    quotes = read_form(fill_text(language, [{**LINE, **(changes or {})}]), CATALOGUE)
    (offer,) = quotes.offers
    return offer, quotes


def remarks(offer: QuotedOffer) -> list[str]:
    return list(map(str, offer.remarks))


def problems(quotes: Quotes) -> list[str]:
    return [str(question.problem) for question in quotes.questions]


@pytest.mark.parametrize("language", FORM_LANGUAGES)
def test_a_whole_line_is_read_as_filled(language: FormLanguage) -> None:
    quotes = read(fill(language, [LINE], answers={}))
    (offer,) = quotes.offers
    assert quotes == read_line(language=language)[1]
    assert quotes.questions == ()
    assert quotes.unread == ()
    assert offer.seller == "甲云"
    assert offer.source == Place(
        file="form.xlsx", sheet=WORDS.sheet_title("offers", language), row=14, cell=offer.source.cell
    )
    assert (offer.accelerator, offer.accelerator_as_written) == ("H800-SXM5-80GB", "H800-SXM5-80GB")
    assert (offer.accelerators_per_unit, offer.count, offer.links) == (8, 128, "8x400G IB")
    price = offer.price_per_accelerator_hour
    assert price.amount == Fraction(78000, 8 * 730)  # billed by the month, so the month's price is the exact one
    assert (price.low, price.high, price.currency) == (price.amount, price.amount, "CNY")
    assert (price.tax, price.tax_rate) == ("out", Decimal("0.06"))
    assert price.amount_tax_in == Fraction(78000, 8 * 730) * Fraction(106, 100)
    assert price.amount_tax_out == price.amount
    assert [(reading.billed, reading.period_hours) for reading in offer.readings] == [("node", Fraction(730))]
    assert offer.term is not None
    assert (offer.term.billing_hours, offer.term.minimum_hours) == (730, 2190)
    assert (offer.quote_date, offer.valid_until) == (date(2026, 11, 30), date(2026, 12, 15))
    assert (offer.payment.deposit_months, offer.payment.prepaid_months) == (Decimal(1), Decimal(3))
    assert offer.charges.storage_per_gb_month == Money(amount=Decimal("0.12"), currency="CNY")
    assert offer.charges.ingress_per_gb == Money(amount=Decimal(0), currency="CNY")
    assert offer.charges.early_exit_fraction == Decimal("0.3")
    assert offer.charges.bills_outages is False
    assert offer.charges.includes_power is True
    assert (offer.pricing, offer.region, offer.confidence) == ("monthly", "Ulanqab", "high")
    assert offer.flags == ("deposit", "egress_fee", "includes_power", "prepay", "tax_excluded_6pct")
    assert offer.note == "carefully made"
    assert remarks(offer) == [
        "Memory [GB per card]: 80",
        "Cards per machine: 8",
        "New or used: new",
        "Modified card or memory?: no",
        "Links between the cards of a machine: NVLink between all cards",
        "Invoice: special VAT invoice",
        "Power and rack: power included",
        "Delivery date (YYYY-MM-DD): 2026-12-20",
        "Contact: Wang",
    ]
    assert [translate(remark, "zh") for remark in offer.remarks][2:5] == [
        "全新或二手：全新",
        "是否改装（卡或显存）：否",
        "机内卡间互联：NVLink 全互联",
    ]


def test_forms_of_both_languages_read_back_to_equal_offers() -> None:
    answers = {"read_rate": ("deviates", "6 GB/s"), "driver": ("meets", "550.90.07")}
    lines = [LINE, {**LINE, "network": "none", "ports_per_node": None, "port_gbit": None, "pricing": "spot"}]
    offers = [
        tuple(replace(offer, source=replace(offer.source, sheet=None, cell="")) for offer in read(book).offers)
        for book in (fill(language, lines, answers=answers) for language in FORM_LANGUAGES)
    ]
    assert offers[0] == offers[1]
    assert remarks(offers[0][0])[-2:] == ["Read rate, deviates: 6 GB/s", "Driver: 550.90.07"]
    assert offers[0][1].links == "none"
    assert {"spot", "no_ib"} <= set(offers[0][1].flags)


@pytest.mark.parametrize("language", FORM_LANGUAGES)
def test_the_sheet_of_offers_alone_as_csv_reads_back_to_the_same(language: FormLanguage) -> None:
    book = fill(language, [LINE], answers={})
    whole, alone = read(book), read_form(to_csv_document(book, WORDS.sheet_title("offers", language)), CATALOGUE)
    assert [replace(offer, source=whole.offers[0].source) for offer in alone.offers] == list(whole.offers)
    assert problems(alone) == ["the file holds no answers to the requirements"]


def test_the_requirements_alone_say_where_the_offers_stand() -> None:
    quotes = read_form(to_csv_document(fill("en", [LINE], answers={}), "Requirements"), CATALOGUE)
    assert quotes.offers == ()
    assert [str(unread.reason) for unread in quotes.unread] == [
        "the file holds no offers of the form: they stand on the sheet Offer"
    ]


@pytest.mark.parametrize("language", FORM_LANGUAGES)
def test_a_blank_form_holds_no_offer_and_says_so_once(language: FormLanguage) -> None:
    document = to_document(blank_form(language, seller="甲云"))
    assert is_form(document)
    quotes = read_form(document, CATALOGUE)
    assert (quotes.offers, quotes.questions) == ((), ())
    assert [str(unread.reason) for unread in quotes.unread] == [
        f"the form is blank: no line of the sheet {WORDS.sheet_title('offers', language)} is filled"
    ]


def test_other_documents_are_no_forms() -> None:
    line = Line(row=1, cells=("供应商", "型号", "报价"))
    document = Document(file="a.csv", sheets=(Sheet(kind="table", name=None, lines=(line,)),))
    assert not is_form(document)
    with pytest.raises(ValueError, match=r"a\.csv"):
        read_form(document, CATALOGUE)


def test_blank_cells_become_one_question_per_line() -> None:
    offer, quotes = read_line({"tax": None, "tax_rate": None, "count": None, "delivery": "-"})
    (problem,) = problems(quotes)
    assert problem.removeprefix("the line leaves blank: ").split(", ") == [
        "Cards on hand in one fabric",
        "Tax in the prices of this line?",
        "Tax rate [%] (such as 6)",
        "Delivery date (YYYY-MM-DD)",
    ]
    assert (offer.count, offer.price_per_accelerator_hour.tax, offer.price_per_accelerator_hour.tax_rate) == (
        None,
        "unknown",
        None,
    )
    assert offer.price_per_accelerator_hour.amount_tax_in is None


def test_ports_are_asked_for_where_there_is_a_network() -> None:
    offer, quotes = read_line({"ports_per_node": None, "port_gbit": None})
    (problem,) = problems(quotes)
    assert problem.removeprefix("the line leaves blank: ").split(", ") == [
        "Network ports per machine (blank without network)",
        "Rate per port [Gbit/s] (blank without network)",
    ]
    assert offer.links == "IB"


def test_a_network_of_none_with_ports_is_asked_about() -> None:
    offer, quotes = read_line({"network": "none"})
    assert problems(quotes) == ["no network between machines, yet ports or a rate are given"]
    assert offer.links == "none"


@pytest.mark.parametrize(
    ("card", "month", "agrees"),
    [
        (13.36, 78000, True),  # 13.36 · 5,840 is 78,022.4, within half a cent of 5,840 (29.2)
        (13.35, 78000, False),  # 77,964, 36 away
        (13.4, 78000, False),  # a price is in cents: 13.4 is 13.40
        (13.3562, 78000, True),  # 78,000.2, within 0.3 and half a yuan
        (13.3563, 78000, True),  # 78,000.8
        (13.3565, 78000, False),  # 78,002
        (107, 78000, False),  # the price of the machine written as that of a card
    ],
)
def test_two_prices_agree_within_their_rounding(card: float, month: float, *, agrees: bool) -> None:
    offer, quotes = read_line({"price_card_hour": card, "price_node_month": month})
    price = offer.price_per_accelerator_hour
    assert (price.amount is not None) == agrees
    assert ("prices_disagree" in offer.flags) == (not agrees)
    assert len(offer.readings) == (1 if agrees else 2)
    assert bool(quotes.questions) == (not agrees)
    if not agrees:
        assert offer.confidence == "low"
        assert offer.price_as_written == f"78000 / {card}"
        assert {reading.amount for reading in offer.readings} == {Fraction(str(card)), Fraction(78000, 5840)}


def test_the_billed_price_is_the_one_taken() -> None:
    offer, _ = read_line({"billing": "hour", "pricing": "on_demand"})
    assert offer.price_per_accelerator_hour.amount == Fraction("13.36")
    assert offer.price_as_written == "13.36"


@pytest.mark.parametrize(
    ("missing", "amount"),
    [("price_card_hour", Fraction(78000, 5840)), ("price_node_month", Fraction("13.36"))],
)
def test_one_price_is_enough_and_the_other_is_asked_for(missing: str, amount: Fraction) -> None:
    offer, quotes = read_line({missing: None})
    assert offer.price_per_accelerator_hour.amount == amount
    assert len(problems(quotes)) == 1
    assert "month" in problems(quotes)[0] or "hour" in problems(quotes)[0]


def test_no_price_is_missing_and_a_price_of_zero_is_none() -> None:
    offer, _ = read_line({"price_card_hour": None, "price_node_month": None})
    assert "price_missing" in offer.flags
    assert offer.confidence == "low"
    assert offer.readings == ()
    zero, quotes = read_line({"price_card_hour": 0, "price_node_month": 0})
    assert zero.price_per_accelerator_hour.amount is None
    assert problems(quotes) == ["a price of zero", "a price of zero"]


def test_a_month_without_cards_per_machine_settles_no_price() -> None:
    offer, _ = read_line({"price_card_hour": None, "gpus_per_node": None})
    assert offer.price_per_accelerator_hour.amount is None
    assert offer.accelerators_per_unit is None


def test_without_a_currency_no_amount_is_given() -> None:
    offer, _ = read_line({"currency": None})
    assert offer.price_per_accelerator_hour.amount is None
    assert offer.charges.egress_per_gb is None
    assert "currency_missing" in offer.flags


def test_amounts_are_converted_exactly() -> None:
    rate = ExchangeRate(base="USD", quote="CNY", rate=Decimal("7.2"), provenance=Provenance(source="test"))
    quotes = read(fill("en", [LINE], answers={}), currency="USD", rates=ExchangeRates(rates=(rate,)))
    price = quotes.offers[0].price_per_accelerator_hour
    assert price.currency == "USD"
    assert price.amount == Fraction(78000, 5840) / Fraction(72, 10)
    assert quotes.offers[0].quoted_currency == "CNY"


@pytest.mark.parametrize(
    ("key", "given", "takes"),
    [
        ("tax", "perhaps", "one of the list: tax included, tax excluded"),
        ("tax_rate", 0.06, "a percentage from 0 to 100, written as 6 or 6%"),
        ("tax_rate", "600", "a percentage"),
        ("count", 12.5, "a whole number of at least 1"),
        ("count", "about 100", "a whole number"),
        ("price_card_hour", "13.36 per hour", "a number of at least 0"),
        ("price_card_hour", -3, "a number of at least 0"),
        ("deposit_months", "押一", "a number of at least 0"),
        ("delivery", "next week", "a date such as 2026-12-15"),
        ("delivery", "2026-13-40", "a date"),
        ("delivery", "12/20/2026", "a date"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_cell_and_asked(key: str, given: Any, takes: str) -> None:
    _, quotes = read_line({key: given}, "en")
    (unread,) = [item for item in quotes.unread if str(given) in str(item.reason)]
    assert unread.cell.startswith("Offer!")
    (question,) = [item for item in quotes.questions if item.cell == unread.cell]
    assert f"; please give {takes}".split(":")[0] in str(question.question)


@pytest.mark.parametrize(
    ("key", "given", "attribute"),
    [
        ("price_node_month", "７８，０００", "78000"),
        ("price_node_month", "78,000.00", "78000"),
    ],
)
def test_numbers_are_read_as_chinese_and_spreadsheets_write_them(key: str, given: str, attribute: str) -> None:
    offer, quotes = read_line({key: given})
    assert quotes.unread == ()
    assert offer.price_per_accelerator_hour.amount == Fraction(attribute) / 5840


def test_a_lone_comma_is_asked_about_where_it_may_be_a_decimal_one() -> None:
    _, yuan = read_line({"price_node_month": "78,000"})
    assert yuan.unread == ()
    offer, euro = read_line({"price_node_month": "78,000", "currency": "EUR"})
    assert len(euro.unread) == 1
    assert offer.price_per_accelerator_hour.amount == Fraction("13.36")


@pytest.mark.parametrize(
    "given", ["2026-12-20", "2026/12/20", "2026年12月20日", "2026.12.20", "２０２６-12-20", date(2026, 12, 20)]
)
def test_dates_are_read_year_first(given: Any) -> None:
    offer, quotes = read_line({"delivery": given})
    assert quotes.unread == ()
    assert "Delivery date (YYYY-MM-DD): 2026-12-20" in remarks(offer)


def test_percentages_are_read_with_and_without_their_sign() -> None:
    for written in ("6", "6%", "6 %", "６％", 6, "6.00"):
        offer, _ = read_line({"tax_rate": written})
        assert offer.price_per_accelerator_hour.tax_rate == Decimal("0.06")
        assert "tax_excluded_6pct" in offer.flags


@pytest.mark.parametrize(
    ("written", "memory", "name", "asks"),
    [
        ("A800", 80, "A800-SXM4-80GB", True),
        ("RTX 4090", 48, "RTX-4090-48GB-mod", False),
        ("RTX 4090", 24, "RTX-4090", False),
        ("昇腾910B3", 64, "Ascend-910B3", False),
        ("A100", 64, None, True),
        ("something", 80, None, True),
    ],
)
def test_the_card_is_found_by_name_and_memory_or_asked_for(
    written: str, memory: float, name: str | None, *, asks: bool
) -> None:
    offer, quotes = read_line({"accelerator": written, "memory_gb": memory})
    assert offer.accelerator == name
    assert offer.accelerator_as_written == written
    assert bool(quotes.questions) == asks
    assert ("non_nvidia" in offer.flags) == (written == "昇腾910B3")


def test_deviations_are_kept_and_open_answers_asked_for() -> None:
    answers = {"driver": ("", ""), "image": ("maybe", "see below"), "cards": ("deviates", "")}
    quotes = read(fill("en", [LINE], answers=answers))
    assert problems(quotes) == [
        "Cards deviates, without saying how",
        "requirements without a clear answer: Image, Driver",
    ]
    assert remarks(quotes.offers[0])[-2:] == ["Cards, deviates", "Image: maybe: see below"]


def test_the_head_holds_for_every_line_and_is_asked_for() -> None:
    quotes = read(fill("en", [LINE, LINE], head={**HEAD, "seller": "", "valid_until": "2026-11-01"}, answers={}))
    assert problems(quotes) == [
        "the head of the form leaves blank: Name of the seller",
        "the quote is valid until 2026-11-01, before its own date 2026-11-30",
    ]
    assert [offer.quote_date for offer in quotes.offers] == [date(2026, 11, 30)] * 2


def test_dates_are_held_against_a_day() -> None:
    document = fill_text("en", [LINE])
    (late,) = read_form(document, CATALOGUE, as_of=date(2027, 1, 1)).offers
    assert "price_expired" in late.flags
    early = read_form(document, CATALOGUE, as_of=date(2026, 11, 1))
    assert "date_in_future" in early.offers[0].flags
    assert problems(early) == ["the quote is dated 2026-11-30, after 2026-11-01"]
    assert not read_form(document, CATALOGUE, as_of=date(2026, 12, 15)).questions


@pytest.mark.parametrize(
    ("changes", "flag"),
    [
        ({"modified": "yes"}, "modified_card"),
        ({"in_node": "pcie"}, "pcie"),
        ({"network": "none", "ports_per_node": None, "port_gbit": None}, "no_ib"),
        ({"gpus_per_node": 4, "price_node_month": 39000}, "4_gpu_node"),
        ({"count": None}, "no_quantity"),
        ({"pricing": "reserved"}, "reserved"),
        ({"pricing": "daily"}, "daily_min"),
        ({"minimum_term": 1, "minimum_term_unit": "day"}, "daily_min"),
        ({"minimum_term": 3, "minimum_term_unit": "year"}, "36_month_term"),
        ({"minimum_term": 12}, "12_month_term"),
        ({"tax_rate": None}, "tax_excluded"),
    ],
)
def test_flags_are_spelt_as_for_other_quotes(changes: dict[str, Any], flag: str) -> None:
    assert flag not in read_line()[0].flags
    assert flag in read_line(changes)[0].flags


def test_what_the_form_hides_itself_is_nothing_to_say() -> None:
    document = fill_text("en", [LINE])
    hidden, picture = Message("hidden, in whatever words"), Message("a picture")
    left = [
        Unread(file=document.file, cell=cell, reason=hidden, is_read=True)
        for cell in ("Offer!A1", "Offer!A11", "Requirements!A10", "_suanpei_form", "Offer!A15")
    ]
    left.append(Unread(file=document.file, cell="Offer!A11", reason=picture))
    quotes = read_form(replace(document, unread=tuple(left)), CATALOGUE)
    assert [(unread.cell, unread.reason) for unread in quotes.unread] == [("Offer!A15", hidden), ("Offer!A11", picture)]


def test_moved_and_added_rows_and_columns_lose_nothing() -> None:
    book = fill("en", [LINE, {**LINE, "count": 64}], answers={})
    sheet = book["Offer"]
    sheet.insert_rows(14, amount=2)
    sheet.insert_cols(5)
    sheet.cell(12, 5).value = "Rack"
    sheet.cell(16, 5).value = "R42"
    sheet.cell(60, 3).value = "prices are subject to change"
    quotes = read(book)
    assert [offer.count for offer in quotes.offers] == [128, 64]
    assert quotes.offers[0].note.endswith("carefully made; Rack: R42")
    assert problems(quotes) == []
    assert len(quotes.offers) + len(quotes.unread) == 3


def test_a_changed_example_is_not_dropped_silently() -> None:
    book = fill("en", [LINE], answers={})
    book["Offer"].cell(13, 3).value = "H800"
    quotes = read(book)
    assert len(quotes.offers) == 1
    assert [str(unread.reason).split(";")[0] for unread in quotes.unread] == ["the line marked as example was changed"]


def test_a_form_without_its_keys_is_refused_in_one_line() -> None:
    book = fill("en", [LINE], answers={})
    book["Offer"].delete_rows(11)
    quotes = read(book)
    assert quotes.offers == ()
    assert "the hidden row or column of keys on the sheet Offer is gone" in str(quotes.unread[-1].reason)


def test_a_newer_form_is_refused() -> None:
    book = fill("en", [LINE], answers={})
    for sheet in book:
        sheet["A1"].value = str(sheet["A1"].value).replace("version=1", "version=9")
    assert "the form has version 9, this program reads up to 1" in str(read(book).unread[-1].reason)


def test_every_field_of_a_line_has_a_place_in_the_offer() -> None:
    before, _ = read_line()
    others = {"text": "something else", "count": 16, "number": 7, "money": 0.37, "percent": "13", "date": "2027-01-01"}
    for field in LINE_FIELDS:
        codes = WORDS.choices(field.choices, "en") if field.choices else [others[field.kind]]
        given = next(code for code in codes if code != LINE[field.key])
        after, _ = read_line({field.key: given})
        assert after != before, field.key


@st.composite
def filled_lines(draw: st.DrawFn) -> dict[str, Any]:
    """Every cell filled with something valid of its kind; the two prices are one price."""
    line: dict[str, Any] = {}
    for field in LINE_FIELDS:
        if field.kind == "choice":
            line[field.key] = draw(st.sampled_from(list(WORDS.choices(field.choices, "en"))))
        elif field.kind == "count":
            line[field.key] = draw(st.integers(1, 64))
        elif field.kind == "percent":
            line[field.key] = str(draw(st.integers(0, 100)))
        elif field.kind == "date":
            line[field.key] = draw(st.dates(date(2020, 1, 1), date(2099, 12, 31))).isoformat()
        elif field.kind == "text":
            line[field.key] = draw(st.text("甲乙ABC xyz,;%+1", min_size=1, max_size=12).filter(str.strip)).strip()
        else:
            line[field.key] = draw(st.decimals(0, 10**6, places=2))
    line["price_card_hour"] = draw(st.decimals("0.01", 9999, places=4))
    line["price_node_month"] = line["price_card_hour"] * line["gpus_per_node"] * 730
    return line


def check_is_line(offer: QuotedOffer, line: dict[str, Any]) -> None:
    """Each value of an offer against what was filled in, by the form's own definitions."""
    card_hour = Fraction(line["price_card_hour"])
    price, rate = offer.price_per_accelerator_hour, Decimal(line["tax_rate"]) / 100
    assert price.amount == card_hour
    assert (price.currency, price.tax, price.tax_rate) == (line["currency"], line["tax"], rate)
    assert price.amount_tax_in == card_hour * (1 if line["tax"] == "in" else 1 + Fraction(rate))
    assert price.amount_tax_out == card_hour / (1 if line["tax"] == "out" else 1 + Fraction(rate))
    assert offer.accelerators_per_unit == (1 if line["sold_by"] == "card" else line["gpus_per_node"])
    assert (offer.count, offer.pricing, offer.quoted_currency) == (line["count"], line["pricing"], line["currency"])
    assert offer.region == ("" if line["region"] == "-" else line["region"])
    hours = {"second": 1 / 3600, "minute": 1 / 60, "hour": 1, "day": 24, "month": 730, "year": 8760}
    assert offer.term is not None
    assert offer.term.billing_hours == pytest.approx(hours[line["billing"]], rel=1e-15)
    least_hours = float(Fraction(line["minimum_term"]) * hours[line["minimum_term_unit"]])
    assert offer.term.minimum_hours == pytest.approx(least_hours, rel=1e-15)
    assert offer.payment.deposit_months == line["deposit_months"]
    assert offer.payment.prepaid_months == line["prepaid_months"]
    for key, money in (
        ("storage_price", offer.charges.storage_per_gb_month),
        ("ingress_price", offer.charges.ingress_per_gb),
        ("egress_price", offer.charges.egress_per_gb),
        ("set_up_price", offer.charges.set_up),
        ("fabric_price", offer.charges.fabric_per_gpu_hour),
    ):
        assert money == Money(amount=line[key], currency=line["currency"])
    assert offer.charges.early_exit_fraction == Decimal(line["early_exit"]) / 100
    assert offer.charges.bills_outages == (line["bills_outages"] == "yes")
    for kept in ("condition", "in_node", "invoice", "power", "delivery", "modified"):
        field = FIELDS_BY_KEY[kept]
        said = WORDS.choices(field.choices, "en")[line[kept]] if field.choices else line[kept]
        assert f"{field.label}: {said}" in remarks(offer)
    assert line["comment"] in offer.note


@given(filled_lines(), st.sampled_from(FORM_LANGUAGES))
@settings(max_examples=60, deadline=None)
def test_whatever_is_filled_in_is_read_back_exactly(line: dict[str, Any], language: FormLanguage) -> None:
    (offer,) = read_form(fill_text(language, [line]), CATALOGUE).offers
    check_is_line(offer, line)


@given(st.lists(filled_lines(), min_size=1, max_size=20), st.sampled_from(FORM_LANGUAGES))
@settings(max_examples=6, deadline=None, phases=[Phase.generate])
def test_a_saved_workbook_keeps_every_line_exactly(lines: list[dict[str, Any]], language: FormLanguage) -> None:
    offers = read(fill(language, lines, answers={})).offers
    assert len(offers) == len(lines)
    for offer, line in zip(offers, lines, strict=True):
        check_is_line(offer, line)


@given(st.permutations(range(4)))
@settings(max_examples=10, deadline=None)
def test_the_order_of_lines_changes_their_place_alone(order: list[int]) -> None:
    lines = [{**LINE, "count": 8 * (number + 1)} for number in range(4)]
    sorted_offers = read_form(fill_text("en", lines), CATALOGUE).offers
    moved = read_form(fill_text("en", [lines[number] for number in order]), CATALOGUE).offers
    assert [
        replace(offer, source=sorted_offers[number].source) for number, offer in zip(order, moved, strict=True)
    ] == [sorted_offers[number] for number in order]


@given(st.dictionaries(st.sampled_from([field.key for field in LINE_FIELDS]), st.text(max_size=20), min_size=2))
@settings(max_examples=60, deadline=None)
def test_any_text_in_any_cell_gives_offers_questions_or_unread(cells: dict[str, str]) -> None:
    quotes = read_form(fill_text("en", [cells]), CATALOGUE)
    assert quotes.offers or quotes.unread
    assert all(offer.price_per_accelerator_hour.amount is None or offer.readings for offer in quotes.offers)

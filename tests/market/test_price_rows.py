"""Price rows: what loads, what is refused with its place, and how regions and terms read."""

from __future__ import annotations

import csv
from collections import Counter
from datetime import date
from decimal import Decimal
from importlib import resources

import pytest

from suanpei.errors import InputError
from suanpei.market.price_rows import build_price_rows, is_in_region, load_exchange_rates
from suanpei.market.terms import Tax, Term, parse_term
from tests.market.price_samples import CATALOGUE, bundled_table, price_row, raw_row, usd


def _csv_rows(name: str) -> list[dict[str, str]]:
    """Read a bundled table by the standard library alone."""
    text = resources.files("suanpei").joinpath("catalog", name).read_text(encoding="utf-8-sig")
    return list(csv.DictReader(text.splitlines()))


def test_every_bundled_row_with_a_price_to_plan_with_loads() -> None:
    rows = build_price_rows(CATALOGUE.table("offers"), CATALOGUE.table("offers_cn"))
    expected = Counter(
        row["tier"] for name in ("offers.csv", "offers_cn.csv") for row in _csv_rows(name) if row["tier"] != "none"
    )
    assert Counter(row.tier for row in rows) == expected
    assert expected["server"] == 50


def test_a_row_keeps_what_the_table_says() -> None:
    (row,) = build_price_rows(
        [], [raw_row(term="1 month quote, one-year signing usual", node_or_card="node8", tier="server")]
    )
    assert (row.provider, row.accelerator_name, row.tier, row.unit_sold) == ("seller", "X", "server", "node8")
    assert (row.price.amount, row.price.currency, row.date) == (Decimal("6.5"), "CNY", date(2026, 7, 15))
    assert row.term == Term(billing_hours=730.0, minimum_hours=730.0, usual_hours=8760.0)
    assert row.links == ""
    assert row.tax == Tax(wording="unstated")


def test_a_foreign_row_is_priced_per_card_and_names_its_interconnect() -> None:
    row = raw_row(
        file="offers.csv",
        snapshot_date="2026-09-25",
        interconnect="SXM",
        date="",
        node_or_card="",
        price_per_gpu_hour="2.79",
        price_per_hour="22.32",
        currency="USD",
        gpu_count="8",
    )
    (read,) = build_price_rows([row], [])
    assert (read.price.amount, read.unit_sold, read.market, read.links) == (Decimal("2.79"), "node8", "world", "SXM")
    assert read.date == date(2026, 9, 25)


def test_a_citation_is_no_interconnect_and_a_blank_date_is_unknown() -> None:
    (row,) = build_price_rows([], [raw_row(links="https://example.org/x ; https://example.org/y", date="")])
    assert row.links == ""
    assert row.date is None
    (named,) = build_price_rows([], [raw_row(links="8x400G IB")])
    assert named.links == "8x400G IB"


def test_evidence_is_left_out_but_checked() -> None:
    evidence = raw_row(tier="none", pricing="bid", term="assumption")
    assert build_price_rows([], [evidence]) == ()
    with pytest.raises(InputError, match="line 9"):
        build_price_rows([], [raw_row(line=9, tier="none", source="")])


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ({"source": ""}, "source"),
        ({"provider": ""}, "provider"),
        ({"price_per_hour": "cheap"}, "price_per_hour"),
        ({"price_per_hour": "0"}, "price_per_hour"),
        ({"price_per_hour": "-1"}, "price_per_hour"),
        ({"price_per_hour": "nan"}, "price_per_hour"),
        ({"price_per_hour": ""}, "price_per_hour"),
        ({"currency": "XYZ"}, "currency"),
        ({"currency": ""}, "currency"),
        ({"date": "15.07.2026"}, "date"),
        ({"tier": "gold"}, "tier"),
        ({"tier": ""}, "tier"),
        ({"confidence": "sure"}, "confidence"),
        ({"term": "sometimes", "pricing": "barter"}, "term"),
        ({"node_or_card": "rack"}, "node_or_card"),
    ],
)
def test_a_bad_cell_is_named_with_file_line_and_column(cells: dict[str, str], column: str) -> None:
    with pytest.raises(InputError) as caught:
        build_price_rows([], [raw_row(), raw_row(line=7, **cells)])
    text = str(caught.value)
    assert "offers_cn.csv" in text
    assert "7" in text
    assert column in text
    assert "\n" not in text
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("term", "pricing", "billing_hours", "minimum_hours"),
    [
        ("hourly", "", 1.0, 0.0),
        ("per second", "on_demand", 1 / 3600, 0.0),
        ("按秒计费", "", 1 / 3600, 0.0),
        ("per minute", "", 1 / 60, 0.0),
        ("按分钟", "", 1 / 60, 0.0),
        ("hourly, billed by the minute", "", 1.0, 0.0),
        ("按小时", "", 1.0, 0.0),
        ("monthly", "", 730.0, 730.0),
        ("1 month", "", 730.0, 730.0),
        ("包月", "", 730.0, 730.0),
        ("3个月", "", 730.0, 2190.0),
        ("30 days", "", 720.0, 720.0),
        ("30天", "", 720.0, 720.0),
        ("5 years", "", 730.0, 43800.0),
        ("1年", "", 730.0, 8760.0),
        ("", "on_demand", 1.0, 0.0),
        ("", "reserved_1y", 730.0, 8760.0),
        ("assumption", "on_demand", 1.0, 0.0),
    ],
)
def test_terms_read_as_they_are_paid(term: str, pricing: str, billing_hours: float, minimum_hours: float) -> None:
    assert parse_term(term, pricing) == Term(billing_hours=billing_hours, minimum_hours=minimum_hours)


def test_a_term_that_nothing_states_is_unknown() -> None:
    assert parse_term("", "") is None


@pytest.mark.parametrize(
    ("region", "market", "asked", "is_in"),
    [
        ("mainland China", "cn", "China", True),
        ("Beijing", "cn", "cn", True),
        ("Beijing", "cn", "北京", True),
        ("Beijing", "cn", "shanghai", False),
        ("hongkong", "cn", "中国", False),
        ("hongkong", "cn", "香港", True),
        ("us-central1", "world", "us", True),
        ("newyork-usa-1", "world", "USA", True),
        ("austin", "world", "us", False),
        ("", "world", "us", False),
        ("", "world", "", False),
    ],
)
def test_regions_match_by_words(region: str, market: str, asked: str, is_in: bool) -> None:
    assert is_in_region(price_row("1", region=region, market=market), asked) is is_in


def test_one_seller_under_several_spellings() -> None:
    assert price_row("1", provider="RunPod").seller == price_row("1", provider="runpod").seller
    read_by_others = "mornai (晨涧云, via CMIS Daily)"
    assert price_row("1", provider=read_by_others).seller == price_row("1", provider="mornai (晨涧云)").seller
    assert price_row("1", provider="press (cnBeta)").seller != price_row("1", provider="press (163.com)").seller


def test_rows_are_grouped_by_card() -> None:
    table = bundled_table()
    listed = [row for row in _csv_rows("offers_cn.csv") if row["gpu"] == "A800-SXM4-80GB" and row["tier"] != "none"]
    assert len(table["A800-SXM4-80GB"]) == len(listed) == 2


@pytest.mark.parametrize(
    ("own", "amount"),
    [((), "7.2"), (("USD=7.1CNY",), "7.1"), (("USD=7.1CNY", "EUR=8CNY"), "7.1"), (("USD=7.1CNY", "USD=7.1CNY"), "7.1")],
)
def test_a_users_own_rate_stands_for_the_catalogues(own: tuple[str, ...], amount: str) -> None:
    rates = load_exchange_rates(CATALOGUE, own)
    assert rates.convert(usd("1"), "CNY").amount == Decimal(amount)


@pytest.mark.parametrize(
    ("own", "complaint"),
    [
        (
            ("USD=7.1CNY", "EUR=8CNY", "USD=7.3CNY"),
            "rate: USD to CNY is given twice, 1 USD = 7.1 CNY and 1 USD = 7.3 CNY; keep one",
        ),
        (
            ("USD=7.1CNY", "CNY=0.14USD"),
            "rate: CNY to USD is given twice, 1 USD = 7.1 CNY and 1 CNY = 0.14 USD; keep one",
        ),
    ],
)
def test_two_rates_of_one_pair_are_refused(own: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(InputError) as raised:
        load_exchange_rates(CATALOGUE, own)
    assert str(raised.value) == complaint

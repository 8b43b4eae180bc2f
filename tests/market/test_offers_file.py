"""Offer files as users write them: encodings, separators, what is asked, and errors with their place."""

from __future__ import annotations

import csv
from dataclasses import fields
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.machine.table import MOST_TEXT_BYTES
from suanpei.market.charge_cells import CHARGE_COLUMNS
from suanpei.market.cost import RunHours, make_bills
from suanpei.market.offer import explain_conversions
from suanpei.market.offers_file import COLUMNS, read_offer_lines
from suanpei.market.price_rows import is_in_region
from suanpei.market.terms import Charges, Payment, Term
from suanpei.messages import Message
from tests.market.price_samples import RATES, cny, load_offers, usd

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "provider,gpu,price_per_hour,currency,count,term,node_or_card,tax,links,tier"
FULL = "甲云,A800,6.5,CNY,64,monthly,node8,含税 6%,8x200G RoCE,server"


def _write(path: Path, *lines: str, encoding: str = "utf-8") -> Path:
    path.write_bytes("\r\n".join(lines).encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk"])
def test_the_encodings_of_excel_read_alike(tmp_path: Path, encoding: str) -> None:
    (offer,) = load_offers(_write(tmp_path / "报价.csv", HEADER, FULL, encoding=encoding))
    assert (offer.provider, offer.accelerator_name, offer.price, offer.count) == ("甲云", "A800", cny("6.5"), 64)
    assert (offer.tier, offer.unit_gpus, offer.links) == ("server", 8, "8x200G RoCE")
    assert offer.term == Term(billing_hours=730.0, minimum_hours=730.0)
    assert offer.assumptions == ()
    assert offer.questions == ()
    assert offer.source.endswith("报价.csv:2")


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_and_column_order(tmp_path: Path, separator: str) -> None:
    lines = ["count;currency;price_per_hour;gpu;Provider", "8;USD;2.5;H100 SXM;Alpha"]
    (offer,) = load_offers(_write(tmp_path / "o.csv", *(line.replace(";", separator) for line in lines)))
    assert (offer.count, offer.price, offer.accelerator_name, offer.provider) == (8, usd("2.5"), "H100 SXM", "Alpha")


def test_what_is_blank_becomes_an_assumption_or_a_question(tmp_path: Path) -> None:
    bare = "provider,gpu,price_per_hour,currency,count"
    (offer,) = load_offers(_write(tmp_path / "o.csv", bare, "Alpha,H100,2.5,USD,8"))
    assert (offer.tier, offer.unit_gpus, offer.term.billing_hours) == ("platform", 1, 1.0)
    said = [str(message) for message in offer.assumptions]
    assert [any(word in line for line in said) for word in ("no term", "no tier", "by the card")] == [True] * 3
    asked = [str(message) for message in offer.questions]
    assert ["worst reading" in line for line in asked] == [True]
    assert not offer.names_links
    assert offer.is_tax_open


def test_a_server_without_a_term_is_read_by_the_month(tmp_path: Path) -> None:
    (offer,) = load_offers(_write(tmp_path / "o.csv", HEADER, "Alpha,H100,12,CNY,64,,,,,server"))
    assert (offer.term.billing_hours, offer.unit_gpus, offer.unit_price.whole_nodes) == (730.0, 8, True)
    assert any("by the month" in str(message) for message in offer.assumptions)


def test_a_usual_signing_term_is_asked_about(tmp_path: Path) -> None:
    line = FULL.replace("monthly", '"1 month quote, one-year signing usual"')
    (offer,) = load_offers(_write(tmp_path / "o.csv", HEADER, line))
    assert [str(question) for question in offer.questions] == ["ask 甲云 whether single months are sold"]


def test_a_citation_names_no_links(tmp_path: Path) -> None:
    line = FULL.replace("8x200G RoCE", "https://example.org/list")
    (offer,) = load_offers(_write(tmp_path / "o.csv", HEADER, line))
    assert offer.links == ""
    assert any("worst reading" in str(question) for question in offer.questions)


def test_names_are_resolved_and_an_unknown_one_is_placed(tmp_path: Path) -> None:
    path = _write(tmp_path / "o.csv", HEADER, FULL)

    def known(name: str) -> str:
        return {"A800": "A800-SXM4-80GB"}[name]

    def unknown(name: str) -> str:
        raise InputError(Message("no accelerator is called {name}", name=name))

    assert load_offers(path, known)[0].accelerator_name == "A800-SXM4-80GB"
    with pytest.raises(InputError, match=r"o\.csv, line 2, column gpu: no accelerator is called A800"):
        load_offers(path, unknown)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], ("holds no offer",)),
        ([HEADER], ("holds no offer",)),
        (["provider,gpu,price_per_hour,currency"], ("count", "missing")),
        ([HEADER + ",colour"], ("colour", "unknown")),
        ([HEADER + ",tier"], ("tier", "repeated")),
        ([HEADER, "a,b"], ("line 2", "cells")),
        ([HEADER, FULL.replace("64", "0")], ("2", "count")),
        ([HEADER, FULL.replace("64", "2.5")], ("2", "count")),
        ([HEADER, FULL.replace("64", "")], ("line 2", "count")),
        ([HEADER, "", FULL, FULL.replace("6.5", "六块五")], ("line 4", "price_per_hour")),
        ([HEADER, FULL.replace("6.5", "-6.5")], ("line 2", "price_per_hour")),
        ([HEADER, FULL.replace("6.5", "1e300")], ("line 2", "price_per_hour", "at most 1,000,000")),
        ([HEADER, FULL.replace("monthly", "-3 months")], ("line 2", "term")),
        ([HEADER, FULL.replace("monthly", "0 months")], ("line 2", "term")),
        ([HEADER, FULL.replace("CNY", "COW")], ("2", "currency", "COW")),
        ([HEADER, FULL.replace(",server", ",none")], ("line 2", "tier")),
        ([HEADER, FULL.replace(",server", ",gold")], ("line 2", "tier")),
        ([HEADER, FULL.replace("monthly", "soon")], ("line 2", "term")),
        ([HEADER, FULL.replace("A800", "")], ("line 2", "gpu")),
        ([HEADER, '"甲云,A800'], ("CSV",)),
    ],
)
def test_a_bad_file_gives_one_clear_line(tmp_path: Path, lines: list[str], words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        load_offers(_write(tmp_path / "bad.csv", *lines))
    text = str(caught.value)
    assert "\n" not in text
    assert "bad.csv" in text
    for word in words:
        assert word in text


def test_a_price_in_full_width_digits_is_read(tmp_path: Path) -> None:
    (offer,) = load_offers(_write(tmp_path / "o.csv", HEADER, FULL.replace("6.5", "６．５")))
    assert offer.price == cny("6.5")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_offers(tmp_path / "absent.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xff\xff\xff")
    with pytest.raises(InputError, match="neither UTF-8 nor GBK"):
        load_offers(tmp_path / "binary.csv")


def test_an_offer_is_billed_without_a_band(tmp_path: Path) -> None:
    (offer,) = load_offers(_write(tmp_path / "o.csv", HEADER, FULL))
    hours = RunHours(likely_hours=700.0, low_hours=650.0, high_hours=729.0)
    (bill,) = make_bills([offer], gpus=60, gpus_per_node=8, hours=hours)
    # 60 cards are 8 nodes: 64 x 730 x 6.5 = 303,680, whatever the days within the month.
    assert bill.cost.low == bill.cost.total == bill.cost.high == cny("303680.00")
    assert not any("VAT" in str(part.name) for part in bill.cost.missing)


def test_an_offer_in_another_currency_says_its_rate(tmp_path: Path) -> None:
    (offer,) = load_offers(_write(tmp_path / "o.csv", HEADER, FULL))
    dollars = offer.priced_in("USD", RATES)
    assert dollars.price.amount == Decimal("6.5") / Decimal("7.2")
    (said,) = explain_conversions([offer, offer], "USD", RATES)
    assert "1 USD = 7.2 CNY" in str(said)
    assert explain_conversions([offer], "CNY", RATES) == ()
    assert offer.priced_in("CNY", RATES) is offer


def test_offers_match_regions_as_rows_do(tmp_path: Path) -> None:
    lines = ["provider,gpu,price_per_hour,currency,count,region", "A,H20,7,CNY,8,Beijing", "B,H20,1,USD,8,us-east"]
    mainland, foreign = load_offers(_write(tmp_path / "o.csv", *lines))
    assert (is_in_region(mainland, "国内"), is_in_region(mainland, "北京"), is_in_region(mainland, "us")) == (
        True,
        True,
        False,
    )
    assert (is_in_region(foreign, "国内"), is_in_region(foreign, "USA")) == (False, True)


def test_the_columns_are_those_of_the_price_table_with_count_and_charges() -> None:
    from suanpei.machine.catalogue import load_catalogue

    table = load_catalogue().table("offers_cn")
    assert set(COLUMNS) == {*table[0].cells, "count", *CHARGE_COLUMNS}
    assert {field.name for terms in (Charges, Payment) for field in fields(terms)} == set(CHARGE_COLUMNS)


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "offers.csv"
    header = b"provider,gpu,price_per_hour,currency,count\n"
    with path.open("wb") as file:
        file.write(header)
        file.truncate(MOST_TEXT_BYTES + 1)
    with pytest.raises(InputError, match=r"offers\.csv is larger than 64 MiB"):
        read_offer_lines(path, str)


@pytest.mark.parametrize("column", ["price_per_hour", "currency", "count", "term", "tax", "tier", "date", "set_up"])
def test_an_endless_cell_is_not_said_again_whole(tmp_path: Path, column: str) -> None:
    columns = ("provider", "gpu", "price_per_hour", "currency", "count", "term", "tax", "tier", "date", "set_up")
    cells = dict(zip(columns, ("甲", "A800", "6.2", "CNY", "8", *[""] * 5), strict=True)) | {column: "甲" * 5000}
    path = _write(tmp_path / "o.csv", ",".join(columns), ",".join(cells.values()))
    try:
        (offer,) = load_offers(path)
    except InputError as error:
        assert len(str(error)) < 500
        assert "…" in str(error)
    else:
        assert column == "tax"
        assert offer.tax.state == "unknown"


def test_an_endless_column_is_not_said_again_whole(tmp_path: Path) -> None:
    path = _write(tmp_path / "o.csv", f"{HEADER},{'甲' * 5000}", f"{FULL},1")
    with pytest.raises(InputError, match="unknown or repeated column 甲{120}…;"):
        load_offers(path)


def test_a_cell_above_the_limit_leaves_only_its_line(tmp_path: Path) -> None:
    head = "provider,gpu,price_per_hour,currency,count,note"
    path = tmp_path / "offers.csv"
    path.write_text(f"{head}\nA,H100,2,USD,8,\nB,H100,3,USD,8,{'x' * 140_000}\nC,H100,4,USD,8,\n")
    left: list[int] = []
    limit = csv.field_size_limit(131_072)  # of the whole process, which readers of data sets raise
    try:
        _, lines = read_offer_lines(path, str, lambda line, _: left.append(line))
    finally:
        csv.field_size_limit(limit)
    assert ([one.number for one in lines], left) == ([2, 4], [3])


def test_a_quote_that_swallows_lines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "offers.csv"
    path.write_text(
        'provider,gpu,price_per_hour,currency,count,note\nA,H100,2,USD,8,"\nB,H100,3,USD,8,\nC,H100,4,USD,8,\n'
    )
    with pytest.raises(InputError, match="not valid CSV"):
        read_offer_lines(path, str, lambda *_: None)

"""Our own columns fix every unit: amounts are taken as they stand, exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.market.quotes.offers.own_columns import read_own_columns
from suanpei.money import ExchangeRates
from tests.market.quotes.samples import context

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "provider,gpu,price_per_hour,currency,count,term,node_or_card,tax,links,tier,egress_per_gb"


def test_each_line_is_an_offer_with_its_cell(tmp_path: Path) -> None:
    file = tmp_path / "o.csv"
    rows = ["甲云,A800,6.2,CNY,64,monthly,node8,不含税 6%,8x200G RoCE,server,", "", "Alpha,H100,2.49,USD,8,,,,,,0.09"]
    file.write_text("\n".join([HEADER, *rows]), encoding="utf-8")
    first, second = read_own_columns(file, context("CNY")).offers
    assert (first.source.cell, first.source.row, first.seller) == ("C2", 2, "甲云")
    assert first.price_per_accelerator_hour.amount == Fraction("6.2")
    assert first.price_per_accelerator_hour.amount_tax_in == Fraction("6.2") * Fraction("1.06")
    assert (first.accelerators_per_unit, first.count, first.flags) == (8, 64, ("tax_excluded_6pct",))
    assert (second.source.cell, second.flags) == ("C4", ("usd",))
    assert second.price_per_accelerator_hour.amount == Fraction("2.49") * Fraction("7.2")
    assert second.charges.egress_per_gb is not None
    assert second.charges.egress_per_gb.currency == "CNY"
    assert {first.confidence, second.confidence} == {"high"}


@pytest.mark.parametrize(
    ("bad", "cell", "reason"),
    [
        ("甲云,A800,abc,CNY,64,,,,,,", "C3", "line 3, column price_per_hour: got abc"),
        ("甲云,GTX 999,6,CNY,64,,,,,,", "B3", "line 3, column gpu"),
        ("甲云,A800,6,CNY,64,forty,,,,,", "F3", "line 3, column term"),
        ("甲云,A800,6,CNY", "3", "line 3: 4 cells where the header has 11"),
        ("甲云,A800,900,JPY,64,,,,,,", "D3", "JPY"),
    ],
)
def test_a_bad_line_is_listed_with_its_cell_and_the_others_are_read(
    tmp_path: Path, bad: str, cell: str, reason: str
) -> None:
    file = tmp_path / "o.csv"
    good = "乙云,A800,6,CNY,64,monthly,node8,含税 6%,8x200G RoCE,server,"
    file.write_text(f"{HEADER}\n{good}\n{bad}\n{good}", encoding="utf-8")
    found = read_own_columns(file, context())
    assert [offer.source.row for offer in found.offers] == [2, 4]
    (unread,) = found.unread
    assert unread.cell == cell
    assert reason in str(unread.reason)


def test_a_currency_without_a_rate_leaves_its_lines_unread(tmp_path: Path) -> None:
    file = tmp_path / "o.csv"
    file.write_text(f"{HEADER}\n甲云,A800,6,CNY,64,,,,,,\nAlpha,H100,2.5,USD,8,,,,,,", encoding="utf-8")
    found = read_own_columns(file, replace(context(), rates=ExchangeRates()))
    assert [offer.seller for offer in found.offers] == ["甲云"]
    (unread,) = found.unread
    assert (unread.cell, str(unread.reason)) == (
        "D3",
        "2.5: no exchange rate; give one with --rate USD=…CNY",
    )


def test_a_file_without_a_line_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "o.csv"
    file.write_text(HEADER, encoding="utf-8")
    with pytest.raises(InputError, match="holds no offer"):
        read_own_columns(file, context())


def test_what_a_line_leaves_open_is_asked_at_its_cell(tmp_path: Path) -> None:
    file = tmp_path / "o.csv"
    whole = "乙云,A800,6,CNY,64,monthly,node8,含税 6%,8x200G RoCE,server,0.5"
    file.write_text(f"{HEADER}\n{whole}\n甲云,A800,6,CNY,64,,,,,,", encoding="utf-8")
    found = read_own_columns(file, context())
    asked = [(question.seller, question.cell, str(question.problem)) for question in found.questions]
    assert asked == [
        ("乙云", "C2", "the price of storage is not stated"),
        ("甲云", "H3", "it is not stated whether tax is in the price"),
        ("甲云", "I3", "what joins the machines is not stated"),
        ("甲云", "F3", "the shortest term is not stated"),
        ("甲云", "C3", "the prices of storage and traffic are not stated"),
    ]
    assert {question.file for question in found.questions} == {str(file)}

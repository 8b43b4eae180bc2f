"""Our own columns fix every unit: amounts are taken as they stand, exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.market.quotes.own_columns import read_own_columns
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


def test_a_bad_cell_is_named(tmp_path: Path) -> None:
    file = tmp_path / "o.csv"
    file.write_text(f"{HEADER}\n甲云,A800,abc,CNY,64,,,,,,", encoding="utf-8")
    with pytest.raises(InputError, match="line 2, column price_per_hour"):
        read_own_columns(file, context())

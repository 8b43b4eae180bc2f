"""Totals on one tax side: known, open, and with the user's own rates."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.machine.catalogue import load_catalogue
from suanpei.market.cost.tax import load_tax_rates, read_tax_sides, worst_tax_factor
from suanpei.market.terms import read_tax
from tests.market.price_samples import cny

if TYPE_CHECKING:
    from pathlib import Path

RATES = (Decimal("0.06"), Decimal("0.13"))


@pytest.mark.parametrize(
    ("wording", "tax_in", "tax_out", "least", "most"),
    [
        ("含税 6%", "1000", "943.40", "1000", "1000"),  # 1000 / 1.06
        ("含税", "1000", None, "1000", "1000"),
        ("不含税(6%)", "1060", "1000", "1060", "1060"),
        ("excl. 19% VAT", "1190", "1000", "1190", "1190"),
        ("不含税", None, "1000", "1060", "1130"),
        ("", None, None, "1000", "1130"),
        ("6%", None, None, "1000", "1060"),  # a rate alone leaves the side open
    ],
)
def test_both_sides_and_the_ends_between_which_the_amount_with_tax_lies(
    wording: str, tax_in: str | None, tax_out: str | None, least: str, most: str
) -> None:
    read = read_tax_sides(cny("1000"), read_tax(wording), RATES)
    assert read.tax_in == (None if tax_in is None else cny(tax_in).rounded())
    assert read.tax_out == (None if tax_out is None else cny(tax_out).rounded())
    assert (read.least_tax_in, read.most_tax_in) == (cny(least).rounded(), cny(most).rounded())
    assert worst_tax_factor(read_tax(wording), RATES) * 1000 == Decimal(most)


def test_the_rates_are_those_of_the_law() -> None:
    assert load_tax_rates(load_catalogue()).of("CNY") == RATES
    assert load_tax_rates(load_catalogue()).of("USD") == RATES


def test_a_user_s_own_rate_is_read_and_checked(tmp_path: Path) -> None:
    header = "currency,rate_fraction,applies_to,as_of,confidence,source,note\n"
    (tmp_path / "tax_rates.csv").write_text(f"{header}USD,0.2,all,2026-01-01,high,us,\n", encoding="utf-8")
    assert load_tax_rates(load_catalogue(tmp_path)).of("USD") == (Decimal("0.2"),)
    assert load_tax_rates(load_catalogue(tmp_path)).of("CNY") == RATES
    for given in ("20", "1", ""):
        (tmp_path / "tax_rates.csv").write_text(f"{header}USD,{given},all,2026-01-01,high,us,\n", encoding="utf-8")
        said = rf"tax_rates.csv, line 2, column rate_fraction: got {given}, takes a share"
        with pytest.raises(InputError, match=said):
            load_tax_rates(load_catalogue(tmp_path))

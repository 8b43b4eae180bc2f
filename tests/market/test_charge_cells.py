"""Charges and payments in an offer file: what is read, what stays unknown, what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.market.terms import NO_CHARGES, NO_PAYMENT, Charges, Payment
from tests.market.price_samples import cny, load_offers

if TYPE_CHECKING:
    from pathlib import Path

    from suanpei.market.offer import Offer


def _load(tmp_path: Path, **cells: str) -> Offer:
    row = {"provider": "某云", "gpu": "X", "price_per_hour": "5", "currency": "CNY", "count": "64"} | cells
    file = tmp_path / "offers.csv"
    file.write_text(",".join(row) + "\n" + ",".join(row.values()) + "\n", encoding="utf-8")
    (offer,) = load_offers(file)
    return offer


def test_what_stands_there_is_read_in_the_currency_of_the_row(tmp_path: Path) -> None:
    offer = _load(
        tmp_path,
        storage_per_gb_month="0.3",
        ingress_per_gb="0",
        egress_per_gb="0.5",
        set_up="2000",
        fabric_per_gpu_hour="０.2",
        early_exit_fraction="0.3",
        bills_outages="否",
        deposit_months="1",
        prepaid_months="3",
    )
    assert offer.charges == Charges(
        storage_per_gb_month=cny("0.3"),
        ingress_per_gb=cny("0"),
        egress_per_gb=cny("0.5"),
        set_up=cny("2000"),
        fabric_per_gpu_hour=cny("0.2"),
        early_exit_fraction=Decimal("0.3"),
        bills_outages=False,
    )
    assert offer.payment == Payment(deposit_months=Decimal(1), prepaid_months=Decimal(3))


def test_a_blank_is_not_stated(tmp_path: Path) -> None:
    offer = _load(tmp_path, storage_per_gb_month="", deposit_months="")
    assert offer.charges is NO_CHARGES
    assert offer.payment is NO_PAYMENT
    assert _load(tmp_path, bills_outages="yes").charges == Charges(bills_outages=True)
    assert _load(tmp_path, includes_power="是").charges == Charges(includes_power=True)


@pytest.mark.parametrize(
    ("column", "cell", "takes"),
    [
        ("storage_per_gb_month", "free", "a number from 0 to 1,000,000,000"),
        ("egress_per_gb", "-1", "a number from 0 to 1,000,000,000"),
        ("early_exit_fraction", "30", "a number from 0 to 1"),
        ("deposit_months", "121", "a number from 0 to 120"),
        ("bills_outages", "perhaps", "yes, no or nothing"),
    ],
)
def test_a_bad_cell_is_named_with_its_place(tmp_path: Path, column: str, cell: str, takes: str) -> None:
    with pytest.raises(InputError, match=rf"line 2, column {column}: got {cell}, takes {takes}"):
        _load(tmp_path, **{column: cell})

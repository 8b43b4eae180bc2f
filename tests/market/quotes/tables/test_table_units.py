"""What the other rows of a table say of a price whose unit is not written."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.market.quotes.samples import read, table

HEADINGS = ["host", "gpu", "num_gpus", "$/hr"]
DEAR = [["a", "RTX 5090", "8", "3.60"], ["b", "A100 SXM4 80GB", "8", "7.20"]]
"""Far above the band of one card: the machine's."""
OPEN = ["c", "RTX 4090", "4", "1.32"]
"""0.33 and 1.32 USD are both within the band of an RTX 4090."""


def test_an_open_row_follows_the_settled_rows_of_its_table_in_any_order() -> None:
    for rows in ([*DEAR, OPEN], [OPEN, *DEAR], [DEAR[0], OPEN, DEAR[1]]):
        offers = {offer.source.row: offer for offer in read(table([HEADINGS, *rows]), "USD").offers}
        offer = offers[2 + rows.index(OPEN)]
        assert offer.price_per_accelerator_hour.amount == Fraction("1.32") / 4
        assert "unit_missing_inferred" in offer.flags
        assert "unit_missing" not in offer.flags
        assert offer.readings[0].why.key == "the other rows of the table speak for it"
        assert Fraction("1.32") in [reading.amount for reading in offer.readings[1:]]
        assert offer.confidence == "medium"


@pytest.mark.parametrize(
    "others",
    [
        [],
        [DEAR[0]],
        [*DEAR, ["d", "H100 SXM", "8", "2.40"]],
    ],
    ids=["alone", "one-other-row", "rows-that-differ"],
)
def test_an_open_row_stays_open_where_its_table_does_not_agree(others: list[list[str]]) -> None:
    offers = read(table([HEADINGS, OPEN, *others]), "USD").offers
    assert offers[0].price_per_accelerator_hour.amount is None
    assert "unit_missing" in offers[0].flags


def test_rows_that_are_paid_otherwise_say_nothing_of_a_row() -> None:
    rows = [
        ["型号", "报价", "说明"],
        ["H20 8卡", "6.5", "含税"],
        ["A800 8卡", "6.2", "含税"],
        ["H800 8卡", "9.8", "含税 月付"],
    ]
    assert [offer.price_per_accelerator_hour.amount for offer in read(table(rows)).offers] == [
        Fraction("6.5"),
        Fraction("6.2"),
        None,
    ]

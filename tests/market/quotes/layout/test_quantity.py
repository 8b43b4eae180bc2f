"""Quantities in headings."""

from __future__ import annotations

import pytest

from suanpei.market.quotes.layout.quantity import QuantityReader
from tests.market.quotes.samples import WORDS

READER = QuantityReader(WORDS)


@pytest.mark.parametrize(
    ("heading", "least", "unit"),
    [
        ("1-7台", 1, "machine"),
        ("8台以上", 8, "machine"),
        ("8台及以上", 8, "machine"),
        ("≥8台", 8, "machine"),
        ("8台起", 8, "machine"),
        ("10台以下", 1, "machine"),
        ("少于10台", 1, "machine"),
        ("<10台", 1, "machine"),
        ("64-255 GPUs", 64, "card"),
        ("256+ GPUs", 256, "card"),
        ("up to 8 nodes", 1, "machine"),
        ("４～１６卡", 4, "card"),
        ("8台", 8, "machine"),
    ],
)
def test_a_quantity_has_a_least_number(heading: str, least: int, unit: str) -> None:
    quantity = READER.read(heading)
    assert quantity is not None
    assert (quantity.least, quantity.unit, quantity.words) == (least, unit, heading)


@pytest.mark.parametrize("heading", ["1-7", "1-3个月", "8卡整机", "H100 8卡", "8.2万/台", "台", "80GB", "包年"])
def test_other_headings_are_none(heading: str) -> None:
    assert READER.read(heading) is None


def test_machines_of_unknown_size_count_one_card_or_more() -> None:
    quantity = READER.read("8台以上")
    assert quantity is not None
    assert quantity.gpus(None) == 8
    assert quantity.gpus(8) == 64

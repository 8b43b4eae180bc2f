from __future__ import annotations

from fractions import Fraction

import pytest

from tests.market.quotes.samples import offer_of, read_one, text


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("256台现货 12月1号上架", 256 * 8),
        ("现货 12月1号上架", None),
        ("100卡起", None),
        ("128卡起租", None),
        ("起租1台", None),
        ("64台以上9折", None),
        ("1~2台", 8),
        ("1-2台", 8),
        ("有16台，8台已租", 8 * 8),
        ("16台，已租8台", 8 * 8),
        ("8台已租出", None),
        ("20台 已租2台", 18 * 8),
        ("已租5台，剩余15台", 15 * 8),
        ("20台已租 5台剩余", 5 * 8),
        ("共1024卡，已租300卡", None),
        ("已租满", 0),
        ("已租出", 0),
        ("1,024卡", 1_024),
        ("1.2万卡", 12_000),
        ("128卡/16台", 128),
        ("现货16台，起租1个月", 128),
        ("16台起租 1个月", None),
        ("现货 13P", None),
    ],
)
def test_what_is_on_hand_is_counted_and_nothing_else(words: str, count: int | None) -> None:
    offer = read_one(text(f"H800 8卡整机 6.8万/台/月，{words}"))
    assert offer.count == count
    assert offer.accelerators_per_unit == 8
    assert offer.price_as_written == "6.8万/台/月"


@pytest.mark.parametrize(("cell", "count"), [("1,024卡", 1_024), ("1.2万卡", 12_000), ("有16台，8台已租", 64)])
def test_a_column_of_stock_counts_the_same(cell: str, count: int) -> None:
    row = {"型号": "H800", "配置": "8卡整机", "价格": "68000", "单位": "元/台/月", "库存": cell}
    assert offer_of(row).count == count


def test_cards_and_machines_give_the_size_of_one() -> None:
    offer = read_one(text("H20 96G 7元/卡/时 128卡/16台"))
    assert (offer.count, offer.accelerators_per_unit) == (128, 8)


@pytest.mark.parametrize("words", ["12月1日起", "12月1号起租"])
def test_a_day_is_no_shortest_rental(words: str) -> None:
    offer = read_one(text(f"H800 8卡整机 6.8万/台/月，{words}"))
    assert offer.term is None
    assert read_one(text(f"H800 8卡整机 6.8万/台/月，{words}，3个月起")).term is not None


@pytest.mark.parametrize(
    ("words", "gpus", "count"),
    [
        ("H100八卡 6.5万/台/月", 8, None),
        ("4090八卡整机 1.2万/月", 8, None),
        ("A800八卡两台 6.5万/台/月", 8, 16),
        ("H100 八卡 6.5万/台/月", 8, None),
        ("A800 6.8一卡时", None, None),
    ],
)
def test_a_chinese_count_may_stand_right_behind_the_card(words: str, gpus: int | None, count: int | None) -> None:
    offer = read_one(text(words))
    assert (offer.accelerators_per_unit, offer.count) == (gpus, count)
    assert "node_size_inferred" not in offer.flags


@pytest.mark.parametrize(
    ("words", "gpus", "count"),
    [
        ("4x H200 SXM nodes (8 GPUs each), $2.60/GPU/hr", 8, 32),
        ("4 nodes of H200, 8 GPUs per node, $2.60/GPU/hr", 8, 32),
        ("10台H800，每台8卡，6万/台/月", 8, 80),
    ],
)
def test_what_each_machine_holds_is_its_size(words: str, gpus: int, count: int) -> None:
    offer = read_one(text(words))
    assert (offer.accelerators_per_unit, offer.count) == (gpus, count)


@pytest.mark.parametrize("cards", [64, 128, 1024])
def test_a_sum_for_many_cards_is_shared_by_all_of_them(cards: int) -> None:
    offer = read_one(text(f"{cards}张H800 打包每月80万"))
    assert offer.price_per_accelerator_hour.amount == Fraction(800_000, cards * 730)

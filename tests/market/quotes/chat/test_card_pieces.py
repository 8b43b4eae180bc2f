from __future__ import annotations

from fractions import Fraction

import pytest

from tests.market.quotes.samples import read, read_one, text


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("H100 6万/台/月，{} 7万/台/月", "H300"),
        ("3090 0.9元/卡时 {} 0.6元/卡时", "2080ti"),
        ("H100: $2.50/GPU-hr, {}: $1.20/GPU-hr", "RTX 7000 Pro"),
        ("H100 8卡 6万/台/月\n{} 8卡 4000/台/月", "A16"),
        ("V100 1.5元/卡时；{} 0.5元/卡时", "Tesla P100"),
    ],
)
def test_the_price_of_a_card_that_is_not_known_is_not_that_of_the_card_before(line: str, name: str) -> None:
    before, other = read(text(line.format(name))).offers
    assert before.accelerator is not None
    assert (other.accelerator, other.accelerator_as_written) == (None, name)
    assert "unknown_card" in other.flags


def test_a_card_that_is_not_known_may_stand_alone() -> None:
    offer = read_one(text("H300 8卡 7万/台/月"))
    assert (offer.accelerator, offer.accelerators_per_unit) == (None, 8)
    assert offer.price_per_accelerator_hour.amount == Fraction(70_000) / 8 / 730


@pytest.mark.parametrize(
    "words", ["IB400 6万/台/月", "USD8300/台/月", "NVL72 6万/台/月", "R750 6万/台/月", "8480C双路 6万/台/月"]
)
def test_what_a_card_without_a_price_goes_on_with_is_no_other_card(words: str) -> None:
    offer = read_one(text(f"H100 8卡\n{words}"))
    assert offer.accelerator == "H100-SXM5-80GB"
    assert offer.price_per_accelerator_hour.amount is not None


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("TPU v5e $1.2/chip-hr, v5p $4.2/chip-hr", ["TPU-v5e", "TPU-v5p"]),
        ("A100 80G 8卡 4万/台/月, 40G 8卡 2.6万/台/月", ["A100-SXM4-80GB", "A100-SXM4-40GB"]),
        ("H20 96G 8卡 4万/台/月\n141G 8卡 4.8万/台/月", ["H20-SXM5-96GB", "H20-SXM5-141GB"]),
    ],
)
def test_a_clause_that_says_only_how_its_card_differs_is_of_that_card(line: str, names: list[str]) -> None:
    assert [offer.accelerator for offer in read(text(line)).offers] == names


@pytest.mark.parametrize("name", ["MI300X", "MI325X", "MI308X"])
def test_the_number_in_a_cards_name_counts_nothing(name: str) -> None:
    offer = read_one(text(f"{name} $2/GPU/hr"))
    assert (offer.count, offer.accelerators_per_unit) == (None, None)


def test_the_number_in_a_cards_name_is_no_duration() -> None:
    month, quarter = read(text("H100 月租 6万/台/月，季付 5.8万/台/月")).offers
    assert month.term is not None
    assert quarter.term is not None
    assert (month.term.minimum_hours, quarter.term.minimum_hours) == (730, 2_190)


@pytest.mark.parametrize(
    "line", ["A800 服务器（8×A800 80GB SXM4）41500 元/台/月", "贵司询价的 A800（A800 80G）\n单价：41500 元/台/月"]
)
def test_a_card_that_is_named_again_before_its_price_is_one(line: str) -> None:
    offer = read_one(text(line))
    assert offer.accelerator == "A800-SXM4-80GB"
    assert offer.price_per_accelerator_hour.amount == Fraction(41_500) / 8 / 730


@pytest.mark.parametrize("end", ["(128+ GPUs)", "", "with 3.2T InfiniBand"])
def test_a_card_in_the_next_sentence_has_not_the_price_before_it(end: str) -> None:
    before, other = read(text(f"B200: $3.10/GPU-hr {end}. Contact sales for GB300.")).offers
    assert (before.accelerator, other.accelerator) == ("B200-SXM-180GB", "GB300-288GB")
    assert other.price_per_accelerator_hour.amount is None


def test_a_full_stop_of_an_abbreviation_ends_no_sentence() -> None:
    price = read_one(text("H100 $2.10/GPU-hr excl. VAT 19%")).price_per_accelerator_hour
    assert (price.tax, str(price.tax_rate)) == ("out", "0.19")

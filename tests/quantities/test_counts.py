from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suanpei.errors import InputError
from suanpei.quantities import (
    BatchQuantity,
    CountRange,
    parse_batch,
    parse_choice,
    parse_count,
    parse_count_range,
    parse_fraction,
    parse_parameters,
    parse_tokens,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("20B", 20e9),
        ("20b", 20e9),
        ("20 billion tokens", 20e9),
        ("500M", 500e6),
        ("2T tokens", 2e12),
        ("2万亿 token", 2e12),
        ("２万亿token", 2e12),
        ("两万亿", 2e12),
        ("3000亿", 300e9),
        ("1千亿", 100e9),
        ("三十五亿", 3.5e9),
        ("三千五百万", 35e6),
        ("1亿2000万", 120e6),
        ("1亿零5万", 100_050_000),
        ("5万8", 58_000),
        ("一万零八", 10_008),
        ("十万", 100_000),
        ("1.5T", 1.5e12),
        ("1e12", 1e12),
        ("20000000000", 20e9),
        ("1,000,000", 1e6),
        ("1_000_000", 1e6),
        ("20 tokens", 20),
    ],
)
def test_tokens_as_people_write_them(text: str, tokens: float) -> None:
    assert parse_tokens(text, "--tokens") == tokens


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("20", "--tokens: '20' has no unit; it takes a number of tokens such as 20B"),
        ("0", "--tokens must be above zero, got '0'"),
        ("-5B", "--tokens must be above zero, got '-5B'"),
        ("nan", "--tokens: cannot read 'nan'"),
        ("inf", "--tokens: cannot read 'inf'"),
        ("10⁹", "--tokens: raised digits in '10⁹' are not read; write a power as 1e9"),
        ("1e400", "--tokens must be at most 1e18, got '1e400'"),
        ("9" * 60, "--tokens must be at most 1e18"),
        ("9" * 500, "is too long for a quantity"),
        ("20GB", "--tokens: cannot read '20GB'"),
        ("1,5B", "--tokens: cannot read '1,5B'"),
        ("20B 20B", "--tokens: cannot read '20B 20B'"),
        ("B", "--tokens: cannot read 'B'"),
        (" ", "--tokens is empty"),
    ],
)
def test_what_is_no_count_of_tokens_is_refused_by_name(text: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_tokens(text, "--tokens")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "parameters"), [("7B", 7e9), ("70亿", 7e9), ("0.5b", 0.5e9), ("350M params", 350e6), ("7B参数", 7e9)]
)
def test_parameters(text: str, parameters: float) -> None:
    assert parse_parameters(text, "MODEL") == parameters


@pytest.mark.parametrize("text", ["7", "8x7B", "-7B", "0B", "7GB"])
def test_what_is_no_count_of_parameters_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="MODEL"):
        parse_parameters(text, "MODEL")


@pytest.mark.parametrize(
    ("text", "count"), [("16", 16), ("1,024", 1024), ("50k", 50_000), ("5万条", 50_000), ("8卡", 8)]
)
def test_counts(text: str, count: int) -> None:
    assert parse_count(text, "--samples") == count


@pytest.mark.parametrize("text", ["1.5", "0", "-1", "1e30", "x", "16 apples"])
def test_what_is_no_count_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--samples"):
        parse_count(text, "--samples")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("16", CountRange(least=16, most=16, listed=(16,))),
        ("8-64", CountRange(least=8, most=64)),
        ("8~64", CountRange(least=8, most=64)),
        ("8卡到64卡", CountRange(least=8, most=64)),
        ("32,8,16,8", CountRange(least=8, most=32, listed=(8, 16, 32))),
        ("256,512", CountRange(least=256, most=512, listed=(256, 512))),
    ],
)
def test_count_ranges(text: str, expected: CountRange) -> None:
    assert parse_count_range(text, "--gpus") == expected


@pytest.mark.parametrize("text", ["64-8", "1,024", "0-8", "8-", "-8", "8-16-32", "8,,16", "x", "2000000"])
def test_what_is_no_count_range_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--gpus"):
        parse_count_range(text, "--gpus")


def test_a_range_allows_all_between_and_a_list_only_its_own() -> None:
    assert CountRange(least=8, most=64).allows(9)
    assert not CountRange(least=8, most=64).allows(65)
    assert not CountRange(least=8, most=32, listed=(8, 32)).allows(16)


@pytest.mark.parametrize(
    ("text", "amount", "unit"),
    [
        ("4M", 512 * 8192, "tokens"),
        ("0.5M", 2**19, "tokens"),
        ("512K tokens", 2**19, "tokens"),
        ("4194304", 4_194_304, "tokens"),
        ("400万 token", 4_000_000, "tokens"),
        ("1536seqs", 1536, "seqs"),
        ("1k seqs", 1000, "seqs"),
        ("512 条", 512, "seqs"),
        ("512条样本", 512, "seqs"),
    ],
)
def test_batches(text: str, amount: int, unit: str) -> None:
    batch = parse_batch(text, "--global-batch")
    assert (batch.amount, batch.unit) == (amount, unit)
    assert isinstance(batch, BatchQuantity)


@pytest.mark.parametrize("text", ["512", "0", "-4M", "3.3seqs", "4Q", "1e15", "4M cards"])
def test_what_is_no_batch_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--global-batch"):
        parse_batch(text, "--global-batch")


@pytest.mark.parametrize(
    ("text", "fraction"),
    [("0.9", 0.9), ("90%", 0.9), ("９０％", 0.9), ("9成", 0.9), ("百分之90", 0.9), ("1", 1.0), (".5", 0.5)],
)
def test_fractions(text: str, fraction: float) -> None:
    assert parse_fraction(text, "--confidence") == fraction


@pytest.mark.parametrize("text", ["90", "0", "-0.1", "101%", "nan", "0.9x"])
def test_what_is_no_fraction_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--confidence"):
        parse_fraction(text, "--confidence")


def test_choices_ignore_case_and_underscores_and_suggest_the_nearest() -> None:
    assert parse_choice("AdamW_8bit", "--optimizer", ("adamw", "adamw-8bit")) == "adamw-8bit"
    with pytest.raises(InputError, match=r"--method takes one of .*, got 'loar'; did you mean lora\?"):
        parse_choice("loar", "--method", ("full", "lora"))
    with pytest.raises(InputError, match=r"--method takes one of .*, got 'dpo'$"):
        parse_choice("dpo", "--method", ("full", "lora"))


@given(st.integers(min_value=100_000, max_value=10**17))
def test_any_whole_number_is_read_back(number: int) -> None:
    assert parse_tokens(str(number), "--tokens") == float(number)
    assert parse_tokens(f"{number:,}", "--tokens") == float(number)


@given(st.integers(min_value=1, max_value=9999), st.integers(min_value=0, max_value=9999))
def test_hundred_millions_and_ten_thousands_add_up(yi: int, wan: int) -> None:
    text = f"{yi}亿" + (f"{wan}万" if wan else "")
    assert parse_tokens(text, "--tokens") == yi * 10**8 + wan * 10**4


@given(st.text(max_size=40))
@pytest.mark.parametrize(
    "parse", [parse_tokens, parse_parameters, parse_count, parse_count_range, parse_batch, parse_fraction]
)
def test_any_text_is_read_or_refused_with_the_field_named(parse: Callable[[str, str], object], text: str) -> None:
    try:
        parse(text, "--field")
    except InputError as error:
        assert "--field" in str(error)  # most texts raise, some do not

from __future__ import annotations

from typing import get_args

import pytest

from suanpei.market.quotes.quoted import Pricing
from suanpei.market.rfq.fields import BUYER_FIELDS, FIELDS_BY_KEY, HEAD_FIELDS, LINE_FIELDS
from suanpei.market.rfq.marker import read_marker, write_marker
from suanpei.market.rfq.words import FORM_LANGUAGES, fold
from tests.market.rfq.samples import EIGHT_MACHINES, WORDS, specify

CHOICES = sorted(WORDS.table["choices"])
MOST_OF_A_LIST = 255
"""Characters that a spreadsheet takes in a list."""


@pytest.mark.parametrize("choices", CHOICES)
def test_every_word_is_read_back_as_its_code_in_both_languages(choices: str) -> None:
    for language in FORM_LANGUAGES:
        words = WORDS.choices(choices, language)
        assert {WORDS.read_choice(choices, word): word for word in words.values()} == words
        assert {WORDS.read_choice(choices, f" {code.upper()} ") for code in words} == set(words)
        assert not any("," in word or '"' in word for word in words.values())
        assert len(",".join(words.values())) <= MOST_OF_A_LIST


@pytest.mark.parametrize("choices", CHOICES)
def test_no_word_stands_for_two_things_of_one_list(choices: str) -> None:
    found: dict[str, str] = {}
    for code, word in WORDS.table["choices"][choices].items():
        for text in {fold(code), *(fold(word[language]) for language in FORM_LANGUAGES), *map(fold, word["also"])}:
            assert found.setdefault(text, code) == code, text


def test_units_are_those_of_numbers_of_the_form() -> None:
    for key, units in WORDS.table["units"].items():
        assert FIELDS_BY_KEY[key].kind in ("money", "number", "count"), key
        assert WORDS.units(key)
        assert not [unit for unit in units if any(character.isdecimal() for character in unit)]


def test_a_word_of_no_list_is_no_choice() -> None:
    assert WORDS.read_choice("tax", "maybe") is None
    assert WORDS.read_choice("tax", "") is None


def test_fields_are_defined_once_and_whole() -> None:
    fields = (*HEAD_FIELDS, *BUYER_FIELDS, *LINE_FIELDS)
    assert len({field.key for field in fields}) == len(fields)
    assert len({field.label for field in fields}) == len(fields)
    for field in fields:
        assert (field.kind == "choice") == bool(field.choices)
        assert not field.choices or field.choices in CHOICES
    assert set(WORDS.choices("pricing", "en")) <= set(get_args(Pricing))


def test_the_example_line_holds_values_of_each_kind() -> None:
    for field in LINE_FIELDS:
        for language in FORM_LANGUAGES:
            value = WORDS.example(field, language)
            assert value != "" or not field.is_mandatory
            assert isinstance(value, int | float) == (field.kind in ("money", "number", "count"))


@pytest.mark.parametrize("language", FORM_LANGUAGES)
def test_a_marker_is_read_back(language: str) -> None:
    specification = specify(EIGHT_MACHINES)
    found = read_marker(write_marker(WORDS, language, specification, sheet="offers"))  # type: ignore[arg-type]
    assert found is not None
    assert (found.language, found.request_hash, found.rank, found.sheet) == (
        language,
        specification.request_hash,
        1,
        "offers",
    )
    assert read_marker("suanpei-rfq") is None
    assert read_marker("供应商") is None

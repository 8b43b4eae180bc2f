"""The words of the form that are picked or shown in it, in both languages: names of sheets, lists, the example line."""

from __future__ import annotations

import unicodedata
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from suanpei.machine.catalogue import load_catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.market.rfq.fields import Field

FormLanguage = Literal["en", "zh"]
FORM_LANGUAGES: tuple[FormLanguage, ...] = get_args(FormLanguage)


@cache
def load_form_words() -> Mapping[str, Any]:
    """Load the version of the form, the names of its sheets and the words of its choices, in both languages.

    They are the program's own: a form is filled by sellers, so a user's folder of tables does not change it.
    """
    return load_catalogue().toml("rfq_form")


def form_version() -> int:
    """Give the version of the forms that are written. [-]"""
    return int(load_form_words()["version"])


def choice_words(choices: str, language: FormLanguage) -> dict[str, str]:
    """Give the words of a list in one language, by code and in the order shown."""
    return {code: word[language] for code, word in load_form_words()["choices"][choices].items()}


def choice_hours(choices: str, code: str) -> Fraction:
    """Give how long a unit of time among the choices is. [h]"""
    return Fraction(load_form_words()["choices"][choices][code]["hours"])


def read_choice(choices: str, text: str) -> str | None:
    """Find the code of what a seller picked, in either language or as the code itself; None where it is no choice."""
    wanted = fold(text)
    for code, word in load_form_words()["choices"][choices].items():
        if wanted in {fold(code), *(fold(word[language]) for language in FORM_LANGUAGES)}:
            return str(code)
    return None


def fold(text: str) -> str:
    """Bring a text to the form in which it is compared: half-width, lower case, without spaces."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def example_value(field: Field, language: FormLanguage) -> str | int | float:
    """Give what the example line shows for a field, numbers as numbers; empty shows nothing."""
    if field.kind == "choice":
        return choice_words(field.choices, language)[field.example]
    if field.kind in ("money", "number", "count") and field.example:
        return float(field.example) if "." in field.example else int(field.example)
    own = load_form_words()["examples"].get(field.key)
    return field.example if own is None else str(own[language])


def sheet_title(sheet: Literal["requirements", "offers"], language: FormLanguage) -> str:
    """Name a sheet of the form."""
    return str(load_form_words()["sheets"][sheet][language])

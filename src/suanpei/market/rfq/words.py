"""The words of the form that are picked or shown in it, in both languages: names of sheets, lists, the example line."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from suanpei.messages import Wording

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.machine.catalogue import Catalogue
    from suanpei.market.rfq.fields import Field

FormLanguage = Literal["en", "zh"]
FORM_LANGUAGES: tuple[FormLanguage, ...] = get_args(FormLanguage)


@dataclass(frozen=True, kw_only=True, eq=False)
class FormWords:
    """The version of the form, the names of its sheets and the words of its choices."""

    table: Mapping[str, Any]
    """The catalogue's ``rfq_form.toml``."""

    @property
    def version(self) -> int:
        """The version of the forms that are written. [-]"""
        return int(self.table["version"])

    def sheet_title(self, sheet: Literal["requirements", "offers"], language: FormLanguage) -> str:
        """Name a sheet of the form."""
        return str(self.table["sheets"][sheet][language])

    def choices(self, choices: str, language: FormLanguage) -> dict[str, str]:
        """Give the words of a list in one language, by code and in the order shown."""
        return {code: word[language] for code, word in self.table["choices"][choices].items()}

    def read_choice(self, choices: str, text: str) -> str | None:
        """Find the code of what a seller picked, in either language or as the code itself; None where it is none."""
        wanted = fold(text)
        for code, word in self.table["choices"][choices].items():
            if wanted in {
                fold(code),
                *map(fold, (*(word[language] for language in FORM_LANGUAGES), *word.get("also", ()))),
            }:
                return str(code)
        return None

    def is_own_word(self, choices: str, text: str) -> bool:
        """Tell whether a text is one that the form itself offers, and not another word for it."""
        own = (word[language] for word in self.table["choices"][choices].values() for language in FORM_LANGUAGES)
        return fold(text) in set(map(fold, own))

    def wording(self, choices: str, code: str) -> Wording:
        """Give the word of a choice in every language."""
        return Wording(by_language={language: self.choices(choices, language)[code] for language in FORM_LANGUAGES})

    def units(self, key: str) -> frozenset[str]:
        """Give the units that may stand behind the number of a field, since its label names them."""
        return frozenset(map(fold, self.table["units"].get(key, ())))

    def period_units(self, code: str) -> frozenset[str]:
        """Give the words for a unit of time that may stand behind a number of it."""
        word = self.table["choices"]["period"][code]
        return frozenset(map(fold, (*(word[language] for language in FORM_LANGUAGES), *word.get("also", ()))))

    def example(self, field: Field, language: FormLanguage) -> str | int | float:
        """Give what the example line shows for a field, numbers as numbers; empty shows nothing."""
        if field.kind == "choice":
            return self.choices(field.choices, language)[field.example]
        if field.kind in ("money", "number", "count") and field.example:
            return float(field.example) if "." in field.example else int(field.example)
        own = self.table["examples"].get(field.key)
        return field.example if own is None else str(own[language])


def load_form_words(catalogue: Catalogue) -> FormWords:
    """Load the words of the form.

    Args:
        catalogue: The bundled one, or with the user's own file over it. [-]
    """
    return FormWords(table=catalogue.toml("rfq_form"))


def fold(text: str) -> str:
    """Bring a text to the form in which it is compared: half-width, lower case, without spaces."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())

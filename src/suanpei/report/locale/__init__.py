"""Languages: which one the reader has, and the templates in it.

The key of a message is its English template; ``zh/*.toml`` hold the Chinese templates under the same keys. A key
without an entry is shown in English.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from suanpei.errors import InputError
from suanpei.messages import Message, Wording

if TYPE_CHECKING:
    from collections.abc import Mapping

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")

LANGUAGE_VARIABLE = "SUANPEI_LANG"
_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
_WINDOWS_CHINESE = 0x04
"""LANG_CHINESE, the primary language of a Windows language identifier (its low ten bits)."""
_LIST_COMMA: dict[Language, str] = {"en": ", ", "zh": "、"}


def translate(message: Message | str, lang: Language) -> str:
    """Say a message, or a bare label, in one language.

    Args:
        message: A message; or a label, which is a template without fields. Labels and keys are literals in the source.
        lang: The reader's language.

    Returns:
        The text. Messages inside a message are translated too, and lists of them joined.
    """
    if isinstance(message, str):
        return load_templates(lang).get(message, message)
    values = {name: _say_value(value, lang) for name, value in message.values.items()}
    return load_templates(lang).get(message.key, message.key).format(**values)


@cache
def load_templates(lang: Language) -> Mapping[str, str]:
    """Load the templates of one language by their English keys; English needs none.

    Args:
        lang: The language.

    Returns:
        Template by key.
    """
    if lang == "en":
        return {}
    folder = files("suanpei.report.locale") / lang
    templates: dict[str, str] = {}
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".toml"):
            templates.update(tomllib.loads(file.read_text(encoding="utf-8"))["messages"])
    return templates


def resolve_language(option: str | None) -> Language:
    """Find the reader's language: ``--lang``, else ``SUANPEI_LANG``, else the locale, else English.

    Args:
        option: What ``--lang`` was given, None where it was not.

    Returns:
        The language.

    Raises:
        InputError: ``--lang`` or ``SUANPEI_LANG`` names a language that there is not.
    """
    if option is not None:
        return _named_language(option, "--lang")
    variable = os.environ.get(LANGUAGE_VARIABLE, "")
    if variable:
        return _named_language(variable, LANGUAGE_VARIABLE)
    return locale_language()


def home_currency(lang: Language) -> str:
    """Give the currency that a reader of a language pays in, unless they name one. [ISO 4217]"""
    return "CNY" if lang == "zh" else "USD"


def locale_language() -> Language:
    """Find the language of the locale; English where it says nothing that is known.

    Returns:
        The language of ``LC_ALL``, ``LC_MESSAGES`` or ``LANG``, the first that is set; on Windows, where usually none
        is, that of the user interface.
    """
    for name in _LOCALE_VARIABLES:
        value = os.environ.get(name, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    if sys.platform == "win32":
        identifier = int(ctypes.windll.kernel32.GetUserDefaultUILanguage())
        return "zh" if identifier & 0x3FF == _WINDOWS_CHINESE else "en"
    return "en"


def _named_language(text: str, field: str) -> Language:
    """Read ``zh``, ``en``, or a longer tag of them such as ``zh_CN.UTF-8``."""
    for lang in LANGUAGES:
        if text.lower().replace("_", "-").split("-")[0].split(".")[0] == lang:
            return lang
    raise InputError(Message("{field} takes zh or en, got '{given}'", field=field, given=text))


def _say_value(value: Any, lang: Language) -> Any:
    if isinstance(value, Message):
        return translate(value, lang)
    if isinstance(value, Wording):
        return value.by_language[lang]
    if isinstance(value, tuple | list):
        return _LIST_COMMA[lang].join(str(_say_value(item, lang)) for item in value)
    return value

"""What words mean in quotes: the vocabularies of ``quote_words.toml``, compiled for finding them in text.

Text is compared in one plain form: half width, without case, one kind of dash and of space. A Latin word stands alone,
a Chinese one anywhere; where several words fit, the longest wins.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.quantities.number import read_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from suanpei.machine.catalogue import Catalogue

NOTHING_WORDS = frozenset({"", "-", "--", "/", "\\", "none", "no", "无", "没有", "n/a", "na", "nil", "keine", "*"})
"""How a cell says that there is nothing."""
_DASHES = re.compile(r"[‐‑‒–—―−]")
_WAVES = re.compile(r"[∼〜～˜]")
_SPACES = re.compile(r"\s+")
_JOINS = re.compile(r"[\s_\-]+")
_CHINESE_NUMBER = re.compile(
    r"(?<![\d.万千元块每押第统])(?<!押.付)(?<!\d[wk])(?:[二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
    r"(?=[万千块元卡台张年天月折节机]|个(?:月|节点)|[一二三四五六七八九]?折)"
    r"|(?<=[一二两三四五六七八九十\d][万千块])[一二两三四五六七八九](?=[千百/元\s,。;)~至到含不起-]|$)"
)
_CHINESE_COUNT = re.compile(
    r"(?<=[a-z]\d\d|\d\d\d)(?:[二两三四五六七八九]?十[一二三四五六七八九]?|[二两三四五六七八九])(?=[卡张台块]|个?节点)"
)
"""A count right behind a name that ends in digits: ``H100八卡``, ``4090两台``."""
_NOT_WITHIN = {"台": r"(?<![平后])台(?![湾式])"}
"""A word of one character that is part of others: 平台 and 台湾 count no machines."""
_NEVER = r"(?!)"
_WIDE_DIGITS = re.compile("[０-９]")


@lru_cache(maxsize=65_536)
def half_width(text: str) -> str:
    """Bring a text to half width, with one kind of dash, of wave and of space; case stays."""
    if not text.isascii():
        text = _WAVES.sub("~", _DASHES.sub("-", unicodedata.normalize("NFKC", text)))
    return _SPACES.sub(" ", text).strip()


@lru_cache(maxsize=65_536)
def plain(text: str) -> str:
    """Bring a text into the form in which words are compared; small Chinese numbers before a measure become digits.

    Example:
        >>> plain("８卡　整机（H100）"), plain("八卡 两台 押一付三")
        ('8卡 整机(h100)', '8卡 2台 押一付三')
    """
    folded = half_width(text).casefold()
    if folded.isascii():
        return folded
    return _CHINESE_NUMBER.sub(_to_digits, _CHINESE_COUNT.sub(r" \g<0>", folded))


def as_positioned(text: str) -> str:
    """Give a text in half width, its case kept where every character stands where the plain form has it."""
    half, told = half_width(text), plain(text)
    return half if len(half) == len(told) else told


def has_wide_digits(text: str) -> bool:
    """Tell whether a text has full-width digits."""
    return not text.isascii() and _WIDE_DIGITS.search(text) is not None


def _to_digits(found: re.Match[str]) -> str:
    number = read_number(found.group())
    return found.group() if number is None else f"{number.value:f}"


class Vocabulary:
    """Groups of words, found in text in their plain form."""

    def __init__(self, groups: Mapping[str, Iterable[str]]) -> None:
        self.group_of: dict[str, str] = {}
        for group, words in groups.items():
            for word in words:
                self.group_of.setdefault(_squash(plain(word)), group)
        spelled = {plain(word) for words in groups.values() for word in words}
        self.source = "|".join(map(_spell, sorted(spelled, key=lambda word: (-len(word), word)))) or _NEVER
        """The alternatives as the inside of a pattern; without words none is ever found."""
        self.pattern = re.compile(self.source)
        begins = sorted({_JOINS.split(word.lstrip(" _-"))[0] for word in spelled}, key=len)
        kept = [begin for number, begin in enumerate(begins) if not any(one in begin for one in begins[:number])]
        self._begin = re.compile("|".join(map(re.escape, kept)) if kept else _NEVER)

    def may_have(self, text: str) -> bool:
        """Tell quickly whether a plain text holds how any word begins; without, it holds none."""
        return self._begin.search(text) is not None

    def search(self, text: str) -> re.Match[str] | None:
        """Find the first word in a plain text."""
        return self.pattern.search(text) if self.may_have(text) else None

    def group(self, word: str) -> str:
        """Name the group of a word that was found."""
        return self.group_of[_squash(word)]

    def groups(self, text: str) -> frozenset[str]:
        """Name the groups of all words in a plain text."""
        if not self.may_have(text):
            return frozenset()
        return frozenset(self.group(found.group()) for found in self.pattern.finditer(text))

    def has(self, text: str) -> bool:
        """Tell whether any word stands in a plain text."""
        return self.search(text) is not None


def _squash(word: str) -> str:
    return _JOINS.sub("", word)


def _spell(word: str) -> str:
    """Write a word as a pattern: its spaces may be hyphens or missing, Latin letters at its ends stand alone."""
    if word in _NOT_WITHIN:
        return _NOT_WITHIN[word]
    inner = r"[\s_\-]?".join(re.escape(part) for part in _JOINS.split(word))
    before = r"(?<![a-z])" if word[0].isascii() and word[0].isalpha() else ""
    after = r"(?![a-z])" if word[-1].isascii() and word[-1].isalpha() else ""
    return f"{before}{inner}{after}"


@dataclass(frozen=True, kw_only=True, eq=False)
class QuoteWords:
    """Every vocabulary that the reader uses."""

    roles: Mapping[str, tuple[str, ...]]
    """Role of a column to its headings, in plain form."""
    lines: Mapping[str, Vocabulary]
    """Kinds of lines that are no offers: ``total``, ``note``, ``date``, ``seller``, ``wanted`` (somebody asks for
    machines). ``above`` and ``below`` say of which rows a remark speaks, ``every`` that it speaks of all, ``later``
    that a date is of a delivery."""
    billed: Vocabulary
    periods: Vocabulary
    rent_periods: Vocabulary
    """Words for rent that name its period."""
    currencies: Vocabulary
    """All currencies, those without a rate included."""
    pricing: Vocabulary
    no_price: Vocabulary
    from_before: Vocabulary
    from_after: Vocabulary
    most_before: Vocabulary
    most_after: Vocabulary
    price_lead: Vocabulary
    stock: Vocabulary
    tax: Vocabulary
    tax_words: Mapping[str, Vocabulary]
    """Words before a rate (``joins``), those that need the word for tax behind them (``leads``), those that may follow
    it (``out_after``, ``in_after``, ``price``), those that mean out or in, and the yes and no of a column 是否含税."""
    flags: Vocabulary
    denials: Mapping[str, Vocabulary]
    """Words ``before`` or ``after`` a word on paying or a flag that deny it, and what may stand ``between``."""
    charges: Vocabulary
    """What is billed beside the card: ``storage``, ``egress``, ``ingress``, ``set_up``, ``host``."""
    free: Vocabulary
    pflops: Vocabulary
    thirty_days: Vocabulary
    places: Vocabulary
    implied: Vocabulary
    """Groups ``card``, ``node``, ``instance``: words beside a price that speak for what it is for."""
    rework: Vocabulary
    terms: Mapping[str, Vocabulary]
    """Words around a duration, a share or a count, which make a term of it."""
    dates: Mapping[str, Vocabulary]
    months: tuple[str, ...]
    """Names of the months as they begin, January first."""
    counts: Mapping[str, Vocabulary]
    links: Mapping[str, Vocabulary]
    measures_gb: Mapping[str, Decimal]
    """Gigabytes of a measure. [GB]"""
    host_measures: Vocabulary
    memory_labels_gb: Mapping[str, tuple[int, ...]]
    """Accelerator to other labels of its memory. [GB]"""


@lru_cache(maxsize=8)
def load_words(catalogue: Catalogue) -> QuoteWords:
    """Compile the vocabularies of a catalogue.

    Raises:
        InputError: The user's own file lacks a vocabulary of the bundled one.
    """
    try:
        return _compile(catalogue.toml("quote_words"))
    except KeyError as error:
        raise InputError(
            Message(
                "{file}: {key} is missing or of another kind; the file stands for the whole bundled one",
                file="quote_words.toml",
                key=str(error.args[0]),
            )
        ) from error


def _compile(table: Mapping[str, Any]) -> QuoteWords:
    return QuoteWords(
        roles={role: tuple(map(plain, words)) for role, words in table["roles"].items()},
        lines=_by_kind(table["lines"]),
        billed=Vocabulary(table["billed"]),
        periods=Vocabulary(table["periods"]),
        rent_periods=Vocabulary(table["rent_periods"]),
        currencies=Vocabulary({**table["currencies"], **table["other_currencies"]}),
        pricing=Vocabulary(table["pricing"]),
        no_price=Vocabulary(table["no_price"]),
        from_before=Vocabulary({"before": table["from_price"]["before"]}),
        from_after=Vocabulary({"after": table["from_price"]["after"]}),
        most_before=Vocabulary({"before": table["most_price"]["before"]}),
        most_after=Vocabulary({"after": table["most_price"]["after"]}),
        price_lead=Vocabulary(table["lead"]),
        stock=Vocabulary(table["stock"]),
        tax=Vocabulary({"tax": table["tax"]["words"]}),
        tax_words=_by_kind({kind: words for kind, words in table["tax"].items() if kind != "words"}),
        flags=Vocabulary(table["flags"]),
        denials=_by_kind(table["denials"]),
        charges=Vocabulary({kind: words for kind, words in table["charges"].items() if kind != "free"}),
        free=Vocabulary({"free": table["charges"]["free"]}),
        pflops=Vocabulary(table["pflops"]),
        thirty_days=Vocabulary(table["month"]),
        places=Vocabulary(table["places"]),
        implied=Vocabulary(table["implied"]),
        rework=Vocabulary(table["rework"]),
        terms=_by_kind(table["term_words"]),
        dates=_by_kind({kind: table["date_words"][kind] for kind in ("valid_for", "valid_until")}),
        months=tuple(table["date_words"]["months"]),
        counts=_by_kind(table["count_words"]),
        links=_by_kind(table["link_words"]),
        measures_gb={name: Decimal(str(size)) for name, size in table["measures_gb"].items()},
        host_measures=Vocabulary(table["host_measures"]),
        memory_labels_gb={name: tuple(sizes) for name, sizes in table["memory_labels"].items()},
    )


def _by_kind(table: Mapping[str, Iterable[str]]) -> Mapping[str, Vocabulary]:
    """Compile each group of a table on its own."""
    return {kind: Vocabulary({kind: words}) for kind, words in table.items()}

"""Counts that people write: tokens, parameters, samples, cards, batches, fractions."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypeVar

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.quantities.number import check_range, normalise, read_number, read_scaled, refuse, refuse_unitless

if TYPE_CHECKING:
    from collections.abc import Sequence

ChoiceT = TypeVar("ChoiceT", bound=str)

MOST_TOKENS = Decimal(10**18)
MOST_PARAMETERS = Decimal(10**16)
MOST_COUNT = Decimal(10**15)
MOST_GPUS = Decimal(10**6)

_SUSPICIOUS_TOKENS = 100_000
"""A bare number below this is more likely billions left out than a count of tokens."""
_SUSPICIOUS_PARAMETERS = 100_000

_TOKEN_WORDS = re.compile(r"(?:个\s*)?(?:tokens?|toks?|词元|令牌)", re.IGNORECASE)
_PARAMETER_WORDS = re.compile(r"(?:个\s*)?(?:parameters?|params?|参数量?)", re.IGNORECASE)
_SEQUENCE_WORDS = re.compile(
    r"(?:条|个)?\s*(?:seqs?|sequences?|samples?|条|序列|样本|数据)(?:序列|样本|数据)?", re.IGNORECASE
)
_COUNT_WORDS = re.compile(
    r"(?:samples?|pairs?|examples?|rows?|gpus?|cards?|nodes?|steps?|epochs?|tokens?|张卡|张|卡|块|台|条|个|次|步|轮|对)?",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?:-|~|〜|–|—|\.\.|至|到|to)\s*", re.IGNORECASE)

_BATCH_SCALES = {"k": Decimal(2**10), "m": Decimal(2**20)}
"""In a batch of tokens M is 2^20, as published runs write it: 4M tokens at 8,192 are 512 sequences."""


@dataclass(frozen=True, kw_only=True)
class BatchQuantity:
    """A global batch as written: a number of sequences, or of tokens."""

    amount: int
    unit: Literal["seqs", "tokens"]


@dataclass(frozen=True, kw_only=True)
class CountRange:
    """How many cards are acceptable."""

    least: int
    most: int
    listed: tuple[int, ...] | None = None
    """The only counts allowed, where the user listed them; None allows all between."""

    def allows(self, count: int) -> bool:
        """Whether a count is acceptable."""
        return self.least <= count <= self.most if self.listed is None else count in self.listed


def parse_tokens(text: str, field: str) -> float:
    """Read a number of tokens: ``20B``, ``500M``, ``2万亿 token``, ``2T tokens``, ``1e12``.

    Args:
        text: What the user wrote.
        field: Name of the option or column, for the error.

    Returns:
        Tokens. [tokens]

    Raises:
        InputError: Not a count of tokens, zero, negative, above 1e18, or a bare number too small to mean tokens.
    """
    takes = Message("a number of tokens such as 20B, 500M, 2万亿 or 1e12")
    return _parse_amount(text, field, takes, _TOKEN_WORDS, MOST_TOKENS, _SUSPICIOUS_TOKENS)


def parse_parameters(text: str, field: str) -> float:
    """Read a number of parameters: ``7B``, ``350M``, ``70亿``.

    Args:
        text: What the user wrote.
        field: Name of the option or column, for the error.

    Returns:
        Parameters. [-]

    Raises:
        InputError: Not a count of parameters, zero, negative, above 1e16, or a bare number too small to mean it.
    """
    takes = Message("a number of parameters such as 7B, 350M or 70亿")
    return _parse_amount(text, field, takes, _PARAMETER_WORDS, MOST_PARAMETERS, _SUSPICIOUS_PARAMETERS)


def parse_count(text: str, field: str, *, most: int = int(MOST_COUNT)) -> int:
    """Read a positive whole number: ``16``, ``1,024``, ``50k``, ``5万条``.

    Args:
        text: What the user wrote.
        field: Name of the option or column, for the error.
        most: The largest that makes sense. [-]

    Returns:
        The count, at least 1. [-]

    Raises:
        InputError: Not a whole number, below 1, or above `most`.
    """
    takes = Message("a positive whole number such as 16")
    plain = normalise(text, field)
    number = read_scaled(plain)
    if number is None or not _COUNT_WORDS.fullmatch(number.rest):
        raise refuse(field, plain, takes)
    check_range(number.value, Decimal(most), field, plain, f"{most:,}")
    if number.value != int(number.value):
        raise refuse(field, plain, takes)
    return int(number.value)


def parse_count_range(text: str, field: str) -> CountRange:
    """Read how many cards are acceptable: ``16``, ``8-64``, ``8,16,32``.

    Args:
        text: What the user wrote; a comma separates, it does not group digits.
        field: Name of the option or column, for the error.

    Returns:
        The range, or the listed counts.

    Raises:
        InputError: Not counts, below 1, above one million, or a range that runs backwards.
    """
    takes = Message("a count, a range or a list: 16, 8-64 or 8,16,32")
    plain = normalise(text, field)
    parts = [part.strip() for part in re.split(r"[,、;]", plain)]
    if len(parts) > 1:
        if any(re.match(r"0\d", part) or not part for part in parts):
            raise refuse(field, plain, takes)
        counts = sorted({parse_count(part, field, most=int(MOST_GPUS)) for part in parts})
        return CountRange(least=counts[0], most=counts[-1], listed=tuple(counts))
    ends = _RANGE.split(plain)
    if len(ends) == 1:
        count = parse_count(plain, field, most=int(MOST_GPUS))
        return CountRange(least=count, most=count, listed=(count,))
    if len(ends) != 2 or not all(ends):  # a range has two ends
        raise refuse(field, plain, takes)
    least, most = (parse_count(end, field, most=int(MOST_GPUS)) for end in ends)
    if least > most:
        raise InputError(
            Message(
                "{field}: the range '{given}' runs backwards; write {least}-{most}",
                field=field,
                given=plain,
                least=most,
                most=least,
            )
        )
    return CountRange(least=least, most=most)


def parse_batch(text: str, field: str) -> BatchQuantity:
    """Read a global batch: ``4M`` tokens (M = 2^20, K = 2^10), ``1536seqs``, ``512 条``.

    Args:
        text: What the user wrote.
        field: Name of the option or column, for the error.

    Returns:
        The amount and whether it counts sequences or tokens.

    Raises:
        InputError: Not a batch, zero, negative, above 1e12, or a bare number that may be either.
    """
    takes = Message("a batch in tokens such as 4M (M is 2^20) or in sequences such as 1536seqs")
    plain = normalise(text, field)
    number = read_number(plain)
    if number is None:
        raise refuse(field, plain, takes)
    value, rest, unit = number.value, number.rest, "tokens"
    scale = re.match(r"([kKmM])(?![A-Za-z])\s*", rest) or re.match(
        r"([kKmM])(?=\s*(?:tok|seq|sam))", rest, re.IGNORECASE
    )
    if scale and not number.scaled:
        value *= _BATCH_SCALES[scale.group(1).lower()]
        rest = rest[scale.end() :].strip()
    if _SEQUENCE_WORDS.fullmatch(rest):
        unit = "seqs"
        if scale and not number.scaled:
            value = number.value * {"k": 10**3, "m": 10**6}[scale.group(1).lower()]
    elif rest and not _TOKEN_WORDS.fullmatch(rest):
        raise refuse(field, plain, takes)
    elif not rest and not scale and not number.scaled and 0 < value < _SUSPICIOUS_TOKENS:
        raise refuse_unitless(field, plain, takes)
    check_range(value, Decimal(10**12), field, plain, "1e12")
    if value != int(value):
        raise refuse(field, plain, takes)
    return BatchQuantity(amount=int(value), unit="seqs" if unit == "seqs" else "tokens")


def parse_fraction(text: str, field: str) -> float:
    """Read a fraction: ``0.9``, ``90%``, ``9成``.

    Args:
        text: What the user wrote.
        field: Name of the option or column, for the error.

    Returns:
        The fraction, above 0 and at most 1. [-]

    Raises:
        InputError: Not a fraction, or outside (0, 1].
    """
    takes = Message("a fraction between 0 and 1, such as 0.9 or 90%")
    plain = normalise(text, field)
    percent = re.match(r"百分之(?=.)", plain)
    number = read_number(plain[percent.end() :] if percent else plain)
    if number is None:
        raise refuse(field, plain, takes)
    divisor = {"": 1, "%": 100, "成": 10}.get(number.rest)
    if divisor is None or (percent and number.rest):
        raise refuse(field, plain, takes)
    value = number.value / (100 if percent else divisor)
    if not 0 < value <= 1:
        raise refuse(field, plain, takes)
    return float(value)


def parse_choice(text: str, field: str, choices: Sequence[ChoiceT]) -> ChoiceT:
    """Read one of a few words, in any case, ``-`` and ``_`` alike.

    Args:
        text: What the user wrote.
        field: Name of the option or column, for the error.
        choices: The words that it takes.

    Returns:
        The word as it stands in `choices`.

    Raises:
        InputError: Not one of the words; the nearest is suggested.
    """
    plain = normalise(text, field)
    folded = {choice.lower().replace("_", "-"): choice for choice in choices}
    wanted = plain.lower().replace("_", "-")
    if wanted in folded:
        return folded[wanted]
    near = difflib.get_close_matches(wanted, folded, n=1)
    if near:
        raise InputError(
            Message(
                "{field} takes one of {choices}, got '{given}'; did you mean {near}?",
                field=field,
                choices=list(choices),
                given=plain,
                near=folded[near[0]],
            )
        )
    raise InputError(
        Message("{field} takes one of {choices}, got '{given}'", field=field, choices=list(choices), given=plain)
    )


def _parse_amount(
    text: str, field: str, takes: Message, words: re.Pattern[str], most: Decimal, suspicious: int
) -> float:
    """Read a scaled amount with an optional noun; a bare small number is refused."""
    plain = normalise(text, field)
    number = read_scaled(plain)
    if number is None or (number.rest and not words.fullmatch(number.rest)):
        raise refuse(field, plain, takes)
    check_range(number.value, most, field, plain, f"{most:.0e}".replace("+", ""))
    if not number.scaled and not number.rest and number.value < suspicious:
        raise refuse_unitless(field, plain, takes)
    return float(number.value)

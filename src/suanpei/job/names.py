"""Find a model by the name that a person writes."""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import TYPE_CHECKING, Literal

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CHINESE: tuple[tuple[str, str], ...] = (
    ("通义千问", "qwen"),
    ("千问", "qwen"),
    ("百川", "baichuan"),
    ("深度求索", "deepseek"),
    ("书生浦语", "internlm"),
    ("书生", "internlm"),
    ("混元", "hunyuan"),
    ("零一万物", "yi"),
    ("月之暗面", ""),
    ("智谱", ""),
    ("模型", ""),
)
_VARIANTS = re.compile(r"[-_ .](instruct|chat|base|hf|it|sft|dpo|text|\d{4}|bf16|fp16|v\d+\.\d+|8k|4k|128k|32k)$")
"""Endings that name a tuned version of the same shape."""
MOST_CANDIDATES = 8


def normalise(name: str) -> str:
    """Reduce a name to what people agree on: letters, digits and points between digits.

    Example:
        >>> normalise("meta-llama/Meta-Llama-3-8B")
        'llama38b'
        >>> normalise("Qwen 2.5 7B")
        'qwen2.57b'
    """
    plain = unicodedata.normalize("NFKC", name).lower().strip()
    for chinese, latin in _CHINESE:
        plain = plain.replace(chinese, latin)
    plain = plain.rstrip("/").rpartition("/")[2] if not plain.endswith(("/14", "/16")) else plain
    plain = plain.removeprefix("meta-")
    plain = re.sub(r"(?<!\d)\.|\.(?!\d)", "", plain)
    return re.sub(r"[^a-z0-9.]", "", plain)


def find_name(
    text: str, names: Sequence[str], aliases: Iterable[str], *, kind: Literal["model", "vision model"]
) -> str:
    """Find the one name that is meant.

    Args:
        text: As a person wrote it; an organisation before it and endings such as ``-Instruct`` are ignored. [-]
        names: What there is. [-]
        aliases: Other names that are understood as they stand. [-]
        kind: What is being looked for. [-]

    Returns:
        The name or alias as listed.

    Raises:
        InputError: the text fits several names (they are listed) or none (the nearest are).
    """
    by_key = {normalise(name): name for name in (*aliases, *names)}
    shortened = unicodedata.normalize("NFKC", text).strip().lower()
    while True:
        key = normalise(shortened)
        if key in by_key:
            return by_key[key]
        without = _VARIANTS.sub("", shortened)
        if without == shortened:
            break
        shortened = without
    key = normalise(text)
    begins = [name for other, name in by_key.items() if key and other.startswith(key)]
    if not begins and key:
        begins = [name for other, name in by_key.items() if key in other]
    near = [by_key[other] for other in difflib.get_close_matches(key, by_key, n=3, cutoff=0.6)]
    if begins:
        raise InputError(
            Message(
                "{kind} {given} is not a full name; it may be {candidates}",
                kind=Message("model") if kind == "model" else Message("vision model"),
                given=repr(text),
                candidates=", ".join(begins[:MOST_CANDIDATES]) + (", …" if len(begins) > MOST_CANDIDATES else ""),
            )
        )
    named = {"kind": Message("model") if kind == "model" else Message("vision model"), "given": repr(text)}
    raise InputError(
        Message(
            "{kind} {given} is not in the catalogue (nearest: {nearest}); give a config.json, or a size such as 7B",
            nearest=", ".join(near),
            **named,
        )
        if near
        else Message("{kind} {given} is not in the catalogue; give a config.json, or a size such as 7B", **named)
    )

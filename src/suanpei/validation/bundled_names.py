"""Names of published rows that mean a bundled model."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from suanpei.job.bundled import load_bundled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suanpei.job.architecture import Architecture

_ALIASES: Mapping[str, str] = {
    "llama7b": "Llama-1-7B",
    "llama13b": "Llama-1-13B",
    "llama33b": "Llama-1-33B",
    "llama65b": "Llama-1-65B",
    "llama31405b": "Llama-3.1-405B",
    "llama318b": "Llama-3-8B",
    "llama3170b": "Llama-3-70B",
    "mistral7b": "Mistral-7B-v0.1",
    "phi227b": "Phi-2",
    "colossalllama27bcontinualpretraining": "Llama-2-7B",
    "starcoderbase155b": "StarCoder-15.5B",
    "gpt2124m": "GPT-2-124M",
    "megascale175b": "GPT-3-175B",
}
"""Spellings that normalising does not bring to a bundled name; the Llama 3.1 sizes have Llama 3's widths."""


def normalise(name: str) -> str:
    """Reduce a model's name to its letters and digits, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def find_bundled(name: str) -> Architecture | None:
    """Find the bundled model that a published name means; None where there is none.

    Args:
        name: As a table prints it: ``LLAMA3.1_405B``, ``Qwen3_30B_a3B``, ``Llama 2 7B``.
    """
    key = normalise(name)
    return _bundled_by_key().get(normalise(_ALIASES.get(key, key)))


@cache
def _bundled_by_key() -> Mapping[str, Architecture]:
    return {normalise(architecture.name): architecture for architecture in load_bundled()}
